#include "tests/plans/support/random_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "cli/face/files.h"
#include "cli/face/load.h"
#include "core/model/hf_model.h"
#include "core/scenario/builtin_models.h"
#include "core/scenario/keys.h"

namespace shardscope::tests {
namespace {

using core::Document;
using core::Result;

constexpr std::string_view kRecordedConfigs = "hf_models.json#";

const Document& recordedConfigs() {
    static const Document kFile = [] {
        const auto text = cli::readFile(SHARDSCOPE_SOURCE_DIR "/tests/data/hf_models.json");
        auto document = text ? core::parseJson(*text, "hf_models.json") : Result<Document>(Document{});
        return document ? std::move(*document) : Document{};
    }();
    return kFile;
}

std::vector<std::string> recordedIds() {
    std::vector<std::string> ids;
    if (const Document* cases = recordedConfigs().find("cases"))
        for (const Document& one : cases->items) ids.push_back(one.find("id")->text);
    return ids;
}

class Drawer {
public:
    explicit Drawer(std::uint64_t seed) : m_random(seed) {}

    Settings draw() {
        drawModel();
        drawStrategy();
        drawBatch();
        drawHardware();
        readModel();
        for (const core::Key& key : core::scenarioKeys()) drawKey(key);
        return std::move(m_settings);
    }

private:
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1)));
    }
    /// True in one of `n` cases.
    bool oneIn(std::int64_t n) { return below(n) == 0; }
    std::int64_t between(std::int64_t least, std::int64_t most) { return least + below(most - least + 1); }
    template <class List>
    const auto& any(const List& list) {
        return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(std::size(list))))];
    }

    void set(std::string_view key, const Document& value) {
        m_settings.push_back({std::string(key), core::writeTomlValue(value)});
    }
    void set(std::string_view key, std::int64_t value) { set(key, Document::of(value)); }
    void set(std::string_view key, std::string value) { set(key, Document::of(std::move(value))); }
    [[nodiscard]] bool isSet(std::string_view key) const {
        return std::any_of(m_settings.begin(), m_settings.end(), [&](const Setting& s) { return s.key == key; });
    }

    void drawModel() {
        static const std::vector<std::string> kIds = recordedIds();
        static constexpr std::string_view kFiles[] = {
            "examples/models/toy_mlp.toml",         "examples/models/toy_attn_mlp.toml",
            "examples/models/toy_stage.toml",       "examples/models/toy_stage_bare.toml",
            "examples/models/toy_tied.toml",        "tests/data/modules/toy.json",
            "tests/data/vit/tiny_state.safetensors"};
        static constexpr std::string_view kDecoders[] = {"llama-3.2-1b", "mistral-7b", "qwen2-0.5b",  "qwen3-0.6b",
                                                         "gpt2",         "llama-2-7b", "smollm2-1.7b"};
        switch (below(10)) {
            case 0:
            case 1: set("model.path", std::string(any(kFiles))); break;
            case 2:
            case 3: set("model.path", std::string(kRecordedConfigs) + any(kIds)); break;
            case 4:
            case 5:
            case 6: {
                set("model.name", std::string("vit_tiny"));
                const std::int64_t heads = between(1, 4);
                set("model.layers", between(1, 6));
                set("model.heads", heads);
                set("model.hidden", heads * between(1, 8) * (oneIn(4) ? 1 : 8));
                if (oneIn(3)) set("model.mlp", between(1, 100));
                if (oneIn(3)) set("model.patch_size", oneIn(2) ? 14 : 4);
                if (oneIn(3)) set("model.classes", between(1, 20));
                break;
            }
            default: {
                set("model.name", std::string(any(kDecoders)));
                const std::int64_t kvHeads = between(1, 3), heads = kvHeads * between(1, 3);
                set("model.layers", between(1, 6));
                set("model.heads", heads);
                set("model.kv_heads", oneIn(4) ? heads : kvHeads);
                set("model.hidden", heads * 2 * between(1, 16));
                set("model.mlp", between(1, 200));
                set("model.vocab", between(1, 300));
                if (oneIn(2)) set("training.seq_len", between(1, 40));
                break;
            }
        }
        if (!isSet("training.seq_len") && oneIn(6) && !m_settings.front().value.starts_with("\"vit"))
            set("training.seq_len", between(1, 24));
    }

    void drawStrategy() {
        static constexpr std::string_view kStrategies[] = {"fsdp", "fsdp", "fsdp", "ddp", "naive", "single"};
        m_strategy = any(kStrategies);
        set("parallelism.strategy", m_strategy);
        constexpr std::int64_t kDegrees[] = {1, 2, 2, 3, 4, 4, 8};
        if (m_strategy == "fsdp") {
            set("parallelism.data_parallel_shard_degree", m_shards = any(kDegrees));
            if (oneIn(4)) set("parallelism.data_parallel_replicate_degree", m_replicas = between(2, 3));
            if (oneIn(6)) set("parallelism.fsdp_version", std::int64_t{1});
            if (oneIn(isSet("parallelism.fsdp_version") ? 40 : 5))
                set("parallelism.pipeline_parallel_degree", m_stages = between(2, 3));
        } else if (m_strategy == "ddp") {
            set("parallelism.data_parallel_replicate_degree", m_replicas = any(kDegrees));
        } else if (m_strategy == "naive") {
            set("cluster.nodes", std::int64_t{1});
            set("cluster.gpus_per_node", m_stages = between(1, 4));
        }
    }

    void drawBatch() {
        const std::int64_t local = between(1, 4);
        set("training.local_batch_size", local);
        if (oneIn(2))
            set("training.global_batch_size", local * m_shards * m_replicas * between(1, 4) * (oneIn(12) ? 2 : 1));
        if (m_strategy == "naive" && oneIn(3)) set("training.naive_micro_batch", between(1, local));
    }

    void drawHardware() {
        if (oneIn(3)) {
            static const std::vector<std::string> kGpus = core::gpuPresetNames();
            set("cluster.gpu", any(kGpus));
        }
        if (oneIn(16)) {
            static const std::vector<std::string> kNodes = core::nodePresetNames();
            set("cluster.node", any(kNodes));
        }
    }

    /// Names of modules and of parameters, for the keys that take such.
    void readModel() {
        const auto scenario = scenarioOf(m_settings);
        if (!scenario) return;
        const auto inputs = inputsOf(*scenario);
        if (!inputs) return;
        const auto spec = core::withOverrides(inputs->model, *scenario);
        if (!spec) return;
        core::Workload workload;
        workload.sequence = std::max<std::int64_t>(scenario->training.seqLen, 2);
        auto model = core::buildModel(*spec, workload);
        if (!model) {
            workload.sequence = 0;
            model = core::buildModel(*spec, workload);
        }
        if (!model) return;
        for (const core::Module& module : model->modules)
            if (!module.name.empty()) m_modules.push_back(module.name);
        for (const core::Layer& layer : model->layers)
            if (layer.kind == core::LayerKind::Block && layer.module.valid() &&
                !model->modules[layer.module.index()].name.empty())
                m_blocks.push_back(model->modules[layer.module.index()].name);
        for (const core::Parameter& parameter : model->parameters) m_parameters.push_back(parameter.name);
    }

    std::string anyName() {
        if (!m_blocks.empty() && !oneIn(4)) return any(m_blocks);
        if (!m_modules.empty() && !oneIn(20)) return any(m_modules);
        return oneIn(2) ? "root" : "no.such.module";
    }

    core::ReshardSetting anyReshard() {
        constexpr std::string_view kWords[] = {"default", "always", "never", "unset"};
        core::ReshardSetting setting;
        if (oneIn(2)) {
            setting.word = any(kWords);
            return setting;
        }
        setting.word.clear();
        if (oneIn(2))
            setting.value = {core::Reshard::Kind::Group,
                             oneIn(4) ? between(1, 8) : std::max<std::int64_t>(m_shards / 2, 1)};
        else
            setting.value = {oneIn(2) ? core::Reshard::Kind::True : core::Reshard::Kind::False, 0};
        return setting;
    }

    std::string textOf(const core::ReshardSetting& setting) {
        if (!setting.word.empty()) return '"' + setting.word + '"';
        if (setting.value.kind == core::Reshard::Kind::Group) return std::to_string(setting.value.group);
        return setting.value.kind == core::Reshard::Kind::True ? "true" : "false";
    }

    std::int64_t anyNumber(const core::Key& key) {
        if (oneIn(60)) return any(std::vector{key.least, key.most, key.least - 1, key.most / 2 + 1});
        return std::clamp<std::int64_t>(between(0, oneIn(4) ? 8 : 3), key.least, key.most);
    }

    std::string anyList(bool parametersToo) {
        std::string text = "[";
        for (std::int64_t i = between(1, 3); i > 0; --i) {
            const std::string name = parametersToo && oneIn(3) && !m_parameters.empty() ? any(m_parameters) : anyName();
            const std::string quoted = core::writeTomlValue(Document::of(name));
            text += text.size() > 1 ? ", " : "";
            text += oneIn(4) ? "[" + quoted + ", " + core::writeTomlValue(Document::of(anyName())) + "]" : quoted;
        }
        return text + "]";
    }

    void drawKey(const core::Key& key) {
        // Drawn above, where they have to fit together.
        constexpr std::string_view kOfKernels[] = {"model.attention", "model.rms_norm", "model.dropout",
                                                   "model.kernel_rules"};
        const bool ofKernels =
            std::find(std::begin(kOfKernels), std::end(kOfKernels), key.path) != std::end(kOfKernels);
        if (key.section() == "model" && !ofKernels) return;
        // Refused under FSDP and where products have the parameters' format.
        if (key.path == "precision.autocast" && !oneIn(4)) return;
        if (key.section() == "cluster" || isSet(key.path)) return;
        // Refused beside a root, so drawn together with the lack of one.
        if (key.path == "parallelism.fsdp_share_context" && !oneIn(20)) {
            const bool hasRoot = std::none_of(m_settings.begin(), m_settings.end(), [](const Setting& s) {
                return s.key == "parallelism.fsdp_wrap_root" && s.value == "false";
            });
            if (hasRoot) return;
        }
        // FSDP1 refuses most of FSDP2's.
        if (isSet("parallelism.fsdp_version") && key.path.starts_with("parallelism.fsdp_") &&
            !key.path.ends_with("reshard_after_forward") && !oneIn(20))
            return;
        const bool isBatch = key.path.find("batch") != std::string_view::npos || key.path == "training.seq_len";
        const bool isDegree = key.path.ends_with("_degree");
        if (!oneIn(isBatch || isDegree ? 80 : 6)) return;
        const auto add = [&](std::string value) { m_settings.push_back({std::string(key.path), std::move(value)}); };
        std::visit(
            [&](auto member) {
                using Value = std::remove_cvref_t<decltype(member(m_scratch))>;
                if constexpr (std::is_same_v<Value, std::string>) {
                    constexpr std::string_view kTexts[] = {"", "a title", "\"\\\n\t", "이름", "[x] = 1 # no"};
                    add(core::writeTomlValue(
                        Document::of(std::string(key.words.empty() ? any(kTexts) : any(key.words)))));
                } else if constexpr (std::is_same_v<Value, std::int64_t>) {
                    add(std::to_string(anyNumber(key)));
                } else if constexpr (std::is_same_v<Value, bool>) {
                    add(oneIn(2) ? "true" : "false");
                } else if constexpr (std::is_same_v<Value, core::DType>) {
                    add('"' + std::string(any(kTypes)) + '"');
                } else if constexpr (std::is_same_v<Value, std::optional<core::DType>>) {
                    add(oneIn(4) ? "\"none\"" : '"' + std::string(any(kTypes)) + '"');
                } else if constexpr (std::is_same_v<Value, core::ReshardSetting>) {
                    add(textOf(anyReshard()));
                } else if constexpr (std::is_same_v<Value, core::UnitLists>) {
                    add(key.path == "parallelism.fsdp_original_dtype" && oneIn(2)
                            ? std::string("[\"LayerNorm\"]")
                            : anyList(key.path == "training.frozen"));
                } else if constexpr (std::is_same_v<Value, core::IntegerList>) {
                    std::string list = std::to_string(anyNumber(key));
                    while (oneIn(2)) list += ", " + std::to_string(anyNumber(key));
                    add("[" + list + "]");
                } else if constexpr (std::is_same_v<Value, core::ReshardTable>) {
                    add("{ " + core::writeTomlValue(Document::of(anyName())) + " = " + textOf(anyReshard()) + " }");
                }
            },
            key.binding);
    }

    static constexpr std::string_view kTypes[] = {"float32", "bfloat16", "bfloat16", "float16", "float64"};
    std::mt19937_64 m_random;
    Settings m_settings;
    core::Scenario m_scratch;
    std::string m_strategy;
    std::int64_t m_shards = 1, m_replicas = 1, m_stages = 1;
    std::vector<std::string> m_modules, m_blocks, m_parameters;
};

}  // namespace

Settings drawSettings(std::uint64_t seed) {
    return Drawer(seed).draw();
}

Result<core::Scenario> scenarioOf(const Settings& settings) {
    core::Scenario scenario;
    for (const Setting& setting : settings)
        SHARDSCOPE_TRY(core::applyOverride(scenario, setting.key + "=" + setting.value));
    return scenario;
}

Result<core::ScenarioInputs> inputsOf(const core::Scenario& scenario) {
    const std::string& path = scenario.model.path;
    if (!path.starts_with(kRecordedConfigs)) return cli::loadInputs(scenario, SHARDSCOPE_SOURCE_DIR);
    if (const Document* cases = recordedConfigs().find("cases"))
        for (const Document& one : cases->items)
            if (one.find("id")->text == path.substr(kRecordedConfigs.size())) {
                core::ScenarioInputs inputs;
                SHARDSCOPE_ASSIGN(inputs.model, core::readHfModel(*one.find("config"), "config.json", "recorded"));
                return inputs;
            }
    return core::fail(core::ErrorCode::Input, "no such configuration", path);
}

}  // namespace shardscope::tests
