// Scenario values from and to documents, by the type of their key.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/nearest.h"
#include "core/scenario/keys.h"

namespace shardscope::core {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::int64_t kMostInGroup = std::int64_t{1} << 24;

std::string shown(const Document& value) {
    switch (value.kind) {
        case Document::Kind::Boolean: return value.boolean ? "true" : "false";
        case Document::Kind::Integer: return std::to_string(value.integer);
        case Document::Kind::Real: return writeTomlValue(value);  // "1.0": not the integer
        case Document::Kind::Text:
            return "\"" + value.text.substr(0, 60) + (value.text.size() > 60 ? "..." : "") + "\"";
        default: return std::string(describeKind(value.kind));
    }
}

tl::unexpected<Error> wrongKind(const Key& key, const Document& value, const std::string& where) {
    return fail(ErrorCode::Input, fmt::format("found {}, expected {}", shown(value), describeType(key)), where,
                "`shardscope docs scenario` says what it does");
}

Result<ReshardSetting> readReshard(const Key& key, const Document& value, const std::string& where) {
    switch (value.kind) {
        case Document::Kind::Boolean:
            return ReshardSetting{{value.boolean ? Reshard::Kind::True : Reshard::Kind::False, 0}, ""};
        case Document::Kind::Integer:
            if (value.integer < 1 || value.integer > kMostInGroup)
                return fail(ErrorCode::Input,
                            fmt::format("found {}, expected a group size from 1 to {}", value.integer, kMostInGroup),
                            where, "choose a divisor of the shard degree, or true, false, \"default\"");
            return ReshardSetting{{Reshard::Kind::Group, value.integer}, ""};
        case Document::Kind::Text:
            if (value.text == "default" || value.text == "always")
                return ReshardSetting{{Reshard::Kind::True, 0}, value.text};
            if (value.text == "never") return ReshardSetting{{Reshard::Kind::False, 0}, value.text};
            if (value.text == "unset") return ReshardSetting{{}, value.text};
            return wrongKind(key, value, where);
        default: return wrongKind(key, value, where);
    }
}

Document writeReshard(const ReshardSetting& setting) {
    if (!setting.word.empty()) return Document::of(setting.word);
    if (setting.value.kind == Reshard::Kind::Group) return Document::of(setting.value.group);
    return Document::of(setting.value.kind == Reshard::Kind::True);
}

Result<UnitLists> readUnits(const Key& key, const Document& value, const std::string& where) {
    if (value.kind != Document::Kind::List) return wrongKind(key, value, where);
    UnitLists units;
    for (const Document& item : value.items) {
        std::vector<std::string> unit;
        if (item.kind == Document::Kind::Text) {
            unit.push_back(item.text);
        } else if (item.kind == Document::Kind::List && !item.items.empty()) {
            for (const Document& name : item.items) {
                if (name.kind != Document::Kind::Text) return wrongKind(key, name, where);
                unit.push_back(name.text);
            }
        } else {
            return wrongKind(key, item, where);
        }
        units.push_back(std::move(unit));
    }
    return units;
}

std::string joined(const std::vector<std::string_view>& words) {
    return fmt::format("{}", fmt::join(words, ", "));
}

/// Sets a value of one type; overloaded by the type that the binding refers to.
struct Setter {
    Scenario& scenario;
    const Key& key;
    const Document& value;
    const std::string& where;

