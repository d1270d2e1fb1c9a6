// What walking the graph costs beside the work itself: a training step of the small vision transformer under FSDP on a
// device and over communicators that do nothing, per op. Of the synchronous device that is the host's part, of the
// streamed one also what the threads of the streams take, until the last has done its last task.

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "core/graph/build.h"
#include "core/model/vit.h"
#include "runtime/device/host_device.h"
#include "runtime/device/streamed_device.h"
#include "runtime/executor/executor.h"

namespace {

using namespace shardscope;
using core::Result;
using runtime::CallLabel;
using runtime::StreamIndex;
using runtime::TensorView;
using runtime::Transfer;

class IdleDevice final : public runtime::HostDevice {
public:
    IdleDevice() : HostDevice(Fresh::AsItLies) {}
    [[nodiscard]] std::string_view name() const override { return "idle"; }
    Result<void> launch(StreamIndex, const runtime::KernelCall&) override { return {}; }
    Result<void> copy(StreamIndex, const TensorView&, const TensorView&) override { return {}; }
    Result<void> add(StreamIndex, const TensorView&, const TensorView&) override { return {}; }
    Result<void> fill(StreamIndex, const TensorView&, double) override { return {}; }
    Result<void> divide(StreamIndex, const TensorView&, double) override { return {}; }
    Result<void> update(StreamIndex, const runtime::OptimizerCall&) override { return {}; }
    Result<void> upload(StreamIndex, std::span<const std::byte>, const TensorView&) override { return {}; }
};

class IdleCommunicator final : public runtime::Communicator {
public:
    explicit IdleCommunicator(std::size_t members) : m_members(static_cast<std::int64_t>(members)) {}
    [[nodiscard]] std::int64_t rank() const override { return 0; }
    [[nodiscard]] std::int64_t size() const override { return m_members; }
    Result<Transfer> allGather(const CallLabel&, std::span<std::byte>) override { return Transfer{}; }
    Result<Transfer> reduceScatter(const CallLabel&, std::span<const std::byte>, std::span<std::byte>, bool) override {
        return Transfer{};
    }
    Result<Transfer> allReduce(const CallLabel&, std::span<std::byte>, bool) override { return Transfer{}; }
    Result<Transfer> send(const CallLabel&, std::span<const std::byte>, std::int64_t) override { return Transfer{}; }
    Result<Transfer> receive(const CallLabel&, std::span<std::byte>, std::int64_t) override { return Transfer{}; }
    Result<Transfer> barrier(const CallLabel&) override { return Transfer{}; }
    Result<void> agree(const std::string&, std::uint64_t) override { return {}; }
    void abandon(const core::Error&) override {}

private:
    std::int64_t m_members;
};

void walk(benchmark::State& state, runtime::Device& device) {
    core::VitSpec spec = *core::namedVit("vit_tiny");
    spec.layers = 12;
    core::Workload workload;
    workload.batch = 1;
    const core::Model model = core::buildModel(spec, workload).value();
    core::Plan plan;
    plan.policy = core::UnitPolicy::Fsdp;
    plan.mesh.dpShard = 2;
    const core::StepGraph graph = core::buildStepGraph(model, plan).value();
    const auto communicators = [](const std::string&, const std::vector<std::int64_t>& members) {
        return std::make_unique<IdleCommunicator>(members.size());
    };
    auto executor = runtime::Executor::create(model, graph, 0, device, communicators).value();
    for (std::size_t p = 0; p < model.parameters.size(); ++p) {
        const std::vector<float> zeros(static_cast<std::size_t>(core::elementsOf(model.parameters[p].shape)));
        if (!executor->loadParameter(core::ParameterId(p), zeros)) state.SkipWithError("a parameter does not fit");
    }
    runtime::Batch batch;
    batch.values.resize(static_cast<std::size_t>(spec.channels * spec.imageSize * spec.imageSize));
    batch.labels.resize(1);
    for (auto _ : state) {
        const auto done = executor->runStep([&](std::uint16_t) -> Result<runtime::Batch> { return batch; });
        if (!done) {
            state.SkipWithError(done.error().message.c_str());
            return;
        }
    }
    const auto ops = static_cast<double>(graph.ops.size());
    state.counters["per_op"] =
        benchmark::Counter(ops, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
    state.counters["ops"] = ops;
}

void executorHost(benchmark::State& state) {
    IdleDevice device;
    walk(state, device);
}
BENCHMARK(executorHost)->Unit(benchmark::kMicrosecond);

void executorStreams(benchmark::State& state) {
    runtime::StreamedDevice device(std::make_unique<IdleDevice>());
    walk(state, device);
}
BENCHMARK(executorStreams)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
