// What several families share: classes, labels, sequence lengths, heads and losses.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/model/decoder_ops.h"
#include "core/model/hf/families.h"
#include "core/model/hf/layer_writer.h"

namespace shardscope::core {

bool endsIn(const std::string& cls, std::string_view ending) {
    return cls.ends_with(ending);
}

void onlyClasses(ConfigKeys& keys, const std::string& cls, std::initializer_list<std::string_view> endings) {
    for (const std::string_view ending : endings)
        if (cls.ends_with(ending)) return;
    keys.refuse("architectures",
                fmt::format("found '{}', expected one of {}", cls.substr(0, 60), fmt::join(endings, ", ")),
                "give the model's .safetensors files instead: its shapes are then exact", ErrorCode::Unsupported);
}

std::int64_t labelsOf(ConfigKeys& keys) {
    const Document* names = keys.find("id2label");
    if (names != nullptr && names->kind == Document::Kind::Table && !names->members.empty())
        return static_cast<std::int64_t>(names->members.size());
    return keys.size("num_labels", 2);
}

TensorId tokenIds(LayerWriter& w) {
    return w.b.batch(0, {w.workload.batch, w.workload.sequence}, DType::I64);
}

void addBlocks(Architecture& a, const std::string& blocks, std::int64_t count, const std::string& program,
               const std::string& type, const Forward& forward, std::int64_t from) {
    if (from >= count) return;
    const std::size_t made = a.program(program, type, forward);
    for (std::int64_t i = from; i < count; ++i) {
        const std::string at = fmt::format("{}.{}", blocks, i);
        a.layer(at, LayerKind::Block, at, made);
    }
}

void settleSequence(Architecture& a, ConfigKeys& keys, HfRequest& request, std::string_view key, std::int64_t positions,
                    bool learnt) {
    std::int64_t& sequence = request.workload.sequence;
    if (sequence == 0) sequence = positions > 0 ? positions : 2048;
    a.tokensPerSample = sequence;
    if (positions == 0 || sequence <= positions || keys.error()) return;
    if (learnt)
        keys.refuse(key, fmt::format("found a sequence of {} tokens, expected at most {}", sequence, positions),
                    "the model has learnt no further positions; use shorter sequences");
    else
        a.caveats.push_back(fmt::format("sequences of {} tokens are longer than the {} that the model was made for",
                                        sequence, positions));
}

void sayUnrecorded(Architecture& a, const HfRequest& request) {
    a.caveats.push_back(
        fmt::format("parameters of {} are exact; its kernels and saved activations follow its modules and were not "
                    "held against a recording",
                    request.modelType));
}

void addCausalLoss(Architecture& a, bool fused) {
    a.layer("loss", LayerKind::Loss, "", "", [fused](LayerWriter& w, TensorId logits) {
        const Shape shape = w.b.shapeOf(logits);
        const TensorId labels = w.b.batch(1, {shape[0], shape[1]}, DType::I64);
        return fused ? fusedCausalLoss(w.b, logits, labels) : causalLoss(w.b, logits, labels);
    });
}

void addRowLoss(Architecture& a) {
    a.layer("loss", LayerKind::Loss, "", "", [](LayerWriter& w, TensorId logits) {
        Shape rows = w.b.shapeOf(logits);
        const std::int64_t classes = rows.back();
        rows.pop_back();
        const TensorId labels = w.b.batch(1, rows, DType::I64);
        const std::int64_t count = w.b.tooLarge() ? 1 : elementsOf(rows);
        return w.b.crossEntropy(w.b.reshape(logits, {count, classes}), w.b.reshape(labels, {count}));
    });
}

void addMeanLoss(Architecture& a, const HfRequest& request) {
    a.caveats.push_back(fmt::format("{} has no loss of its own: the mean of its output stands in", request.cls));
    a.layer("loss", LayerKind::Loss, "", "", [](LayerWriter& w, TensorId x) { return w.pass("mean", {x}, {}); });
}

void addLanguageHead(Architecture& a, const std::string& name, std::int64_t hidden, std::int64_t vocab,
                     const std::string& tiedTo, bool bias, bool fusedLoss) {
    ModuleEntry& head = a.linear(name, hidden, vocab, bias);
    if (!tiedTo.empty()) head.parameters.front().tiedTo = tiedTo;
    a.layer(name, LayerKind::Head, name, "Linear", [](LayerWriter& w, TensorId x) { return w.apply("", x); });
    addCausalLoss(a, fusedLoss);
}

void addScore(Architecture& a, std::int64_t hidden, std::int64_t labels, bool everyToken) {
    a.linear("score", hidden, labels, everyToken);
    a.layer("score", LayerKind::Head, "score", "Linear", [everyToken](LayerWriter& w, TensorId x) {
        const TensorId logits = w.apply("", x);
        return everyToken ? logits : w.tokenOf(logits, w.b.shapeOf(logits)[1] - 1);
    });
    addRowLoss(a);
}

}  // namespace shardscope::core
