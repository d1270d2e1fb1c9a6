#include "cli/command/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "cli/command/run_setup.h"
#include "cli/face/files.h"
#include "cli/face/output.h"
#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "core/base/printable.h"
#include "core/graph/build.h"
#include "runtime/calibrate/calibrate.h"
#include "runtime/data/grey_shapes.h"
#include "runtime/machine/machine.h"
#include "traces/formats/sink.h"

namespace shardscope::cli {

using core::Result;

namespace {

runtime::Machine machineOf(const std::string& program) {
    const std::size_t slash = program.find_last_of('/');
    return runtime::inspectMachine(slash == std::string::npos ? "." : program.substr(0, slash));
}

std::int64_t coresOf(const runtime::Machine& machine) {
    return std::max(machine.cores, 1);
}

const char* transportName(bool processes) {
    return processes ? "gloo" : "threads";
}

std::string nanoseconds(double seconds) {
    return durationText(core::fromSeconds(seconds).ns);
}

std::string lineText(const core::TimeOfBytes& time) {
    return time.perByte > 0 ? fmt::format("{} + {:.3g} GB/s", nanoseconds(time.start), 1e-9 / time.perByte)
                            : nanoseconds(time.start);
}

/// Of 64 KiB, alone and beside kernels.
std::string callText(const core::CallTime& call) {
    const core::CallSample sample = call.at(64 << 10);
    return fmt::format("{} / {}", nanoseconds(sample.alone), nanoseconds(sample.busy));
}

std::string textOf(const core::MachineTimes& times) {
    std::string out = fmt::format("{} ({} {}), {} device\n\n", times.processor, times.cores,
                                  times.cores == 1 ? "core" : "cores", times.device);
    TextTable compute({"ranks at work", "kernels", "all of them once", "copies", "optimizer"},
                      {Align::Right, Align::Right, Align::Right, Align::Left, Align::Left});
    for (const core::ComputeTimes& one : times.compute) {
        double sum = 0;
        for (const auto& [signature, seconds] : one.kernels) sum += seconds;
        compute.row({std::to_string(one.busy), std::to_string(one.kernels.size()), nanoseconds(sum), lineText(one.copy),
                     lineText(one.optimizer)});
    }
    out += compute.text(2);
    if (!times.transfers.empty()) {
        TextTable transfers({"ranks", "all-gather", "reduce-scatter", "all-reduce", "message"},
                            {Align::Right, Align::Left, Align::Left, Align::Left, Align::Left});
        for (const core::TransferTimes& one : times.transfers)
            transfers.row({std::to_string(one.ranks), callText(one.allGather), callText(one.reduceScatter),
                           callText(one.allReduce), callText(one.message)});
        out += "\n" + transfers.text(2) + "  of 64 KiB: alone / while every rank computes\n";
    }
    const core::HostTimes& host = times.host;
    return out + fmt::format(
                     "\n  issuing an op takes {} and {} a kernel, a stream that slept goes on after {}, beside kernels "
                     "after {}\n",
                     nanoseconds(host.issueOp), nanoseconds(host.issueCall), nanoseconds(host.wake),
                     nanoseconds(host.wakeBusy));
}

}  // namespace

Result<core::MachineTimes> calibrateFor(const runtime::TrainConfig& config, const core::StepGraph& graph,
                                        bool processes, const std::string& program) {
    const runtime::Machine machine = machineOf(program);
    runtime::CalibrateConfig wanted;
    wanted.device = config.device;
    wanted.model = config.model;
    wanted.plan = config.plan;
    wanted.workload = workloadOf(config);
    wanted.ranks = config.plan.mesh.size();
    wanted.processor = machine.processor;
    wanted.cores = coresOf(machine);
    wanted.transport = processes ? runtime::Transport::Gloo : runtime::Transport::Threads;
    if (const auto* vit = std::get_if<core::VitSpec>(&config.model)) {
        const std::shared_ptr<const runtime::ImageSet> images =
            config.images != nullptr
                ? config.images
                : std::make_shared<runtime::GreyShapes>(runtime::Split::Train, config.batch, vit->imageSize);
        std::vector<std::int64_t> indices(static_cast<std::size_t>(config.batch));
        for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i) % images->size();
        wanted.data = [images, indices, channels = vit->channels]() -> Result<runtime::Batch> {
            return runtime::batchOf(*images, indices, channels);
        };
    }
    std::set<std::int64_t> sizes;
    for (const core::Op& op : graph.ops)
        if (op.group.valid()) {
            const bool message = op.kind == core::OpKind::Send || op.kind == core::OpKind::Receive;
            const std::int64_t size = message ? 2 : graph.groups[op.group.index()].size;
            if (size > 1) sizes.insert(size);
        }
    wanted.groups.assign(sizes.begin(), sizes.end());
    SHARDSCOPE_ASSIGN(core::MachineTimes times, runtime::calibrate(wanted));
    times.transport = transportName(processes);
    times.link = config.link;
    return times;
}

RunMachine machineOfRun(const runtime::TrainConfig& config, bool processes, const std::string& program) {
    const runtime::Machine machine = machineOf(program);
    return {machine.processor,        std::string(runtime::nameOf(config.device)),
            transportName(processes), coresOf(machine),
            config.plan.mesh.size(),  config.link};
}

Result<core::MachineTimes> loadMachineTimes(const std::string& path, const runtime::TrainConfig& config, bool processes,
                                            const std::string& program) {
    return readTimesFor(machineOfRun(config, processes, program), path, "this run");
}

Result<void> runCalibrate(const Arguments& arguments, const TextStyle&) {
    SHARDSCOPE_TRY(checkOutputs(arguments.outputs));
    for (const std::string& path : arguments.outputs) {
        SHARDSCOPE_ASSIGN(const OutputKind kind, outputKindOf(path));
        if (kind != OutputKind::Trace)
            return core::fail(core::ErrorCode::Usage, "a machine's times are written as JSON", "-o " + path,
                              "name a file that ends in .json");
    }
    SHARDSCOPE_ASSIGN(const RunSetUp setUp, setUpRun(arguments));
    SHARDSCOPE_ASSIGN(const core::StepGraph graph, core::buildStepGraph(setUp.model, setUp.config.plan));
    const bool processes = arguments.ranksAs != "threads" && setUp.config.device == runtime::DeviceKind::Cpu;
    SHARDSCOPE_ASSIGN(const core::MachineTimes times, calibrateFor(setUp.config, graph, processes, arguments.program));
    const std::string document = core::writeJson(core::documentOf(times)) + "\n";
    for (const std::string& path : arguments.outputs) {
        formats::FileSink sink(path);
        sink.write(document);
        SHARDSCOPE_TRY(sink.finish());
    }
    return print(arguments.json ? document : textOf(times));
}

}  // namespace shardscope::cli
