#include "runtime/gloo/gloo_communicator.h"

#include <fmt/format.h>
#include <gloo/allgather.h>
#include <gloo/alltoall.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>

#include "runtime/communicator/rank_order_sum.h"
#include "runtime/device/clock.h"
#include "runtime/rendezvous/store_server.h"

namespace shardscope::runtime {

using core::ErrorCode;
using core::Result;

namespace {

// Gloo's collectives have slots with a prefix in the highest byte, which is never 0.
constexpr std::uint64_t kHeaderSlot = 1, kMessageSlot = 2;

constexpr const char* kLookAtIt = "it was stopped, or works on: look at its process, or wait longer with --timeout";
constexpr const char* kItSaysWhy = "what that rank prints says why; if it prints nothing, look for lack of memory";

std::string milliseconds(std::chrono::milliseconds time) {
    return fmt::format("{} ms", time.count());
}

/// Gloo's view of our store, below the communicator's key. Gloo knows errors as exceptions only; the first is kept.
class RendezvousStore final : public gloo::rendezvous::Store {
public:
    RendezvousStore(StoreClient& client, const GlooChannel& channel, std::chrono::milliseconds patience)
        : m_client(client), m_channel(channel), m_patience(patience) {}

    void set(const std::string& key, const std::vector<char>& data) override {
        const auto done = m_client.set(m_channel.key + "/" + key, std::as_bytes(std::span(data)));
        if (!done) give(done.error());
    }
    std::vector<char> get(const std::string& key) override {
        const auto value = m_client.get(m_channel.key + "/" + key, m_patience);
        if (!value) give(m_client.timedOut() ? notThere(key) : value.error());
        const auto* begin = reinterpret_cast<const char*>(value->data());
        return {begin, begin + value->size()};
    }
    void wait(const std::vector<std::string>& keys) override {
        for (const std::string& key : keys) (void)get(key);
    }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

