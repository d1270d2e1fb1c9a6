#include "gui/view/difference.h"

#include <algorithm>

namespace shardscope::gui {

std::vector<DifferenceRow> differencesOf(std::span<const cli::PlanReport* const> plans) {
    std::vector<DifferenceRow> rows = {
        {Figure::Step, Unit::Nanoseconds, true, {}},    {Figure::Throughput, Unit::PerSecond, false, {}},
        {Figure::Waiting, Unit::Nanoseconds, true, {}}, {Figure::ExposedCommunication, Unit::Nanoseconds, true, {}},
        {Figure::WireBytes, Unit::Bytes, true, {}},     {Figure::PeakMemory, Unit::Bytes, true, {}},
    };
    for (const cli::PlanReport* one : plans) {
        const cli::PlanReport& plan = *one;
        const double ranks = static_cast<double>(std::max<std::int64_t>(plan.ranks, 1));
        std::int64_t wire = 0;
        for (const cli::ClassReport& rankClass : plan.classes) wire = std::max(wire, rankClass.transfers.bytes());
        const double figures[kFigures] = {static_cast<double>(plan.stepNs),
                                          plan.samplesPerSecond,
                                          static_cast<double>(plan.allRanks.gpuWaits()) / ranks,
                                          static_cast<double>(plan.allRanks.transfer) / ranks,
                                          static_cast<double>(wire),
                                          static_cast<double>(plan.tightest().memory.needed())};
        for (std::size_t f = 0; f < kFigures; ++f) rows[f].values.push_back(figures[f]);
    }
    return rows;
}

std::vector<DifferenceRow> differencesOf(const cli::Report& report) {
    std::vector<const cli::PlanReport*> plans;
    for (const cli::PlanReport& plan : report.plans) plans.push_back(&plan);
    return differencesOf(plans);
}

}  // namespace shardscope::gui
