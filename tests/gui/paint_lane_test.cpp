#include <gtest/gtest.h>

#include <QImage>

#include "gui/lane/raster.h"
#include "tests/gui/random_pieces.h"

namespace shardscope::gui {
namespace {

using formats::Look;
using formats::RowPiece;

constexpr QRgb kUntouched = 0xff123456;

QImage blank(int width, int height) {
    QImage image(width, height, QImage::Format_RGB32);
    image.fill(QColor::fromRgb(kUntouched));
    return image;
}

/// Rows of a column that the colours of a look fill, its pattern's ink too.
int rowsOf(const QImage& image, const QRect& rect, int x, const Fill& fill) {
    int rows = 0;
    for (int y = rect.top(); y <= rect.bottom(); ++y) {
        const QRgb pixel = image.pixel(x, y);
        rows += pixel == fill.colour.rgb() || (fill.ink.isValid() && pixel == fill.ink.rgb());
    }
    return rows;
}

/// Forward for the first `share` of every hundred nanoseconds, idle for the rest.
Lane partlyBusy(int hundreds, std::int64_t share) {
    std::vector<RowPiece> pieces;
    for (std::int64_t i = 0; i < hundreds; ++i) {
        pieces.push_back({100 * i, 100 * i + share, Look::Forward});
        pieces.push_back({100 * i + share, 100 * (i + 1), Look::Idle});
    }
    return laneOf(pieces);
}

TEST(PaintLane, WorkOfAQuarterFillsAQuarterOfTheHeight) {
    const Theme theme = themeOf(ThemeKind::Light);
    const Lane lane = partlyBusy(32, 25);
    const QRect rect(3, 5, 32, 40);
    QImage image = blank(40, 50);
    // Two pieces a column: so few are drawn themselves.
    paintLane(image, rect, lane, {0, 3200}, theme);
    for (int x = rect.left(); x <= rect.right(); ++x)
        EXPECT_EQ(rowsOf(image, rect, x, theme.of(Look::Forward)), 10) << "column " << x;
}

TEST(PaintLane, WorkOfAQuarterFillsAQuarterOfTheHeightFromAfarToo) {
    const Theme theme = themeOf(ThemeKind::Light);
    const Lane lane = partlyBusy(1 << 14, 25);
    const QRect rect(0, 0, 64, 40);
    QImage image = blank(64, 40);
    paintLane(image, rect, lane, {0, 100.0 * (1 << 14)}, theme);
    for (int x = 0; x < 64; ++x) EXPECT_NEAR(rowsOf(image, rect, x, theme.of(Look::Forward)), 10, 1) << "column " << x;
}

TEST(PaintLane, WorkStandsAtTheBottom) {
    const Theme theme = themeOf(ThemeKind::Dark);
    const QRect rect(0, 0, 8, 40);
    QImage image = blank(8, 40);
    paintLane(image, rect, partlyBusy(8, 50), {0, 800}, theme);
    for (int x = 0; x < 8; ++x)
        for (int y = 20; y < 40; ++y) EXPECT_EQ(image.pixel(x, y), theme.of(Look::Forward).colour.rgb());
}

TEST(PaintLane, SomeWorkIsNeverInvisible) {
    const Theme theme = themeOf(ThemeKind::Light);
    const Lane lane = laneOf({{0, 1, Look::Forward}, {1, 100'000, Look::Idle}});
    const QRect rect(0, 0, 10, 32);
    QImage image = blank(10, 32);
    paintLane(image, rect, lane, {0, 100'000}, theme);
    EXPECT_GE(rowsOf(image, rect, 0, theme.of(Look::Forward)), 1);
    EXPECT_EQ(rowsOf(image, rect, 5, theme.of(Look::Forward)), 0);
}

// Zooming out may not change how much of the lane is inked.
TEST(PaintLane, FromAfarAsMuchIsInkedAsTheWorkThatThereIs) {
    const Theme theme = themeOf(ThemeKind::Light);
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        std::vector<RowPiece> pieces = randomPieces(seed, 100'000, 100);
        for (RowPiece& piece : pieces) piece.look = isGap(piece.look) ? Look::Idle : Look::Forward;
        const std::int64_t end = pieces.back().end;
        const Lane lane = laneOf(pieces);
        const QRect rect(0, 0, 300, 64);
        QImage image = blank(300, 64);
        paintLane(image, rect, lane, {0, static_cast<double>(end)}, theme);
        double inked = 0;
        for (int x = 0; x < 300; ++x) inked += rowsOf(image, rect, x, theme.of(Look::Forward));
        const double work = static_cast<double>(timeIn(pieces, 0, end, [](Look look) { return !isGap(look); })) /
                            static_cast<double>(end);
        EXPECT_NEAR(inked, work * 300 * 64, 64) << "within one column of " << 300 << ", seed " << seed;
    }
}

// Whatever the zoom: a frame costs columns, not pieces.
TEST(PaintLane, ReadsAtMostOneBucketAColumn) {
    const Theme theme = themeOf(ThemeKind::Dark);
    const std::vector<RowPiece> pieces = randomPieces(6, 200'000, 40);
    const Lane lane = laneOf(pieces);
    const auto end = static_cast<double>(pieces.back().end);
    bool byBuckets = false, byPieces = false;
    for (const int width : {1, 64, 1920})
        for (double part = 1; part > 1e-5; part /= 3) {
            const QRect rect(0, 0, width, 16);
            QImage image = blank(width, 16);
            const LaneReads reads = paintLane(image, rect, lane, {0.3 * end, (0.3 + 0.7 * part) * end}, theme);
            EXPECT_LE(reads.buckets, static_cast<std::size_t>(width)) << width << " columns, " << part;
            EXPECT_LE(reads.pieces, LaneReads::kMostPieces * static_cast<std::size_t>(width));
            byBuckets = byBuckets || reads.buckets > 0;
            byPieces = byPieces || reads.pieces > 0;
        }
    EXPECT_TRUE(byBuckets);
    EXPECT_TRUE(byPieces);
}

TEST(PaintLane, ExactDrawingInksTheWorkThatThereIs) {
    const Theme theme = themeOf(ThemeKind::Light);
    std::vector<RowPiece> pieces = randomPieces(4, 300, 100);
    for (RowPiece& piece : pieces) piece.look = isGap(piece.look) ? Look::None : Look::Forward;
    const std::int64_t end = pieces.back().end;
    const Lane lane = laneOf(pieces);
    const QRect rect(0, 0, 640, 64);
    QImage image = blank(640, 64);
    paintLane(image, rect, lane, {0, static_cast<double>(end)}, theme);
    double inked = 0;
    // Edges of pieces are lines in the canvas' colour, and belong to the work.
    for (int x = 0; x < 640; ++x)
        for (int y = 0; y < 64; ++y) inked += image.pixel(x, y) != kUntouched;
    const double work =
        static_cast<double>(timeIn(pieces, 0, end, [](Look look) { return !isGap(look); })) / static_cast<double>(end);
    EXPECT_NEAR(inked / 64, work * 640, 8);
}

TEST(PaintLane, TouchesNothingOutsideItsRect) {
    const Theme theme = themeOf(ThemeKind::Light);
    const Lane few = partlyBusy(10, 60), many = laneOf(randomPieces(2, 20'000, 30));
    for (const Lane* lane : {&few, &many})
        for (const QRect rect : {QRect(7, 9, 50, 20), QRect(-20, -5, 60, 20), QRect(60, 30, 100, 24)}) {
            QImage image = blank(80, 48);
            const double end = static_cast<double>(lane->pieces.back().end);
            paintLane(image, rect, *lane, {-0.1 * end, 1.1 * end}, theme);
            bool any = false;
            for (int y = 0; y < 48; ++y)
                for (int x = 0; x < 80; ++x) {
                    const bool touched = image.pixel(x, y) != kUntouched;
                    any |= touched;
                    if (touched) {
                        ASSERT_TRUE(rect.contains(x, y)) << x << ", " << y;
                    }
                }
            EXPECT_TRUE(any);
        }
    QImage image = blank(10, 10);
    paintLane(image, QRect(2, 2, 0, 5), few, {0, 100}, theme);
    paintLane(image, QRect(2, 2, 5, 5), Lane{}, {0, 100}, theme);
    EXPECT_EQ(image, blank(10, 10));
}

TEST(PaintLane, TellsWhereWidePiecesLie) {
    const Theme theme = themeOf(ThemeKind::Light);
    const Lane lane = laneOf({{0, 500, Look::Forward}, {500, 510, Look::Backward}, {600, 1000, Look::Idle}});
    QImage image = blank(100, 20);
    std::vector<DrawnPiece> wide;
    paintLane(image, QRect(0, 0, 100, 20), lane, {0, 1000}, theme, &wide, 30);
    ASSERT_EQ(wide.size(), 2u);
    EXPECT_EQ(wide[0].piece.begin, 0);
    EXPECT_EQ(wide[0].rect, QRect(0, 0, 50, 20));
    EXPECT_EQ(wide[1].piece.begin, 600);
    EXPECT_EQ(wide[1].rect, QRect(60, 0, 40, 20));
}

TEST(PaintMemory, HeightIsTheShareOfTheMostAndNothingOutsideIsTouched) {
    MemoryCurve curve;
    curve.append(0, {25});
    curve.append(50, {25, 0, 0, 50});
    QImage image = blank(24, 60);
    const QRect rect(2, 10, 20, 40);
    paintMemory(image, rect, curve, 100, {0, 100}, themeOf(ThemeKind::Light));
    for (int x = 0; x < 24; ++x)
        for (int y = 0; y < 60; ++y) {
            const int height = x < 2 || x > 21 ? 0 : x < 12 ? 10 : 30;
            EXPECT_EQ(image.pixel(x, y) != kUntouched, y >= 50 - height && y < 50) << x << ", " << y;
        }
}

}  // namespace
}  // namespace shardscope::gui
