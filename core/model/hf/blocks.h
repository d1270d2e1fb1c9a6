#pragma once

// The parts that transformers' blocks are made of. A part is described by the names of its modules (relative to the
// layer's) and a few sizes; whether a projection has a bias, or which norm it is, follows from the modules themselves.

#include <functional>
#include <string>
#include <vector>

#include "core/model/hf/layer_writer.h"

namespace shardscope::core {

struct AttentionParts {
    std::string module;              ///< what kernels outside of the projections belong to
    std::string query, key, value;   ///< three projections, or
    std::string packed;              ///< one that gives all three
    std::string output;              ///< empty: none
    std::string queryNorm, keyNorm;  ///< empty: none
    bool normsWhole = false;         ///< norms over all heads together, before they are split
    bool keyless = false;            ///< `packed` gives keys and values, `query` the queries (GPT-2's cross attention)
    std::int64_t heads = 1, kvHeads = 1;
    std::int64_t width = 1;       ///< of a head's query and key
    std::int64_t valueWidth = 0;  ///< 0: as `width`
    std::int64_t rotary = 0;      ///< leading dimensions of a head that are rotated
    bool causal = true;
    bool unfused = false;       ///< a bias on the scores keeps PyTorch from its fused kernels
    bool dropout = false;       ///< of the probabilities
    std::string outputDropout;  ///< a module behind the output; empty: none
    /// What is added to the scores [B * heads, S, T] of q and k [B, heads, ..]; makes attention unfused.
    std::function<std::vector<TensorId>(LayerWriter&, TensorId q, TensorId k)> scores;
};

/// Attention whose projections stand apart: q_proj, k_proj, v_proj and `output` inside `module`.
[[nodiscard]] AttentionParts apartProjections(const std::string& module, std::int64_t heads, std::int64_t width,
                                              bool causal, const std::string& output = "out_proj");

/// Self attention of x [B, S, h]; cross attention over `memory` [B, T, h] if that is valid.
TensorId attend(LayerWriter& w, const AttentionParts& parts, TensorId x, TensorId memory = {});

/// `wideSoftmax`: transformers' eager form takes its softmax in fp32.
/// Scaled dot-product attention of q [B, heads, S, d] over k and v, joined to [B, S, heads * d].
TensorId attendHeads(LayerWriter& w, TensorId q, TensorId k, TensorId v, bool causal, bool unfused,
                     bool wideSoftmax = true, bool withDropout = false);

/// The same with two products and a softmax, `added` among the scores.
TensorId attendScores(LayerWriter& w, TensorId q, TensorId k, TensorId v, const std::vector<TensorId>& added);

struct MlpParts {
    std::string module;
    std::string gate;  ///< empty: up, activation, down
    std::string up, down;
    std::string packed;  ///< gate and up as one projection
    std::string activation = "silu";
    std::string activationModule;  ///< "mlp.act_fn"
    std::string outputDropout;     ///< a module behind it all; empty: none
};
TensorId feedForward(LayerWriter& w, const MlpParts& parts, TensorId x);

struct ExpertParts {
    std::string module;   ///< "mlp"
    std::string router;   ///< a module with a weight [E, h]
    std::string experts;  ///< a module with gate_up_proj and down_proj
    std::int64_t count = 1, active = 1;
    bool weightsInOut = false;  ///< [E, in, out] instead of [E, out, in]
    std::string activation = "silu";
    MlpParts shared;  ///< an MLP that every token runs through; `down` empty: none
    std::string sharedGate;
};
/// Tokens go to their experts and come back weighted; every expert is taken to get an equal share of them.
TensorId mixExperts(LayerWriter& w, const ExpertParts& parts, TensorId x);

/// A branch of a block and the norms around it: y = x + post(branch(pre(x))), then `after`.
struct Sublayer {
    std::string pre, post, after;  ///< modules; empty: none
    std::string scale;             ///< a module that scales the branch
    std::function<TensorId(LayerWriter&, TensorId)> branch;
    bool branchFirst = false;  ///< the addition's order
};
/// One after another, or all from the same x if `parallel`.
TensorId runBlock(LayerWriter& w, const std::vector<Sublayer>& sublayers, bool parallel, TensorId x);

}  // namespace shardscope::core
