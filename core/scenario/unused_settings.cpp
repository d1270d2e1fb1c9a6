#include "core/scenario/unused_settings.h"

#include <algorithm>

#include "core/scenario/keys.h"

namespace shardscope::core {

namespace {

bool usedByFsdp(std::string_view key, const Scenario& scenario, const Plan& plan) {
    const bool trains = !plan.evaluation, severalTimes = trains && plan.microBatches > 1;
    if (key == "fsdp_units" || key == "fsdp_blocks_per_unit") return scenario.parallelism.wrap.empty();
    if (key == "fsdp_reshard_after_backward" || key == "fsdp_last_backward_only") return severalTimes;
    if (key == "fsdp_original_dtype") return plan.precision.compute() != plan.precision.original;
    constexpr std::string_view kOfBackward[] = {"fsdp_backward_prefetch",     "fsdp_root_prefetch",
                                                "fsdp_reduce_scatter_inputs", "fsdp_separate_reduce_scatter_group",
                                                "fsdp_divide_factor",         "fsdp_force_sum",
                                                "fsdp_manual_finalize",       "fsdp_no_unshard_in_backward",
                                                "fsdp1_backward_prefetch"};
    return trains || std::ranges::find(kOfBackward, key) == std::end(kOfBackward);
}

bool usedBy(const Key& key, const Scenario& scenario, const Plan& plan) {
    const bool fsdp = plan.policy == UnitPolicy::Fsdp, trains = !plan.evaluation;
    if (key.section() == "parallelism") {
        const std::string_view name = key.name();
        if (name.starts_with("fsdp1_")) return fsdp && plan.fsdp.flat && usedByFsdp(name, scenario, plan);
        if (name.starts_with("fsdp_")) return fsdp && usedByFsdp(name, scenario, plan);
        if (name.starts_with("ddp_")) return plan.policy == UnitPolicy::Ddp && trains;
        return name != "pipeline_parallel_split" || plan.mesh.pp > 1;
    }
    // Gradients that DDP averages and stages send are as backward makes them.
    if (key.path == "precision.mixed_precision_reduce") return fsdp && trains;
    if (key.section() != "training") return true;
    const std::string_view name = key.name();
    const Checkpointing::Mode mode = plan.checkpointing.mode;
    if (name == "naive_micro_batch") return plan.schedule == StageSchedule::Naive && plan.policy == UnitPolicy::None;
    if (name == "enable_cpu_offload") return fsdp;
    if (name == "offload_pin_memory") return fsdp && plan.fsdp.cpuOffload;
    if (name == "checkpoint_every") return trains && mode == Checkpointing::Mode::EveryNth;
    if (name == "checkpoint_early_stop") return trains && mode != Checkpointing::Mode::None;
    if (name == "gradient_sync") return trains && plan.microBatches > 1 && plan.policy != UnitPolicy::None;
    if (name == "optimizer_implementation") return trains && plan.optimizer != OptimizerKind::None;
    if (name == "activation_checkpoint" || name == "clip_grad_norm" || name == "optimizer") return trains;
    return true;
}

struct ModelSetting {
    std::string_view key;
    void (*leaveOut)(Workload& workload);
};

constexpr ModelSetting kModelSettings[] = {
    {"model.attention",
     [](Workload& w) { w.attention = w.cpuRules ? Workload::AttentionKind::Cpu : Workload::AttentionKind::Flash; }},
    {"model.rms_norm", [](Workload& w) { w.fusedRmsNorm = false; }},
    {"model.dropout", [](Workload& w) { w.dropout = Workload::Dropout::Config; }},
    {"model.kernel_rules",
     [](Workload& w) {
         w.cpuRules = false;
         if (w.attention == Workload::AttentionKind::Cpu) w.attention = Workload::AttentionKind::Flash;
     }},
};

/// What a model's programs are told apart by: their kernels, and what these make.
std::vector<std::pair<std::string, std::int64_t>> kernelsOf(const Model& model) {
    std::vector<std::pair<std::string, std::int64_t>> all;
    for (const Program& program : model.programs) {
        for (const std::vector<Kernel>* pass : {&program.forward, &program.backward})
            for (const Kernel& kernel : *pass) all.emplace_back(kernel.op, kernel.written.value);
        for (const TensorId tensor : savedForBackward(program))
            all.emplace_back("saved", program.tensor(tensor).bytes().value);
    }
    return all;
}

/// Whether the setting makes another model of it.
bool changesModel(const ModelSpec& spec, Workload workload, const ModelSetting& setting) {
    const auto with = buildModel(spec, workload);
    setting.leaveOut(workload);
    const auto without = buildModel(spec, workload);
    return !with || !without || kernelsOf(*with) != kernelsOf(*without);
}

}  // namespace

std::vector<std::string> unusedSettings(const Scenario& scenario, const ModelSpec& model, std::span<const Case> cases) {
    std::vector<std::string> unused;
    const Scenario defaults;
    for (const Key& key : scenarioKeys()) {
        if (!scenario.given(key.path) || valueOf(scenario, key) == valueOf(defaults, key)) continue;
        const auto* setting = std::ranges::find(kModelSettings, key.path, &ModelSetting::key);
        const bool used =
            setting != std::end(kModelSettings)
                ? cases.empty() || (!(key.path == "model.dropout" && cases.front().plan.evaluation) &&
                                    changesModel(model, cases.front().workload, *setting))
                : std::ranges::any_of(cases, [&](const Case& one) { return usedBy(key, scenario, one.plan); });
        if (!used) unused.emplace_back(key.path);
    }
    return unused;
}

}  // namespace shardscope::core
