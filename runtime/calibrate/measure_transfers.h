#pragma once

// Times of collectives and messages among some ranks of this machine, with nothing beside them and while as many
// threads compute.

#include <cstdint>

#include "core/base/result.h"
#include "core/machine/machine_times.h"

namespace shardscope::runtime {

/// How ranks reach each other.
enum class Transport : std::uint8_t {
    Threads,  ///< copies between threads of one process
    Gloo,     ///< TCP
};

/// Errors: no network, a peer that does not come.
[[nodiscard]] core::Result<core::TransferTimes> measureTransfers(std::int64_t ranks, Transport transport);

}  // namespace shardscope::runtime
