// Attention, fused and unfused, as PyTorch's scaled_dot_product_attention emits it on a GPU.

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "core/model/program_builder.h"

namespace shardscope::core {

TensorId ProgramBuilder::attention(TensorId q, TensorId k, TensorId v, bool causal, AttentionKind kind,
                                   bool wideSoftmax, bool withDropout) {
    assert(shapeOf(q).size() == 4 && shapeOf(k).size() == 4 && shapeOf(v).size() == 4);
    q = factor(q);
    k = factor(k);
    v = factor(v);
    if (kind == AttentionKind::Math || (kind == AttentionKind::Cpu && withDropout))
        return mathAttention(q, k, v, causal, withDropout);
    if (kind == AttentionKind::Eager)
        return eagerAttention(q, k, v, causal, wideSoftmax || m_product != m_dtype, withDropout);
    return fusedAttention(q, k, v, causal, kind, withDropout);
}

namespace {

// PyTorch's fused kernels: their names, and what they save beside operands and result.
struct FusedKernel {
    std::string_view op, backward;
    std::int64_t rows = 1;  // logsumexp is padded to a multiple of these
    bool ordered = false;   // the result lies in memory as [batch, sequence, heads, width]
    std::string_view state, offset;
    std::int64_t stateSize = 0;  // 0: one number
    DType stateType = DType::I64;
};

const FusedKernel& fusedKernel(Workload::AttentionKind kind) {
    using Kind = Workload::AttentionKind;
    static constexpr FusedKernel kFlash{"scaled_dot_product_flash_attention",
                                        "scaled_dot_product_flash_attention_backward",
                                        1,
                                        false,
                                        "rng_state",
                                        "unused",
                                        2,
                                        DType::U64};
    static constexpr FusedKernel kEfficient{"scaled_dot_product_efficient_attention",
                                            "scaled_dot_product_efficient_attention_backward",
                                            32,
                                            true,
                                            "philox_seed",
                                            "philox_offset"};
    static constexpr FusedKernel kCudnn{"scaled_dot_product_cudnn_attention",
                                        "scaled_dot_product_cudnn_attention_backward",
                                        1,
                                        false,
                                        "philox_seed",
                                        "philox_offset"};
    static constexpr FusedKernel kCpu{"scaled_dot_product_flash_attention_for_cpu",
                                      "scaled_dot_product_flash_attention_for_cpu_backward"};
    static constexpr FusedKernel kFlash1{
        "flash_attention_1", "flash_attention_1_backward", 1, false, "rng_state", "unused", 2, DType::U64};
    static constexpr FusedKernel kFlash3{"flash_attention_3", "flash_attention_3_backward"};
    switch (kind) {
        case Kind::Flash1: return kFlash1;
        case Kind::Flash3: return kFlash3;
        case Kind::Efficient: return kEfficient;
        case Kind::Cudnn: return kCudnn;
        case Kind::Cpu: return kCpu;
        default: return kFlash;
    }
}

}  // namespace

TensorId ProgramBuilder::fusedAttention(TensorId q, TensorId k, TensorId v, bool causal, AttentionKind kind,
                                        bool withDropout) {
    const FusedKernel& fused = fusedKernel(kind);
    const Shape shape = shapeOf(q);
    if (kind == AttentionKind::Efficient) {
        const std::int64_t group = std::max<std::int64_t>(1, shape[1] / shapeOf(k)[1]);
        k = repeatHeads(k, group);
        v = repeatHeads(v, group);
    }
    const std::int64_t batchSize = shape[0], heads = shape[1], queries = shape[2], width = shape[3];
    const std::int64_t kvHeads = shapeOf(k)[1], keys = shapeOf(k)[2];
    const std::uint16_t draw = withDropout ? ++m_draws : std::uint16_t{0};
    const auto describe = [=, this](Kernel& kernel, double products) {
        if (draw != 0) drawn(kernel, draw);
        kernel.causal = causal;
        kernel.kvHeads = kvHeads;
        kernel.heads = heads;
        multiply(kernel, batchSize, queries, keys, width, products * static_cast<double>(heads));
    };
    const TensorId out = fused.ordered
                             ? transpose(tensor("attention", {batchSize, queries, heads, width}, at(q).dtype), 1, 2)
                             : tensorLike("attention", q, at(q).dtype);
    const std::int64_t padded = (queries + fused.rows - 1) / fused.rows * fused.rows;
    TensorId logSumExp = tensor("logsumexp", {batchSize, heads, padded}, DType::F32);
    if (padded > queries && !tooLarge()) logSumExp = slice(logSumExp, 2, 0, queries);
    std::vector<TensorId> results{out, logSumExp};
    if (!fused.state.empty()) {
        results.push_back(tensor(fused.state, fused.stateSize > 0 ? Shape{fused.stateSize} : Shape{}, fused.stateType));
        results.push_back(tensor(fused.offset, {}, fused.stateType));
    }
    describe(emit(KernelKind::Attention, fused.op, {q, k, v}, results), 2);
    record({out}, {q, k, v}, [=, &fused, this] {
        const TensorId dq = tensorLike("d_query", q, at(q).dtype);
        const TensorId dk = tensorLike("d_key", k, at(k).dtype);
        const TensorId dv = tensorLike("d_value", v, at(v).dtype);
        // Recomputes the scores: five products for the forward pass's two.
        std::vector<TensorId> reads{gradientOf(out), q, k, v};
        reads.insert(reads.end(), results.begin(), results.end());
        describe(emit(KernelKind::AttentionGrad, fused.backward, std::move(reads), {dq, dk, dv}), 5);
        addGradient(q, dq);
        addGradient(k, dk);
        addGradient(v, dv);
    });
    return out;
}

TensorId ProgramBuilder::softmax(TensorId x, std::string_view op, std::optional<DType> to) {
    const TensorId y = tensor(op, shapeOf(x), to.value_or(at(x).dtype));
    emit(KernelKind::Softmax, op, {x}, {y});
    record({y}, {x}, [this, x, y] {
        const TensorId dx = tensor("d_scores", shapeOf(x), at(x).dtype);
        emit(KernelKind::SoftmaxGrad, "_softmax_backward_data", {gradientOf(y), y}, {dx});
        addGradient(x, dx);
    });
    return y;
}

TensorId ProgramBuilder::batchedGemm(TensorId a, TensorId b) {
    const auto product = [this](TensorId left, TensorId right, std::string_view name) {
        const Shape l = shapeOf(left), r = shapeOf(right);
        const TensorId c = tensor(name, {l[0], l[1], r[2]}, at(left).dtype);
        multiply(emit(KernelKind::BatchedGemm, "bmm", {left, right}, {c}), l[0], l[1], r[2], l[2]);
        return c;
    };
    const TensorId c = product(a, b, "bmm");
    record({c}, {a, b}, [this, a, b, c, product] {
        // The second operand's gradient comes first, as in the recorded kernel lists.
        const TensorId dc = gradientOf(c);
        if (needsGradient(b)) addGradient(b, product(transpose(a, 1, 2), dc, "d_right"));
        if (needsGradient(a)) addGradient(a, product(dc, transpose(b, 1, 2), "d_left"));
    });
    return c;
}

TensorId ProgramBuilder::repeatHeads(TensorId x, std::int64_t times) {
    if (times == 1) return x;
    const Shape shape = shapeOf(x);
    const TensorId wide = expand(reshape(x, {shape[0], shape[1], 1, shape[2], shape[3]}), 2, times);
    return reshape(clone(wide), {shape[0], shape[1] * times, shape[2], shape[3]});
}

TensorId ProgramBuilder::eagerAttention(TensorId q, TensorId k, TensorId v, bool causal, bool wideSoftmax,
                                        bool withDropout) {
    const DType original = at(q).dtype;
    const Shape shape = shapeOf(q);
    const std::int64_t together = shape[0] * shape[1], queries = shape[2], width = shape[3], keys = shapeOf(k)[2];
    const std::int64_t group = std::max<std::int64_t>(1, shape[1] / shapeOf(k)[1]);
    k = repeatHeads(k, group);
    v = repeatHeads(v, group);
    if (tooLarge()) return q;
    const TensorId left = reshape(q, {together, queries, width});
    const TensorId right = transpose(reshape(k, {together, keys, width}), 1, 2);
    TensorId scores = scale(batchedGemm(left, right), 1 / std::sqrt(static_cast<double>(width)));
    if (causal) {
        const TensorId masked = tensor("add", shapeOf(scores), original);
        emit(KernelKind::Copy, "add", {scores}, {masked});
        emit(KernelKind::CausalMask, "add", {masked}, {masked});
        record({masked}, {scores}, [=, this] { addGradient(scores, gradientOf(masked)); });
        scores = masked;
    }
    TensorId probabilities = cast(softmax(scores, "_softmax", wideSoftmax ? DType::F32 : original), original);
    if (withDropout) probabilities = dropout(probabilities);
    const TensorId context = batchedGemm(probabilities, reshape(v, {together, keys, width}));
    return reshape(context, {shape[0], shape[1], queries, width});
}

TensorId ProgramBuilder::mathAttention(TensorId q, TensorId k, TensorId v, bool causal, bool withDropout) {
    const DType original = at(q).dtype;
    const bool narrow16 = original == DType::BF16 || original == DType::F16;
    if (narrow16) {
        q = cast(q, DType::F32);
        k = cast(k, DType::F32);
        v = cast(v, DType::F32);
    }
    const Shape shape = shapeOf(q);
    const std::int64_t batchSize = shape[0], heads = shape[1], queries = shape[2], width = shape[3];
    const std::int64_t keys = shapeOf(k)[2];
    const std::int64_t group = std::max<std::int64_t>(1, heads / shapeOf(k)[1]);
    k = repeatHeads(k, group);
    v = repeatHeads(v, group);

    // Both operands get the root of 1/sqrt(d), which keeps their product in range.
    const double root = std::sqrt(1.0 / std::sqrt(static_cast<double>(width)));
    const TensorId scaledQ = reshape(scale(q, root), {batchSize * heads, queries, width});
    const TensorId scaledK = reshape(scale(k, root), {batchSize * heads, keys, width});
    const TensorId scores = batchedGemm(scaledQ, transpose(scaledK, 1, 2));
    if (causal) emit(KernelKind::CausalMask, "add_", {scores}, {scores});
    TensorId probabilities = softmax(scores);
    if (withDropout) probabilities = dropout(probabilities);
    const TensorId context = batchedGemm(probabilities, reshape(v, {batchSize * heads, keys, width}));
    const TensorId out = cast(reshape(context, {batchSize, heads, queries, width}), original);
    // It returns the probabilities as well, in the original dtype; nobody reads them.
    if (narrow16)
        emit(KernelKind::Copy, "_to_copy", {probabilities}, {tensorLike("_to_copy", probabilities, original)});
    return out;
}

}  // namespace shardscope::core
