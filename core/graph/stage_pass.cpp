#include "core/graph/stage_pass.h"

#include <algorithm>
#include <numeric>

namespace shardscope::core {

StagePass::StagePass(ClassContext& context, UnitRules& rules, const StageLinks& links)
    : m_c(context), m_rules(rules), m_links(links) {
    const std::vector<PassSlot> slots = slotsOf(context.script, context.stage);
    m_plan = planActivations(context.model, context.stage, slots, context.recompute);
    m_releaseOrder.resize(m_plan.pieces.size());
    std::iota(m_releaseOrder.begin(), m_releaseOrder.end(), 0u);
    std::stable_sort(m_releaseOrder.begin(), m_releaseOrder.end(), [&](std::uint32_t a, std::uint32_t b) {
        return m_plan.pieces[a].lastSlot < m_plan.pieces[b].lastSlot;
    });
}

void StagePass::begin(std::int64_t microBatch) {
    m_c.microBatch = static_cast<std::uint16_t>(microBatch);
    m_slot = m_allocated = m_released = 0;
    m_blocks.assign(m_plan.pieces.size(), {});
    HostAction mark;
    mark.mark = Mark::MicroBegin;
    mark.index = static_cast<std::uint32_t>(microBatch);
    m_c.builder.mark(mark);
}

void StagePass::enterSlot() {
    GraphBuilder& b = m_c.builder;
    for (; m_allocated < m_plan.pieces.size() && m_plan.pieces[m_allocated].firstSlot == m_slot; ++m_allocated) {
        const ActivationPlan::Piece& piece = m_plan.pieces[m_allocated];
        Block block;
        block.category = MemoryCategory::Activations;
        block.layer = piece.layer;
        block.bytes = piece.bytes;
        block.pool = m_c.computeStream;
        block.microBatch = m_c.microBatch;
        m_blocks[m_allocated] =
            b.allocate(block, std::span(m_plan.storages).subspan(piece.begin, piece.end - piece.begin));
    }
    m_workspace = {};
    if (m_plan.workspace[m_slot].value == 0) return;
    Block block;
    block.category = MemoryCategory::Workspace;
    block.bytes = m_plan.workspace[m_slot];
    block.pool = m_c.computeStream;
    block.microBatch = m_c.microBatch;
    m_workspace = b.allocate(block);
}

void StagePass::leaveSlot(OpId op) {
    GraphBuilder& b = m_c.builder;
    for (std::size_t p = m_allocated; p-- > 0 && m_plan.pieces[p].firstSlot == m_slot;) b.use(m_blocks[p], op);
    if (m_workspace.valid()) {
        b.use(m_workspace, op);
        b.release(m_workspace);
    }
    for (; m_released < m_releaseOrder.size(); ++m_released) {
        const std::uint32_t piece = m_releaseOrder[m_released];
        if (m_plan.pieces[piece].lastSlot != m_slot) break;
        b.use(m_blocks[piece], op);
        b.release(m_blocks[piece]);
    }
    ++m_slot;
}

void StagePass::run(const std::vector<PassStep>& steps) {
    GraphBuilder& b = m_c.builder;
    for (const PassStep& step : steps) {
        switch (step.kind) {
            case PassStep::Kind::ForwardBegin: b.markModule(Mark::ForwardBegin, step.module); break;
            case PassStep::Kind::ForwardEnd: b.markModule(Mark::ForwardEnd, step.module); break;
            case PassStep::Kind::BackwardBegin: b.markModule(Mark::BackwardBegin, step.module); break;
            case PassStep::Kind::BackwardEnd: b.markModule(Mark::BackwardEnd, step.module); break;
            case PassStep::Kind::RecomputeBegin: b.markModule(Mark::RecomputeBegin, step.module); break;
            case PassStep::Kind::RecomputeEnd: b.markModule(Mark::RecomputeEnd, step.module); break;
            case PassStep::Kind::RecomputeStopped: b.markModule(Mark::RecomputeStopped, step.module); break;
            case PassStep::Kind::EnterRecompute:
            case PassStep::Kind::LeaveRecompute:
            case PassStep::Kind::EnterUnit:
            case PassStep::Kind::LeaveUnit:
            case PassStep::Kind::PreBackward:
            case PassStep::Kind::PostBackward: m_rules.act(step); break;
            case PassStep::Kind::Kernels: {
                enterSlot();
                m_rules.beforeCompute(step);
                const Layer& layer = m_c.model.layers[step.kernels.layer.index()];
                Op op;
                op.kind = OpKind::Compute;
                op.stream = m_c.computeStream;
                op.microBatch = m_c.microBatch;
                op.kernels = step.kernels;
                op.dtype = m_c.model.workload.dtype;
                op.phase = step.kernels.backward           ? Phase::Backward
                           : step.recompute                ? Phase::Recompute
                           : layer.kind == LayerKind::Loss ? Phase::Loss
                                                           : Phase::Forward;
                if (step.begin != step.end) op.unit = m_c.script.touched[step.begin].unit;
                op.launches = static_cast<std::uint16_t>(std::min<std::uint32_t>(step.kernels.count, 65535));
                m_lastCompute = b.addOp(op);
                m_rules.afterCompute(step, m_lastCompute);
                leaveSlot(m_lastCompute);
                break;
            }
        }
    }
}

void StagePass::forward() {
    run(m_c.script.forward);
}

void StagePass::loss() {
    run(m_c.script.loss);
    if (m_c.script.forwardOnly) return;
    m_c.builder.mark(Mark::LossBackward);
    run(m_c.script.lossBackward);
}

void StagePass::backward() {
    run(m_c.script.backward);
}

void StagePass::end() {
    m_rules.endBackward();
    m_c.builder.mark(Mark::BackwardReturned);
    m_rules.afterBackward();
}

// Both ends of a message count the same: the boundary by its earlier stage, the micro-batch, the direction.
std::uint32_t StagePass::match(std::int64_t stage, bool gradient) const {
    return static_cast<std::uint32_t>((stage * m_c.plan.microBatches + m_c.microBatch) * 2 + (gradient ? 1 : 0));
}

OpId StagePass::transfer(OpKind kind, GroupId group, Phase phase, Bytes bytes, DType type, LayerId boundary,
                         std::uint32_t number) {
    Op op;
    op.kind = kind;
    op.phase = phase;
    op.stream = m_links.stream;
    op.microBatch = m_c.microBatch;
    op.group = group;
    op.match = number;
    op.bytes = bytes;
    op.dtype = type;
    op.boundary = boundary;
    return m_c.builder.addOp(op);
}

void StagePass::receiveInput() {
    if (m_c.stage.first()) return;
    enterSlot();
    const std::int64_t from = m_c.stage.index - 1;
    const OpId op = transfer(OpKind::Receive, m_links.next[static_cast<std::size_t>(from)], Phase::Forward,
                             m_plan.input, m_plan.inputType, LayerId(m_c.stage.begin.index() - 1), match(from, false));
    m_c.builder.waitOp(m_c.computeStream, op, EdgeReason::Data);
    leaveSlot(op);
}

void StagePass::sendOutput() {
    if (m_c.stage.last()) return;
    enterSlot();
    m_c.builder.waitOp(m_links.stream, m_lastCompute, EdgeReason::Data);
    const OpId op =
        transfer(OpKind::Send, m_links.next[static_cast<std::size_t>(m_c.stage.index)], Phase::Forward, m_plan.output,
                 m_plan.outputType, LayerId(m_c.stage.end.index() - 1), match(m_c.stage.index, false));
    leaveSlot(op);
}

void StagePass::receiveGradient() {
    if (m_c.stage.last()) return;
    enterSlot();
    const OpId op =
        transfer(OpKind::Receive, m_links.next[static_cast<std::size_t>(m_c.stage.index)], Phase::Backward,
                 m_plan.output, m_plan.outputType, LayerId(m_c.stage.end.index() - 1), match(m_c.stage.index, true));
    m_c.builder.waitOp(m_c.computeStream, op, EdgeReason::Data);
    leaveSlot(op);
}

void StagePass::sendGradient() {
    if (m_c.stage.first()) return;
    enterSlot();
    const std::int64_t to = m_c.stage.index - 1;
    // It waits for the op that made the gradient, not for reductions that the compute stream waits for later.
    m_c.builder.waitOp(m_links.stream, m_lastCompute, EdgeReason::Data);
    const OpId op = transfer(OpKind::Send, m_links.next[static_cast<std::size_t>(to)], Phase::Backward, m_plan.input,
                             m_plan.inputType, LayerId(m_c.stage.begin.index() - 1), match(to, true));
    leaveSlot(op);
}

void StagePass::sumTiedGradients() {
    GraphBuilder& b = m_c.builder;
    const DType type = m_c.plan.policy == UnitPolicy::None ? m_c.plan.precision.compute() : m_c.plan.precision.original;
    // Numbers after those of all micro-batches' messages.
    auto number = static_cast<std::uint32_t>(m_c.stage.count * m_c.plan.microBatches * 2);
    for (const StageLinks::Tied& tied : m_links.tied) {
        const std::uint32_t down = number++, up = number++;
        const bool first = m_c.stage.index == tied.firstStage;
        if (!first && m_c.stage.index != tied.secondStage) continue;
        const UnitId unit = m_rules.tiedUnit(tied.parameters);
        const Bytes bytes = m_rules.tiedGradientBytes(tied.parameters);
        Block block;
        block.category = MemoryCategory::Workspace;
        block.unit = unit;
        block.bytes = bytes;
        block.pool = m_links.stream;
        const BlockId received = b.allocate(block);
        b.waitStream(m_links.stream, m_c.computeStream, EdgeReason::Data);
        OpId in, out;
        const auto send = [&] {
            out = transfer(OpKind::Send, tied.group, Phase::Reduction, bytes, type, {}, first ? down : up);
            m_rules.useGradients(unit, out);
        };
        const auto receive = [&] {
            in = transfer(OpKind::Receive, tied.group, Phase::Reduction, bytes, type, {}, first ? up : down);
            b.use(received, in);
        };
        if (first) {
            send();
            receive();
        } else {
            receive();
            send();
        }
        // The own gradient changes only after it was sent.
        b.waitOp(m_c.computeStream, out, EdgeReason::MemoryLimit);
        b.waitOp(m_c.computeStream, in, EdgeReason::Data);
        Op add;
        add.kind = OpKind::AddGradient;
        add.phase = Phase::Reduction;
        add.stream = m_c.computeStream;
        add.microBatch = m_c.microBatch;
        add.unit = unit;
        add.dtype = type;
        add.bytes = add.written = bytes;
        add.read = bytes + bytes;
        const OpId added = b.addOp(add);
        b.use(received, added);
        m_rules.useGradients(unit, added);
        b.release(received);
    }
}

}  // namespace shardscope::core
