#include "runtime/rendezvous/store_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "runtime/device/clock.h"

namespace shardscope::runtime {

using core::Result;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kMostTold = std::size_t{8} << 30;  // a rank's parameters and gradients may be large
constexpr auto kHelloPatience = std::chrono::seconds(10);

}  // namespace

struct StoreServer::Connection {
    Socket socket;
    std::vector<std::byte> in, out;
    Deadline greetedBy;
    bool greeted = false, left = false;
    ConnectionPurpose purpose = ConnectionPurpose::Extra;
    std::int64_t rank = -1;
    std::vector<std::byte> told;
    // A request that waits.
    bool waits = false, forEveryone = false;
    std::string key;
    Deadline until;
};

std::string nameRanks(const std::vector<std::int64_t>& ranks) {
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

Result<std::unique_ptr<StoreServer>> StoreServer::start(Settings settings) {
    SHARDSCOPE_ASSIGN(Socket listening, listenAt(settings.at));
    Socket wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake.open())
        return core::fail(core::ErrorCode::Io, "no event descriptor for the store", {},
                          "raise the limit of open files (ulimit -n)");
    std::unique_ptr<StoreServer> server(new StoreServer(std::move(settings), std::move(listening), std::move(wake)));
    try {
        server->m_thread = std::thread([raw = server.get()] { raw->serve(); });
    } catch (const std::system_error& thrown) {
        return core::fail(core::ErrorCode::Io, fmt::format("no thread for the store: {}", thrown.what()), {},
                          "raise the limit of processes (ulimit -u)");
    }
    return server;
}

StoreServer::StoreServer(Settings settings, Socket listening, Socket wake)
    : m_settings(std::move(settings)),
      m_listening(std::move(listening)),
      m_wake(std::move(wake)),
      m_port(portOf(m_listening)),
      m_joined(static_cast<std::size_t>(m_settings.ranks), false) {}

StoreServer::~StoreServer() {
    m_stop = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(m_wake.descriptor(), &one, sizeof one);
    if (m_thread.joinable()) m_thread.join();
}

Endpoint StoreServer::endpoint() const {
    return {m_settings.at.host, m_port};
}

std::vector<std::int64_t> StoreServer::missing() const {
    const std::lock_guard lock(m_mutex);
    std::vector<std::int64_t> ranks;
    for (std::size_t r = 0; r < m_joined.size(); ++r)
        if (!m_joined[r]) ranks.push_back(static_cast<std::int64_t>(r));
    return ranks;
}

