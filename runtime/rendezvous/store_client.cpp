#include "runtime/rendezvous/store_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/rendezvous/wire.h"

namespace shardscope::runtime {

using core::ErrorCode;
using core::fail;
using core::Result;
using Milliseconds = std::chrono::milliseconds;

namespace {

constexpr Milliseconds kAnswer{30'000};     // what the store itself may take, beyond what it was told to wait
constexpr Milliseconds kJoinAnswer{1'000};  // the same while ranks join: their patience is what the user asked for
constexpr const char* kSameCommand = "start every rank with the same command and another --rank";

std::string waited(Milliseconds patience) {
    return patience.count() % 1000 == 0 ? fmt::format("{} s", patience.count() / 1000)
                                        : fmt::format("{} ms", patience.count());
}

core::Error unanswered(Milliseconds patience) {
    return {ErrorCode::Io,
            fmt::format("rank 0 did not answer within {}", waited(patience)),
            {},
            "it was stopped, or something else than Shardscope serves there"};
}

}  // namespace

Result<StoreClient> StoreClient::join(const RankAddress& address, ConnectionPurpose purpose, Milliseconds patience) {
    const Deadline began = std::chrono::steady_clock::now(), deadline = began + patience;
    SHARDSCOPE_ASSIGN(Socket socket, connectTo(address.store, deadline));
    StoreClient client(std::move(socket), began);
    WireWriter hello;
    hello.put(StoreRequest::Hello);
    hello.put(kStoreMagic);
    hello.put(kStoreVersion);
    hello.put(address.fingerprint);
    hello.put(address.rank);
    hello.put(address.ranks);
    hello.put(purpose);
    const auto answer = client.askUntil(deadline, hello.bytes());
    if (!answer) {
        core::Error error = std::chrono::steady_clock::now() < deadline ? answer.error() : unanswered(patience);
        error.where = toString(address.store);
        return tl::unexpected(std::move(error));
    }
    if (answer->status != StoreAnswer::Done)
        return fail(ErrorCode::Input, answer->text(), toString(address.store), kSameCommand);
    return client;
}

Result<StoreClient::Answer> StoreClient::ask(std::span<const std::byte> request, Milliseconds patience) {
    return askUntil(std::chrono::steady_clock::now() + patience + kAnswer, request);
}

Result<StoreClient::Answer> StoreClient::askUntil(Deadline deadline, std::span<const std::byte> request) {
    SHARDSCOPE_TRY(send(request, deadline));
    auto received = receiveMessage(m_socket, deadline);
    if (!received) {
        m_socket = Socket();  // an answer that comes too late would be taken for the next one's
        return tl::unexpected(std::move(received).error());
    }
    const std::vector<std::byte>& message = *received;
    if (message.empty() || message.front() > std::byte{3})
        return fail(ErrorCode::Io, "an answer that is none of the store's", {},
                    "something else than Shardscope serves there");
    Answer answer{static_cast<StoreAnswer>(message.front()), {}};
    answer.value.assign(message.begin() + 1, message.end());
    return answer;
}

Result<void> StoreClient::send(std::span<const std::byte> request, Deadline deadline) {
    if (!m_socket.open())
        return fail(ErrorCode::Io, "the connection to the rendezvous was given up", {},
                    "what rank 0 prints says whether it still serves");
    auto sent = sendMessage(m_socket, request, deadline);
    if (!sent) m_socket = Socket();  // half a message may have gone: what followed would be taken for its rest
    return sent;
}

core::Error StoreClient::unmet(const Answer& answer, const std::string& what, Milliseconds patience) {
    if (answer.status == StoreAnswer::Unfit) return {ErrorCode::Input, answer.text(), {}, kSameCommand};
    if (answer.status == StoreAnswer::Refused) {
        m_lostRank = true;
        return {ErrorCode::Io, answer.text(), {}, {}};
    }
    m_timedOut = answer.value.empty();
    if (m_timedOut) return {ErrorCode::Io, fmt::format("{} was not there within {}", what, waited(patience)), {}, {}};
    return {ErrorCode::Io,
            fmt::format("{} did not join within {}", answer.text(), waited(patience)),
            {},
            "start every rank, each with the address of rank 0"};
}

Result<void> StoreClient::set(const std::string& key, std::span<const std::byte> value) {
    WireWriter request;
    request.put(StoreRequest::Set);
    request.put(key);
    request.put(std::span(reinterpret_cast<const std::uint8_t*>(value.data()), value.size()));
    SHARDSCOPE_TRY(ask(request.bytes(), Milliseconds(0)));
    return {};
}

Result<std::vector<std::byte>> StoreClient::get(const std::string& key, Milliseconds patience) {
    WireWriter request;
    request.put(StoreRequest::Get);
    request.put(key);
    request.put(static_cast<std::int64_t>(patience.count()));
    SHARDSCOPE_ASSIGN(Answer answer, ask(request.bytes(), patience));
    if (answer.status == StoreAnswer::Done) return std::move(answer.value);
    return tl::unexpected(unmet(answer, key, patience));
}

Result<void> StoreClient::waitForEveryone(Milliseconds patience) {
    WireWriter request;
    request.put(StoreRequest::Everyone);
    const auto now = std::chrono::steady_clock::now();
    const auto left = std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(m_began + patience - now));
    request.put(static_cast<std::int64_t>(left.count()));
    const Deadline deadline = now + left + kJoinAnswer;
    const auto answer = askUntil(deadline, request.bytes());
    if (!answer)
        return tl::unexpected(std::chrono::steady_clock::now() < deadline ? answer.error() : unanswered(patience));
    if (answer->status == StoreAnswer::Done) return {};
    return tl::unexpected(unmet(*answer, "not every rank", patience));
}

Result<std::int64_t> StoreClient::ping() {
    WireWriter request;
    request.put(StoreRequest::Ping);
    SHARDSCOPE_ASSIGN(const Answer answer, ask(request.bytes(), Milliseconds(0)));
    WireReader reader(answer.value);
    const auto now = reader.get<std::int64_t>();
    if (!reader.whole()) return fail(ErrorCode::Io, "the store's clock was not understood");
    return now;
}

Result<void> StoreClient::tell(std::span<const std::byte> message) {
    std::size_t at = 0;
    do {
        const std::size_t size = std::min(kPiece, message.size() - at);
        WireWriter request;
        request.put(StoreRequest::Tell);
        request.put(static_cast<std::uint8_t>(at + size == message.size()));
        request.put(std::span(reinterpret_cast<const std::uint8_t*>(message.data()) + at, size));
        SHARDSCOPE_TRY(send(request.bytes(), std::chrono::steady_clock::now() + kAnswer));
        at += size;
    } while (at < message.size());
    return {};
}

Result<void> StoreClient::leave() {
    WireWriter request;
    request.put(StoreRequest::Leave);
    SHARDSCOPE_TRY(ask(request.bytes(), Milliseconds(0)));
    return {};
}

}  // namespace shardscope::runtime
