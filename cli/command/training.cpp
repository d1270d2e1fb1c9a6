// run: trains for real, by walking the StepGraph.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "cli/command/calibration.h"
#include "cli/command/command.h"
#include "cli/command/image_files.h"
#include "cli/command/rank_processes.h"
#include "cli/command/run_setup.h"
#include "cli/face/measured_figures.h"
#include "cli/face/output.h"
#include "cli/face/prediction.h"
#include "cli/face/progress.h"
#include "cli/face/run_output.h"
#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "cli/face/words.h"
#include "core/base/printable.h"
#include "core/graph/build.h"
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

constexpr std::int64_t kUsualTestImages = 2000;

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
    for (const std::string_view path : {"training.first_step", "training.optimizer_implementation",
                                        "training.offload_pin_memory", "training.compile"}) {
        const core::Key& key = *core::findKey(path);
        const bool changed = core::valueOf(scenario, key) != core::valueOf(core::Scenario{}, key);
        // The scenario's own first_step is out of use by now.
        if (scenario.given(path) && (changed || path == "training.first_step") &&
            std::ranges::find(unused, path) == unused.end())
            unused.emplace_back(path);
    }
    return unused;
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
    test.config = {training.device,      *vit,  training.plan.precision,
                   workloadOf(training), count, training.plan.mesh.size()};
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
        const timeline::Breakdown& t = rank.typical.breakdown;
        row.set("compute_ns", Document::of(t.compute));
        row.set("exposed_transfer_ns", Document::of(t.transfer));
        row.set("exposed_copy_ns", Document::of(t.copy));
        row.set("waiting_ns", Document::of(t.waiting));
        row.set("idle_ns", Document::of(t.idle));
        row.set("step_ns", Document::of(t.step));
        ranks.items.push_back(std::move(row));
    }
    out.set("losses", std::move(losses));
    out.set("step_ns", std::move(steps));
    out.set("ranks", std::move(ranks));
    return out;
}

/// All but the timeline.
formats::RunFile runFileOf(const RunSetUp& setUp, const Document& about, const Document& machine) {
    core::Scenario scenario = setUp.loaded.scenario;
    scenario.parallelism.strategy = setUp.resolved.cases.front().plan.name;
    scenario.training.compile = setUp.config.plan.compiled;
    formats::RunFile run;
    run.about = about;
    run.scenario = core::writeScenario(scenario);
    if (!scenario.model.path.empty() || !scenario.cluster.path.empty()) run.folder = setUp.folder;
    run.machine = machine;
    return run;
}

std::string textOf(const runtime::TrainReport& report, const core::Case& one, const TextStyle& style) {
    const bool processes = !report.clocks.empty();
    std::string out = fmt::format("\nA step, measured on {} {}{}{}\n", report.ranks.size(),
                                  processes                  ? "process"
                                  : report.ranks.size() == 1 ? "thread"
                                                             : "threads",
                                  processes ? (report.ranks.size() == 1 ? "" : "es") : " of this machine",
                                  report.stepNs.size() > 1 ? " (medians over the steps)" : "");
    TextTable table({"rank", "compute", "transfer", "copy", "waiting", "idle", "step", "peak memory"},
                    std::vector<Align>(8, Align::Right));
    for (const runtime::RankReport& rank : report.ranks) {
        const timeline::Breakdown& t = rank.typical.breakdown;
        table.row({std::to_string(rank.rank), durationText(t.compute), durationText(t.transfer), durationText(t.copy),
                   durationText(t.waiting), durationText(t.idle), durationText(t.step), bytesText(rank.peakTotal)});
    }
    out += table.text(2);
    const PicturedPlan plan{one.plan.name, "", &report.timeline};
    out += "\nWho works when, in the last step\n" + textPicture({&plan, 1}, style);
    if (processes) out += clockText(report.clocks);
    return out + "  Times are those of this machine's cores, which the ranks share; they are no forecast of a GPU.\n";
}

/// `kept`: the machine's times, as whoever predicts it again will read them.
Result<PredictedRun> predictionOf(const Arguments& arguments, const RunSetUp& setUp, const core::StepGraph& graph,
                                  core::MachineTimes machine, Document& kept) {
    kept = core::documentOf(machine);
    SHARDSCOPE_ASSIGN(machine, core::parseMachineTimes(kept, "machine"));
    return predictRun(graph, setUp.model, machine).map_error([&](core::Error error) {
        if (!arguments.machine.empty()) error.where = "--machine " + arguments.machine;
        return error;
    });
}

