#pragma once

// Why a plan's GPUs do not compute all the time: what each class of ranks loses to which cause, and its longest waits
// with what they waited for and why that came so late. Read off the simulated timeline (traces/timeline/causes.h).

#include <cstdint>
#include <string>
#include <vector>

#include "cli/face/report.h"

namespace shardscope::cli {

/// One step back from what waited: a span that held something back.
struct WaitLink {
    std::uint32_t span = timeline::kNoIndex;  ///< kNoIndex: the host, which had not enqueued the work
    timeline::FlowReason reason = timeline::FlowReason::Data;
    std::int64_t untilNs = 0;
};

/// A stretch without compute of one rank, from the end of a compute op to the start of the next one, or to the step's
/// end.
struct LongWait {
    std::int64_t beginNs = 0, endNs = 0;
    std::uint32_t next = timeline::kNoIndex;   ///< the span that ends it; kNoIndex at the end of the step
    std::vector<timeline::CauseTotal> causes;  ///< of this stretch, largest first
    std::vector<WaitLink> chain;               ///< what held `next` back, what held that back, ...
    std::vector<std::pair<std::size_t, std::int64_t>> meanwhile;  ///< other classes: how long each computed in it
    /// Waits of the same class with the same largest cause before the same kind of work, itself included.
    std::int64_t alike = 1, alikeNs = 0;
};

struct IdleClass {
    std::size_t row = 0;                       ///< of PlanReport::classes and Timeline::ranks
    std::vector<timeline::CauseTotal> causes;  ///< units summed up, largest first
    /// Of each kind the longest; the kind that costs most first, and the longest of all is among them.
    std::vector<LongWait> waits;
};

struct WhyIdle {
    std::vector<IdleClass> classes;  ///< as in the report
};

[[nodiscard]] WhyIdle whyIdle(const PlanReport& plan);

[[nodiscard]] std::string whyIdleText(const PlanReport& plan, const WhyIdle& why);
[[nodiscard]] core::Document whyIdleDocument(const PlanReport& plan, const WhyIdle& why);

}  // namespace shardscope::cli
