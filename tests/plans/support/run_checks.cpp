#include "tests/plans/support/run_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/face/why_idle.h"
#include "core/graph/graph_checks.h"
#include "core/graph/host_memory.h"
#include "sim/price/price_graph.h"
#include "sim/run/simulate.h"

namespace shardscope::tests {
namespace {

using cli::PlanReport;
using core::MemoryCategory;

using Found = std::optional<Broken>;

Found broken(std::string property, std::string detail) {
    return Broken{std::move(property), std::move(detail)};
}

template <class T>
Found unless(const core::Result<T>& result, const char* property) {
    if (result) return {};
    return broken(property, core::describe(result.error()));
}

std::string opText(const PlanReport& plan, std::uint32_t op) {
    return fmt::format("op {} ({})", op, core::labelOf(*plan.graph, *plan.model, core::OpId(op)));
}

/// Instants by op id of the graph, read off the timeline.
struct Instants {
    std::vector<std::int64_t> start, transferStart, end, issued;
    std::vector<bool> known;
};

Instants instantsOf(const PlanReport& plan) {
    const std::size_t count = plan.graph->ops.size();
    Instants at{std::vector<std::int64_t>(count), std::vector<std::int64_t>(count), std::vector<std::int64_t>(count),
                std::vector<std::int64_t>(count), std::vector<bool>(count, false)};
    const timeline::Spans& spans = plan.timeline.spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const std::uint32_t op = spans.op[i];
        if (op >= count || at.known[op]) continue;
        at.start[op] = spans.start[i];
        at.transferStart[op] = spans.transferStart[i];
        at.end[op] = spans.end[i];
        at.issued[op] = spans.issued[i];
        at.known[op] = true;
    }
    return at;
}

Found checkPeak(const sim::MemoryPeak& peak, const std::string& which) {
    const char* property = "a peak's parts and categories add up to it";
    if (peak.byCategory.total().value != peak.total.value)
        return broken(property, fmt::format("{}: categories make {}, total {}", which, peak.byCategory.total().value,
                                            peak.total.value));
    core::CategoryBytes sum;
    for (const sim::MemoryPart& part : peak.parts) {
        sum[part.category] += part.bytes.value;
        if (part.bytes.value < 0 || part.count < 1) return broken(property, which + ": a part below nothing");
    }
    if (!(sum == peak.byCategory))
        return broken(property, fmt::format("{}: parts make {}, total {}", which, sum.total().value, peak.total.value));
    return {};
}

Found checkClassMemory(const PlanReport& plan, core::ClassId id, const sim::StepMemory& memory) {
    const core::StepGraph& graph = *plan.graph;
    const core::RankClass& rankClass = graph.classes[id.index()];
    core::HostMemoryCursor cursor(graph, rankClass);
    const core::CategoryBytes before = cursor.live();
    std::int64_t peak = before.total().value;
    while (cursor.next() != nullptr) {
        for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
            if (cursor.live().bytes[c] < 0)
                return broken("memory is never negative",
                              fmt::format("{}: {} bytes of {} at action {}", rankClass.name, cursor.live().bytes[c],
                                          core::nameOf(static_cast<MemoryCategory>(c)), cursor.position()));
        peak = std::max(peak, cursor.live().total().value);
    }
    core::CategoryBytes after = cursor.live();
    // The first step makes the optimizer's state; an evaluation leaves what is not resharded, the next step takes it.
    if (plan.graph->plan.firstStep && before[MemoryCategory::OptimizerState] == 0)
        after[MemoryCategory::OptimizerState] = 0;
    for (const core::Block& block : graph.blocks) {
        if (block.rankClass != id || block.category == MemoryCategory::OptimizerState) continue;
        if (block.left && !block.found) after[block.category] -= block.bytes.value;
        if (block.found && !block.left) after[block.category] += block.bytes.value;
    }
    for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
        if (after.bytes[c] != before.bytes[c])
            return broken("memory is at the step's end what it was before",
                          fmt::format("{}: {} of {} instead of {}", rankClass.name, after.bytes[c],
                                      core::nameOf(static_cast<MemoryCategory>(c)), before.bytes[c]));
    if (peak != memory.hostOrder.total.value)
        return broken("the peak is the largest sum",
                      fmt::format("{}: {} instead of {}", rankClass.name, memory.hostOrder.total.value, peak));
    if (memory.reserved.value < peak || memory.deviceTime.total.value < 0)
        return broken("the allocator reserves what is allocated",
                      fmt::format("{}: {} reserved, {} allocated", rankClass.name, memory.reserved.value, peak));
    if (auto found = checkPeak(memory.hostOrder, "allocated")) return found;
    return checkPeak(memory.deviceTime, "in use");
}

/// Gathers of a class, as the host marks them.
Found checkGathers(const PlanReport& plan, const core::RankClass& rankClass) {
    const char* property = "every gather has its free";
    const core::StepGraph& graph = *plan.graph;
    enum class State { Sharded, Issued, Whole };
    std::map<std::uint32_t, State> states;
    std::map<std::uint32_t, bool> left;
    for (const core::Block& block : graph.blocks) {
        if (!block.unit.valid() || &graph.classes[block.rankClass.index()] != &rankClass ||
            graph.units[block.unit.index()].reshard.kind != core::Reshard::Kind::False)
            continue;
        if (block.found) states[block.unit.value] = State::Whole;
        if (block.left) left[block.unit.value] = true;
    }
    for (const core::HostAction& action : graph.actionsOf(rankClass)) {
        if (action.kind != core::HostActionKind::Mark || !action.unit.valid()) continue;
        State& state = states[action.unit.value];
        const std::string unit = graph.units[action.unit.index()].name;
        switch (action.mark) {
            case core::Mark::GatherIssued:
                if (state != State::Sharded) return broken(property, unit + " is gathered while it is whole");
                state = State::Issued;
                break;
            case core::Mark::GatherWaited:
                if (state == State::Whole) return broken(property, unit + " becomes whole twice");
                state = State::Whole;
                break;
            case core::Mark::Resharded:
            case core::Mark::ReshardedPartly:
            case core::Mark::UnusedPrefetchDropped: state = State::Sharded; break;
            default: break;
        }
    }
    for (const auto& [unit, state] : states)
        if ((state == State::Whole) != left[unit])
            return broken(property, graph.units[unit].name + (left[unit] ? " is not left whole" : " stays whole"));
    return {};
}

}  // namespace

