// The graph against runs of FSDP1 (PyTorch 2.6.0, CPU, gloo; tests/data/sharded/README.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "core/graph/build.h"
#include "core/graph/optimizer_state.h"
#include "tests/checkers/support/recorded_case.h"
#include "tests/checkers/support/recorded_events.h"

namespace shardscope::core {
namespace {

const Document* member(const Document& table, const char* key) {
    return table.find(key);
}

struct Recorded {
    std::string id;
    Model model;
    Plan plan;
    Document steps;
};

Recorded recordedCase(const Document& record) {
    Recorded made;
    made.id = record.find("id")->text;
    const Document& config = *record.find("config");
    const auto integer = [&](const char* key, std::int64_t otherwise) {
        const Document* value = config.find(key);
        return value == nullptr ? otherwise : value->integer;
    };
    Plan& plan = made.plan;
    plan.fsdp.flat = true;
    plan.optimizer = OptimizerKind::Sgd;
    plan.mesh.dpShard = integer("world", 2);
    if (const Document* mesh = member(config, "mesh")) {
        plan.mesh.dpReplicate = mesh->items[0].integer;
        plan.mesh.dpShard = mesh->items[1].integer;
    }
    if (const Document* strategy = member(config, "strategy"); strategy != nullptr && strategy->text == "SHARD_GRAD_OP")
        plan.fsdp.reshardAfterForward = {Reshard::Kind::False, 0};
    if (const Document* prefetch = member(config, "bp"))
        plan.fsdp.flatPrefetch =
            prefetch->text == "NONE" ? FsdpKnobs::FlatPrefetch::None : FsdpKnobs::FlatPrefetch::After;
    if (const Document* limit = member(config, "limit")) plan.fsdp.limitAllGathers = limit->boolean;
    if (const Document* types = member(config, "mp")) {
        plan.precision.param = dtypeFromName(types->find("param_dtype")->text);
        const Document* reduce = types->find("reduce_dtype");
        plan.precision.reduce = reduce == nullptr ? *plan.precision.param : *dtypeFromName(reduce->text);
    }
    plan.microBatches = integer("accum", 1);
    if (integer("no_sync", 0) == 1) plan.gradientSync = GradientSync::LastMicroBatch;
    plan.evaluation = integer("eval", 0) == 1;
    checkers::ToySizes sizes;
    sizes.model.blocks = integer("blocks", 4);
    if (integer("freeze", 0) == 1) sizes.frozen = {"blocks.0"};
    auto model = checkers::toyModel(sizes, plan.precision.compute());
    EXPECT_TRUE(model) << describe(model.error());
    made.model = std::move(*model);
    made.steps = *record.find("steps");
    return made;
}

std::vector<Recorded> recordings() {
    const auto records = checkers::readJsonLines(SHARDSCOPE_TEST_DATA "/sharded/fsdp1.jsonl");
    EXPECT_TRUE(records) << describe(records.error());
    std::vector<Recorded> all;
    if (records)
        for (const Document& record : *records) all.push_back(recordedCase(record));
    return all;
}

// Host actions in the words of the recordings.
class Lines {
public:
    explicit Lines(const StepGraph& graph) : m_graph(graph) {}

    std::vector<std::string> all() {
        const RankClass& c = m_graph.classes[0];
        for (m_at = c.actionBegin; m_at < c.actionEnd; ++m_at) {
            const HostAction& action = m_graph.actions[m_at];
            if (action.kind == HostActionKind::Mark) mark(action);
        }
        return std::move(m_lines);
    }

private:
    const Op& next(OpKind kind) const {
        std::uint32_t a = m_at;
        while (m_graph.actions[a].kind != HostActionKind::Launch ||
               m_graph.ops[m_graph.actions[a].op.index()].kind != kind)
            ++a;
        m_found = m_graph.actions[a].op;
        return m_graph.ops[m_found.index()];
    }
    static std::string sizes(const Op& op) {
        return fmt::format("{} {}", op.bytes.value / sizeOf(op.dtype), checkers::shortName(op.dtype));
    }

