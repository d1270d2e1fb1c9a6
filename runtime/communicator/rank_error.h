#pragma once

// An error of one rank, for whoever hears of several.

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "core/base/result.h"

namespace shardscope::runtime {

/// `where` begins with the rank: "rank 2", "rank 2, blocks.0". A message that begins with ranks needs no other place.
[[nodiscard]] inline core::Error ofRank(std::int64_t rank, core::Error error) {
    const bool named = error.message.starts_with("rank ") || error.message.starts_with("ranks ");
    if (!named || !error.where.empty())
        error.where = fmt::format("rank {}{}{}", rank, error.where.empty() ? "" : ", ", error.where);
    return error;
}

}  // namespace shardscope::runtime