    std::optional<core::Error> error;

private:
    [[noreturn]] void give(const core::Error& found) {
        error = found;
        throw std::runtime_error(found.message);
    }
    /// Gloo's keys end with the position of the member who sets them.
    [[nodiscard]] core::Error notThere(const std::string& key) const {
        const std::size_t digits = key.find_last_not_of("0123456789") + 1;
        std::size_t position = 0;
        std::from_chars(key.data() + digits, key.data() + key.size(), position);
        const std::string who =
            position < m_channel.members.size() ? fmt::format("rank {}", m_channel.members[position]) : "a member";
        return {ErrorCode::Io,
                fmt::format("{} did not open communicator {} within {}", who, m_channel.name, milliseconds(m_patience)),
                {},
                "it was stopped, or is slow to get there: --join-timeout says how long is waited"};
    }
    StoreClient& m_client;
    const GlooChannel& m_channel;
    std::chrono::milliseconds m_patience;
};

}  // namespace

std::vector<int> GlooCommunicator::others() const {
    std::vector<int> positions;
    for (int p = 0; p < static_cast<int>(m_channel->members.size()); ++p)
        if (p != m_channel->position) positions.push_back(p);
    return positions;
}

tl::unexpected<core::Error> GlooCommunicator::stopped(core::Error error) const {
    m_world.failedFor(GlooWorld::Cause::Own);
    m_world.m_network->fail(m_channel.get());
    m_channel->aborted = true;
    return tl::unexpected(std::move(error));
}

Result<void> GlooCommunicator::connect() {
    GlooChannel& channel = *m_channel;
    if (channel.context != nullptr) return {};
    const auto patience = m_world.m_patience.rendezvous;
    SHARDSCOPE_ASSIGN(StoreClient client, StoreClient::join(m_world.m_address, ConnectionPurpose::Extra, patience));
    RendezvousStore store(client, channel, patience);
    auto context = std::make_shared<gloo::rendezvous::Context>(channel.position, static_cast<int>(size()));
    // A pair waits for its connection five times as long.
    context->setTimeout(std::max(patience / 5, std::chrono::milliseconds(200)));
    try {
        context->connectFullMesh(store, m_world.m_network->device);
    } catch (const std::exception& thrown) {
        if (!store.error || client.lostRank()) m_world.failedFor(GlooWorld::Cause::LostPeer);
        if (store.error) return tl::unexpected(*store.error);
        return core::fail(ErrorCode::Io,
                          fmt::format("rank {} could not connect to its peers of communicator {}: {}",
                                      m_world.m_address.rank, name(), thrown.what()),
                          {}, "each rank's machine must reach every other one: no firewall between them");
    }
    const std::lock_guard lock(channel.mutex);
    channel.ownBuffers.resize(channel.members.size());
    channel.headerBuffers.resize(channel.members.size());
    for (const int p : others()) {
        auto& header = channel.incoming[static_cast<std::size_t>(p)];
        auto& buffer = channel.headerBuffers[static_cast<std::size_t>(p)];
        buffer = context->createUnboundBuffer(&header, sizeof header);
        buffer->recv(p, kHeaderSlot);
        channel.ownBuffers[static_cast<std::size_t>(p)] =
            context->createUnboundBuffer(&channel.own, sizeof channel.own);
    }
    channel.context = std::move(context);
    return {};
}

Result<void> GlooCommunicator::exchange(const std::vector<int>& peers) {
    GlooChannel& channel = *m_channel;
    const auto patience = m_world.m_patience.call;
    const Deadline deadline = std::chrono::steady_clock::now() + patience;
    // Rounded up: who is told that time is over finds the deadline passed.
    const auto left = [&] {
        const auto rest = deadline - std::chrono::steady_clock::now();
        return std::max(std::chrono::milliseconds(1),
                        std::chrono::duration_cast<std::chrono::milliseconds>(rest) + std::chrono::milliseconds(1));
    };
    const auto gone = [&](int p) {
        m_world.failedFor(GlooWorld::Cause::LostPeer);
        return core::fail(ErrorCode::Io,
                          fmt::format("rank {} has gone: its connection to rank {} broke before {} "
                                      "(communicator {})",
                                      worldRank(p), m_world.m_address.rank, describe(channel.own), name()),
                          {}, kItSaysWhy);
    };
    const auto waitedFor = [&](const std::vector<std::int64_t>& ranks) {
        return core::fail(ErrorCode::Io,
                          fmt::format("rank {} waited {} for {} in {} (communicator {})", m_world.m_address.rank,
                                      milliseconds(patience), nameRanks(ranks), describe(channel.own), name()),
                          {}, kLookAtIt);
    };
    std::vector<std::int64_t> late;
    for (const int p : peers) {
        try {
            channel.ownBuffers[static_cast<std::size_t>(p)]->send(p, kHeaderSlot);
        } catch (const std::exception&) {
            return gone(p);
        }
    }
    for (const int p : peers) {
        const auto index = static_cast<std::size_t>(p);
        bool came = false;
        try {
            came = channel.headerBuffers[index]->waitRecv(left());
            channel.headers[index] = channel.incoming[index];
            // Once time is over Gloo has closed all connections; nothing follows then.
            if (came && late.empty()) channel.headerBuffers[index]->recv(p, kHeaderSlot);
        } catch (const std::exception&) {
            if (std::chrono::steady_clock::now() < deadline && late.empty()) return gone(p);
            late.push_back(worldRank(p));
            continue;
        }
        if (!came) return core::fail(ErrorCode::Cancelled, "another communicator of this rank has failed");
    }
    if (!late.empty()) return waitedFor(late);
    for (const int p : peers) {
        try {
            channel.ownBuffers[static_cast<std::size_t>(p)]->waitSend(left());
        } catch (const std::exception&) {
            if (std::chrono::steady_clock::now() < deadline) return gone(p);
            return waitedFor({worldRank(p)});
        }
    }
    return {};
}

Result<void> GlooCommunicator::checkHeaders(const std::vector<int>& peers) const {
    const GlooChannel& channel = *m_channel;
    // Of a collective every member tells of the same two: the first, and the first that differs from it.
    const bool collective = channel.own.role == CallRole::Collective;
    int first = channel.position;
    if (collective && !peers.empty()) first = std::min(first, peers.front());
    const CallHeader& expected = channel.headers[static_cast<std::size_t>(first)];
    for (int p = 0; p < static_cast<int>(channel.members.size()); ++p) {
        if (p == first || (p != channel.position && std::find(peers.begin(), peers.end(), p) == peers.end())) continue;
        const CallHeader& header = channel.headers[static_cast<std::size_t>(p)];
        if (meets(expected, header)) continue;
        const int lower = std::min(first, p), upper = std::max(first, p);
        return core::fail(ErrorCode::Input,
                          fmt::format("rank {} is at {}, rank {} at {} (communicator {})", worldRank(lower),
                                      describe(channel.headers[static_cast<std::size_t>(lower)]), worldRank(upper),
                                      describe(channel.headers[static_cast<std::size_t>(upper)]), name()),
                          {}, "members of a communicator must issue the same operations in the same order");
    }
    return {};
}

core::Error GlooCommunicator::broken(const CallLabel& label, const std::vector<int>& peers, const Transfer& times,
                                     std::string_view thrown) const {
    m_world.failedFor(GlooWorld::Cause::LostPeer);
    // Whose connection is broken shows in what was asked of it ahead, if it shows at all.
    std::vector<std::int64_t> ranks, all;
    for (const int p : peers) {
        all.push_back(worldRank(p));
        try {
            auto& header = *m_channel->headerBuffers[static_cast<std::size_t>(p)];
            header.abortWaitRecv();
            header.waitRecv(std::chrono::milliseconds(1));
        } catch (const std::exception&) {
            ranks.push_back(worldRank(p));
        }
    }
    if (ranks.empty()) ranks = all;
    const std::string who = (ranks.size() > 1 ? "one of " : "") + nameRanks(ranks);
    const std::string where = fmt::format("{} (communicator {})", describe(label), name());
    const auto patience = m_world.m_patience.call;
    if (std::chrono::nanoseconds(clockNow() - times.transferStart) >= patience)
        return {ErrorCode::Io,
                fmt::format("rank {} waited {} for {} to go on with {}", m_world.m_address.rank, milliseconds(patience),
                            who, where),
                {},
                kLookAtIt};
    // Gloo begins with a place in its sources.
    if (const std::size_t place = thrown.find("] "); thrown.starts_with('[') && place != std::string_view::npos)
        thrown.remove_prefix(place + 2);
    return {ErrorCode::Io,
            fmt::format("rank {} lost {} in {}: {}", m_world.m_address.rank, who, where, thrown),
            {},
            kItSaysWhy};
}

Result<Transfer> GlooCommunicator::call(const CallLabel& label, CallRole role, std::uint64_t value,
                                        const std::vector<int>& peers, const std::function<void()>& move) {
    GlooChannel& channel = *m_channel;
    Transfer times;
    times.arrival = clockNow();
    times.transferStart = times.arrival;
    if (channel.aborted)
        return core::fail(ErrorCode::Cancelled,
                          fmt::format("{} after a communicator of this rank has failed", describe(label)));
    try {
        if (!peers.empty()) {
            auto connected = connect();
            if (!connected) return stopped(std::move(connected).error());
            if (channel.aborted)
                return core::fail(ErrorCode::Cancelled,
                                  fmt::format("{} after a communicator of this rank has failed", describe(label)));
        }
        channel.own = headerOf(label, role, times.arrival + m_world.m_clockOffset, value);
        channel.headers[static_cast<std::size_t>(channel.position)] = channel.own;
        auto exchanged = exchange(peers);
        if (exchanged) exchanged = checkHeaders(peers);
        if (!exchanged) return stopped(std::move(exchanged).error());
        for (const int p : peers)
            times.transferStart = std::max(
                times.transferStart, channel.headers[static_cast<std::size_t>(p)].arrival - m_world.m_clockOffset);
        // Another rank's clock may be a little ahead of what is known of it.
        times.transferStart = std::min(times.transferStart, clockNow());
        move();
    } catch (const std::exception& thrown) {
        return stopped(broken(label, peers, times, thrown.what()));
    }
    times.end = clockNow();
    return times;
}

Result<Transfer> GlooCommunicator::callAll(const CallLabel& label, const std::function<void()>& move,
                                           std::uint64_t value) {
    return call(label, CallRole::Collective, value, others(), move);
}

void GlooCommunicator::gather(std::byte* buffer, std::size_t bytes) {
    if (bytes == 0 || size() == 1) return;
    gloo::AllgatherOptions options(m_channel->context);
    options.setOutput(reinterpret_cast<std::uint8_t*>(buffer), bytes);
    options.setTimeout(m_world.m_patience.call);
    gloo::allgather(options);
}

void GlooCommunicator::allToAll(const std::byte* input, std::byte* output, std::size_t bytes) {
    if (bytes == 0) return;
    if (size() == 1) {
        std::memcpy(output, input, bytes);
        return;
    }
    gloo::AlltoallOptions options(m_channel->context);
    // Gloo only reads its input; its interface has no const form.
    options.setInput(reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(input)), bytes);
    options.setOutput(reinterpret_cast<std::uint8_t*>(output), bytes);
    options.setTimeout(m_world.m_patience.call);
    gloo::alltoall(options);
}

