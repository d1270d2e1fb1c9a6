#include "core/model/hf/config_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace shardscope::core {
namespace {

constexpr std::size_t kLongestList = 4'096;

std::string foundIn(const Document& value) {
    switch (value.kind) {
        case Document::Kind::Integer: return std::to_string(value.integer);
        case Document::Kind::Real: return fmt::format("{}", value.real);
        case Document::Kind::Text: return "'" + value.text.substr(0, 40) + "'";
        default: return std::string(describeKind(value.kind));
    }
}

}  // namespace

ConfigKeys::ConfigKeys(const Document& config, std::string file, Aliases aliases)
    : m_config(&config), m_file(std::move(file)), m_aliases(std::move(aliases)) {}

std::pair<std::string, const Document*> ConfigKeys::lookUp(std::string_view key) const {
    const Document* value = m_config->find(key);
    if (value == nullptr)
        for (const auto& [common, own] : m_aliases)
            if (own == key && (value = m_config->find(common)) != nullptr) return {std::string(common), value};
    return {std::string(key), value};
}

const Document* ConfigKeys::find(std::string_view key) const {
    return lookUp(key).second;
}

void ConfigKeys::refuse(std::string_view key, std::string_view message, std::string hint, ErrorCode code) {
    if (m_error) return;
    const auto [name, value] = lookUp(key);
    const int line = value != nullptr ? value->line : 0;
    m_error = Error{code, fmt::format("{}{}: {}", m_prefix, name, message),
                    line > 0 ? fmt::format("{}:{}", m_file, line) : m_file, std::move(hint)};
}

void ConfigKeys::take(const ConfigKeys& inner) {
    if (!m_error) m_error = inner.m_error;
}

std::int64_t ConfigKeys::size(std::string_view key, std::int64_t absent, std::int64_t null, std::int64_t most) {
    const Document* value = find(key);
    const std::string range = most == kLargestSize ? "1 to 2^31" : fmt::format("1 to {}", most);
    if (value == nullptr) {
        if (absent > 0) return absent;
        refuse(key, "found nothing, expected an integer", "this model type has no default for it");
    } else if (value->kind == Document::Kind::Null && null > 0) {
        return null;
    } else if (value->kind != Document::Kind::Integer) {
        refuse(key, fmt::format("found {}, expected an integer", foundIn(*value)));
    } else if (value->integer < 1 || value->integer > most) {
        refuse(key, fmt::format("found {}, expected {}", value->integer, range));
    } else {
        return value->integer;
    }
    return 1;
}

std::int64_t ConfigKeys::count(std::string_view key, std::int64_t absent) {
    const Document* value = find(key);
    if (value != nullptr && value->kind == Document::Kind::Integer && value->integer == 0) return 0;
    return value == nullptr ? absent : size(key, 1);
}

std::optional<std::int64_t> ConfigKeys::optionalSize(std::string_view key) {
    const Document* value = find(key);
    if (value == nullptr || value->kind == Document::Kind::Null) return std::nullopt;
    return size(key, 1);
}

std::int64_t ConfigKeys::side(std::string_view key, std::int64_t absent) {
    const Document* value = find(key);
    if (value == nullptr || value->kind != Document::Kind::List) return size(key, absent);
    const std::vector<std::int64_t> two = sizes(key, {});
    if (m_error) return 1;
    if (two.size() != 2 || two[0] != two[1]) {
        refuse(key, fmt::format("found {} numbers that are not two equal ones, expected a square", two.size()),
               "oblong images and patches are not modelled", ErrorCode::Unsupported);
        return 1;
    }
    return two[0];
}

bool ConfigKeys::flag(std::string_view key, bool absent) {
    const Document* value = find(key);
    if (value == nullptr) return absent;
    if (value->kind != Document::Kind::Boolean)
        refuse(key, fmt::format("found {}, expected true or false", foundIn(*value)));
    return value->boolean;
}

bool ConfigKeys::truth(std::string_view key, bool absent) {
    const Document* value = find(key);
    return value != nullptr && value->kind == Document::Kind::Null ? false : flag(key, absent);
}