Found checkGraph(const core::StepGraph& graph) {
    if (auto found = unless(core::checkReferences(graph), "a graph's ids are in range")) return found;
    if (auto found = unless(core::checkEdges(graph), "edges fit the ops")) return found;
    if (auto found = unless(core::checkBlocks(graph), "every block is allocated and released once")) return found;
    const auto pairs = core::pairTransfers(graph);
    if (auto found = unless(pairs, "members of a transfer agree")) return found;
    if (auto found = unless(core::checkAcyclic(graph, *pairs), "a graph is acyclic")) return found;
    if (core::hashOf(graph) != graph.hash) return broken("a graph's hash is that of what is in it", "");
    for (std::uint32_t op = 0; op < graph.ops.size(); ++op)
        for (const core::Edge& edge : graph.waitsOf(core::OpId(op)))
            if (edge.from.value >= op)
                return broken("an op waits for what was issued before it",
                              fmt::format("op {} waits for op {}", op, edge.from.value));
    return {};
}

Found checkMemory(const PlanReport& plan) {
    for (std::size_t i = 0; i < plan.classes.size(); ++i) {
        const auto stage = static_cast<std::size_t>(plan.timeline.ranks[i].stage);
        const sim::StepMemory& memory = plan.classes[i].memory.step;
        if (auto found = checkClassMemory(plan, core::ClassId(stage), memory)) return found;
        if (auto found = checkGathers(plan, plan.graph->classes[stage])) return found;
        std::map<std::int64_t, std::int64_t> changes;
        for (const timeline::Counter& counter : plan.timeline.counters) {
            if (counter.rankIndex != i) continue;
            std::int64_t before = 0;
            for (std::size_t k = 0; k < counter.time.size(); ++k) {
                if (counter.value[k] < 0) return broken("memory in use is never negative", plan.classes[i].name);
                changes[counter.time[k]] += counter.value[k] - before;
                before = counter.value[k];
            }
        }
        std::int64_t total = 0, most = 0;
        for (const auto& [time, change] : changes) most = std::max(most, total += change);
        if (most != memory.deviceTime.total.value)
            return broken(
                "the most in use is the film's largest sum",
                fmt::format("{}: {} instead of {}", plan.classes[i].name, memory.deviceTime.total.value, most));
    }
    return {};
}

