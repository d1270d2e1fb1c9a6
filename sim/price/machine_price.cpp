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
        const std::int64_t atWork = ranksAtWork(graph);
        m_compute = &machine.compute.front();
        for (const core::ComputeTimes& one : machine.compute)
            if (one.busy <= std::min(atWork, machine.cores)) m_compute = &one;
        m_sharing = std::max(1.0, static_cast<double>(atWork) / static_cast<double>(machine.cores));
    }

    Result<Prices> price() {
        Prices prices;
        prices.links.assign(m_graph.groups.size(), 0);
        prices.duration.reserve(m_graph.ops.size());
        for (const Op& op : m_graph.ops) {
            SHARDSCOPE_ASSIGN(const double seconds, secondsOf(op));
            prices.duration.push_back(core::fromSeconds(seconds).ns);
        }
        prices.release.resize(m_graph.ops.size());
        for (const core::RankClass& rankClass : m_graph.classes)
            for (std::uint32_t i = rankClass.opBegin; i < rankClass.opEnd; ++i)
                prices.release[i] =
                    core::fromSeconds(m_machine.issue * m_sharing * static_cast<double>(i - rankClass.opBegin)).ns;
        return prices;
    }

private:
    Result<double> secondsOf(const Op& op) {
        const double touched = static_cast<double>(op.read.value + op.written.value);
        switch (op.kind) {
            case OpKind::Compute: return computeOf(op);
            case OpKind::AllGather:
            case OpKind::ReduceScatter:
            case OpKind::AllReduce:
            case OpKind::Send:
            case OpKind::Receive: return transferOf(op);
            case OpKind::OptimizerStep: return m_sharing * m_compute->optimizer.of(touched, parametersOf(op));
            case OpKind::CopyToDevice:
            case OpKind::CopyToHost: return m_sharing * m_compute->copy.of(2 * static_cast<double>(op.bytes.value), 1);
            case OpKind::GatherCopyIn: return m_sharing * m_compute->copy.of(touched, parametersOf(op));
            case OpKind::CopyOut:
            case OpKind::ReduceCopyIn:
                return m_sharing * m_compute->copy.of(touched, parametersOf(op) * static_cast<double>(partsOf(op)));
            default: return m_sharing * (touched > 0 ? m_compute->copy.of(touched, 1) : 0.0);
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
        return m_sharing * sum;
    }

    Result<double> transferOf(const Op& op) const {
        const bool message = op.kind == OpKind::Send || op.kind == OpKind::Receive;
        const std::int64_t ranks = message ? 2 : m_graph.groups[op.group.index()].size;
        const double bytes = static_cast<double>(op.bytes.value);
        if (ranks <= 1) return m_sharing * m_compute->copy.of(2 * bytes);
        const auto found = std::find_if(m_machine.transfers.begin(), m_machine.transfers.end(),
                                        [&](const core::TransferTimes& one) { return one.ranks == ranks; });
        if (found == m_machine.transfers.end())
            return core::fail(core::ErrorCode::Input, fmt::format("no transfers among {} ranks were measured", ranks),
                              "calibration", "calibrate with the same plan");
        switch (op.kind) {
            case OpKind::AllGather: return found->allGather.of(bytes);
            case OpKind::ReduceScatter: return found->reduceScatter.of(bytes);
            case OpKind::AllReduce: return found->allReduce.of(bytes);
            default: return found->message.of(bytes);
        }
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
    double m_sharing = 1;
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
