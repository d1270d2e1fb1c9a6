#include "tests/checkers/support/recorded_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace shardscope::checkers {

using namespace core;

namespace {

using Details = std::map<std::string, std::string>;

std::string number(double value) {
    return fmt::format("{:g}", value);
}

std::string line(const std::string& name, const std::string& subject, const Details& details = {}) {
    std::string text = name;
    if (!subject.empty()) text += " " + subject;
    for (const auto& [key, value] : details) text += fmt::format(" {}={}", key, value);
    return text;
}

class Renderer {
public:
    Renderer(const StepGraph& graph, const RankClass& rankClass, const Model& model,
             const std::vector<std::string>& observed)
        : m_graph(graph), m_class(rankClass), m_model(model), m_observed(observed) {
        for (const Unit& unit : graph.units) m_hasRoot |= unit.isRoot;
    }

    std::vector<std::string> render() {
        for (m_action = m_class.actionBegin; m_action < m_class.actionEnd; ++m_action) {
            const HostAction& action = m_graph.actions[m_action];
            if (action.kind != HostActionKind::Mark) continue;
            if (action.module.valid() && !isObserved(action.module)) continue;
            m_lines.push_back(lineOf(action));
        }
        return std::move(m_lines);
    }

private:
    [[nodiscard]] bool isObserved(ModuleId module) const {
        if (module.index() == 0) return m_hasRoot;
        return std::find(m_observed.begin(), m_observed.end(), m_model.modules[module.index()].name) !=
               m_observed.end();
    }

    // The next op of these kinds that is launched for the unit.
    [[nodiscard]] const Op* nextOp(UnitId unit, std::initializer_list<OpKind> kinds) const {
        for (std::uint32_t a = m_action; a < m_class.actionEnd; ++a) {
            const HostAction& action = m_graph.actions[a];
            if (action.kind != HostActionKind::Launch) continue;
            const Op& op = m_graph.ops[action.op.index()];
            if (op.unit == unit && std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end()) return &op;
        }
        return nullptr;
    }

    [[nodiscard]] Details transfer(const Op& op, bool gather) const {
        const Group& group = m_graph.groups[op.group.index()];
        const std::int64_t whole = op.bytes.value / sizeOf(op.dtype), part = whole / group.size;
        Details details{{"n", number(static_cast<double>(group.size))},
                        {"in_numel", number(static_cast<double>(gather ? part : whole))},
                        {"out_numel", number(static_cast<double>(gather ? whole : part))},
                        {"dtype", shortName(op.dtype)}};
        if (group.kind == Group::Kind::ShardSubgroup) details["sub"] = "true";
        if (gather && m_graph.plan.fsdp.asyncUnshard) details["async"] = "true";
        if (!gather && m_graph.plan.fsdp.separateReduceGroup) details["own_group"] = "true";
        return details;
    }

    [[nodiscard]] std::string lineOf(const HostAction& action) const {
        const std::string unit = action.unit.valid() ? m_graph.units[action.unit.index()].name : "";
        std::string module;
        if (action.module.valid())
            module = action.module.index() == 0 ? "root" : m_model.modules[action.module.index()].name;
        switch (action.mark) {
            case Mark::MicroBegin: return line("micro_begin", std::to_string(action.index));
            case Mark::ForwardBegin: return line("fwd_begin", module);
            case Mark::ForwardEnd: return line("fwd_end", module);
            case Mark::GatherIssued: return gatherLine(action, unit);
            case Mark::GatherWaited: return line("ag_wait", unit);
            case Mark::GatherFreed: return line("ag_buf_free", unit);
            case Mark::Resharded: return line("reshard", unit);
            case Mark::ReshardedPartly:
                return line("reshard_partial", unit,
                            {{"k", std::to_string(m_graph.units[action.unit.index()].reshard.group)}});
            case Mark::LossBackward: return line("loss_backward", "");
            case Mark::PreBackward: return line("pre_bwd", unit);
            case Mark::BackwardBegin: return line("bwd_begin", module);
            case Mark::BackwardEnd: return line("bwd_end", module);
            case Mark::RecomputeBegin: return line("re_begin", module);
            case Mark::RecomputeEnd: return line("re_end", module);
            case Mark::RecomputeStopped: return line("re_stop", module);
            case Mark::PostBackward:
                return line("post_bwd", unit,
                            {{"by", !action.final                      ? "autograd"
                                    : m_graph.plan.fsdp.manualFinalize ? "user_finalize"
                                                                       : "final"}});
            case Mark::ReduceCopyIn: return copyInLine(action.unit, unit);
            case Mark::Divided: {
                const Op* op = nextOp(action.unit, {OpKind::PreDivide, OpKind::PostDivide});
                if (op == nullptr) return line("div", unit);
                return line("div", unit,
                            {{"factor", number(op->factor)},
                             {"numel", number(static_cast<double>(op->bytes.value / sizeOf(op->dtype)))}});
            }
            case Mark::ReduceIssued: {
                const Op* op = nextOp(action.unit, {OpKind::ReduceScatter, OpKind::ReduceCopyOut});
                if (op == nullptr || op->kind != OpKind::ReduceScatter) return line("rs_local", unit);
                return line("rs", unit, transfer(*op, false));
            }
            case Mark::AllReduceIssued: {
                const Op* op = nextOp(action.unit, {OpKind::AllReduce});
                if (op == nullptr) return line("ar", unit);
                return line("ar", unit,
                            {{"n", number(static_cast<double>(m_graph.groups[op->group.index()].size))},
                             {"numel", number(static_cast<double>(op->bytes.value / sizeOf(op->dtype)))},
                             {"dtype", shortName(op->dtype)}});
            }
            case Mark::GradientKept: return keepLine(action.unit, unit);
            case Mark::PartialSet: return line("partial_set", unit);
            case Mark::PartialAdded: return line("partial_add", unit);
            case Mark::ReduceFreed: return line("rs_buf_free", unit);
            case Mark::GradientSet: return line("grad_set", unit);
            case Mark::GradientAdded: return line("grad_add", unit);
            case Mark::UnusedPrefetchDropped: return line("unused_prefetch_drop", unit);
            case Mark::FinalBegin: return line("final_begin", "");
            case Mark::FinalEnd: return line("final_end", "");
            case Mark::BackwardReturned: return line("backward_returned", "");
            case Mark::UserFinalize: return line("user_finalize", "");
            case Mark::ClipGradients: return line("clip", "");
            case Mark::OptimizerStep: return line("opt_step", "");
            case Mark::ZeroGradients: return line("zero_grad", "");
        }
        return "?";
    }

