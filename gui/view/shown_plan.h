#pragma once

// The plans on a page: those of the present answer, and before them those that were kept from earlier ones. A kept plan
// is a plan of an answer of its own: its figures stay those of its report.

#include <QString>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gui/worker/answer.h"

namespace shardscope::gui {

/// More would not be read one above another.
inline constexpr std::size_t kMostKept = 4;

struct ShownPlan {
    std::shared_ptr<const Answer> answer;
    std::size_t index = 0;  ///< in the answer's report
    bool kept = false;

    [[nodiscard]] const cli::Report& report() const { return answer->report; }
    [[nodiscard]] const cli::PlanReport& plan() const { return answer->report.plans[index]; }
    [[nodiscard]] const LaneSet& lanes() const { return answer->lanes[index]; }
    /// Of a run's plans only the one that asks what if has another one than the run.
    [[nodiscard]] const core::Scenario& scenario() const {
        return answer->run && plan().name != cli::kWhatIf ? answer->run->loaded.scenario : answer->loaded.scenario;
    }
    [[nodiscard]] bool ofRun() const { return answer->run != nullptr; }
    friend bool operator==(const ShownPlan&, const ShownPlan&) = default;
};

/// Plans in the order of a page: a kept one, and beside it what has become of it, the plan of its name in the present
/// answer; then the others as they come.
[[nodiscard]] std::vector<ShownPlan> pageOrder(const std::vector<ShownPlan>& kept,
                                               const std::shared_ptr<const Answer>& present);
/// What each plan of a page is compared with: its kept counterpart, the first one of its name; without one, the first
/// plan of the present answer, or of the page. None for a plan that others are compared with.
[[nodiscard]] std::vector<std::optional<std::size_t>> basesOf(std::span<const ShownPlan> plans);

/// Whether both are the same strategy of the same scenario, given in the same words.
[[nodiscard]] bool isSamePlan(const ShownPlan& a, const ShownPlan& b);

/// What tells a plan from the others beside its name.
struct Distinction {
    enum class Kind : std::uint8_t {
        Model,  ///< `value` is its name
        Gpus,   ///< `value` is how many the cluster has
        Key,    ///< `value` of the scenario's key `name`
        More,   ///< there are others
        Kept,   ///< nothing but that
    } kind = Kind::Key;
    std::string name, value;
    friend bool operator==(const Distinction&, const Distinction&) = default;
};
/// By plan; empty where its name alone tells.
[[nodiscard]] std::vector<std::vector<Distinction>> distinctionsOf(std::span<const ShownPlan> plans);
/// "fsdp · 8 GPUs"; the plans of a run are called in the window's language.
[[nodiscard]] QString titleOf(const cli::PlanReport& plan, std::span<const Distinction> distinctions);

}  // namespace shardscope::gui
