#include "gui/theme/theme.h"

#include <algorithm>

namespace shardscope::gui {

using formats::Look;
using formats::Pattern;

namespace {

QColor colourOf(std::string_view text) {
    return text.starts_with('#') ? QColor(QString::fromLatin1(text.data(), static_cast<qsizetype>(text.size())))
                                 : QColor();
}

bool inked(Pattern pattern, int x, int y) {
    switch (pattern) {
        case Pattern::Plain: return false;
        case Pattern::Rising: return (x + y) % 8 < 2;
        case Pattern::Falling: return (x - y + Fill::kTile * 8) % 8 < 2;
        case Pattern::Upright: return x % 6 < 2;
        case Pattern::Level: return y % 6 < 2;
        case Pattern::Dots: return x % 6 < 2 && y % 6 < 2;
        case Pattern::Checks: return (x % 6 < 3) == (y % 6 < 3);
        case Pattern::Hatch: return (x + y) % 6 < 1;
    }
    return false;
}

Fill fillOf(QColor colour, Pattern pattern, QColor ink, QColor outline, int scale) {
    Fill fill;
    fill.colour = colour;
    fill.ink = ink;
    fill.outline = outline;
    fill.text = contrastOf(colour, Qt::white) >= 4.5 ? QColor(Qt::white) : QColor(Qt::black);
    for (int y = 0; y < Fill::kTile; ++y)
        for (int x = 0; x < Fill::kTile; ++x)
            fill.tile[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] =
                (inked(pattern, x / scale, y / scale) ? ink : colour).rgb();
    return fill;
}

/// What has neither a colour nor a pattern that stands out from its ground gets an outline that does: its own colour,
/// as much darker (or lighter) as it takes.
void outlineOn(const QColor& ground, Fill& fill) {
    constexpr double kSeen = 3;  // WCAG 2.1, success criterion 1.4.11
    for (const QColor& part : {fill.colour, fill.outline})
        if (part.isValid() && contrastOf(part, ground) >= kSeen) return;
    if (fill.ink.isValid() && contrastOf(fill.ink, ground) >= kSeen) {
        fill.outline = fill.ink;
        return;
    }
    QColor line = fill.colour;
    const bool darker = contrastOf(Qt::black, ground) > contrastOf(Qt::white, ground);
    while (contrastOf(line, ground) < kSeen) line = darker ? line.darker(110) : line.lighter(110);
    fill.outline = line;
}

struct Colours {
    const char *window, *base, *alternate, *text, *muted, *button, *highlight, *highlightText, *link;
    const char *canvas, *grid, *axis, *peak, *selection, *playHead;
    const char *waitFill, *waitInk, *idleFill, *idleOutline, *exposedFill, *exposedInk;
};

constexpr Colours kLight{"#f4f5f7", "#ffffff", "#eef0f3", "#16181d", "#50555e", "#e6e8ec", "#005a9e",
                         "#ffffff", "#005a9e", "#ffffff", "#e3e3e3", "#555555", "#b00020", "#16181d",
                         "#b00020", "#ffffff", "#8c8c8c", "#ffffff", "#b5b5b5", "#eaf7f2", "#3f9f82"};
constexpr Colours kDark{"#22252b", "#1a1c21", "#272b32", "#eceef2", "#aab0bb", "#333842", "#4aa3e0",
                        "#10131a", "#7cc0f0", "#1a1c21", "#33373f", "#a0a6b0", "#ff8a80", "#ffffff",
                        "#ff8a80", "#22252b", "#868c96", "#1a1c21", "#717885", "#1d3a33", "#4fae92"};
constexpr Colours kContrast{"#000000", "#000000", "#101010", "#ffffff", "#ffffff", "#1c1c1c", "#ffe14d",
                            "#000000", "#9ad7ff", "#000000", "#5a5a5a", "#ffffff", "#ffb3ad", "#ffff00",
                            "#ffff00", "#000000", "#ffffff", "#000000", "#b0b0b0", "#003d2e", "#8fffd6"};

const Colours& coloursOf(ThemeKind kind) {
    return kind == ThemeKind::Light ? kLight : kind == ThemeKind::Dark ? kDark : kContrast;
}

QPalette paletteOf(const Colours& c) {
    QPalette palette;
    palette.setColor(QPalette::Window, QColor(c.window));
    palette.setColor(QPalette::WindowText, QColor(c.text));
    palette.setColor(QPalette::Base, QColor(c.base));
    palette.setColor(QPalette::AlternateBase, QColor(c.alternate));
    palette.setColor(QPalette::Text, QColor(c.text));
    palette.setColor(QPalette::PlaceholderText, QColor(c.muted));
    palette.setColor(QPalette::Button, QColor(c.button));
    palette.setColor(QPalette::ButtonText, QColor(c.text));
    palette.setColor(QPalette::BrightText, QColor(c.text));
    palette.setColor(QPalette::ToolTipBase, QColor(c.alternate));
    palette.setColor(QPalette::ToolTipText, QColor(c.text));
    palette.setColor(QPalette::Highlight, QColor(c.highlight));
    palette.setColor(QPalette::HighlightedText, QColor(c.highlightText));
    palette.setColor(QPalette::Link, QColor(c.link));
    palette.setColor(QPalette::LinkVisited, QColor(c.link));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, QColor(c.muted));
    return palette;
}

}  // namespace

