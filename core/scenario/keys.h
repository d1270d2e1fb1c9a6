#pragma once

// The one list of a scenario's keys. The parser, `--set`, docs/scenario.md and the panels of the faces are made from
// it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/scenario/scenario.h"

namespace shardscope::core {

using UnitLists = std::vector<std::vector<std::string>>;
using IntegerList = std::vector<std::int64_t>;
using ReshardTable = std::vector<std::pair<std::string, ReshardSetting>>;

/// Where in a Scenario the value of a key lies; the alternative says of which type it is.
using KeyBinding =
    std::variant<std::string& (*)(Scenario&), std::int64_t& (*)(Scenario&), bool& (*)(Scenario&), DType& (*)(Scenario&),
                 std::optional<DType>& (*)(Scenario&), ReshardSetting& (*)(Scenario&), UnitLists& (*)(Scenario&),
                 ReshardTable& (*)(Scenario&), IntegerList& (*)(Scenario&), Document& (*)(Scenario&)>;

struct Key {
    std::string_view path;   ///< "section.key"; only "title" has no section
    std::string_view alias;  ///< another path under which it is accepted (where torchtitan has it); may be empty
    KeyBinding binding;
    std::string_view what;                ///< one line: what it does
    std::vector<std::string_view> words;  ///< text keys: the only values allowed; empty: any text
    std::int64_t least = 0, most = 0;     ///< integers and lists of them: the range, both included
    std::string_view special;  ///< what a value that is no ordinary size stands for ("-1: all that are left")

    [[nodiscard]] std::string_view section() const;
    [[nodiscard]] std::string_view name() const;
};

/// All keys, section by section in the order of the file.
[[nodiscard]] std::span<const Key> scenarioKeys();
/// The key of that path or alias, or null.
[[nodiscard]] const Key* findKey(std::string_view path);
/// What a section is about, one line.
[[nodiscard]] std::string_view describeSection(std::string_view section);

/// The key's value in `scenario`, as the document that setValue takes.
[[nodiscard]] Document valueOf(const Scenario& scenario, const Key& key);
/// Errors: wrong kind, not one of the words, outside the range. `where` is the place for the message.
[[nodiscard]] Result<void> setValue(Scenario& scenario, const Key& key, const Document& value,
                                    const std::string& where);
/// "an integer from 1 to 1000", "one of: flash, math", ...
[[nodiscard]] std::string describeType(const Key& key);

/// A value as TOML, on one line.
[[nodiscard]] std::string writeTomlValue(const Document& value);

/// docs/scenario.md.
[[nodiscard]] std::string scenarioReference();

}  // namespace shardscope::core
