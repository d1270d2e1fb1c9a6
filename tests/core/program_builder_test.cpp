// A model written as its forward pass gets autograd's backward pass, saved storages and lifetimes.

#include "core/model/program_builder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardscope::core {
namespace {

std::vector<std::string> kindsOf(const std::vector<Kernel>& kernels) {
    std::vector<std::string> names;
    for (const Kernel& kernel : kernels) names.emplace_back(nameOf(kernel.kind));
    return names;
}

Program finished(ProgramBuilder& b, TensorId output) {
    auto program = b.finish(output);
    EXPECT_TRUE(program.has_value());
    return program ? std::move(*program) : Program{};
}

std::vector<std::string> savedNames(const Program& program) {
    std::vector<std::string> names;
    for (TensorId id : savedForBackward(program)) names.push_back(program.tensor(id).name);
    return names;
}

TensorId only(const Program& program, TensorRole role) {
    for (std::size_t i = 0; i < program.tensors.size(); ++i)
        if (program.tensors[i].role == role) return TensorId(i);
    return {};
}

// Framework semantics 5.3: with a bias input, weight, bias; without weight, input.
TEST(ProgramBuilder, OrdersALinearsGradientsAsAutogradDoes) {
    for (bool bias : {true, false}) {
        ProgramBuilder b("p", "Linear", DType::F32);
        const TensorId x = b.input({2, 3, 4});
        const TensorId w = b.parameter("weight", {5, 4});
        const Program p = finished(b, b.linear(x, w, bias ? b.parameter("bias", {5}) : TensorId{}));
        const auto expected = bias ? std::vector<std::string>{"linear_input_grad", "linear_weight_grad", "bias_grad"}
                                   : std::vector<std::string>{"linear_weight_grad", "linear_input_grad"};
        EXPECT_EQ(kindsOf(p.backward), expected);
        EXPECT_EQ(p.forward[0].op, bias ? "addmm" : "mm");
        EXPECT_EQ(p.forward[0].flops.value, 2 * 6 * 5 * 4);
        EXPECT_EQ(savedNames(p), std::vector<std::string>{"input"});
    }
}

TEST(ProgramBuilder, SumsTheGradientsOfAResidual) {
    ProgramBuilder b("p", "Block", DType::F32);
    const TensorId x = b.input({2, 3});
    const Program p = finished(b, b.add(x, b.gelu(x)));
    EXPECT_EQ(kindsOf(p.forward), (std::vector<std::string>{"gelu", "add"}));
    EXPECT_EQ(kindsOf(p.backward), (std::vector<std::string>{"gelu_grad", "add"}));
    const Kernel& sum = p.backward.back();
    EXPECT_EQ(sum.inputs[0], only(p, TensorRole::OutputGradient));
    EXPECT_EQ(sum.outputs[0], only(p, TensorRole::InputGradient));
}

TEST(ProgramBuilder, AddsUpTheGradientsOfAParameterThatIsUsedTwice) {
    ProgramBuilder b("p", "Block", DType::F32);
    const TensorId w = b.parameter("weight", {4, 4});
    const TensorId middle = b.linear(b.input({2, 4}), w);
    const Program p = finished(b, b.linear(middle, b.parameter("weight", {4, 4})));
    EXPECT_EQ(std::count_if(p.tensors.begin(), p.tensors.end(),
                            [](const Tensor& t) { return t.role == TensorRole::ParameterGradient; }),
              1);
    EXPECT_EQ(kindsOf(p.backward), (std::vector<std::string>{"linear_weight_grad", "linear_input_grad",
                                                             "linear_weight_grad", "linear_input_grad", "add"}));
}

TEST(ProgramBuilder, ReshapesWithoutACopyWhereStridesAllow) {
    ProgramBuilder b("p", "Block", DType::F32);
    const TensorId x = b.input({2, 3, 4});
    const TensorId flat = b.reshape(x, {6, 4});
    EXPECT_EQ(b.at(flat).storage, x);
    const TensorId turned = b.transpose(x, 0, 1);
    EXPECT_EQ(b.at(turned).strides, (Strides{4, 12, 1}));
    EXPECT_EQ(b.at(turned).storage, x);
    const TensorId copied = b.reshape(turned, {6, 4});
    EXPECT_NE(b.at(copied).storage, x);
    const Program p = finished(b, b.gelu(copied));
    EXPECT_EQ(kindsOf(p.forward), (std::vector<std::string>{"copy", "gelu"}));
    // The gradient is turned back as a view, which cannot leave the layer as it is.
    EXPECT_EQ(kindsOf(p.backward), (std::vector<std::string>{"gelu_grad", "copy"}));
}

TEST(ProgramBuilder, SlicesAreViewsAndTheirGradientsAreJoined) {
    ProgramBuilder b("p", "Block", DType::F32);
    const auto parts = b.split(b.input({2, 6}), 1, {2, 4});
    EXPECT_EQ(b.at(parts[1]).offset, 2);
    EXPECT_EQ(b.at(parts[1]).strides, (Strides{6, 1}));
    const TensorId left = b.gelu(parts[0]);
    const TensorId right = b.gelu(b.select(b.reshape(parts[1], {2, 2, 2}), 1, 1));
    const Program p = finished(b, b.add(left, right));
    EXPECT_EQ(kindsOf(p.backward), (std::vector<std::string>{"gelu_grad", "slice_grad", "gelu_grad", "concat"}));
    const Kernel& slice = p.backward[1];
    EXPECT_EQ(p.tensor(slice.outputs[1]).storage, slice.outputs[0]);
    EXPECT_EQ(slice.written.value, 2 * 4 * 4);  // the view counts with its owner
    EXPECT_EQ(p.backward[3].outputs.size(), 3u);
    EXPECT_EQ(p.backward[3].outputs[0], only(p, TensorRole::InputGradient));
}

TEST(ProgramBuilder, InputsWithoutAGradientGetNone) {
    ProgramBuilder b("p", "Embedding", DType::F32);
    const TensorId ids = b.batch(0, {2, 3}, DType::I64);
    const Program p = finished(b, b.embedding(ids, b.parameter("weight", {7, 4})));
    EXPECT_EQ(kindsOf(p.backward), std::vector<std::string>{"embedding_grad"});
    EXPECT_FALSE(only(p, TensorRole::InputGradient).valid());
    EXPECT_EQ(savedNames(p), std::vector<std::string>{"batch"});
    EXPECT_EQ(p.forward[0].read.value, 6 * 8 + 6 * 4 * 4);  // the rows that are looked up, not the table
}

TEST(ProgramBuilder, ALayerThatDoesNothingCopiesItsInput) {
    ProgramBuilder b("p", "Sequential", DType::F32);
    const Program p = finished(b, b.input({2, 3}));
    EXPECT_EQ(kindsOf(p.forward), std::vector<std::string>{"copy"});
    EXPECT_EQ(kindsOf(p.backward), std::vector<std::string>{"copy"});
    EXPECT_TRUE(savedForBackward(p).empty());
}

TEST(ProgramBuilder, EveryOperandExistsAndIsWrittenBeforeItIsRead) {
    for (auto kind : {Workload::AttentionKind::Flash, Workload::AttentionKind::Math}) {
        ProgramBuilder b("p", "Block", DType::BF16);
        const TensorId x = b.input({2, 5, 8});
        std::vector<TensorId> qkv = b.split(b.linear(x, b.parameter("qkv", {24, 8})), 2, {8, 8, 8});
        for (TensorId& part : qkv) part = b.transpose(b.reshape(part, {2, 5, 2, 4}), 1, 2);
        const TensorId out = b.attention(qkv[0], qkv[1], qkv[2], true, kind);
        const Program p = finished(b, b.add(x, b.reshape(b.transpose(out, 1, 2), {2, 5, 8})));
        std::vector<char> written(p.tensors.size(), 0);
        for (std::size_t i = 0; i < p.tensors.size(); ++i) {
            const TensorRole role = p.tensors[i].role;
            written[i] = role != TensorRole::Intermediate && role != TensorRole::Output &&
                         role != TensorRole::InputGradient && role != TensorRole::ParameterGradient;
        }
        for (const auto* kernels : {&p.forward, &p.backward}) {
            for (const Kernel& kernel : *kernels) {
                for (TensorId id : kernel.inputs)
                    EXPECT_TRUE(written[p.tensor(id).storage.index()]) << p.tensor(id).name << " in " << kernel.op;
                for (TensorId id : kernel.outputs) written[p.tensor(id).storage.index()] = 1;
            }
        }
        EXPECT_TRUE(written[only(p, TensorRole::InputGradient).index()]);
    }
}

TEST(Program, SavesWhatBackwardReadsOfForward) {
    ProgramBuilder b("p", "Block", DType::F32);
    const TensorId x = b.input({2, 4});
    const TensorId y = b.linear(x, b.parameter("weight", {4, 4}));
    const Program p = finished(b, b.scale(b.gelu(y), 2));
    EXPECT_EQ(savedNames(p), (std::vector<std::string>{"input", "mm"}));
}

TEST(ProgramBuilder, RefusesTensorsAndKernelsBeyondAllMemory) {
    const std::int64_t large = std::int64_t{1} << 40;
    ProgramBuilder tensors("wide", "Block", DType::F32);
    const TensorId x = tensors.input({large, large});
    EXPECT_TRUE(tensors.tooLarge());
    EXPECT_FALSE(tensors.finish(tensors.gelu(x)).has_value());

    ProgramBuilder flops("deep", "Block", DType::F32);
    const std::int64_t side = std::int64_t{1} << 21;
    const TensorId y = flops.linear(flops.input({side, side}), flops.parameter("weight", {side, side}));
    const auto program = flops.finish(y);
    ASSERT_FALSE(program.has_value());
    EXPECT_NE(program.error().message.find("2^62"), std::string::npos);
}

// native_dropout on a GPU keeps a mask of bytes; a CPU keeps factors in the input's dtype (framework semantics 5.2).
TEST(ProgramBuilder, DropoutKeepsItsMaskAndPaysForIt) {
    for (const bool cpu : {false, true}) {
        Workload workload;
        workload.dtype = DType::BF16;
        workload.cpuRules = cpu;
        ProgramBuilder b("p", "Dropout", workload);
        const Program p = finished(b, b.dropout(b.input({2, 3, 8})));
        std::int64_t saved = 0, forward = 0, backward = 0;
        for (const TensorId id : savedForBackward(p)) saved += p.tensor(id).bytes().value;
        for (const Kernel& kernel : p.forward) forward += kernel.read.value + kernel.written.value;
        for (const Kernel& kernel : p.backward) backward += kernel.read.value + kernel.written.value;
        const std::int64_t x = 2 * 48, mask = cpu ? x : 48;
        EXPECT_EQ(saved, mask);
        EXPECT_EQ(forward, cpu ? mask + 2 * mask + x + mask + x : x + x + mask);
        EXPECT_EQ(backward, x + mask + x);
    }
}

}  // namespace
}  // namespace shardscope::core