    [[nodiscard]] std::string gatherLine(const HostAction& action, const std::string& unit) const {
        static const std::map<GatherReason, std::string> kWhy = {{GatherReason::Demand, "demand"},
                                                                 {GatherReason::ImplicitBackward, "implicit_bwd"},
                                                                 {GatherReason::ExplicitForward, "explicit_fwd"},
                                                                 {GatherReason::ExplicitBackward, "explicit_bwd"}};
        const Op* op = nextOp(action.unit, {OpKind::AllGather, OpKind::CopyOut});
        if (op == nullptr || op->kind != OpKind::AllGather)
            return line("ag_local", unit, {{"why", kWhy.at(action.why)}});
        Details details = transfer(*op, true);
        details["why"] = kWhy.at(action.why);
        return line("ag", unit, details);
    }

    [[nodiscard]] std::string keepLine(UnitId id, const std::string& name) const {
        const Precision& p = m_graph.plan.precision;
        const DType kept = sizeOf(p.reduction()) < sizeOf(p.compute()) ? p.compute() : p.reduction();
        return line("grad_keep", name,
                    {{"numel", std::to_string(m_graph.units[id.index()].trainedElements)}, {"dtype", shortName(kept)}});
    }

    [[nodiscard]] std::string copyInLine(UnitId id, const std::string& name) const {
        const Op* op = nextOp(id, {OpKind::ReduceCopyIn});
        const Unit& unit = m_graph.units[id.index()];
        if (op == nullptr || unit.trainedElements == 0) return line("rs_copy_in", name);
        // The op tells how many bytes it reads; of the two dtypes in play one has that size, unless both occur.
        const bool mixed = unit.originalTrained > 0 && unit.originalTrained < unit.trainedElements;
        const std::int64_t size = (op->read - (op->written - op->bytes)).value / unit.trainedElements;
        const DType compute = m_graph.plan.precision.compute();
        const auto trained = std::count_if(unit.parameters.begin(), unit.parameters.end(),
                                           [&](ParameterId p) { return !m_model.parameters[p.index()].frozen; });
        return line("rs_copy_in", name,
                    {{"params", std::to_string(trained)},
                     {"numel", std::to_string(unit.trainedElements)},
                     {"grad_dtype", mixed ? shortName(compute) + "+" + shortName(m_graph.plan.precision.original)
                                          : shortName(size == sizeOf(compute) ? compute : op->dtype)},
                     {"reduce_dtype", shortName(op->dtype)}});
    }

    const StepGraph& m_graph;
    const RankClass& m_class;
    const Model& m_model;
    const std::vector<std::string>& m_observed;
    bool m_hasRoot = false;
    std::uint32_t m_action = 0;
    std::vector<std::string> m_lines;
};

std::string textOf(const Document& value) {
    switch (value.kind) {
        case Document::Kind::Boolean: return value.boolean ? "true" : "false";
        case Document::Kind::Integer: return number(static_cast<double>(value.integer));
        case Document::Kind::Real: return number(value.real);
        case Document::Kind::Text: return value.text;
        default: return writeJson(value, false);
    }
}

}  // namespace

std::string shortName(DType type) {
    switch (type) {
        case DType::F32: return "f32";
        case DType::BF16: return "bf16";
        case DType::F16: return "f16";
        case DType::F64: return "f64";
        case DType::U8: return "u8";
        default: return std::string(nameOf(type));
    }
}

std::vector<std::string> renderEvents(const StepGraph& graph, const RankClass& rankClass, const Model& model,
                                      const std::vector<std::string>& observed) {
    return Renderer(graph, rankClass, model, observed).render();
}

std::vector<std::string> recordedEvents(const Document& step) {
    std::vector<std::string> lines;
    const Document* events = step.find("events");
    if (events == nullptr) return lines;
    for (const Document& event : events->items) {
        if (event.items.empty()) continue;
        Details details;
        std::string subject;
        for (std::size_t i = 1; i < event.items.size(); ++i) {
            if (event.items[i].kind == Document::Kind::Table)
                for (const auto& [key, value] : event.items[i].members) details[key] = textOf(value);
            else if (event.items[i].kind != Document::Kind::Null)
                subject = textOf(event.items[i]);
        }
        lines.push_back(line(event.items[0].text, subject, details));
    }
    return lines;
}

}  // namespace shardscope::checkers
