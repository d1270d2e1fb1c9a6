#include "core/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace shardscope::core {
namespace {

char32_t pointOf(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return byte(0);
    char32_t point = byte(0) & (0xffU >> (character.size() + 1));
    for (std::size_t i = 1; i < character.size(); ++i) point = point << 6 | (byte(i) & 0x3fU);
    return point;
}

bool isObeyed(char32_t point) {
    return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x200e || point == 0x200f ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

std::string spelledOut(std::string_view text, std::string_view kept) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && text[plain] >= 0x20 && text[plain] < 0x7f) ++plain;
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        std::size_t length = kept.find(text.front()) != std::string_view::npos ? 0 : unprintableLength(text);
        if (length == 0) {
            length = std::max<std::size_t>(utf8Length(text), 1);
            out += text.substr(0, length);
        } else if (text.front() == '\n') {
            out += "\\n";
        } else if (text.front() == '\t') {
            out += "\\t";
        } else if (text.front() == '\r') {
            out += "\\r";
        } else if (length == 1) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(text.front())));
        } else {
            out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(pointOf(text.substr(0, length))));
        }
        text.remove_prefix(length);
    }
    return out;
}

}  // namespace

std::size_t utf8Length(std::string_view text) {
    if (text.empty()) return 0;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    // Overlong forms, surrogates, and what lies beyond U+10FFFF.
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
    if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
    return length;
}

std::size_t unprintableLength(std::string_view text) {
    if (text.empty()) return 0;
    const std::size_t length = utf8Length(text);
    if (length == 0) return 1;
    return isObeyed(pointOf(text.substr(0, length))) ? length : 0;
}

std::string printable(std::string_view text) {
    return spelledOut(text, "");
}

std::string printableLines(std::string_view text) {
    return spelledOut(text, "\n\t");
}

}  // namespace shardscope::core
