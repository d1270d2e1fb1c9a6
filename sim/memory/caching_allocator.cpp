#include "sim/memory/caching_allocator.h"

#include <cassert>

namespace shardscope::sim {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kRounding = 512;
constexpr std::int64_t kSmallLimit = kMiB;  // largest request of the small pool
constexpr std::int64_t kSmallSegment = 2 * kMiB;
constexpr std::int64_t kMiddleLimit = 10 * kMiB;  // requests below it share segments of 20 MiB
constexpr std::int64_t kMiddleSegment = 20 * kMiB;
constexpr std::int64_t kLargeRounding = 2 * kMiB;

std::int64_t roundUp(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
}

std::int64_t segmentFor(std::int64_t size) {
    if (size <= kSmallLimit) return kSmallSegment;
    if (size < kMiddleLimit) return kMiddleSegment;
    return roundUp(size, kLargeRounding);
}

std::uint8_t poolOf(std::uint8_t stream, bool large) {
    return static_cast<std::uint8_t>(stream * 2 + (large ? 1 : 0));
}

}  // namespace

core::Bytes CachingAllocator::reservedOf(std::uint8_t stream, bool large) const {
    const auto found = m_reservedOf.find(poolOf(stream, large));
    return {found == m_reservedOf.end() ? 0 : found->second};
}

CachingAllocator::PieceId CachingAllocator::findOrReserve(std::int64_t size, std::uint8_t pool, bool large) {
    auto& free = m_free[pool];
    if (const auto best = free.lower_bound({size, 0}); best != free.end()) {
        const PieceId piece = best->second;
        free.erase(best);
        return piece;
    }
    const auto piece = static_cast<PieceId>(m_pieces.size());
    const std::int64_t segment = large ? segmentFor(size) : kSmallSegment;
    m_pieces.push_back({segment, true, pool, m_reserved});
    m_next.push_back(kNone);
    m_previous.push_back(kNone);
    m_reserved += segment;
    m_reservedOf[pool] += segment;
    return piece;
}

CachingAllocator::Handle CachingAllocator::allocate(core::Bytes bytes, std::uint8_t stream) {
    if (bytes.value <= 0) return kNone;
    const std::int64_t size = roundUp(bytes.value, kRounding);
    const bool large = size > kSmallLimit;
    const auto pool = poolOf(stream, large);
    const PieceId piece = findOrReserve(size, pool, large);
    const std::int64_t rest = m_pieces[piece].size - size;
    // A small piece is split for any remainder worth a block, a large one only for more than 1 MiB.
    if (large ? rest > kSmallLimit : rest >= kRounding) {
        const auto tail = static_cast<PieceId>(m_pieces.size());
        m_pieces.push_back({rest, true, pool, m_pieces[piece].address + size});
        m_next.push_back(m_next[piece]);
        m_previous.push_back(piece);
        if (m_next[piece] != kNone) m_previous[m_next[piece]] = tail;
        m_next[piece] = tail;
        m_pieces[piece].size = size;
        m_free[pool].insert({rest, tail});
    }
    m_pieces[piece].free = false;
    m_allocated += m_pieces[piece].size;
    return piece;
}

void CachingAllocator::mergeWithNext(PieceId piece) {
    const PieceId next = m_next[piece];
    if (next == kNone || !m_pieces[next].free) return;
    m_free[m_pieces[next].pool].erase({m_pieces[next].size, next});
    m_pieces[piece].size += m_pieces[next].size;
    m_pieces[next].size = 0;
    m_pieces[next].free = false;  // gone: nothing refers to it any more
    m_next[piece] = m_next[next];
    if (m_next[next] != kNone) m_previous[m_next[next]] = piece;
}

void CachingAllocator::release(Handle handle) {
    if (handle == kNone) return;
    Piece& piece = m_pieces[handle];
    assert(!piece.free && piece.size > 0 && "released twice");
    m_allocated -= piece.size;
    piece.free = true;
    mergeWithNext(handle);
    PieceId start = handle;
    if (const PieceId previous = m_previous[handle]; previous != kNone && m_pieces[previous].free) {
        start = previous;
        m_free[m_pieces[previous].pool].erase({m_pieces[previous].size, previous});
        mergeWithNext(previous);
    }
    m_free[m_pieces[start].pool].insert({m_pieces[start].size, start});
}

}  // namespace shardscope::sim
