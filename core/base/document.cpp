#include "core/base/document.h"

#include <cassert>

namespace shardscope::core {

const Document* Document::find(std::string_view key) const {
    for (const auto& [name, value] : members)
        if (name == key) return &value;
    return nullptr;
}

Document& Document::set(std::string key, Document value) {
    assert(kind == Kind::Null || kind == Kind::Table);
    kind = Kind::Table;
    for (auto& [name, old] : members) {
        if (name == key) {
            old = std::move(value);
            return old;
        }
    }
    return members.emplace_back(std::move(key), std::move(value)).second;
}

Document Document::of(bool value) {
    Document document;
    document.kind = Kind::Boolean;
    document.boolean = value;
    return document;
}

Document Document::of(std::int64_t value) {
    Document document;
    document.kind = Kind::Integer;
    document.integer = value;
    return document;
}

Document Document::of(double value) {
    Document document;
    document.kind = Kind::Real;
    document.real = value;
    return document;
}

Document Document::of(std::string value) {
    Document document;
    document.kind = Kind::Text;
    document.text = std::move(value);
    return document;
}

Document Document::list() {
    Document document;
    document.kind = Kind::List;
    return document;
}

Document Document::table() {
    Document document;
    document.kind = Kind::Table;
    return document;
}

std::string_view describeKind(Document::Kind kind) {
    switch (kind) {
        case Document::Kind::Null: return "null";
        case Document::Kind::Boolean: return "true or false";
        case Document::Kind::Integer: return "an integer";
        case Document::Kind::Real: return "a real number";
        case Document::Kind::Text: return "a string";
        case Document::Kind::List: return "a list";
        case Document::Kind::Table: return "a table";
    }
    return "?";
}

}  // namespace shardscope::core