    Result<void> operator()(std::string& (*of)(Scenario&)) const {
        if (value.kind != Document::Kind::Text) return wrongKind(key, value, where);
        std::string text = value.text;
        if (text.size() > kLongestText)
            return fail(ErrorCode::Input, "a text of more than 4,096 characters", where, "shorten it");
        if (!key.words.empty()) {
            std::transform(text.begin(), text.end(), text.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
            if (std::find(key.words.begin(), key.words.end(), text) == key.words.end()) {
                const std::vector<std::string> known(key.words.begin(), key.words.end());
                const std::string meant = nearest(text, known);
                return fail(ErrorCode::Input, fmt::format("found \"{}\", expected one of: {}", text, joined(key.words)),
                            where, meant.empty() ? "" : "did you mean \"" + meant + "\"?");
            }
        }
        of(scenario) = std::move(text);
        return {};
    }
    Result<void> operator()(std::int64_t& (*of)(Scenario&)) const {
        if (value.kind != Document::Kind::Integer) return wrongKind(key, value, where);
        const std::int64_t n = value.integer;
        // Between -1 ("what is left") and the smallest size lies 0, which no key with that special value takes.
        const bool special = key.least == -1 && n == 0;
        if (n < key.least || n > key.most || special) return wrongKind(key, value, where);
        of(scenario) = n;
        return {};
    }
    Result<void> operator()(bool& (*of)(Scenario&)) const {
        if (value.kind != Document::Kind::Boolean) return wrongKind(key, value, where);
        of(scenario) = value.boolean;
        return {};
    }
    Result<void> operator()(DType& (*of)(Scenario&)) const {
        if (value.kind != Document::Kind::Text) return wrongKind(key, value, where);
        const auto type = dtypeFromName(value.text);
        if (!type || !isFloat(*type)) return wrongKind(key, value, where);
        of(scenario) = *type;
        return {};
    }
    Result<void> operator()(std::optional<DType>& (*of)(Scenario&)) const {
        if (value.kind != Document::Kind::Text) return wrongKind(key, value, where);
        if (value.text == "none") {
            of(scenario).reset();
            return {};
        }
        const auto type = dtypeFromName(value.text);
        if (!type || !isFloat(*type)) return wrongKind(key, value, where);
        of(scenario) = *type;
        return {};
    }
    Result<void> operator()(ReshardSetting& (*of)(Scenario&)) const {
        SHARDSCOPE_ASSIGN(of(scenario), readReshard(key, value, where));
        return {};
    }
    Result<void> operator()(UnitLists& (*of)(Scenario&)) const {
        SHARDSCOPE_ASSIGN(of(scenario), readUnits(key, value, where));
        return {};
    }
    Result<void> operator()(ReshardTable& (*of)(Scenario&)) const {
        if (value.kind != Document::Kind::Table) return wrongKind(key, value, where);
        ReshardTable table;
        for (const auto& [unit, setting] : value.members) {
            SHARDSCOPE_ASSIGN(ReshardSetting read, readReshard(key, setting, where + " \"" + unit + "\""));
            table.emplace_back(unit, std::move(read));
        }
        of(scenario) = std::move(table);
        return {};
    }
    Result<void> operator()(IntegerList& (*of)(Scenario&)) const {
        if (value.kind != Document::Kind::List) return wrongKind(key, value, where);
        IntegerList list;
        for (const Document& item : value.items) {
            if (item.kind != Document::Kind::Integer || item.integer < key.least || item.integer > key.most)
                return wrongKind(key, item, where);
            list.push_back(item.integer);
        }
        of(scenario) = std::move(list);
        return {};
    }
    Result<void> operator()(Document& (*of)(Scenario&)) const {
        if (value.kind != Document::Kind::Text && value.kind != Document::Kind::Table)
            return wrongKind(key, value, where);
        of(scenario) = value;
        return {};
    }
};

struct Getter {
    Scenario& scenario;

    Document operator()(std::string& (*of)(Scenario&)) const { return Document::of(of(scenario)); }
    Document operator()(std::int64_t& (*of)(Scenario&)) const { return Document::of(of(scenario)); }
    Document operator()(bool& (*of)(Scenario&)) const { return Document::of(of(scenario)); }
    Document operator()(DType& (*of)(Scenario&)) const { return Document::of(std::string(nameOf(of(scenario)))); }
    Document operator()(std::optional<DType>& (*of)(Scenario&)) const {
        return of(scenario) ? Document::of(std::string(nameOf(*of(scenario)))) : Document::of("none");
    }
    Document operator()(ReshardSetting& (*of)(Scenario&)) const { return writeReshard(of(scenario)); }
    Document operator()(UnitLists& (*of)(Scenario&)) const {
        Document list = Document::list();
        for (const auto& unit : of(scenario)) {
            Document names = Document::list();
            for (const std::string& name : unit) names.items.push_back(Document::of(name));
            list.items.push_back(unit.size() == 1 ? names.items.front() : std::move(names));
        }
        return list;
    }
    Document operator()(ReshardTable& (*of)(Scenario&)) const {
        Document table = Document::table();
        for (const auto& [unit, setting] : of(scenario)) table.members.emplace_back(unit, writeReshard(setting));
        return table;
    }
    Document operator()(IntegerList& (*of)(Scenario&)) const {
        Document list = Document::list();
        for (const std::int64_t item : of(scenario)) list.items.push_back(Document::of(item));
        return list;
    }
    Document operator()(Document& (*of)(Scenario&)) const { return of(scenario); }
};

struct TypeWords {
    const Key& key;

