#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/views.h"

namespace shardscope::runtime::cpu {

using core::Result;

namespace {

/// [batch, heads, sequence, width] with contiguous rows, which may lie apart.
struct Heads {
    float* data = nullptr;
    std::int64_t batch = 0, heads = 0, rows = 0, width = 0;
    std::int64_t ofBatch = 0, ofHead = 0, ofRow = 0;  ///< strides in elements

    explicit Heads(const TensorView& view) {
        if (view.dtype != core::DType::F32 || view.shape.size() != 4) return;
        batch = view.shape[0];
        heads = view.shape[1];
        rows = view.shape[2];
        width = view.shape[3];
        if (view.strides.empty()) {
            ofRow = width;
            ofHead = rows * width;
            ofBatch = heads * rows * width;
        } else {
            if (view.strides[3] != 1 || view.strides[2] < width) return;
            ofBatch = view.strides[0];
            ofHead = view.strides[1];
            ofRow = view.strides[2];
        }
        data = reinterpret_cast<float*>(view.data);
    }
    [[nodiscard]] float* at(std::int64_t b, std::int64_t h) const { return data + b * ofBatch + h * ofHead; }
    [[nodiscard]] bool sameShape(const Heads& other) const {
        return batch == other.batch && heads == other.heads && rows == other.rows && width == other.width;
    }
};

/// Queries, keys and values that belong together; heads of keys may serve several of queries.
struct Operands {
    Heads q, k, v;

