#include "runtime/device/stream_pools.h"

#include <algorithm>
#include <cassert>

namespace shardscope::runtime {

namespace {

/// Sizes are multiples of this, so that nearly equal requests share pieces.
constexpr std::int64_t kStep = 512;

/// The largest piece that a request takes: pieces are not split.
std::int64_t mostFor(std::int64_t size) {
    return size + std::max(size / 8, kStep);
}

}  // namespace

StreamPools::Piece StreamPools::take(std::int64_t bytes, std::size_t pool) {
    assert(bytes >= 0);
    const std::int64_t size = std::max((bytes + kStep - 1) / kStep * kStep, kStep);
    if (pool < m_free.size())
        if (const auto found = m_free[pool].lower_bound(size);
            found != m_free[pool].end() && found->first <= mostFor(size)) {
            Piece piece = std::move(found->second);
            m_free[pool].erase(found);
            return piece;
        }
    Piece made;
    made.data.reset(static_cast<std::byte*>(
        ::operator new[](static_cast<std::size_t>(size), std::align_val_t{kAlignment}, std::nothrow)));
    made.size = size;
    return made;
}

void StreamPools::giveBack(Piece piece, std::size_t pool) {
    if (pool >= m_free.size()) m_free.resize(pool + 1);
    const std::int64_t size = piece.size;
    m_free[pool].emplace(size, std::move(piece));
}

}  // namespace shardscope::runtime
