#include "traces/formats/picture_lanes.h"

#include <algorithm>

namespace shardscope::formats {

using timeline::Timeline;

namespace {

constexpr double kWide = 4;  ///< px: from here on a piece gets an edge and a tip of its own

/// A copy beside compute is a gap of the compute lane and work of the other one.
bool isGap(Look look, bool isCommunication) {
    return look == Look::Exposed || look == Look::Waiting || look == Look::Idle ||
           (look == Look::Copy && !isCommunication);
}

std::string_view lastPartOf(std::string_view unit) {
    const std::size_t dot = unit.find_last_of("./");
    return dot == std::string_view::npos ? unit : unit.substr(dot + 1);
}

/// From the fullest to the shortest.
std::vector<std::string> labelsOf(const RowPiece& piece, const Timeline& t, const PictureText& text,
                                  bool isCommunication) {
    std::vector<std::string> labels;
    if (!isCommunication && isGap(piece.look, isCommunication)) {
        // Idle without a known reason needs no words; its emptiness says it.
        if (piece.cause == timeline::Cause::Unknown) return labels;
        const std::string_view words = text.waits[static_cast<std::size_t>(piece.cause)];
        labels.push_back(fill(words, t.strings[piece.causeUnit]));
        labels.push_back(fill(words, lastPartOf(t.strings[piece.causeUnit])));
        if (piece.look == Look::Waiting) {
            labels.emplace_back(text.waits[static_cast<std::size_t>(timeline::Cause::Unknown)]);
        }
        return labels;
    }
    if (piece.span == timeline::kNoIndex || isGap(piece.look, isCommunication) || piece.look == Look::None)
        return labels;
    const std::string& unit = t.strings[t.spans.unit[piece.span]];
    const std::string kind(text.looks[static_cast<std::size_t>(piece.look)]);
    if (piece.look == Look::Optimizer || unit.empty()) {
        labels.push_back(kind);
        return labels;
    }
    if (!isCommunication) labels.push_back(fill(text.phaseOf, kind, unit));
    labels.push_back(unit);
    labels.emplace_back(lastPartOf(unit));
    return labels;
}

std::string tipOf(const RowPiece& piece, const Timeline& t, const PictureText& text) {
    std::string tip(text.looks[static_cast<std::size_t>(piece.look)]);
    if (piece.cause != timeline::Cause::Unknown) {
        tip += " (" + fill(text.waits[static_cast<std::size_t>(piece.cause)], t.strings[piece.causeUnit]) + ")";
    } else if (piece.span != timeline::kNoIndex) {
        tip += ": " + t.strings[t.spans.name[piece.span]];
        if (t.spans.bytes[piece.span] > 0) tip += ", " + bytesInWords(t.spans.bytes[piece.span]);
    }
    return tip + ", " + timeInWords(piece.end - piece.begin) + " @ " + timeInWords(piece.begin);
}

}  // namespace

void drawLane(SvgCanvas& canvas, const std::vector<RowPiece>& pieces, const Timeline& t, const PictureText& text,
              const TimeScale& scale, const LaneShape& shape, bool withTips, LooksInUse& used) {
    std::array<RectPath, kLooks> narrow, wide;
    // What waits is said loudly once, on the compute lane.
    const std::string_view pale = shape.isCommunication ? " pale" : "";
    for (const RowPiece& piece : pieces) {
        if (piece.look == Look::None) continue;
        used[static_cast<std::size_t>(piece.look)] = true;
        const double x = scale.x(piece.begin), width = scale.px(piece.end - piece.begin);
        // Backward is lower than forward: a difference in shape beside the one in colour.
        const double inset = piece.look == Look::Backward ? shape.height * 0.14 : 0;
        const double top = shape.top + inset, height = shape.height - inset;
        if (width < kWide) {
            narrow[static_cast<std::size_t>(piece.look)].add(x, top, width, height);
        } else if (withTips) {
            canvas.rect(
                x, top, width, height,
                fmt::format("l{}{}", indexOf(piece.look), isGap(piece.look, shape.isCommunication) ? pale : " s"),
                tipOf(piece, t, text));
        } else {
            wide[static_cast<std::size_t>(piece.look)].add(x, top, width, height);
        }
    }
    for (std::size_t look = 0; look < kLooks; ++look) {
        const bool gap = isGap(static_cast<Look>(look), shape.isCommunication);
        if (!wide[look].empty()) canvas.path(wide[look].d(), fmt::format("l{}{}", look, gap ? pale : " s"));
        if (!narrow[look].empty()) canvas.path(narrow[look].d(), fmt::format("l{}{}", look, gap ? pale : ""));
    }
    const double size = std::min(15.0, shape.height * (shape.isCommunication ? 0.72 : 0.5));
    if (size < 9) return;
    for (const RowPiece& piece : pieces) {
        const double width = scale.px(piece.end - piece.begin);
        if (width < size) continue;
        for (const std::string& label : labelsOf(piece, t, text, shape.isCommunication)) {
            if (label.empty() || textWidth(label, size) + 6 > width) continue;
            // On a pattern the words need a halo: white on gaps, else of the piece's own colour.
            const bool isPlain = piece.look == Look::Forward || piece.look == Look::Backward;
            const double inset = piece.look == Look::Backward ? shape.height * 0.07 : 0;
            const double x = scale.x(piece.begin) + width / 2;
            const double y = shape.top + inset + shape.height / 2 + size * 0.36;
            if (isGap(piece.look, shape.isCommunication)) {
                canvas.text(x, y, size, "c halo", label, "#222222");
            } else {
                canvas.text(x, y, size, isPlain ? "c" : "c b halo", label, textColourOn(piece.look),
                            isPlain ? std::string_view() : baseColour(piece.look));
            }
            break;
        }
    }
}

}  // namespace shardscope::formats
