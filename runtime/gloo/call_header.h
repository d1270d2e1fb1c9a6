#pragma once

// What members of a call tell each other before its bytes move.

#include <array>
#include <cstdint>
#include <string>

#include "runtime/communicator/communicator.h"

namespace shardscope::runtime {

enum class CallRole : std::uint32_t { Collective = 1, Send = 2, Receive = 3 };

/// Fixed size, plain bytes. Built from zeroed memory, so that nothing undefined travels.
struct CallHeader {
    std::uint64_t labelHash = 0;
    std::int64_t arrival = 0;  ///< on the common clock
    std::uint64_t value = 0;   ///< of an agreement
    CallRole role = CallRole::Collective;
    std::uint32_t microBatch = 0;
    std::array<char, 216> text{};  ///< describe(label), cut, ends with zero
};
static_assert(sizeof(CallHeader) == 248);

[[nodiscard]] CallHeader headerOf(const CallLabel& label, CallRole role, std::int64_t arrival, std::uint64_t value = 0);
/// Whether two members are at the same call.
[[nodiscard]] bool meets(const CallHeader& a, const CallHeader& b);
/// "all-gather of blocks.0 (16 bytes, float32) of micro-batch 0", control characters of a foreign text left out.
[[nodiscard]] std::string describe(const CallHeader& header);

}  // namespace shardscope::runtime