double ConfigKeys::number(std::string_view key, double absent, double least, double most) {
    const Document* value = find(key);
    if (value == nullptr) return absent;
    if (!value->isNumber()) {
        refuse(key, fmt::format("found {}, expected a number", foundIn(*value)));
        return absent;
    }
    const double number = value->number();
    if (std::isfinite(number) && number >= least && number < most) return number;
    refuse(key, fmt::format("found {}, expected at least {} and below {}", number, least, most));
    return absent;
}

std::string ConfigKeys::text(std::string_view key, std::string_view absent) {
    const Document* value = find(key);
    if (value == nullptr) return std::string(absent);
    if (value->kind != Document::Kind::Text) {
        refuse(key, fmt::format("found {}, expected a text", foundIn(*value)));
        return std::string(absent);
    }
    return value->text;
}

std::string ConfigKeys::word(std::string_view key, std::string_view absent,
                             std::initializer_list<std::string_view> known) {
    std::string found = text(key, absent);
    for (const std::string_view one : known)
        if (one == found) return found;
    refuse(key, fmt::format("found '{}', expected one of {}", found.substr(0, 40), fmt::join(known, ", ")),
           "its kernels are not modelled", ErrorCode::Unsupported);
    return std::string(absent);
}

std::string ConfigKeys::activation(std::string_view key, std::string_view absent) {
    return word(
        key, absent,
        {"silu", "swish", "gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "quick_gelu", "relu", "relu2", "tanh"});
}

std::vector<std::int64_t> ConfigKeys::sizes(std::string_view key, std::vector<std::int64_t> absent,
                                            std::int64_t least) {
    const Document* value = find(key);
    if (value == nullptr) return absent;
    if (value->kind != Document::Kind::List) {
        refuse(key, fmt::format("found {}, expected a list of integers", foundIn(*value)));
        return absent;
    }
    if (value->items.size() > kLongestList) {
        refuse(key, fmt::format("found {} entries, expected at most {}", value->items.size(), kLongestList));
        return absent;
    }
    std::vector<std::int64_t> sizes;
    for (const Document& item : value->items) {
        if (item.kind != Document::Kind::Integer || item.integer < least || item.integer > kLargestSize) {
            refuse(key, fmt::format("found {}, expected integers from {} to 2^31", foundIn(item), least));
            return absent;
        }
        sizes.push_back(item.integer);
    }
    return sizes;
}

std::vector<std::string> ConfigKeys::words(std::string_view key) {
    std::vector<std::string> words;
    const Document* value = find(key);
    if (value == nullptr || value->kind == Document::Kind::Null) return words;
    bool sound = value->kind == Document::Kind::List && value->items.size() <= kLongestList;
    for (const Document& item : value->items) {
        sound = sound && item.kind == Document::Kind::Text;
        words.push_back(item.text);
    }
    if (!sound) refuse(key, fmt::format("found {}, expected a list of words", foundIn(*value)));
    return words;
}

ConfigKeys ConfigKeys::inside(std::string_view key) {
    const Document* value = find(key);
    if (value != nullptr && value->kind != Document::Kind::Table && value->kind != Document::Kind::Null)
        refuse(key, fmt::format("found {}, expected a table", foundIn(*value)));
    ConfigKeys inner(value != nullptr && value->kind == Document::Kind::Table ? *value : m_empty, m_file);
    inner.m_prefix = fmt::format("{}{}.", m_prefix, key);
    return inner;
}

std::int64_t ConfigKeys::times(std::string_view what, std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a, b, &product) && product <= kLargestSize) return product;
    if (!m_error) m_error = Error{ErrorCode::Input, fmt::format("{} is beyond 2^31", what), m_file, {}};
    return 1;
}

std::int64_t ConfigKeys::quotient(std::string_view key, std::string_view dividend, std::int64_t a, std::int64_t b) {
    if (a % b == 0) return a / b;
    refuse(key, fmt::format("found {}, which does not divide {} {}", b, dividend, a));
    return 1;
}

}  // namespace shardscope::core
