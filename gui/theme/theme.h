#pragma once

// Every colour of the window. Work has the same colours in all themes, so that a picture means the same in each; what
// is a gap follows the background.

#include <QColor>
#include <QPalette>
#include <array>

#include "core/graph/step_graph.h"
#include "traces/formats/picture_style.h"

namespace shardscope::gui {

enum class ThemeKind : std::uint8_t { Light, Dark, HighContrast };

/// A fill with its pattern: pixel (x, y) of a shape is tile[y % kTile][x % kTile].
struct Fill {
    static constexpr int kTile = 48;  ///< a multiple of every pattern's period, plain and doubled
    QColor colour, ink, outline;      ///< an invalid outline: none
    QColor text;                      ///< readable on it
    std::array<std::array<QRgb, kTile>, kTile> tile{};
};

struct Theme {
    ThemeKind kind = ThemeKind::Light;
    QPalette palette;  ///< of the widgets
    QColor canvas, grid, axis, text, mutedText, peak, selection, playHead;
    std::array<Fill, formats::kLooks> looks;
    std::array<Fill, core::kMemoryCategories> memory;

    [[nodiscard]] const Fill& of(formats::Look look) const { return looks[static_cast<std::size_t>(look)]; }
    [[nodiscard]] const Fill& of(core::MemoryCategory category) const {
        return memory[static_cast<std::size_t>(category)];
    }
};

/// Patterns are drawn `scale` times as large (the device pixel ratio, rounded).
[[nodiscard]] Theme themeOf(ThemeKind kind, int scale = 1);
/// Dark where the desktop's own palette is dark.
[[nodiscard]] ThemeKind kindOfDesktop(const QPalette& desktop);
/// Contrast as WCAG 2.1 defines it, 1 to 21.
[[nodiscard]] double contrastOf(const QColor& a, const QColor& b);

}  // namespace shardscope::gui
