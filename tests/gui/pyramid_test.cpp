#include "gui/lane/pyramid.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/gui/random_pieces.h"

namespace shardscope::gui {
namespace {

using formats::Look;
using formats::RowPiece;

const auto isWork = [](Look look) { return !isGap(look); };

TEST(Pyramid, OfNothingIsEmpty) {
    EXPECT_EQ(Pyramid().levels(), 0u);
    const Pyramid pyramid{Pieces()};
    EXPECT_EQ(pyramid.levels(), 0u);
    EXPECT_EQ(pyramid.at(0, 0), Bucket{});
    EXPECT_EQ(pyramid.at(3, 17), Bucket{});
    EXPECT_EQ(pyramid.levelFor(1e9), 0u);
}

TEST(Pyramid, SharesOfTheLowestLevelAreACount) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        const std::vector<RowPiece> pieces = randomPieces(seed, 400, 60);
        const Pyramid pyramid{Pieces(pieces)};
        ASSERT_GT(pyramid.levels(), 0u);
        const std::int64_t width = pyramid.widthOf(0);
        for (std::size_t b = 0; b < pyramid.level(0).size(); ++b) {
            const std::int64_t begin = static_cast<std::int64_t>(b) * width;
            const Bucket& bucket = pyramid.level(0)[b];
            const std::int64_t work = timeIn(pieces, begin, begin + width, isWork);
            EXPECT_NEAR(bucket.work, 255.0 * static_cast<double>(work) / static_cast<double>(width), work > 0 ? 1 : 0)
                << "seed " << seed << ", bucket " << b;
            std::int64_t most = 0, mostGap = 0;
            for (std::size_t l = 0; l < formats::kLooks; ++l) {
                const auto only = [&](Look look) { return static_cast<std::size_t>(look) == l; };
                std::int64_t& best = isGap(static_cast<Look>(l)) ? mostGap : most;
                best = std::max(best, timeIn(pieces, begin, begin + width, only));
            }
            const auto same = [&](Look wanted) {
                return timeIn(pieces, begin, begin + width, [&](Look look) { return look == wanted; });
            };
            if (most > 0) {
                EXPECT_EQ(same(bucket.workLook), most);
            } else {
                EXPECT_EQ(bucket.workLook, Look::None);
            }
            if (mostGap > 0) {
                EXPECT_EQ(same(bucket.gapLook), mostGap);
            } else {
                EXPECT_EQ(bucket.gapLook, Look::None);
            }
        }
    }
}

TEST(Pyramid, EachBucketStandsForTheTwoBelow) {
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
        const Pyramid pyramid{Pieces(randomPieces(seed, 3000, 50))};
        ASSERT_EQ(pyramid.level(pyramid.levels() - 1).size(), 1u);
        for (std::size_t level = 1; level < pyramid.levels(); ++level) {
            const auto above = pyramid.level(level), below = pyramid.level(level - 1);
            ASSERT_EQ(above.size(), (below.size() + 1) / 2);
            EXPECT_EQ(pyramid.widthOf(level), 2 * pyramid.widthOf(level - 1));
            for (std::size_t b = 0; b < above.size(); ++b) {
                const Bucket first = below[2 * b], second = 2 * b + 1 < below.size() ? below[2 * b + 1] : Bucket{};
                EXPECT_NEAR(above[b].work, (first.work + second.work) / 2.0, 0.5);
                EXPECT_TRUE(above[b].workLook == first.workLook || above[b].workLook == second.workLook);
                EXPECT_TRUE(above[b].gapLook == first.gapLook || above[b].gapLook == second.gapLook);
                if (first.work > 0 || second.work > 0) {
                    EXPECT_GT(above[b].work, 0) << "some work is never lost";
                    EXPECT_NE(above[b].workLook, Look::None);
                }
            }
        }
    }
}

// Rounding of shares may not add up on the way to the top.
TEST(Pyramid, TheTopStillTellsTheShareOfAll) {
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        const std::vector<RowPiece> pieces = randomPieces(seed, 200'000, 100);
        const Pyramid pyramid{Pieces(pieces)};
        const std::size_t top = pyramid.levels() - 1;
        const double share = static_cast<double>(timeIn(pieces, 0, pyramid.widthOf(top), isWork)) /
                             static_cast<double>(pyramid.widthOf(top));
        EXPECT_NEAR(pyramid.level(top)[0].work / 255.0, share, 0.01) << pyramid.levels() << " levels";
    }
}

TEST(Pyramid, FindsTheLevelAndTheBucketOfAnInstant) {
    const Pyramid pyramid{Pieces(randomPieces(3, 5000, 40))};
    for (std::size_t level = 0; level + 1 < pyramid.levels(); ++level) {
        const auto width = static_cast<double>(pyramid.widthOf(level));
        EXPECT_EQ(pyramid.levelFor(width), level);
        EXPECT_EQ(pyramid.levelFor(width + 0.5), level + 1);
        const std::int64_t time = pyramid.widthOf(level) * 3 + pyramid.widthOf(level) / 2;
        if (pyramid.level(level).size() > 3) {
            EXPECT_EQ(pyramid.at(level, time), pyramid.level(level)[3]);
        }
    }
    EXPECT_EQ(pyramid.levelFor(1e300), pyramid.levels() - 1);
    EXPECT_EQ(pyramid.at(0, -1), Bucket{});
    EXPECT_EQ(pyramid.at(0, std::int64_t{1} << 60), Bucket{});
    EXPECT_EQ(pyramid.at(pyramid.levels(), 0), Bucket{});
}

TEST(Pyramid, TakesAboutTwoBucketsAPiece) {
    const std::vector<RowPiece> pieces = randomPieces(9, 100'000, 100);
    EXPECT_LE(Pyramid(Pieces(pieces)).bytes(), pieces.size() * sizeof(Bucket) * 5);
}

}  // namespace
}  // namespace shardscope::gui
