#pragma once

// TCP connections for the rendezvous: listen, connect, and move whole messages before an instant. A message is a length
// (4 bytes, at most kMostMessage) and that many bytes.

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace shardscope::runtime {

using Deadline = std::chrono::steady_clock::time_point;

/// Of the largest message; what is larger travels in pieces.
inline constexpr std::size_t kMostMessage = std::size_t{1} << 20;

struct Endpoint {
    std::string host;
    std::uint16_t port = 0;  ///< 0: any that is free
};
/// "127.0.0.1:29500", "[::1]:29500"
[[nodiscard]] std::string toString(const Endpoint& endpoint);
/// Errors: no host, no port from 0 to 65535; `where` is empty.
[[nodiscard]] core::Result<Endpoint> endpointOf(std::string_view text);

/// The loopback address (127.0.1.1) that a name of this machine stands for, where no other machine finds it; empty for
/// other names, for addresses, for localhost and for what has no address.
[[nodiscard]] std::string loopbackBehind(const std::string& name);

/// Owns a file descriptor.
class Socket {
public:
    Socket() = default;
    explicit Socket(int descriptor) : m_descriptor(descriptor) {}
    Socket(Socket&& other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1)) {}
    Socket& operator=(Socket&& other) noexcept;
    ~Socket();
    [[nodiscard]] int descriptor() const { return m_descriptor; }
    [[nodiscard]] bool open() const { return m_descriptor >= 0; }

private:
    int m_descriptor = -1;
};

/// Errors: the port is taken, the host is none of this machine's.
[[nodiscard]] core::Result<Socket> listenAt(const Endpoint& endpoint);
[[nodiscard]] std::uint16_t portOf(const Socket& listening);
/// The address of this end of a connection: one at which its peer's machine can reach this one.
[[nodiscard]] std::string ownAddressOf(const Socket& connection);

/// Tries until `deadline`: whoever serves may start later. Errors name the endpoint.
[[nodiscard]] core::Result<Socket> connectTo(const Endpoint& endpoint, Deadline deadline);

/// Errors: the other end is gone, the deadline has passed.
[[nodiscard]] core::Result<void> sendMessage(const Socket& connection, std::span<const std::byte> message,
                                             Deadline deadline);
[[nodiscard]] core::Result<std::vector<std::byte>> receiveMessage(const Socket& connection, Deadline deadline);

}  // namespace shardscope::runtime
