#pragma once

// PyTorch's CUDA caching allocator, as far as sizes go: what a process reserves for what it allocates (rules and
// constants of CUDACachingAllocator.cpp at 001074d2, classic segments). Requests are rounded up to 512 bytes; those up
// to 1 MiB come from 2 MiB segments; those below 10 MiB from 20 MiB segments; larger ones from segments of their own,
// rounded up to 2 MiB. Pools are per stream and size class; a freed block goes back to its pool, merges with free
// neighbours of its segment, and is never returned to the device.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/base/quantities.h"

namespace shardscope::sim {

class CachingAllocator {
public:
    using Handle = std::uint32_t;

    /// Takes `bytes` (0 is allowed and takes nothing) from the pools of `stream`.
    [[nodiscard]] Handle allocate(core::Bytes bytes, std::uint8_t stream);
    void release(Handle handle);

    /// Sum of the rounded sizes of what is allocated now.
    [[nodiscard]] core::Bytes allocated() const { return {m_allocated}; }
    /// Sum of all segments; never falls.
    [[nodiscard]] core::Bytes reserved() const { return {m_reserved}; }
    /// Of these, the segments of one stream that serve requests up to 1 MiB (`large` false) or larger ones.
    [[nodiscard]] core::Bytes reservedOf(std::uint8_t stream, bool large) const;

private:
    struct Piece {  // part of a segment, in address order
        std::int64_t size = 0;
        bool free = false;
        std::uint8_t pool = 0;  // stream * 2 + (1 if large)
        std::int64_t address = 0;
    };
    using PieceId = std::uint32_t;

    PieceId findOrReserve(std::int64_t size, std::uint8_t pool, bool large);
    void mergeWithNext(PieceId piece);

    std::vector<Piece> m_pieces;
    std::vector<PieceId> m_next, m_previous;  // neighbours in the segment; kNone at its ends
    std::map<std::uint8_t, std::set<std::pair<std::int64_t, PieceId>>> m_free;  // by pool: size, piece
    std::map<std::uint8_t, std::int64_t> m_reservedOf;                          // by pool
    std::int64_t m_allocated = 0, m_reserved = 0;
    static constexpr PieceId kNone = 0xffffffffu;
};

}  // namespace shardscope::sim