    std::string operator()(std::string& (*)(Scenario&)) const {
        return key.words.empty() ? "text" : "one of: " + joined(key.words);
    }
    std::string operator()(std::int64_t& (*)(Scenario&)) const {
        const std::int64_t smallest = key.special.empty() ? key.least : std::max<std::int64_t>(key.least, 1);
        const std::string range = fmt::format("an integer from {} to {}", smallest, key.most);
        return key.special.empty() ? range : fmt::format("{} ({})", range, key.special);
    }
    std::string operator()(bool& (*)(Scenario&)) const { return "true or false"; }
    std::string operator()(DType& (*)(Scenario&)) const { return "float32, bfloat16, float16 or float64"; }
    std::string operator()(std::optional<DType>& (*)(Scenario&)) const {
        return "float32, bfloat16, float16, float64 or none";
    }
    std::string operator()(ReshardSetting& (*)(Scenario&)) const {
        return "\"default\", \"always\", \"never\", \"unset\", true, false or a group size";
    }
    std::string operator()(UnitLists& (*)(Scenario&)) const { return "a list of module names or of lists of them"; }
    std::string operator()(ReshardTable& (*)(Scenario&)) const {
        return "a table of unit names with true, false, a word or a group size";
    }
    std::string operator()(IntegerList& (*)(Scenario&)) const {
        return fmt::format("a list of integers from {} to {}", key.least, key.most);
    }
    std::string operator()(Document& (*)(Scenario&)) const { return "a preset's name or a table"; }
};

bool isBareKey(const std::string& key) {
    return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += fmt::format("\\{}", c);
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\u{:04x}", byte);
        else
            out += c;
    }
    return out + "\"";
}

}  // namespace

Result<void> setValue(Scenario& scenario, const Key& key, const Document& value, const std::string& where) {
    return std::visit(Setter{scenario, key, value, where}, key.binding);
}

Document valueOf(const Scenario& scenario, const Key& key) {
    // The bindings hand out references for both directions; reading through one changes nothing.
    return std::visit(Getter{const_cast<Scenario&>(scenario)}, key.binding);
}

std::string describeType(const Key& key) {
    return std::visit(TypeWords{key}, key.binding);
}

std::string writeTomlValue(const Document& value) {
    switch (value.kind) {
        case Document::Kind::Null: return "\"\"";
        case Document::Kind::Boolean: return value.boolean ? "true" : "false";
        case Document::Kind::Integer: return std::to_string(value.integer);
        case Document::Kind::Real: {
            if (std::isnan(value.real)) return "nan";
            if (std::isinf(value.real)) return value.real > 0 ? "inf" : "-inf";
            const std::string text = fmt::format("{}", value.real);
            return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
        }
        case Document::Kind::Text: return quoted(value.text);
        case Document::Kind::List: {
            std::string out = "[";
            for (std::size_t i = 0; i < value.items.size(); ++i)
                out += (i > 0 ? ", " : "") + writeTomlValue(value.items[i]);
            return out + "]";
        }
        case Document::Kind::Table: {
            std::string out = "{";
            for (std::size_t i = 0; i < value.members.size(); ++i) {
                const auto& [key, member] = value.members[i];
                out += fmt::format("{} {} = {}", i > 0 ? "," : "", isBareKey(key) ? key : quoted(key),
                                   writeTomlValue(member));
            }
            return out + (value.members.empty() ? "}" : " }");
        }
    }
    return "";
}

}  // namespace shardscope::core
