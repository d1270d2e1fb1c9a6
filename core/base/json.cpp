#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <exception>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/base/document.h"
#include "core/base/printable.h"
#include "core/base/repeated_keys.h"

namespace shardscope::core {
namespace {

constexpr std::size_t kMaxDepth = 256;
constexpr std::size_t kMaxQuoted = 160;  // a message quotes at most this much of a broken file

/// Reads bytes and lets everyone see how far: the events of the parser below carry no place of their own.
class Cursor {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Cursor() = default;
    Cursor(const char** at, const char* end) : m_at(at), m_end(end) {}
    reference operator*() const { return **m_at; }
    Cursor& operator++() {
        ++*m_at;
        return *this;
    }
    Cursor operator++(int) {
        const Cursor before = *this;
        ++*m_at;
        return before;
    }
    /// Only ever compared with the end.
    friend bool operator==(const Cursor& a, const Cursor& b) { return a.atEnd() == b.atEnd(); }

private:
    [[nodiscard]] bool atEnd() const { return m_at == nullptr || *m_at == m_end; }
    const char** m_at = nullptr;
    const char* m_end = nullptr;
};

std::string placeOf(std::string_view bytes, std::size_t offset, const std::string& name) {
    std::size_t line = 1;
    std::size_t lineStart = 0;
    for (std::size_t i = 0; i < std::min(offset, bytes.size()); ++i) {
        if (bytes[i] == '\n') {
            ++line;
            lineStart = i + 1;
        }
    }
    return fmt::format("{}:{}:{}", name, line, offset - lineStart + 1);
}

/// The library's words without its prefix, cut and made printable.
std::string reasonOf(const std::exception& exception) {
    std::string_view text = exception.what();
    if (const auto bracket = text.find("] "); bracket != std::string_view::npos) text.remove_prefix(bracket + 2);
    if (const auto column = text.find(", column "); column != std::string_view::npos)
        if (const auto colon = text.find(": ", column); colon != std::string_view::npos) text.remove_prefix(colon + 2);
    std::string reason(text.substr(0, kMaxQuoted));
    if (text.size() > kMaxQuoted) reason += "...";
    for (char& c : reason)
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    return reason;
}

/// Builds the tree from the parser's events; returning false stops the parser.
class Builder {
public:
    Builder(std::string_view bytes, const char* const& at, const std::string& name, bool repeats)
        : m_bytes(bytes), m_at(at), m_name(name), m_repeats(repeats), m_counted(bytes.data()) {}

    // NOLINTBEGIN(readability-identifier-naming): the names are the parser's.
    bool null() { return put({}); }
    bool boolean(bool value) { return put(Document::of(value)); }
    bool number_integer(std::int64_t value) { return put(Document::of(value)); }
    bool number_unsigned(std::uint64_t value) {
        if (value > static_cast<std::uint64_t>(INT64_MAX)) return put(Document::of(static_cast<double>(value)));
        return put(Document::of(static_cast<std::int64_t>(value)));
    }
    bool number_float(double value, const std::string&) { return put(Document::of(value)); }
    bool string(std::string& value) { return put(Document::of(std::move(value))); }
    bool binary(std::vector<std::uint8_t>&) { return false; }  // never comes from JSON text
    bool start_object(std::size_t) { return open(Document::table()); }
    bool end_object() {
        if (m_repeats) {
            keepLastOfRepeatedKeys(*m_open.back());
        } else if (const auto* again = repeatedKey(*m_open.back())) {
            const std::string_view name = std::string_view(again->first).substr(0, kMaxQuoted);
            m_error = Error{ErrorCode::Input, fmt::format("the key \"{}\" is there twice in one table", name),
                            again->second.line > 0 ? fmt::format("{}:{}", m_name, again->second.line) : m_name,
                            "keep one of the two"};
            return false;
        }
        m_open.pop_back();
        return true;
    }
    bool start_array(std::size_t) { return open(Document::list()); }
    bool end_array() {
        m_open.pop_back();
        return true;
    }
    bool key(std::string& value) {
        m_open.back()->members.emplace_back(std::move(value), Document{});
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const std::exception& exception) {
        m_error = Error{ErrorCode::Input, "no valid JSON: " + reasonOf(exception),
                        placeOf(m_bytes, position == 0 ? 0 : position - 1, m_name),
                        "correct it there, or see that the file was written or downloaded whole"};
        return false;
    }
    // NOLINTEND(readability-identifier-naming)

    [[nodiscard]] std::optional<Error>& error() { return m_error; }
    [[nodiscard]] Document& root() { return m_root; }

private:
    // Open containers are the last child of their parent until they close, so their addresses hold.
    Document* put(Document value) {
        value.line = line();
        if (m_open.empty()) {
            m_root = std::move(value);
            return &m_root;
        }
        Document& parent = *m_open.back();
        if (parent.kind == Document::Kind::List) return &parent.items.emplace_back(std::move(value));
        parent.members.back().second = std::move(value);
        return &parent.members.back().second;
    }

    bool open(Document value) {
        if (m_open.size() == kMaxDepth) {
            const auto offset = static_cast<std::size_t>(m_at - m_bytes.data());
            m_error = Error{ErrorCode::Input, fmt::format("found more than {} levels of nesting", kMaxDepth),
                            placeOf(m_bytes, offset == 0 ? 0 : offset - 1, m_name),
                            "this is a file of another kind, or a damaged one"};
            return false;
        }
        m_open.push_back(put(std::move(value)));
        return true;
    }