    void mark(const HostAction& action) {
        const std::string unit = action.unit.valid() ? m_graph.units[action.unit.index()].name : "";
        switch (action.mark) {
            case Mark::GatherIssued: {
                const std::string line = fmt::format("ag {} {}", unit, sizes(next(OpKind::AllGather)));
                OpId last;
                for (const Edge& edge : m_graph.waitsOf(m_found))
                    if (edge.reason == EdgeReason::MemoryLimit && (!last.valid() || last < edge.from)) last = edge.from;
                m_lines.push_back(last.valid()
                                      ? line + " after=" + m_graph.units[m_graph.ops[last.index()].unit.index()].name
                                      : line);
                break;
            }
            case Mark::Resharded: m_lines.push_back("free " + unit); break;
            case Mark::LossBackward: m_lines.emplace_back("loss_backward"); break;
            case Mark::PreBackward: m_lines.push_back("pre_bwd " + unit); break;
            case Mark::PostBackward: {
                // The flat gradient was made just before.
                const OpId made = lastFlattened(action.unit);
                m_lines.push_back(fmt::format("post_bwd {} {}", unit, sizes(m_graph.ops[made.index()])));
                break;
            }
            case Mark::Divided: {
                const Op& op = next(action.index == 0 ? OpKind::PreDivide : OpKind::PostDivide);
                m_lines.push_back(fmt::format("div {:g} {}", op.factor, sizes(op)));
                break;
            }
            case Mark::ReduceIssued: m_lines.push_back("rs " + sizes(next(OpKind::ReduceScatter))); break;
            case Mark::AllReduceIssued: m_lines.push_back("ar " + sizes(next(OpKind::AllReduce))); break;
            case Mark::FinalBegin: m_lines.emplace_back("final_begin"); break;
            default: break;
        }
    }

    OpId lastFlattened(UnitId unit) const {
        for (std::uint32_t a = m_at; a-- > 0;) {
            const HostAction& action = m_graph.actions[a];
            if (action.kind != HostActionKind::Launch) continue;
            const Op& op = m_graph.ops[action.op.index()];
            if (op.kind == OpKind::KeepGradients && op.unit == unit) return action.op;
        }
        return OpId(0);
    }

