#pragma once

// Second pass of the clock engine: one rank between the transfers, which are known. Steps on which all ranks agree are
// filled in once; a rank costs only what varies.

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/clocks.h"
#include "sim/engine/shared_instants.h"
#include "traces/timeline/breakdown.h"

namespace shardscope::sim {

class RankReplay {
public:
    /// Everything referred to must outlive this.
    RankReplay(const StaticOrder& order, const Prices& prices, const Clocks& clocks, const SharedInstants& shared);

    /// Works out the instants of a rank.
    void replay(std::int64_t rank);
    /// By step, of the rank replayed last; a transfer begins when it arrives.
    [[nodiscard]] std::span<const Interval> at() const { return m_shared.varying.empty() ? m_shared.at : m_at; }

    /// Where the time of the rank replayed last goes, over [0, end of the step).
    [[nodiscard]] timeline::Breakdown breakdown();

private:
    // A stretch of the step: the gaps [firstGap, lastGap] (gap g lies before transfer g) and the transfers between
    // them.
    struct Window {
        std::int64_t begin = 0, end = 0;
        std::size_t firstGap = 0, lastGap = 0;
    };

    void gatherCompute(const Window& window, timeline::Breakdown& sum, std::int64_t& besideTransfer);
    void mergeCopies(const Window& window, timeline::Breakdown& sum);
    void add(const Window& window, timeline::Breakdown& sum);

    const StaticOrder& m_order;
    const Prices& m_prices;
    const Clocks& m_clocks;
    const SharedInstants& m_shared;
    std::vector<Interval> m_at;                // by step; empty where no rank differs from another
    std::vector<std::int64_t> m_firstArrival;  // by transfer: earliest arrival of it and all later ones
    std::size_t m_arrivalsVary = 0;            // transfers before this one may have arrivals of their own
    Window m_own, m_common;
    timeline::Breakdown m_commonSum;
    bool m_commonKnown = false;
    std::vector<Interval> m_busy, m_copies, m_lane, m_merged;  // scratch: disjoint, in order
};

}  // namespace shardscope::sim
