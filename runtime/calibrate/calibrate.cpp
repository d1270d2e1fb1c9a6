#include "runtime/calibrate/calibrate.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/base/median.h"
#include "core/graph/build.h"
#include "runtime/calibrate/measure_transfers.h"
#include "runtime/calibrate/timed_device.h"
#include "runtime/communicator/thread_communicator.h"
#include "runtime/train/initial_values.h"

namespace shardscope::runtime {

using core::medianOf;
using core::Result;

namespace {

constexpr std::int64_t kUnmeasuredSteps = 2;  // kernels are made, memory is touched for the first time
constexpr std::int64_t kRepeats = 15;

/// Samples of the model's shapes; what they show does not matter.
Batch anyBatch(const core::Model& model) {
    Batch batch;
    batch.seeds.assign(static_cast<std::size_t>(model.workload.batch), 0);
    for (const core::Program& program : model.programs)
        for (std::size_t t = 0; t < program.tensors.size(); ++t) {
            const core::Tensor& tensor = program.tensors[t];
            const bool owner = !tensor.storage.valid() || tensor.storage.index() == t;
            if (tensor.role != core::TensorRole::Batch || !owner) continue;
            const auto elements = static_cast<std::size_t>(core::elementsOf(tensor.shape));
            if (tensor.slot == 1) {
                batch.labels.assign(elements, 0);
            } else if (tensor.dtype == core::DType::I64) {
                batch.ids.assign(elements, 0);
            } else {
                batch.values.resize(elements);
                for (std::size_t i = 0; i < elements; ++i) batch.values[i] = static_cast<float>(i % 251) / 251.0f;
            }
        }
    return batch;
}

/// What the ranks of one measurement have seen, all together.
struct Seen {
    std::mutex mutex;
    CallTimes calls;
    std::vector<double> issue;

