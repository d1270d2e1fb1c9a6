#include <bit>
#include <cstring>

#include "core/graph/graph_checks.h"

namespace shardscope::core {

namespace {

// As FNV-1a, but over 64-bit words: xor, multiplication by 2^64 over the golden ratio, and a shift that brings the high
// bits down.
class Hasher {
public:
    void add(std::uint64_t word) {
        m_state ^= word;
        m_state *= 0x9e3779b97f4a7c15ULL;
        m_state ^= m_state >> 29;
    }
    void add(const std::string& text) {
        add(std::uint64_t{text.size()});
        for (std::size_t i = 0; i < text.size(); i += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data() + i, std::min<std::size_t>(8, text.size() - i));
            add(word);
        }
    }
    void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
    void add(std::uint32_t high, std::uint32_t low) { add(std::uint64_t{high} << 32 | low); }
    [[nodiscard]] std::uint64_t value() const { return m_state; }

private:
    std::uint64_t m_state = 0xcbf29ce484222325ULL;
};

template <class Enum>
std::uint64_t bits(Enum value) {
    return static_cast<std::uint64_t>(value);
}

std::uint64_t bits(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}

void add(Hasher& h, const Reshard& r) {
    h.add(bits(r.kind));
    h.add(bits(r.group));
}

void add(Hasher& h, const Plan& p) {
    h.add(p.name);
    h.add(bits(p.schedule) | bits(p.policy) << 8 | bits(p.optimizer) << 16 | bits(p.split) << 24 |
          std::uint64_t{p.fusedOptimizer} << 32 | std::uint64_t{p.firstStep} << 33 |
          std::uint64_t{p.fsdp.keepLastUnit} << 34 | std::uint64_t{p.evaluation} << 35 |
          std::uint64_t{p.afterEvaluation} << 36 | bits(p.precision.original) << 40);
    h.add(p.clipNorm);
    for (std::int64_t n : {p.mesh.pp, p.mesh.dpReplicate, p.mesh.dpShard, p.microBatches, p.fsdp.forwardPrefetch,
                           p.fsdp.backwardPrefetch, p.fsdp.rootPrefetch, p.fsdp.wrap.blocksPerUnit})
        h.add(bits(n));
    h.add(bits(p.fsdp.wrap.kind) << 1 | std::uint64_t{p.fsdp.wrap.root});
    h.add(std::uint64_t{p.fsdp.wrap.units.size()});
    for (const auto& unit : p.fsdp.wrap.units) {
        h.add(std::uint64_t{unit.size()});
        for (const std::string& name : unit) h.add(name);
    }
    add(h, p.fsdp.reshardAfterForward);
    add(h, p.fsdp.rootReshardAfterForward);
    h.add(std::uint64_t{p.fsdp.reshardOf.size()});
    for (const auto& [name, reshard] : p.fsdp.reshardOf) {
        h.add(name);
        add(h, reshard);
    }
    h.add(bits(p.checkpointing.mode) | std::uint64_t{p.checkpointing.earlyStop} << 8);
    h.add(bits(p.checkpointing.everyNth));
    h.add(std::uint64_t{p.fsdp.notGatheredInBackward.size()});
    for (const std::string& name : p.fsdp.notGatheredInBackward) h.add(name);
    h.add(std::uint64_t{p.fsdp.asyncUnshard} | std::uint64_t{p.fsdp.shareContext} << 1 |
          std::uint64_t{p.fsdp.keepBetweenMicroBatches} << 2 | std::uint64_t{p.fsdp.lastBackwardOnly} << 3 |
          std::uint64_t{p.fsdp.separateReduceGroup} << 4 | std::uint64_t{p.fsdp.hybridMesh} << 5 |
          std::uint64_t{p.fsdp.forceSum} << 6 | std::uint64_t{p.fsdp.manualFinalize} << 7 |
          std::uint64_t{p.fsdp.cpuOffload} << 8 | std::uint64_t{p.fsdp.pinMemory} << 9);
    h.add(std::uint64_t{p.fsdp.shardedOnDim1.size()});
    for (const std::string& name : p.fsdp.shardedOnDim1) h.add(name);
    h.add(std::uint64_t{p.fsdp.originalDtype.size()});
    for (const std::string& name : p.fsdp.originalDtype) h.add(name);
    h.add(std::uint64_t{p.fsdp.flat} | std::uint64_t{p.fsdp.limitAllGathers} << 1 | bits(p.fsdp.flatPrefetch) << 8 |
          std::uint64_t{p.compiled} << 16);
    h.add(bits(p.fsdp.reduceInputs));
    h.add(p.fsdp.divideFactor.value_or(0));
    h.add(p.ddp.bucketCap.value_or(0));
    h.add(std::uint64_t{p.ddp.bucketCapList.size()});
    for (double cap : p.ddp.bucketCapList) h.add(cap);
    h.add(bits(p.gradientSync) | std::uint64_t{p.ddp.findUnusedParameters} << 8 |
          std::uint64_t{p.ddp.staticGraph} << 9 | std::uint64_t{p.ddp.gradientAsBucketView} << 10);
    h.add(p.precision.param ? bits(*p.precision.param) : 255);
    h.add(p.precision.reduce ? bits(*p.precision.reduce) : 255);
    h.add(std::uint64_t{p.layerWeights.size()});
    for (double weight : p.layerWeights) h.add(weight);
}

void add(Hasher& h, const Op& op) {
    h.add(bits(op.kind) | bits(op.phase) << 8 | std::uint64_t{op.stream} << 16 | std::uint64_t{op.microBatch} << 24 |
          bits(op.dtype) << 40 | std::uint64_t{op.average} << 48 | std::uint64_t{op.accumulate} << 49 |
          std::uint64_t{op.kernels.backward} << 50);
    h.add(op.rankClass.value, op.unit.value);
    h.add(op.group.value, op.match);
    h.add(op.kernels.layer.value, op.boundary.value);
    h.add(op.kernels.first, op.kernels.count);
    h.add(bits(op.bytes.value));
    h.add(bits(op.read.value));
    h.add(bits(op.written.value));
    h.add(op.factor);
    h.add(std::uint64_t{op.launches});
}

}  // namespace

