#pragma once

// The pieces of a lane in columns, 22 bytes a piece: ten million spans are some twenty million pieces.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "traces/formats/picture_rows.h"

namespace shardscope::gui {

/// In order of time, without overlap; read by index, as rows.
class Pieces {
public:
    Pieces() = default;
    explicit Pieces(std::span<const formats::RowPiece> rows);

    void reserve(std::size_t count);
    /// Begins where the last one ends, or later.
    void append(const formats::RowPiece& row);

    [[nodiscard]] std::size_t size() const { return m_begin.size(); }
    [[nodiscard]] bool empty() const { return m_begin.empty(); }
    [[nodiscard]] formats::RowPiece operator[](std::size_t i) const;
    [[nodiscard]] formats::RowPiece front() const { return (*this)[0]; }
    [[nodiscard]] formats::RowPiece back() const { return (*this)[size() - 1]; }

    [[nodiscard]] std::int64_t beginOf(std::size_t i) const { return m_begin[i]; }
    [[nodiscard]] std::int64_t endOf(std::size_t i) const {
        return m_length[i] != kLong ? m_begin[i] + m_length[i] : longEndOf(i);
    }
    [[nodiscard]] formats::Look lookOf(std::size_t i) const { return m_look[i]; }
    [[nodiscard]] std::uint32_t spanOf(std::size_t i) const { return m_span[i]; }

    /// The piece at an instant.
    [[nodiscard]] std::optional<std::size_t> at(std::int64_t time) const;
    /// The first piece that ends after an instant; size() if none does.
    [[nodiscard]] std::size_t firstEndingAfter(double time) const;
    /// The first piece that does not begin before an instant; size() if all do.
    [[nodiscard]] std::size_t firstFrom(double time) const;
    /// Bytes that all columns take.
    [[nodiscard]] std::size_t bytes() const;

    /// Rows one after another, for loops.
    class Iterator {
    public:
        using value_type = formats::RowPiece;
        using difference_type = std::ptrdiff_t;
        Iterator() = default;
        Iterator(const Pieces& pieces, std::size_t at) : m_pieces(&pieces), m_at(at) {}
        formats::RowPiece operator*() const { return (*m_pieces)[m_at]; }
        Iterator& operator++() {
            ++m_at;
            return *this;
        }
        Iterator operator++(int) { return {*m_pieces, m_at++}; }
        friend bool operator==(const Iterator& a, const Iterator& b) { return a.m_at == b.m_at; }

    private:
        const Pieces* m_pieces = nullptr;
        std::size_t m_at = 0;
    };
    [[nodiscard]] Iterator begin() const { return {*this, 0}; }
    [[nodiscard]] Iterator end() const { return {*this, size()}; }

private:
    static constexpr std::uint32_t kLong = 0xffffffffu;
    [[nodiscard]] std::int64_t longEndOf(std::size_t i) const;

    std::vector<std::int64_t> m_begin;    // ns
    std::vector<std::uint32_t> m_length;  // ns; kLong: its end is in m_longEnds
    std::vector<std::uint32_t> m_span;
    std::vector<timeline::StringId> m_causeUnit;
    std::vector<formats::Look> m_look;
    std::vector<timeline::Cause> m_cause;
    std::vector<std::pair<std::size_t, std::int64_t>> m_longEnds;  // by index; few: of pieces above four seconds
};

}  // namespace shardscope::gui
