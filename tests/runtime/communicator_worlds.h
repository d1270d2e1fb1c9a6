#pragma once

// What the conformance suite needs of an implementation of Communicator: a world of ranks, here always threads of this
// process, each with its own end of every communicator.

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/communicator/communicator.h"

namespace shardscope::runtime::testing {

/// The communicator of that name and members (world ranks, ascending) of one rank.
using Open = std::function<std::unique_ptr<Communicator>(const std::string& name, const std::vector<std::int64_t>&)>;
using RankBody = std::function<core::Result<void>(std::int64_t rank, const Open& open)>;

/// Runs `body` on `ranks` ranks and returns what each of them returned. A call whose peers do not come is an error
/// after `patience`.
using RunRanks = std::function<std::vector<core::Result<void>>(std::int64_t ranks, std::chrono::milliseconds patience,
                                                               const RankBody& body)>;

struct WorldKind {
    std::string name;
    RunRanks run;
};

std::vector<core::Result<void>> runOnThreadWorld(std::int64_t ranks, std::chrono::milliseconds patience,
                                                 const RankBody& body);

/// Each rank with Gloo contexts of its own, connected over TCP; the store is a thread of this process.
std::vector<core::Result<void>> runOnGloo(std::int64_t ranks, std::chrono::milliseconds patience, const RankBody& body);

}  // namespace shardscope::runtime::testing
