#include "runtime/gloo/call_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace shardscope::runtime {

namespace {

// FNV-1a, 64 bits.
void mix(std::uint64_t& hash, const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211ull;
}

void mix(std::uint64_t& hash, std::string_view text) {
    const std::uint64_t size = text.size();
    mix(hash, &size, sizeof size);
    mix(hash, text.data(), text.size());
}

}  // namespace

CallHeader headerOf(const CallLabel& label, CallRole role, std::int64_t arrival, std::uint64_t value) {
    CallHeader header;
    std::uint64_t hash = 14695981039346656037ull;
    mix(hash, label.operation);
    mix(hash, label.unit);
    mix(hash, &label.microBatch, sizeof label.microBatch);
    mix(hash, &label.bytes, sizeof label.bytes);
    mix(hash, &label.dtype, sizeof label.dtype);
    header.labelHash = hash;
    header.arrival = arrival;
    header.value = value;
    header.role = role;
    header.microBatch = label.microBatch;
    const std::string text = describe(label);
    std::memcpy(header.text.data(), text.data(), std::min(text.size(), header.text.size() - 1));
    return header;
}

bool meets(const CallHeader& a, const CallHeader& b) {
    if (a.labelHash != b.labelHash) return false;
    if (a.role == CallRole::Collective) return b.role == CallRole::Collective;
    return b.role == (a.role == CallRole::Send ? CallRole::Receive : CallRole::Send);
}

std::string describe(const CallHeader& header) {
    std::string text;
    for (const char c : header.text) {
        if (c == '\0') break;
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) text += c;
    }
    const char* how = header.role == CallRole::Send      ? ", which it sends,"
                      : header.role == CallRole::Receive ? ", which it receives,"
                                                         : "";
    return fmt::format("{}{} of micro-batch {}", text, how, header.microBatch);
}

}  // namespace shardscope::runtime
