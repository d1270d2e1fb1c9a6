#include <cmath>
#include <vector>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/loops.h"
#include "runtime/cpu/views.h"

namespace shardscope::runtime::cpu {

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
    [[nodiscard]] HeadRows of(std::int64_t b, std::int64_t h) const { return {at(b, h), ofRow}; }
    [[nodiscard]] HeadTarget target(std::int64_t b, std::int64_t h) const { return {at(b, h), ofRow}; }
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
    [[nodiscard]] HeadShape shape(const KernelCall& call) const {
        return {q.rows, k.rows, q.width, call.kernel.causal, 1.0f / std::sqrt(static_cast<float>(q.width))};
    }
};

}  // namespace

bool attention(const KernelCall& call) {
    if (call.inputs.size() < 3 || call.outputs.size() < 2) return false;
    const Operands in{Heads(call.inputs[0]), Heads(call.inputs[1]), Heads(call.inputs[2])};
    const Heads out(call.outputs[0]);
    float* logsumexp = floatsOf(call.outputs[1]);
    if (!in.valid() || out.data == nullptr || !out.sameShape(in.q) || logsumexp == nullptr ||
        call.outputs[1].elements() != in.q.batch * in.q.heads * in.q.rows)
        return false;
    const HeadShape shape = in.shape(call);
    std::vector<float> scratch(static_cast<std::size_t>(loops().headScratch(shape)));
    for (std::int64_t b = 0; b < in.q.batch; ++b)
        for (std::int64_t h = 0; h < in.q.heads; ++h)
            loops().head(shape, in.q.of(b, h), in.k.of(b, in.keyHead(h)), in.v.of(b, in.keyHead(h)), out.target(b, h),
                         logsumexp + (b * in.q.heads + h) * in.q.rows, scratch.data());
    return true;
}

bool attentionGrad(const KernelCall& call) {
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
    const HeadShape shape = in.shape(call);
    std::vector<float> scratch(static_cast<std::size_t>(2 * loops().headScratch(shape)));
    for (std::int64_t b = 0; b < in.q.batch; ++b)
        for (std::int64_t h = 0; h < in.q.heads; ++h) {
            const std::int64_t keyHead = in.keyHead(h);
            loops().headGrad(shape, in.q.of(b, h), in.k.of(b, keyHead), in.v.of(b, keyHead),
                             {dout.of(b, h), out.of(b, h), logsumexp + (b * in.q.heads + h) * in.q.rows,
                              dq.target(b, h), dk.target(b, keyHead), dv.target(b, keyHead), !in.firstOfKeyHead(h)},
                             scratch.data());
        }
    return true;
}

}  // namespace shardscope::runtime::cpu
