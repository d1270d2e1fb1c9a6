#pragma once

// Holds recordings of PyTorch's kernel lists and saved activations against the programs of our models. A recording is a
// document of `kind` kernels (GEMMs and attention of a step, in order, with FLOPs) or saved (storages that autograd
// keeps), made with torch 2.15, torchvision 0.29.2 and transformers 5.24 on fake tensors.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/document.h"
#include "core/graph/build.h"
#include "core/graph/host_memory.h"
#include "core/graph/recompute.h"
#include "core/graph/storage.h"
#include "core/model/spec.h"

namespace shardscope::tests {

namespace recorded {

using namespace core;

inline std::string text(const Document& table, std::string_view key) {
    const Document* found = table.find(key);
    return found != nullptr && found->kind == Document::Kind::Text ? found->text : std::string();
}

inline std::int64_t integer(const Document& table, std::string_view key) {
    const Document* found = table.find(key);
    return found != nullptr && found->kind == Document::Kind::Integer ? found->integer : 0;
}

inline bool isTrue(const Document& table, std::string_view key) {
    const Document* found = table.find(key);
    return found != nullptr && found->boolean;
}

inline const Document& at(const Document& table, std::string_view key) {
    static const Document kNothing;
    const Document* found = table.find(key);
    return found != nullptr ? *found : kNothing;
}

inline std::optional<Workload::AttentionKind> attentionKind(const std::string& word) {
    using Kind = Workload::AttentionKind;
    static const std::map<std::string, Kind> kKinds{{"sdpa_flash", Kind::Flash}, {"sdpa_efficient", Kind::Efficient},
                                                    {"sdpa_cudnn", Kind::Cudnn}, {"sdpa_native", Kind::Cpu},
                                                    {"sdpa_math", Kind::Math},   {"eager", Kind::Eager}};
    const auto found = kKinds.find(word);
    return found == kKinds.end() ? std::nullopt : std::optional(found->second);
}

/// "float32+autocast_bf16" is fp32 but for products.
constexpr std::string_view kAutocast = "float32+autocast_";

inline std::optional<DType> productType(const Document& file) {
    const std::string word = text(file, "dtype");
    return dtypeFromName(word.starts_with(kAutocast) ? word.substr(kAutocast.size()) : word);
}

/// What a file asks for that the models here do not have; empty if nothing.
inline std::string missingKnob(const Document& file) {
    const Document& config = at(file, "config");
    const std::string checkpoint = text(file, "checkpoint");
    if (!checkpoint.empty() && checkpoint != "per_block") return "checkpoint " + checkpoint;
    if (!productType(file)) return "dtype " + text(file, "dtype");
    const std::string attention = text(file, "attention");
    if (!attentionKind(attention)) return "attention kernel " + attention;
    if (const std::string norm = text(file, "norm"); !norm.empty() && norm != "nn.RMSNorm") return "norm " + norm;
    // A cache (use_cache) copies keys and values, and the copies are saved in their place.
    if (config.find("experts") != nullptr && !text(file, "model").starts_with("mixtral"))
        return "experts (" + text(file, "model") + ")";
    const std::string activation = text(config, "activation");
    const bool gpt2 = text(file, "model").starts_with("gpt2");
    if (!activation.empty() && !gpt2 && activation != "silu") return "activation " + activation;
    return {};
}

inline Result<ModelSpec> specOf(const Document& file) {
    const Document& c = at(file, "config");
    const std::string model = text(file, "model");
    if (model.starts_with("vit"))
        return VitSpec{model,
                       integer(c, "image"),
                       integer(c, "patch"),
                       integer(c, "channels"),
                       integer(c, "classes"),
                       integer(c, "layers"),
                       integer(c, "heads"),
                       integer(c, "hidden"),
                       integer(c, "mlp")};
    if (model.starts_with("mixtral")) {
        HfSpec spec{model, model, Document::table()};
        const std::pair<const char*, const char*> keys[] = {
            {"vocab_size", "vocab"},         {"hidden_size", "hidden"},        {"intermediate_size", "ffn"},
            {"num_hidden_layers", "layers"}, {"num_attention_heads", "heads"}, {"num_key_value_heads", "kv_heads"},
            {"head_dim", "head_dim"},        {"num_local_experts", "experts"}, {"num_experts_per_tok", "top_k"},
        };
        spec.config.set("model_type", Document::of("mixtral"));
        for (const auto& [key, recorded] : keys) spec.config.set(key, Document::of(integer(c, recorded)));
        return spec;
    }
    const bool gpt2 = model.starts_with("gpt2");
    if (const std::string activation = text(c, "activation"); gpt2 && activation != "gelu_new") {
        HfSpec spec{model, model, Document::table()};
        spec.config.set("model_type", Document::of("gpt2"));
        spec.config.set("activation_function", Document::of(activation));
        const std::pair<const char*, const char*> keys[] = {{"vocab_size", "vocab"},
                                                            {"n_embd", "hidden"},
                                                            {"n_inner", "ffn"},
                                                            {"n_layer", "layers"},
                                                            {"n_head", "heads"}};
        for (const auto& [key, recorded] : keys) spec.config.set(key, Document::of(integer(c, recorded)));
        return spec;
    }
    if (!gpt2 && !model.starts_with("llama")) return fail(ErrorCode::Unsupported, "model " + model);
    DecoderSpec spec;
    spec.name = model;
    spec.modelType = gpt2 ? "gpt2" : "llama";
    spec.vocab = integer(c, "vocab");
    spec.hidden = integer(c, "hidden");
    spec.intermediate = integer(c, "ffn");
    spec.layers = integer(c, "layers");
    spec.heads = integer(c, "heads");
    spec.kvHeads = integer(c, "kv_heads");
    spec.headDim = integer(c, "head_dim");
    spec.positions = gpt2 ? std::max<std::int64_t>(1024, integer(file, "seq")) : integer(file, "seq");  // not recorded
    spec.tiedEmbeddings = isTrue(c, "tied");
    return spec;
}

/// Of a file without a missing knob.
inline Workload workloadOf(const Document& file, const ModelSpec& spec) {
    Workload workload;
    workload.batch = integer(file, "batch");
    workload.sequence = std::holds_alternative<VitSpec>(spec) ? 0 : integer(file, "seq");
    workload.dtype = *productType(file);
    workload.autocast = text(file, "dtype").starts_with(kAutocast);
    workload.attention = *attentionKind(text(file, "attention"));
    workload.fusedRmsNorm = text(file, "norm") == "nn.RMSNorm";
    workload.cpuRules = text(file, "device_rules") == "cpu";
    const Document& dropout = at(at(file, "config"), "dropout");
    workload.dropout = dropout.isNumber() && dropout.number() > 0 ? Workload::Dropout::On : Workload::Dropout::Off;
    return workload;
}

/// Collects the first differences.
struct Differences {
    std::vector<std::string> found;