/// What makes a run slower than its device is known to be.
std::string notesOnKernels(const runtime::TrainConfig& config, const core::Model& model) {
    const core::DType dtype = config.plan.precision.compute();
    std::string notes;
    if (runtime::computesWider(config.device, dtype))
        notes +=
            "Note: products of bfloat16 need AVX-512, which oneDNN does not find here: they are computed in float32 "
            "and rounded, and take as long as those of float32.\n";
    if (runtime::leavesToLoops(config.device, dtype))
        notes +=
            "Note: the cpu device has no fast kernels of float16: what is in it is computed in plain loops, many times "
            "slower than float32 or bfloat16.\n";
    const auto drawn = [&](const core::Kernel& kernel) { return runtime::leavesToLoops(config.device, kernel); };
    if (std::any_of(model.programs.begin(), model.programs.end(), [&](const core::Program& program) {
            return std::any_of(program.forward.begin(), program.forward.end(), drawn);
        }))
        notes +=
            "Note: the cpu device has no fast kernels that drop by chance: with dropout, attention and the masks are "
            "computed in plain loops, many times slower.\n";
    return notes;
}

}  // namespace

Result<void> runTraining(const Arguments& arguments, const TextStyle& style) {
    if (runtime::launchedRank()) runtime::followLauncher();
    SHARDSCOPE_TRY(checkOutputs(arguments.outputs));
    if (!runtime::launchedRank()) {
        const std::string read[] = {arguments.machine, arguments.input, arguments.data};
        SHARDSCOPE_TRY(checkLog(arguments.logJson, arguments.outputs, read));
    }
    SHARDSCOPE_ASSIGN(RunSetUp setUp, setUpRun(arguments));
    const core::Resolved& resolved = setUp.resolved;
    const core::Case& one = resolved.cases.front();
    const core::Model& model = setUp.model;
    runtime::TrainConfig& config = setUp.config;
    const core::Mesh& mesh = config.plan.mesh;
    const std::int64_t images = setUp.images;
    const std::string schedule = !arguments.schedule.empty() ? arguments.schedule
                                 : setUp.pass > 0            ? "cosine"
                                                             : "constant";
    config.schedule = *runtime::scheduleCalled(schedule);
    SHARDSCOPE_ASSIGN(const Test test, testOf(arguments, config, setUp.pass > 0));
    config.keepParameters = test.images != nullptr;
    SHARDSCOPE_ASSIGN(const RankPlacement placement, placementOf(arguments, config.device, mesh.size()));
    if (placement.kind == RankPlacement::Kind::OneRank) return runOneRank(config, placement, arguments);
    const bool processes = placement.kind != RankPlacement::Kind::Threads;
    Document kept;
    std::optional<PredictedRun> predicted;
    std::optional<core::StepGraph> graph;  // that is predicted
    const bool measures = arguments.compare && arguments.machine.empty();
    std::vector<core::MachineTimes> machines;
    const auto measureMachine = [&]() -> Result<void> {
        SHARDSCOPE_ASSIGN(core::MachineTimes machine, calibrateFor(config, *graph, processes, arguments.program));
        machines.push_back(std::move(machine));
        return {};
    };
    if (measures || !arguments.machine.empty()) {
        SHARDSCOPE_ASSIGN(graph, core::buildStepGraph(model, config.plan));
    }
    if (!arguments.machine.empty()) {
        SHARDSCOPE_ASSIGN(core::MachineTimes machine,
                          loadMachineTimes(arguments.machine, config, processes, arguments.program));
        SHARDSCOPE_ASSIGN(predicted, predictionOf(arguments, setUp, *graph, std::move(machine), kept));
    }

    std::vector<std::string> unused = unusedInRun(setUp.loaded.scenario, resolved);
    // Threads wait for one another without a limit.
    if (!processes && arguments.timeout > 0) unused.emplace_back("--timeout");
    if (!processes && arguments.joinTimeout > 0) unused.emplace_back("--join-timeout");
    std::string notes = arguments.noSetEpoch ? repeatedOrder(images, mesh.dpReplicate * mesh.dpShard) : std::string();
    notes += notesOnKernels(config, model);
    Progress::Options options;
    options.steps = config.steps;
    options.ranks = mesh.size();
    options.globalBatch = resolved.globalBatch;
    options.sampleWord = model.sampleWord;
    options.header = fmt::format("{}: {} on {} {}, {} samples a step{}, {} {}{}\n", model.name, config.plan.name,
                                 mesh.size(), mesh.size() == 1 ? "rank" : "ranks", resolved.globalBatch,
                                 setUp.batchReason.empty() ? "" : " (" + setUp.batchReason + ")", config.steps,
                                 config.steps == 1 ? "step" : "steps",
                                 setUp.pass > 0 ? fmt::format(": one pass over {} images", groupedDigits(images)) : "");
    for (const std::string& key : unused) options.header += unusedInWords(key);
    if (test.images != nullptr && test.images->size() < arguments.testImages)
        options.header +=
            fmt::format("  --test-images {}: only {} are there\n", arguments.testImages, test.images->size());
    options.header = core::printableLines(options.header + notes);
    options.terminal = style.terminal;
    options.width = style.width;
    options.quiet = arguments.json;
    options.log = arguments.logJson;
    SHARDSCOPE_ASSIGN(const std::unique_ptr<Progress> progress,
                      Progress::create(std::move(options), printColoured, [](const core::Error& error) {
                          std::fputs(complaintOf(error).c_str(), stderr);
                      }));
    config.progress = [&progress](const runtime::RankStep& step) { progress->add(step); };
    // On both sides of the run, as a machine's speed changes; only after it where ranks started by hand wait for this
    // one.
    if (measures && placement.kind != RankPlacement::Kind::Server) SHARDSCOPE_TRY(measureMachine());
    const auto trained = trainAs(config, placement, arguments);
    const auto told = progress->finish();
    if (!trained) return tl::unexpected(setUp.loaded.scenario.located(trained.error()));
    SHARDSCOPE_TRY(told);
    const runtime::TrainReport& report = *trained;
    std::optional<runtime::Evaluation> evaluation;
    if (test.images != nullptr) {
        SHARDSCOPE_ASSIGN(evaluation, runtime::evaluate(test.config, report.parameters, *test.images));
    }
    if (measures) {
        SHARDSCOPE_TRY(measureMachine());
        SHARDSCOPE_ASSIGN(core::MachineTimes machine, core::meanOf(std::move(machines)));
        SHARDSCOPE_ASSIGN(predicted, predictionOf(arguments, setUp, *graph, std::move(machine), kept));
    }
    const std::vector<RunFigure> measured = figuresOf(report);
    std::vector<PredictedFigure> figures;
    if (predicted) figures = sideBySide(figuresOf(*predicted), measured);
    Document out = jsonOf(report, one);
    out.set("model", Document::of(model.name));
    out.set("device", Document::of(arguments.device));
    Document& data = out.set("data", Document::table());
    data.set("source", Document::of(arguments.data.empty() ? "generated grey shapes" : arguments.data));
    data.set("images", Document::of(images));
    out.set("lr_schedule", Document::of(schedule));
    out.set("machine", documentOf(machineOfRun(config, processes, arguments.program)));
    out.set("measured", figuresDocument(measured));
    if (predicted) out.set("prediction", predictionDocument(figures));
    if (evaluation) out.set("evaluation", documentOf(*evaluation));
    out.set("unused", listOf(unused));
    // A file that cannot be written is an error in the end, and keeps nobody from the rest.
    Result<void> written;
    if (!progress->logged()) written = fail(ErrorCode::Io, "");  // told when it happened
    for (const std::string& path : arguments.outputs)
        if (auto file = writeRun(report, config.plan.name, runFileOf(setUp, out, kept), path); !file && written)
            written = std::move(file);
    if (arguments.json) {
        std::fputs(notes.c_str(), stderr);
        SHARDSCOPE_TRY(print(core::writeJson(out) + "\n"));
        return written;
    }
    if (evaluation)
        SHARDSCOPE_TRY(print(fmt::format(
            "\n{} of {} test images right: {:.1f} % (by chance {:.0f} %), loss {:.4f}, asked in {}\n",
            groupedDigits(evaluation->right), groupedDigits(evaluation->images), evaluation->accuracy() * 100,
            100.0 / static_cast<double>(test.images->classes()), evaluation->loss, durationText(evaluation->ns))));
    SHARDSCOPE_TRY(printColoured(textOf(report, one, style)));
    if (predicted) SHARDSCOPE_TRY(print(predictionText(figures)));
    return written;
}

}  // namespace shardscope::cli
