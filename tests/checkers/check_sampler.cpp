// check_sampler FILE [--largest]: holds the distributed sampler and torch.randperm against recordings
// (distributed_sampler.json). Prints how many lists are equal; exit 1 if any differs. The largest permutations take
// 2 GB and a minute; without --largest they are left out.

#include <fmt/format.h>

#include <cstdio>

#include "runtime/data/distributed_sampler.h"
#include "runtime/data/random_order.h"
#include "tests/checkers/support/recorded_case.h"

using namespace shardscope;
using namespace shardscope::core;

namespace {

using Order = std::vector<std::int64_t>;

std::int64_t integerOf(const Document& record, const char* key) {
    const Document* found = record.find(key);
    return found == nullptr ? 0 : found->integer;
}

bool isSet(const Document& record, const char* key) {
    const Document* found = record.find(key);
    return found != nullptr && found->boolean;
}

Order orderOf(const Document& record, const char* key) {
    Order order;
    if (const Document* found = record.find(key))
        for (const Document& item : found->items) order.push_back(item.integer);
    return order;
}

struct Tally {
    int equal = 0, differ = 0;
    void take(bool same, const std::string& what) {
        ++(same ? equal : differ);
        if (!same) fmt::print("differs  {}\n", what);
    }
};

void checkSampler(const Document& record, Tally& tally) {
    const std::int64_t ranks = integerOf(record, "replicas");
    runtime::DistributedSampler sampler(
        integerOf(record, "n"), ranks,
        {isSet(record, "shuffle"), isSet(record, "drop_last"), static_cast<std::uint64_t>(integerOf(record, "seed"))});
    if (isSet(record, "set_epoch")) sampler.setEpoch(integerOf(record, "epoch"));
    const Document* lists = record.find("ranks");
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        Order recorded;
        if (lists != nullptr && rank < std::ssize(lists->items))
            for (const Document& item : lists->items[static_cast<std::size_t>(rank)].items)
                recorded.push_back(item.integer);
        tally.take(recorded == sampler.indicesOf(rank),
                   fmt::format("n {} over {} ranks, rank {}", integerOf(record, "n"), ranks, rank));
    }
}

void checkPermutation(const Document& record, Tally& tally) {
    const Order order =
        runtime::randomPermutation(integerOf(record, "n"), static_cast<std::uint64_t>(integerOf(record, "seed")));
    const std::string what = fmt::format("randperm({}), seed {}", integerOf(record, "n"), integerOf(record, "seed"));
    if (record.find("perm") != nullptr) tally.take(order == orderOf(record, "perm"), what);
    const Order first = orderOf(record, "first8"), last = orderOf(record, "last8");
    if (!first.empty()) tally.take(std::equal(first.begin(), first.end(), order.begin()), what);
    if (!last.empty()) tally.take(std::equal(last.rbegin(), last.rend(), order.rbegin()), what);
    if (const Document* checksum = record.find("checksum")) {
        std::uint64_t sum = 0;
        for (const std::int64_t index : order) sum = sum * 31 + static_cast<std::uint64_t>(index);
        tally.take(std::to_string(sum) == checksum->text, what);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bool largest = argc == 3 && std::string(argv[2]) == "--largest";
    if (argc != 2 && !largest) {
        std::fprintf(stderr, "usage: check_sampler distributed_sampler.json [--largest]\n");
        return 2;
    }
    const auto file = checkers::readFile(argv[1]);
    const auto records = file ? parseJson(*file, argv[1]) : tl::unexpected(file.error());
    if (!records) {
        std::fprintf(stderr, "check_sampler: %s\n", records.error().message.c_str());
        return 2;
    }
    Tally tally;
    const auto all = [&](const char* key, const auto& check) {
        if (const Document* list = records->find(key))
            for (const Document& record : list->items) check(record, tally);
    };
    all("sampler", checkSampler);
    for (const char* key : {"randperm", "randperm_large"}) all(key, checkPermutation);
    if (largest) all("threshold", checkPermutation);
    fmt::print("{} equal, {} differ\n", tally.equal, tally.differ);
    return tally.differ == 0 && tally.equal > 0 ? 0 : 1;
}
