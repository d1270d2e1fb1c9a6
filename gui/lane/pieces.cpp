#include "gui/lane/pieces.h"

#include <algorithm>
#include <cassert>

namespace shardscope::gui {

using formats::RowPiece;

Pieces::Pieces(std::span<const RowPiece> rows) {
    reserve(rows.size());
    for (const RowPiece& row : rows) append(row);
}

void Pieces::reserve(std::size_t count) {
    m_begin.reserve(count);
    m_length.reserve(count);
    m_span.reserve(count);
    m_causeUnit.reserve(count);
    m_look.reserve(count);
    m_cause.reserve(count);
}

void Pieces::append(const RowPiece& row) {
    assert(row.begin < row.end && (empty() || endOf(size() - 1) <= row.begin));
    const auto length = static_cast<std::uint64_t>(row.end - row.begin);
    if (length >= kLong) m_longEnds.emplace_back(size(), row.end);
    m_begin.push_back(row.begin);
    m_length.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(length, kLong)));
    m_span.push_back(row.span);
    m_causeUnit.push_back(row.causeUnit);
    m_look.push_back(row.look);
    m_cause.push_back(row.cause);
}

RowPiece Pieces::operator[](std::size_t i) const {
    assert(i < size());
    return {m_begin[i], endOf(i), m_look[i], m_span[i], m_cause[i], m_causeUnit[i]};
}

std::int64_t Pieces::longEndOf(std::size_t i) const {
    const auto found = std::ranges::lower_bound(m_longEnds, i, {}, &std::pair<std::size_t, std::int64_t>::first);
    assert(found != m_longEnds.end() && found->first == i);
    return found->second;
}

std::optional<std::size_t> Pieces::at(std::int64_t time) const {
    const auto after = std::ranges::upper_bound(m_begin, time) - m_begin.begin();
    if (after == 0) return std::nullopt;
    const auto i = static_cast<std::size_t>(after - 1);
    return time < endOf(i) ? std::optional(i) : std::nullopt;
}

std::size_t Pieces::firstEndingAfter(double time) const {
    const std::size_t next = firstFrom(time);
    return next > 0 && static_cast<double>(endOf(next - 1)) > time ? next - 1 : next;
}

std::size_t Pieces::firstFrom(double time) const {
    const auto found =
        std::ranges::partition_point(m_begin, [time](std::int64_t begin) { return static_cast<double>(begin) < time; });
    return static_cast<std::size_t>(found - m_begin.begin());
}

std::size_t Pieces::bytes() const {
    return m_begin.capacity() * sizeof(m_begin[0]) + m_length.capacity() * sizeof(m_length[0]) +
           m_span.capacity() * sizeof(m_span[0]) + m_causeUnit.capacity() * sizeof(m_causeUnit[0]) +
           m_look.capacity() * sizeof(m_look[0]) + m_cause.capacity() * sizeof(m_cause[0]) +
           m_longEnds.capacity() * sizeof(m_longEnds[0]);
}

}  // namespace shardscope::gui
