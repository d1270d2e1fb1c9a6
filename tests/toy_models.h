#pragma once

// The toy models of the recordings of FSDP2 (torch 2.15, CPU), at any size: token and position embedding, blocks, norm,
// head. examples/models/ has them as files.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/spec.h"

namespace shardscope::tests {

struct ToyModel {
    std::int64_t blocks = 4;
    std::string blockKind = "mlp";  ///< mlp, attn_mlp, stage, stage_bare
    std::int64_t d = 6, h = 10, vocab = 11, sequence = 5;
    bool tied = false;
};

namespace toy {

using Node = core::ModuleTreeSpec::Node;

inline Node node(std::string kind, std::string name, std::vector<std::pair<std::string, core::Shape>> parameters = {},
                 std::vector<Node> children = {}) {
    return {std::move(kind), std::move(name), std::move(parameters), {}, {}, std::move(children)};
}

inline Node linear(std::string name, std::int64_t out, std::int64_t in) {
    return node("linear", std::move(name), {{"weight", {out, in}}, {"bias", {out}}});
}

inline Node norm(std::string name, std::int64_t d) {
    return node("layer_norm", std::move(name), {{"weight", {d}}, {"bias", {d}}});
}

inline std::vector<Node> mlp(const ToyModel& m) {
    return {linear("fc1", m.h, m.d), node("gelu", ""), linear("fc2", m.d, m.h)};
}

inline Node mlpBlock(std::string name, const ToyModel& m) {
    std::vector<Node> children = mlp(m);
    children.insert(children.begin(), norm("norm", m.d));
    return node("residual", std::move(name), {}, std::move(children));
}

/// None for a kind that is not one of the recordings'.
inline std::optional<Node> block(std::string name, const ToyModel& m) {
    if (m.blockKind == "mlp") return mlpBlock(std::move(name), m);
    if (m.blockKind == "attn_mlp") {
        Node attention = node("attention", "attn", {}, {linear("qkv", 3 * m.d, m.d), linear("proj", m.d, m.d)});
        attention.numbers = {{"heads", 1}, {"causal", 0}};
        return node("sequence", std::move(name), {},
                    {node("residual", "", {}, {norm("norm1", m.d), std::move(attention)}),
                     node("residual", "", {}, {norm("norm2", m.d), node("sequence", "mlp", {}, mlp(m))})});
    }
    if (m.blockKind == "stage" || m.blockKind == "stage_bare") {
        Node stage = node("sequence", std::move(name), {}, {mlpBlock("a", m), mlpBlock("b", m)});
        if (m.blockKind == "stage") stage.children.push_back(node("scale", "scale", {{"scale", {m.d}}}));
        return stage;
    }
    return std::nullopt;
}

}  // namespace toy

/// None for an unknown kind of block.
inline std::optional<core::ModuleTreeSpec> toySpec(const ToyModel& m) {
    core::ModuleTreeSpec spec;
    spec.name = "toy " + m.blockKind;
    spec.vocab = m.vocab;
    spec.sequence = m.sequence;
    spec.root = toy::node("sequence", "");
    toy::Node blocks = toy::node("list", "blocks");
    for (std::int64_t i = 0; i < m.blocks; ++i) {
        auto block = toy::block(std::to_string(i), m);
        if (!block) return std::nullopt;
        blocks.children.push_back(std::move(*block));
    }
    toy::Node head = toy::linear("head", m.vocab, m.d);
    if (m.tied) {
        head.tiedTo = "emb";
        head.parameters.pop_back();
    }
    spec.root.children = {toy::node("embedding", "emb", {{"weight", {m.vocab, m.d}}}),
                          toy::node("position", "pos", {{"pos", {1, m.sequence, m.d}}}), std::move(blocks),
                          toy::norm("norm", m.d), std::move(head)};
    return spec;
}

}  // namespace shardscope::tests