    void add(std::string what) { found.push_back(std::move(what)); }
    void check(const std::string& what, std::int64_t recorded, std::int64_t here) {
        if (recorded != here) add(what + ": recorded " + std::to_string(recorded) + ", here " + std::to_string(here));
    }
};

inline std::string moduleName(const Model& model, const Layer& layer, std::uint16_t module) {
    const ModuleId id = layer.modules[module];
    return id.valid() ? model.modules[id.index()].name : std::string();
}

// Kernel lists

struct Line {
    std::string phase, op, kind, module;
    std::int64_t b = 0, m = 0, n = 0, k = 0, flops = 0, heads = 0, kvHeads = 0;
    friend bool operator==(const Line&, const Line&) = default;

    [[nodiscard]] std::string describe() const {
        std::ostringstream out;
        out << phase << ' ' << op << ' ' << kind << " b" << b << " m" << m << " n" << n << " k" << k << " heads "
            << heads << '/' << kvHeads << ' ' << flops << " FLOPs in " << module;
        return out.str();
    }
};

inline std::string kindOf(const Kernel& kernel, bool backward) {
    switch (kernel.kind) {
        case KernelKind::Linear:
        case KernelKind::PatchEmbed: return "linear";
        case KernelKind::LinearInputGrad: return "input_grad";
        case KernelKind::LinearWeightGrad:
        case KernelKind::PatchEmbedWeightGrad: return "weight_grad";
        case KernelKind::Attention: return "attention";
        case KernelKind::AttentionGrad: return "attention_grad";
        case KernelKind::BatchedGemm: return backward ? "act_x_act_grad" : "act_x_act";
        default: return std::string(nameOf(kernel.kind));
    }
}

/// How the recording checkpoints its blocks.
inline Recompute recomputeOf(const Document& file, const Model& model, const Layer& layer) {
    if (layer.kind != LayerKind::Block || text(file, "checkpoint").empty()) return {};
    return core::recomputeOf(model.programOf(layer), {.mode = Checkpointing::Mode::Full});
}

inline void append(std::vector<Line>& lines, const Model& model, const Layer& layer, bool backward, bool relative,
                   const Recompute& recompute) {
    const Program& program = model.programOf(layer);
    const auto add = [&](const Kernel& kernel, const char* phase) {
        if (classOf(kernel.kind) == KernelClass::Memory) return;
        lines.push_back({phase, std::string(kernel.op), kindOf(kernel, std::string_view(phase) == "bwd"),
                         relative ? program.modules[kernel.module].name : moduleName(model, layer, kernel.module),
                         kernel.b, kernel.m, kernel.n, kernel.k, kernel.flops.value, kernel.heads, kernel.kvHeads});
        if (kernel.op == "_grouped_mm") {  // recorded as one product over the rows of all groups
            Line& line = lines.back();
            (kernel.kind == KernelKind::LinearWeightGrad ? line.k : line.m) *= line.b;
            line.b = 1;
        }
    };
    if (!backward) {
        for (const Kernel& kernel : program.forward) add(kernel, "fwd");
        return;
    }
    for (std::size_t k = 0; k < program.backward.size(); ++k) {
        if (!recompute.empty() && k == recompute.trigger)
            for (std::size_t again = 0; again < recompute.end; ++again)
                if (recompute.again[again]) add(program.forward[again], "recompute");
        add(program.backward[k], "bwd");
    }
}

inline std::vector<Line> recordedLines(const Document& list) {
    std::vector<Line> lines;
    for (const Document& item : list.items)
        lines.push_back({text(item, "phase"), text(item, "op"), text(item, "kind"), text(item, "module"),
                         integer(item, "b"), integer(item, "m"), integer(item, "n"), integer(item, "k"),
                         integer(item, "flops"), integer(item, "heads"), integer(item, "kv_heads")});
    return lines;
}

inline void compare(const std::string& what, const std::vector<Line>& recorded, const std::vector<Line>& here,
                    Differences& out) {
    const std::size_t common = std::min(recorded.size(), here.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (recorded[i] == here[i]) continue;
        out.add(what + " kernel " + std::to_string(i) + ": recorded " + recorded[i].describe() + ", here " +
                here[i].describe());
        return;
    }
    out.check(what + " kernels", static_cast<std::int64_t>(recorded.size()), static_cast<std::int64_t>(here.size()));
}

using Sums = std::map<std::string, std::int64_t>;

inline void addTo(Sums& sums, const Line& line) {
    if (line.phase != "bwd") {
        sums[line.phase] += line.flops;
        return;
    }
    const bool attention = line.kind == "attention_grad" || line.kind == "act_x_act_grad";
    sums[attention ? "bwd_attention" : line.kind == "input_grad" ? "bwd_input" : "bwd_weight"] += line.flops;
}

inline void compareSums(const std::string& what, const Document& recorded, Sums here, Differences& out) {
    for (const char* key : {"fwd", "bwd_input", "bwd_weight", "bwd_attention", "recompute"})
        out.check(what + " " + key, integer(recorded, key), here[key]);
}

inline void checkKernels(const Document& file, const Model& model, Differences& out) {
    std::vector<const Layer*> blocks;
    std::vector<Line> other, all;
    for (const Layer& layer : model.layers) {
        append(all, model, layer, false, false, {});
        if (layer.kind == LayerKind::Block)
            blocks.push_back(&layer);
        else
            append(other, model, layer, false, false, {});
    }
    for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer) {
        append(all, model, *layer, true, false, recomputeOf(file, model, *layer));
        if (layer->kind != LayerKind::Block) append(other, model, *layer, true, false, {});
    }
    const std::int64_t index = integer(at(file, "block"), "index");
    if (index < 0 || index >= static_cast<std::int64_t>(blocks.size()))
        return out.add("the recorded block does not exist");
    std::vector<Line> block;
    const Layer& recorded = *blocks[static_cast<std::size_t>(index)];
    append(block, model, recorded, false, true, {});
    append(block, model, recorded, true, true, recomputeOf(file, model, recorded));
    compare("block", recordedLines(at(file, "block_kernels")), block, out);
    compare("other", recordedLines(at(file, "other_kernels")), other, out);