Result<Transfer> GlooCommunicator::allGather(const CallLabel& label, std::span<std::byte> buffer) {
    assert(buffer.size() % m_channel->members.size() == 0);
    return callAll(label, [&] { gather(buffer.data(), buffer.size()); });
}

Result<Transfer> GlooCommunicator::reduceScatter(const CallLabel& label, std::span<const std::byte> input,
                                                 std::span<std::byte> share, bool average) {
    assert(share.size() * m_channel->members.size() == input.size());
    return callAll(label, [&] {
        std::vector<std::byte>& chunks = m_channel->scratch;
        chunks.resize(input.size());
        allToAll(input.data(), chunks.data(), input.size());
        std::vector<const std::byte*> parts;
        for (std::size_t p = 0; p < m_channel->members.size(); ++p) parts.push_back(chunks.data() + p * share.size());
        sumInRankOrder(parts, share, label.dtype, average);
    });
}

// Each member sums its part for all, so that all have the same bits.
Result<Transfer> GlooCommunicator::allReduce(const CallLabel& label, std::span<std::byte> buffer, bool average) {
    return callAll(label, [&] {
        if (buffer.empty()) return;
        const std::size_t members = m_channel->members.size();
        const auto width = static_cast<std::size_t>(core::sizeOf(label.dtype));
        assert(buffer.size() % width == 0);
        const std::size_t part = (buffer.size() / width + members - 1) / members * width, padded = part * members;
        std::vector<std::byte>& scratch = m_channel->scratch;
        scratch.assign(2 * padded, std::byte{0});
        std::byte *const whole = scratch.data(), *const chunks = scratch.data() + padded;
        std::memcpy(whole, buffer.data(), buffer.size());
        allToAll(whole, chunks, padded);
        std::vector<const std::byte*> parts;
        for (std::size_t p = 0; p < members; ++p) parts.push_back(chunks + p * part);
        sumInRankOrder(parts, {whole + static_cast<std::size_t>(m_channel->position) * part, part}, label.dtype,
                       average);
        gather(whole, padded);
        std::memcpy(buffer.data(), whole, buffer.size());
    });
}

