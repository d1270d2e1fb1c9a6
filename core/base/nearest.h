#pragma once

// The known word that a misspelt one most likely meant.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope::core {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal string alignment). Only
/// the first 100 characters of each are looked at.
[[nodiscard]] std::size_t editDistance(std::string_view a, std::string_view b);

/// The candidate of the smallest distance, the first of equals; empty if none is near (more than a third of the
/// longer word would have to change, and more than two characters).
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// Candidates that have a part of the word (three and more letters or digits in a row): at most five, those that have
/// most of it first. For words that are near to none.
[[nodiscard]] std::vector<std::string> alike(std::string_view word, std::span<const std::string> candidates);

/// "names like it: a, b"; empty where none is alike.
[[nodiscard]] std::string alikeInWords(std::string_view word, std::span<const std::string> candidates);

}  // namespace shardscope::core
