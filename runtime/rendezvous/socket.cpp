#include "runtime/rendezvous/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

namespace shardscope::runtime {

using core::ErrorCode;
using core::fail;
using core::Result;

namespace {

constexpr const char* kServedByRank0 = "rank 0 serves it: what it prints says why it stopped";

std::string systemText(int error) {
    return std::system_category().message(error);
}

struct FreeAddresses {
    void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> addressesOf(const Endpoint& endpoint, bool passive) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
    addrinfo* list = nullptr;
    const int status = getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &list);
    if (status != 0)
        return fail(ErrorCode::Io, fmt::format("no address of \"{}\": {}", endpoint.host, gai_strerror(status)),
                    toString(endpoint), "name a machine that this one knows, or give its address in digits");
    return Addresses(list);
}

/// Whether the descriptor becomes ready in time.
bool waitFor(int descriptor, short events, Deadline deadline) {
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        pollfd one{descriptor, events, 0};
        const int ready = poll(&one, 1, left <= 0 ? 0 : static_cast<int>(std::min<std::int64_t>(left + 1, 1000)));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
        if (left <= 0) return false;
    }
}

Result<void> transferAll(const Socket& connection, std::byte* data, std::size_t size, bool sending, Deadline deadline) {
    while (size > 0) {
        const ssize_t moved = sending ? send(connection.descriptor(), data, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                                      : recv(connection.descriptor(), data, size, MSG_DONTWAIT);
        if (moved > 0) {
            data += moved;
            size -= static_cast<std::size_t>(moved);
            continue;
        }
        if (moved == 0) return fail(ErrorCode::Io, "the rendezvous has closed the connection", {}, kServedByRank0);
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK)
            return fail(ErrorCode::Io, "the connection to the rendezvous broke: " + systemText(errno), {},
                        kServedByRank0);
        if (!waitFor(connection.descriptor(), sending ? POLLOUT : POLLIN, deadline))
            return fail(ErrorCode::Io, "the rendezvous does not answer", {}, kServedByRank0);
    }
    return {};
}

}  // namespace

std::string toString(const Endpoint& endpoint) {
    return endpoint.host.find(':') == std::string::npos ? fmt::format("{}:{}", endpoint.host, endpoint.port)
                                                        : fmt::format("[{}]:{}", endpoint.host, endpoint.port);
}

Result<Endpoint> endpointOf(std::string_view text) {
    const auto refuse = [&] {
        return fail(ErrorCode::Usage,
                    fmt::format("found \"{}\", expected HOST:PORT, for example 127.0.0.1:29500", text.substr(0, 80)));
    };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return refuse();
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (host.front() == '[' && host.back() == ']' && host.size() > 2)
        host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string_view::npos)
        return refuse();
    Endpoint endpoint{std::string(host), 0};
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), endpoint.port);
    if (digits.empty() || read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return refuse();
    return endpoint;
}

std::string loopbackBehind(const std::string& name) {
    if (name.find("localhost") != std::string::npos) return {};
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST;
    addrinfo* list = nullptr;
    if (getaddrinfo(name.c_str(), nullptr, &hints, &list) == 0) {
        freeaddrinfo(list);
        return {};
    }
    const auto addresses = addressesOf({name, 0}, true);
    if (!addresses) return {};
    // Where one listens is the first of them.
    const addrinfo& first = **addresses;
    in6_addr v6{};
    std::uint32_t v4 = 0;
    if (first.ai_family == AF_INET6)
        v6 = reinterpret_cast<const sockaddr_in6*>(first.ai_addr)->sin6_addr;
    else if (first.ai_family == AF_INET)
        v4 = ntohl(reinterpret_cast<const sockaddr_in*>(first.ai_addr)->sin_addr.s_addr);
    if (!IN6_IS_ADDR_LOOPBACK(&v6) && v4 >> 24 != 127) return {};
    char text[NI_MAXHOST] = {};
    getnameinfo(first.ai_addr, first.ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    return text;
}

Socket& Socket::operator=(Socket&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

Socket::~Socket() {
    if (m_descriptor >= 0) close(m_descriptor);
}

Result<Socket> listenAt(const Endpoint& endpoint) {
    SHARDSCOPE_ASSIGN(const Addresses addresses, addressesOf(endpoint, true));
    int error = 0;
    for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
        Socket socket(::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol));
        const int on = 1;
        // A port whose last connections are only waiting to be forgotten may be taken again.
        if (socket.open() && setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
            bind(socket.descriptor(), a->ai_addr, a->ai_addrlen) == 0 && listen(socket.descriptor(), 128) == 0)
            return socket;
        error = errno;
    }
    if (error == EADDRINUSE)
        return fail(ErrorCode::Io, fmt::format("port {} is in use", endpoint.port), toString(endpoint),
                    "choose another one, or leave it to the program");
    return fail(ErrorCode::Io, "cannot listen there: " + systemText(error), toString(endpoint),
                "the rank that serves must give an address of its own machine");
}

std::uint16_t portOf(const Socket& listening) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (getsockname(listening.descriptor(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
    if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string ownAddressOf(const Socket& connection) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    char host[NI_MAXHOST] = {};
    if (getsockname(connection.descriptor(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
        getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, nullptr, 0, NI_NUMERICHOST) !=
            0)
        return "127.0.0.1";
    return host;
}

Result<Socket> connectTo(const Endpoint& endpoint, Deadline deadline) {
    SHARDSCOPE_ASSIGN(const Addresses addresses, addressesOf(endpoint, false));
    for (int error = 0;;) {
        for (const addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
            Socket socket(::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol));
            if (!socket.open())
                return fail(ErrorCode::Io, "no socket: " + systemText(errno), toString(endpoint),
                            "raise the limit of open files (ulimit -n)");
            if (connect(socket.descriptor(), a->ai_addr, a->ai_addrlen) != 0) {
                error = errno;
                if (error != EINPROGRESS) continue;
                if (!waitFor(socket.descriptor(), POLLOUT, deadline)) break;
                socklen_t size = sizeof error;
                getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
                if (error != 0) continue;
            }
            const int on = 1;
            setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return socket;
        }
        if (std::chrono::steady_clock::now() >= deadline)
            return fail(ErrorCode::Io,
                        "nobody serves the rendezvous: " + (error == 0 ? "no answer" : systemText(error)),
                        toString(endpoint), "start rank 0 there, and give every rank its address");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

Result<void> sendMessage(const Socket& connection, std::span<const std::byte> message, Deadline deadline) {
    // One write, so that a small message is one packet.
    const auto size = static_cast<std::uint32_t>(message.size());
    std::vector<std::byte> framed(sizeof size + message.size());
    std::memcpy(framed.data(), &size, sizeof size);
    if (!message.empty()) std::memcpy(framed.data() + sizeof size, message.data(), message.size());
    return transferAll(connection, framed.data(), framed.size(), true, deadline);
}

Result<std::vector<std::byte>> receiveMessage(const Socket& connection, Deadline deadline) {
    std::uint32_t size = 0;
    SHARDSCOPE_TRY(transferAll(connection, reinterpret_cast<std::byte*>(&size), sizeof size, false, deadline));
    if (size > kMostMessage)
        return fail(ErrorCode::Io, fmt::format("a message of {} bytes, expected at most {}", size, kMostMessage), {},
                    "something else than Shardscope serves there");
    std::vector<std::byte> message(size);
    SHARDSCOPE_TRY(transferAll(connection, message.data(), message.size(), false, deadline));
    return message;
}

}  // namespace shardscope::runtime
