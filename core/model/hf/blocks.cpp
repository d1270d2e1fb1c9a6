#include "core/model/hf/blocks.h"

#include <algorithm>

#include "core/model/decoder_ops.h"

namespace shardscope::core {
namespace {

/// Rotates the first `rotary` dimensions of each head.
TensorId rotate(LayerWriter& w, TensorId x, std::int64_t rotary, const RotaryTables& tables) {
    ProgramBuilder& b = w.b;
    const Shape shape = b.shapeOf(x);
    if (rotary == shape[3] || b.tooLarge()) return core::rotary(b, x, tables);
    const TensorId turned = core::rotary(b, b.slice(x, 3, 0, rotary), tables);
    return b.concat({turned, b.slice(x, 3, rotary, shape[3] - rotary)}, 3);
}

TensorId padHeads(LayerWriter& w, TensorId x, std::int64_t width) {
    Shape shape = w.b.shapeOf(x);
    if (shape[3] == width) return x;
    shape[3] = width;
    return w.pass("constant_pad_nd", {x}, shape);
}

}  // namespace

TensorId attendHeads(LayerWriter& w, TensorId q, TensorId k, TensorId v, bool causal, bool unfused, bool wideSoftmax,
                     bool withDropout) {
    ProgramBuilder& b = w.b;
    const auto kind = unfused ? Workload::AttentionKind::Math : w.workload.attention;
    const Shape shape = b.shapeOf(q);
    const std::int64_t width = b.shapeOf(v)[3];
    TensorId context = b.attention(q, k, padHeads(w, v, shape[3]), causal, kind, wideSoftmax, withDropout);
    if (width != shape[3] && !b.tooLarge()) context = b.slice(context, 3, 0, width);
    const TensorId joined = b.contiguous(b.transpose(context, 1, 2));
    return b.reshape(joined, {shape[0], shape[2], shape[1] * width});
}

TensorId attendScores(LayerWriter& w, TensorId q, TensorId k, TensorId v, const std::vector<TensorId>& added) {
    ProgramBuilder& b = w.b;
    const Shape shape = b.shapeOf(q), keys = b.shapeOf(k);
    if (b.tooLarge()) return q;
    const std::int64_t together = shape[0] * shape[1], width = b.shapeOf(v)[3];
    const TensorId left = b.reshape(q, {together, shape[2], shape[3]});
    const TensorId right = b.transpose(b.reshape(k, {together, keys[2], shape[3]}), 1, 2);
    TensorId scores = b.batchedGemm(left, right);
    for (const TensorId one : added) scores = w.pass("add", {scores, one}, b.shapeOf(scores));
    const TensorId probabilities = b.cast(b.softmax(b.cast(scores, DType::F32)), b.dtype());
    const TensorId context = b.batchedGemm(probabilities, b.reshape(v, {together, keys[2], width}));
    const TensorId apart = b.reshape(context, {shape[0], shape[1], shape[2], width});
    return b.reshape(b.contiguous(b.transpose(apart, 1, 2)), {shape[0], shape[2], shape[1] * width});
}

AttentionParts apartProjections(const std::string& module, std::int64_t heads, std::int64_t width, bool causal,
                                const std::string& output) {
    AttentionParts parts;
    parts.module = module;
    parts.query = module + ".q_proj";
    parts.key = module + ".k_proj";
    parts.value = module + ".v_proj";
    parts.output = joinNames(module, output);
    parts.heads = parts.kvHeads = heads;
    parts.width = width;
    parts.causal = causal;
    return parts;
}

TensorId attend(LayerWriter& w, const AttentionParts& p, TensorId x, TensorId memory) {
    ProgramBuilder& b = w.b;
    auto scope = w.in(p.module);
    const TensorId source = memory.valid() ? memory : x;
    const std::int64_t batch = b.shapeOf(x)[0], queries = b.shapeOf(x)[1], keys = b.shapeOf(source)[1];
    const std::int64_t valueWidth = p.valueWidth > 0 ? p.valueWidth : p.width;
    const std::int64_t q = p.heads * p.width, k = p.kvHeads * p.width, v = p.kvHeads * valueWidth;
    const auto byHead = [&](TensorId y, std::int64_t tokens, std::int64_t heads, std::int64_t width,
                            const std::string& norm) {
        if (!norm.empty() && p.normsWhole) y = w.apply(norm, y);
        y = b.reshape(y, {batch, tokens, heads, width});
        if (!norm.empty() && !p.normsWhole) y = w.apply(norm, y);
        return b.transpose(y, 1, 2);
    };
    TensorId query, key, value;
    if (p.packed.empty()) {
        query = byHead(w.apply(p.query, x), queries, p.heads, p.width, p.queryNorm);
        key = byHead(w.apply(p.key, source), keys, p.kvHeads, p.width, p.keyNorm);
        value = byHead(w.apply(p.value, source), keys, p.kvHeads, valueWidth, {});
    } else if (p.keyless) {
        query = byHead(w.apply(p.query, x), queries, p.heads, p.width, {});
        const std::vector<TensorId> both = b.split(w.apply(p.packed, source), 2, {k, v});
        key = byHead(both[0], keys, p.kvHeads, p.width, {});
        value = byHead(both[1], keys, p.kvHeads, valueWidth, {});
    } else {
        const std::vector<TensorId> all = b.split(w.apply(p.packed, x), 2, {q, k, v});
        query = byHead(all[0], queries, p.heads, p.width, p.queryNorm);
        key = byHead(all[1], keys, p.kvHeads, p.width, p.keyNorm);
        value = byHead(all[2], keys, p.kvHeads, valueWidth, {});
    }
    if (p.rotary > 0) {
        const RotaryTables tables = rotaryTables(b, queries, p.rotary);
        query = rotate(w, query, p.rotary, tables);
        key = rotate(w, key, p.rotary, tables);
    }
    // Recorded: fp32 for llama, the model's dtype for GPT-2. Taken to hold for all families with rotary embeddings, and
    // for all others.
    const bool wideSoftmax = p.rotary > 0;
    const TensorId joined =
        p.scores ? attendScores(w, query, key, value, p.scores(w, query, key))
                 : attendHeads(w, query, key, value, p.causal && !memory.valid(), p.unfused, wideSoftmax, p.dropout);
    const TensorId y = p.output.empty() ? joined : w.apply(p.output, joined);
    return p.outputDropout.empty() ? y : w.drop(p.outputDropout, y);
}

TensorId feedForward(LayerWriter& w, const MlpParts& p, TensorId x) {
    auto scope = w.in(p.module);
    if (!p.packed.empty()) {
        const TensorId both = w.apply(p.packed, x);
        const std::int64_t half = w.b.shapeOf(both).back() / 2;
        const std::vector<TensorId> parts = w.b.split(both, w.b.shapeOf(both).size() - 1, {half, half});
        const TensorId gate = w.activation(p.activation, parts[0], p.activationModule);
        return w.apply(p.down, multiply(w.b, gate, parts[1]));
    }
    if (!p.gate.empty()) {
        const TensorId gate = w.activation(p.activation, w.apply(p.gate, x), p.activationModule);
        const TensorId up = w.apply(p.up, x);
        return w.apply(p.down, multiply(w.b, gate, up));
    }
    const TensorId y = w.apply(p.down, w.activation(p.activation, w.apply(p.up, x), p.activationModule));
    return p.outputDropout.empty() ? y : w.drop(p.outputDropout, y);
}

TensorId runBlock(LayerWriter& w, const std::vector<Sublayer>& sublayers, bool parallel, TensorId x) {
    const auto branchOf = [&w](const Sublayer& s, TensorId from) {
        TensorId y = s.branch(w, s.pre.empty() ? from : w.apply(s.pre, from));
        if (!s.scale.empty()) y = w.apply(s.scale, y);
        return s.post.empty() ? y : w.apply(s.post, y);
    };
    if (parallel) {
        TensorId normed, sum = x;
        std::string norm;
        for (const Sublayer& s : sublayers) {
            // Branches that name the same norm share its result.
            if (!s.pre.empty() && s.pre != norm) normed = w.apply(norm = s.pre, x);
            sum = w.b.add(s.branch(w, s.pre.empty() ? x : normed), sum);
        }
        return sum;
    }
    for (const Sublayer& s : sublayers) {
        const TensorId y = branchOf(s, x);
        x = s.branchFirst ? w.b.add(y, x) : w.b.add(x, y);
        if (!s.after.empty()) x = w.apply(s.after, x);
    }
    return x;
}

}  // namespace shardscope::core
