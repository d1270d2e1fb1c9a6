#pragma once

// A slower link than the machine has: each transfer of a communicator is stretched to what it would take there, so that
// overlap, and its absence, show on one machine.

#include <memory>

#include "core/machine/artificial_link.h"
#include "runtime/communicator/communicator.h"

namespace shardscope::runtime {

using core::ArtificialLink;

/// `inner` over that link. It sleeps meanwhile, so other threads work; `abandon` wakes it.
/// Its Transfer::end is the stretched one.
[[nodiscard]] std::unique_ptr<Communicator> slowedDown(std::unique_ptr<Communicator> inner, const ArtificialLink& link);

}  // namespace shardscope::runtime
