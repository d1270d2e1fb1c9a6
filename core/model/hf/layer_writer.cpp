#include "core/model/hf/layer_writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/model/decoder_ops.h"

namespace shardscope::core {
namespace {

// One kernel each way that saves its input, with PyTorch's name of the backward one.
struct Fused {
    std::string_view word, op, backward;
    bool savesResult = false;
};
constexpr Fused kFused[] = {
    {"silu", "silu", "silu_backward"},
    {"swish", "silu", "silu_backward"},
    {"gelu_pytorch_tanh", "gelu", "gelu_backward"},
    {"relu", "relu", "threshold_backward", true},
    {"tanh", "tanh", "tanh_backward", true},
    {"sigmoid", "sigmoid", "sigmoid_backward", true},
};

}  // namespace

const ModuleEntry& LayerWriter::at(const std::string& module) const {
    const ModuleEntry* entry = m_architecture.find(joinNames(m_layer, module));
    assert(entry != nullptr);
    return *entry;
}

bool LayerWriter::has(const std::string& module) const {
    return m_architecture.find(joinNames(m_layer, module)) != nullptr;
}

ProgramBuilder::Scope LayerWriter::in(const std::string& module) {
    return b.in(module, module.empty() ? std::string_view() : std::string_view(at(module).type));
}

TensorId LayerWriter::parameter(const std::string& module, std::string_view name) {
    const ModuleEntry& entry = at(module);
    const auto found = std::find_if(entry.parameters.begin(), entry.parameters.end(),
                                    [name](const ModuleEntry::Parameter& p) { return p.name == name; });
    assert(found != entry.parameters.end());
    return b.parameter(joinNames(module, name), found->shape);
}

TensorId LayerWriter::apply(const std::string& module, TensorId x) {
    const ModuleEntry& entry = at(module);
    auto scope = in(module);
    const auto optional = [&](std::string_view name) {
        for (const ModuleEntry::Parameter& p : entry.parameters)
            if (p.name == name) return parameter(module, name);
        return TensorId{};
    };
    switch (entry.work) {
        case ModuleWork::Linear: {
            const TensorId weight = parameter(module, "weight");
            return b.linear(x, weight, optional("bias"));
        }
        case ModuleWork::Conv1D: {
            const TensorId weight = parameter(module, "weight");
            return b.conv1d(x, weight, parameter(module, "bias"));
        }
        case ModuleWork::Embedding: return b.embedding(x, parameter(module, "weight"));
        case ModuleWork::LayerNorm: {
            if (!has(module + ".norms")) return layerNorm(module, entry, x);
            std::vector<TensorId> inputs{x};  // StableLM: a norm for each head
            for (int i = 0; has(module + ".norms." + std::to_string(i)); ++i)
                inputs.push_back(parameter(module + ".norms." + std::to_string(i), "weight"));
            return pass("native_layer_norm", inputs, b.shapeOf(x));
        }
        case ModuleWork::RmsNorm: {
            const TensorId weight = parameter(module, "weight");
            if (!workload.fusedRmsNorm) return rmsNorm(b, x, weight, entry.epsilon);
            return b.cpuRules() ? composedRmsNorm(b, x, weight, entry.epsilon) : b.rmsNorm(x, weight, entry.epsilon);
        }
        case ModuleWork::Scale: return b.scaleVector(x, parameter(module, entry.parameters.front().name));
        case ModuleWork::Container:
        case ModuleWork::Convolution: return x;
    }
    return x;
}

TensorId LayerWriter::layerNorm(const std::string& module, const ModuleEntry& entry, TensorId x) {
    const bool vectors = entry.parameters.size() == 2 && entry.parameters.front().shape.size() == 1;
    if (vectors) {
        const TensorId weight = parameter(module, "weight");
        return b.layerNorm(x, weight, parameter(module, "bias"), entry.epsilon);
    }
    x = b.contiguous(x);
    const Shape shape = b.shapeOf(x);
    std::vector<TensorId> inputs{x};
    for (const ModuleEntry::Parameter& p : entry.parameters) inputs.push_back(parameter(module, p.name));
    const TensorId y = b.tensor("native_layer_norm", shape, b.at(x).dtype);
    const std::int64_t rows = b.tooLarge() ? 1 : elementsOf(shape) / shape.back();
    const DType statistics = b.cpuRules() ? b.at(x).dtype : DType::F32;
    const TensorId mean = b.tensor("mean", {rows}, statistics);
    const TensorId rstd = b.tensor("rstd", {rows}, statistics);
    b.emit(KernelKind::Elementwise, "native_layer_norm", inputs, {y, mean, rstd}).scalar = entry.epsilon;
    b.record({y}, inputs, [this, inputs, y, mean, rstd] {
        std::vector<TensorId> reads{b.gradientOf(y), inputs[0], mean, rstd};
        std::vector<TensorId> gradients;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (i > 0) reads.push_back(inputs[i]);
            gradients.push_back(b.tensor(i == 0 ? "d_input" : "d_weight", b.shapeOf(inputs[i]), b.at(inputs[i]).dtype));
        }
        b.emit(KernelKind::Elementwise, "native_layer_norm_backward", std::move(reads), gradients);
        for (std::size_t i = 0; i < inputs.size(); ++i) b.addGradient(inputs[i], gradients[i]);
    });
    return y;
}

