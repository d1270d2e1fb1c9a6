#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

#include "runtime/device/elements.h"
#include "runtime/device/reference_kernels.h"

namespace shardscope::runtime::reference {

using core::Result;

namespace {

struct Sizes {
    std::int64_t batch, heads, kvHeads, queries, keys, width;
    double scale;
    bool causal;
    [[nodiscard]] std::size_t query(std::int64_t b, std::int64_t h, std::int64_t s) const {
        return static_cast<std::size_t>(((b * heads + h) * queries + s) * width);
    }
    [[nodiscard]] std::size_t key(std::int64_t b, std::int64_t h, std::int64_t t) const {
        return static_cast<std::size_t>(((b * kvHeads + h * kvHeads / heads) * keys + t) * width);
    }
};

Result<Sizes> sizesOf(const KernelCall& call, const TensorView& q, const TensorView& k, const TensorView& v) {
    if (q.shape.size() != 4 || k.shape.size() != 4 || v.shape != k.shape || q.shape[0] != k.shape[0] ||
        q.shape[3] != k.shape[3] || k.shape[1] == 0 || q.shape[1] % k.shape[1] != 0)
        return shapeError(call, fmt::format("has q {}, k {}, v {}; expected [batch, heads, sequence, width]",
                                            core::toString(q.shape), core::toString(k.shape), core::toString(v.shape)));
    return Sizes{q.shape[0],
                 q.shape[1],
                 k.shape[1],
                 q.shape[2],
                 k.shape[2],
                 q.shape[3],
                 1.0 / std::sqrt(static_cast<double>(q.shape[3])),
                 call.kernel.causal};
}

double dot(const float* a, const float* b, std::int64_t n) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
}

/// Keys that query s may see.
std::int64_t visible(const Sizes& sizes, std::int64_t s) {
    return sizes.causal ? std::min(s + 1, sizes.keys) : sizes.keys;
}

/// What dropout makes of the probabilities, if the kernel has any.
struct Chances {
    std::optional<Draws> draws;
    double scale = 1;  ///< of what is kept
    Sizes sizes;

    static Result<Chances> of(const KernelCall& call, const Sizes& sizes) {
        Chances chances{std::nullopt, 1, sizes};
        if (call.kernel.draw == 0) return chances;
        SHARDSCOPE_ASSIGN(chances.draws, drawsOf(call, sizes.batch * sizes.heads * sizes.queries * sizes.keys));
        chances.scale = 1 / (1 - call.kernel.scalar);
        return chances;
    }
    [[nodiscard]] double factor(std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t t) const {
        if (!draws) return 1;
        return draws->keeps(((b * sizes.heads + h) * sizes.queries + s) * sizes.keys + t) ? scale : 0;
    }
};

}  // namespace

Result<void> attention(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 3, 2));
    SHARDSCOPE_ASSIGN(const Sizes sizes, sizesOf(call, call.inputs[0], call.inputs[1], call.inputs[2]));
    if (call.outputs[0].shape != call.inputs[0].shape) return shapeError(call, "has an output of another shape than q");
    const auto q = loadFloats(call.inputs[0]), k = loadFloats(call.inputs[1]), v = loadFloats(call.inputs[2]);
    std::vector<float> out(q.size()), logsumexp(static_cast<std::size_t>(sizes.batch * sizes.heads * sizes.queries));
    if (call.outputs[1].elements() != static_cast<std::int64_t>(logsumexp.size()))
        return shapeError(call, "has a logsumexp of another size than [batch, heads, sequence]");
    SHARDSCOPE_ASSIGN(const Chances chances, Chances::of(call, sizes));
    std::vector<double> scores(static_cast<std::size_t>(sizes.keys)), sums(static_cast<std::size_t>(sizes.width));
    for (std::int64_t b = 0; b < sizes.batch; ++b)
        for (std::int64_t h = 0; h < sizes.heads; ++h)
            for (std::int64_t s = 0; s < sizes.queries; ++s) {
                const std::int64_t seen = visible(sizes, s);
                const float* query = &q[sizes.query(b, h, s)];
                double largest = -HUGE_VAL, total = 0;
                for (std::int64_t t = 0; t < seen; ++t) {
                    auto& score = scores[static_cast<std::size_t>(t)];
                    score = dot(query, &k[sizes.key(b, h, t)], sizes.width) * sizes.scale;
                    largest = std::max(largest, score);
                }
                for (std::int64_t t = 0; t < seen; ++t)
                    total += std::exp(scores[static_cast<std::size_t>(t)] - largest);
                const double logSum = largest + std::log(total);
                std::fill(sums.begin(), sums.end(), 0.0);
                for (std::int64_t t = 0; t < seen; ++t) {
                    const double probability =
                        std::exp(scores[static_cast<std::size_t>(t)] - logSum) * chances.factor(b, h, s, t);
                    const float* value = &v[sizes.key(b, h, t)];
                    for (std::int64_t i = 0; i < sizes.width; ++i)
                        sums[static_cast<std::size_t>(i)] += probability * value[i];
                }
                for (std::int64_t i = 0; i < sizes.width; ++i)
                    out[sizes.query(b, h, s) + static_cast<std::size_t>(i)] =
                        static_cast<float>(sums[static_cast<std::size_t>(i)]);
                logsumexp[static_cast<std::size_t>((b * sizes.heads + h) * sizes.queries + s)] =
                    static_cast<float>(logSum);
            }
    storeFloats(call.outputs[0], out);
    storeFloats(call.outputs[1], logsumexp);
    return {};
}

