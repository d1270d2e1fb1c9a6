// Any table of measurements is replayed or refused: every row has a finite prediction or a reason, and a refusal says
// where. The first byte says which of the four kinds the rest is.

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "cli/face/backtest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope;
    using namespace shardscope::cli;
    if (size == 0) return 0;
    const auto table = parseCsv({reinterpret_cast<const char*>(data + 1), size - 1}, "fuzz.csv");
    // Rows are replayed one by one; a few say as much as many.
    if (!table || table->rows.size() > 4) return 0;
    core::Result<Backtest> backtest;
    switch (data[0]) {
        case 'c': backtest = replayCollectives(*table); break;
        case 'g': backtest = replayGemm(*table); break;
        case 'a': backtest = replayAttention(*table); break;
        default: backtest = replayRuns(*table); break;
    }
    if (!backtest) {
        if (backtest.error().message.empty() || backtest.error().where.empty()) std::abort();
        return 0;
    }
    if (backtest->rows.size() != table->rows.size()) std::abort();
    fitConstants(*backtest);
    for (const ReplayedRow& row : backtest->rows)
        if (row.timed() && !(std::isfinite(row.predicted) && row.predicted > 0 && std::isfinite(row.error()) &&
                             std::isfinite(row.constantError())))
            std::abort();
    const auto document = core::parseJson(core::writeJson(backtestDocument({*backtest})), "written.json");
    if (!document || backtestText(*backtest).empty()) std::abort();
    // What is written is a table again, a line a row.
    const auto again = parseCsv(backtestCsv({*backtest}), "written.csv");
    if (!backtest->rows.empty() && (!again || again->rows.size() != backtest->rows.size())) std::abort();
    return 0;
}
