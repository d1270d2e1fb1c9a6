#include "runtime/calibrate/calibrate.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "core/base/median.h"
#include "core/graph/build.h"
#include "runtime/calibrate/measure_transfers.h"
#include "runtime/calibrate/processor_time.h"
#include "runtime/calibrate/timed_device.h"
#include "runtime/communicator/thread_communicator.h"
#include "runtime/device/short_slices.h"
#include "runtime/train/initial_values.h"

namespace shardscope::runtime {

using core::medianOf;
using core::Result;

namespace {

constexpr auto kUnmeasuredSteps = static_cast<std::int64_t>(kWarmUpSteps);
constexpr std::int64_t kRepeats = 15;

/// Samples of the model's shapes; what they show does not matter.
Batch anyBatch(const core::Model& model) {
    Batch batch;
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
    std::vector<double> stepKernels;       ///< by step: its kernels' times, summed up
    std::vector<core::BytesSample> issue;  ///< of ops: calls of the device, seconds
    std::vector<double> data, begin, finish, wake, wakeBusy;

    void add(const Seen& rank) {
        const std::lock_guard lock(mutex);
        for (const auto& [signature, seconds] : rank.calls.kernels) append(calls.kernels[signature], seconds);
        append(calls.copies, rank.calls.copies);
        append(calls.updates, rank.calls.updates);
        append(stepKernels, rank.stepKernels);
        append(issue, rank.issue);
        append(data, rank.data);
        append(begin, rank.begin);
        append(finish, rank.finish);
        append(wake, rank.wake);
        append(wakeBusy, rank.wakeBusy);
    }

    template <typename T>
    static void append(std::vector<T>& all, const std::vector<T>& more) {
        all.insert(all.end(), more.begin(), more.end());
    }

    void addTimedStep(const CallTimes& step) {
        double sum = 0;
        for (const auto& [signature, seconds] : step.kernels) {
            append(calls.kernels[signature], seconds);
            for (const double one : seconds) sum += one;
        }
        stepKernels.push_back(sum);
        append(calls.updates, step.updates);
    }
};

/// How long a stream that waits for another one's event takes to go on; `keepsOn`: while the first one computes on.
Result<void> measureWaking(Device& device, bool keepsOn, std::vector<double>& seconds) {
    const StreamIndex first = device.openStream("calibrate", StreamWork::Kernels);
    const StreamIndex second = device.openStream("calibrate wake", StreamWork::Kernels);
    for (std::int64_t i = 0; i < 2 * kRepeats; ++i) {
        const auto compute = [&device]() -> Result<void> {
            constexpr std::int64_t kWork = 500'000;  // ns: long enough for the other to fall asleep
            const std::int64_t until = device.now() + kWork;
            while (device.now() < until) {
            }
            return {};
        };
        SHARDSCOPE_TRY(device.enqueue(first, compute));
        const Event ended = device.record(first);
        for (int more = 0; keepsOn && more < 8; ++more) SHARDSCOPE_TRY(device.enqueue(first, compute));
        device.wait(second, ended);
        const Event woken = device.record(second);
        SHARDSCOPE_TRY(device.synchronize());
        seconds.push_back(static_cast<double>(device.timeOf(woken) - device.timeOf(ended)) * 1e-9);
        device.forgetEvents();
    }
    return {};
}

/// Copies at sizes from a page to beyond a core's caches, each at another place of a larger piece of memory: a step
/// touches more between two copies than the caches hold.
Result<void> copySomeBytes(Device& device, const core::Precision& precision) {
    constexpr std::int64_t kElements = std::int64_t{1} << 22;
    const StreamIndex stream = device.openStream("calibrate", StreamWork::Kernels);
    const std::int64_t sourceSize = core::sizeOf(precision.original), targetSize = core::sizeOf(precision.compute());
    SHARDSCOPE_ASSIGN(const Memory from,
                      device.allocate(core::MemoryCategory::Workspace, kElements * sourceSize, stream));
    SHARDSCOPE_ASSIGN(const Memory to,
                      device.allocate(core::MemoryCategory::Workspace, kElements * targetSize, stream));
    SHARDSCOPE_TRY(device.fill(stream, {from.data, precision.original, {kElements}, {}}, 1));
    SHARDSCOPE_TRY(device.fill(stream, {to.data, precision.compute(), {kElements}, {}}, 1));
    for (std::int64_t elements = 128; elements <= (1 << 18); elements *= 8)
        for (std::int64_t i = 0; i < kRepeats; ++i) {
            const std::int64_t places = kElements / elements, place = i * (places / kRepeats) * elements;
            SHARDSCOPE_TRY(device.copy(stream, {from.data + place * sourceSize, precision.original, {elements}, {}},
                                       {to.data + place * targetSize, precision.compute(), {elements}, {}}));
        }
    SHARDSCOPE_TRY(device.synchronize());
    device.forgetEvents();
    device.release(from);
    device.release(to);
    return {};
}

/// What a step without timed calls shows of the host.
class HostWatch {
public:
    HostWatch(const core::StepGraph& graph, Seen& own) : m_graph(graph), m_own(own) {}

    [[nodiscard]] StepObserver observer() {
        m_last = -1;
        StepObserver observer;
        observer.launched = [this](core::OpId op, const LiveBytes&) {
            const std::int64_t now = threadTime();  // streams may have taken the core meanwhile
            // Of ops whose calls of the device are their kernels.
            const core::Op& issued = m_graph.ops[op.index()];
            if (m_last >= 0 && issued.kind == core::OpKind::Compute)
                m_issued.push_back({static_cast<double>(issued.kernels.count), seconds(now - m_last)});
            m_last = now;
        };
        return observer;
    }

