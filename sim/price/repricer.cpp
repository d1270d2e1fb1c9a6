#include "sim/price/repricer.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/quantities.h"
#include "sim/price/copy_price.h"
#include "sim/price/host_price.h"
#include "sim/price/kernel_price.h"
#include "sim/price/overlap.h"

namespace shardscope::sim {
namespace {

using core::Op;
using core::OpKind;

// Host time of a collective's call beyond a kernel's: 5 us (constant of XLA's planner, cost model facts 4.3).
constexpr double kCollectiveIssue = 5e-6;

// Host time of a launch from compiled code: 2 to 4 us (cost model facts 4.3).
constexpr double kCompiledLaunch = 3e-6;

auto keyOf(const core::Kernel& k, core::DType dtype) {
    return std::make_tuple(k.kind, dtype, k.causal, k.b, k.m, k.n, k.k, k.heads, k.flops.value, k.read.value,
                           k.written.value);
}

// checkClocks refuses a step with an op of more than an hour or so; no price is larger than this, so that sums over an
// op's kernels stay in 64 bits until it does.
constexpr double kLongest = 1e4;

std::int64_t nanoseconds(double seconds) {
    return core::fromSeconds(std::min(seconds, kLongest)).ns;
}

}  // namespace

Repricer::Repricer(const core::StepGraph& graph, const core::Model& model) : m_graph(graph) {
    std::map<decltype(keyOf({}, {})), std::uint32_t> kernels;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> programs;  // begin of forward and of backward in m_sequence
    for (const core::Program& program : model.programs) {
        std::pair<std::uint32_t, std::uint32_t> begin;
        for (const auto* list : {&program.forward, &program.backward}) {
            (list == &program.forward ? begin.first : begin.second) = static_cast<std::uint32_t>(m_sequence.size());
            for (const core::Kernel& kernel : *list) {
                const core::DType dtype = operandType(program, kernel);
                const auto [at, isNew] =
                    kernels.try_emplace(keyOf(kernel, dtype), static_cast<std::uint32_t>(m_kernels.size()));
                if (isNew) m_kernels.push_back({&kernel, dtype});
                m_sequence.push_back(at->second);
            }
        }
        programs.push_back(begin);
    }

    std::vector<std::int64_t> firstRank(graph.classes.size(), 0);
    for (std::size_t c = 1; c < graph.classes.size(); ++c)
        firstRank[c] = firstRank[c - 1] + graph.classes[c - 1].multiplicity;
    std::map<std::uint32_t, std::pair<core::ClassId, core::ClassId>> ends;  // of a message
    for (const Op& op : graph.ops) {
        if (op.kind != OpKind::Send && op.kind != OpKind::Receive) continue;
        const auto [at, isNew] = ends.try_emplace(op.match, op.rankClass, op.rankClass);
        if (!isNew) at->second.second = op.rankClass;
    }

    std::map<Path, std::uint32_t> paths;
    const auto pathIndex = [&](const Path& path) {
        const auto [at, isNew] = paths.try_emplace(path, static_cast<std::uint32_t>(m_paths.size()));
        if (isNew) m_paths.push_back(path);
        return at->second;
    };
    std::map<Cost, std::uint32_t> costs;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> fused;
    m_costIndex.reserve(graph.ops.size());
    for (const Op& op : graph.ops) {
        Cost cost;
        switch (op.kind) {
            case OpKind::Compute: {
                cost.kind = CostKind::Compute;
                const core::KernelRange& range = op.kernels;
                if (!range.layer.valid()) break;
                const core::Layer& layer = model.layers[range.layer.index()];
                const auto& begin = programs[layer.program.index()];
                cost.loss = layer.kind == core::LayerKind::Loss;
                cost.kernelBegin = (range.backward ? begin.second : begin.first) + range.first;
                cost.kernelEnd = cost.kernelBegin + range.count;
                assert(cost.kernelEnd <= m_sequence.size());
                if (!graph.plan.compiled || cost.loss) break;
                const auto [chains, isNew] = fused.try_emplace({cost.kernelBegin, cost.kernelEnd});
                if (isNew) {
                    chains->second.first = static_cast<std::uint32_t>(m_fused.size());
                    const core::Program& program = model.programOf(layer);
                    for (FusedKernel one : fuseMemoryBound(program, range.backward, range.first, range.count)) {
                        one.first += cost.kernelBegin - range.first;
                        m_fused.push_back(one);
                    }
                    chains->second.second = static_cast<std::uint32_t>(m_fused.size());
                }
                cost.fusedBegin = chains->second.first;
                cost.fusedEnd = chains->second.second;
                break;
            }
            case OpKind::AllGather:
            case OpKind::ReduceScatter:
            case OpKind::AllReduce: {
                const core::Group& group = graph.groups[op.group.index()];
                cost.kind = CostKind::Collective;
                cost.collective = op.kind == OpKind::AllGather       ? CollectiveKind::AllGather
                                  : op.kind == OpKind::ReduceScatter ? CollectiveKind::ReduceScatter
                                                                     : CollectiveKind::AllReduce;
                const core::RankClass& rankClass = graph.classes[op.rankClass.index()];
                cost.path = pathIndex({firstRank[op.rankClass.index()], rankClass.multiplicity, group.size,
                                       group.stride, op.group.value});
                cost.bytes = op.bytes.value;
                cost.launches = op.launches;
                break;
            }
            case OpKind::Send:
            case OpKind::Receive: {
                const auto [a, b] = ends.at(op.match);
                const std::size_t low = std::min(a.index(), b.index()), high = std::max(a.index(), b.index());
                cost.kind = CostKind::Message;
                cost.path = pathIndex({firstRank[low], graph.classes[low].multiplicity, 2,
                                       firstRank[high] - firstRank[low], op.group.value});
                cost.bytes = op.bytes.value;
                cost.launches = op.launches;
                break;
            }
            case OpKind::GatherCopyIn:
            case OpKind::CopyOut:
            case OpKind::KeepSlice:
            case OpKind::CastParameters:
            case OpKind::ReduceCopyIn:
            case OpKind::PreDivide:
            case OpKind::PostDivide:
            case OpKind::AddPartial:
            case OpKind::KeepGradients:
            case OpKind::ReduceCopyOut:
            case OpKind::BucketCopyIn:
            case OpKind::BucketCopyOut:
            case OpKind::AddGradient:
            case OpKind::GradientNorm:
            case OpKind::ScaleGradients:
                cost.kind = CostKind::Copy;
                cost.bytes = op.read.value + op.written.value;
                cost.launches = op.launches;
                break;
            case OpKind::OptimizerStep:
                cost.kind = CostKind::Optimizer;
                cost.bytes = op.read.value + op.written.value;
                cost.launches = op.launches;
                break;
            case OpKind::CopyToDevice:
            case OpKind::CopyToHost:
                cost.kind = CostKind::HostCopy;
                cost.bytes = op.bytes.value;
                cost.launches = op.launches;
                cost.added = op.accumulate ? 3 * op.bytes.value : 0;
                break;
        }
        if (graph.streams.size() > op.stream && graph.streams[op.stream].kind == core::StreamKind::Host) {
            cost.kind = CostKind::HostPass;
            cost.fused = graph.plan.fusedOptimizer && op.kind == OpKind::OptimizerStep;
        }
        const auto [at, isNew] = costs.try_emplace(cost, static_cast<std::uint32_t>(m_costs.size()));
        if (isNew) m_costs.push_back(cost);
        m_costIndex.push_back(at->second);
    }
    m_kernelTime.resize(m_kernels.size());
    m_collectivePaths.resize(m_paths.size());
    m_placements.resize(m_paths.size());
    m_priced.resize(m_costs.size());
}

Placement Repricer::placementOf(const Cost& cost, const core::Cluster& cluster) const {
    const Path& path = m_paths[cost.path];
    return sim::placementOf(cluster, path.first, path.ranks, path.size, path.stride);
}

void Repricer::priceKernels(const core::Cluster& cluster, const PriceKnobs& knobs) {
    m_rates = ratesOf(cluster.gpu, knobs);
    for (std::size_t i = 0; i < m_kernels.size(); ++i)
        m_kernelTime[i] = nanoseconds(priceKernel(*m_kernels[i].kernel, m_kernels[i].dtype, m_rates).seconds);
}

void Repricer::pricePaths(const core::Cluster& cluster, Prices& prices) {
    prices.links.assign(m_graph.groups.size(), 0);
    for (std::size_t i = 0; i < m_paths.size(); ++i) {
        const Path& path = m_paths[i];
        m_placements[i] = sim::placementOf(cluster, path.first, path.ranks, path.size, path.stride);
        m_collectivePaths[i] = pathOf(cluster, m_placements[i]);
        if (path.group < prices.links.size() && m_placements[i].ranks > 1)
            prices.links[path.group] |= m_collectivePaths[i].links;
    }
}

// Kernel j is issued at (j + 1) launches and ends no earlier than everything from it on takes; the op ends at the
// latest of these, which as a start of the whole op is that less its duration.
Repricer::Priced Repricer::priceCompute(const Cost& cost, const PriceKnobs& knobs) const {
    const bool compiled = cost.fusedEnd > cost.fusedBegin;
    const std::int64_t launch =
        nanoseconds(compiled ? std::min(m_rates.hostLaunch, kCompiledLaunch) : m_rates.hostLaunch);
    std::int64_t before = 0, lag = 0, issued = 0;
    const auto add = [&](std::int64_t time) {
        issued += launch;
        lag = std::max(lag, issued - before);
        before += time;
    };
    if (compiled)
        for (const FusedKernel& one : fusedOf(cost))
            add(one.count > 1 ? nanoseconds(priceTraffic(one.traffic, 1, m_rates).seconds)
                              : m_kernelTime[m_sequence[one.first]]);
    else
        for (std::uint32_t j = cost.kernelBegin; j < cost.kernelEnd; ++j)
            add(cost.loss && knobs.freeLoss ? 0 : m_kernelTime[m_sequence[j]]);
    return {before, lag, issued};
}

void Repricer::priceCosts(const core::Cluster& cluster, const PriceKnobs& knobs) {
    const std::int64_t launch = nanoseconds(m_rates.hostLaunch);
    const bool fused = m_graph.plan.fusedOptimizer;
    for (std::size_t i = 0; i < m_costs.size(); ++i) {
        const Cost& cost = m_costs[i];
        Priced& priced = m_priced[i];
        priced = {};
        if (cost.kind == CostKind::Compute) {
            priced = priceCompute(cost, knobs);
            continue;
        }
        double seconds = 0;
        const double bytes = static_cast<double>(cost.bytes);
        switch (cost.kind) {
            case CostKind::Collective: {
                const CollectivePath& path = m_collectivePaths[cost.path];
                if (!knobs.freeCommunication) seconds = priceCollective(cost.collective, bytes, path).seconds;
                if (path.placement.ranks <= 1 && cost.collective == CollectiveKind::ReduceScatter && !knobs.freeCopies)
                    seconds = priceCopy(2 * bytes, 1, m_rates).seconds;  // a group of one: input to output
                break;
            }
            case CostKind::Message:
                if (!knobs.freeCommunication) {
                    seconds = priceMessage(cluster, m_placements[cost.path], bytes, sendersOf(cost, cluster)).seconds;
                }
                break;
            case CostKind::Copy:
                if (!knobs.freeCopies) seconds = priceCopy(bytes, cost.launches, m_rates).seconds;
                break;
            case CostKind::Optimizer:
                if (!knobs.freeOptimizer) seconds = priceOptimizer(bytes, cost.launches, fused, m_rates).seconds;
                break;
            case CostKind::HostCopy:
                if (!knobs.freeCopies) {
                    const bool pinned = m_graph.plan.fsdp.pinMemory;
                    seconds = priceHostCopy(bytes, cost.launches, pinned, cluster).seconds +
                              priceHostPass(static_cast<double>(cost.added), false, cluster).seconds;
                }
                break;
            case CostKind::HostPass:
                if (!knobs.freeOptimizer) seconds = priceHostPass(bytes, cost.fused, cluster).seconds;
                break;
            case CostKind::None:
            case CostKind::Compute: break;
        }
        const bool transfer = cost.kind == CostKind::Collective || cost.kind == CostKind::Message;
        const bool nothing =
            cost.kind == CostKind::None || cost.kind == CostKind::HostPass || (!transfer && cost.bytes == 0);
        priced.duration = nanoseconds(seconds);
        priced.hostTime = nothing ? 0
                                  : launch * std::max<std::int64_t>(1, cost.launches) +
                                        (transfer && launch > 0 ? nanoseconds(kCollectiveIssue) : 0);
        // The last of its kernels is issued at the end of the host's time; before that they run as they come.
        const std::int64_t last = priced.duration / std::max<std::int64_t>(1, cost.launches);
        if (nothing) continue;
        priced.issueLag = transfer
                              ? priced.hostTime
                              : std::max(std::min(launch, priced.hostTime), priced.hostTime + last - priced.duration);
    }
}

void Repricer::price(const core::Cluster& cluster, const PriceKnobs& knobs, Prices& prices) {
    priceKernels(cluster, knobs);
    pricePaths(cluster, prices);
    priceCosts(cluster, knobs);
    const std::size_t count = m_graph.ops.size();
    prices.duration.resize(count);
    prices.release.resize(count);
    for (const core::RankClass& rankClass : m_graph.classes) {
        std::int64_t host = 0;
        for (std::uint32_t i = rankClass.opBegin; i < rankClass.opEnd; ++i) {
            const Priced& priced = m_priced[m_costIndex[i]];
            prices.duration[i] = priced.duration;
            prices.release[i] = host + priced.issueLag;
            host += priced.hostTime;
        }
    }
    if (knobs.infiniteHost) std::fill(prices.release.begin(), prices.release.end(), 0);
    prices.slowNum = prices.slowDen = 1;
    if (!knobs.noOverlapSlowdown) {
        const OverlapSlowdown slowdown = overlapSlowdownOf(cluster);
        prices.slowNum = slowdown.num;
        prices.slowDen = slowdown.den;
    }
}

}  // namespace shardscope::sim
