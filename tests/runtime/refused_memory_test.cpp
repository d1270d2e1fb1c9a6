// A rank that gets no memory in the middle of a call fails, and nobody waits for it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "runtime/communicator/thread_communicator.h"

// Sanitizers have an allocator of their own, which has to stay in place to find what it is there for.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // GCC's words, and clang's
#define SHARDSCOPE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHARDSCOPE_SANITIZED
#endif
#endif
#ifndef SHARDSCOPE_SANITIZED

namespace {

/// Requests of so many bytes are refused on this thread.
thread_local std::size_t refusedBytes = 0;

}  // namespace

// Not inlined, or GCC sees a pointer of operator new reach free.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    if (bytes == refusedBytes && bytes > 0) throw std::bad_alloc();
    if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace shardscope::runtime {
namespace {

TEST(RefusedMemory, InATransferFailsTheRankAndLetsTheOthersGo) {
    constexpr std::size_t kShare = 1000;
    ThreadWorld world(3);
    std::vector<std::string> messages(3);
    const auto done = world.run([&](std::int64_t rank) -> core::Result<void> {
        const auto comm = world.communicator("dp_shard", {0, 1, 2}, rank);
        std::vector<std::uint16_t> input(3 * kShare), share(kShare);
        const CallLabel label{"reduce-scatter", "a", 0, 6 * kShare, core::DType::BF16};
        if (rank == 1) refusedBytes = kShare * sizeof(float);  // to widen the others' shares
        const auto first = comm->reduceScatter(label, std::as_bytes(std::span(input)),
                                               std::as_writable_bytes(std::span(share)), false);
        refusedBytes = 0;
        EXPECT_EQ(first.has_value(), rank != 1);
        const auto second = comm->barrier({"barrier", {}, 0, 0});
        EXPECT_FALSE(second);
        if (!second) messages[static_cast<std::size_t>(rank)] = second.error().message;
        return second ? core::Result<void>() : tl::unexpected(second.error());
    });
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().where, "rank 1");
    EXPECT_NE(done.error().message.find("bad_alloc"), std::string::npos) << done.error().message;
    EXPECT_EQ(messages[0], "rank 1 failed: " + messages[1]);
    EXPECT_EQ(messages[2], messages[0]);
}

}  // namespace
}  // namespace shardscope::runtime

#endif
