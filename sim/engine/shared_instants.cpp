#include "sim/engine/shared_instants.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

namespace shardscope::sim {

namespace {

constexpr std::size_t kChunk = 1024;  // ranks whose starts stay in the first-level cache between two loops

// When something happens over the ranks. Ranks that agree need no vector.
struct Clock {
    std::int64_t earliest = 0, latest = 0;
    std::int32_t vector = -1;
};

// A vector of instants to which `plus` is added.
struct Source {
    const std::int64_t* at = nullptr;
    std::int64_t plus = 0;
    std::int64_t latest = 0;
};

class Pass {
public:
    Pass(const StaticOrder& order, const Prices& prices, const Clocks& clocks)
        : m_order(order),
          m_prices(prices),
          m_clocks(clocks),
          m_ranks(static_cast<std::size_t>(clocks.ranks)),
          m_result{Progress(prices.slowNum, prices.slowDen, order.transfer.size()), {}, {}, {}} {
        if (!clocks.offset.empty()) {
            const auto [low, high] = std::minmax_element(clocks.offset.begin(), clocks.offset.end());
            m_offset = {*low, *high};
        }
        if (!clocks.computePpm.empty()) {
            const auto [low, high] = std::minmax_element(clocks.computePpm.begin(), clocks.computePpm.end());
            m_ppm = *low;
            m_speedsVary = *low != *high;
        }
    }

    SharedInstants go() {
        m_result.at.resize(m_order.steps.size());
        if (m_offset.earliest == m_offset.latest && !m_speedsVary) {
            allAgree();
            return std::move(m_result);
        }
        m_clock.resize(m_order.steps.size());
        for (std::uint32_t s = 0; s < m_order.steps.size(); ++s) {
            const StaticOrder::Step& step = m_order.steps[s];
            const std::int64_t lower = gather(step);
            m_result.at[s].begin = lower;
            if (step.role == OpRole::Transfer)
                transfer(s, lower);
            else
                local(s, lower);
            if (m_vectorsInUse > 0) release(step, s);
            m_result.finish = std::max(m_result.finish, m_clock[s].latest);
        }
        return std::move(m_result);
    }

private:
    // No rank differs from another: one number an op.
    void allAgree() {
        Interval* const at = m_result.at.data();
        const std::int64_t* const release = m_prices.release.data();
        const std::int64_t* const duration = m_prices.duration.data();
        const std::uint32_t* const waits = m_order.waits.data();
        Progress transfers = std::move(m_result.progress);  // here, where no store to an instant can be one to it
        const std::int64_t offset = m_offset.earliest, ppm = m_ppm;
        std::size_t cursor = 0;
        std::int64_t lastTransfer = 0, finish = 0;
        for (const StaticOrder::Step& step : m_order.steps) {
            Interval& own = at[&step - m_order.steps.data()];
            const auto [a, b] = step.firstWaits;
            std::int64_t start = std::max({offset + release[step.op], at[a].end, at[b].end});  // its own end is still 0
            for (std::uint32_t w = step.waitBegin + 2; w < step.waitEnd; ++w) start = std::max(start, at[waits[w]].end);
            own.begin = start;
            const std::int64_t takes = duration[step.op];
            std::int64_t done = start + takes;
            if (step.role == OpRole::Compute) {
                transfers.seek(cursor, start);
                done = transfers.finish(start, workAt(takes, ppm), cursor);
            } else if (step.role == OpRole::Transfer) {
                start = std::max(start, lastTransfer);
                done = lastTransfer = start + takes;
                transfers.add(start, done);
            }
            own.end = done;
            finish = std::max(finish, done);
        }
        m_result.progress = std::move(transfers);
        m_result.finish = finish;
    }

    // Collects in m_sources what can hold a rank beyond the returned bound, which holds all of them.
    std::int64_t gather(const StaticOrder::Step& step) {
        const std::int64_t issued = m_prices.release[step.op];
        std::int64_t lower = m_offset.earliest + issued;
        const auto waits = m_order.waitsOf(step);
        for (const std::uint32_t w : waits) lower = std::max(lower, m_clock[w].earliest);
        m_sources.clear();
        if (m_offset.latest + issued > lower)
            m_sources.push_back({m_clocks.offset.data(), issued, m_offset.latest + issued});
        for (const std::uint32_t w : waits)
            if (m_clock[w].latest > lower) m_sources.push_back({vectorOf(w), 0, m_clock[w].latest});
        return lower;
    }

    void transfer(std::uint32_t s, std::int64_t lower) {
        std::int64_t start = lower;
        for (const Source& source : m_sources) start = std::max(start, source.latest);
        start = std::max(start, m_lastTransfer);
        m_lastTransfer = start + m_prices.duration[m_order.steps[s].op];
        m_result.progress.add(start, m_lastTransfer);
        m_result.at[s].end = m_lastTransfer;
        m_clock[s] = {m_lastTransfer, m_lastTransfer};
        if (m_sources.empty()) return;
        m_result.varying.push_back(s);
        m_result.apart = std::max(m_result.apart, start);
    }