Result<void> attentionGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 6, 3));
    SHARDSCOPE_ASSIGN(const Sizes sizes, sizesOf(call, call.inputs[1], call.inputs[2], call.inputs[3]));
    if (call.inputs[0].shape != call.inputs[1].shape || call.inputs[4].shape != call.inputs[1].shape)
        return shapeError(call, "has an output or its gradient of another shape than q");
    const auto dout = loadFloats(call.inputs[0]), q = loadFloats(call.inputs[1]), k = loadFloats(call.inputs[2]);
    const auto v = loadFloats(call.inputs[3]), out = loadFloats(call.inputs[4]), logsumexp = loadFloats(call.inputs[5]);
    SHARDSCOPE_ASSIGN(const Chances chances, Chances::of(call, sizes));
    std::vector<double> dq(q.size(), 0.0), dk(k.size(), 0.0), dv(v.size(), 0.0);
    for (std::int64_t b = 0; b < sizes.batch; ++b)
        for (std::int64_t h = 0; h < sizes.heads; ++h)
            for (std::int64_t s = 0; s < sizes.queries; ++s) {
                const std::size_t row = sizes.query(b, h, s);
                // sum over t of p dp equals out . dout, whatever the keys.
                const double inner = dot(&out[row], &dout[row], sizes.width);
                const double logSum = logsumexp[static_cast<std::size_t>((b * sizes.heads + h) * sizes.queries + s)];
                for (std::int64_t t = 0; t < visible(sizes, s); ++t) {
                    const std::size_t column = sizes.key(b, h, t);
                    const double p = std::exp(dot(&q[row], &k[column], sizes.width) * sizes.scale - logSum);
                    const double kept = chances.factor(b, h, s, t);
                    const double dscore = p * (kept * dot(&dout[row], &v[column], sizes.width) - inner) * sizes.scale;
                    for (std::size_t i = 0; i < static_cast<std::size_t>(sizes.width); ++i) {
                        dq[row + i] += dscore * k[column + i];
                        dk[column + i] += dscore * q[row + i];
                        dv[column + i] += p * kept * dout[row + i];
                    }
                }
            }
    storeFloats(call.outputs[0], std::vector<float>(dq.begin(), dq.end()));
    storeFloats(call.outputs[1], std::vector<float>(dk.begin(), dk.end()));
    storeFloats(call.outputs[2], std::vector<float>(dv.begin(), dv.end()));
    return {};
}

Result<void> causalMask(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 1));
    const TensorView& view = call.outputs[0];
    if (view.shape.size() < 2 || view.elements() != call.inputs[0].elements())
        return shapeError(call, "needs scores [b,S,S]");
    const std::int64_t columns = view.shape.back(), rows = view.shape[view.shape.size() - 2];
    auto scores = loadFloats(call.inputs[0]);
    for (std::int64_t i = 0; i < view.elements(); ++i)
        if (i % columns > (i / columns) % rows) scores[static_cast<std::size_t>(i)] = -HUGE_VALF;
    storeFloats(view, scores);
    return {};
}

Result<void> softmax(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 1));
    const auto x = loadFloats(call.inputs[0]);
    const std::size_t n = call.inputs[0].shape.empty() ? 1 : static_cast<std::size_t>(call.inputs[0].shape.back());
    if (n == 0 || call.outputs[0].elements() != call.inputs[0].elements())
        return shapeError(call, "has operands of different sizes");
    std::vector<float> y(x.size());
    for (std::size_t row = 0; row < x.size(); row += n) {
        double largest = x[row], sum = 0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max<double>(largest, x[row + i]);
        for (std::size_t i = 0; i < n; ++i) sum += std::exp(x[row + i] - largest);
        for (std::size_t i = 0; i < n; ++i) y[row + i] = static_cast<float>(std::exp(x[row + i] - largest) / sum);
    }
    storeFloats(call.outputs[0], y);
    return {};
}

Result<void> softmaxGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const auto dp = loadFloats(call.inputs[0]), p = loadFloats(call.inputs[1]);
    const std::size_t n = call.inputs[1].shape.empty() ? 1 : static_cast<std::size_t>(call.inputs[1].shape.back());
    if (n == 0 || dp.size() != p.size()) return shapeError(call, "has operands of different sizes");
    std::vector<float> ds(p.size());
    for (std::size_t row = 0; row < p.size(); row += n) {
        double inner = 0;
        for (std::size_t i = 0; i < n; ++i) inner += static_cast<double>(dp[row + i]) * p[row + i];
        for (std::size_t i = 0; i < n; ++i) ds[row + i] = static_cast<float>(p[row + i] * (dp[row + i] - inner));
    }
    storeFloats(call.outputs[0], ds);
    return {};
}

}  // namespace shardscope::runtime::reference
