#include "runtime/communicator/artificial_link.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "runtime/device/clock.h"

namespace shardscope::runtime {

using core::Result;

namespace {

class SlowedCommunicator final : public Communicator {
public:
    SlowedCommunicator(std::unique_ptr<Communicator> inner, const ArtificialLink& link)
        : m_inner(std::move(inner)), m_link(link) {}

    [[nodiscard]] std::int64_t rank() const override { return m_inner->rank(); }
    [[nodiscard]] std::int64_t size() const override { return m_inner->size(); }

    Result<Transfer> allGather(const CallLabel& label, std::span<std::byte> buffer) override {
        return stretched(m_inner->allGather(label, buffer), ringBytes(buffer.size()));
    }
    Result<Transfer> reduceScatter(const CallLabel& label, std::span<const std::byte> input, std::span<std::byte> share,
                                   bool average) override {
        return stretched(m_inner->reduceScatter(label, input, share, average), ringBytes(input.size()));
    }
    Result<Transfer> allReduce(const CallLabel& label, std::span<std::byte> buffer, bool average) override {
        return stretched(m_inner->allReduce(label, buffer, average), 2 * ringBytes(buffer.size()));
    }
    Result<Transfer> send(const CallLabel& label, std::span<const std::byte> message, std::int64_t to) override {
        return stretched(m_inner->send(label, message, to), static_cast<double>(message.size()));
    }
    Result<Transfer> receive(const CallLabel& label, std::span<std::byte> message, std::int64_t from) override {
        return stretched(m_inner->receive(label, message, from), static_cast<double>(message.size()));
    }
    Result<Transfer> barrier(const CallLabel& label) override { return stretched(m_inner->barrier(label), 0); }
    Result<void> agree(const std::string& what, std::uint64_t value) override { return m_inner->agree(what, value); }
    void abandon(const core::Error& why) override {
        m_inner->abandon(why);
        const std::lock_guard lock(m_mutex);
        if (!m_abandoned) m_abandoned = why;
        m_wake.notify_all();
    }
    void watch(std::function<bool(std::size_t)> waitsOnlyFor) override { m_inner->watch(std::move(waitsOnlyFor)); }

private:
    [[nodiscard]] double ringBytes(std::size_t bytes) const {
        return ArtificialLink::ringBytes(static_cast<double>(bytes), size());
    }

    /// Ends no earlier than the link lets it, unless it is abandoned.
    [[nodiscard]] Result<Transfer> stretched(Result<Transfer> transfer, double bytes) {
        if (!transfer) return transfer;
        const std::int64_t earliest = transfer->transferStart + m_link.nanoseconds(bytes);
        if (earliest <= transfer->end) return transfer;
        const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(earliest)};
        std::unique_lock lock(m_mutex);
        if (m_wake.wait_until(lock, until, [&] { return m_abandoned.has_value(); }))
            return tl::unexpected(*m_abandoned);
        transfer->end = clockNow();
        return transfer;
    }

    std::unique_ptr<Communicator> m_inner;
    ArtificialLink m_link;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::optional<core::Error> m_abandoned;
};

}  // namespace

std::unique_ptr<Communicator> slowedDown(std::unique_ptr<Communicator> inner, const ArtificialLink& link) {
    if (!link.given()) return inner;
    return std::make_unique<SlowedCommunicator>(std::move(inner), link);
}

}  // namespace shardscope::runtime