    Sums total;
    for (const Line& line : all) addTo(total, line);
    compareSums("total", at(file, "total"), total, out);
    out.check("total fwd", integer(at(file, "total"), "fwd"), forwardFlops(model).value);
    out.check("total bwd", integer(at(file, "total"), "bwd"), backwardFlops(model).value);
    out.check("parameters", integer(file, "params"), parameterCount(model));

    std::map<std::string, Sums> modules;
    for (const Line& line : block) addTo(modules["block." + line.module], line);
    for (const Line& line : other) addTo(modules[line.module], line);
    for (const auto& [name, sums] : at(file, "modules").members)
        compareSums("module " + name, sums, modules[name], out);
    out.check("modules", static_cast<std::int64_t>(at(file, "modules").members.size()),
              static_cast<std::int64_t>(modules.size()));

    std::map<std::string, std::int64_t> histogram;
    for (Line line : all) {
        line.module.clear();
        line.flops = 0;
        ++histogram[line.describe()];
    }
    for (const Document& item : at(file, "histogram").items) {
        const Line line{text(item, "phase"),      text(item, "op"),   text(item, "kind"), "", integer(item, "b"),
                        integer(item, "m"),       integer(item, "n"), integer(item, "k"), 0,  integer(item, "heads"),
                        integer(item, "kv_heads")};
        out.check("count of " + line.describe(), integer(item, "count"), histogram[line.describe()]);
    }
    out.check("kinds of kernels", static_cast<std::int64_t>(at(file, "histogram").items.size()),
              static_cast<std::int64_t>(histogram.size()));
}

// Saved storages

struct Storage {
    std::string module;
    DType dtype = DType::F32;
    std::int64_t bytes = 0;
    bool shared = false;
};

/// Saved storages of a layer. The recordings book one at its first saver in forward order, which runs last in backward.
inline std::vector<Storage> savedOf(const Document& file, const Model& model, const Layer& layer, bool relative) {
    const Program& program = model.programOf(layer);
    if (!recomputeOf(file, model, layer).empty()) {
        const Tensor& input = program.tensor(findRole(program, TensorRole::Input));
        return {{"(block)", input.dtype, input.bytes().value, false}};
    }
    std::map<TensorId, std::uint16_t> saver;
    for (const Kernel& kernel : program.backward)
        for (TensorId id : kernel.inputs) saver[program.tensor(id).storage] = kernel.module;
    std::vector<Storage> result;
    for (TensorId id : savedForBackward(program)) {
        const Tensor& tensor = program.tensor(id);
        std::string module = relative ? program.modules[saver[id]].name : moduleName(model, layer, saver[id]);
        if (!relative && module.empty()) module = "(model)";
        result.push_back({std::move(module), tensor.dtype, tensor.bytes().value, tensor.role == TensorRole::Shared});
    }
    return result;
}

inline void compareSaved(const std::string& what, const Document& recorded, const std::vector<Storage>& here,
                         Differences& out) {
    std::map<std::string, std::int64_t> byModule;
    std::map<std::tuple<std::string, std::string, std::int64_t>, std::int64_t> entries;
    std::int64_t total = 0;
    for (const Storage& storage : here) {
        if (storage.shared) continue;
        total += storage.bytes;
        byModule[storage.module] += storage.bytes;
        ++entries[{storage.module, std::string(nameOf(storage.dtype)), storage.bytes}];
    }
    out.check(what + " total", integer(recorded, "total_bytes"), total);
    for (const auto& [name, bytes] : at(recorded, "by_module").members)
        out.check(what + " " + name, bytes.integer, byModule[name]);
    for (const auto& [name, bytes] : byModule)
        if (at(recorded, "by_module").find(name) == nullptr) out.check(what + " " + name, 0, bytes);
    for (const Document& item : at(recorded, "saved").items)
        --entries[{text(item, "module").empty() ? "(model)" : text(item, "module"), text(item, "dtype"),
                   integer(item, "bytes")}];
    for (const auto& [key, count] : entries)
        if (count != 0)
            out.add(what + ": " + std::to_string(std::abs(count)) + (count > 0 ? " more" : " fewer") +
                    " than recorded of " + std::to_string(std::get<2>(key)) + " bytes " + std::get<1>(key) + " in " +
                    std::get<0>(key));
}

inline void checkSaved(const Document& file, const Model& model, Differences& out) {
    std::vector<Storage> outside;
    std::vector<const Layer*> blocks;
    std::int64_t total = 0;
    for (const Layer& layer : model.layers) {
        const std::vector<Storage> saved = savedOf(file, model, layer, false);
        const bool block = layer.kind == LayerKind::Block;
        // What all layers share is counted with the first block that keeps it.
        for (const Storage& storage : saved)
            if (!storage.shared || (block && blocks.empty())) total += storage.bytes;
        if (block)
            blocks.push_back(&layer);
        else
            outside.insert(outside.end(), saved.begin(), saved.end());
    }
    const Document& recorded = at(file, "block");
    const std::int64_t index = integer(recorded, "index");
    if (index < 0 || index >= static_cast<std::int64_t>(blocks.size()))
        return out.add("the recorded block does not exist");
    const std::vector<Storage> block = savedOf(file, model, *blocks[static_cast<std::size_t>(index)], true);
    compareSaved("block", recorded, block, out);
    compareSaved("outside", at(file, "outside"), outside, out);
    std::int64_t sharedHere = 0, sharedRecorded = 0;
    for (const Storage& storage : block) sharedHere += storage.shared ? storage.bytes : 0;
    for (const Document& item : at(recorded, "shared_with_other_blocks").items)
        sharedRecorded += integer(item, "bytes");
    out.check("shared with other blocks", sharedRecorded, sharedHere);
    out.check("whole model", integer(file, "total_bytes"), total);
}

// Peak memory of a training step on one device

/// How far the most that is allocated lies from the recorded one, relative.
struct PeakError {
    double forward = 0, step = 0;
    std::int64_t forwardBytes = 0, stepBytes = 0;
};

/// Three iterations of forward, backward and foreach AdamW; iteration 1 is any later one. What is allocated between the
/// phases must be equal; the most inside of them too, to within the inputs, which the recording has all along.
inline PeakError checkPeak(const Document& file, const Model& model, Differences& out) {
    Plan plan;
    plan.policy = UnitPolicy::None;
    plan.precision.original = model.workload.dtype;
    plan.optimizer = OptimizerKind::AdamW;
    if (!text(file, "checkpoint").empty()) plan.checkpointing.mode = Checkpointing::Mode::Full;
    PeakError error;
    const auto graph = buildStepGraph(model, plan);
    if (!graph) {
        out.add(describe(graph.error()));
        return error;
    }
    // The recording has buffers, the inputs from the start to the end, and the loss from forward on; the graph has
    // inputs while they are used, and no one looks at the loss. PyTorch's AdamW counts steps, in four bytes for each
    // tensor.
    const Document& iteration = at(file, "iterations").items.at(1);
    const Document &most = at(iteration, "running_max"), &current = at(iteration, "current");
    const std::int64_t inputs = integer(at(current, "start"), "Other") + integer(at(current, "start"), "Buffer");
    const std::int64_t loss = 4;
    // Each checkpoint of llama's blocks holds the positions, of which there is one for each token; no kernel reads
    // them.
    const bool positions = !text(file, "checkpoint").empty() && text(file, "model").starts_with("llama");
    const std::int64_t held = positions ? 8 * integer(file, "seq") : 0;
    std::int64_t counters = 0;
    for (const Parameter& parameter : model.parameters) counters += parameter.frozen ? 0 : 4;
    const auto recorded = [&](const char* when) { return integer(at(current, when), "Total"); };
    HostMemoryCursor cursor(*graph, graph->classes[0]);
    std::int64_t peak = 0;
    const auto live = [&] { return cursor.live().total().value + counters; };
    const auto relative = [](std::int64_t here, std::int64_t there) {
        return static_cast<double>(here - there) / static_cast<double>(std::max<std::int64_t>(there, 1));
    };
    out.check("at the start", recorded("start") - inputs, live());
    while (const HostAction* action = cursor.next()) {
        peak = std::max(peak, live());
        if (action->kind != HostActionKind::Mark) continue;
        if (action->mark == Mark::LossBackward) {
            out.check("after forward",
                      recorded("after_forward") - integer(at(current, "start"), "Buffer") - loss - held, live());
            error.forward = relative(peak, integer(most, "after_forward"));
            error.forwardBytes = peak - integer(most, "after_forward");
        }
        if (action->mark == Mark::BackwardReturned)
            out.check("after backward", recorded("after_backward") - inputs - loss, live());
    }
    error.step = relative(peak, integer(iteration, "peak_bytes"));
    error.stepBytes = peak - integer(iteration, "peak_bytes");
    // Beside the inputs the recording has the loss, and the gradient that backward starts from.
    const std::int64_t apart = inputs + 2 * loss + held;
    if (std::abs(error.forwardBytes) > apart)
        out.add("the most in forward is off by " + std::to_string(error.forwardBytes));
    if (std::abs(error.stepBytes) > apart) out.add("the most of all is off by " + std::to_string(error.stepBytes));
    return error;
}

}  // namespace recorded