double contrastOf(const QColor& a, const QColor& b) {
    const std::string x = a.name().toStdString(), y = b.name().toStdString();
    return formats::contrast(x, y);
}

Theme themeOf(ThemeKind kind, int scale) {
    const Colours& c = coloursOf(kind);
    scale = std::clamp(scale, 1, 2);  // a tile holds a whole number of periods of either
    Theme theme;
    theme.kind = kind;
    theme.palette = paletteOf(c);
    theme.canvas = QColor(c.canvas);
    theme.grid = QColor(c.grid);
    theme.axis = QColor(c.axis);
    theme.text = QColor(c.text);
    theme.mutedText = QColor(c.muted);
    theme.peak = QColor(c.peak);
    theme.selection = QColor(c.selection);
    theme.playHead = QColor(c.playHead);
    for (std::size_t l = 0; l < formats::kLooks; ++l) {
        const formats::Style& style = formats::styleOf(static_cast<Look>(l));
        QColor colour = colourOf(style.fill), ink = colourOf(style.ink), outline = colourOf(style.outline);
        switch (static_cast<Look>(l)) {
            case Look::Waiting:
                colour = QColor(c.waitFill);
                ink = outline = QColor(c.waitInk);
                break;
            case Look::Idle:
                colour = QColor(c.idleFill);
                outline = QColor(c.idleOutline);
                break;
            case Look::Exposed:
                colour = QColor(c.exposedFill);
                ink = outline = QColor(c.exposedInk);
                break;
            case Look::None: colour = QColor(c.canvas); break;
            default: break;
        }
        theme.looks[l] = fillOf(colour, style.pattern, ink, outline, scale);
        const auto look = static_cast<Look>(l);
        if (look != Look::None && look != Look::Idle) outlineOn(theme.canvas, theme.looks[l]);
    }
    for (std::size_t m = 0; m < core::kMemoryCategories; ++m) {
        const formats::Style& style = formats::styleOf(static_cast<core::MemoryCategory>(m));
        theme.memory[m] = fillOf(colourOf(style.fill), style.pattern, colourOf(style.ink), QColor(), scale);
        outlineOn(theme.canvas, theme.memory[m]);
    }
    return theme;
}

ThemeKind kindOfDesktop(const QPalette& desktop) {
    return desktop.color(QPalette::Window).lightness() < 128 ? ThemeKind::Dark : ThemeKind::Light;
}

}  // namespace shardscope::gui
