// Mixtures of experts as transformers runs them with grouped products: the router, the tokens sorted by expert, two
// batched products over the packed weights, and the weighted sum back to the tokens.

#include <algorithm>

#include "core/model/decoder_ops.h"
#include "core/model/hf/blocks.h"

namespace shardscope::core {
namespace {

/// x [G, m, in] times the first G of the weights [E, out, in] (or [E, in, out]): [G, m, out].
TensorId grouped(LayerWriter& w, TensorId x, TensorId weight, TensorId bias, bool inOut) {
    ProgramBuilder& b = w.b;
    const Shape shape = b.shapeOf(x), matrix = b.shapeOf(weight);
    if (b.tooLarge()) return x;
    const std::int64_t groups = shape[0], rows = shape[1], in = shape[2], out = matrix[inOut ? 2 : 1];
    const TensorId y = b.tensor("grouped_mm", {groups, rows, out}, b.at(x).dtype);
    b.shapeOfGemm(b.emit(KernelKind::BatchedGemm, "grouped_mm", {x, weight}, {y}), groups, rows, out, in);
    b.record({y}, {x, weight}, [=, &b] {
        const TensorId dw = b.tensor("d_weight", matrix, b.at(weight).dtype);
        b.shapeOfGemm(b.emit(KernelKind::BatchedGemm, "grouped_mm", {b.gradientOf(y), x}, {dw}), groups, out, in, rows);
        b.addGradient(weight, dw);
        const TensorId dx = b.tensor("d_input", shape, b.at(x).dtype);
        b.shapeOfGemm(b.emit(KernelKind::BatchedGemm, "grouped_mm", {b.gradientOf(y), weight}, {dx}), groups, rows, in,
                      out);
        b.addGradient(x, dx);
    });
    return bias.valid() ? w.pass("add", {y, bias}, {groups, rows, out}) : y;
}

}  // namespace

TensorId mixExperts(LayerWriter& w, const ExpertParts& p, TensorId x) {
    ProgramBuilder& b = w.b;
    auto scope = w.in(p.module);
    const Shape shape = b.shapeOf(x);
    const std::int64_t tokens = shape[0] * shape[1], hidden = shape[2];
    const TensorId flat = b.reshape(x, {tokens, hidden});
    const TensorId probabilities = b.softmax(b.cast(w.apply(p.router, flat), DType::F32));
    const TensorId indices = b.tensor("topk.indices", {tokens, p.active}, DType::I64);
    const TensorId weights = w.pass("topk", {probabilities}, {tokens, p.active});
    b.emit(KernelKind::Elementwise, "sort", {probabilities}, {indices});

    std::int64_t routed = 0;
    if (__builtin_mul_overflow(tokens, p.active, &routed)) routed = tokens;
    const std::int64_t groups = std::min(p.count, routed), rows = (routed + groups - 1) / groups;
    const TensorId sorted = w.pass("index", {flat}, {groups, rows, hidden});
    TensorId y;
    {
        auto inner = w.in(p.experts);
        const auto biasOf = [&](const char* name) {
            const auto& parameters = w.at(p.experts).parameters;
            const bool there = std::any_of(parameters.begin(), parameters.end(),
                                           [name](const ModuleEntry::Parameter& q) { return q.name == name; });
            return there ? w.parameter(p.experts, name) : TensorId{};
        };
        const TensorId first = w.parameter(p.experts, "gate_up_proj");
        const TensorId both = grouped(w, sorted, first, biasOf("gate_up_proj_bias"), p.weightsInOut);
        const std::int64_t half = b.shapeOf(both).back() / 2;
        if (b.tooLarge()) return x;
        const std::vector<TensorId> parts = b.split(both, 2, {half, half});
        const TensorId gated = multiply(b, w.activation(p.activation, parts[0]), parts[1]);
        const TensorId second = w.parameter(p.experts, "down_proj");
        y = grouped(w, gated, second, biasOf("down_proj_bias"), p.weightsInOut);
    }
    const TensorId weighted = w.pass("mul", {y, weights}, {groups, rows, hidden});
    TensorId out = b.reshape(w.pass("index_add", {weighted}, {tokens, hidden}), shape);
    if (p.shared.down.empty()) return out;
    TensorId shared = feedForward(w, p.shared, x);
    if (!p.sharedGate.empty()) {
        const TensorId gate = w.activation("sigmoid", w.apply(p.sharedGate, x));
        shared = w.pass("mul", {gate, shared}, shape);
    }
    return b.add(out, shared);
}

}  // namespace shardscope::core
