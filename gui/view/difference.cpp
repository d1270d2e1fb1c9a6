#include "gui/view/difference.h"

#include <algorithm>

namespace shardscope::gui {

std::vector<DifferenceRow> differencesOf(const cli::Report& report) {
    std::vector<DifferenceRow> rows = {
        {Figure::Step, Unit::Nanoseconds, true, {}},    {Figure::Throughput, Unit::PerSecond, false, {}},
        {Figure::Waiting, Unit::Nanoseconds, true, {}}, {Figure::ExposedCommunication, Unit::Nanoseconds, true, {}},
        {Figure::WireBytes, Unit::Bytes, true, {}},     {Figure::PeakMemory, Unit::Bytes, true, {}},
    };
    for (const cli::PlanReport& plan : report.plans) {
        const double ranks = static_cast<double>(std::max<std::int64_t>(plan.ranks, 1));
        std::int64_t wire = 0;
        for (const cli::ClassReport& one : plan.classes) wire = std::max(wire, one.transfers.bytes());
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

}  // namespace shardscope::gui