    const StepGraph& m_graph;
    std::uint32_t m_at = 0;
    mutable OpId m_found;
    std::vector<std::string> m_lines;
};

TEST(GraphFollowsFsdp1, hostActionsAreThoseOfTheFramework) {
    std::size_t steps = 0;
    for (const Recorded& recorded : recordings())
        for (const Document& step : recorded.steps.items) {
            SCOPED_TRACE(fmt::format("{}, step {}", recorded.id, step.find("step")->integer));
            Plan plan = recorded.plan;
            plan.firstStep = step.find("step")->integer == 1;
            plan.afterEvaluation = plan.evaluation && !plan.firstStep;
            const auto graph = buildStepGraph(recorded.model, plan);
            ASSERT_TRUE(graph) << describe(graph.error());
            const std::vector<std::string> ours = Lines(*graph).all();
            std::vector<std::string> theirs;
            for (const Document& line : step.find("events")->items) theirs.push_back(line.text);
            EXPECT_EQ(ours, theirs);
            ++steps;
        }
    EXPECT_EQ(steps, 24u);
}

// Toy model of 4 blocks of 148 elements, root 185, on 2 ranks: padded to 186 (PyTorch 2.6.0: flat parameters of 74
// and 93 elements a rank, and AdamW's state of the same sizes).
TEST(GraphFollowsFsdp1, aUnitIsPaddedOnceAndTheOptimizerUpdatesThePaddingToo) {
    for (const Recorded& recorded : recordings()) {
        if (recorded.id != "full_shard") continue;
        Plan plan = recorded.plan;
        plan.optimizer = OptimizerKind::AdamW;
        const auto graph = buildStepGraph(recorded.model, plan);
        ASSERT_TRUE(graph);
        EXPECT_EQ(graph->units.back().paddedElements, 186);
        EXPECT_EQ(graph->units.front().paddedElements, 148);
        EXPECT_EQ(optimizerStateBytes(recorded.model, graph->units, plan, 1).value, 2 * 4 * (93 + 4 * 74));
        const auto step = std::ranges::find(graph->ops, OpKind::OptimizerStep, &Op::kind);
        EXPECT_EQ(step->launches, 5);
        plan.fsdp.flat = false;
        EXPECT_EQ(buildStepGraph(recorded.model, plan)->units.back().paddedElements, 228);
        return;
    }
    FAIL() << "the case is gone";
}

// Beside the gathered units there are no gather buffers, and no op copies out; a reduction waits for no earlier one.
TEST(GraphFollowsFsdp1, gathersWriteIntoTheParametersAndReductionsAreNotWaitedFor) {
    for (const Recorded& recorded : recordings()) {
        const auto graph = buildStepGraph(recorded.model, recorded.plan);
        ASSERT_TRUE(graph);
        for (const Block& block : graph->blocks) EXPECT_NE(block.category, MemoryCategory::GatherBuffers);
        for (const Op& op : graph->ops) EXPECT_NE(op.kind, OpKind::CopyOut);
        for (std::size_t i = 0; i < graph->ops.size(); ++i)
            for (const Edge& edge : graph->waitsOf(OpId(i)))
                EXPECT_TRUE(edge.reason != EdgeReason::MemoryLimit || graph->ops[i].kind == OpKind::AllGather ||
                            graph->ops[i].kind == OpKind::GatherCopyIn);
    }
}

Error refusalOf(const std::function<void(Plan&)>& change, std::vector<std::string> frozen = {}) {
    checkers::ToySizes sizes;
    sizes.frozen = std::move(frozen);
    const Model model = *checkers::toyModel(sizes);
    Plan plan;
    plan.fsdp.flat = true;
    plan.mesh.dpShard = 2;
    change(plan);
    const auto graph = buildStepGraph(model, plan);
    EXPECT_FALSE(graph);
    return graph ? Error{} : graph.error();
}

TEST(GraphFollowsFsdp1, whatItDoesNotHaveIsRefusedWithItsPlace) {
    EXPECT_EQ(refusalOf([](Plan& p) { p.fsdp.reduceInputs = 2; }).where, "[parallelism] fsdp_reduce_scatter_inputs");
    EXPECT_EQ(refusalOf([](Plan& p) {
                  p.fsdp.reshardAfterForward = {Reshard::Kind::Group, 2};
              }).where,
              "[parallelism] fsdp_reshard_after_forward");
    EXPECT_EQ(refusalOf([](Plan& p) { p.fsdp.forwardPrefetch = 1; }).code, ErrorCode::Unsupported);
    EXPECT_EQ(refusalOf([](Plan& p) { p.fsdp.cpuOffload = true; }).where, "[training] enable_cpu_offload");
    EXPECT_EQ(refusalOf([](Plan& p) { p.mesh.dpShard = 1; }).where, "[parallelism] fsdp_version");
    EXPECT_NE(refusalOf([](Plan& p) { p.fsdp.wrap.blocksPerUnit = 2; }).message.find("wraps one"), std::string::npos);
    // PyTorch refuses it as well: a flat parameter is trained or not.
    EXPECT_EQ(refusalOf([](Plan&) {}, {"blocks.0.norm"}).where, "[training] frozen");
    const auto inner = [](Plan& p) {
        p.checkpointing.mode = Checkpointing::Mode::Full;
        p.fsdp.wrap.kind = UnitWrap::Kind::List;
        p.fsdp.wrap.units = {{"blocks.0.fc1"}, {"blocks.0"}};
    };
    EXPECT_NE(refusalOf(inner).message.find("checkpointed"), std::string::npos);
}

}  // namespace
}  // namespace shardscope::core