    void local(std::uint32_t s, std::int64_t lower) {
        const StaticOrder::Step& step = m_order.steps[s];
        const std::int64_t duration = m_prices.duration[step.op];
        const bool compute = step.role == OpRole::Compute;
        if (compute) m_result.progress.seek(m_cursor, lower);
        if (m_sources.empty() && (!compute || !m_speedsVary || duration == 0)) {
            std::int64_t end = lower + duration;
            if (compute) {
                std::size_t cursor = m_cursor;
                end = m_result.progress.finish(lower, workAt(duration, m_ppm), cursor);
            }
            m_clock[s] = {end, end};
            m_result.at[s].end = end;
            return;
        }
        if (step.lastUse != StaticOrder::kNever) m_clock[s].vector = allocate();
        if (!compute)
            price(s, lower, [duration](std::size_t, std::int64_t start) { return start + duration; });
        else if (m_speedsVary)
            price(s, lower, [&](std::size_t rank, std::int64_t start) {
                return finish(start, workAt(duration, m_clocks.computePpm[rank]));
            });
        else
            price(s, lower,
                  [&, work = workAt(duration, m_ppm)](std::size_t, std::int64_t start) { return finish(start, work); });
        m_result.at[s].end = m_clock[s].earliest;
        m_result.varying.push_back(s);
        m_result.apart = std::max(m_result.apart, m_clock[s].latest);
    }

    [[nodiscard]] std::int64_t finish(std::int64_t start, std::int64_t work) const {
        std::size_t cursor = m_cursor;
        m_result.progress.seek(cursor, start);
        return m_result.progress.finish(start, work, cursor);
    }

    // Starts and ends of all ranks; the target may be one of the sources.
    template <class End>
    void price(std::uint32_t s, std::int64_t lower, const End& end) {
        std::array<std::int64_t, kChunk> start;
        std::int64_t* target = vectorOf(s);
        std::int64_t earliest = std::numeric_limits<std::int64_t>::max(), latest = 0;
        for (std::size_t first = 0; first < m_ranks; first += kChunk) {
            const std::size_t n = std::min(kChunk, m_ranks - first);
            std::fill_n(start.begin(), n, lower);
            for (const Source& source : m_sources)
                for (std::size_t i = 0; i < n; ++i) start[i] = std::max(start[i], source.at[first + i] + source.plus);
            for (std::size_t i = 0; i < n; ++i) {
                const std::int64_t t = end(first + i, start[i]);
                earliest = std::min(earliest, t);
                latest = std::max(latest, t);
                start[i] = t;
            }
            if (target != nullptr) std::copy_n(start.begin(), n, target + first);
        }
        m_clock[s].earliest = earliest;
        m_clock[s].latest = latest;
    }

    // Null where only transfers still ask, for which the latest instant is enough.
    [[nodiscard]] std::int64_t* vectorOf(std::uint32_t step) const {
        const std::int32_t vector = m_clock[step].vector;
        return vector < 0 ? nullptr : m_vectors[static_cast<std::size_t>(vector)].get();
    }

    std::int32_t allocate() {
        ++m_vectorsInUse;
        if (m_unused.empty()) {
            m_vectors.push_back(std::make_unique_for_overwrite<std::int64_t[]>(m_ranks));
            return static_cast<std::int32_t>(m_vectors.size() - 1);
        }
        const std::int32_t vector = m_unused.back();
        m_unused.pop_back();
        return vector;
    }

    // Vectors that no later step reads. Transfers read only the latest instant, which stays.
    void release(const StaticOrder::Step& step, std::uint32_t s) {
        if (step.role == OpRole::Transfer) return;
        for (const std::uint32_t w : m_order.waitsOf(step)) {
            if (m_order.steps[w].lastUse != s || m_clock[w].vector < 0) continue;
            m_unused.push_back(m_clock[w].vector);
            m_clock[w].vector = -1;
            --m_vectorsInUse;
        }
    }

    const StaticOrder& m_order;
    const Prices& m_prices;
    const Clocks& m_clocks;
    std::size_t m_ranks;
    std::vector<Clock> m_clock;  // by step: its end
    Clock m_offset;
    std::int64_t m_ppm = kNominalPpm;
    bool m_speedsVary = false;
    std::vector<Source> m_sources;
    std::vector<std::unique_ptr<std::int64_t[]>> m_vectors;
    std::vector<std::int32_t> m_unused;
    std::size_t m_vectorsInUse = 0;
    std::size_t m_cursor = 0;  // of the earliest start of the compute op at hand
    std::int64_t m_lastTransfer = 0;
    SharedInstants m_result;
};

}  // namespace

SharedInstants findSharedInstants(const StaticOrder& order, const Prices& prices, const Clocks& clocks) {
    return Pass(order, prices, clocks).go();
}

}  // namespace shardscope::sim
