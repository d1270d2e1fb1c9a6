// The only user of toml++.

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>
#include <algorithm>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>

#include "core/base/document.h"

namespace shardscope::core {
namespace {

std::string placeOf(const std::string& name, const toml::source_position& at) {
    return at ? name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) : name;
}

template <class T>
std::string textOf(const T& value) {
    std::ostringstream out;
    out << value;
    return std::move(out).str();
}

int lineOf(const toml::node& node) {
    return static_cast<int>(node.source().begin.line);
}

constexpr int kDeepest = 256;
constexpr int kMostKeyParts = 64;

// toml++ bounds how deep values nest, but not how many parts a dotted key has, and every part is a table whose
// destruction recurses. Returns the line of a key of too many parts, or 0.
int lineOfLongKey(std::string_view bytes) {
    int line = 1;
    int dots = 0;
    std::size_t i = 0;
    const auto skipString = [&] {
        const char quote = bytes[i];
        const std::string three(3, quote);
        const bool multi = bytes.substr(i, 3) == three;
        for (i += multi ? 3 : 1; i < bytes.size(); ++i) {
            if (bytes[i] == '\\' && quote == '"')
                ++i;
            else if (bytes[i] == '\n') {
                ++line;
                if (!multi) return;  // not valid, but that is the parser's to say
            } else if (multi ? bytes.substr(i, 3) == three : bytes[i] == quote) {
                i += multi ? 2 : 0;
                return;
            }
        }
    };
    for (; i < bytes.size(); ++i) {
        switch (bytes[i]) {
            case '"':
            case '\'': skipString(); break;
            case '#':
                while (i + 1 < bytes.size() && bytes[i + 1] != '\n') ++i;
                break;
            case '\n':
                ++line;
                dots = 0;
                break;
            case ',':
            case '=':
            case '[':
            case ']':
            case '{':
            case '}': dots = 0; break;
            case '.':
                if (++dots >= kMostKeyParts) return line;
                break;
            default: break;
        }
    }
    return 0;
}

// Table members in file order: toml++ keeps them sorted by name, a user's file is not.
Document fromNode(const toml::node& node, int depth = 0) {
    if (depth > kDeepest) throw std::length_error("tables and lists nest deeper than " + std::to_string(kDeepest));
    Document document;
    switch (node.type()) {
        case toml::node_type::table: {
            document.kind = Document::Kind::Table;
            const toml::table& table = *node.as_table();
            std::vector<std::pair<toml::source_position, std::pair<std::string, Document>>> members;
            members.reserve(table.size());
            for (const auto& [key, value] : table)
                members.emplace_back(key.source().begin, std::pair(std::string(key.str()), fromNode(value, depth + 1)));
            std::stable_sort(members.begin(), members.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
            for (auto& [at, member] : members) {
                if (member.second.line == 0) member.second.line = static_cast<int>(at.line);
                document.members.push_back(std::move(member));
            }
            break;
        }
        case toml::node_type::array:
            document.kind = Document::Kind::List;
            for (const toml::node& item : *node.as_array()) document.items.push_back(fromNode(item, depth + 1));
            break;
        case toml::node_type::string: document = Document::of(node.as_string()->get()); break;
        case toml::node_type::integer: document = Document::of(std::int64_t{node.as_integer()->get()}); break;
        case toml::node_type::floating_point: document = Document::of(node.as_floating_point()->get()); break;
        case toml::node_type::boolean: document = Document::of(node.as_boolean()->get()); break;
        case toml::node_type::date: document = Document::of(textOf(node.as_date()->get())); break;
        case toml::node_type::time: document = Document::of(textOf(node.as_time()->get())); break;
        case toml::node_type::date_time: document = Document::of(textOf(node.as_date_time()->get())); break;
        case toml::node_type::none: break;
    }
    document.line = lineOf(node);
    return document;
}

}  // namespace

Result<Document> parseToml(std::string_view bytes, const std::string& name) {
    if (const int line = lineOfLongKey(bytes); line > 0)
        return fail(ErrorCode::Input, "a key of more than " + std::to_string(kMostKeyParts) + " dotted parts",
                    name + ":" + std::to_string(line));
    try {
        const toml::table table = toml::parse(bytes, name);
        return fromNode(table);
    } catch (const toml::parse_error& error) {
        return fail(ErrorCode::Input, "not valid TOML: " + std::string(error.description()),
                    placeOf(name, error.source().begin), "TOML 1.0 is described at https://toml.io/en/v1.0.0");
    } catch (const std::exception& error) {
        return fail(ErrorCode::Input, "cannot read this TOML: " + std::string(error.what()), name);
    }
}

}  // namespace shardscope::core