    void add(const CallTimes& times, const std::vector<double>& issued) {
        const std::lock_guard lock(mutex);
        for (const auto& [signature, seconds] : times.kernels) {
            std::vector<double>& all = calls.kernels[signature];
            all.insert(all.end(), seconds.begin(), seconds.end());
        }
        calls.copies.insert(calls.copies.end(), times.copies.begin(), times.copies.end());
        calls.updates.insert(calls.updates.end(), times.updates.begin(), times.updates.end());
        issue.insert(issue.end(), issued.begin(), issued.end());
    }
};

/// Copies at sizes from a page to well beyond the caches.
Result<void> copySomeBytes(Device& device, const core::Precision& precision) {
    const StreamIndex stream = device.openStream("calibrate");
    for (std::int64_t elements = 1024; elements <= (1 << 20); elements *= 4) {
        const auto bytes = elements * core::sizeOf(core::DType::F32);
        SHARDSCOPE_ASSIGN(const Memory from, device.allocate(core::MemoryCategory::Workspace, bytes, stream));
        SHARDSCOPE_ASSIGN(const Memory to, device.allocate(core::MemoryCategory::Workspace, bytes, stream));
        const TensorView source{from.data, precision.original, {elements}, {}};
        const TensorView target{to.data, precision.compute(), {elements}, {}};
        SHARDSCOPE_TRY(device.fill(stream, source, 1));
        for (std::int64_t i = 0; i < kRepeats; ++i) SHARDSCOPE_TRY(device.copy(stream, source, target));
        SHARDSCOPE_TRY(device.synchronize());
        device.forgetEvents();
        device.release(from);
        device.release(to);
    }
    return {};
}

/// One rank by itself, while others do the same.
Result<void> stepsOfRank(const CalibrateConfig& config, const core::Model& model, const core::StepGraph& graph,
                         const ParameterValues& initial, const Executor::CommunicatorSource& communicators,
                         Seen& seen) {
    const std::unique_ptr<Device> inner = deviceOf(config.device);
    TimedDevice device(*inner, model);
    std::vector<double> issued;
    {
        SHARDSCOPE_ASSIGN(const std::unique_ptr<Executor> executor,
                          Executor::create(model, graph, 0, device, communicators));
        for (std::size_t p = 0; p < initial.size(); ++p)
            SHARDSCOPE_TRY(executor->loadParameter(core::ParameterId(p), initial[p]));
        const Batch batch = anyBatch(model);
        const auto batches = [&](std::uint16_t) -> Result<Batch> { return batch; };
        for (std::int64_t step = 0; step < kUnmeasuredSteps + config.steps; ++step) {
            std::int64_t ops = 0, first = 0, last = 0;
            StepObserver observer;
            observer.launched = [&](core::OpId, const LiveBytes&) {
                last = device.now();
                if (ops++ == 0) first = last;
            };
            SHARDSCOPE_TRY(executor->runStep(batches, observer));
            if (step < kUnmeasuredSteps)
                device.clear();
            else if (ops > 1)
                issued.push_back(static_cast<double>(last - first) * 1e-9 / static_cast<double>(ops - 1));
        }
    }
    CallTimes calls = device.times();
    device.clear();
    calls.copies.clear();
    SHARDSCOPE_TRY(copySomeBytes(device, config.plan.precision));
    calls.copies = device.times().copies;
    seen.add(calls, issued);
    return {};
}

/// `busy` ranks at once, each with a model of its own.
Result<core::ComputeTimes> computeTimes(const CalibrateConfig& config, const core::Model& model,
                                        const core::StepGraph& graph, std::int64_t busy, double& issue) {
    const ParameterValues initial = initialParameters(model, 0);
    Seen seen;
    ThreadWorld world(busy);
    SHARDSCOPE_TRY(world.run([&](std::int64_t rank) {
        const auto alone = [&](const std::string& name, const std::vector<std::int64_t>&) {
            return world.communicator(name, {rank}, rank);
        };
        return stepsOfRank(config, model, graph, initial, alone, seen);
    }));
    core::ComputeTimes times;
    times.busy = busy;
    for (auto& [signature, seconds] : seen.calls.kernels) times.kernels[signature] = medianOf(std::move(seconds));
    times.copy = core::fitTime(seen.calls.copies);
    // The graph counts what an update reads and writes, the device the parameter.
    double parameters = 0, touched = 0;
    for (const core::Parameter& parameter : model.parameters)
        if (!parameter.frozen)
            parameters +=
                static_cast<double>(core::elementsOf(parameter.shape) * core::sizeOf(config.plan.precision.original));
    for (const core::Op& op : graph.ops)
        if (op.kind == core::OpKind::OptimizerStep) touched += static_cast<double>(op.read.value + op.written.value);
    times.optimizer = core::fitTime(seen.calls.updates);
    if (touched > 0) times.optimizer.perByte *= parameters / touched;
    issue = config.device == DeviceKind::Cpu ? medianOf(std::move(seen.issue)) : 0;
    return times;
}

}  // namespace

Result<core::MachineTimes> calibrate(const CalibrateConfig& config) {
    SHARDSCOPE_ASSIGN(const core::Model model, core::buildModel(config.model, config.workload));
    core::Plan alone;
    alone.policy = core::UnitPolicy::None;
    alone.optimizer = config.plan.optimizer;
    alone.precision = config.plan.precision;
    SHARDSCOPE_ASSIGN(const core::StepGraph graph, core::buildStepGraph(model, alone));

    core::MachineTimes times;
    times.processor = config.processor;
    times.device = nameOf(config.device);
    times.cores = config.cores;
    std::vector<std::int64_t> busy{1};
    if (const std::int64_t most = std::min(config.ranks, config.cores); most > 1) busy.push_back(most);
    for (const std::int64_t count : busy) {
        SHARDSCOPE_ASSIGN(core::ComputeTimes one, computeTimes(config, model, graph, count, times.issue));
        times.compute.push_back(std::move(one));
    }
    for (const std::int64_t size : config.groups) {
        SHARDSCOPE_ASSIGN(core::TransferTimes measured, measureTransfers(size, config.transport, config.wrap));
        times.transfers.push_back(measured);
    }
    return times;
}

}  // namespace shardscope::runtime
