#include "sim/run/chosen_ranks.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace shardscope::sim {

namespace {

constexpr std::size_t kFewRanks = 8;

struct Roles {
    std::map<std::int64_t, std::string> byRank;
    void add(std::int64_t rank, const std::string& role) {
        std::string& roles = byRank[rank];
        if (!role.empty()) roles += (roles.empty() ? "" : ", ") + role;
    }
};

// The rank that waits least holds the others up; ties go to the lower rank.
void addTypical(std::span<const timeline::Breakdown> breakdown, std::int64_t first, std::int64_t count, Roles& roles) {
    roles.add(first, "");
    std::vector<std::int64_t> ranks(static_cast<std::size_t>(count));
    std::iota(ranks.begin(), ranks.end(), first);
    const auto waitsLess = [&](std::int64_t a, std::int64_t b) {
        const std::int64_t left = breakdown[static_cast<std::size_t>(a)].gpuWaits();
        const std::int64_t right = breakdown[static_cast<std::size_t>(b)].gpuWaits();
        return left != right ? left < right : a < b;
    };
    const auto middle = ranks.begin() + (count - 1) / 2;
    std::nth_element(ranks.begin(), middle, ranks.end(), waitsLess);
    roles.add(*std::min_element(ranks.begin(), ranks.end(), waitsLess), "slowest");
    roles.add(*middle, "median");
    roles.add(*std::max_element(ranks.begin(), ranks.end(), waitsLess), "fastest");
}

}  // namespace

std::vector<ChosenRank> chooseRanks(const core::StepGraph& graph, std::span<const timeline::Breakdown> breakdown,
                                    const RunOptions& options) {
    Roles roles;
    for (const std::int64_t rank : options.chosenRanks) roles.add(rank, "");
    const bool few = breakdown.size() <= kFewRanks;
    if (options.keepTypical && few)
        for (std::size_t rank = 0; rank < breakdown.size(); ++rank) roles.add(static_cast<std::int64_t>(rank), "");
    std::vector<ChosenRank> chosen;
    std::int64_t first = 0;
    for (std::size_t c = 0; c < graph.classes.size(); ++c) {
        const std::int64_t count = graph.classes[c].multiplicity;
        if (options.keepTypical && !few) addTypical(breakdown, first, count, roles);
        for (auto it = roles.byRank.lower_bound(first); it != roles.byRank.end() && it->first < first + count; ++it) {
            const std::string name = "rank " + std::to_string(it->first);
            chosen.push_back({it->first, core::ClassId(c), it->second.empty() ? name : name + " (" + it->second + ")"});
        }
        first += count;
    }
    return chosen;
}

}  // namespace shardscope::sim