struct Comparison {
    enum class Verdict { Equal, Differs, NotExpressible, Unreadable } verdict = Verdict::Equal;
    std::vector<std::string> lines;  ///< what differs, the knob that is missing, or why it cannot be read
    recorded::PeakError peak = {};   ///< of `kind: peak`
};

/// Builds the model that the recording names and compares. Of `kind: peak` only the file's name tells the norm.
inline Comparison compareWithRecording(core::Document file, const std::string& name = {}) {
    using namespace recorded;
    const std::string kind = text(file, "kind");
    if (kind.empty()) return {Comparison::Verdict::Unreadable, {"no `kind`"}};
    if (kind != "kernels" && kind != "saved" && kind != "peak")
        return {Comparison::Verdict::NotExpressible, {"kind `" + kind + "`"}};
    if (name.find("nnrmsnorm") != std::string::npos) file.set("norm", core::Document::of("nn.RMSNorm"));
    std::string knob = missingKnob(file);
    const auto spec = specOf(file);
    if (knob.empty() && !spec) knob = spec.error().message;
    if (!knob.empty()) return {Comparison::Verdict::NotExpressible, {knob}};

    const auto model = buildModel(*spec, workloadOf(file, *spec));
    Differences differences;
    PeakError peak;
    if (!model)
        differences.add(describe(model.error()));
    else if (kind == "kernels")
        checkKernels(file, *model, differences);
    else if (kind == "peak")
        peak = checkPeak(file, *model, differences);
    else
        checkSaved(file, *model, differences);
    return {differences.found.empty() ? Comparison::Verdict::Equal : Comparison::Verdict::Differs, differences.found,
            peak};
}

}  // namespace shardscope::tests
