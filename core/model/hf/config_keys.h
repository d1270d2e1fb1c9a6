#pragma once

// Typed reading of a config.json. The first wrong value is kept and the reading goes on with stand-ins, so that a
// family's reader is a plain list of its keys; whoever asked for them looks at `error` before using any.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/model/size_check.h"

namespace shardscope::core {

class ConfigKeys {
public:
    /// {"num_hidden_layers", "n_layer"}: the name that transformers also takes, and the model type's own.
    using Aliases = std::vector<std::pair<std::string_view, std::string_view>>;

    ConfigKeys(const Document& config, std::string file, Aliases aliases = {});

    /// A size in 1..`most`. `absent` stands for a missing key (0: the key must be there), `null` for one that holds
    /// null (0: null is refused).
    std::int64_t size(std::string_view key, std::int64_t absent, std::int64_t null = 0,
                      std::int64_t most = kLargestSize);
    /// As `size`, from 0.
    std::int64_t count(std::string_view key, std::int64_t absent);
    /// A number of blocks, in 1..kMostLayers.
    std::int64_t layers(std::string_view key, std::int64_t absent) { return size(key, absent, 0, kMostLayers); }
    /// A key that may be left out, or hold null, for "none".
    std::optional<std::int64_t> optionalSize(std::string_view key);
    /// One number, or a list of two equal ones.
    std::int64_t side(std::string_view key, std::int64_t absent);
    bool flag(std::string_view key, bool absent);
    /// A flag that transformers reads as a truth value: null is false.
    bool truth(std::string_view key, bool absent);
    double number(std::string_view key, double absent, double least, double most);
    double epsilon(std::string_view key, double absent) { return number(key, absent, 0, 1); }
    std::string text(std::string_view key, std::string_view absent);
    /// As `text`; errors (Unsupported) name the words that are known.
    std::string word(std::string_view key, std::string_view absent, std::initializer_list<std::string_view> known);
    /// The name of an activation function whose kernels are known.
    std::string activation(std::string_view key, std::string_view absent);
    /// A list of sizes; a missing key gives `absent`, null what `null` holds or an error.
    std::vector<std::int64_t> sizes(std::string_view key, std::vector<std::int64_t> absent, std::int64_t least = 1);
    std::vector<std::string> words(std::string_view key);  ///< empty where missing or null
    /// A table inside; a missing or null one reads as empty.
    ConfigKeys inside(std::string_view key);

    /// a * b, refused beyond 2^31.
    std::int64_t times(std::string_view what, std::int64_t a, std::int64_t b);
    /// a / b, refused where it leaves a rest; `key` is b's.
    std::int64_t quotient(std::string_view key, std::string_view dividend, std::int64_t a, std::int64_t b);

    [[nodiscard]] const Document* find(std::string_view key) const;
    [[nodiscard]] bool given(std::string_view key) const { return find(key) != nullptr; }
    /// Keeps an error at a key ("found 3, expected ...") unless there is one.
    void refuse(std::string_view key, std::string_view message, std::string hint = {},
                ErrorCode code = ErrorCode::Input);
    /// Takes over the error of what `inside` gave.
    void take(const ConfigKeys& inner);
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }
    [[nodiscard]] const std::string& file() const { return m_file; }

private:
    [[nodiscard]] std::pair<std::string, const Document*> lookUp(std::string_view key) const;

    Document m_empty;
    const Document* m_config;
    std::string m_file, m_prefix;
    Aliases m_aliases;
    std::optional<Error> m_error;
};

}  // namespace shardscope::core
