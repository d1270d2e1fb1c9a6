// Kernel lists and saved activations equal PyTorch's recordings; what is not modelled is said, and a change is noticed.

#include "tests/recorded_activations.h"

#include "core/model/named_decoders.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace shardscope {
namespace {

using Verdict = tests::Comparison::Verdict;

core::Document recording(const std::string& name) {
    std::ostringstream bytes;
    bytes << std::ifstream(std::string(SHARDSCOPE_TEST_DATA) + "/activations/" + name + ".json", std::ios::binary)
                 .rdbuf();
    auto document = core::parseJson(bytes.str(), name);
    EXPECT_TRUE(document.has_value()) << name;
    return document ? std::move(*document) : core::Document{};
}

class RecordedActivations : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedActivations, ComeOutOfTheProgramsExactly) {
    const auto result = tests::compareWithRecording(recording(GetParam()));
    EXPECT_EQ(result.verdict, Verdict::Equal);
    for (const std::string& line : result.lines) ADD_FAILURE() << line;
}

INSTANTIATE_TEST_SUITE_P(
    Files, RecordedActivations,
    ::testing::Values("kernels_vit_small_b64", "kernels_vit_small_b64_math", "saved_vit_small_b64_bf16_flash",
                      "saved_vit_b_16_c1_b4_fp32_math", "kernels_gpt2_b8_s1024_math",
                      "saved_gpt2_b8_s1024_bf16_flash_drop0", "kernels_llama3_8b_b1_s2048",
                      "kernels_vit_b_16_c1_b4_ckpt", "saved_llama3_8b_b1_s2048_bf16_math",
                      "kernels_mixtral_small_b2_s1024_grouped", "saved_mixtral_small_b2_s1024_bf16_flash",
                      "saved_vit_b_16_c1_b4_fp32_efficient", "saved_vit_b_16_c1_b4_bf16_cudnn",
                      "saved_llama3_8b_b1_s2048_bf16_eager", "saved_llama3_8b_b1_s2048_bf16_flash_nnrmsnorm",
                      "kernels_gpt2_b8_s1024_eager", "saved_vit_small_b64_fp32_cpu_rules"));

// Equal between the phases; inside of them an op of several kernels is counted with all that they have, so that the
// most is no less than recorded, and little more.
TEST(RecordedPeaks, AreMetFromAbove) {
    for (const char* name : {"peak_llama_small_b2_s1024_bf16", "peak_vit_small_b64_fp32"}) {
        SCOPED_TRACE(name);
        const auto result = tests::compareWithRecording(recording(name));
        EXPECT_EQ(result.verdict, Verdict::Equal);
        for (const std::string& line : result.lines) ADD_FAILURE() << line;
        // The inputs that the recording has all along are 0.3 % of its smallest step.
        for (const double error : {result.peak.forward, result.peak.step}) {
            EXPECT_GE(error, -0.003);
            EXPECT_LE(error, 0.09);
        }
    }
}

TEST(RecordedActivationsComparison, NoticesAChangedKernel) {
    core::Document file = recording("kernels_vit_small_b64");
    core::Document kernels = *file.find("block_kernels");
    kernels.items[3].set("n", core::Document::of(std::int64_t{129}));
    file.set("block_kernels", kernels);
    EXPECT_EQ(tests::compareWithRecording(file).verdict, Verdict::Differs);
}

TEST(RecordedActivationsComparison, NoticesAnotherOrder) {
    core::Document file = recording("kernels_vit_small_b64");
    core::Document kernels = *file.find("block_kernels");
    std::swap(kernels.items[5], kernels.items[6]);
    file.set("block_kernels", kernels);
    EXPECT_EQ(tests::compareWithRecording(file).verdict, Verdict::Differs);
}

TEST(RecordedActivationsComparison, NoticesAnotherBatch) {
    core::Document file = recording("saved_vit_small_b64_bf16_flash");
    file.set("batch", core::Document::of(std::int64_t{63}));
    EXPECT_EQ(tests::compareWithRecording(file).verdict, Verdict::Differs);
}

TEST(RecordedActivationsComparison, NamesTheKnobThatIsMissing) {
    core::Document file = recording("saved_vit_small_b64_bf16_flash");
    file.set("checkpoint", core::Document::of("per_layer_pair"));
    EXPECT_EQ(tests::compareWithRecording(file).lines, std::vector<std::string>{"checkpoint per_layer_pair"});
    // The CPU keeps a layer norm's statistics in its own dtype.
    file = recording("saved_vit_small_b64_fp32_cpu_rules");
    file.set("dtype", core::Document::of("bfloat16"));
    EXPECT_EQ(tests::compareWithRecording(file).verdict, Verdict::NotExpressible);
}