TensorId LayerWriter::activation(std::string_view word, TensorId x, const std::string& module) {
    if (!module.empty() && has(module)) {
        auto scope = in(module);
        return activation(word, x);
    }
    const DType dtype = b.at(x).dtype;
    for (const Fused& f : kFused)
        if (f.word == word) return b.pointwise(f.op, {x}, dtype, {{x, f.backward, {f.savesResult ? TensorId{} : x}}});
    if (word == "gelu_new" || word == "gelu_fast") return geluNew(b, x);
    if (word == "quick_gelu") {
        const TensorId gate = activation("sigmoid", b.scale(x, 1.702), {});
        return multiply(b, x, gate);
    }
    if (word == "relu2") {
        const TensorId y = activation("relu", x, {});
        return b.pointwise("pow", {y}, dtype, {{y, "mul", {y}}});
    }
    return b.gelu(x);
}

TensorId LayerWriter::drop(const std::string& module, TensorId x) {
    auto scope = in(module);
    return b.dropout(x);
}

TensorId LayerWriter::tokenOf(TensorId x, std::int64_t index) {
    return b.select(x, 1, index);
}

TensorId LayerWriter::convolve(const std::string& module, TensorId x, std::int64_t positions) {
    auto scope = in(module);
    const ModuleEntry& entry = at(module);
    const TensorId weight = parameter(module, "weight");
    const Shape w = entry.parameters.front().shape;
    const std::int64_t batch = b.shapeOf(x)[0], out = w[0];
    std::int64_t inner = 1;
    for (std::size_t i = 1; i < w.size() && !b.tooLarge(); ++i) inner *= w[i];
    std::vector<TensorId> inputs{x, weight};
    if (entry.parameters.size() > 1) inputs.push_back(parameter(module, "bias"));
    const TensorId y = b.tensor("convolution", {batch, positions, out}, b.at(x).dtype);
    const std::int64_t rows = batch * positions;
    b.shapeOfGemm(b.emit(KernelKind::OpaqueGemm, "convolution", inputs, {y}), 1, rows, out, inner);
    b.record({y}, inputs, [this, inputs, y, rows, out, inner] {
        if (b.needsGradient(inputs[0])) {
            const TensorId dx = b.tensor("d_input", b.shapeOf(inputs[0]), b.at(inputs[0]).dtype);
            b.shapeOfGemm(b.emit(KernelKind::OpaqueGemm, "convolution_backward", {b.gradientOf(y), inputs[1]}, {dx}), 1,
                          rows, inner, out);
            b.addGradient(inputs[0], dx);
        }
        std::vector<TensorId> gradients;
        for (std::size_t i = 1; i < inputs.size(); ++i)
            gradients.push_back(b.tensor(i == 1 ? "d_weight" : "d_bias", b.shapeOf(inputs[i]), b.dtype()));
        b.shapeOfGemm(b.emit(KernelKind::OpaqueGemm, "convolution_backward", {b.gradientOf(y), inputs[0]}, gradients),
                      1, out, inner, rows);
        for (std::size_t i = 1; i < inputs.size(); ++i) b.addGradient(inputs[i], gradients[i - 1]);
    });
    return y;
}

TensorId LayerWriter::pass(std::string_view op, const std::vector<TensorId>& inputs, Shape shape) {
    const TensorId y = b.tensor(op, std::move(shape), b.dtype());
    b.emit(KernelKind::Elementwise, op, inputs, {y});
    b.record({y}, inputs, [this, op, inputs, y] {
        std::vector<TensorId> reads{b.gradientOf(y)}, gradients, of;
        reads.insert(reads.end(), inputs.begin(), inputs.end());
        for (const TensorId input : inputs) {
            if (!b.needsGradient(input)) continue;
            of.push_back(input);
            gradients.push_back(b.tensor("d_input", b.shapeOf(input), b.at(input).dtype));
        }
        b.emit(KernelKind::Elementwise, op, std::move(reads), gradients);
        for (std::size_t i = 0; i < of.size(); ++i) b.addGradient(of[i], gradients[i]);
    });
    return y;
}

}  // namespace shardscope::core
