#pragma once

// One knob over values: each row is what `simulate` answers for that point.

#include <span>
#include <string>
#include <vector>

#include "cli/face/load.h"
#include "cli/face/report.h"

namespace shardscope::cli {

struct SweepPoint {
    std::string value;  ///< as it was written
    core::Result<Report> report;
    bool isDefault = false;  ///< the value is the key's default, which cannot be for nothing
};

struct Sweep {
    std::string key;
    std::vector<SweepPoint> points;
};

/// `over` is "section.key=v1,v2,...". A value that cannot be is a point with an error, not the end of the sweep.
/// Errors: a malformed or unknown key, no values, more than 1,000, none that can be.
[[nodiscard]] core::Result<Sweep> sweep(const Loaded& loaded, const std::string& over,
                                        std::span<const std::string> strategies = {});

/// Fails with the code of the first point that could not be, and says how many they are.
[[nodiscard]] core::Result<void> checkPoints(const Sweep& sweep);

/// Keys that were given and that no plan of any point uses, in the order of the keys; the swept one too.
[[nodiscard]] std::vector<std::string> unusedIn(const Sweep& sweep);

[[nodiscard]] std::string sweepTable(const Sweep& sweep);
[[nodiscard]] core::Document sweepDocument(const Sweep& sweep);
/// RFC 4180, a row a point and plan.
[[nodiscard]] std::string sweepCsv(const Sweep& sweep);
/// Bars of the step time, split up into where it goes, one a point and plan.
[[nodiscard]] std::string sweepSvg(const Sweep& sweep);

}  // namespace shardscope::cli
