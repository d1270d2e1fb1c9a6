#pragma once

// Ranks as processes: Gloo over TCP, a context of its own for every set of members, which meet at the store. Gloo's
// all-gather and all-to-all move the bytes; sums are taken here, in rank order (communicator.h). Before its bytes move,
// every call exchanges a small header with each peer: so calls that do not match are errors that name both sides, and a
// transfer is known to start when the last member has arrived.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "runtime/communicator/communicator.h"
#include "runtime/rendezvous/store_client.h"

namespace shardscope::runtime {

struct GlooPatience {
    /// Of a call, for peers that do not come: PyTorch's default for process groups (framework semantics 7.3).
    std::chrono::milliseconds call = std::chrono::minutes(30);
    /// Of the first call of a communicator, until its members are connected.
    std::chrono::milliseconds rendezvous = std::chrono::minutes(3);
};

/// What all communicators of a rank share.
class GlooWorld {
public:
    /// `hereAt`: an address of this machine that the other ranks reach (StoreClient::ownAddress). `clockOffset` is what
    /// to add to this rank's clock to get the common one, in nanoseconds. From here on the process ignores SIGPIPE,
    /// unless it handles it. Errors: no network at that address.
    static core::Result<std::unique_ptr<GlooWorld>> create(const RankAddress& address, const std::string& hereAt,
                                                           GlooPatience patience = {}, std::int64_t clockOffset = 0);
    ~GlooWorld();
    GlooWorld(const GlooWorld&) = delete;
    GlooWorld& operator=(const GlooWorld&) = delete;

    /// The end of this rank in the communicator of that name and members (world ranks, ascending, this one among them).
    /// It connects with the first call; members must open those of the same name and list in the same order. The world
    /// must outlive it.
    std::unique_ptr<Communicator> communicator(const std::string& name, const std::vector<std::int64_t>& members);

    /// `handler` is told why this rank cannot go on, at once and once: Gloo's calls are not woken in the middle of a
    /// transfer, so that the rank itself may end only when its peers have moved on. From any thread that abandons a
    /// communicator; before the first one is opened.
    void onAbandon(std::function<void(const core::Error& why)> handler) { m_abandoned = std::move(handler); }

    /// A peer's connection broke before anything failed here, so that the errors of this rank are another's fault.
    [[nodiscard]] bool lostPeer() const { return m_cause == Cause::LostPeer; }

private:
    friend class GlooCommunicator;
    struct Network;  // keeps Gloo's headers out

    /// What this rank cannot go on for: the first cause stays, whatever breaks because of it.
    enum class Cause : std::uint8_t { None, LostPeer, Own };

    GlooWorld() = default;

    void failedFor(Cause cause) {
        Cause none = Cause::None;
        m_cause.compare_exchange_strong(none, cause);
    }

    RankAddress m_address;
    GlooPatience m_patience;
    std::int64_t m_clockOffset = 0;
    std::unique_ptr<Network> m_network;
    std::mutex m_mutex;                   ///< of m_opened
    std::map<std::string, int> m_opened;  ///< how often, by name and members
    std::atomic<Cause> m_cause{Cause::None};
    std::atomic<bool> m_told{false};
    std::function<void(const core::Error&)> m_abandoned;
};

}  // namespace shardscope::runtime
