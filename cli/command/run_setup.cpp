#include "cli/command/run_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <variant>

#include "cli/command/image_files.h"
#include "cli/command/run_time.h"
#include "cli/face/layer_times.h"
#include "runtime/train/runnable.h"

namespace shardscope::cli {
namespace {

using core::ErrorCode;
using core::fail;
using core::Result;

/// Samples of a step where the user says nothing; 1, 2, 4, 8, ... ranks divide it.
constexpr std::int64_t kUsualBatch = 64;
constexpr std::int64_t kFewSteps = 5;  // where a whole pass takes too long
/// Threads of this machine that a run may ask for.
constexpr std::int64_t kMostRanks = 64;
constexpr std::int64_t kUsualRanks = 4;

/// Sizes of the cluster on the same command line as --ranks must make as many.
Result<void> checkClusterSizes(const core::Scenario& scenario, std::int64_t ranks) {
    const auto sizeOf = [&](const char* key, std::int64_t value) {
        return scenario.placeOf(key).starts_with("--set") && value > 0 ? value : 0;
    };
    const std::int64_t nodes = sizeOf("cluster.nodes", scenario.cluster.nodes);
    const std::int64_t gpus = sizeOf("cluster.gpus_per_node", scenario.cluster.gpusPerNode);
    const char* place = nodes > 0 ? "cluster.nodes" : "cluster.gpus_per_node";
    if (nodes > 0 && gpus > 0 && nodes * gpus != ranks)
        return fail(ErrorCode::Usage, fmt::format("{} x {} GPUs, but --ranks {}", nodes, gpus, ranks),
                    scenario.placeOf(place), "leave one of the two out");
    if (const std::int64_t one = std::max(nodes, gpus); one > 0 && ranks % one != 0)
        return fail(
            ErrorCode::Usage,
            fmt::format("--ranks {} does not divide among {} {}", ranks, one, nodes > 0 ? "nodes" : "GPUs of a node"),
            scenario.placeOf(place), "leave one of the two out");
    return {};
}

/// --ranks, or what the scenario's own sizes make.
Result<std::int64_t> ranksOf(const Arguments& arguments, const Loaded& loaded,
                             std::span<const std::string> strategies) {
    const core::Scenario& scenario = loaded.scenario;
    if (arguments.ranks > 0) {
        SHARDSCOPE_TRY(checkClusterSizes(scenario, arguments.ranks));
        return arguments.ranks;
    }
    const bool sized = scenario.parallelism.shardDegree > 0 || scenario.parallelism.pipelineDegree > 0 ||
                       scenario.cluster.nodes > 0 || scenario.cluster.gpusPerNode > 0 || !scenario.cluster.path.empty();
    if (!sized) return kUsualRanks;
    SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolve(scenario, loaded.inputs, strategies));
    const std::int64_t ranks = resolved.cluster.ranks();
    if (ranks > kMostRanks)
        return fail(ErrorCode::Input,
                    fmt::format("the scenario has {} ranks; at most {} run on this machine", ranks, kMostRanks),
                    loaded.source, "say how many with --ranks, for example --ranks 4");
    return ranks;
}

/// The cluster becomes `ranks` threads. Degrees of the file give way to --ranks; one on the same command line that says
/// otherwise is a contradiction.
Result<void> fitToRanks(core::Scenario& scenario, std::int64_t ranks, const std::string& strategy) {
    scenario.cluster.nodes = ranks;
    scenario.cluster.gpusPerNode = 1;
    auto& p = scenario.parallelism;
    const auto onCommandLine = [&](std::string_view key) { return scenario.placeOf(key).starts_with("--set"); };
    const std::string_view shardKey = "parallelism.data_parallel_shard_degree";
    const std::string_view stageKey = "parallelism.pipeline_parallel_degree";
    if (ranks % std::max<std::int64_t>(p.pipelineDegree, 1) != 0 || strategy != "fsdp") {
        if (p.pipelineDegree > 0 && p.pipelineDegree != ranks && onCommandLine(stageKey))
            return fail(ErrorCode::Usage, fmt::format("{} stages, but --ranks {}", p.pipelineDegree, ranks),
                        scenario.placeOf(stageKey), "leave one of the two out");
        p.pipelineDegree = -1;
    }
    if (strategy != "fsdp") p.replicateDegree = 1;
    const std::int64_t made = p.shardDegree * p.replicateDegree * std::max<std::int64_t>(p.pipelineDegree, 1);
    if (p.shardDegree > 0 && made != ranks && strategy == "fsdp" && onCommandLine(shardKey))
        return fail(ErrorCode::Usage, fmt::format("the degrees make {} ranks, but --ranks is {}", made, ranks),
                    scenario.placeOf(shardKey), "leave one of the two out");
    if (made != ranks) p.shardDegree = -1;
    return {};
}

/// Plain loops take minutes for what oneDNN does in a second.
const char* usualModel(const Arguments& arguments) {
    return arguments.device == "reference" ? "vit_tiny" : "vit_tutorial_12";
}

/// `batch`: samples of a step where the user says nothing.
Result<core::Resolved> resolvedFor(const Arguments& arguments, Loaded& loaded, std::int64_t batch) {
    SHARDSCOPE_ASSIGN(loaded, load(arguments.input.empty() ? usualModel(arguments) : arguments.input, arguments.set));
    core::Scenario& scenario = loaded.scenario;
    // Devices compute in float32 unless the user asks for something else.
    if (!scenario.given("precision.mixed_precision_param")) scenario.precision.param.reset();
    if (!scenario.given("precision.mixed_precision_reduce")) scenario.precision.reduce.reset();
    scenario.training.firstStep = false;
    std::vector<std::string> strategies{arguments.strategies.empty() ? scenario.parallelism.strategy
                                                                     : arguments.strategies};
    if (strategies.front() == "single" && arguments.ranks > 1)
        return fail(ErrorCode::Usage, fmt::format("strategy single has 1 rank, but --ranks is {}", arguments.ranks),
                    arguments.strategies.empty() ? loaded.source : "--strategy single",
                    "leave --ranks out, or use another strategy");
    SHARDSCOPE_ASSIGN(const std::int64_t ranks, ranksOf(arguments, loaded, strategies));
    SHARDSCOPE_TRY(fitToRanks(scenario, ranks, strategies.front()));
    if (!scenario.given("training.local_batch_size")) {
        // The ranks of one pipeline share their samples.
        const std::int64_t stages =
            strategies.front() == "fsdp" ? std::clamp<std::int64_t>(scenario.parallelism.pipelineDegree, 1, ranks) : 1;
        scenario.training.localBatchSize = std::max<std::int64_t>(1, batch * stages / ranks);
    }
    return core::resolve(scenario, loaded.inputs, strategies);
}

Result<std::shared_ptr<const runtime::ImageSet>> imagesFor(const core::ModelSpec& model, const std::string& path) {
    const auto* vit = std::get_if<core::VitSpec>(&model);
    if (vit == nullptr)
        return fail(ErrorCode::Unsupported, "images for a model that takes none", "--data",
                    "leave --data out, or run a vision transformer (shardscope models)");
    SHARDSCOPE_ASSIGN(const auto images, loadImages(path, vit->classes));
    SHARDSCOPE_TRY(runtime::checkImages(*images, *vit).map_error([&](core::Error error) {
        error.where = "--data " + path;
        return error;
    }));
    return images;
}

/// Why a step does not have kUsualBatch samples; empty: it has, or somebody asked for others.
std::string batchReasonOf(const RunSetUp& setUp, const runtime::ImageSet* given) {
    const core::Scenario& scenario = setUp.loaded.scenario;
    if (scenario.given("training.local_batch_size") || scenario.given("training.global_batch_size") ||
        setUp.resolved.globalBatch == kUsualBatch)
        return {};
    const std::int64_t images = given != nullptr ? std::min(given->size(), kUsualBatch) : kUsualBatch;
    const std::string unequal =
        fmt::format("do not divide among {} ranks", setUp.resolved.cases.front().plan.mesh.size());
    if (images == kUsualBatch) return fmt::format("{} {}", kUsualBatch, unequal);
    return images == setUp.resolved.globalBatch ? "there are no more images"
                                                : fmt::format("the {} images {}", images, unequal);
}

/// The link of --link-bandwidth and --link-latency.
Result<runtime::ArtificialLink> linkOf(const Arguments& arguments, runtime::DeviceKind device) {
    const runtime::ArtificialLink link{arguments.linkBandwidth * 1e9, arguments.linkLatency * 1e-6};
    if (link.given() && device != runtime::DeviceKind::Cpu)
        return fail(ErrorCode::Usage, "a slow link on a device that transfers nothing beside its kernels",
                    "--link-bandwidth, --link-latency", "use --device cpu");
    return link;
}

/// The stages that the model can be cut into; what to do is --ranks here.
Result<void> checkStages(const core::Model& model, const core::Plan& plan) {
    const auto stages = core::splitStages(model, plan);
    if (stages || plan.policy != core::UnitPolicy::None) return {};
    core::Error error = stages.error();
    const auto layers = static_cast<std::int64_t>(model.layers.size()) - 1;  // the loss goes with the last one
    if (plan.mesh.pp > layers)
        error.hint = fmt::format("use at most {} stages, for example --ranks {}", layers,
                                 std::min<std::int64_t>(layers, kUsualRanks));
    return tl::unexpected(std::move(error));
}

}  // namespace

