#pragma once

// One small tree for every text format that users own (JSON and TOML), so that the readers of models, clusters and
// scenarios know neither library. The heavy headers stay in json.cpp and toml.cpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace shardscope::core {

struct Document {
    enum class Kind : std::uint8_t { Null, Boolean, Integer, Real, Text, List, Table };

    Kind kind = Kind::Null;
    bool boolean = false;
    std::int64_t integer = 0;  ///< a JSON integer outside int64 is read as Real
    double real = 0;
    std::string text;
    std::vector<Document> items;                            ///< List
    std::vector<std::pair<std::string, Document>> members;  ///< Table, in file order, each name once
    int line = 0;  ///< 1-based place in the file; 0 where the format's reader tells none

    /// The member of that name, or null. The pointer lives as long as this document.
    [[nodiscard]] const Document* find(std::string_view key) const;
    /// Adds or replaces a member (turns a Null into a Table).
    Document& set(std::string key, Document value);
    [[nodiscard]] bool isNumber() const { return kind == Kind::Integer || kind == Kind::Real; }
    [[nodiscard]] double number() const { return kind == Kind::Integer ? static_cast<double>(integer) : real; }

    static Document of(bool value);
    static Document of(std::int64_t value);
    static Document of(double value);
    static Document of(std::string value);
    static Document of(const char* value) { return of(std::string(value)); }
    static Document list();
    static Document table();

    friend bool operator==(const Document&, const Document&) = default;
};

/// "a string", "an integer", ...: for messages.
[[nodiscard]] std::string_view describeKind(Document::Kind kind);

/// Parses strict JSON (UTF-8). `name` names the file in messages. Refuses repeated keys and nesting deeper than 256.
[[nodiscard]] Result<Document> parseJson(std::string_view bytes, const std::string& name);
/// Parses TOML 1.0; every node carries its line.
[[nodiscard]] Result<Document> parseToml(std::string_view bytes, const std::string& name);
/// JSON text, two-space indented when `pretty`. Integers stay integers; a Real is written so that it reads back equal;
/// NaN and infinities become null.
[[nodiscard]] std::string writeJson(const Document& document, bool pretty = true);

}  // namespace shardscope::core
