#include "core/graph/clip_gradients.h"

#include "core/graph/optimizer_state.h"

namespace shardscope::core {

namespace {

constexpr Bytes kScalar{4};

class Clipping {
public:
    Clipping(ClassContext& context, UnitRules& rules, const StageLinks& links)
        : m_c(context), m_rules(rules), m_links(links), m_stream(rules.gradientStream()) {}

    void run() {
        m_c.builder.mark(Mark::ClipGradients);
        Op norm = op(OpKind::GradientNorm, m_stream);
        norm.bytes = norm.read = m_rules.gradientBytes();
        add(norm);
        if (const auto shards = m_rules.shardsOfGradients()) sumOver(*shards);
        if (m_c.stage.count > 1) passOverStages();
        Op scale = op(OpKind::ScaleGradients, m_stream);
        scale.bytes = scale.read = scale.written = m_rules.gradientBytes();
        add(scale);
    }

private:
    [[nodiscard]] Op op(OpKind kind, std::uint8_t stream) const {
        Op made;
        made.kind = kind;
        made.phase = Phase::Optimizer;
        made.stream = stream;
        made.microBatch = m_c.microBatch;
        made.dtype = m_c.plan.precision.original;
        return made;
    }

    void add(Op made) {
        made.launches = trainedTensors(m_c.model, m_c.units, m_c.plan);
        m_last = m_c.builder.addOp(made);
        m_rules.useAllGradients(m_last);
    }

    // What follows on the gradients' stream waits for `made`, which waits for what came before there.
    void addBeside(Op made) {
        made.dtype = DType::F32;
        made.bytes = kScalar;
        m_c.builder.waitOp(made.stream, m_last, EdgeReason::Data);
        m_last = m_c.builder.addOp(made);
        m_c.builder.waitOp(m_stream, m_last, EdgeReason::Data);
    }

    void sumOver(const UnitRules::ShardsOfGradients& shards) {
        Op sum = op(OpKind::AllReduce, shards.stream);
        sum.group = shards.group;
        addBeside(sum);
    }

    // The first stage adds up the other stages' squares and tells each the sum, as PyTorch does on the first device.
    void passOverStages() {
        const std::int64_t own = m_c.stage.index;
        for (const bool back : {false, true})
            for (std::int64_t stage = 1; stage < m_c.stage.count; ++stage) {
                if (own != 0 && own != stage) continue;
                const bool sends = (own == 0) == back;
                Op message = op(sends ? OpKind::Send : OpKind::Receive, m_links.stream);
                message.group = m_links.norm[static_cast<std::size_t>(stage - 1)];
                // Numbers after those of activations, their gradients and tied weights.
                message.match = static_cast<std::uint32_t>(m_c.stage.count * m_c.plan.microBatches * 2 +
                                                           static_cast<std::int64_t>(m_links.tied.size()) * 2 +
                                                           (stage - 1) * 2 + (back ? 1 : 0));
                addBeside(message);
            }
    }

    ClassContext& m_c;
    UnitRules& m_rules;
    const StageLinks& m_links;
    std::uint8_t m_stream;
    OpId m_last;
};

}  // namespace

void clipGradients(ClassContext& context, UnitRules& rules, const StageLinks& links) {
    Clipping(context, rules, links).run();
}

}  // namespace shardscope::core