// Bytes that one block keeps for backward, for batch >= 2: coefficients fitted to 16 random shapes each by the same
// recordings (formulas.json: s tokens, b batch, h hidden, f FFN width, a heads, kv = kv heads x head width; largest
// error 0).
struct Formula {
    const char* family;
    core::DType dtype;
    core::Workload::AttentionKind attention;
    std::int64_t sbh, sbf, sbkv, asb, assb, sb, constant;
};
using enum core::Workload::AttentionKind;
constexpr core::DType kBf16 = core::DType::BF16, kF32 = core::DType::F32;
const Formula kFormulas[] = {
    {"vit", kBf16, Flash, 16, 4, 0, 4, 0, 16, 24},  {"gpt2", kBf16, Flash, 16, 10, 0, 4, 0, 16, 24},
    {"llama", kBf16, Flash, 20, 8, 4, 4, 0, 8, 24}, {"vit", kBf16, Math, 22, 4, 0, 0, 4, 16, 0},
    {"gpt2", kBf16, Math, 22, 10, 0, 0, 4, 16, 0},  {"llama", kBf16, Math, 30, 8, 0, 0, 4, 8, 0},
    {"vit", kF32, Flash, 32, 8, 0, 4, 0, 16, 24},   {"gpt2", kF32, Flash, 32, 20, 0, 4, 0, 16, 24},
    {"llama", kF32, Flash, 32, 16, 8, 4, 0, 8, 24}, {"vit", kF32, Math, 40, 8, 0, 0, 4, 16, 0},
    {"gpt2", kF32, Math, 32, 20, 0, 0, 4, 16, 0},   {"llama", kF32, Math, 40, 16, 0, 0, 4, 8, 0},
};

std::int64_t savedInABlock(const core::Model& model) {
    for (const core::Layer& layer : model.layers) {
        if (layer.kind != core::LayerKind::Block) continue;
        std::int64_t bytes = 0;
        const core::Program& program = model.programOf(layer);
        for (core::TensorId id : savedForBackward(program))
            if (program.tensor(id).role != core::TensorRole::Shared) bytes += program.tensor(id).bytes().value;
        return bytes;
    }
    return -1;
}

TEST(SavedActivations, FollowTheRecordedFormulasAtAnySize) {
    struct Sizes {
        std::int64_t batch, side, heads, width, kvHeads, ffn;
    };
    for (const Sizes& z : {Sizes{2, 3, 4, 8, 2, 40}, Sizes{5, 7, 6, 16, 3, 100}, Sizes{3, 4, 2, 64, 1, 56}}) {
        for (const Formula& f : kFormulas) {
            const std::string family = f.family;
            core::Workload workload{z.batch, 0, f.dtype, f.attention};
            const std::int64_t h = z.heads * z.width;
            core::ModelSpec spec;
            std::int64_t s = z.side * z.side + 1;
            if (family == "vit") {
                spec = core::VitSpec{"vit", z.side * 4, 4, 3, 10, 2, z.heads, h, z.ffn};
            } else {
                core::DecoderSpec decoder;
                decoder.modelType = family;
                decoder.vocab = 50;
                decoder.hidden = h;
                decoder.intermediate = z.ffn;
                decoder.layers = 2;
                decoder.heads = z.heads;
                decoder.kvHeads = family == "gpt2" ? z.heads : z.kvHeads;
                decoder.headDim = z.width;
                decoder.positions = 64;
                decoder.tiedEmbeddings = family == "gpt2";
                workload.sequence = s;
                spec = decoder;
            }
            const auto model = buildModel(spec, workload);
            ASSERT_TRUE(model.has_value()) << describe(model.error());
            const std::int64_t sb = s * z.batch;
            const std::int64_t expected = sb * (f.sbh * h + f.sbf * z.ffn + f.sbkv * z.kvHeads * z.width +
                                                f.asb * z.heads + f.assb * z.heads * s + f.sb) +
                                          f.constant;
            EXPECT_EQ(savedInABlock(*model), expected) << family << ' ' << nameOf(f.dtype) << " batch " << z.batch;
        }
    }
}

// saved_gpt2_b8_s1024_bf16_eager_drop0.1.json: 868,352,000 bytes a block, of which dropout has its masks (113,246,208)
// and a copy of the probabilities (201,326,592).
TEST(SavedActivations, OfGpt2sEagerAttentionAreThoseRecordedWithoutItsDropout) {
    const core::Workload workload{8, 1024, kBf16, Eager};
    const auto model = core::buildModel(*core::namedDecoder("gpt2"), workload);
    ASSERT_TRUE(model);
    EXPECT_EQ(savedInABlock(*model), 868'352'000 - 113'246'208 - 201'326'592);
}

}  // namespace
}  // namespace shardscope
