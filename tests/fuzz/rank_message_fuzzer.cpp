// Any bytes that come over the network are a rank's message, or refused: never a read beyond their end, nor memory for
// more than they could hold.

#include <cstdint>
#include <cstdlib>

#include "runtime/launch/rank_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope::runtime;
    const auto message = decode(std::as_bytes(std::span(data, size)));
    if (!message) {
        if (message.error().message.empty()) std::abort();
        return 0;
    }
    if (encode(*message).size() != size || !decode(encode(*message))) std::abort();
    return 0;
}
