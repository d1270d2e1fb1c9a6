#include "core/plan/ddp_buckets.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace shardscope::core {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kFirstCap = 1, kUsualCap = 25;  // MiB: kDefaultFirstBucketBytes, kDefaultBucketBytesCap
constexpr std::int64_t kNoCap = std::numeric_limits<std::int64_t>::max();

// Buckets stay as they were laid out at the start, over the order of definition.
bool keepsInitial(const DdpKnobs& knobs) {
    return knobs.findUnusedParameters && !knobs.staticGraph;
}

std::vector<std::int64_t> capsOf(const DdpKnobs& knobs) {
    std::vector<double> caps = knobs.bucketCapList;
    if (caps.empty() && knobs.bucketCap) caps = {*knobs.bucketCap};
    if (caps.empty()) caps = {kFirstCap, kUsualCap};
    std::vector<std::int64_t> bytes;
    for (const double cap : caps) bytes.push_back(static_cast<std::int64_t>(cap * kMiB));
    return bytes;
}

// One bucket a dtype is open at a time; it closes when it has reached the cap, so that it may exceed it. Each dtype
// goes through the caps on its own.
struct Open {
    DType dtype;
    DdpBucket bucket;
    std::size_t cap = 0;
};

std::vector<DdpBucket> assign(std::span<const DdpGradient> gradients, std::span<const std::uint32_t> order,
                              std::span<const std::int64_t> caps) {
    std::vector<DdpBucket> closed;
    std::vector<Open> open;  // by dtype, in the order of their first gradient
    for (const std::uint32_t index : order) {
        const DdpGradient& gradient = gradients[index];
        auto at = std::find_if(open.begin(), open.end(), [&](const Open& o) { return o.dtype == gradient.dtype; });
        if (at == open.end()) at = open.insert(open.end(), Open{gradient.dtype, {}, 0});
        DdpBucket& bucket = at->bucket;
        bucket.dtype = gradient.dtype;
        bucket.gradients.push_back(index);
        bucket.bytes = bucket.bytes + gradient.bytes;
        if (bucket.bytes.value < caps[at->cap]) continue;
        closed.push_back(std::move(bucket));
        bucket = {};
        if (at->cap + 1 < caps.size()) ++at->cap;
    }
    // What is still open comes last, the dtype that was met last first: PyTorch keeps the open ones in a hash table,
    // which lists a new key before those that are there.
    for (auto at = open.rbegin(); at != open.rend(); ++at)
        if (!at->bucket.gradients.empty()) closed.push_back(std::move(at->bucket));
    return closed;
}

}  // namespace

std::vector<DdpBucket> initialBuckets(std::span<const DdpGradient> gradients, const DdpKnobs& knobs) {
    const bool capped = keepsInitial(knobs) || !knobs.bucketCapList.empty();
    std::vector<std::uint32_t> order(gradients.size());
    std::iota(order.begin(), order.end(), 0u);
    std::vector<DdpBucket> buckets =
        assign(gradients, order, capped ? capsOf(knobs) : std::vector<std::int64_t>{kNoCap});
    // Gradients come roughly in the reverse order of definition: the buckets of the last parameters go first.
    std::sort(buckets.begin(), buckets.end(),
              [](const DdpBucket& a, const DdpBucket& b) { return a.gradients.front() > b.gradients.front(); });
    return buckets;
}

std::vector<DdpBucket> rebuiltBuckets(std::span<const DdpGradient> gradients, const DdpKnobs& knobs,
                                      std::span<const std::uint32_t> arrival) {
    if (keepsInitial(knobs)) return initialBuckets(gradients, knobs);
    return assign(gradients, arrival, capsOf(knobs));
}

std::int64_t lastIterationOfInitialBuckets(const DdpKnobs& knobs) {
    if (keepsInitial(knobs)) return 0;
    return knobs.staticGraph ? 2 : 1;
}

}  // namespace shardscope::core
