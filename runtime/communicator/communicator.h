#pragma once

// Collectives and messages of one rank. A communicator is one set of ranks; its calls run one after another in the
// order of issue, from whichever thread, the first of them with all members (they connect). A call returns when it is
// done; different communicators of a rank are used from different threads at a time. Every call carries a description,
// which the other members' calls must match: a rank that is at another operation is an error that names both sides,
// never a hang.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/base/dtype.h"
#include "core/base/result.h"

namespace shardscope::runtime {

/// What a call is about; equal on all members of the call.
struct CallLabel {
    std::string operation;  ///< "all-gather", "reduce-scatter", "all-reduce", "message", "barrier"
    std::string unit;       ///< unit or layer; may be empty
    std::uint16_t microBatch = 0;
    std::int64_t bytes = 0;  ///< large side of a collective, or the message
    core::DType dtype = core::DType::F32;
    friend bool operator==(const CallLabel&, const CallLabel&) = default;
};
/// "all-gather of root (1024 bytes, float32)"
[[nodiscard]] std::string describe(const CallLabel& label);

/// In nanoseconds of the devices' clock.
struct Transfer {
    std::int64_t arrival = 0;        ///< this rank reached the call
    std::int64_t transferStart = 0;  ///< the last member did
    std::int64_t end = 0;
};

class Communicator {
public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    [[nodiscard]] virtual std::int64_t rank() const = 0;  ///< position in this communicator
    [[nodiscard]] virtual std::int64_t size() const = 0;

    /// buffer[rank * share, +share) of every member into every member's buffer; in place.
    virtual core::Result<Transfer> allGather(const CallLabel& label, std::span<std::byte> buffer) = 0;
    /// share = sum over members of their input[rank * share, +share) in `label.dtype`, divided by the size of the
    /// communicator if `average`: taken in float32, in rank order, and rounded to the dtype once.
    virtual core::Result<Transfer> reduceScatter(const CallLabel& label, std::span<const std::byte> input,
                                                 std::span<std::byte> share, bool average) = 0;
    /// Every member's buffer = the sum over all as in `reduceScatter`; in place, and the same bits for every member.
    virtual core::Result<Transfer> allReduce(const CallLabel& label, std::span<std::byte> buffer, bool average) = 0;
    virtual core::Result<Transfer> send(const CallLabel& label, std::span<const std::byte> message,
                                        std::int64_t to) = 0;
    virtual core::Result<Transfer> receive(const CallLabel& label, std::span<std::byte> message, std::int64_t from) = 0;
    virtual core::Result<Transfer> barrier(const CallLabel& label) = 0;
    /// Errors unless every member gives the same value; the error names a rank that differs.
    virtual core::Result<void> agree(const std::string& what, std::uint64_t value) = 0;

    /// This rank cannot go on: its calls that wait, from any thread, and all later ones fail, and so do the other
    /// members' as far as they can be told. For any thread, any number of times; the first `why` counts.
    virtual void abandon(const core::Error& why) = 0;
    /// `waitsOnlyFor(calls)`: whether this rank can do nothing else before one of that many of its calls ends
    /// (Device::waitsOnlyFor). A communicator that knows where all ranks are asks it, from any thread, to tell a rank
    /// that works from one that waits for ever; others need not. Empty: it is no longer there.
    // NOLINTNEXTLINE(performance-unnecessary-value-param): who overrides it keeps it
    virtual void watch(std::function<bool(std::size_t calls)> waitsOnlyFor) { (void)waitsOnlyFor; }
};

}  // namespace shardscope::runtime
