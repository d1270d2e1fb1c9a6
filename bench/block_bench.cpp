// A block of ViT-B/16 (batch 4, 788 rows of 768) on the CPU device beside its matrix products: what everything else in
// the block costs. The block's forward and backward pass is run by the executor; the twelve products of its linear
// layers (output, input's gradient, weight's gradient, without the bias) are then run alone, by the same device.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "core/graph/build.h"
#include "core/model/vit.h"
#include "runtime/communicator/thread_communicator.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/executor/executor.h"
#include "runtime/train/initial_values.h"

namespace {

using namespace shardscope;

double medianOf(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

/// The products of the block's linear layers, each with operands of its own.
class Products {
public:
    explicit Products(const core::Program& block) {
        for (const auto* kernels : {&block.forward, &block.backward})
            for (const core::Kernel& kernel : *kernels)
                if (kernel.kind == core::KernelKind::Linear || kernel.kind == core::KernelKind::LinearInputGrad ||
                    kernel.kind == core::KernelKind::LinearWeightGrad)
                    add(block, kernel);
    }
    [[nodiscard]] std::size_t size() const { return m_products.size(); }
    [[nodiscard]] double flops() const { return m_flops; }
    /// Seconds of all.
    core::Result<double> run(runtime::Device& device) {
        const std::int64_t begin = device.now();
        for (Operands& one : m_products)
            SHARDSCOPE_TRY(
                device.launch(0, {*one.kernel, std::span(one.views).first(2), std::span(one.views).last(1)}));
        return static_cast<double>(device.now() - begin) * 1e-9;
    }

private:
    struct Operands {
        const core::Kernel* kernel;
        std::vector<std::vector<float>> values;
        std::vector<runtime::TensorView> views;
    };
    void add(const core::Program& block, const core::Kernel& kernel) {
        Operands one{&kernel, {}, {}};
        for (const core::TensorId id : {kernel.inputs[0], kernel.inputs[1], kernel.outputs[0]}) {
            const core::Tensor& tensor = block.tensor(id);
            one.values.emplace_back(static_cast<std::size_t>(core::elementsOf(tensor.shape)), 0.01f);
            one.views.push_back(
                {reinterpret_cast<std::byte*>(one.values.back().data()), tensor.dtype, tensor.shape, {}});
        }
        m_flops += static_cast<double>(kernel.flops.value);
        m_products.push_back(std::move(one));
    }
    std::vector<Operands> m_products;
    double m_flops = 0;
};

// Target: ratio <= 1.35.
void vitBlock(benchmark::State& state) {
    core::VitSpec spec = *core::namedVit("vit_b_16_1ch10");
    spec.layers = 1;
    core::Workload workload;
    workload.batch = 4;
    const core::Model model = core::buildModel(spec, workload).value();
    core::Plan plan;
    plan.policy = core::UnitPolicy::None;
    const core::StepGraph graph = core::buildStepGraph(model, plan).value();
    runtime::CpuDevice device;
    runtime::ThreadWorld world(1);
    const auto communicators = [&](const std::string& name, const std::vector<std::int64_t>& members) {
        return world.communicator(name, members, 0);
    };
    auto executor = runtime::Executor::create(model, graph, 0, device, communicators).value();
    const runtime::ParameterValues values = runtime::initialParameters(model, 0);
    for (std::size_t p = 0; p < values.size(); ++p)
        if (!executor->loadParameter(core::ParameterId(p), values[p])) state.SkipWithError("a parameter does not fit");
    const runtime::Batch batch = runtime::formulaBatch(spec, 0, workload.batch);
    const auto isBlock = [&](core::LayerId layer) {
        return layer.valid() && model.layers[layer.index()].kind == core::LayerKind::Block;
    };
    const auto block = std::find_if(model.layers.begin(), model.layers.end(),
                                    [](const core::Layer& layer) { return layer.kind == core::LayerKind::Block; });
    Products products(model.programOf(*block));
    std::vector<double> blocks, alone;
    for (auto _ : state) {
        const auto done = executor->runStep([&](std::uint16_t) -> core::Result<runtime::Batch> { return batch; });
        const auto multiplied = products.run(device);
        if (!done || !multiplied) {
            state.SkipWithError((done ? multiplied.error() : done.error()).message.c_str());
            return;
        }
        double seconds = 0;
        for (const runtime::OpTimes& op : done->times)
            if (graph.ops[op.op.index()].kind == core::OpKind::Compute &&
                isBlock(graph.ops[op.op.index()].kernels.layer))
                seconds += static_cast<double>(op.end - op.start) * 1e-9;
        blocks.push_back(seconds);
        alone.push_back(*multiplied);
    }
    state.counters["block_ms"] = medianOf(blocks) * 1e3;
    state.counters["products_ms"] = medianOf(alone) * 1e3;
    state.counters["ratio"] = medianOf(blocks) / medianOf(alone);
    state.counters["products"] = static_cast<double>(products.size());
    state.counters["products_flops"] = products.flops() / medianOf(alone);
}
BENCHMARK(vitBlock)->Iterations(9)->Unit(benchmark::kMillisecond);

}  // namespace
