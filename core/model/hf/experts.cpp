// Mixtures of experts as transformers runs them with grouped products: the router, the tokens sorted by expert, two
// products over the packed weights, and the weighted sum back to the tokens. What is saved is what the recording of
// Mixtral saves (framework semantics 5.2). A grouped product is a Linear kernel of `b` groups, each of m rows (the
// gradient of its weight has k rows a group).

#include <algorithm>

#include "core/model/decoder_ops.h"
#include "core/model/hf/blocks.h"

namespace shardscope::core {
namespace {

/// The tokens' rows in the order of their experts: `rows` for each of `groups`.
struct Routing {
    std::int64_t groups = 1, rows = 1;
    TensorId ends;  ///< where each expert's rows end, int32

    [[nodiscard]] std::int64_t all() const { return groups * rows; }
};

TensorId integers(LayerWriter& w, std::string_view op, std::vector<TensorId> from, Shape shape,
                  DType dtype = DType::I64) {
    const TensorId y = w.b.tensor(op, std::move(shape), dtype);
    w.b.emit(KernelKind::Elementwise, op, std::move(from), {y});
    return y;
}

/// x[indices], or x by another order of its rows: one kernel each way, which saves the indices.
TensorId pick(LayerWriter& w, TensorId x, TensorId indices, Shape shape) {
    ProgramBuilder& b = w.b;
    const TensorId y = b.tensor("index", std::move(shape), b.at(x).dtype);
    b.emit(KernelKind::Elementwise, "index", {x, indices}, {y});
    b.record({y}, {x}, [&b, x, y, indices] {
        const TensorId dx = b.tensor("d_index", b.shapeOf(x), b.at(x).dtype);
        b.emit(KernelKind::Elementwise, "index_put", {b.gradientOf(y), indices}, {dx});
        b.addGradient(x, dx);
    });
    return y;
}

/// x [rows of all groups, in] times each group's weight of [E, out, in] (or [E, in, out]).
TensorId grouped(LayerWriter& w, const Routing& routing, TensorId x, TensorId weight, TensorId bias, bool inOut) {
    ProgramBuilder& b = w.b;
    const Shape matrix = b.shapeOf(weight);
    if (b.tooLarge()) return x;
    const std::int64_t in = matrix[inOut ? 1 : 2], out = matrix[inOut ? 2 : 1];
    const TensorId y = b.tensor("_grouped_mm", {routing.all(), out}, b.at(x).dtype);
    b.shapeOfGemm(b.emit(KernelKind::Linear, "_grouped_mm", {x, weight, routing.ends}, {y}), routing.groups,
                  routing.rows, out, in);
    b.record({y}, {x, weight}, [=, &b] {
        const TensorId dw = b.tensor("d_weight", matrix, b.at(weight).dtype);
        b.shapeOfGemm(b.emit(KernelKind::LinearWeightGrad, "_grouped_mm", {b.gradientOf(y), x, routing.ends}, {dw}),
                      routing.groups, out, in, routing.rows);
        b.addGradient(weight, dw);
        const TensorId dx = b.tensor("d_input", {routing.all(), in}, b.at(x).dtype);
        b.shapeOfGemm(b.emit(KernelKind::LinearInputGrad, "_grouped_mm", {b.gradientOf(y), weight, routing.ends}, {dx}),
                      routing.groups, routing.rows, in, out);
        b.addGradient(x, dx);
    });
    return bias.valid() ? w.pass("add", {y, bias}, {routing.all(), out}) : y;
}

/// The chosen experts' shares of a token, which sum to one.
TensorId normalised(LayerWriter& w, TensorId chosen, std::int64_t tokens) {
    ProgramBuilder& b = w.b;
    const TensorId sum = b.tensor("sum", {tokens, 1}, DType::F32);
    b.emit(KernelKind::Elementwise, "sum", {chosen}, {sum});
    b.record({sum}, {chosen}, [&b, chosen, sum] {
        const TensorId whole = b.tensorLike("expand", chosen, DType::F32);
        b.emit(KernelKind::Elementwise, "expand", {b.gradientOf(sum)}, {whole});
        b.addGradient(chosen, whole);
    });
    const TensorId y = b.tensorLike("div", chosen, DType::F32);
    b.emit(KernelKind::Elementwise, "div", {chosen, sum}, {y});
    b.record({y}, {chosen, sum}, [&b, chosen, sum, y] {
        const TensorId ds = b.tensorLike("d_sum", sum, DType::F32), dc = b.tensorLike("d_chosen", chosen, DType::F32);
        b.emit(KernelKind::Elementwise, "div", {b.gradientOf(y), sum}, {dc});
        b.emit(KernelKind::Elementwise, "neg", {b.gradientOf(y), chosen, sum}, {ds});
        b.addGradient(chosen, dc);
        b.addGradient(sum, ds);
    });
    return y;
}

struct Choice {
    TensorId shares;  ///< [tokens, active], fp32
};

Choice choose(LayerWriter& w, const ExpertParts& p, TensorId flat, std::int64_t tokens) {
    ProgramBuilder& b = w.b;
    const TensorId logits = w.apply(p.router, flat);
    auto scope = w.in(p.router);
    const TensorId probabilities = b.softmax(b.cast(logits, DType::F32));
    const TensorId indices = b.tensor("topk.indices", {tokens, p.active}, DType::I64);
    const TensorId values = b.tensor("topk", {tokens, p.active}, DType::F32);
    b.emit(KernelKind::Elementwise, "topk", {probabilities}, {values, indices});
    b.record({values}, {probabilities}, [&b, probabilities, values, indices] {
        const TensorId dx = b.tensorLike("d_topk", probabilities, DType::F32);
        b.emit(KernelKind::Elementwise, "topk_backward", {b.gradientOf(values), indices}, {dx});
        b.addGradient(probabilities, dx);
    });
    return {normalised(w, values, tokens)};
}

/// y [rows, h] times a share for each row: in fp32, as the shares are.
TensorId weigh(LayerWriter& w, TensorId y, TensorId shares) {
    ProgramBuilder& b = w.b;
    const TensorId weighted = b.tensorLike("mul", y, DType::F32);
    b.emit(KernelKind::Elementwise, "mul", {y, shares}, {weighted});
    b.record({weighted}, {y, shares}, [&b, y, shares, weighted] {
        const TensorId dy = b.tensorLike("d_rows", y, b.at(y).dtype), ds = b.tensorLike("d_shares", shares, DType::F32);
        b.emit(KernelKind::Elementwise, "mul", {b.gradientOf(weighted), shares}, {dy});
        b.emit(KernelKind::Elementwise, "sum", {b.gradientOf(weighted), y}, {ds});
        b.addGradient(y, dy);
        b.addGradient(shares, ds);
    });
    return weighted;
}

/// The rows of each token summed and cast back.
TensorId gather(LayerWriter& w, TensorId rows, Shape shape) {
    ProgramBuilder& b = w.b;
    const TensorId y = b.tensor("sum", std::move(shape), DType::F32);
    b.emit(KernelKind::Elementwise, "sum", {rows}, {y});
    b.record({y}, {rows}, [&b, rows, y] {
        const TensorId dx = b.tensorLike("expand", rows, DType::F32);
        b.emit(KernelKind::Elementwise, "expand", {b.gradientOf(y)}, {dx});
        b.addGradient(rows, dx);
    });
    return b.cast(y, b.dtype());
}

}  // namespace

TensorId mixExperts(LayerWriter& w, const ExpertParts& p, TensorId x) {
    ProgramBuilder& b = w.b;
    auto scope = w.in(p.module);
    const Shape shape = b.shapeOf(x);
    const std::int64_t tokens = shape[0] * shape[1], hidden = shape[2];
    std::int64_t routed = 0;
    if (b.tooLarge() || __builtin_mul_overflow(tokens, p.active, &routed)) return x;
    const TensorId flat = b.reshape(x, {tokens, hidden});
    const Choice choice = choose(w, p, flat, tokens);

    Routing routing;
    routing.groups = std::min(p.count, routed);
    routing.rows = (routed + routing.groups - 1) / routing.groups;
    TensorId out;
    {
        auto inner = w.in(p.experts);
        const auto biasOf = [&](const char* name) {
            const auto& parameters = w.at(p.experts).parameters;
            const bool there = std::any_of(parameters.begin(), parameters.end(),
                                           [name](const ModuleEntry::Parameter& q) { return q.name == name; });
            return there ? w.parameter(p.experts, name) : TensorId{};
        };
        const Shape rows{routing.all()};
        const TensorId order = integers(w, "sort", {}, rows), tokenOf = integers(w, "floor_divide", {order}, rows);
        const TensorId back = integers(w, "empty_like", {order}, rows);
        routing.ends = integers(w, "cumsum", {order}, {p.count}, DType::I32);
        const TensorId shares = pick(w, choice.shares, order, {routing.all(), 1});
        const TensorId sorted = pick(w, flat, tokenOf, {routing.all(), hidden});
        const TensorId first = w.parameter(p.experts, "gate_up_proj");
        const TensorId both = grouped(w, routing, sorted, first, biasOf("gate_up_proj_bias"), p.weightsInOut);
        if (b.tooLarge()) return x;
        const std::int64_t half = b.shapeOf(both).back() / 2;
        const std::vector<TensorId> parts = b.split(both, 1, {half, half});
        const TensorId gated = multiply(b, w.activation(p.activation, parts[0], p.experts + ".act_fn"), parts[1]);
        const TensorId second = w.parameter(p.experts, "down_proj");
        const TensorId y = grouped(w, routing, gated, second, biasOf("down_proj_bias"), p.weightsInOut);
        const TensorId ordered = pick(w, weigh(w, y, shares), back, {routing.all(), hidden});
        out = b.reshape(gather(w, ordered, {tokens, hidden}), shape);
    }
    if (p.shared.down.empty()) return out;
    TensorId shared = feedForward(w, p.shared, x);
    if (!p.sharedGate.empty()) {
        const TensorId gate = w.activation("sigmoid", w.apply(p.sharedGate, x));
        shared = w.pass("mul", {gate, shared}, shape);
    }
    return b.add(out, shared);
}

}  // namespace shardscope::core
