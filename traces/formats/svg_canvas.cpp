#include "traces/formats/svg_canvas.h"

#include <cmath>
#include <iterator>

#include "traces/formats/text.h"

namespace shardscope::formats {

void appendNumber(fmt::memory_buffer& out, double value) {
    const long long hundredths = std::llround(value * 100);
    const long long whole = hundredths / 100, rest = std::llabs(hundredths % 100);
    const char* sign = hundredths < 0 && whole == 0 ? "-" : "";
    if (rest == 0) {
        fmt::format_to(std::back_inserter(out), "{}{}", sign, whole);
    } else if (rest % 10 == 0) {
        fmt::format_to(std::back_inserter(out), "{}{}.{}", sign, whole, rest / 10);
    } else {
        fmt::format_to(std::back_inserter(out), "{}{}.{:02}", sign, whole, rest);
    }
}

namespace {

void attribute(fmt::memory_buffer& out, std::string_view name, double value) {
    fmt::format_to(std::back_inserter(out), " {}=\"", name);
    appendNumber(out, value);
    out.push_back('"');
}

void classAttribute(fmt::memory_buffer& out, std::string_view classes) {
    if (!classes.empty()) fmt::format_to(std::back_inserter(out), " class=\"{}\"", classes);
}

}  // namespace

void SvgCanvas::rect(double x, double y, double width, double height, std::string_view classes, std::string_view tip) {
    raw("<rect");
    attribute(m_out, "x", x);
    attribute(m_out, "y", y);
    attribute(m_out, "width", width);
    attribute(m_out, "height", height);
    classAttribute(m_out, classes);
    if (tip.empty()) {
        raw("/>\n");
        return;
    }
    raw("><title>");
    appendXml(m_out, tip);
    raw("</title></rect>\n");
}

void SvgCanvas::text(double x, double y, double size, std::string_view classes, std::string_view words,
                     std::string_view colour, std::string_view halo) {
    raw("<text");
    attribute(m_out, "x", x);
    attribute(m_out, "y", y);
    attribute(m_out, "font-size", size);
    classAttribute(m_out, classes);
    if (!colour.empty()) {
        fmt::format_to(std::back_inserter(m_out), " style=\"fill:{}", colour);
        if (!halo.empty()) fmt::format_to(std::back_inserter(m_out), ";stroke:{}", halo);
        raw("\"");
    }
    raw(">");
    appendXml(m_out, words);
    raw("</text>\n");
}

void SvgCanvas::line(double x1, double y1, double x2, double y2, std::string_view classes) {
    raw("<line");
    attribute(m_out, "x1", x1);
    attribute(m_out, "y1", y1);
    attribute(m_out, "x2", x2);
    attribute(m_out, "y2", y2);
    classAttribute(m_out, classes);
    raw("/>\n");
}

void SvgCanvas::path(std::string_view d, std::string_view classes) {
    raw("<path d=\"");
    raw(d);
    raw("\"");
    classAttribute(m_out, classes);
    raw("/>\n");
}

void SvgCanvas::circle(double x, double y, double radius, std::string_view fill) {
    raw("<circle");
    attribute(m_out, "cx", x);
    attribute(m_out, "cy", y);
    attribute(m_out, "r", radius);
    fmt::format_to(std::back_inserter(m_out), " fill=\"{}\"/>\n", fill);
}

void RectPath::add(double x, double y, double width, double height) {
    m_d.push_back('M');
    appendNumber(m_d, x);
    m_d.push_back(' ');
    appendNumber(m_d, y);
    m_d.push_back('h');
    appendNumber(m_d, width);
    m_d.push_back('v');
    appendNumber(m_d, height);
    m_d.push_back('h');
    appendNumber(m_d, -width);
    m_d.push_back('z');
}

}  // namespace shardscope::formats
