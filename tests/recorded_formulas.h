#pragma once

// Holds recorded formulas of what one block keeps for backward (`kind: formulas`: integer coefficients fitted on 16
// random shapes each, largest error 0) against the programs of our models, at a few sizes.

#include <cstdint>
#include <string>

#include "tests/recorded_activations.h"

namespace shardscope::tests {

namespace recorded {

/// Sizes by the formulas' letters: s tokens, b batch, h hidden, f FFN width, a heads, K experts a token of E.
struct FormulaSizes {
    std::int64_t batch, side, heads, width, kvHeads, ffn, active, experts;

    [[nodiscard]] std::int64_t tokens() const { return side * side + 1; }  // as a vision transformer has them
    [[nodiscard]] std::int64_t hidden() const { return heads * width; }
    /// The value of one factor ("s", "s^2", "ceil32(s)"), or -1.
    [[nodiscard]] std::int64_t valueOf(const std::string& factor) const {
        if (factor == "s") return tokens();
        if (factor == "s^2") return tokens() * tokens();
        if (factor == "ceil32(s)") return (tokens() + 31) / 32 * 32;
        if (factor == "b") return batch;
        if (factor == "h") return hidden();
        if (factor == "f") return ffn;
        if (factor == "a") return heads;
        if (factor == "kv") return kvHeads * width;
        if (factor == "K") return active;
        if (factor == "E") return experts;
        return factor == "const" ? 1 : -1;
    }
};

/// Sum of the terms, or -1 where one is not known.
inline std::int64_t evaluate(const Document& terms, const FormulaSizes& sizes) {
    std::int64_t sum = 0;
    for (const auto& [term, coefficient] : terms.members) {
        std::int64_t product = coefficient.integer;
        std::istringstream factors(term);
        for (std::string factor; std::getline(factors, factor, '*');) {
            const std::int64_t value = sizes.valueOf(factor);
            if (value < 0) return -1;
            product *= value;
        }
        sum += product;
    }
    return sum;
}

/// A recording of two layers with these sizes, of which specOf and workloadOf read.
inline Document recordingOf(const Document& formula, const FormulaSizes& z) {
    Document file = Document::table();
    const std::string family = text(formula, "family");
    for (const char* key : {"dtype", "attention", "device_rules"}) file.set(key, Document::of(text(formula, key)));
    file.set("kind", Document::of("saved"));
    file.set("model", Document::of(family));
    file.set("batch", Document::of(z.batch));
    file.set("seq", Document::of(z.tokens()));
    if (text(formula, "norm") == "nn.RMSNorm") file.set("norm", Document::of("nn.RMSNorm"));
    if (isTrue(formula, "checkpoint")) file.set("checkpoint", Document::of("per_block"));
    Document config = Document::table();
    const std::pair<const char*, std::int64_t> sizes[] = {{"image", z.side * 4},
                                                          {"patch", 4},
                                                          {"channels", 3},
                                                          {"classes", 10},
                                                          {"layers", 2},
                                                          {"heads", z.heads},
                                                          {"head_dim", z.width},
                                                          {"hidden", z.hidden()},
                                                          {"mlp", z.ffn},
                                                          {"ffn", z.ffn},
                                                          {"vocab", 50},
                                                          {"top_k", z.active},
                                                          {"kv_heads", family == "gpt2" ? z.heads : z.kvHeads}};
    for (const auto& [key, value] : sizes) config.set(key, Document::of(value));
    if (family == "mixtral") config.set("experts", Document::of(z.experts));
    if (family == "gpt2") config.set("activation", Document::of(text(formula, "activation")));
    const Document* dropout = formula.find("dropout");
    if (dropout != nullptr) config.set("dropout", *dropout);
    file.set("config", config);
    return file;
}

}  // namespace recorded

inline Comparison compareWithFormulas(const core::Document& file) {
    using namespace recorded;
    Differences differences;
    int number = 0;
    for (const Document& formula : at(file, "formulas").items) {
        // Batches of 2 and more, fewer key-value heads than heads, as they were fitted.
        for (const FormulaSizes& sizes :
             {FormulaSizes{2, 3, 4, 8, 2, 40, 2, 4}, FormulaSizes{4, 7, 6, 16, 3, 104, 2, 8},
              FormulaSizes{3, 5, 2, 64, 1, 56, 1, 2}}) {
            const Document like = recordingOf(formula, sizes);
            std::string what = "formula " + std::to_string(number);
            for (const char* key : {"family", "dtype", "attention", "activation", "device_rules"})
                what += " " + text(formula, key);
            const std::string knob = missingKnob(like);
            const auto spec = specOf(like);
            if (!knob.empty() || !spec) {
                differences.add(what + ": " + (knob.empty() ? spec.error().message : knob));
                break;
            }
            const auto model = buildModel(*spec, workloadOf(like, *spec));
            if (!model) {
                differences.add(what + ": " + describe(model.error()));
                break;
            }
            std::int64_t here = 0;
            for (const Layer& layer : model->layers) {
                if (layer.kind != LayerKind::Block) continue;
                for (const Storage& storage : savedOf(like, *model, layer, true))
                    here += storage.shared ? 0 : storage.bytes;
                break;
            }
            differences.check(what + ", batch " + std::to_string(sizes.batch), evaluate(at(formula, "bytes"), sizes),
                              here);
        }
        ++number;
    }
    if (number == 0) return {Comparison::Verdict::Unreadable, {"no formulas"}};
    return {differences.found.empty() ? Comparison::Verdict::Equal : Comparison::Verdict::Differs, differences.found};
}

}  // namespace shardscope::tests
