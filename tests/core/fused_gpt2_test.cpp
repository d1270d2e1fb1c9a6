// GPT-2 as stacks for pre-training run it: GELU and the loss as one kernel each way.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/model/decoder.h"
#include "core/model/model.h"
#include "core/model/named_decoders.h"

namespace shardscope::core {
namespace {

Model gpt2(bool fused) {
    DecoderSpec spec = *namedDecoder("gpt2");
    spec.fusedGelu = spec.fusedLoss = fused;
    Workload workload;
    workload.batch = 2;
    workload.sequence = 128;
    workload.dtype = DType::BF16;
    Result<Model> model = buildDecoder(spec, workload);
    EXPECT_TRUE(model) << describe(model.error());
    return model ? std::move(*model) : Model{};
}

const Layer& layerOf(const Model& model, LayerKind kind) {
    return *std::find_if(model.layers.begin(), model.layers.end(), [kind](const Layer& l) { return l.kind == kind; });
}

std::int64_t savedBytes(const Program& program) {
    std::int64_t bytes = 0;
    for (const TensorId id : savedForBackward(program)) bytes += program.tensor(id).bytes().value;
    return bytes;
}

TEST(FusedGpt2, HasTheSameParametersAndProducts) {
    const Model plain = gpt2(false), fused = gpt2(true);
    EXPECT_EQ(parameterCount(fused), parameterCount(plain));
    EXPECT_EQ(forwardFlops(fused).value, forwardFlops(plain).value);
    EXPECT_EQ(backwardFlops(fused).value, backwardFlops(plain).value);
}

// NewGELUActivation takes eight kernels and saves four tensors of the MLP's width, gelu one and one.
TEST(FusedGpt2, GeluIsOneKernelThatSavesItsInput) {
    const Model plain = gpt2(false), fused = gpt2(true);
    const Program &before = plain.programOf(layerOf(plain, LayerKind::Block)),
                  &after = fused.programOf(layerOf(fused, LayerKind::Block));
    EXPECT_EQ(before.forward.size() - after.forward.size(), 7u);
    EXPECT_EQ(savedBytes(before) - savedBytes(after), 3 * 2 * 128 * 3072 * 2);
}

// Logits stay bf16 and are all that is kept of the vocabulary's width; their gradient is bf16 too.
TEST(FusedGpt2, TheLossKeepsTheLogitsInTheirOwnDtype) {
    const Model plain = gpt2(false), fused = gpt2(true);
    const Program& loss = fused.programOf(layerOf(fused, LayerKind::Loss));
    const std::int64_t rows = 2 * 128, logits = rows * 50257 * 2;
    for (const Tensor& tensor : loss.tensors) {
        const bool wide = elementsOf(tensor.shape) >= rows * 50257;
        EXPECT_TRUE(!wide || tensor.dtype == DType::BF16) << tensor.name;
    }
    EXPECT_LT(savedBytes(loss), logits + rows * 64);
    EXPECT_GE(savedBytes(loss), logits);
    EXPECT_GE(savedBytes(plain.programOf(layerOf(plain, LayerKind::Loss))), rows * 50257 * 4);
    const auto gradient = std::find_if(loss.tensors.begin(), loss.tensors.end(),
                                       [](const Tensor& t) { return t.role == TensorRole::InputGradient; });
    ASSERT_NE(gradient, loss.tensors.end());
    EXPECT_EQ(gradient->bytes().value, logits);
}

}  // namespace
}  // namespace shardscope::core
