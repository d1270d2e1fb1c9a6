#include "sim/price/machine_price.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace shardscope::sim {

using core::Op;
using core::OpKind;
using core::Result;

namespace {

class MachinePricer {
public:
    MachinePricer(const core::StepGraph& graph, const core::Model& model, const core::MachineTimes& machine)
        : m_graph(graph), m_model(model), m_machine(machine) {
        const std::int64_t busy = std::min(ranksAtWork(graph), machine.cores);
        m_compute = &machine.compute.front();
        for (const core::ComputeTimes& one : machine.compute)
            if (one.busy <= busy) m_compute = &one;
    }

    Result<Prices> price() {
        const core::HostTimes& host = m_machine.host;
        Prices prices;
        prices.links.assign(m_graph.groups.size(), 0);
        prices.duration.reserve(m_graph.ops.size());
        SharedCores& shared = prices.shared.emplace();
        shared.cores = static_cast<double>(m_machine.cores);
        shared.ranks = static_cast<double>(m_graph.plan.mesh.size());
        shared.wake = host.wake * 1e9;
        shared.wakeBusy = host.wakeBusy * 1e9;
        shared.finish = host.finish * 1e9;
        for (const Op& op : m_graph.ops) {
            TransferLoad& load = shared.transfers.emplace_back();
            SHARDSCOPE_ASSIGN(const double seconds, secondsOf(op, load));
            prices.duration.push_back(core::fromSeconds(seconds).ns);
        }
        prices.release.resize(m_graph.ops.size());
        for (const core::RankClass& rankClass : m_graph.classes) {
            double issued = host.begin;
            std::vector<bool> loaded(static_cast<std::size_t>(m_graph.plan.microBatches));
            for (std::uint32_t i = rankClass.opBegin; i < rankClass.opEnd; ++i) {
                const Op& op = m_graph.ops[i];
                issued += host.issueOp + host.issueCall * callsOf(op);
                if (!loaded[op.microBatch] && readsData(op)) {
                    issued += host.data;
                    loaded[op.microBatch] = true;
                }
                prices.release[i] = core::fromSeconds(issued).ns;
            }
        }
        return prices;
    }

private:
    /// `load` of transfers.
    Result<double> secondsOf(const Op& op, TransferLoad& load) {
        const double touched = static_cast<double>(op.read.value + op.written.value);
        switch (op.kind) {
            case OpKind::Compute: return computeOf(op);
            case OpKind::AllGather:
            case OpKind::ReduceScatter:
            case OpKind::AllReduce:
            case OpKind::Send:
            case OpKind::Receive: return transferOf(op, load);
            case OpKind::OptimizerStep: return m_compute->optimizer.of(touched, parametersOf(op));
            case OpKind::CopyToDevice:
            case OpKind::CopyToHost: return m_compute->copy.of(2 * static_cast<double>(op.bytes.value), callsOf(op));
            case OpKind::BucketCopyIn: return m_compute->copy.of(4 * static_cast<double>(op.bytes.value), callsOf(op));
            default: return touched > 0 ? m_compute->copy.of(touched, callsOf(op)) : 0.0;
        }
    }

    /// Calls of the device that the op makes.
    [[nodiscard]] double callsOf(const Op& op) const {
        switch (op.kind) {
            case OpKind::Compute: return op.kernels.count;
            case OpKind::OptimizerStep:
            case OpKind::GatherCopyIn: return parametersOf(op);
            case OpKind::CopyOut:
            case OpKind::ReduceCopyIn: return parametersOf(op) * static_cast<double>(partsOf(op));
            case OpKind::KeepGradients:
            case OpKind::CopyToHost:
            case OpKind::BucketCopyOut: return parametersOf(op);
            case OpKind::BucketCopyIn: return 2 * gradientsOf(op);  // copied, and divided
            case OpKind::AddGradient: return gradientsOf(op);
            default: return 1;
        }
    }

    /// Gradients that the kernels of the op's range make.
    [[nodiscard]] double gradientsOf(const Op& op) const {
        if (!op.kernels.layer.valid()) return 1;
        const core::Program& program = m_model.programOf(m_model.layers[op.kernels.layer.index()]);
        const auto& kernels = op.kernels.backward ? program.backward : program.forward;
        double count = 0;
        for (std::uint32_t k = op.kernels.first; k < op.kernels.first + op.kernels.count; ++k)
            for (const core::TensorId output : kernels[k].outputs)
                count += program.tensor(output).role == core::TensorRole::ParameterGradient ? 1 : 0;
        return std::max(count, 1.0);
    }

    [[nodiscard]] bool readsData(const Op& op) const {
        if (op.kind != OpKind::Compute || !op.kernels.layer.valid()) return false;
        const core::Program& program = m_model.programOf(m_model.layers[op.kernels.layer.index()]);
        const auto& kernels = op.kernels.backward ? program.backward : program.forward;
        for (std::uint32_t k = op.kernels.first; k < op.kernels.first + op.kernels.count; ++k)
            if (core::readsBatch(program, kernels[k])) return true;
        return false;
    }