Found checkParametersAreThere(const PlanReport& plan) {
    const core::StepGraph& graph = *plan.graph;
    const core::Model& model = *plan.model;
    if (graph.plan.policy != core::UnitPolicy::Fsdp) return {};
    // Products that are known from their shapes alone do not hang together: of frozen ones the backward of some is left
    // out, also of those at which a unit of several modules is gathered.
    if (model.family == "safetensors" && std::any_of(model.parameters.begin(), model.parameters.end(),
                                                     [](const core::Parameter& p) { return p.frozen; }))
        return {};
    std::map<std::uint32_t, std::uint32_t> unitOf;
    for (std::uint32_t u = 0; u < graph.units.size(); ++u)
        for (const core::ParameterId p : graph.units[u].parameters) unitOf.emplace(p.value, u);
    for (const core::RankClass& rankClass : graph.classes) {
        std::map<std::uint32_t, bool> whole;
        for (const core::Block& block : graph.blocks)
            if (block.found && graph.units[block.unit.index()].reshard.kind == core::Reshard::Kind::False)
                whole[block.unit.value] = true;
        for (const core::HostAction& action : graph.actionsOf(rankClass)) {
            if (action.kind == core::HostActionKind::Mark && action.unit.valid()) {
                if (action.mark == core::Mark::GatherWaited) whole[action.unit.value] = true;
                if (action.mark == core::Mark::Resharded || action.mark == core::Mark::ReshardedPartly)
                    whole[action.unit.value] = false;
            }
            if (action.kind != core::HostActionKind::Launch || !action.op.valid()) continue;
            const core::Op& op = graph.ops[action.op.index()];
            if (op.kind != core::OpKind::Compute) continue;
            const core::Layer& layer = model.layers[op.kernels.layer.index()];
            const core::Program& program = model.programOf(layer);
            const auto& kernels = op.kernels.backward ? program.backward : program.forward;
            for (std::uint32_t k = op.kernels.first; k < op.kernels.first + op.kernels.count; ++k)
                for (const core::TensorId input : kernels[k].inputs) {
                    const core::TensorId owner = program.tensor(input).storage;
                    const core::Tensor& tensor = program.tensor(owner.valid() ? owner : input);
                    if (tensor.role != core::TensorRole::Parameter) continue;
                    const core::ParameterId parameter = layer.parameters[tensor.slot];
                    const auto unit = unitOf.find(parameter.value);
                    // Tied across stages, or of no unit.
                    if (unit == unitOf.end() || whole[unit->second]) continue;
                    bool elsewhere = false;
                    for (std::uint32_t u = 0; u < graph.units.size(); ++u) {
                        const auto& own = graph.units[u].parameters;
                        elsewhere |= whole[u] && std::find(own.begin(), own.end(), parameter) != own.end();
                    }
                    if (!elsewhere)
                        return broken("a kernel's parameters are whole",
                                      fmt::format("{} of unit {} at {}", model.parameters[parameter.index()].name,
                                                  graph.units[unit->second].name, opText(plan, action.op.value)));
                }
        }
    }
    return {};
}

Found checkCausality(const PlanReport& plan) {
    const core::StepGraph& graph = *plan.graph;
    const Instants at = instantsOf(plan);
    struct Ends {
        std::int64_t transferStart, end;
    };
    std::map<std::uint32_t, Ends> matches;
    for (const core::RankClass& rankClass : graph.classes) {
        std::vector<std::int64_t> free(graph.streams.size(), 0);
        for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op) {
            if (!at.known[op]) return broken("every op runs", opText(plan, op));
            if (at.start[op] < 0 || at.end[op] > plan.stepNs || at.start[op] > at.transferStart[op] ||
                at.transferStart[op] > at.end[op])
                return broken("no time is negative and none beyond the step", opText(plan, op));
            if (at.start[op] < at.issued[op])
                return broken("nothing runs before the host has issued it", opText(plan, op));
            const std::uint8_t stream = graph.ops[op].stream;
            if (at.start[op] < free[stream])
                return broken("a stream runs one op at a time, in order", opText(plan, op));
            free[stream] = at.end[op];
            for (const core::Edge& edge : graph.waitsOf(core::OpId(op))) {
                const bool transferOnly = edge.reason == core::EdgeReason::Communicator;
                if ((transferOnly ? at.transferStart[op] : at.start[op]) < at.end[edge.from.index()])
                    return broken("an op starts after what it waits for",
                                  opText(plan, op) + " before " + opText(plan, edge.from.value));
            }
            if (!core::isTransfer(graph.ops[op].kind) || graph.ops[op].match == sim::kNoOp) continue;
            const auto [other, isNew] =
                matches.try_emplace(graph.ops[op].match, Ends{at.transferStart[op], at.end[op]});
            if (!isNew && (other->second.transferStart != at.transferStart[op] || other->second.end != at.end[op]))
                return broken("both ends of a message move at once", opText(plan, op));
        }
    }
    return {};
}

namespace {

/// Ends of the latest ops of each kind, by unit.
class Latest {
public:
    explicit Latest(const PlanReport& plan, const Instants& at) : m_plan(plan), m_at(at) {}

