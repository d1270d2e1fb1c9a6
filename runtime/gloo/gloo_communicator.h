#pragma once

// Included by the sources of this folder alone: Gloo's headers stay in it.

#include <gloo/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/communicator/communicator.h"
#include "runtime/gloo/call_header.h"
#include "runtime/gloo/gloo_world.h"

namespace shardscope::runtime {

/// One communicator's connections and the buffers of its headers. Kept by the world until the rank is done, because
/// closing a connection throws away what the peer has not taken yet.
struct GlooChannel {
    std::string name;
    std::vector<std::int64_t> members;
    std::string key;  ///< of its rendezvous in the store
    int position = 0;
    std::shared_ptr<gloo::Context> context;  ///< null until connected
    CallHeader own;
    std::vector<CallHeader> headers;   ///< of this call, by position
    std::vector<CallHeader> incoming;  ///< of the next one: asked for ahead, so that a peer can send it at once
    // By position; none for this one's own. Each peer is sent `own` from a buffer of its own, so that it is known which
    // of them does not take it.
    std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> ownBuffers, headerBuffers;
    std::vector<std::byte> scratch;
    std::mutex mutex;                  ///< of connecting against aborting
    std::atomic<bool> aborted{false};  ///< a communicator of the rank has failed
};

struct GlooWorld::Network {
    std::shared_ptr<gloo::transport::Device> device;
    std::mutex mutex;
    std::vector<std::shared_ptr<GlooChannel>> channels;
    bool failed = false;

    /// Wakes the rank's other threads, whose peers may never come.
    void fail(const GlooChannel* from);
};

class GlooCommunicator final : public Communicator {
public:
    GlooCommunicator(GlooWorld& world, std::shared_ptr<GlooChannel> channel)
        : m_world(world), m_channel(std::move(channel)) {}

    [[nodiscard]] std::int64_t rank() const override { return m_channel->position; }
    [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(m_channel->members.size()); }

    core::Result<Transfer> allGather(const CallLabel& label, std::span<std::byte> buffer) override;
    core::Result<Transfer> reduceScatter(const CallLabel& label, std::span<const std::byte> input,
                                         std::span<std::byte> share, bool average) override;
    core::Result<Transfer> allReduce(const CallLabel& label, std::span<std::byte> buffer, bool average) override;
    core::Result<Transfer> send(const CallLabel& label, std::span<const std::byte> message, std::int64_t to) override;
    core::Result<Transfer> receive(const CallLabel& label, std::span<std::byte> message, std::int64_t from) override;
    core::Result<Transfer> barrier(const CallLabel& label) override;
    core::Result<void> agree(const std::string& what, std::uint64_t value) override;
    void abandon(const core::Error& why) override;

private:
    /// Connects, exchanges headers with `peers` (positions), moves the bytes.
    core::Result<Transfer> call(const CallLabel& label, CallRole role, std::uint64_t value,
                                const std::vector<int>& peers, const std::function<void()>& move);
    core::Result<Transfer> callAll(const CallLabel& label, const std::function<void()>& move, std::uint64_t value = 0);
    core::Result<void> connect();
    core::Result<void> exchange(const std::vector<int>& peers);
    core::Result<void> checkHeaders(const std::vector<int>& peers) const;
    /// output[p] = the chunk of member p for this one; of `bytes` / size each.
    void allToAll(const std::byte* input, std::byte* output, std::size_t bytes);
    void gather(std::byte* buffer, std::size_t bytes);
    /// What a broken connection, or a peer that stopped in the middle, means.
    [[nodiscard]] core::Error broken(const CallLabel& label, const std::vector<int>& peers, const Transfer& times,
                                     std::string_view thrown) const;
    [[nodiscard]] tl::unexpected<core::Error> stopped(core::Error error) const;
    [[nodiscard]] std::int64_t worldRank(int position) const {
        return m_channel->members[static_cast<std::size_t>(position)];
    }
    [[nodiscard]] std::vector<int> others() const;
    [[nodiscard]] const std::string& name() const { return m_channel->name; }

    GlooWorld& m_world;
    std::shared_ptr<GlooChannel> m_channel;
};

}  // namespace shardscope::runtime
