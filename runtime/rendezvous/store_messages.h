#pragma once

// What a rank and the store say to each other: the first byte of every message.

#include <cstdint>

namespace shardscope::runtime {

enum class StoreRequest : std::uint8_t {
    Hello = 1,     ///< magic, version, fingerprint, rank, ranks, purpose -> answer
    Set = 2,       ///< key, value -> answer
    Get = 3,       ///< key, milliseconds to wait -> answer with the value
    Everyone = 4,  ///< milliseconds to wait until all ranks have joined -> answer
    Ping = 5,      ///< -> answer with the store's clock in nanoseconds
    Tell = 6,      ///< whether it is the last piece, piece; not answered
    Leave = 7,     ///< this rank is done -> answer
};
enum class StoreAnswer : std::uint8_t { Done = 0, Refused = 1, TimedOut = 2, Unfit = 3 };  ///< then a value, or why not

enum class ConnectionPurpose : std::uint8_t {
    Rank = 0,   ///< a rank's own: the rank has joined, and is lost when it breaks
    Extra = 1,  ///< a further one of the rank, for one thread
};

inline constexpr std::uint32_t kStoreMagic = 0x31534853;  // "SHS1"
inline constexpr std::uint32_t kStoreVersion = 3;
inline constexpr std::size_t kMostKey = 512, kMostValue = std::size_t{1} << 16;
inline constexpr std::size_t kMostKeys = 100'000;
inline constexpr std::size_t kPiece = std::size_t{1} << 19;  ///< of a told message

}  // namespace shardscope::runtime
