#include "gui/theme/theme.h"

#include <gtest/gtest.h>

#include "gui/lane/pyramid.h"

namespace shardscope::gui {
namespace {

using formats::Look;
using formats::Pattern;

constexpr ThemeKind kAll[] = {ThemeKind::Light, ThemeKind::Dark, ThemeKind::HighContrast};
constexpr double kReadable = 4.5;  // WCAG 2.1, success criterion 1.4.3

// Figures of WCAG 2.1's own examples: black on white is 21, #777777 on white 4.48.
TEST(Theme, ContrastIsWcags) {
    EXPECT_NEAR(contrastOf(Qt::black, Qt::white), 21, 0.01);
    EXPECT_NEAR(contrastOf(QColor(0x77, 0x77, 0x77), Qt::white), 4.48, 0.01);
    EXPECT_NEAR(contrastOf(Qt::white, QColor(0x77, 0x77, 0x77)), 4.48, 0.01);
}

TEST(Theme, TextIsReadableOnEveryGround) {
    for (const ThemeKind kind : kAll) {
        const Theme theme = themeOf(kind);
        const auto of = [&](QPalette::ColorRole role) { return theme.palette.color(QPalette::Active, role); };
        for (const QColor& ground :
             {of(QPalette::Window), of(QPalette::Base), of(QPalette::AlternateBase), theme.canvas})
            for (const QColor& text : {of(QPalette::WindowText), of(QPalette::Text), of(QPalette::PlaceholderText),
                                       of(QPalette::Link), theme.text, theme.mutedText, theme.peak})
                EXPECT_GE(contrastOf(text, ground), kReadable)
                    << text.name().toStdString() << " on " << ground.name().toStdString() << ", theme "
                    << static_cast<int>(kind);
        EXPECT_GE(contrastOf(of(QPalette::ButtonText), of(QPalette::Button)), kReadable);
        EXPECT_GE(contrastOf(of(QPalette::HighlightedText), of(QPalette::Highlight)), kReadable);
        EXPECT_GE(contrastOf(of(QPalette::ToolTipText), of(QPalette::ToolTipBase)), kReadable);
        EXPECT_GE(contrastOf(theme.axis, theme.canvas), 3) << "lines: success criterion 1.4.11";
        EXPECT_GE(contrastOf(theme.selection, theme.canvas), 3);
        EXPECT_GE(contrastOf(theme.playHead, theme.canvas), 3);
        EXPECT_GE(contrastOf(of(QPalette::Highlight), of(QPalette::Base)), 3) << "the focus is visible";
    }
}

TEST(Theme, WordsOnBarsAreReadable) {
    for (const ThemeKind kind : kAll) {
        const Theme theme = themeOf(kind);
        for (std::size_t l = 0; l < formats::kLooks; ++l) {
            const auto look = static_cast<Look>(l);
            if (look == Look::None) continue;
            const Fill& fill = theme.of(look);
            EXPECT_GE(contrastOf(fill.text, fill.colour), kReadable) << "look " << l;
            if (isGap(look)) {
                EXPECT_GE(contrastOf(theme.text, fill.colour), kReadable) << "look " << l;
            }
        }
    }
}

TEST(Theme, WorkHasTheSameColoursInAll) {
    const Theme light = themeOf(ThemeKind::Light);
    for (const ThemeKind kind : {ThemeKind::Dark, ThemeKind::HighContrast}) {
        const Theme other = themeOf(kind);
        for (std::size_t l = 0; l < formats::kLooks; ++l) {
            if (isGap(static_cast<Look>(l))) continue;
            EXPECT_EQ(other.looks[l].colour, light.looks[l].colour) << "look " << l;
            EXPECT_EQ(other.looks[l].tile, light.looks[l].tile) << "look " << l;
        }
        for (std::size_t m = 0; m < core::kMemoryCategories; ++m)
            EXPECT_EQ(other.memory[m].tile, light.memory[m].tile) << "memory " << m;
    }
}

double luminance(QRgb pixel) {
    return contrastOf(QColor::fromRgb(pixel), Qt::black) * 0.05 - 0.05;
}

/// How far two fills are apart where hue does not count: the pattern, or how light they are.
bool apartInGrey(const Fill& a, const Fill& b) {
    double sumA = 0, sumB = 0;
    std::size_t different = 0;
    for (std::size_t y = 0; y < Fill::kTile; ++y)
        for (std::size_t x = 0; x < Fill::kTile; ++x) {
            const double first = luminance(a.tile[y][x]), second = luminance(b.tile[y][x]);
            sumA += first;
            sumB += second;
            different += std::abs(first - second) > 0.04;
        }
    constexpr double kPixels = Fill::kTile * Fill::kTile;
    const double lighter = std::max(sumA, sumB) / kPixels + 0.05, darker = std::min(sumA, sumB) / kPixels + 0.05;
    return lighter / darker > 1.25 || static_cast<double>(different) > 0.1 * kPixels;
}

TEST(Theme, EveryTwoLooksAreToldApartWithoutHue) {
    for (const ThemeKind kind : kAll) {
        const Theme theme = themeOf(kind);
        for (std::size_t a = 0; a < formats::kLooks; ++a)
            for (std::size_t b = a + 1; b < formats::kLooks; ++b) {
                if (static_cast<Look>(b) == Look::None) continue;
                const bool pattern =
                    formats::styleOf(static_cast<Look>(a)).pattern != formats::styleOf(static_cast<Look>(b)).pattern;
                EXPECT_TRUE(pattern || apartInGrey(theme.looks[a], theme.looks[b]))
                    << "looks " << a << " and " << b << ", theme " << static_cast<int>(kind);
                EXPECT_NE(theme.looks[a].tile, theme.looks[b].tile);
            }
    }
}

TEST(Theme, WaitingIsAsVisibleAsWork) {
    for (const ThemeKind kind : kAll) {
        const Theme theme = themeOf(kind);
        EXPECT_GE(contrastOf(theme.of(Look::Waiting).ink, theme.canvas), 3);
        EXPECT_GE(contrastOf(theme.of(Look::Waiting).outline, theme.canvas), 3);
    }
}

TEST(Theme, PatternsAreTwiceAsLargeOnDenseScreens) {
    const Theme once = themeOf(ThemeKind::Light, 1), twice = themeOf(ThemeKind::Light, 2);
    for (std::size_t l = 0; l < formats::kLooks; ++l)
        for (std::size_t y = 0; y < Fill::kTile; ++y)
            for (std::size_t x = 0; x < Fill::kTile; ++x)
                ASSERT_EQ(twice.looks[l].tile[y][x], once.looks[l].tile[y / 2][x / 2]);
}

TEST(Theme, TilesRepeatWithoutSeam) {
    for (const int scale : {1, 2}) {
        const Theme theme = themeOf(ThemeKind::Light, scale);
        // Rising stripes: the column after the last is the first one again, one row on.
        const auto& tile = theme.of(Look::Gather).tile;
        const auto step = static_cast<std::size_t>(scale);
        for (std::size_t y = 0; y + step < Fill::kTile; ++y)
            for (std::size_t x = 0; x < Fill::kTile; ++x)
                ASSERT_EQ(tile[y][(x + step) % Fill::kTile], tile[y + step][x]) << x << ", " << y;
    }
}

TEST(Theme, FollowsTheDesktop) {
    QPalette dark;
    dark.setColor(QPalette::Window, QColor(30, 30, 30));
    EXPECT_EQ(kindOfDesktop(dark), ThemeKind::Dark);
    EXPECT_EQ(kindOfDesktop(QPalette(QColor(240, 240, 240))), ThemeKind::Light);
}

}  // namespace
}  // namespace shardscope::gui