Result<RunSetUp> setUpRun(const Arguments& arguments) {
    const std::optional<runtime::DeviceKind> device = runtime::deviceCalled(arguments.device);
    if (!device)
        return fail(ErrorCode::Unsupported,
                    fmt::format("no device \"{}\" in this build", arguments.device.substr(0, 60)), "--device",
                    "known are: cpu, reference");
    RunSetUp setUp;
    Loaded& loaded = setUp.loaded;
    SHARDSCOPE_ASSIGN(setUp.resolved, resolvedFor(arguments, loaded, kUsualBatch));
    std::shared_ptr<const runtime::ImageSet> given;
    if (!arguments.data.empty()) {
        SHARDSCOPE_ASSIGN(given, imagesFor(setUp.resolved.model, arguments.data));
        if (given->size() < setUp.resolved.globalBatch && !loaded.scenario.given("training.local_batch_size")) {
            SHARDSCOPE_ASSIGN(setUp.resolved, resolvedFor(arguments, loaded, given->size()));
        }
    }
    // Before the run: somebody may remove the folder meanwhile.
    std::error_code gone;
    setUp.folder = (std::filesystem::current_path(gone) / loaded.folder).string();
    const core::Resolved& resolved = setUp.resolved;
    const core::Case& one = resolved.cases.front();
    if (std::holds_alternative<core::ShapesSpec>(resolved.model) ||
        std::holds_alternative<core::HfSpec>(resolved.model) ||
        std::holds_alternative<core::DecoderSpec>(resolved.model))
        return fail(
            ErrorCode::Unsupported,
            "the devices of this build have no kernels for language models, nor for models known by their shapes",
            loaded.source, "run a vision transformer (shardscope models), or simulate this model");
    SHARDSCOPE_ASSIGN(setUp.model, core::buildModel(resolved.model, one.workload));
    core::Plan plan = withLayerTimes(one.plan, setUp.model, resolved.cluster);
    // Devices run every kernel by itself: of the same graph, in the same memory, at other prices.
    plan.compiled = false;
    SHARDSCOPE_TRY(runtime::checkRunnable(plan).map_error(
        [&](core::Error error) { return loaded.scenario.located(std::move(error)); }));
    SHARDSCOPE_TRY(checkStages(setUp.model, plan));
    runtime::TrainConfig& config = setUp.config;
    config.device = *device;
    SHARDSCOPE_ASSIGN(config.link, linkOf(arguments, *device));
    config.model = resolved.model;
    config.plan = plan;
    config.batch = one.workload.batch;
    config.attention = one.workload.attention;
    config.dropout = one.workload.dropout;
    config.cpuRules = one.workload.cpuRules;
    config.autocast = one.workload.autocast;
    config.frozen = one.workload.frozen;
    config.setEpoch = !arguments.noSetEpoch;
    config.images = given;
    setUp.batchReason = batchReasonOf(setUp, given.get());
    setUp.images = config.images != nullptr ? config.images->size() : runtime::generatedImages(resolved.globalBatch);
    setUp.pass = arguments.steps > 0 ? 0 : stepsOfPass(setUp.model, config, setUp.images);
    config.steps = arguments.steps > 0 ? arguments.steps : setUp.pass > 0 ? setUp.pass : kFewSteps;
    SHARDSCOPE_TRY(checkWork(setUp.model, config, loaded.source));
    return setUp;
}

}  // namespace shardscope::cli
