#pragma once

// The store that ranks meet at: a table of keys over TCP, so that ranks need no file system in common, and a place that
// hears who has joined, who has left and what ranks have to tell. One thread; it trusts nothing that comes in.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/result.h"
#include "runtime/rendezvous/socket.h"
#include "runtime/rendezvous/store_messages.h"
#include "runtime/rendezvous/wire.h"

namespace shardscope::runtime {

class StoreServer {
public:
    struct Settings {
        Endpoint at{"127.0.0.1", 0};
        std::int64_t ranks = 1;
        std::uint64_t fingerprint = 0;  ///< what all ranks must agree on before they start
        // Called from the store's thread.
        std::function<void(std::int64_t rank, std::vector<std::byte> message)> told;
        std::function<void(std::int64_t rank)> lost;  ///< a joined rank's connection broke before it left
    };

    /// Errors: the port is taken.
    static core::Result<std::unique_ptr<StoreServer>> start(Settings settings);
    ~StoreServer();
    StoreServer(const StoreServer&) = delete;
    StoreServer& operator=(const StoreServer&) = delete;

    /// Where ranks find it; the port is never 0.
    [[nodiscard]] Endpoint endpoint() const;
    /// Ranks that have not joined, ascending.
    [[nodiscard]] std::vector<std::int64_t> missing() const;
    /// Waits, at most that long, until every rank has said that it is done: to be called before the store goes.
    void waitUntilAllLeft(std::chrono::milliseconds patience) const;

private:
    struct Connection;

    StoreServer(Settings settings, Socket listening, Socket wake);
    void serve();
    void accept();
    /// False when the connection is to be closed.
    bool read(Connection& connection);
    bool write(Connection& connection);
    bool handle(Connection& connection, std::span<const std::byte> message);
    bool greet(Connection& connection, WireReader& reader);
    /// Why a rank that says so of itself cannot train with rank 0; empty if it can.
    [[nodiscard]] std::string misfit(std::int64_t rank, std::int64_t ranks, std::uint64_t fingerprint) const;
    void answer(Connection& connection, StoreAnswer status, std::span<const std::byte> value);
    void answer(Connection& connection, StoreAnswer status, const std::string& text);
    void answerWaiting();
    [[nodiscard]] int millisecondsToNext() const;

    Settings m_settings;
    Socket m_listening, m_wake;
    std::uint16_t m_port = 0;
    std::vector<std::unique_ptr<Connection>> m_connections;
    std::map<std::string, std::vector<std::byte>> m_values;
    std::vector<std::int64_t> m_gone;  ///< ranks whose connection broke: nobody need wait for what they would say
    std::string m_misfit;              ///< of the first rank that came and cannot train with the others: why
    mutable std::mutex m_mutex;        ///< of m_joined
    std::vector<bool> m_joined;
    std::atomic<std::int64_t> m_left{0};
    std::atomic<bool> m_stop{false};
    std::thread m_thread;
};

/// "rank 1", "ranks 1, 3"
[[nodiscard]] std::string nameRanks(const std::vector<std::int64_t>& ranks);

}  // namespace shardscope::runtime
