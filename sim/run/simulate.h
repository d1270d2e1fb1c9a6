#pragma once

// One training step of a priced graph, by whichever engine fits.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "sim/engine/clock_engine.h"
#include "sim/engine/op_instants.h"
#include "sim/engine/wiring.h"
#include "sim/price/prices.h"
#include "traces/timeline/breakdown.h"

namespace shardscope::sim {

/// Ranks are numbered as in core::Mesh: class by class (stages outermost), ranks of a class one after another.
struct RunOptions {
    /// ns by rank from the step's start before which nothing of the rank is issued. Empty: all zero.
    std::vector<std::int64_t> offsets;
    /// By rank: time of compute ops in millionths of the priced time. Empty: all 1,000,000.
    std::vector<std::int64_t> computePpm;
    /// Ranks whose instants are kept.
    std::vector<std::int64_t> chosenRanks;
    /// Beside them: all ranks if there are at most 8; otherwise, of every class, its first rank, the slowest (waits
    /// least), the median and the fastest one.
    bool keepTypical = true;
    /// False: compute does not slow down beside transfers, and transfers do not share links.
    bool contention = true;
};

enum class Engine : std::uint8_t { Clock, Event };

/// The instants of one rank, or of a class whose ranks have one clock.
struct RankInstants {
    std::int64_t rank = 0;          ///< first rank that it stands for
    std::int64_t multiplicity = 1;  ///< ranks that it stands for
    core::ClassId rankClass;
    std::string name;     ///< "all ranks", "stage 2", "rank 17 (slowest)"
    std::size_t row = 0;  ///< in StepResult::breakdown
    OpInstants at;        ///< by op id minus the class's opBegin
};

struct StepResult {
    std::int64_t step = 0;  ///< ns: end of the last op of all ranks
    bool folded = true;     ///< a row per class; otherwise a row per rank
    Engine engine = Engine::Clock;
    std::vector<timeline::Breakdown> breakdown;  ///< by row, over [0, step)
    /// By row, in host order: core::peakAllocated of the row's class. Memory over device time follows from the instants
    /// of the chosen ranks (sim/memory/step_memory.h).
    std::vector<core::Bytes> peakAllocated;
    std::vector<RankInstants> ranks;  ///< of the chosen ranks, by rank number; folded: of every class
};

/// A graph with everything that does not depend on prices worked out. The graph must outlive it and stay as it is.
class PreparedStep {
public:
    /// Errors: a graph whose tables do not fit each other (sim/engine/wiring.h).
    [[nodiscard]] static core::Result<PreparedStep> prepare(const core::StepGraph& graph);

    /// Without offsets and speeds every class is simulated once for all of its ranks.
    /// Errors: prices or options that do not fit the graph, a step that cannot finish (runEvents).
    [[nodiscard]] core::Result<StepResult> run(const Prices& prices, const RunOptions& options = {}) const;

    [[nodiscard]] const core::StepGraph& graph() const { return *m_graph; }
    [[nodiscard]] const Wiring& wiring() const { return m_wiring; }

private:
    PreparedStep(const core::StepGraph& graph, Wiring wiring);
    [[nodiscard]] StepResult runClocks(const ClockEngine& engine, const Prices& prices, const RunOptions& options,
                                       bool folded) const;
    [[nodiscard]] core::Result<StepResult> runEvents(const Prices& prices, const RunOptions& options,
                                                     bool folded) const;
    [[nodiscard]] std::vector<core::Bytes> peaksByRow(bool folded) const;

    const core::StepGraph* m_graph;
    Wiring m_wiring;
    std::vector<core::Bytes> m_peakAllocated;         ///< by class
    bool m_foldedClock = false, m_rankClock = false;  ///< what the clock engine takes
    std::optional<ClockEngine> m_clock;
};

/// Prepares and runs once.
[[nodiscard]] core::Result<StepResult> simulate(const core::StepGraph& graph, const Prices& prices,
                                                const RunOptions& options = {});

}  // namespace shardscope::sim
