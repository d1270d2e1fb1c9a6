#include "tests/gui/small_run.h"

#include <fmt/format.h>

#include <QFile>

#include "cli/face/load.h"
#include "cli/face/prediction.h"
#include "cli/face/run_machine.h"
#include "core/graph/build.h"
#include "core/scenario/resolve.h"
#include "traces/formats/sink.h"
#include "traces/timeline/graph_flows.h"

namespace shardscope::gui {

namespace {

core::MachineTimes timesFor(const core::Model& model) {
    core::MachineTimes times;
    times.processor = "a processor";
    times.device = "cpu";
    times.transport = "gloo";
    times.cores = 2;
    times.host.issueOp = 1e-6;
    times.compute.resize(1);
    for (const core::Program& program : model.programs)
        for (const auto* kernels : {&program.forward, &program.backward})
            for (const core::Kernel& kernel : *kernels)
                times.compute[0].kernels[core::kernelSignature(program, kernel)] = 2e-5;
    times.compute[0].copy = {1e-7, 1e-10};
    times.compute[0].optimizer = {1e-7, 1e-10};
    const auto call = [](double seconds) { return core::CallTime{{{1 << 20, seconds, 2 * seconds, seconds / 2}}}; };
    times.transfers.push_back({2, call(1e-3), call(2e-3), call(3e-3), call(4e-3)});
    return times;
}

/// A row a rank, as an executed step has it.
timeline::Timeline stretched(const timeline::Timeline& of, const core::StepGraph& graph) {
    timeline::Timeline t;
    t.strings = of.strings;
    t.groups = of.groups;
    std::vector<timeline::RankOps> ranks;
    for (std::uint32_t r = 0; r < 2; ++r) {
        const auto at = [&](std::int64_t ns) { return ns * (11 + r) / 10; };
        timeline::RankRow row = of.ranks[0];
        row.rank = r;
        row.multiplicity = 1;
        row.name = t.strings.intern(fmt::format("rank {}", r));
        row.laneBegin = static_cast<std::uint32_t>(t.lanes.size());
        row.stepEnd = at(of.end);
        for (timeline::Lane lane : of.lanes) {
            lane.rank = r;
            lane.multiplicity = 1;
            lane.rankName = row.name;
            lane.rankIndex = r;
            t.lanes.push_back(lane);
        }
        row.laneEnd = static_cast<std::uint32_t>(t.lanes.size());
        t.ranks.push_back(row);
        ranks.push_back({r, core::ClassId(std::size_t{0}), std::vector<std::uint32_t>(graph.ops.size())});
        const timeline::Spans& s = of.spans;
        for (std::size_t i = 0; i < s.size(); ++i)
            ranks[r].span[s.op[i]] = timeline::append(
                t, {row.laneBegin + s.lane[i], at(s.start[i]), at(s.end[i]), at(s.transferStart[i]), s.name[i],
                    s.unit[i], static_cast<timeline::SpanKind>(s.kind[i]), static_cast<core::Phase>(s.phase[i]),
                    static_cast<timeline::Activity>(s.activity[i]), s.microBatch[i], s.op[i], s.bytes[i], s.dtype[i],
                    s.group[i], timeline::kNotIssued});
    }
    timeline::addGraphFlows(graph, ranks, true, t);
    timeline::arrange(t);
    return t;
}

}  // namespace

SmallRun smallRun(bool predicted) {
    const std::string overrides[] = {"cluster.nodes=2", "cluster.gpus_per_node=1", "training.local_batch_size=2",
                                     "precision.mixed_precision_param=none", "precision.mixed_precision_reduce=none"};
    const cli::Loaded loaded = *cli::load("vit_tiny", overrides);
    const core::Resolved resolved = *core::resolve(loaded.scenario, loaded.inputs);
    const core::Model model = *core::buildModel(resolved.model, resolved.cases.front().workload);
    const core::StepGraph graph = *core::buildStepGraph(model, resolved.cases.front().plan);
    SmallRun run;
    run.times = timesFor(model);
    const cli::PredictedRun forecast = *cli::predictRun(graph, model, run.times);
    run.file.timeline = stretched(forecast.timeline, graph);
    run.file.scenario = core::writeScenario(loaded.scenario);
    if (predicted) run.file.machine = core::documentOf(run.times);
    const auto measured = cli::runFigures(static_cast<double>(run.file.timeline.end),
                                          cli::meanTimes(run.file.timeline, timeline::breakdownOf(run.file.timeline)),
                                          forecast.peak + 4096);
    core::Document& about = run.file.about = core::Document::table();
    about.set("model", core::Document::of(model.name));
    about.set("global_batch_size", core::Document::of(resolved.globalBatch));
    about.set("graph_hash", core::Document::of(fmt::format("{:016x}", graph.hash)));
    about.set("machine", cli::documentOf(cli::RunMachine{"a processor", "cpu", "gloo", 2, 2, {}}));
    about.set("measured", cli::figuresDocument(measured));
    return run;
}

void write(const formats::RunFile& run, const QString& path) {
    std::unique_ptr<formats::Sink> sink = std::make_unique<formats::FileSink>(path.toStdString());
    if (path.endsWith(QLatin1String(".gz"))) sink = std::make_unique<formats::GzipSink>(std::move(sink));
    formats::writeRunFile(run, "gloo", *sink);
    if (const auto finished = sink->finish(); !finished) qFatal("%s", core::describe(finished.error()).c_str());
}

void write(const core::MachineTimes& times, const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write %s", qPrintable(path));
    file.write(QByteArray::fromStdString(core::writeJson(core::documentOf(times))));
}

}  // namespace shardscope::gui
