#pragma once

// The pieces of text that the writers of different formats share.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/printable.h"

namespace shardscope::formats {

/// Nanoseconds as microseconds with three decimals, exactly: 1234567 -> "1234.567".
void appendMicroseconds(fmt::memory_buffer& out, std::int64_t ns);

/// `text` as a JSON string with its quotes. Control characters are escaped, bytes that are no UTF-8 become U+FFFD.
void appendJsonString(fmt::memory_buffer& out, std::string_view text);

/// `text` inside XML text or an attribute in double quotes; characters that XML 1.0 forbids become U+FFFD.
void appendXml(fmt::memory_buffer& out, std::string_view text);

/// One field of RFC 4180: quoted where it must be.
void appendCsvField(fmt::memory_buffer& out, std::string_view text);

using core::utf8Length;

}  // namespace shardscope::formats
