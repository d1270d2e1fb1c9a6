#include "traces/formats/picture_style.h"

#include <charconv>
#include <cmath>
#include <iterator>

namespace shardscope::formats {

namespace {

constexpr std::array<Style, kLooks> kStyles = {{
    {"#0072B2", Pattern::Plain, "", ""},
    {"#E69F00", Pattern::Plain, "", ""},
    {"#CC79A7", Pattern::Checks, "#a8507f", ""},
    {"#56B4E9", Pattern::Dots, "#1b5e86", ""},
    {"#009E73", Pattern::Rising, "#8fdcc4", ""},
    {"#7b4ea3", Pattern::Falling, "#cfb4e6", ""},
    {"#009E73", Pattern::Upright, "#8fdcc4", ""},
    {"#4d4d4d", Pattern::Level, "#bdbdbd", ""},
    {"#e3f3fc", Pattern::Dots, "#2b7fb0", "#56B4E9"},
    {"#eaf7f2", Pattern::Rising, "#7fcdb3", "#009E73"},
    {"#ffffff", Pattern::Hatch, "#8c8c8c", "#8c8c8c"},
    {"#ffffff", Pattern::Plain, "", "#b5b5b5"},
    {"none", Pattern::Plain, "", ""},
}};

constexpr std::array<Style, core::kMemoryCategories> kMemoryStyles = {{
    {"#0072B2", Pattern::Plain, "", ""},           // sharded parameters
    {"#56B4E9", Pattern::Rising, "#0072B2", ""},   // unsharded parameters
    {"#D55E00", Pattern::Plain, "", ""},           // sharded gradients
    {"#E69F00", Pattern::Falling, "#D55E00", ""},  // unsharded gradients
    {"#009E73", Pattern::Rising, "#8fdcc4", ""},   // gather buffers
    {"#7b4ea3", Pattern::Falling, "#cfb4e6", ""},  // reduce buffers
    {"#CC79A7", Pattern::Checks, "#a8507f", ""},   // optimizer state
    {"#F0E442", Pattern::Dots, "#8a8200", ""},     // activations
    {"#bdbdbd", Pattern::Upright, "#4d4d4d", ""},  // workspace
}};

double channel(std::string_view colour, std::size_t index) {
    int value = 0;
    std::from_chars(colour.data() + 1 + 2 * index, colour.data() + 3 + 2 * index, value, 16);
    const double c = value / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double luminance(std::string_view colour) {
    return 0.2126 * channel(colour, 0) + 0.7152 * channel(colour, 1) + 0.0722 * channel(colour, 2);
}

void appendPattern(fmt::memory_buffer& out, std::string_view id, const Style& style) {
    const auto print = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
    };
    int size = 8, turn = 0;
    switch (style.pattern) {
        case Pattern::Plain: return;
        case Pattern::Rising: turn = 45; break;
        case Pattern::Falling: turn = -45; break;
        case Pattern::Hatch: size = 6, turn = 45; break;
        case Pattern::Level: size = 6, turn = 90; break;
        case Pattern::Upright: size = 6; break;
        case Pattern::Dots:
        case Pattern::Checks: size = 6; break;
    }
    print("<pattern id=\"{}\" width=\"{}\" height=\"{}\" patternUnits=\"userSpaceOnUse\"", id, size, size);
    if (turn != 0) print(" patternTransform=\"rotate({})\"", turn);
    print("><rect width=\"{}\" height=\"{}\" fill=\"{}\"/>", size, size, style.fill);
    if (style.pattern == Pattern::Dots) {
        print("<circle cx=\"3\" cy=\"3\" r=\"1.1\" fill=\"{}\"/>", style.ink);
    } else if (style.pattern == Pattern::Checks) {
        print("<path d=\"M0 0h3v6h3v-3h-6z\" fill=\"{}\"/>", style.ink);
    } else {
        print("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>", style.pattern == Pattern::Hatch ? 1.3 : 2.0, size,
              style.ink);
    }
    print("</pattern>\n");
}

void appendClass(fmt::memory_buffer& out, std::string_view name, const Style& style) {
    const std::string fill = style.pattern == Pattern::Plain ? std::string(style.fill) : fmt::format("url(#{}p)", name);
    fmt::format_to(std::back_inserter(out), ".{}{{fill:{}", name, fill);
    if (!style.outline.empty()) fmt::format_to(std::back_inserter(out), ";stroke:{};stroke-width:0.8", style.outline);
    fmt::format_to(std::back_inserter(out), "}}\n");
}

template <std::size_t N>
void forEachStyle(char prefix, const std::array<Style, N>& styles, auto visit) {
    for (std::size_t i = 0; i < N; ++i) visit(fmt::format("{}{}", prefix, i), styles[i]);
}

}  // namespace

int indexOf(Look look) {
    return static_cast<int>(look);
}
const Style& styleOf(Look look) {
    return kStyles[static_cast<std::size_t>(look)];
}
const Style& styleOf(core::MemoryCategory category) {
    return kMemoryStyles[static_cast<std::size_t>(category)];
}
std::string_view baseColour(Look look) {
    return styleOf(look).fill;
}
std::string_view baseColour(core::MemoryCategory category) {
    return styleOf(category).fill;
}

double contrast(std::string_view a, std::string_view b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

std::string_view textColourOn(Look look) {
    const std::string_view fill = baseColour(look);
    if (fill.front() != '#') return "#000000";
    return contrast(fill, "#ffffff") >= 4.5 ? "#ffffff" : "#000000";
}

void appendDefinitions(fmt::memory_buffer& out) {
    const auto text = [&](std::string_view s) { out.append(s.data(), s.data() + s.size()); };
    text(
        "<style>\ntext{font-family:\"Noto Sans\",\"Noto Sans KR\",\"Noto Sans CJK KR\",\"DejaVu "
        "Sans\",sans-serif;fill:#111}\n"
        ".e{text-anchor:end}.c{text-anchor:middle}.b{font-weight:bold}.g{fill:#555}.w{fill:#fff}\n"
        ".s{stroke:#fff;stroke-width:0.8}.grid{stroke:#e3e3e3;stroke-width:1}.axis{stroke:#555;stroke-width:1;fill:"
        "none}\n"
        ".end{stroke:#111;stroke-width:2}.cap{stroke:#b00020;stroke-width:2;stroke-dasharray:8 5}\n"
        ".halo{paint-order:stroke;stroke:#fff;stroke-width:6;stroke-linejoin:round}\n"
        ".pale{opacity:0.45}\n");
    forEachStyle('l', kStyles, [&](const std::string& name, const Style& style) { appendClass(out, name, style); });
    forEachStyle('m', kMemoryStyles,
                 [&](const std::string& name, const Style& style) { appendClass(out, name, style); });
    text("</style>\n<defs>\n");
    forEachStyle('l', kStyles,
                 [&](const std::string& name, const Style& style) { appendPattern(out, name + "p", style); });
    forEachStyle('m', kMemoryStyles,
                 [&](const std::string& name, const Style& style) { appendPattern(out, name + "p", style); });
    text("</defs>\n");
}

}  // namespace shardscope::formats