std::uint64_t hashOf(const StepGraph& graph) {
    Hasher h;
    add(h, graph.plan);
    h.add(std::uint64_t{graph.streams.size()});
    for (const Stream& stream : graph.streams) {
        h.add(stream.name);
        h.add(bits(stream.kind));
    }
    h.add(std::uint64_t{graph.groups.size()});
    for (const Group& group : graph.groups) {
        h.add(bits(group.kind) << 32 | group.communicator);
        h.add(bits(group.size));
        h.add(bits(group.stride));
        h.add(group.name);
    }
    h.add(std::uint64_t{graph.units.size()});
    for (const Unit& unit : graph.units) {
        h.add(unit.name);
        for (ModuleId module : unit.modules) h.add(std::uint64_t{module.value});
        for (ParameterId parameter : unit.parameters) h.add(std::uint64_t{parameter.value});
        h.add(unit.modules.size() << 32 | unit.parameters.size() << 1 | std::uint64_t{unit.isRoot});
        add(h, unit.reshard);
        h.add(bits(unit.elements));
        h.add(bits(unit.paddedElements));
    }
    h.add(std::uint64_t{graph.classes.size()});
    for (const RankClass& c : graph.classes) {
        h.add(c.name);
        h.add(bits(c.stage));
        h.add(bits(c.multiplicity));
        h.add(c.opBegin, c.opEnd);
        h.add(c.actionBegin, c.actionEnd);
        h.add(c.layerBegin.value, c.layerEnd.value);
    }
    h.add(std::uint64_t{graph.ops.size()});
    for (const Op& op : graph.ops) add(h, op);
    for (std::uint32_t begin : graph.edgeBegin) h.add(std::uint64_t{begin});
    for (const Edge& edge : graph.edges) h.add(edge.from.value, static_cast<std::uint32_t>(edge.reason));
    h.add(std::uint64_t{graph.actions.size()});
    for (const HostAction& a : graph.actions) {
        h.add(bits(a.kind) | bits(a.mark) << 8 | bits(a.why) << 16 | std::uint64_t{a.final} << 24 |
              std::uint64_t{a.index} << 32);
        h.add(a.op.value, a.block.value);
        h.add(a.unit.value, a.module.value);
    }
    h.add(std::uint64_t{graph.blocks.size()});
    for (const Block& b : graph.blocks) {
        h.add(bits(b.category) | std::uint64_t{b.pool} << 8 | std::uint64_t{b.microBatch} << 16 |
              std::uint64_t{b.persistent} << 32 | std::uint64_t{b.found} << 33 | std::uint64_t{b.left} << 34);
        h.add(b.rankClass.value, b.unit.value);
        h.add(b.firstUse.value, b.lastUse.value);
        h.add(bits(b.bytes.value));
        h.add(std::uint64_t{b.layer.value});
        h.add(b.storageBegin, b.storageCount);
    }
    for (const StorageRef& s : graph.blockStorages) h.add(s.layer.value, s.tensor.value << 1 | std::uint32_t{s.again});
    return h.value();
}

}  // namespace shardscope::core