    [[nodiscard]] bool valid() const {
        return q.data != nullptr && k.data != nullptr && v.data != nullptr && k.sameShape(v) && q.batch == k.batch &&
               q.width == k.width && k.heads > 0 && q.heads % k.heads == 0 && q.width > 0 && k.rows > 0;
    }
    [[nodiscard]] std::int64_t keyHead(std::int64_t h) const { return h * k.heads / q.heads; }
    [[nodiscard]] bool firstOfKeyHead(std::int64_t h) const { return h % (q.heads / k.heads) == 0; }
    [[nodiscard]] float scale() const { return 1.0f / std::sqrt(static_cast<float>(q.width)); }
    /// scores [queries, keys] of a head, scaled
    [[nodiscard]] Result<void> scores(std::int64_t b, std::int64_t h, float* into) const {
        return multiply({q.rows, k.rows, q.width, false, true, scale(), 0, q.ofRow, k.ofRow}, q.at(b, h),
                        k.at(b, keyHead(h)), into);
    }
};

std::int64_t visible(const KernelCall& call, std::int64_t query, std::int64_t keys) {
    return call.kernel.causal ? std::min(query + 1, keys) : keys;
}

}  // namespace

Result<bool> attention(const KernelCall& call) {
    if (call.inputs.size() < 3 || call.outputs.size() < 2) return false;
    const Operands in{Heads(call.inputs[0]), Heads(call.inputs[1]), Heads(call.inputs[2])};
    const Heads out(call.outputs[0]);
    float* logsumexp = floatsOf(call.outputs[1]);
    if (!in.valid() || out.data == nullptr || !out.sameShape(in.q) || logsumexp == nullptr ||
        call.outputs[1].elements() != in.q.batch * in.q.heads * in.q.rows)
        return false;
    const std::int64_t queries = in.q.rows, keys = in.k.rows;
    std::vector<float> p(static_cast<std::size_t>(queries * keys));
    for (std::int64_t b = 0; b < in.q.batch; ++b)
        for (std::int64_t h = 0; h < in.q.heads; ++h) {
            SHARDSCOPE_TRY(in.scores(b, h, p.data()));
            for (std::int64_t s = 0; s < queries; ++s) {
                float* row = p.data() + s * keys;
                const std::int64_t seen = visible(call, s, keys);
                const float largest = *std::max_element(row, row + seen);
                double sum = 0;
                for (std::int64_t t = 0; t < seen; ++t) sum += row[t] = std::exp(row[t] - largest);
                const auto share = static_cast<float>(1 / sum);
                for (std::int64_t t = 0; t < seen; ++t) row[t] *= share;
                std::fill(row + seen, row + keys, 0.0f);
                logsumexp[(b * in.q.heads + h) * queries + s] = static_cast<float>(largest + std::log(sum));
            }
            SHARDSCOPE_TRY(multiply({queries, in.q.width, keys, false, false, 1, 0, keys, in.v.ofRow, out.ofRow},
                                    p.data(), in.v.at(b, in.keyHead(h)), out.at(b, h)));
        }
    return true;
}

Result<bool> attentionGrad(const KernelCall& call) {
    if (call.inputs.size() < 6 || call.outputs.size() < 3) return false;
    const Heads dout(call.inputs[0]), out(call.inputs[4]);
    const Operands in{Heads(call.inputs[1]), Heads(call.inputs[2]), Heads(call.inputs[3])};
    const Heads dq(call.outputs[0]), dk(call.outputs[1]), dv(call.outputs[2]);
    const float* logsumexp = floatsOf(call.inputs[5]);
    if (!in.valid() || dout.data == nullptr || out.data == nullptr || dq.data == nullptr || dk.data == nullptr ||
        dv.data == nullptr || logsumexp == nullptr || !dout.sameShape(in.q) || !out.sameShape(in.q) ||
        !dq.sameShape(in.q) || !dk.sameShape(in.k) || !dv.sameShape(in.k) ||
        call.inputs[5].elements() != in.q.batch * in.q.heads * in.q.rows)
        return false;
    const std::int64_t queries = in.q.rows, keys = in.k.rows, width = in.q.width;
    std::vector<float> p(static_cast<std::size_t>(queries * keys)), dp(p.size());
    for (std::int64_t b = 0; b < in.q.batch; ++b)
        for (std::int64_t h = 0; h < in.q.heads; ++h) {
            const std::int64_t keyHead = in.keyHead(h);
            const float others = in.firstOfKeyHead(h) ? 0.0f : 1.0f;  // what other heads of queries have added
            SHARDSCOPE_TRY(in.scores(b, h, p.data()));
            for (std::int64_t s = 0; s < queries; ++s) {
                float* row = p.data() + s * keys;
                const std::int64_t seen = visible(call, s, keys);
                const float logSum = logsumexp[(b * in.q.heads + h) * queries + s];
                for (std::int64_t t = 0; t < seen; ++t) row[t] = std::exp(row[t] - logSum);
                std::fill(row + seen, row + keys, 0.0f);
            }
            SHARDSCOPE_TRY(multiply({keys, width, queries, true, false, 1, others, keys, dout.ofRow, dv.ofRow},
                                    p.data(), dout.at(b, h), dv.at(b, keyHead)));
            SHARDSCOPE_TRY(multiply({queries, keys, width, false, true, 1, 0, dout.ofRow, in.v.ofRow, keys},
                                    dout.at(b, h), in.v.at(b, keyHead), dp.data()));
            for (std::int64_t s = 0; s < queries; ++s) {
                // The sum over keys of p dp is out . dout, whatever the keys.
                const float *o = out.at(b, h) + s * out.ofRow, *d = dout.at(b, h) + s * dout.ofRow;
                double inner = 0;
                for (std::int64_t i = 0; i < width; ++i) inner += static_cast<double>(o[i]) * d[i];
                float* gradient = dp.data() + s * keys;
                for (std::int64_t t = 0; t < keys; ++t)
                    gradient[t] = p[static_cast<std::size_t>(s * keys + t)] * (gradient[t] - static_cast<float>(inner));
            }
            SHARDSCOPE_TRY(multiply({queries, width, keys, false, false, in.scale(), 0, keys, in.k.ofRow, dq.ofRow},
                                    dp.data(), in.k.at(b, keyHead), dq.at(b, h)));
            SHARDSCOPE_TRY(multiply({keys, width, queries, true, false, in.scale(), others, keys, in.q.ofRow, dk.ofRow},
                                    dp.data(), in.q.at(b, h), dk.at(b, keyHead)));
        }
    return true;
}

}  // namespace shardscope::runtime::cpu
