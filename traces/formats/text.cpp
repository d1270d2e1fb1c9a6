#include "traces/formats/text.h"

#include <iterator>

namespace shardscope::formats {

namespace {
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
void add(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}
}  // namespace

void appendMicroseconds(fmt::memory_buffer& out, std::int64_t ns) {
    // Negated as unsigned, so that the smallest int64 has its absolute value too.
    const std::uint64_t size =
        ns < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    fmt::format_to(std::back_inserter(out), "{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

void appendJsonString(fmt::memory_buffer& out, std::string_view text) {
    out.push_back('"');
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        const char c = text.front();
        if (length == 0) {
            add(out, kReplacement);
        } else if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(c);
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
            add(out, text.substr(0, length));
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out.push_back('"');
}

void appendXml(fmt::memory_buffer& out, std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8Length(text);
        const unsigned char c = static_cast<unsigned char>(text.front());
        const std::string_view character = text.substr(0, length);
        const bool isForbidden = length == 0 || (c < 0x20 && c != '\t' && c != '\n' && c != '\r') ||
                                 character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
        if (isForbidden) {
            add(out, kReplacement);
        } else if (c == '<') {
            add(out, "&lt;");
        } else if (c == '>') {
            add(out, "&gt;");
        } else if (c == '&') {
            add(out, "&amp;");
        } else if (c == '"') {
            add(out, "&quot;");
        } else {
            add(out, character);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
}

void appendCsvField(fmt::memory_buffer& out, std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        add(out, text);
        return;
    }
    out.push_back('"');
    for (const char c : text) {
        if (c == '"') out.push_back('"');
        out.push_back(c);
    }
    out.push_back('"');
}

}  // namespace shardscope::formats
