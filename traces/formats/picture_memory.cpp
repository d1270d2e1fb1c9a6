#include "traces/formats/picture_memory.h"

#include <algorithm>
#include <numeric>

namespace shardscope::formats {

namespace {

/// What stays the whole step lies at the bottom, what comes and goes on top.
constexpr std::array<core::MemoryCategory, core::kMemoryCategories> kStack = {
    core::MemoryCategory::ShardedParameters, core::MemoryCategory::OptimizerState,
    core::MemoryCategory::ShardedGradients,  core::MemoryCategory::Workspace,
    core::MemoryCategory::Activations,       core::MemoryCategory::UnshardedGradients,
    core::MemoryCategory::ReduceBuffers,     core::MemoryCategory::UnshardedParameters,
    core::MemoryCategory::GatherBuffers};

struct Change {
    std::int64_t time;
    std::uint32_t series;
    std::int64_t value;
};

}  // namespace

MemoryCurve memoryCurve(const timeline::Timeline& t, std::uint32_t rankIndex, std::int64_t resolution) {
    MemoryCurve curve;
    std::vector<const timeline::Counter*> counters;
    const auto take = [&](const timeline::Counter& counter, std::optional<core::MemoryCategory> category) {
        const bool isEmpty =
            std::all_of(counter.value.begin(), counter.value.end(), [](std::int64_t v) { return v == 0; });
        if (counter.rankIndex != rankIndex || isEmpty) return;
        counters.push_back(&counter);
        curve.categories.push_back(category);
    };
    for (const core::MemoryCategory category : kStack) {
        for (const auto& counter : t.counters) {
            if (t.strings[counter.name] == core::nameOf(category)) take(counter, category);
        }
    }
    for (const auto& counter : t.counters) {
        const auto isNamed = [&](core::MemoryCategory c) { return t.strings[counter.name] == core::nameOf(c); };
        if (std::none_of(kStack.begin(), kStack.end(), isNamed)) take(counter, std::nullopt);
    }
    std::vector<Change> changes;
    for (std::uint32_t s = 0; s < counters.size(); ++s) {
        for (std::size_t i = 0; i < counters[s]->time.size(); ++i) {
            changes.push_back({counters[s]->time[i], s, counters[s]->value[i]});
        }
    }
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time < b.time; });

    // Buckets of `resolution`: each shows the instant of its largest sum; where nothing changes, what was there last
    // holds.
    const timeline::RankRow& rank = t.ranks[rankIndex];
    resolution = std::max<std::int64_t>(resolution, 1);
    std::vector<std::int64_t> now(counters.size(), 0), best = now;
    std::int64_t bestSum = 0, bucket = 0;
    const auto beginOf = [&](std::int64_t b) { return rank.stepBegin + b * resolution; };
    const auto finishBucket = [&] {
        if (curve.columns.empty() || curve.columns.back().bytes != best)
            curve.columns.push_back({beginOf(bucket), best});
    };
    for (std::size_t i = 0; i < changes.size();) {
        const std::int64_t time = std::max(changes[i].time, rank.stepBegin);
        if (time >= rank.stepEnd) break;
        const std::int64_t next = (time - rank.stepBegin) / resolution;
        if (next != bucket) {
            finishBucket();
            if (next > bucket + 1 && best != now) curve.columns.push_back({beginOf(bucket + 1), now});
            bucket = next;
            best = now;
            bestSum = std::accumulate(now.begin(), now.end(), std::int64_t{0});
        }
        for (; i < changes.size() && std::max(changes[i].time, rank.stepBegin) == time; ++i) {
            now[changes[i].series] = changes[i].value;
        }
        const std::int64_t sum = std::accumulate(now.begin(), now.end(), std::int64_t{0});
        // What held before the bucket's first instant is none of its own.
        if (sum > bestSum || time == beginOf(bucket)) {
            best = now;
            bestSum = sum;
        }
        if (sum > curve.peak) {
            curve.peak = sum;
            curve.peakTime = time;
        }
    }
    if (counters.empty()) return curve;
    finishBucket();
    if (best != now && beginOf(bucket + 1) < rank.stepEnd) curve.columns.push_back({beginOf(bucket + 1), now});
    return curve;
}

void drawMemory(SvgCanvas& canvas, const MemoryCurve& curve, const timeline::Timeline& t, const PanelMemory& memory,
                const PictureText& text, const TimeScale& scale, double top, double height, std::int64_t limit) {
    const double bottom = top + height;
    const auto y = [&](std::int64_t bytes) {
        return bottom - height * static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(limit, 1));
    };
    const timeline::RankRow& rank = t.ranks[memory.rankIndex];
    std::vector<std::int64_t> floorOf(curve.columns.size(), 0);
    for (std::size_t c = 0; c < curve.categories.size(); ++c) {
        RectPath shape;
        for (std::size_t i = 0; i < curve.columns.size();) {
            const std::int64_t bytes = curve.columns[i].bytes[c], below = floorOf[i];
            std::size_t next = i;
            while (next < curve.columns.size() && curve.columns[next].bytes[c] == bytes && floorOf[next] == below) {
                floorOf[next++] += bytes;
            }
            const std::int64_t end = next < curve.columns.size() ? curve.columns[next].begin : rank.stepEnd;
            if (bytes > 0 && end > curve.columns[i].begin) {
                const double left = scale.x(curve.columns[i].begin);
                shape.add(left, y(below + bytes), scale.x(end) - left, y(below) - y(below + bytes));
            }
            i = next;
        }
        const int look = curve.categories[c] ? static_cast<int>(*curve.categories[c])
                                             : static_cast<int>(core::MemoryCategory::Workspace);
        if (!shape.empty()) canvas.path(shape.d(), fmt::format("m{}", look));
    }
    canvas.line(scale.left, bottom, scale.left + scale.width, bottom, "axis");
    if (memory.capacity > 0 && memory.capacity <= limit) {
        const double line = y(memory.capacity);
        canvas.line(scale.left, line, scale.left + scale.width, line, "cap");
        canvas.text(scale.left + scale.width + 8, line + 5, 15, "", bytesInWords(memory.capacity), "#b00020");
    }
    if (curve.peak == 0) return;
    const double peakX = scale.x(curve.peakTime), peakY = y(curve.peak);
    canvas.circle(peakX, peakY, 5, "#b00020");
    std::string words = fill(text.peak, bytesInWords(curve.peak));
    if (memory.capacity > limit) words += ", " + fill(text.capacity, bytesInWords(memory.capacity));
    if (!memory.peakNote.empty()) words += ": " + memory.peakNote;
    const bool fitsRight = peakX + 10 + textWidth(words, 16) < scale.left + scale.width;
    // Above the curve, unless the line of the capacity is there.
    const bool hitsLine = memory.capacity > 0 && memory.capacity <= limit && peakY - y(memory.capacity) < 28 &&
                          peakY >= y(memory.capacity);
    canvas.text(fitsRight ? peakX + 10 : peakX - 10, hitsLine ? peakY + 22 : std::max(peakY - 8, top + 4), 16,
                fitsRight ? "b halo" : "b halo e", words);
}

}  // namespace shardscope::formats
