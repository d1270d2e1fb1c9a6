#pragma once

// One clock for all ranks: the store's, which stands on rank 0's machine. A rank exchanges messages with the store when
// it starts and when it ends; a message that was answered after `roundTrip` was read on the other clock at the middle
// of that, give or take half of it.

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "runtime/rendezvous/store_client.h"

namespace shardscope::runtime {

/// One exchange, in nanoseconds: this rank's clock at the middle, what to add to get the store's, how long it took.
struct ClockSample {
    std::int64_t local = 0, offset = 0, roundTrip = 0;
};

/// What exchangeClocks makes.
inline constexpr std::size_t kClockExchanges = 24;
/// Some exchanges in a row.
[[nodiscard]] core::Result<std::vector<ClockSample>> exchangeClocks(StoreClient& store);

/// Offset and drift from the quickest exchanges of two moments. What is smaller than half of their round trips is no
/// difference: clocks of one machine are left as they are. A drift of more than 1 % is taken for 1 %: exchanges that
/// say so are wrong.
class ClockFit {
public:
    ClockFit() = default;
    ClockFit(std::span<const ClockSample> atStart, std::span<const ClockSample> atEnd);

    /// The store's clock at an instant of this rank's.
    [[nodiscard]] std::int64_t toCommon(std::int64_t local) const;
    [[nodiscard]] std::int64_t offset() const { return m_offset; }         ///< at the start
    [[nodiscard]] double driftPerSecond() const { return m_drift * 1e9; }  ///< nanoseconds
    /// How far the quick exchanges lie from the fit at most.
    [[nodiscard]] std::int64_t residual() const { return m_residual; }

private:
    std::int64_t m_start = 0, m_offset = 0, m_residual = 0;
    double m_drift = 0;  ///< of the offset, per nanosecond
};

}  // namespace shardscope::runtime
