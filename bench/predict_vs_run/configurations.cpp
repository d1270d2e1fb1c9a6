#include "bench/predict_vs_run/configurations.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "core/model/vit.h"

namespace shardscope::bench {

namespace {

using Change = std::function<void(runtime::TrainConfig&)>;

constexpr core::ArtificialLink kFast{1e9, 50e-6}, kSlow{1e8, 300e-6};

core::Plan planOf(const std::string& strategy, std::int64_t ranks) {
    core::Plan plan;
    plan.name = strategy;
    plan.policy = core::UnitPolicy::None;
    if (strategy == "naive") {
        plan.schedule = core::StageSchedule::Naive;
        plan.mesh.pp = ranks;
    } else if (strategy == "ddp") {
        plan.policy = core::UnitPolicy::Ddp;
        plan.mesh.dpReplicate = ranks;
    } else if (strategy == "fsdp" || strategy == "fsdp1") {
        plan.policy = core::UnitPolicy::Fsdp;
        plan.mesh.dpShard = ranks;
        plan.fsdp.flat = strategy == "fsdp1";
    } else if (strategy == "hsdp") {
        plan.policy = core::UnitPolicy::Fsdp;
        plan.mesh.dpReplicate = 2;
        plan.mesh.dpShard = ranks / 2;
    }
    return plan;
}

class List {
public:
    explicit List(runtime::TrainConfig common) : m_common(std::move(common)) {}

    void add(const std::string& strategy, std::int64_t ranks, bool processes, const std::string& what = {},
             const Change& change = {}) {
        Configuration one;
        one.name = fmt::format("{} x{}{}{}{}", strategy, ranks,
                               ranks == 1  ? ""
                               : processes ? " gloo"
                                           : " threads",
                               what.empty() ? "" : ", ", what);
        one.training = m_common;
        one.training.plan = planOf(strategy, ranks);
        one.processes = processes && ranks > 1;
        if (change) change(one.training);
        m_all.push_back(std::move(one));
    }

    std::vector<Configuration> take() { return std::move(m_all); }

private:
    runtime::TrainConfig m_common;
    std::vector<Configuration> m_all;
};

Change unitsOf(std::int64_t blocks) {
    return [blocks](runtime::TrainConfig& c) { c.plan.fsdp.wrap.blocksPerUnit = blocks; };
}
Change over(const core::ArtificialLink& link, const Change& more = {}) {
    return [link, more](runtime::TrainConfig& c) {
        c.link = link;
        if (more) more(c);
    };
}
void keepWhole(runtime::TrainConfig& c) {
    c.plan.fsdp.reshardAfterForward.kind = core::Reshard::Kind::False;
}
void prefetch(runtime::TrainConfig& c) {
    c.plan.fsdp.forwardPrefetch = 2;
    c.plan.fsdp.backwardPrefetch = 2;
}
void noPrefetch(runtime::TrainConfig& c) {
    c.plan.fsdp.flatPrefetch = core::FsdpKnobs::FlatPrefetch::None;
}
void accumulate(runtime::TrainConfig& c) {
    c.plan.microBatches = 2;
}
void accumulateLocally(runtime::TrainConfig& c) {
    accumulate(c);
    c.plan.gradientSync = core::GradientSync::LastMicroBatch;
}
void checkpoint(runtime::TrainConfig& c) {
    c.plan.checkpointing.mode = core::Checkpointing::Mode::Full;
}
void offload(runtime::TrainConfig& c) {
    c.plan.fsdp.cpuOffload = true;
}
void smallBuckets(runtime::TrainConfig& c) {
    c.plan.ddp.bucketCap = 0.5;
}

void addSmallWorlds(List& list) {
    list.add("single", 1, false);
    list.add("single", 1, false, "checkpointing", checkpoint);
    list.add("single", 1, false, "2 micro-batches", accumulate);
    list.add("fsdp", 1, false);
    for (const bool processes : {false, true}) {
        list.add("naive", 2, processes);
        list.add("naive", 2, processes, "2 micro-batches", accumulate);
        list.add("naive", 2, processes, "checkpointing, slow link", over(kSlow, checkpoint));
        list.add("ddp", 2, processes);
        list.add("ddp", 2, processes, "small buckets", smallBuckets);
        list.add("ddp", 2, processes, "small buckets, slow link", over(kSlow, smallBuckets));
        list.add("ddp", 2, processes, "2 micro-batches, reduced once", accumulateLocally);
        list.add("fsdp", 2, processes);
        list.add("fsdp", 2, processes, "2 blocks a unit", unitsOf(2));
        list.add("fsdp", 2, processes, "kept whole", keepWhole);
        list.add("fsdp", 2, processes, "prefetch 2", prefetch);
        list.add("fsdp", 2, processes, "2 micro-batches", accumulate);
        list.add("fsdp", 2, processes, "2 micro-batches, reduced once", accumulateLocally);
        list.add("fsdp", 2, processes, "checkpointing", checkpoint);
        list.add("fsdp", 2, processes, "offload", offload);
        list.add("fsdp", 2, processes, "fast link", over(kFast));
        list.add("fsdp", 2, processes, "slow link", over(kSlow));
        list.add("fsdp", 2, processes, "slow link, prefetch 2", over(kSlow, prefetch));
        list.add("fsdp1", 2, processes, "slow link", over(kSlow));
        list.add("fsdp1", 2, processes, "slow link, no prefetch", over(kSlow, noPrefetch));
    }
}

void addLargeWorlds(List& list) {
    for (const std::int64_t ranks : {3, 4}) {
        list.add("naive", ranks, true);
        list.add("ddp", ranks, true);
        list.add("fsdp", ranks, true);
        list.add("fsdp", ranks, true, "slow link", over(kSlow));
        list.add("fsdp", ranks, false);
    }
    list.add("fsdp", 4, true, "2 blocks a unit", unitsOf(2));
    list.add("fsdp", 4, true, "checkpointing", checkpoint);
    list.add("hsdp", 4, true);
    list.add("hsdp", 4, false);
    list.add("hsdp", 4, true, "slow link", over(kSlow));
}

}  // namespace

std::vector<Configuration> configurations(bool quick) {
    runtime::TrainConfig common;
    common.device = runtime::DeviceKind::Cpu;
    core::VitSpec vit = *core::namedVit(quick ? "vit_tiny" : "vit_tutorial");
    if (!quick) vit.layers = 4;
    common.model = vit;
    common.batch = quick ? 2 : 16;
    List list(common);
    if (!quick) {
        addSmallWorlds(list);
        addLargeWorlds(list);
        return list.take();
    }
    list.add("single", 1, false);
    list.add("naive", 2, false);
    list.add("ddp", 2, true);
    list.add("fsdp", 2, false, "fast link", over(kFast));
    list.add("fsdp", 3, true);
    return list.take();
}

}  // namespace shardscope::bench