    void ended(const StepOutcome& outcome) {
        Seen::append(m_own.issue, m_issued);
        m_issued.clear();
        std::int64_t first = outcome.end, last = outcome.begin;
        for (const OpTimes& times : outcome.times) {
            first = std::min(first, times.start);
            last = std::max(last, times.end);
        }
        m_own.begin.push_back(seconds(first - outcome.begin));
        m_own.finish.push_back(seconds(outcome.end - last));
    }

private:
    static double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

    const core::StepGraph& m_graph;
    Seen& m_own;
    std::int64_t m_last = -1;
    std::vector<core::BytesSample> m_issued;
};

/// One rank by itself, while others do the same.
Result<void> stepsOfRank(const CalibrateConfig& config, const core::Model& model, const core::StepGraph& graph,
                         const ParameterValues& initial, const Executor::CommunicatorSource& communicators,
                         Seen& seen) {
    const std::unique_ptr<Device> inner = deviceOf(config.device);
    TimedDevice device(*inner, model);
    Seen own;
    {
        SHARDSCOPE_ASSIGN(const std::unique_ptr<Executor> executor,
                          Executor::create(model, graph, 0, device, communicators));
        for (std::size_t p = 0; p < initial.size(); ++p)
            SHARDSCOPE_TRY(executor->loadParameter(core::ParameterId(p), initial[p]));
        const Batch batch = anyBatch(model);
        const auto batches = [&](std::uint16_t) -> Result<Batch> { return batch; };
        const auto seeds = [&](std::uint16_t) {
            return std::vector<std::uint64_t>(static_cast<std::size_t>(model.workload.batch), 0);
        };
        HostWatch host(graph, own);
        const ShortSlices ofHost;  // as in training
        for (std::int64_t step = 0; step < kUnmeasuredSteps + 2 * config.steps; ++step) {
            const bool timed = step % 2 == 0;
            device.timeCalls(timed);
            SHARDSCOPE_ASSIGN(const StepOutcome outcome,
                              executor->runStep(batches, seeds, timed ? StepObserver{} : host.observer()));
            if (step >= kUnmeasuredSteps) timed ? own.addTimedStep(device.times()) : host.ended(outcome);
            device.clear();
        }
    }
    device.timeCalls(true);
    SHARDSCOPE_TRY(copySomeBytes(device, config.plan.precision));
    own.calls.copies = device.times().copies;
    for (std::int64_t i = 0; i < kRepeats && config.data; ++i) {
        const std::int64_t begin = threadTime();
        SHARDSCOPE_TRY(config.data());
        own.data.push_back(static_cast<double>(threadTime() - begin) * 1e-9);
    }
    if (config.device == DeviceKind::Cpu) {
        SHARDSCOPE_TRY(measureWaking(*inner, false, own.wake));
        SHARDSCOPE_TRY(measureWaking(*inner, true, own.wakeBusy));
    }
    seen.add(own);
    return {};
}

/// Medians, scaled so that the kernels of a step sum up to the median step's: a sum of medians leaves out what now and
/// then takes longer, of which every step has some.
std::map<std::string, double> kernelTimes(Seen& seen, std::int64_t ranks, std::int64_t steps) {
    std::map<std::string, double> times;
    double sum = 0;
    for (auto& [signature, seconds] : seen.calls.kernels) {
        const double perStep = static_cast<double>(seconds.size()) / static_cast<double>(ranks * steps);
        const double median = medianOf(std::move(seconds));
        times[signature] = median;
        sum += median * perStep;
    }
    const double all = medianOf(seen.stepKernels);
    if (sum > 0)
        for (auto& [signature, seconds] : times) seconds *= all / sum;
    return times;
}

/// A line over the calls of an op, through the medians of ops with as many.
void setIssue(std::vector<core::BytesSample> samples, core::HostTimes& host) {
    std::map<double, std::vector<double>> byCalls;
    for (const core::BytesSample& one : samples) byCalls[one.bytes].push_back(one.seconds);
    samples.clear();
    for (auto& [calls, seconds] : byCalls) samples.push_back({calls, medianOf(std::move(seconds))});
    const core::TimeOfBytes line = core::fitTime(samples);
    host.issueOp = line.start;
    host.issueCall = line.perByte;
}

/// `busy` ranks at once, each with a model of its own.
Result<core::ComputeTimes> computeTimes(const CalibrateConfig& config, const core::Model& model,
                                        const core::StepGraph& graph, std::int64_t busy, core::HostTimes& host) {
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
    times.kernels = kernelTimes(seen, busy, config.steps);
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
    host = {};
    host.data = medianOf(std::move(seen.data));
    // Calls of the reference device are done when they return: there the host's work is the device's.
    if (config.device == DeviceKind::Cpu) {
        setIssue(std::move(seen.issue), host);
        host.wake = medianOf(std::move(seen.wake));
        host.wakeBusy = std::max(host.wake, std::accumulate(seen.wakeBusy.begin(), seen.wakeBusy.end(), 0.0) /
                                                static_cast<double>(std::max<std::size_t>(seen.wakeBusy.size(), 1)));
        host.finish = medianOf(std::move(seen.finish));
        host.begin = std::max(0.0, medianOf(std::move(seen.begin)) - host.issueOp - host.wake);
    }
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
        SHARDSCOPE_ASSIGN(core::ComputeTimes one, computeTimes(config, model, graph, count, times.host));
        times.compute.push_back(std::move(one));
    }
    for (const std::int64_t size : config.groups) {
        SHARDSCOPE_ASSIGN(core::TransferTimes measured, measureTransfers(size, config.transport));
        times.transfers.push_back(measured);
    }
    return times;
}

}  // namespace shardscope::runtime
