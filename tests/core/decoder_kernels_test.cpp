#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/model/decoder.h"
#include "core/model/named_decoders.h"

namespace shardscope::core {
namespace {

using AttentionKind = Workload::AttentionKind;

Workload workloadOf(std::int64_t batch, std::int64_t sequence, DType dtype, AttentionKind attention) {
    Workload workload;
    workload.batch = batch;
    workload.sequence = sequence;
    workload.dtype = dtype;
    workload.attention = attention;
    return workload;
}

std::int64_t savedBytes(const Program& program) {
    std::int64_t bytes = 0;
    for (const TensorId id : savedForBackward(program))
        if (program.tensor(id).role != TensorRole::Shared) bytes += program.tensor(id).bytes().value;
    return bytes;
}

const Program& blockOf(const Model& model) {
    return model.programOf(model.layers.at(1));
}

/// Bytes that PyTorch 2.15 with transformers 5.24 saves for one block (CUDA rules, no dropout, batch >= 2, fewer
/// key-value heads than heads in llama): coefficients of products of s tokens, b batch, h hidden, f FFN width, a heads
/// and kv = key-value heads x head dimension, fitted without error on recordings of 16 random shapes each (framework
/// semantics 5.2 gives the bf16 ones).
struct SavedFormula {
    const char* modelType;
    DType dtype;
    AttentionKind attention;
    std::int64_t sbh, sbf, sbkv, asb, ass, sb, constant;
};

const std::vector<SavedFormula> kSaved{
    {"llama", DType::BF16, AttentionKind::Flash, 20, 8, 4, 4, 0, 8, 24},
    {"llama", DType::BF16, AttentionKind::Math, 30, 8, 0, 0, 4, 8, 0},
    {"llama", DType::F32, AttentionKind::Flash, 32, 16, 8, 4, 0, 8, 24},
    {"llama", DType::F32, AttentionKind::Math, 40, 16, 0, 0, 4, 8, 0},
    {"gpt2", DType::BF16, AttentionKind::Flash, 16, 10, 0, 4, 0, 16, 24},
    {"gpt2", DType::BF16, AttentionKind::Math, 22, 10, 0, 0, 4, 16, 0},
    {"gpt2", DType::F32, AttentionKind::Flash, 32, 20, 0, 4, 0, 16, 24},
    {"gpt2", DType::F32, AttentionKind::Math, 32, 20, 0, 0, 4, 16, 0},
};

TEST(DecoderKernels, aBlockSavesWhatPyTorchSaves) {
    std::mt19937 random(20);
    const auto pick = [&random](std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution<std::int64_t>(from, to)(random);
    };
    for (const SavedFormula& formula : kSaved) {
        for (int sample = 0; sample < 8; ++sample) {
            DecoderSpec spec = *namedDecoder(formula.modelType == std::string("gpt2") ? "gpt2" : "llama-3-8b");
            spec.layers = 1;
            spec.vocab = 101;
            // With one head a layout copy of the unfused path becomes a view.
            spec.kvHeads = spec.modelType == "gpt2" ? pick(2, 9) : pick(1, 3);
            spec.heads = spec.kvHeads * (spec.modelType == "gpt2" ? 1 : pick(2, 4));
            spec.headDim = 8 * pick(1, 8);
            spec.hidden = spec.heads * spec.headDim;
            spec.intermediate = 8 * pick(1, 40);
            const std::int64_t b = pick(2, 5), s = pick(3, 200);
            const auto model = buildDecoder(spec, workloadOf(b, s, formula.dtype, formula.attention));
            ASSERT_TRUE(model.has_value()) << describe(model.error());
            const std::int64_t h = spec.hidden, a = spec.heads;
            const std::int64_t expected = formula.sbh * s * b * h + formula.sbf * s * b * spec.intermediate +
                                          formula.sbkv * s * b * spec.kvHeads * spec.headDim + formula.asb * a * s * b +
                                          formula.ass * a * s * s * b + formula.sb * s * b + formula.constant;
            EXPECT_EQ(savedBytes(blockOf(*model)), expected)
                << formula.modelType << " " << nameOf(formula.dtype) << " b " << b << " s " << s << " h " << h;
        }
    }
}

// Recorded with PyTorch 2.15 and transformers 5.24 (fake CUDA tensors): Llama-3-8B, batch 1, sequence 2048, bf16;
// GPT-2, batch 8, sequence 1024, bf16, no dropout.
TEST(DecoderKernels, whatLiesOutsideTheBlocksSavesAsRecorded) {
    const auto outside = [](const char* name, Workload workload) {
        const Model model = *buildDecoder(*namedDecoder(name), workload);
        const std::size_t n = model.layers.size();
        std::vector<std::int64_t> bytes;
        for (const std::size_t i : {std::size_t{0}, n - 3, n - 2, n - 1})
            bytes.push_back(savedBytes(model.programOf(model.layers[i])));
        return bytes;
    };
    EXPECT_EQ(outside("llama-3-8b", workloadOf(1, 2048, DType::BF16, AttentionKind::Flash)),
              (std::vector<std::int64_t>{16'384, 50'339'840, 16'777'216, 1'050'689'548}));
    EXPECT_EQ(outside("gpt2", workloadOf(8, 1024, DType::BF16, AttentionKind::Flash)),
              (std::vector<std::int64_t>{65'536 + 8'192, 12'648'448, 12'582'912, 1'646'886'916}));
}

// The rotary tables are made once and saved by every block: 2 x [1, 2048, 128] in bf16, beside the blocks' own bytes.
TEST(DecoderKernels, rotaryTablesAreSharedByAllBlocks) {
    const Model model =
        *buildDecoder(*namedDecoder("llama-3-8b"), workloadOf(1, 2048, DType::BF16, AttentionKind::Flash));
    const Program& block = blockOf(model);
    std::int64_t shared = 0;
    for (const TensorId id : savedForBackward(block))
        if (block.tensor(id).role == TensorRole::Shared) shared += block.tensor(id).bytes().value;
    EXPECT_EQ(shared, 2 * 524'288);
}

// FLOPs of the same recordings: 2mnk, attention not discounted, fused backward 2.5 times forward.
TEST(DecoderKernels, flopsAreThoseOfTheRecordedKernels) {
    const auto flops = [](const char* name, std::int64_t batch, std::int64_t sequence, AttentionKind kind) {
        const Model model = *buildDecoder(*namedDecoder(name), workloadOf(batch, sequence, DType::BF16, kind));
        return std::pair{forwardFlops(model).value, backwardFlops(model).value};
    };
    using Flops2 = std::pair<std::int64_t, std::int64_t>;
    EXPECT_EQ(flops("llama-3-8b", 1, 2048, AttentionKind::Flash), (Flops2{32'938'104'193'024, 66'975'720'013'824}));
    EXPECT_EQ(flops("llama-3-8b", 1, 8192, AttentionKind::Flash), (Flops2{158'140'695'838'720, 333'873'577'721'856}));
    EXPECT_EQ(flops("gpt2", 8, 1024, AttentionKind::Flash), (Flops2{2'333'186'457'600, 4'820'991'737'856}));
    EXPECT_EQ(flops("gpt2", 8, 1024, AttentionKind::Math), (Flops2{2'333'186'457'600, 4'666'372'915'200}));
}

/// "fwd mlp.up_proj 2048x14336x4096" of every matrix product and fused attention, in order.
std::vector<std::string> productsOf(const Program& program) {
    std::vector<std::string> list;
    for (const auto* kernels : {&program.forward, &program.backward})
        for (const Kernel& k : *kernels)
            if (classOf(k.kind) != KernelClass::Memory)
                list.push_back((kernels == &program.forward ? "fwd " : "bwd ") + program.modules[k.module].name + " " +
                               std::to_string(k.m) + "x" + std::to_string(k.n) + "x" + std::to_string(k.k));
    return list;
}

TEST(DecoderKernels, llamaRunsItsProductsInTheRecordedOrder) {
    const Model model =
        *buildDecoder(*namedDecoder("llama-3-8b"), workloadOf(1, 2048, DType::BF16, AttentionKind::Flash));
    const std::vector<std::string> recorded{
        "fwd self_attn.q_proj 2048x4096x4096", "fwd self_attn.k_proj 2048x1024x4096",
        "fwd self_attn.v_proj 2048x1024x4096", "fwd self_attn 2048x2048x128",
        "fwd self_attn.o_proj 2048x4096x4096", "fwd mlp.gate_proj 2048x14336x4096",
        "fwd mlp.up_proj 2048x14336x4096",     "fwd mlp.down_proj 2048x4096x14336",
        "bwd mlp.down_proj 4096x14336x2048",   "bwd mlp.down_proj 2048x14336x4096",
        "bwd mlp.up_proj 14336x4096x2048",     "bwd mlp.up_proj 2048x4096x14336",
        "bwd mlp.gate_proj 14336x4096x2048",   "bwd mlp.gate_proj 2048x4096x14336",
        "bwd self_attn.o_proj 4096x4096x2048", "bwd self_attn.o_proj 2048x4096x4096",
        "bwd self_attn 2048x2048x128",         "bwd self_attn.v_proj 1024x4096x2048",
        "bwd self_attn.v_proj 2048x4096x1024", "bwd self_attn.k_proj 1024x4096x2048",
        "bwd self_attn.k_proj 2048x4096x1024", "bwd self_attn.q_proj 4096x4096x2048",
        "bwd self_attn.q_proj 2048x4096x4096",
    };
    EXPECT_EQ(productsOf(blockOf(model)), recorded);
}

TEST(DecoderKernels, gpt2RunsItsProductsInTheRecordedOrder) {
    const Model model = *buildDecoder(*namedDecoder("gpt2"), workloadOf(8, 1024, DType::BF16, AttentionKind::Flash));
    const std::vector<std::string> recorded{
        "fwd attn.c_attn 8192x2304x768", "fwd attn 1024x1024x64",         "fwd attn.c_proj 8192x768x768",
        "fwd mlp.c_fc 8192x3072x768",    "fwd mlp.c_proj 8192x768x3072",  "bwd mlp.c_proj 8192x3072x768",
        "bwd mlp.c_proj 3072x768x8192",  "bwd mlp.c_fc 8192x768x3072",    "bwd mlp.c_fc 768x3072x8192",
        "bwd attn.c_proj 8192x768x768",  "bwd attn.c_proj 768x768x8192",  "bwd attn 1024x1024x64",
        "bwd attn.c_attn 8192x768x2304", "bwd attn.c_attn 768x2304x8192",
    };
    EXPECT_EQ(productsOf(blockOf(model)), recorded);
}

// Equal models differ by their biases: transformers' attention_bias and mlp_bias turn mm into addmm, whose backward
// also sums the bias (framework semantics 5.3).
TEST(DecoderKernels, biasesAddTheirSums) {
    DecoderSpec spec = *namedDecoder("llama-3.2-1b");
    const Workload workload = workloadOf(1, 16, DType::BF16, AttentionKind::Flash);
    const auto sums = [&] {
        const Model model = *buildDecoder(spec, workload);
        int count = 0;
        for (const Kernel& kernel : blockOf(model).backward) count += kernel.kind == KernelKind::BiasGrad ? 1 : 0;
        return count;
    };
    EXPECT_EQ(sums(), 0);
    spec.qkvBias = true;
    EXPECT_EQ(sums(), 3);
    spec.attentionBias = true;
    EXPECT_EQ(sums(), 4);
    spec.mlpBias = true;
    EXPECT_EQ(sums(), 7);
}

}  // namespace
}  // namespace shardscope::core
