#pragma once

// Times of collectives and messages among some ranks of this machine, which do nothing else.

#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/result.h"
#include "core/machine/machine_times.h"
#include "runtime/communicator/communicator.h"

namespace shardscope::runtime {

/// How ranks reach each other.
enum class Transport : std::uint8_t {
    Threads,  ///< copies between threads of one process
    Gloo,     ///< TCP
};

/// What a communicator is wrapped in before it is measured (an artificial link); may be empty.
using Wrap = std::function<std::unique_ptr<Communicator>(std::unique_ptr<Communicator>)>;

/// Errors: no network, a peer that does not come.
[[nodiscard]] core::Result<core::TransferTimes> measureTransfers(std::int64_t ranks, Transport transport,
                                                                 const Wrap& wrap = {});

}  // namespace shardscope::runtime
