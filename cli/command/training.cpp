// run: trains for real, by walking the StepGraph.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "cli/command/command.h"
#include "cli/command/image_files.h"
#include "cli/command/rank_processes.h"
#include "cli/command/run_time.h"
#include "cli/face/layer_times.h"
#include "cli/face/load.h"
#include "cli/face/progress.h"
#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "cli/face/words.h"
#include "core/base/printable.h"
#include "core/scenario/keys.h"
#include "runtime/data/distributed_sampler.h"
#include "runtime/data/grey_shapes.h"
#include "runtime/train/evaluation.h"
#include "runtime/train/train.h"

namespace shardscope::cli {
namespace {

using core::Document;
using core::ErrorCode;
using core::fail;
using core::Result;

/// Samples of a step where the user says nothing; 1, 2, 4, 8, ... ranks divide it.
constexpr std::int64_t kUsualBatch = 64;
constexpr std::int64_t kUsualTestImages = 2000;
constexpr std::int64_t kFewSteps = 5;  // where a whole pass takes too long

/// Threads of this machine that a run may ask for.
constexpr std::int64_t kMostRanks = 64;
constexpr std::int64_t kUsualRanks = 4;

/// --ranks, or what the scenario's own sizes make.
Result<std::int64_t> ranksOf(const Arguments& arguments, const Loaded& loaded,
                             std::span<const std::string> strategies) {
    if (arguments.ranks > 0) return arguments.ranks;
    const core::Scenario& scenario = loaded.scenario;
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
Result<core::Resolved> setUp(const Arguments& arguments, Loaded& loaded, std::int64_t batch) {
    SHARDSCOPE_ASSIGN(loaded, load(arguments.input.empty() ? usualModel(arguments) : arguments.input, arguments.set));
    core::Scenario& scenario = loaded.scenario;
    // Devices compute in float32 unless the user asks for something else.
    if (!scenario.given("precision.mixed_precision_param")) scenario.precision.param.reset();
    if (!scenario.given("precision.mixed_precision_reduce")) scenario.precision.reduce.reset();
    scenario.training.firstStep = false;
    std::vector<std::string> strategies{arguments.strategies.empty() ? scenario.parallelism.strategy
                                                                     : arguments.strategies};
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

/// The link of --link-bandwidth and --link-latency.
Result<runtime::ArtificialLink> linkOf(const Arguments& arguments, runtime::DeviceKind device) {
    const runtime::ArtificialLink link{arguments.linkBandwidth * 1e9, arguments.linkLatency * 1e-6};
    if (!std::isfinite(link.bandwidth) || !std::isfinite(link.latency))
        return fail(ErrorCode::Usage, "a link of no number, expected GB/s and microseconds",
                    "--link-bandwidth, --link-latency", "for example --link-bandwidth 0.1 --link-latency 50");
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

/// What comes of a sampler that is not told the epoch: nothing fails, and nothing new is seen.
std::string repeatedOrder(std::int64_t samples, std::int64_t ranks) {
    constexpr std::size_t kShown = 8;
    std::string text = fmt::format("The first {} samples of each rank:\n", kShown);
    runtime::DistributedSampler sampler(samples, ranks, {});
    for (std::int64_t rank = 0; rank < ranks; ++rank)
        for (const int epoch : {0, 1}) {
            // Nobody calls setEpoch(epoch).
            std::vector<std::int64_t> indices = sampler.indicesOf(rank);
            indices.resize(std::min(indices.size(), kShown));
            text += fmt::format("  rank {}, epoch {}: {}\n", rank, epoch, fmt::join(indices, " "));
        }
    return text +
           "Warning: the sampler is not told the epoch, so every epoch repeats this order. In PyTorch: call "
           "sampler.set_epoch(epoch) before each epoch.\n";
}

/// Beside what no plan uses: what only prices, or the step before this one, would show.
std::vector<std::string> unusedInRun(const core::Scenario& scenario, const core::Resolved& resolved) {
    std::vector<std::string> unused = resolved.unused;
    for (const std::string_view path :
         {"training.first_step", "training.optimizer_implementation", "training.offload_pin_memory"}) {
        const core::Key& key = *core::findKey(path);
        const bool changed = core::valueOf(scenario, key) != core::valueOf(core::Scenario{}, key);
        // The scenario's own first_step is out of use by now.
        if (scenario.given(path) && (changed || path == "training.first_step") &&
            std::ranges::find(unused, path) == unused.end())
            unused.emplace_back(path);
    }
    return unused;
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

/// What the trained model is asked about; no images: nothing.
struct Test {
    runtime::EvaluationConfig config;
    std::shared_ptr<const runtime::ImageSet> images;
};

Result<Test> testOf(const Arguments& arguments, const runtime::TrainConfig& training, bool byItself) {
    Test test;
    const auto* vit = std::get_if<core::VitSpec>(&training.model);
    const std::int64_t count = arguments.testImages >= 0 ? arguments.testImages : byItself ? kUsualTestImages : 0;
    if (vit == nullptr || count == 0) return test;
    test.config = {training.device,    *vit,  training.plan.precision,
                   training.attention, count, training.plan.mesh.size()};
    if (arguments.data.empty()) {
        test.images = std::make_shared<runtime::GreyShapes>(runtime::Split::Test, count, vit->imageSize);
        return test;
    }
    SHARDSCOPE_ASSIGN(test.images, loadTestImages(arguments.data, vit->classes));
    if (test.images == nullptr && arguments.testImages > 0)
        return fail(ErrorCode::Io, "no t10k-images-idx3-ubyte (or .gz) is there", "--data " + arguments.data,
                    "name the folder that holds them, or leave --test-images out");
    return test;
}

Document documentOf(const runtime::Evaluation& evaluation) {
    Document out = Document::table();
    out.set("images", Document::of(evaluation.images));
    out.set("right", Document::of(evaluation.right));
    out.set("accuracy", Document::of(evaluation.accuracy()));
    out.set("loss", Document::of(evaluation.loss));
    out.set("ns", Document::of(evaluation.ns));
    return out;
}

Document jsonOf(const runtime::TrainReport& report, const core::Case& one) {
    Document out = Document::table(), losses = Document::list(), steps = Document::list(), ranks = Document::list();
    out.set("schema", Document::of("shardscope.run"));
    out.set("version", Document::of(std::int64_t{1}));
    out.set("strategy", Document::of(one.plan.name));
    out.set("global_batch_size", Document::of(report.globalBatch));
    out.set("graph_hash", Document::of(fmt::format("{:016x}", report.graphHash)));
    for (const double loss : report.losses) losses.items.push_back(Document::of(loss));
    for (const std::int64_t ns : report.stepNs) steps.items.push_back(Document::of(ns));
    for (std::size_t r = 0; r < report.ranks.size(); ++r) {
        const runtime::RankReport& rank = report.ranks[r];
        Document row = Document::table(), memory = Document::table();
        row.set("rank", Document::of(rank.rank));
        row.set("class", Document::of(rank.rankClass));
        if (r < report.clocks.size()) {
            row.set("clock_offset_ns", Document::of(report.clocks[r].offset));
            row.set("clock_residual_ns", Document::of(report.clocks[r].residual));
        }
        row.set("peak_bytes", Document::of(rank.peakTotal));
        for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
            memory.set(std::string(core::nameOf(static_cast<core::MemoryCategory>(c))), Document::of(rank.peak[c]));
        row.set("peak_by_category", std::move(memory));
        if (r < report.breakdown.size()) {
            const timeline::Breakdown& t = report.breakdown[r];
            row.set("compute_ns", Document::of(t.compute));
            row.set("exposed_transfer_ns", Document::of(t.transfer));
            row.set("exposed_copy_ns", Document::of(t.copy));
            row.set("waiting_ns", Document::of(t.waiting));
            row.set("idle_ns", Document::of(t.idle));
            row.set("step_ns", Document::of(t.step));
        }
        ranks.items.push_back(std::move(row));
    }
    out.set("losses", std::move(losses));
    out.set("step_ns", std::move(steps));
    out.set("ranks", std::move(ranks));
    return out;
}

std::string textOf(const runtime::TrainReport& report, const core::Case& one, const TextStyle& style) {
    const bool processes = !report.clocks.empty();
    std::string out = fmt::format("\nThe last step, measured on {} {}{}\n", report.ranks.size(),
                                  processes                  ? "process"
                                  : report.ranks.size() == 1 ? "thread"
                                                             : "threads",
                                  processes ? (report.ranks.size() == 1 ? "" : "es") : " of this machine");
    TextTable table({"rank", "compute", "transfer", "copy", "waiting", "idle", "step", "peak memory"},
                    std::vector<Align>(8, Align::Right));
    for (std::size_t r = 0; r < report.ranks.size() && r < report.breakdown.size(); ++r) {
        const timeline::Breakdown& t = report.breakdown[r];
        table.row({std::to_string(report.ranks[r].rank), durationText(t.compute), durationText(t.transfer),
                   durationText(t.copy), durationText(t.waiting), durationText(t.idle), durationText(t.step),
                   bytesText(report.ranks[r].peakTotal)});
    }
    out += table.text(2);
    const PicturedPlan plan{one.plan.name, "", &report.timeline};
    out += "\nWho works when\n" + textPicture({&plan, 1}, style);
    if (processes) out += clockText(report.clocks);
    return out + "  Times are those of this machine's cores, which the ranks share; they are no forecast of a GPU.\n";
}

}  // namespace

Result<void> runTraining(const Arguments& arguments, const TextStyle& style) {
    if (runtime::launchedRank()) runtime::followLauncher();
    const std::optional<runtime::DeviceKind> device = runtime::deviceCalled(arguments.device);
    if (!device)
        return fail(ErrorCode::Unsupported,
                    fmt::format("no device \"{}\" in this build", arguments.device.substr(0, 60)), "--device",
                    "known are: cpu, reference");
    Loaded loaded;
    SHARDSCOPE_ASSIGN(core::Resolved resolved, setUp(arguments, loaded, kUsualBatch));
    std::shared_ptr<const runtime::ImageSet> given;
    if (!arguments.data.empty()) {
        SHARDSCOPE_ASSIGN(given, imagesFor(resolved.model, arguments.data));
        if (given->size() < resolved.globalBatch && !loaded.scenario.given("training.local_batch_size")) {
            SHARDSCOPE_ASSIGN(resolved, setUp(arguments, loaded, given->size()));
        }
    }
    const core::Case& one = resolved.cases.front();
    if (std::holds_alternative<core::ShapesSpec>(resolved.model) ||
        std::holds_alternative<core::HfSpec>(resolved.model) ||
        std::holds_alternative<core::DecoderSpec>(resolved.model))
        return fail(
            ErrorCode::Unsupported,
            "the devices of this build have no kernels for language models, nor for models known by their shapes",
            loaded.source, "run a vision transformer (shardscope models), or simulate this model");
    if (one.workload.dropout == core::Workload::Dropout::On || one.workload.autocast || one.workload.cpuRules)
        return fail(ErrorCode::Unsupported,
                    "no device of this build has kernels for dropout or autocast, nor a CPU's dtype rules",
                    loaded.source,
                    "leave model.dropout, model.kernel_rules and precision.autocast out, or simulate this model");
    SHARDSCOPE_ASSIGN(const core::Model model, core::buildModel(resolved.model, one.workload));
    const core::Plan plan = withLayerTimes(one.plan, model, resolved.cluster);
    SHARDSCOPE_TRY(checkStages(model, plan));
    runtime::TrainConfig config;
    config.device = *device;
    SHARDSCOPE_ASSIGN(config.link, linkOf(arguments, *device));
    config.model = resolved.model;
    config.plan = plan;
    config.batch = one.workload.batch;
    config.attention = one.workload.attention;
    config.frozen = one.workload.frozen;
    config.setEpoch = !arguments.noSetEpoch;
    const core::Mesh& mesh = config.plan.mesh;
    config.images = given;
    const std::int64_t images =
        config.images != nullptr ? config.images->size() : runtime::generatedImages(resolved.globalBatch);
    const std::int64_t pass = arguments.steps > 0 ? 0 : stepsOfPass(model, config, images);
    config.steps = arguments.steps > 0 ? arguments.steps : pass > 0 ? pass : kFewSteps;
    SHARDSCOPE_TRY(checkWork(model, config, loaded.source));
    const std::string schedule = !arguments.schedule.empty() ? arguments.schedule : pass > 0 ? "cosine" : "constant";
    config.schedule = *runtime::scheduleCalled(schedule);
    SHARDSCOPE_ASSIGN(const Test test, testOf(arguments, config, pass > 0));
    config.keepParameters = test.images != nullptr;
    SHARDSCOPE_ASSIGN(const RankPlacement placement, placementOf(arguments, *device, mesh.size()));
    if (placement.kind == RankPlacement::Kind::OneRank) return runOneRank(config, placement);

    const std::vector<std::string> unused = unusedInRun(loaded.scenario, resolved);
    const std::string order =
        arguments.noSetEpoch ? repeatedOrder(images, mesh.dpReplicate * mesh.dpShard) : std::string();
    Progress::Options options;
    options.steps = config.steps;
    options.ranks = mesh.size();
    options.globalBatch = resolved.globalBatch;
    options.sampleWord = model.sampleWord;
    options.header = fmt::format("{}: {} on {} {}, {} samples a step, {} {}{}\n", model.name, plan.name, mesh.size(),
                                 mesh.size() == 1 ? "rank" : "ranks", resolved.globalBatch, config.steps,
                                 config.steps == 1 ? "step" : "steps",
                                 pass > 0 ? fmt::format(": one pass over {} images", groupedDigits(images)) : "");
    for (const std::string& key : unused) options.header += unusedInWords(key);
    options.header = core::printableLines(options.header + order);
    options.terminal = style.terminal;
    options.quiet = arguments.json;
    options.log = arguments.logJson;
    SHARDSCOPE_ASSIGN(const std::unique_ptr<Progress> progress, Progress::create(std::move(options), printColoured));
    config.progress = [&progress](const runtime::RankStep& step) { progress->add(step); };
    const auto trained = trainAs(config, placement, arguments);
    const auto told = progress->finish();
    if (!trained) return tl::unexpected(loaded.scenario.located(trained.error()));
    SHARDSCOPE_TRY(told);
    const runtime::TrainReport& report = *trained;
    std::optional<runtime::Evaluation> evaluation;
    if (test.images != nullptr) {
        SHARDSCOPE_ASSIGN(evaluation, runtime::evaluate(test.config, report.parameters, *test.images));
    }
    if (arguments.json) {
        std::fputs(order.c_str(), stderr);
        Document out = jsonOf(report, one);
        out.set("model", Document::of(model.name));
        out.set("device", Document::of(arguments.device));
        Document& data = out.set("data", Document::table());
        data.set("source", Document::of(arguments.data.empty() ? "generated grey shapes" : arguments.data));
        data.set("images", Document::of(images));
        out.set("lr_schedule", Document::of(schedule));
        if (evaluation) out.set("evaluation", documentOf(*evaluation));
        out.set("unused", listOf(unused));
        return print(core::writeJson(out) + "\n");
    }
    if (evaluation)
        SHARDSCOPE_TRY(print(fmt::format(
            "\n{} of {} test images right: {:.1f} % (by chance {:.0f} %), loss {:.4f}, asked in {}\n",
            groupedDigits(evaluation->right), groupedDigits(evaluation->images), evaluation->accuracy() * 100,
            100.0 / static_cast<double>(test.images->classes()), evaluation->loss, durationText(evaluation->ns))));
    return printColoured(textOf(report, one, style));
}

}  // namespace shardscope::cli
