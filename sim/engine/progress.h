#pragma once

// How far compute gets while transfers come and go: the transfers of a class in order of time, and the inverse of the
// progress function G(t) that they define (piecewise linear: slope 1 in the gaps, slowDen / slowNum beside a transfer).

#include <cassert>
#include <cstdint>
#include <numeric>
#include <vector>

namespace shardscope::sim {

/// ceil(a / b) for b known beforehand; exact, and a multiplication where a is below 2^51.
class CeilDivision {
public:
    explicit CeilDivision(std::int64_t by) : m_by(by), m_inverse(1.0 / static_cast<double>(by)) {}
    [[nodiscard]] std::int64_t operator()(std::int64_t a) const {
        const std::int64_t x = a + m_by - 1;
        if (x >= std::int64_t{1} << 51) [[unlikely]]
            return x / m_by;
        auto q = static_cast<std::int64_t>(static_cast<double>(x) * m_inverse);
        const std::int64_t rest = x - q * m_by;
        return q - static_cast<std::int64_t>(rest < 0) + static_cast<std::int64_t>(rest >= m_by);
    }

private:
    std::int64_t m_by;
    double m_inverse;
};

class Progress {
public:
    /// For that many transfers at most.
    Progress(std::int64_t slowNum, std::int64_t slowDen, std::size_t transfers)
        : m_free(slowNum / std::gcd(slowNum, slowDen)),
          m_slow(slowDen / std::gcd(slowNum, slowDen)),
          m_byFree(m_free),
          m_bySlow(m_slow),
          m_transfers(transfers) {}

    /// The next transfer; it starts no earlier than the previous one ends.
    void add(std::int64_t start, std::int64_t end) {
        assert(m_count < m_transfers.size());
        m_transfers[m_count++] = {start, end, m_total};
        m_total += end - start;
    }
    [[nodiscard]] std::size_t size() const { return m_count; }
    [[nodiscard]] std::int64_t start(std::size_t i) const { return m_transfers[i].start; }
    [[nodiscard]] std::int64_t end(std::size_t i) const { return m_transfers[i].end; }

    /// Moves `cursor` to the first transfer that ends after `time`; times of one cursor never decrease.
    void seek(std::size_t& cursor, std::int64_t time) const {
        while (cursor < m_count && m_transfers[cursor].end <= time) ++cursor;
    }
    /// Transfer time before `time`, whose cursor this is.
    [[nodiscard]] std::int64_t transferBefore(std::size_t cursor, std::int64_t time) const {
        if (cursor == m_count) return m_total;
        const Transfer& next = m_transfers[cursor];
        return next.before + (time > next.start ? time - next.start : 0);
    }

    /// First whole nanosecond at which `work` begun at `time` is done. Moves the cursor of `time` on to the end's.
    [[nodiscard]] std::int64_t finish(std::int64_t time, std::int64_t work, std::size_t& cursor) const {
        if (m_free == m_slow || cursor == m_count || time + work <= m_transfers[cursor].start) return time + work;
        std::int64_t left = work * m_free;  // credits: a free nanosecond pays m_free, one beside a transfer m_slow
        for (; cursor < m_count; ++cursor) {
            const Transfer& next = m_transfers[cursor];
            if (time < next.start) {
                const std::int64_t gap = (next.start - time) * m_free;
                if (left <= gap) return time + m_byFree(left);
                left -= gap;
                time = next.start;
            }
            const std::int64_t beside = (next.end - time) * m_slow;
            if (left <= beside) return time + m_bySlow(left);
            left -= beside;
            time = next.end;
        }
        return time + m_byFree(left);
    }

private:
    std::int64_t m_free, m_slow;
    CeilDivision m_byFree, m_bySlow;
    struct Transfer {
        std::int64_t start = 0, end = 0;
        std::int64_t before = 0;  // transfer time before its start
    };
    std::vector<Transfer> m_transfers;  // the first m_count are known
    std::size_t m_count = 0;
    std::int64_t m_total = 0;
};

}  // namespace shardscope::sim
