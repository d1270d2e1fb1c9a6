#pragma once

// The rows of the table, and what they say together.

#include <string>
#include <vector>

#include "core/base/document.h"
#include "core/base/result.h"

namespace shardscope::bench {

/// Nanoseconds; a run's step is the median over its steps after the warm-up.
struct Row {
    std::string name;
    std::int64_t ranks = 1, cores = 1;
    double predicted = 0;
    double first = 0, second = 0;  ///< means of every other run, and of those between them

    [[nodiscard]] double measured() const { return (first + second) / 2; }
    [[nodiscard]] double error() const { return predicted / measured() - 1; }
    /// |ln(second / first)|
    [[nodiscard]] double scatter() const;
};

struct Figures {
    std::size_t count = 0;
    double medianError = 0, p90Error = 0;      ///< of |error|
    double medianScatter = 0, p90Scatter = 0;  ///< of the machine
    double tau = 0;                            ///< Kendall's tau-b between predicted and measured
    double scatterTau = 0;                     ///< the same between the two runs
};
[[nodiscard]] Figures figuresOf(const std::vector<Row>& rows);

[[nodiscard]] std::string tableOf(const std::vector<Row>& rows);
[[nodiscard]] core::Document documentOf(const std::vector<Row>& rows);
[[nodiscard]] std::string csvOf(const std::vector<Row>& rows);
/// Errors name the line.
[[nodiscard]] core::Result<std::vector<Row>> parseCsv(const std::string& text, const std::string& name);

}  // namespace shardscope::bench
