#include "gui/lane/pieces.h"

#include <gtest/gtest.h>

#include "tests/gui/random_pieces.h"

namespace shardscope::gui {
namespace {

using formats::Look;
using formats::RowPiece;

TEST(Pieces, AreTheRowsTheyWereMadeOf) {
    // The second and the last are too long for a length of 32 bits.
    const std::vector<RowPiece> rows = {
        {10, 20, Look::Forward, 3, timeline::Cause::Unknown, 0},
        {20, 9'000'000'000, Look::Waiting, 4, timeline::Cause::AllGather, 7},
        {9'000'000'000, 9'000'000'001, Look::Backward, 5, timeline::Cause::Unknown, 0},
        {9'000'000'010, 9'000'000'010 + 0xffffffffLL, Look::Idle, timeline::kNoIndex, timeline::Cause::HostLaunch, 2}};
    const Pieces pieces(rows);
    ASSERT_EQ(pieces.size(), rows.size());
    std::size_t i = 0;
    for (const RowPiece& piece : pieces) {
        EXPECT_EQ(piece.begin, rows[i].begin);
        EXPECT_EQ(piece.end, rows[i].end);
        EXPECT_EQ(piece.look, rows[i].look);
        EXPECT_EQ(piece.span, rows[i].span);
        EXPECT_EQ(piece.cause, rows[i].cause);
        EXPECT_EQ(piece.causeUnit, rows[i].causeUnit);
        ++i;
    }
    EXPECT_EQ(i, rows.size());
}

TEST(Pieces, FindThePieceOfAnInstant) {
    EXPECT_FALSE(Pieces().at(0).has_value());
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        const std::vector<RowPiece> rows = randomPieces(seed, 60, 9);
        const Pieces pieces(rows);
        for (std::int64_t time = -3; time < rows.back().end + 4; ++time) {
            std::optional<std::size_t> at;
            std::size_t endingAfter = 0, from = 0;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                if (rows[i].begin <= time && time < rows[i].end) at = i;
                endingAfter += rows[i].end <= time;
                from += rows[i].begin < time;
            }
            ASSERT_EQ(pieces.at(time), at) << time;
            ASSERT_EQ(pieces.firstEndingAfter(static_cast<double>(time)), endingAfter) << time;
            ASSERT_EQ(pieces.firstFrom(static_cast<double>(time)), from) << time;
        }
    }
}

TEST(Pieces, TakeAtMost22BytesEach) {
    EXPECT_LE(Pieces(randomPieces(1, 10'000, 50)).bytes(), 22 * 10'000u);
}

}  // namespace
}  // namespace shardscope::gui