    void add(std::uint32_t op) {
        const core::Op& it = m_plan.graph->ops[op];
        m_ends[{it.kind, it.unit.value}] = m_at.end[op];
    }
    /// `op` begins after the latest op of `kind` of that unit, if there is one.
    [[nodiscard]] bool follows(std::uint32_t op, core::OpKind kind, std::uint32_t unit) const {
        const auto found = m_ends.find({kind, unit});
        return found == m_ends.end() || m_at.start[op] >= found->second;
    }
    [[nodiscard]] bool followsAll(std::uint32_t op, core::OpKind kind) const {
        for (const auto& [key, end] : m_ends)
            if (key.first == kind && m_at.start[op] < end) return false;
        return true;
    }

private:
    const PlanReport& m_plan;
    const Instants& m_at;
    std::map<std::pair<core::OpKind, std::uint32_t>, std::int64_t> m_ends;
};

/// Units whose parameters the kernels of an op read.
std::vector<std::uint32_t> unitsRead(const PlanReport& plan, const core::KernelRange& range,
                                     const std::map<std::uint32_t, std::uint32_t>& unitOf) {
    const core::Layer& layer = plan.model->layers[range.layer.index()];
    const core::Program& program = plan.model->programOf(layer);
    const auto& kernels = range.backward ? program.backward : program.forward;
    std::vector<std::uint32_t> units;
    for (std::uint32_t k = range.first; k < range.first + range.count; ++k)
        for (const core::TensorId input : kernels[k].inputs) {
            const core::TensorId owner = program.tensor(input).storage;
            const core::Tensor& tensor = program.tensor(owner.valid() ? owner : input);
            if (tensor.role != core::TensorRole::Parameter) continue;
            const auto unit = unitOf.find(layer.parameters[tensor.slot].value);
            if (unit != unitOf.end()) units.push_back(unit->second);
        }
    return units;
}

/// What was freed is handed out again only when the stream that used it last is done with it.
Found checkReuse(const PlanReport& plan, const core::RankClass& rankClass, const Instants& at) {
    const core::StepGraph& graph = *plan.graph;
    std::vector<std::int64_t> busyUntil(graph.streams.size(), 0);  // by pool: end of the uses of what was freed
    for (const core::HostAction& action : graph.actionsOf(rankClass)) {
        if (action.kind != core::HostActionKind::Allocate && action.kind != core::HostActionKind::Release) continue;
        const core::Block& block = graph.blocks[action.block.index()];
        if (block.bytes.value == 0 || !block.firstUse.valid()) continue;
        if (action.kind == core::HostActionKind::Release) {
            // A message keeps its buffer until it is sent (record_stream), which the model of the allocator leaves out.
            if (block.lastUse.valid() && graph.ops[block.lastUse.index()].kind != core::OpKind::Send)
                busyUntil[block.pool] = std::max(busyUntil[block.pool], at.end[block.lastUse.index()]);
            continue;
        }
        // Nor does a receive wait for the compute that was enqueued before it, as it does in NCCL's process group.
        if (graph.ops[block.firstUse.index()].kind == core::OpKind::Receive) continue;
        if (at.start[block.firstUse.index()] < busyUntil[block.pool])
            return broken("freed memory is not handed out while it is used",
                          fmt::format("{} from the pool of {}, which is in use until {} ns, is used from {} ns on",
                                      opText(plan, block.firstUse.value), graph.streams[block.pool].name,
                                      busyUntil[block.pool], at.start[block.firstUse.index()]));
    }
    return {};
}

}  // namespace

