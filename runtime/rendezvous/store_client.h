#pragma once

// A rank's connection to the store. One request at a time; threads that wait need connections of their own.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "runtime/rendezvous/socket.h"
#include "runtime/rendezvous/store_messages.h"

namespace shardscope::runtime {

/// Who a rank is, and where it meets the others.
struct RankAddress {
    Endpoint store;
    std::int64_t rank = 0, ranks = 1;
    std::uint64_t fingerprint = 0;  ///< equal on all ranks; see StoreServer::Settings
};

/// After a request that did not get through or was not answered in time the connection is closed, and every further one
/// is an error.
class StoreClient {
public:
    /// Connects and says who this is. Errors: nobody serves there, or answers, until `patience` is over; the store
    /// refuses.
    static core::Result<StoreClient> join(const RankAddress& address, ConnectionPurpose purpose,
                                          std::chrono::milliseconds patience);

    core::Result<void> set(const std::string& key, std::span<const std::byte> value);
    /// Waits for the key. Errors: it is not there in time, naming the ranks that have not joined.
    core::Result<std::vector<std::byte>> get(const std::string& key, std::chrono::milliseconds patience);
    /// Waits until all ranks have joined, for `patience` since this one began to join. Errors: they do not in time,
    /// naming those that have not; at once, when one came that does not fit.
    core::Result<void> waitForEveryone(std::chrono::milliseconds patience);
    /// The store's clock, in nanoseconds.
    core::Result<std::int64_t> ping();
    /// A message of any size to whoever runs the store.
    core::Result<void> tell(std::span<const std::byte> message);
    /// The rank is done: that its connection ends is no loss from here on.
    core::Result<void> leave();

    /// A wait has ended because a rank has gone: its end is the cause of this one's.
    [[nodiscard]] bool lostRank() const { return m_lostRank; }
    /// All ranks have joined, and yet what the last wait was for did not come in time.
    [[nodiscard]] bool timedOut() const { return m_timedOut; }
    /// This machine's address as the store's machine sees it.
    [[nodiscard]] std::string ownAddress() const { return ownAddressOf(m_socket); }

private:
    StoreClient(Socket socket, Deadline began) : m_socket(std::move(socket)), m_began(began) {}
    struct Answer {
        StoreAnswer status = StoreAnswer::Done;
        std::vector<std::byte> value;
        [[nodiscard]] std::string text() const { return {reinterpret_cast<const char*>(value.data()), value.size()}; }
    };
    /// The answer to a request that waits, when it is not what was waited for.
    core::Error unmet(const Answer& answer, const std::string& what, std::chrono::milliseconds patience);
    core::Result<Answer> ask(std::span<const std::byte> request, std::chrono::milliseconds patience);
    core::Result<Answer> askUntil(Deadline deadline, std::span<const std::byte> request);
    core::Result<void> send(std::span<const std::byte> request, Deadline deadline);

    Socket m_socket;
    Deadline m_began;  ///< to join
    bool m_lostRank = false, m_timedOut = false;
};

}  // namespace shardscope::runtime