    // A number ends at the byte after it, which the parser has read by now; hence one byte less is looked at.
    int line() {
        for (; m_counted + 1 < m_at; ++m_counted)
            if (*m_counted == '\n') ++m_line;
        return m_line;
    }

    static void keepLastOfRepeatedKeys(Document& table) {
        std::unordered_map<std::string_view, std::size_t> seen;
        seen.reserve(table.members.size());
        std::vector<std::size_t> target(table.members.size());
        std::size_t distinct = 0;
        for (std::size_t i = 0; i < table.members.size(); ++i) {
            const auto [place, fresh] = seen.emplace(table.members[i].first, distinct);
            if (fresh) ++distinct;
            target[i] = place->second;
        }
        if (distinct == table.members.size()) return;
        std::vector<std::pair<std::string, Document>> kept;
        kept.reserve(distinct);
        for (std::size_t i = 0; i < table.members.size(); ++i) {
            if (target[i] == kept.size())
                kept.push_back(std::move(table.members[i]));
            else
                kept[target[i]].second = std::move(table.members[i].second);
        }
        table.members = std::move(kept);
    }

    /// The first member whose name was there before; null where there is none.
    static const std::pair<std::string, Document>* repeatedKey(const Document& table) {
        std::unordered_set<std::string_view> seen;
        seen.reserve(table.members.size());
        for (const auto& member : table.members)
            if (!seen.insert(member.first).second) return &member;
        return nullptr;
    }

    std::string_view m_bytes;
    const char* const& m_at;
    const std::string& m_name;
    bool m_repeats;  // of a repeated key the last counts
    const char* m_counted;
    int m_line = 1;
    Document m_root;
    std::vector<Document*> m_open;
    std::optional<Error> m_error;
};

void writeText(std::string& out, const std::string& text) {
    bool plain = true;
    for (const char c : text) plain = plain && c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    if (plain) {
        out += '"';
        out += text;
        out += '"';
    } else {
        const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        // Valid JSON, and yet nothing for a terminal: all such characters are below U+10000.
        for (std::string_view rest = quoted; !rest.empty();) {
            const std::size_t length = std::max<std::size_t>(utf8Length(rest), 1);
            const std::string character(rest.substr(0, length));
            out += unprintableLength(rest) > 0 ? nlohmann::json(character).dump(-1, ' ', true).substr(1, 6) : character;
            rest.remove_prefix(length);
        }
    }
}

void writeReal(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
    const std::string_view text(digits, static_cast<std::size_t>(end - digits));
    out += text;
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void newLine(std::string& out, bool pretty, int depth) {
    if (!pretty) return;
    out += '\n';
    out.append(static_cast<std::size_t>(depth) * 2, ' ');
}

void write(std::string& out, const Document& document, bool pretty, int depth) {
    switch (document.kind) {
        case Document::Kind::Null: out += "null"; return;
        case Document::Kind::Boolean: out += document.boolean ? "true" : "false"; return;
        case Document::Kind::Integer: out += std::to_string(document.integer); return;
        case Document::Kind::Real: writeReal(out, document.real); return;
        case Document::Kind::Text: writeText(out, document.text); return;
        case Document::Kind::List:
            out += '[';
            for (std::size_t i = 0; i < document.items.size(); ++i) {
                if (i > 0) out += ',';
                newLine(out, pretty, depth + 1);
                write(out, document.items[i], pretty, depth + 1);
            }
            if (!document.items.empty()) newLine(out, pretty, depth);
            out += ']';
            return;
        case Document::Kind::Table:
            out += '{';
            for (std::size_t i = 0; i < document.members.size(); ++i) {
                if (i > 0) out += ',';
                newLine(out, pretty, depth + 1);
                writeText(out, document.members[i].first);
                out += pretty ? ": " : ":";
                write(out, document.members[i].second, pretty, depth + 1);
            }
            if (!document.members.empty()) newLine(out, pretty, depth);
            out += '}';
            return;
    }
}

Result<Document> parse(std::string_view bytes, const std::string& name, bool repeats) {
    if (bytes.empty())
        return fail(ErrorCode::Input, "found an empty file, expected JSON", name,
                    "see that it was written or downloaded whole");
    // The parser would take a NUL for the end of the text.
    if (const auto nul = bytes.find('\0'); nul != std::string_view::npos)
        return fail(ErrorCode::Input, "no valid JSON: found a NUL byte", placeOf(bytes, nul, name),
                    "this is a file of another kind, or a damaged one");
    const char* at = bytes.data();
    const char* const end = bytes.data() + bytes.size();
    Builder builder(bytes, at, name, repeats);
    const bool good = nlohmann::json::sax_parse(Cursor(&at, end), Cursor(), &builder);
    if (builder.error()) return tl::unexpected(std::move(*builder.error()));
    if (!good) return fail(ErrorCode::Input, "no valid JSON", name);
    return std::move(builder.root());
}

}  // namespace

Result<Document> parseJson(std::string_view bytes, const std::string& name) {
    return parse(bytes, name, false);
}

Result<Document> parseJsonWithRepeatedKeys(std::string_view bytes, const std::string& name) {
    return parse(bytes, name, true);
}

std::string writeJson(const Document& document, bool pretty) {
    std::string out;
    write(out, document, pretty, 0);
    return out;
}

}  // namespace shardscope::core