Found checkData(const PlanReport& plan) {
    using core::OpKind;
    const core::StepGraph& graph = *plan.graph;
    const Instants at = instantsOf(plan);
    std::map<std::uint32_t, std::uint32_t> unitOf;
    for (std::uint32_t u = 0; u < graph.units.size(); ++u)
        for (const core::ParameterId p : graph.units[u].parameters) unitOf.emplace(p.value, u);
    static const std::map<OpKind, std::vector<OpKind>> kAfter = {
        {OpKind::AllGather, {OpKind::GatherCopyIn}},
        {OpKind::CopyOut, {OpKind::AllGather}},
        {OpKind::KeepSlice, {OpKind::CopyOut}},
        {OpKind::PreDivide, {OpKind::ReduceCopyIn}},
        {OpKind::ReduceScatter, {OpKind::ReduceCopyIn, OpKind::PreDivide}},
        {OpKind::AddPartial, {OpKind::ReduceScatter}},
        {OpKind::AllReduce, {OpKind::ReduceCopyIn, OpKind::ReduceScatter, OpKind::AddPartial, OpKind::BucketCopyIn}},
        {OpKind::PostDivide, {OpKind::ReduceScatter, OpKind::AllReduce}},
        {OpKind::ReduceCopyOut,
         {OpKind::ReduceCopyIn, OpKind::ReduceScatter, OpKind::AllReduce, OpKind::PostDivide, OpKind::AddPartial}},
        {OpKind::BucketCopyOut, {OpKind::AllReduce}},
    };
    for (const core::RankClass& rankClass : graph.classes) {
        Latest latest(plan, at);
        for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op) {
            const core::Op& it = graph.ops[op];
            const char* property = "data is there before it is used";
            if (const auto after = kAfter.find(it.kind); after != kAfter.end())
                for (const OpKind kind : after->second)
                    if (!latest.follows(op, kind, it.unit.value))
                        return broken(property, opText(plan, op) + " before the " + std::string(core::nameOf(kind)));
            if (it.kind == OpKind::Compute && graph.plan.policy == core::UnitPolicy::Fsdp)
                for (const std::uint32_t unit : unitsRead(plan, it.kernels, unitOf))
                    if (!latest.follows(op, OpKind::CopyOut, unit))
                        return broken(property, opText(plan, op) + " before the copy-out of " + graph.units[unit].name);
            if (it.kind == OpKind::OptimizerStep)
                for (const OpKind kind : {OpKind::ReduceCopyOut, OpKind::BucketCopyOut, OpKind::AllReduce,
                                          OpKind::Receive, OpKind::AddGradient})
                    if (!latest.followsAll(op, kind))
                        return broken(property, "the optimizer before a " + std::string(core::nameOf(kind)));
            latest.add(op);
        }
        if (auto found = checkReuse(plan, rankClass, at)) return found;
    }
    return {};
}

Found checkTimes(const PlanReport& plan, const core::Cluster& cluster) {
    const core::StepGraph& graph = *plan.graph;
    const sim::Prices prices = sim::priceGraph(graph, *plan.model, cluster);
    for (std::size_t op = 0; op < prices.duration.size(); ++op)
        if (prices.duration[op] < 0 || prices.release[op] < 0)
            return broken("no price is negative", opText(plan, static_cast<std::uint32_t>(op)));
    for (const core::RankClass& rankClass : graph.classes) {
        std::vector<std::int64_t> busy(graph.streams.size(), 0);
        for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op)
            busy[graph.ops[op].stream] += prices.duration[op];
        for (std::size_t stream = 0; stream < busy.size(); ++stream)
            if (busy[stream] > plan.stepNs)
                return broken("a step takes no less than its busiest stream",
                              fmt::format("{} ns of work on {} in a step of {} ns", busy[stream],
                                          graph.streams[stream].name, plan.stepNs));
    }
    for (const cli::ClassReport& one : plan.classes) {
        const timeline::Breakdown& t = one.times;
        if (t.compute + t.transfer + t.copy + t.waiting + t.idle != plan.stepNs || t.step != plan.stepNs)
            return broken("the five times make the step", one.name);
        if (std::min({t.compute, t.transfer, t.copy, t.waiting, t.idle}) < 0)
            return broken("no time is negative and none beyond the step", one.name);
        std::int64_t blamed = 0;
        for (const timeline::CauseTotal& cause : one.causes) {
            blamed += cause.time;
            if (cause.time <= 0) return broken("every cause has cost time", one.name);
        }
        if (blamed != plan.stepNs - t.compute) return broken("causes cover all that is not compute", one.name);
        if (one.work.total() != t.compute) return broken("kinds of work make compute", one.name);
    }
    for (const cli::IdleClass& one : cli::whyIdle(plan).classes)
        for (const cli::LongWait& wait : one.waits) {
            std::int64_t until = wait.endNs;
            for (const cli::WaitLink& link : wait.chain) {
                if (link.untilNs > until || link.untilNs <= wait.beginNs)
                    return broken("a chain of waits leads back in time", plan.classes[one.row].name);
                until = link.untilNs;
            }
        }
    constexpr std::int64_t kMostRanks = 8;
    if (plan.ranks > kMostRanks) return {};
    sim::RunOptions apart;
    apart.offsets.assign(static_cast<std::size_t>(plan.ranks), 0);
    const auto single = sim::simulate(graph, prices, apart);
    if (!single) return broken("ranks one by one end", core::describe(single.error()));
    if (single->step != plan.stepNs)
        return broken("ranks one by one take what they take folded",
                      fmt::format("{} ns instead of {} ns", single->step, plan.stepNs));
    return {};
}

}  // namespace shardscope::tests
