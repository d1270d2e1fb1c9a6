#pragma once

// Host memory in pools, one a stream, each in the order of its stream: what is given back can be taken again at once,
// since whatever still works on it was enqueued before. So a host that runs far ahead of its streams holds no more than
// one that waits for them (the rule of PyTorch's caching allocator).

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <vector>

namespace shardscope::runtime {

class StreamPools {
public:
    static constexpr std::size_t kAlignment = 64;

    struct Free {
        void operator()(std::byte* data) const { ::operator delete[](data, std::align_val_t{kAlignment}); }
    };
    struct Piece {
        std::unique_ptr<std::byte[], Free> data;
        std::int64_t size = 0;  ///< at least what was asked for
    };

    /// The smallest piece of the pool that fits and is not much larger, or new memory. No data: the host has none.
    [[nodiscard]] Piece take(std::int64_t bytes, std::size_t pool);
    void giveBack(Piece piece, std::size_t pool);

private:
    std::vector<std::multimap<std::int64_t, Piece>> m_free;  ///< by pool, then by size
};

}  // namespace shardscope::runtime
