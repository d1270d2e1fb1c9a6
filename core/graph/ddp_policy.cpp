// DistributedDataParallel (framework semantics 2): gradients are averaged in buckets, each reduced as soon as all of it
// and all buckets before it are there, beside the rest of the backward pass. The end of backward waits for all of them.
// Under a param dtype of its own it is autocast: parameters and gradients stay in the original dtype.

#include <algorithm>

#include "core/graph/whole_rules.h"

namespace shardscope::core {

namespace {

class DdpRules final : public WholeRules {
public:
    explicit DdpRules(ClassContext& context)
        : WholeRules(context, context.plan.precision.original),
          m_buckets(context.units.size()),
          m_stream(context.builder.addStream(StreamKind::AllReduce)) {
        Group group;
        group.kind = Group::Kind::Replicate;
        group.size = context.plan.mesh.dpReplicate;
        group.communicator = static_cast<std::uint32_t>(context.builder.groupCount());
        group.name = "dp_replicate";
        m_group = context.builder.addGroup(group);
    }

    void beginStep() override {
        WholeRules::beginStep();
        // With views the gradients live in the buckets from their first reduction on.
        const MemoryCategory category = views() ? MemoryCategory::UnshardedGradients : MemoryCategory::ReduceBuffers;
        for (std::size_t u = 0; u < m_buckets.size(); ++u)
            m_buckets[u].memory = persistent(category, idOf(u), bytesIn(idOf(u), m_gradientType));
    }

    void afterCompute(const PassStep& step, OpId done) override {
        WholeRules::afterCompute(step, done);
        if (!step.kernels.backward || !reduces()) return;
        for (const TouchedUnit& touched : m_c.touched(step)) {
            if (touched.finishedElements > 0)
                copyIn(touched.unit, step.kernels, touched.finishedElements, touched.finished);
            launchReady();
        }
    }

    void endBackward() override {
        if (reduces()) {
            for (std::size_t u = 0; u < m_buckets.size(); ++u) addUnmade(idOf(u));
            launchReady();
            for (std::size_t u = 0; u < m_buckets.size(); ++u) finish(idOf(u));
            m_next = 0;
        }
        for (std::size_t u = 0; u < m_buckets.size(); ++u) whole(idOf(u)).gradientsStay = true;
    }

    void useGradients(UnitId unit, OpId op) override {
        if (m_buckets[m_c.local(unit)].holdsGradients) m_c.builder.use(m_buckets[m_c.local(unit)].memory, op);
        WholeRules::useGradients(unit, op);
    }

private:
    struct Bucket {
        BlockId memory;
        std::int64_t elements = 0;    ///< copied in, in this micro-batch
        OpId reduced;                 ///< none while ranks = 1
        bool holdsGradients = false;  ///< they are views into it
    };

    [[nodiscard]] bool views() const { return m_c.plan.ddp.gradientAsBucketView; }
    [[nodiscard]] bool reduces() const {
        return m_c.plan.gradientSync == GradientSync::EveryMicroBatch || m_c.microBatch + 1 == m_c.plan.microBatches;
    }

    void copyIn(UnitId unit, KernelRange kernels, std::int64_t elements, std::uint32_t parameters) {
        GraphBuilder& b = m_c.builder;
        Bucket& bucket = m_buckets[m_c.local(unit)];
        Op copy = op(OpKind::BucketCopyIn, Phase::Reduction, unit);
        copy.kernels = kernels;
        copy.dtype = m_gradientType;
        copy.factor = static_cast<double>(m_c.plan.mesh.dpReplicate);
        copy.bytes = copy.read = copy.written = {elements * sizeOf(m_gradientType)};
        copy.launches = static_cast<std::uint16_t>(std::min<std::uint32_t>(parameters, 65535));
        const OpId copied = b.addOp(copy);
        b.use(bucket.memory, copied);
        useGradients(unit, copied);
        bucket.elements += elements;
        if (views()) dropCopied(unit, kernels, copy.bytes);
    }

    // A gradient's own memory is dropped once it is a view; a weight of two layers keeps it until its bucket is full.
    void dropCopied(UnitId unit, KernelRange kernels, Bytes bytes) {
        std::erase_if(whole(unit).gradients, [&](const Gradients& gradients) {
            const bool full = m_buckets[m_c.local(unit)].elements == m_c.unit(unit).elements;
            const bool same = gradients.by.layer == kernels.layer && gradients.by.first == kernels.first &&
                              m_c.builder.block(gradients.block).bytes == bytes;
            if (full || same) m_c.builder.release(gradients.block);
            return full || same;
        });
        m_buckets[m_c.local(unit)].holdsGradients = true;
    }

    // Parameters of which no kernel is known (models read from their shapes alone) have gradients all the same.
    void addUnmade(UnitId unit) {
        const std::int64_t left = m_c.unit(unit).elements - m_buckets[m_c.local(unit)].elements;
        if (left == 0) return;
        if (!whole(unit).gradientsStay)
            whole(unit).gradients.push_back(
                {allocate(MemoryCategory::UnshardedGradients, unit, {left * sizeOf(m_gradientType)}), {}});
        copyIn(unit, {}, left, static_cast<std::uint32_t>(m_c.unit(unit).parameters.size()));
    }

    void launchReady() {
        GraphBuilder& b = m_c.builder;
        for (; m_next < m_buckets.size(); ++m_next) {
            Bucket& bucket = m_buckets[m_next];
            const UnitId unit = idOf(m_next);
            if (bucket.elements < m_c.unit(unit).elements) return;
            if (m_c.plan.mesh.dpReplicate == 1) continue;
            b.waitStream(m_stream, m_c.computeStream, EdgeReason::Data);
            Op reduce = op(OpKind::AllReduce, Phase::Reduction, unit);
            reduce.stream = m_stream;
            reduce.group = m_group;
            reduce.dtype = m_gradientType;
            reduce.bytes = bytesIn(unit, m_gradientType);
            bucket.reduced = b.addOp(reduce);
            b.use(bucket.memory, bucket.reduced);
        }
    }

    void finish(UnitId unit) {
        GraphBuilder& b = m_c.builder;
        Bucket& bucket = m_buckets[m_c.local(unit)];
        if (bucket.reduced.valid()) b.waitOp(m_c.computeStream, bucket.reduced, EdgeReason::Data);
        bucket.elements = 0;
        bucket.reduced = {};
        if (views()) return;
        Op copy = op(OpKind::BucketCopyOut, Phase::Reduction, unit);
        copy.dtype = m_gradientType;
        copy.bytes = copy.read = copy.written = bytesIn(unit, m_gradientType);
        copy.launches = static_cast<std::uint16_t>(std::min<std::size_t>(m_c.unit(unit).parameters.size(), 65535));
        const OpId copied = b.addOp(copy);
        b.use(bucket.memory, copied);
        useGradients(unit, copied);
    }

    std::vector<Bucket> m_buckets;
    std::uint8_t m_stream;
    GroupId m_group;
    std::size_t m_next = 0;  // bucket to be reduced
};

}  // namespace

std::unique_ptr<UnitRules> makeDdpRules(ClassContext& context) {
    return std::make_unique<DdpRules>(context);
}

}  // namespace shardscope::core