void StoreServer::waitUntilAllLeft(std::chrono::milliseconds patience) const {
    const auto until = Clock::now() + patience;
    while (m_left < m_settings.ranks && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

void StoreServer::serve() {
    while (!m_stop) {
        std::vector<pollfd> polled{{m_wake.descriptor(), POLLIN, 0}, {m_listening.descriptor(), POLLIN, 0}};
        for (const auto& connection : m_connections)
            polled.push_back({connection->socket.descriptor(),
                              static_cast<short>(POLLIN | (connection->out.empty() ? 0 : POLLOUT)), 0});
        if (poll(polled.data(), polled.size(), millisecondsToNext()) < 0 && errno != EINTR) return;
        const auto now = Clock::now();
        for (std::size_t i = 0; i < m_connections.size(); ++i) {
            Connection& connection = *m_connections[i];
            const short events = polled[i + 2].revents;
            bool open = connection.greeted || now < connection.greetedBy;
            if (open && (events & (POLLIN | POLLHUP | POLLERR)) != 0) open = read(connection);
            if (open && !connection.out.empty()) open = write(connection);
            if (open) continue;
            if (connection.greeted && connection.purpose == ConnectionPurpose::Rank && !connection.left) {
                m_gone.push_back(connection.rank);
                if (m_settings.lost) m_settings.lost(connection.rank);
            }
            connection.socket = Socket();
            connection.rank = -2;
        }
        std::erase_if(m_connections, [](const auto& connection) { return connection->rank == -2; });
        if ((polled[1].revents & POLLIN) != 0) accept();
        answerWaiting();
    }
}

void StoreServer::accept() {
    Socket socket(::accept4(m_listening.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const auto most = static_cast<std::size_t>(m_settings.ranks) * 16 + 64;
    if (!socket.open()) return;
    if (m_connections.size() >= most) {
        // Whoever says nothing gives way, the longest silent first: ranks say at once who they are.
        const auto mute = std::ranges::find(m_connections, false, [](const auto& one) { return one->greeted; });
        if (mute == m_connections.end()) return;
        m_connections.erase(mute);
    }
    const int on = 1;
    setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto connection = std::make_unique<Connection>();
    connection->socket = std::move(socket);
    connection->greetedBy = Clock::now() + kHelloPatience;
    m_connections.push_back(std::move(connection));
}

bool StoreServer::read(Connection& connection) {
    std::byte buffer[1 << 16];
    for (;;) {
        const ssize_t got = recv(connection.socket.descriptor(), buffer, sizeof buffer, MSG_DONTWAIT);
        if (got == 0) return false;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        connection.in.insert(connection.in.end(), buffer, buffer + got);
        std::size_t at = 0;
        std::uint32_t size = 0;
        while (connection.in.size() - at >= sizeof size) {
            std::memcpy(&size, connection.in.data() + at, sizeof size);
            // Who has not said who it is has nothing long to say.
            if (size > (connection.greeted ? kMostMessage : std::size_t{256})) return false;
            if (connection.in.size() - at - sizeof size < size) break;
            if (!handle(connection, std::span(connection.in).subspan(at + sizeof size, size))) {
                write(connection);  // the answer says why
                return false;
            }
            at += sizeof size + size;
        }
        connection.in.erase(connection.in.begin(), connection.in.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

bool StoreServer::write(Connection& connection) {
    while (!connection.out.empty()) {
        const ssize_t sent = send(connection.socket.descriptor(), connection.out.data(), connection.out.size(),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
        connection.out.erase(connection.out.begin(), connection.out.begin() + sent);
    }
    return true;
}

void StoreServer::answer(Connection& connection, StoreAnswer status, std::span<const std::byte> value) {
    const auto size = static_cast<std::uint32_t>(1 + value.size());
    WireWriter writer;
    writer.put(size);
    writer.put(status);
    connection.out.insert(connection.out.end(), writer.bytes().begin(), writer.bytes().end());
    connection.out.insert(connection.out.end(), value.begin(), value.end());
}

void StoreServer::answer(Connection& connection, StoreAnswer status, const std::string& text) {
    answer(connection, status, std::as_bytes(std::span(text)));
}

std::string StoreServer::misfit(std::int64_t rank, std::int64_t ranks, std::uint64_t fingerprint) const {
    if (ranks != m_settings.ranks)
        return fmt::format("rank {} was started for {} ranks, rank 0 for {}", rank, ranks, m_settings.ranks);
    if (rank < 0 || rank >= ranks) return fmt::format("rank {} of {} ranks", rank, ranks);
    if (fingerprint != m_settings.fingerprint)
        return fmt::format(
            "rank {} was started with another model, plan, number of steps, data, device or other option than rank 0",
            rank);
    return {};
}

bool StoreServer::greet(Connection& connection, WireReader& reader) {
    const auto magic = reader.get<std::uint32_t>(), version = reader.get<std::uint32_t>();
    const auto fingerprint = reader.get<std::uint64_t>();
    const auto rank = reader.get<std::int64_t>(), ranks = reader.get<std::int64_t>();
    const auto purpose = reader.get<std::uint8_t>();
    if (!reader.whole() || magic != kStoreMagic || purpose > 1) return false;  // no rank of ours
    const auto refuse = [&](const std::string& why) {
        answer(connection, StoreAnswer::Refused, why);
        return false;
    };
    if (version != kStoreVersion) return refuse("the ranks are of different versions of this program");
    if (const std::string why = misfit(rank, ranks, fingerprint); !why.empty()) {
        // Whoever started it waits for it in vain: those who wait for all to join hear of it.
        if (m_misfit.empty()) m_misfit = why;
        return refuse(why);
    }
    const auto index = static_cast<std::size_t>(rank);
    connection.purpose = static_cast<ConnectionPurpose>(purpose);
    if (connection.purpose == ConnectionPurpose::Rank) {
        const std::lock_guard lock(m_mutex);
        if (m_joined[index]) return refuse(fmt::format("rank {} has joined already", rank));
        m_joined[index] = true;
    }
    connection.rank = rank;
    connection.greeted = true;
    answer(connection, StoreAnswer::Done, std::string());
    return true;
}

bool StoreServer::handle(Connection& connection, std::span<const std::byte> message) {
    WireReader reader(message);
    const auto request = static_cast<StoreRequest>(reader.get<std::uint8_t>());
    if (!connection.greeted) return request == StoreRequest::Hello && greet(connection, reader);
    if (connection.waits) return false;  // the answer to the last request is due first
    switch (request) {
        case StoreRequest::Hello: return false;
        case StoreRequest::Set: {
            std::string key = reader.text();
            const auto value = reader.values<std::uint8_t>();
            if (!reader.whole() || key.size() > kMostKey || value.size() > kMostValue || m_values.size() >= kMostKeys)
                return false;
            const auto bytes = std::as_bytes(std::span(value));
            m_values[std::move(key)].assign(bytes.begin(), bytes.end());
            answer(connection, StoreAnswer::Done, std::string());
            return true;
        }
        case StoreRequest::Get:
        case StoreRequest::Everyone: {
            connection.forEveryone = request == StoreRequest::Everyone;
            connection.key = connection.forEveryone ? std::string() : reader.text();
            const auto milliseconds = reader.get<std::int64_t>();
            if (!reader.whole() || milliseconds < 0 || milliseconds > std::int64_t{1} << 40) return false;
            connection.until = Clock::now() + std::chrono::milliseconds(milliseconds);
            connection.waits = true;
            return true;
        }
        case StoreRequest::Ping: {
            WireWriter writer;
            writer.put(clockNow());
            answer(connection, StoreAnswer::Done, writer.bytes());
            return write(connection);
        }
        case StoreRequest::Tell: {
            const auto last = reader.get<std::uint8_t>();
            const auto piece = reader.values<std::uint8_t>();
            if (!reader.whole() || connection.told.size() + piece.size() > kMostTold) return false;
            const auto bytes = std::as_bytes(std::span(piece));
            connection.told.insert(connection.told.end(), bytes.begin(), bytes.end());
            if (last != 0 && m_settings.told) m_settings.told(connection.rank, std::exchange(connection.told, {}));
            return true;
        }
        case StoreRequest::Leave:
            answer(connection, StoreAnswer::Done, std::string());
            if (!write(connection)) return false;
            connection.left = true;
            ++m_left;
            return true;
    }
    return false;
}

void StoreServer::answerWaiting() {
    const auto absent = missing();
    const auto now = Clock::now();
    for (const auto& connection : m_connections) {
        if (!connection->waits) continue;
        const auto value = m_values.find(connection->key);
        if (connection->forEveryone ? absent.empty() : value != m_values.end()) {
            if (connection->forEveryone)
                answer(*connection, StoreAnswer::Done, std::string());
            else
                answer(*connection, StoreAnswer::Done, value->second);
        } else if (!m_gone.empty()) {
            answer(*connection, StoreAnswer::Refused, nameRanks(m_gone) + " has gone");
        } else if (connection->forEveryone && !m_misfit.empty()) {
            answer(*connection, StoreAnswer::Unfit, m_misfit);
        } else if (now >= connection->until) {
            answer(*connection, StoreAnswer::TimedOut, absent.empty() ? std::string() : nameRanks(absent));
        } else {
            continue;
        }
        connection->waits = false;
        write(*connection);
    }
}

int StoreServer::millisecondsToNext() const {
    constexpr int kMost = 1000;
    auto next = Clock::now() + std::chrono::milliseconds(kMost);
    for (const auto& connection : m_connections) {
        if (connection->waits) next = std::min(next, connection->until);
        if (!connection->greeted) next = std::min(next, connection->greetedBy);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, kMost));
}

}  // namespace shardscope::runtime