    [[nodiscard]] std::int64_t membersOf(const Op& op) const {
        const bool message = op.kind == OpKind::Send || op.kind == OpKind::Receive;
        return message ? 2 : m_graph.groups[op.group.index()].size;
    }

    /// Nanoseconds.
    [[nodiscard]] std::int64_t linkTimeOf(const Op& op) const {
        if (!m_machine.link.given()) return 0;
        const auto bytes = static_cast<double>(op.bytes.value);
        const double ring = core::ArtificialLink::ringBytes(bytes, membersOf(op));
        switch (op.kind) {
            case OpKind::AllReduce: return m_machine.link.nanoseconds(2 * ring);
            case OpKind::Send:
            case OpKind::Receive: return m_machine.link.nanoseconds(bytes);
            default: return m_machine.link.nanoseconds(ring);
        }
    }

    Result<double> computeOf(const Op& op) {
        if (!op.kernels.layer.valid()) return 0.0;
        const core::Layer& layer = m_model.layers[op.kernels.layer.index()];
        const core::Program& program = m_model.programOf(layer);
        const auto& kernels = op.kernels.backward ? program.backward : program.forward;
        double sum = 0;
        for (std::uint32_t k = op.kernels.first; k < op.kernels.first + op.kernels.count; ++k) {
            double& known = m_kernels.try_emplace(&kernels[k], -1.0).first->second;
            if (known < 0) {
                const std::string signature = core::kernelSignature(program, kernels[k]);
                const auto measured = m_compute->kernels.find(signature);
                if (measured == m_compute->kernels.end())
                    return core::fail(
                        core::ErrorCode::Input,
                        fmt::format("{} of layer {} was not measured: {}", kernels[k].op, layer.name, signature),
                        "calibration", "calibrate with the same model and batch");
                known = measured->second;
            }
            sum += known;
        }
        return sum;
    }

    Result<double> transferOf(const Op& op, TransferLoad& load) const {
        const std::int64_t ranks = membersOf(op);
        const double bytes = static_cast<double>(op.bytes.value);
        if (ranks <= 1) {
            const double seconds = m_compute->copy.of(2 * bytes);
            load.busy = load.processor = seconds * 1e9;
            return seconds;
        }
        const auto found = std::find_if(m_machine.transfers.begin(), m_machine.transfers.end(),
                                        [&](const core::TransferTimes& one) { return one.ranks == ranks; });
        if (found == m_machine.transfers.end())
            return core::fail(core::ErrorCode::Input, fmt::format("no transfers among {} ranks were measured", ranks),
                              "calibration", "calibrate with the same plan");
        const core::CallTime& call = op.kind == OpKind::AllGather       ? found->allGather
                                     : op.kind == OpKind::ReduceScatter ? found->reduceScatter
                                     : op.kind == OpKind::AllReduce     ? found->allReduce
                                                                        : found->message;
        const core::CallSample sample = call.at(bytes);
        load.busy = sample.busy * 1e9;
        load.processor = sample.processor * 1e9;
        load.atLeast = static_cast<double>(linkTimeOf(op));
        return sample.alone;
    }

    [[nodiscard]] double parametersOf(const Op& op) const {
        const bool update = op.kind == OpKind::OptimizerStep;
        const auto countOf = [&](const core::Unit& unit) {
            return std::count_if(unit.parameters.begin(), unit.parameters.end(),
                                 [&](core::ParameterId p) { return !update || !m_model.parameters[p.index()].frozen; });
        };
        if (op.unit.valid()) return static_cast<double>(countOf(m_graph.units[op.unit.index()]));
        std::ptrdiff_t sum = 0;
        for (const core::Unit& unit : m_graph.units) sum += countOf(unit);
        return static_cast<double>(sum) / static_cast<double>(m_graph.classes.size());
    }

    [[nodiscard]] std::int64_t partsOf(const Op& op) const {
        if (m_graph.plan.policy != core::UnitPolicy::Fsdp || m_graph.plan.fsdp.flat || !op.unit.valid()) return 1;
        return m_graph.plan.mesh.dpShard;
    }

    const core::StepGraph& m_graph;
    const core::Model& m_model;
    const core::MachineTimes& m_machine;
    const core::ComputeTimes* m_compute = nullptr;
    std::map<const core::Kernel*, double> m_kernels;
};

}  // namespace

std::int64_t ranksAtWork(const core::StepGraph& graph) {
    const core::Mesh& mesh = graph.plan.mesh;
    return graph.plan.schedule == core::StageSchedule::Naive ? mesh.size() / mesh.pp : mesh.size();
}

Result<Prices> priceOnMachine(const core::StepGraph& graph, const core::Model& model,
                              const core::MachineTimes& machine) {
    return MachinePricer(graph, model, machine).price();
}

}  // namespace shardscope::sim
