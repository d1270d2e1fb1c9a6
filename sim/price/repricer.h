#pragma once

// Prices a frozen graph again and again, for other hardware or knobs: what depends on the graph alone (which ops cost
// the same) is worked out once, so that a change prices only the distinct costs and copies them to the ops.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/graph/step_graph.h"
#include "core/model/model.h"
#include "sim/price/collective_price.h"
#include "sim/price/fused_kernels.h"
#include "sim/price/price_knobs.h"
#include "sim/price/prices.h"

namespace shardscope::sim {

class Repricer {
public:
    /// `graph` and `model` must outlive the repricer.
    Repricer(const core::StepGraph& graph, const core::Model& model);

    /// Fills everything of `prices` but the caveats. Reuses its memory.
    void price(const core::Cluster& cluster, const PriceKnobs& knobs, Prices& prices);

    /// Distinct costs: what one call of `price` works out (for benchmarks and tests).
    [[nodiscard]] std::size_t distinctCosts() const { return m_costs.size() + m_kernels.size(); }

    /// What kind of price an op has; explainPrice reads it.
    enum class CostKind : std::uint8_t { None, Compute, Collective, Message, Copy, Optimizer, HostCopy, HostPass };
    struct Cost {
        CostKind kind = CostKind::None;
        bool loss = false;  ///< Compute: of the loss layer
        CollectiveKind collective = CollectiveKind::AllGather;
        std::uint32_t path = 0;                        ///< Collective, Message: m_paths
        std::uint32_t kernelBegin = 0, kernelEnd = 0;  ///< Compute: into m_sequence
        std::uint32_t fusedBegin = 0, fusedEnd = 0;    ///< Compute under torch.compile: into m_fused
        std::int64_t bytes = 0;                        ///< payload, or traffic of copies and the optimizer
        std::int64_t launches = 0;
        std::int64_t added = 0;  ///< HostCopy: traffic of adding what came to what is there
        bool fused = false;      ///< HostPass: the optimizer's, in one kernel
        friend bool operator==(const Cost&, const Cost&) = default;
        friend auto operator<=>(const Cost&, const Cost&) = default;
    };
    [[nodiscard]] const Cost& costOf(core::OpId op) const { return m_costs[m_costIndex[op.index()]]; }
    /// Of a Compute cost under torch.compile; empty for others.
    [[nodiscard]] std::span<const FusedKernel> fusedOf(const Cost& cost) const {
        return std::span(m_fused).subspan(cost.fusedBegin, cost.fusedEnd - cost.fusedBegin);
    }
    [[nodiscard]] Placement placementOf(const Cost& cost, const core::Cluster& cluster) const;
    /// Message: ranks of a node that send at the same time.
    [[nodiscard]] std::int64_t sendersOf(const Cost& cost, const core::Cluster& cluster) const {
        return std::min(cluster.gpusPerNode, m_paths[cost.path].ranks);
    }

private:
    struct DistinctKernel {
        const core::Kernel* kernel = nullptr;
        core::DType dtype = core::DType::F32;
    };
    /// Ranks [first, first + ranks) in groups of `size` with `stride`.
    struct Path {
        std::int64_t first = 0, ranks = 1, size = 1, stride = 1;
        std::uint32_t group = 0;
        friend auto operator<=>(const Path&, const Path&) = default;
    };
    struct Priced {
        std::int64_t duration = 0;
        std::int64_t issueLag = 0;  ///< release = begin of its issue + issueLag
        std::int64_t hostTime = 0;
    };

    void priceKernels(const core::Cluster& cluster, const PriceKnobs& knobs);
    [[nodiscard]] Priced priceCompute(const Cost& cost, const PriceKnobs& knobs) const;
    void pricePaths(const core::Cluster& cluster, Prices& prices);
    void priceCosts(const core::Cluster& cluster, const PriceKnobs& knobs);

    const core::StepGraph& m_graph;
    std::vector<DistinctKernel> m_kernels;
    std::vector<std::uint32_t> m_sequence;  ///< kernels of programs in order, as indices into m_kernels
    std::vector<FusedKernel> m_fused;       ///< their kernels as indices into m_sequence
    std::vector<Path> m_paths;
    std::vector<Cost> m_costs;
    std::vector<std::uint32_t> m_costIndex;  ///< by op

    std::vector<std::int64_t> m_kernelTime;  ///< by distinct kernel, ns
    std::vector<CollectivePath> m_collectivePaths;
    std::vector<Placement> m_placements;
    std::vector<Priced> m_priced;  ///< by cost
    GpuRates m_rates;
};

}  // namespace shardscope::sim
