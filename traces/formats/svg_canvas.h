#pragma once

// SVG text being written: rectangles and words with two decimals at most, everything escaped.

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope::formats {

class SvgCanvas {
public:
    /// `classes` are CSS classes of picture_style.
    void rect(double x, double y, double width, double height, std::string_view classes, std::string_view tip = {});
    void text(double x, double y, double size, std::string_view classes, std::string_view words,
              std::string_view colour = {}, std::string_view halo = {});
    void line(double x1, double y1, double x2, double y2, std::string_view classes);
    void path(std::string_view d, std::string_view classes);
    void circle(double x, double y, double radius, std::string_view fill);
    void raw(std::string_view markup) { m_out.append(markup.data(), markup.data() + markup.size()); }

    [[nodiscard]] std::string_view markup() const { return {m_out.data(), m_out.size()}; }

private:
    fmt::memory_buffer m_out;
};

/// "12.3": at most two decimals, no trailing zeros.
void appendNumber(fmt::memory_buffer& out, double value);

/// Many small rectangles of one look in one path element.
class RectPath {
public:
    void add(double x, double y, double width, double height);
    [[nodiscard]] bool empty() const { return m_d.size() == 0; }
    [[nodiscard]] std::string_view d() const { return {m_d.data(), m_d.size()}; }

private:
    fmt::memory_buffer m_d;
};

}  // namespace shardscope::formats
