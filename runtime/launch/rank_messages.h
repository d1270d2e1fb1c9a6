#pragma once

// What a rank's process tells whoever puts the ranks' results together, as bytes. Nothing in them is trusted.

#include <span>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "runtime/rendezvous/clock_fit.h"
#include "runtime/train/rank_training.h"

namespace shardscope::runtime {

struct RankFailure {
    core::Error error;
    bool lostPeer = false;  ///< only because another rank has gone: that one knows more
};
struct RankResult {
    RankRecord record;
    std::vector<ClockSample> clockAtStart, clockAtEnd;
};
using RankMessage = std::variant<RankStep, RankFailure, RankResult>;

[[nodiscard]] std::vector<std::byte> encode(const RankMessage& message);
/// Errors: bytes that are no such message.
[[nodiscard]] core::Result<RankMessage> decode(std::span<const std::byte> bytes);
/// Whether a rank can have done that step of so many: instants and bytes of which sums over all ranks do not overflow.
[[nodiscard]] bool canHaveBeen(const RankStep& step, std::int64_t steps);
/// Errors: a result that is not one of this rank of this training, or from which no report can be made: instants out of
/// order or so far apart that sums of them overflow.
[[nodiscard]] core::Result<void> checkResult(const RankResult& result, const Training& training, std::int64_t rank);

}  // namespace shardscope::runtime