Result<Transfer> GlooCommunicator::send(const CallLabel& label, std::span<const std::byte> message, std::int64_t to) {
    assert(to != rank() && to >= 0 && to < size());
    const int peer = static_cast<int>(to);
    return call(label, CallRole::Send, 0, {peer}, [&] {
        if (message.empty()) return;
        auto* bytes = const_cast<std::byte*>(message.data());  // only read
        const auto buffer = m_channel->context->createUnboundBuffer(bytes, message.size());
        buffer->send(peer, kMessageSlot);
        buffer->waitSend(m_world.m_patience.call);
    });
}

Result<Transfer> GlooCommunicator::receive(const CallLabel& label, std::span<std::byte> message, std::int64_t from) {
    assert(from != rank() && from >= 0 && from < size());
    const int peer = static_cast<int>(from);
    return call(label, CallRole::Receive, 0, {peer}, [&] {
        if (message.empty()) return;
        const auto buffer = m_channel->context->createUnboundBuffer(message.data(), message.size());
        buffer->recv(peer, kMessageSlot);
        buffer->waitRecv(m_world.m_patience.call);
    });
}

// Whoever has heard of all others' arrival knows that all are there.
Result<Transfer> GlooCommunicator::barrier(const CallLabel& label) {
    return callAll(label, [] {});
}

Result<void> GlooCommunicator::agree(const std::string& what, std::uint64_t value) {
    SHARDSCOPE_TRY(callAll(
        {"agreement on " + what, {}, 0, 0, core::DType::U64}, [] {}, value));
    const auto& headers = m_channel->headers;
    for (std::size_t p = 0; p < headers.size(); ++p)
        if (headers[p].value != headers[0].value)
            return stopped({ErrorCode::Input,
                            fmt::format("rank {} has {} {:016x}, rank {} has {:016x}", m_channel->members[p], what,
                                        headers[p].value, m_channel->members[0], headers[0].value),
                            {},
                            "start every rank with the same model, plan and program version"});
    return {};
}

// The other ranks learn of it when this one's connections close.
void GlooCommunicator::abandon(const core::Error& why) {
    m_world.failedFor(GlooWorld::Cause::Own);
    m_world.m_network->fail(nullptr);
    if (m_world.m_abandoned && !m_world.m_told.exchange(true)) m_world.m_abandoned(why);
}

}  // namespace shardscope::runtime
