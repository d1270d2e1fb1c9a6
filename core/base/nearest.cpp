#include "core/base/nearest.h"

#include <algorithm>
#include <vector>

namespace shardscope::core {

std::size_t editDistance(std::string_view a, std::string_view b) {
    constexpr std::size_t kLooked = 100;
    a = a.substr(0, kLooked);
    b = b.substr(0, kLooked);
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
    std::string best;
    std::size_t bestDistance = 0;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = editDistance(word, candidate);
        const std::size_t allowed = std::max<std::size_t>(2, std::max(word.size(), candidate.size()) / 3);
        if (distance > allowed || distance >= std::max(word.size(), candidate.size())) continue;
        if (best.empty() || distance < bestDistance) {
            best = candidate;
            bestDistance = distance;
        }
    }
    return best;
}

std::vector<std::string> alike(std::string_view word, std::span<const std::string> candidates) {
    constexpr std::size_t kShortest = 3, kMost = 5, kLooked = 100;
    const auto lower = [](std::string_view text) {
        std::string small(text.substr(0, kLooked));
        for (char& c : small)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        return small;
    };
    const auto belongs = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    std::vector<std::string> parts;
    const std::string wanted = lower(word);
    for (std::size_t at = 0; at < wanted.size();) {
        std::size_t end = at;
        while (end < wanted.size() && belongs(wanted[end])) ++end;
        if (end - at >= kShortest) parts.push_back(wanted.substr(at, end - at));
        at = std::max(end, at + 1);
    }
    std::vector<std::pair<std::size_t, std::string>> found;  // letters in common
    for (const std::string& candidate : candidates) {
        const std::string name = lower(candidate);
        std::size_t common = 0;
        for (const std::string& part : parts)
            if (name.find(part) != std::string::npos) common += part.size();
        if (common > 0) found.emplace_back(common, candidate);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(found.size(), kMost); ++i) names.push_back(std::move(found[i].second));
    return names;
}

std::string alikeInWords(std::string_view word, std::span<const std::string> candidates) {
    std::string words;
    for (const std::string& name : alike(word, candidates)) words += (words.empty() ? "names like it: " : ", ") + name;
    return words;
}

}  // namespace shardscope::core
