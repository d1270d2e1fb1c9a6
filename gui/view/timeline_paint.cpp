// How the timeline is painted: image rows and words into a base that is kept, what moves on top of it.

#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "cli/face/text_picture.h"
#include "cli/face/words.h"
#include "gui/view/messages.h"
#include "gui/view/timeline_view.h"
#include "gui/view/words.h"

namespace shardscope::gui {

using formats::Look;
using formats::RowPiece;

void TimelineView::paintHeader(QPainter& painter, const Strip& strip, int y) const {
    const cli::PlanReport& plan = m_state.plan(strip.plan);
    const bool ofRun = m_state.plans()[strip.plan].ofRun();
    const formats::PictureText& text = pictureText();
    QFont large = font();
    large.setBold(true);
    large.setPointSizeF(font().pointSizeF() * 1.15);
    painter.setFont(large);
    painter.setPen(m_theme.text);
    const int line = fontMetrics().height();
    const QString name = m_state.titleOf(strip.plan);
    const int baseline = y + line + 2;
    painter.drawText(10, baseline, name);
    const int after = 10 + QFontMetrics(large).horizontalAdvance(name + QStringLiteral("   "));
    painter.setFont(font());
    painter.setPen(m_theme.peak);
    const auto percent = [](double share) { return std::to_string(std::lround(share * 100)); };
    QString headline = toQString(
        formats::fill(ofRun ? text.runHeadline : text.headline, percent(plan.shareOf(plan.allRanks.compute))));
    headline += toQString(formats::fill(text.transferShare, percent(plan.shareOf(plan.allRanks.transfer))));
    headline += toQString(formats::fill(text.waitShare, percent(plan.shareOf(plan.allRanks.gpuWaits()))));
    painter.drawText(after, baseline, headline);
    painter.setPen(m_theme.mutedText);
    painter.drawText(
        10, baseline + line,
        (m_state.plans()[strip.plan].kept ? tr("Kept for comparison:") + u' ' : QString()) +
            (plan.graph ? toQString(cli::planInWords(plan.setup, std::string(text.language))) + QStringLiteral("   ")
                        : QString()) +
            (plan.name == cli::kMeasured ? tr("last step %1").arg(toQString(cli::durationText(plan.stepNs)))
                                         : toQString(formats::fill(text.step, cli::durationText(plan.stepNs)))));
}

void TimelineView::paintMemoryWords(QPainter& painter, const Strip& strip, int y) const {
    const LaneSet& set = m_state.lanes(strip.plan);
    const formats::PictureText& text = pictureText();
    const QRect area = plot();
    const std::int64_t most = memoryTop();
    const auto yOf = [&](std::int64_t bytes) {
        return y + strip.height -
               static_cast<int>(std::lround(static_cast<double>(bytes) / static_cast<double>(most) * strip.height));
    };
    painter.setPen(m_theme.text);
    painter.drawText(QRect(0, y, area.left() - 8, fontMetrics().height()), Qt::AlignRight, toQString(text.memory));
    painter.setPen(m_theme.mutedText);
    painter.drawText(QRect(0, y + fontMetrics().height(), area.left() - 8, fontMetrics().height()), Qt::AlignRight,
                     inWindowsLanguage(set.timeline->strings[set.timeline->ranks[set.memoryRank].name]));
    painter.setPen(m_theme.axis);
    painter.drawLine(area.left(), y + strip.height, area.right(), y + strip.height);
    const QString capacity = toQString(formats::fill(text.capacity, cli::bytesText(set.capacity)));
    if (set.capacity > 0 && set.capacity <= most) {
        painter.setPen(QPen(m_theme.peak, 2, Qt::DashLine));
        painter.drawLine(area.left(), yOf(set.capacity), area.right(), yOf(set.capacity));
        painter.drawText(area.left() + 6, yOf(set.capacity) + fontMetrics().ascent() + 2, capacity);
    }
    const auto peak = static_cast<std::size_t>(set.peak);
    const double x = xOf(m_state.toAxis(strip.plan, static_cast<double>(set.memory.time[peak])));
    QString words = toQString(formats::fill(text.peak, cli::bytesText(set.memory.total[peak])));
    if (set.capacity > most) words += QStringLiteral(", ") + capacity;
    if (x < area.left() || x > area.right()) return;
    painter.setPen(m_theme.peak);
    painter.setBrush(m_theme.peak);
    painter.drawEllipse(QPointF(x, yOf(set.memory.total[peak])), 3.5, 3.5);
    const int width = fontMetrics().horizontalAdvance(words);
    int left = static_cast<int>(x) + 8;
    // The line at the end of the step does not run through them.
    const double end = xOf(m_state.toAxis(strip.plan, static_cast<double>(m_state.plan(strip.plan).stepNs)));
    if (left < end + 4 && left + width > end - 4) left = static_cast<int>(end) + 8;
    if (left + width > area.right()) left = std::max(area.left() + 4, static_cast<int>(x) - 8 - width);
    painter.setPen(m_theme.text);
    painter.drawText(left, std::max(y + fontMetrics().ascent(), yOf(set.memory.total[peak]) - 4), words);
}

/// Canvas and grid lines: the same in every row.
std::vector<QRgb> TimelineView::backgroundRow(const QImage& image) const {
    std::vector<QRgb> row(static_cast<std::size_t>(image.width()), m_theme.canvas.rgb());
    if (m_state.plans().empty()) return row;
    const double ratio = image.devicePixelRatio();
    const TimeRange& range = m_state.view().range();
    const double tick = tickOf(range.length(), std::max(2, plot().width() / 110));
    for (double t = std::ceil(range.begin / tick) * tick; t <= range.end; t += tick) {
        const auto x = std::lround(std::floor(xOf(t)) * ratio);
        for (auto i = x; i < x + std::max(1L, std::lround(ratio)); ++i)
            if (i >= 0 && i < image.width()) row[static_cast<std::size_t>(i)] = m_theme.grid.rgb();
    }
    return row;
}

void TimelineView::paintBase(QPainter& painter, QImage& image, int offset, int height) {
    const double ratio = image.devicePixelRatio();
    const QRect area = plot();
    // Strip by strip, while its rows are still in the processor's cache.
    const std::vector<QRgb> background = backgroundRow(image);
    int filled = 0;
    const auto fillTo = [&](double bottom) {
        for (; filled < std::min(image.height(), static_cast<int>(std::ceil(bottom * ratio))); ++filled)
            std::ranges::copy(background, reinterpret_cast<QRgb*>(image.scanLine(filled)));
    };
    std::vector<DrawnPiece> wide;
    painter.setFont(font());
    for (const Strip& strip : m_strips) {
        const int y = strip.top - offset;
        if (y + strip.height < 0 || y > height) continue;
        fillTo(y + strip.height + 1);
        const LaneSet& set = m_state.lanes(strip.plan);
        const TimeRange range = planRange(strip.plan);
        const QRect device(static_cast<int>(std::lround(area.left() * ratio)), static_cast<int>(std::lround(y * ratio)),
                           static_cast<int>(std::lround(area.width() * ratio)),
                           static_cast<int>(std::lround(strip.height * ratio)));
        if (strip.kind == Strip::Kind::Header) {
            paintHeader(painter, strip, y);
        } else if (strip.kind == Strip::Kind::Memory) {
            // To the end of its step, and no further.
            const double perPixel = range.length() / std::max(1, device.width());
            const auto step = static_cast<double>(m_state.plan(strip.plan).stepNs);
            const int columns = static_cast<int>(
                std::lround(std::clamp((step - range.begin) / perPixel, 0.0, static_cast<double>(device.width()))));
            paintMemory(image, {device.topLeft(), QSize(columns, device.height())}, set.memory, memoryTop(),
                        {range.begin, range.begin + columns * perPixel}, m_theme);
            paintMemoryWords(painter, strip, y);
        } else {
            const Lane& lane = set.lanes[strip.lane];
            wide.clear();
            const int wideFrom = static_cast<int>(ratio * 5 * fontMetrics().averageCharWidth());
            paintLane(image, device, lane, range, m_theme, lane.kind == Lane::Kind::State ? &wide : nullptr, wideFrom);
            paintLaneWords(painter, strip, y, wide);
        }
    }
    fillTo(height);
    // Where every step ends.
    for (std::size_t p = 0; p < m_state.plans().size(); ++p) {
        const double x = xOf(m_state.toAxis(p, static_cast<double>(m_state.plan(p).stepNs)));
        if (x < area.left() || x > area.right() + 1) continue;
        int top = height, bottom = 0;
        for (const Strip& strip : m_strips)
            if (strip.plan == p && strip.kind != Strip::Kind::Header) {
                top = std::min(top, strip.top - offset);
                bottom = std::max(bottom, strip.top + strip.height - offset);
            }
        painter.setPen(QPen(m_theme.text, 2));
        painter.drawLine(QPointF(x, top), QPointF(x, bottom));
    }
}

TimelineView::Label TimelineView::labelOn(const LaneSet& set, const RowPiece& piece, int room) {
    const auto fits = [&](const QString& words) { return m_texts.widthOf(font(), words) <= room; };
    if (!isGap(piece.look)) {
        if (piece.span == timeline::kNoIndex) return {};
        const QString unit = inWindowsLanguage(set.timeline->strings[set.timeline->spans.unit[piece.span]]);
        return fits(unit) ? Label{unit, {}} : Label{};
    }
    const GapWords words = gapWords(set, piece);
    if (!fits(words.word)) return {};
    if (fits(words.sentence)) {
        // By itself, so that sentences of many lengths of time are one picture.
        const QString time = QStringLiteral(", ") + toQString(cli::durationText(piece.end - piece.begin));
        const int left = room - m_texts.widthOf(font(), words.sentence);
        return {words.sentence, m_texts.widthOf(font(), time) <= left ? time : QString()};
    }
    if (fits(words.cause)) return {words.cause, {}};
    // Without its middle: the unit's number is at its end. In few lengths, since every text is shaped once.
    for (const qsizetype length : {48, 32, 24, 16, 12}) {
        if (length >= words.cause.size()) continue;
        const QString elided =
            words.cause.left(length - length / 3 - 1) + QChar(0x2026) + words.cause.right(length / 3);
        if (fits(elided)) return {elided, {}};
    }
    return {words.word, {}};
}

/// The name of a lane, what its wide pieces are, and its share of work.
void TimelineView::paintLaneWords(QPainter& painter, const Strip& strip, int y, const std::vector<DrawnPiece>& wide) {
    const LaneSet& set = m_state.lanes(strip.plan);
    const Lane& lane = set.lanes[strip.lane];
    const QRect area = plot();
    const double ratio = painter.device()->devicePixelRatioF();
    const bool state = lane.kind == Lane::Kind::State;
    const auto widthOf = [&](const QString& words) { return m_texts.widthOf(font(), words); };
    QString name = labelOf(strip);
    if (widthOf(name) > area.left() - 12) name = fontMetrics().elidedText(name, Qt::ElideMiddle, area.left() - 12);
    m_texts.draw(painter, QRect(0, y, area.left() - 8, strip.height), Qt::AlignRight | Qt::AlignVCenter, name,
                 state ? m_theme.text : m_theme.mutedText);
    if (!state) return;
    for (const DrawnPiece& drawn : wide) {
        const RowPiece& piece = drawn.piece;
        const QRect rect(static_cast<int>(drawn.rect.left() / ratio), y, static_cast<int>(drawn.rect.width() / ratio),
                         strip.height);
        const auto [words, time] = labelOn(set, piece, rect.width() - 8);
        if (words.isEmpty()) continue;
        if (!isGap(piece.look)) {
            m_texts.draw(painter, rect, Qt::AlignCenter, words, m_theme.of(piece.look).text);
            continue;
        }
        // Words on a pattern need a plain ground.
        const int width = widthOf(words) + (time.isEmpty() ? 0 : widthOf(time)) + 6;
        const QRect ground(rect.center().x() - width / 2, rect.bottom() - fontMetrics().height(), width,
                           fontMetrics().height());
        painter.fillRect(ground, m_theme.of(piece.look).colour);
        const QRect inside = ground.adjusted(3, 0, -3, 0);
        m_texts.draw(painter, inside, Qt::AlignLeft | Qt::AlignVCenter, words, m_theme.text);
        if (!time.isEmpty()) m_texts.draw(painter, inside, Qt::AlignRight | Qt::AlignVCenter, time, m_theme.text);
    }
    m_texts.draw(painter, QRect(area.right() + 6, y, viewport()->width() - area.right() - 8, strip.height),
                 Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("%1 %").arg(std::lround(100 * lane.work)),
                 m_theme.text);
}

void TimelineView::renderBase() {
    const double ratio = devicePixelRatioF();
    const QSize size = viewport()->size();
    const QSize pixels(static_cast<int>(std::ceil(size.width() * ratio)),
                       static_cast<int>(std::ceil(size.height() * ratio)));
    if (m_base.size() != pixels) m_base = QImage(pixels, QImage::Format_RGB32);
    m_base.setDevicePixelRatio(ratio);
    QPainter painter(&m_base);
    painter.setRenderHint(QPainter::Antialiasing);
    paintBase(painter, m_base, verticalScrollBar()->value(), size.height());
    m_baseValid = true;
}

QImage TimelineView::wholePicture() {
    const double ratio = devicePixelRatioF();
    const int height = m_height + axisHeight();
    QImage image(QSize(static_cast<int>(viewport()->width() * ratio), static_cast<int>(height * ratio)),
                 QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    image.fill(m_theme.canvas);
    QPainter painter(&image);
    painter.setRenderHint(QPainter::Antialiasing);
    paintBase(painter, image, 0, m_height);
    painter.translate(0, height - viewport()->height());
    paintAxis(painter);
    return image;
}

void TimelineView::paintAxis(QPainter& painter) {
    const QRect area = plot();
    const int top = viewport()->height() - axisHeight();
    painter.fillRect(0, top, viewport()->width(), axisHeight(), m_theme.canvas);
    painter.setPen(m_theme.axis);
    painter.drawLine(area.left(), top, area.right(), top);
    const TimeRange& range = m_state.view().range();
    const double tick = tickOf(range.length(), std::max(2, area.width() / 110));
    for (double t = std::ceil(range.begin / tick) * tick; t <= range.end; t += tick) {
        const double x = xOf(t);
        painter.drawLine(QPointF(x, top), QPointF(x, top + 4));
        const QString words =
            std::abs(t) < tick / 2 ? QStringLiteral("0") : toQString(cli::durationText(std::llround(t)));
        m_texts.draw(painter, QRect(static_cast<int>(std::lround(x)) - 60, top + 5, 120, axisHeight() - 5),
                     Qt::AlignHCenter | Qt::AlignTop, words, m_theme.axis);
    }
}

void TimelineView::paintLinks(QPainter& painter) const {
    const auto selected = m_state.selection();
    if (!selected) return;
    const auto piece = m_state.pieceOf(*selected);
    const auto from = rectOf(*selected);
    if (!piece || !from || piece->span == timeline::kNoIndex) return;
    const timeline::Timeline& t = *m_state.lanes(selected->plan).timeline;
    int drawn = 0;
    constexpr int kMostLinks = 24;
    for (const timeline::Flow& flow : t.flows) {
        const bool waitsFor = flow.to == piece->span, waitedFor = flow.from == piece->span;
        if (!waitsFor && !waitedFor) continue;
        const auto other = m_state.findSpan(selected->plan, waitsFor ? flow.from : flow.to);
        const auto rect = other ? rectOf(*other) : std::nullopt;
        if (!rect || ++drawn > kMostLinks) continue;
        const QPointF a =
            waitsFor ? QPointF(rect->right(), rect->center().y()) : QPointF(from->right(), from->center().y());
        const QPointF b =
            waitsFor ? QPointF(from->left(), from->center().y()) : QPointF(rect->left(), rect->center().y());
        painter.setPen(QPen(m_theme.selection, 1.5, waitsFor ? Qt::SolidLine : Qt::DashLine));
        painter.drawLine(a, b);
        painter.setBrush(m_theme.selection);
        painter.drawEllipse(b, 2.5, 2.5);
    }
}

std::vector<std::pair<int, int>> TimelineView::bodies() const {
    std::vector<std::pair<int, int>> bodies;
    const int scrolled = verticalScrollBar()->value(), bottom = plot().height();
    for (const Strip& strip : m_strips) {
        if (strip.kind != Strip::Kind::Header) continue;
        const int top = strip.top - scrolled;
        if (!bodies.empty()) bodies.back().second = std::min(top, bottom);
        bodies.emplace_back(std::min(top + strip.height, bottom), bottom);
    }
    return bodies;
}

void TimelineView::paintOverlay(QPainter& painter) const {
    const QRect area = plot();
    painter.setClipRect(QRect(area.left(), 0, area.width(), area.height()));
    paintHighlight(painter);
    const auto parts = bodies();
    const auto drawLine = [&](double time) {
        for (const auto& [top, bottom] : parts)
            if (top < bottom) painter.drawLine(QPointF(xOf(time), top), QPointF(xOf(time), bottom));
    };
    if (const auto range = m_state.range()) {
        QColor shade = m_theme.selection;
        shade.setAlpha(36);
        const double left = xOf(range->begin), right = xOf(range->end);
        for (const auto& [top, bottom] : parts)
            if (top < bottom) painter.fillRect(QRectF(left, top, right - left, bottom - top), shade);
        painter.setPen(QPen(m_theme.selection, 1, Qt::SolidLine, Qt::FlatCap));
        drawLine(range->begin);
        drawLine(range->end);
    }
    if (const auto selected = m_state.selection())
        if (const auto rect = rectOf(*selected)) {
            paintLinks(painter);
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(m_theme.selection, 2));
            painter.drawRect(rect->adjusted(-1, -1, 1, 1));
        }
    // The same op in the other timeline of a run.
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_theme.selection, 2, Qt::DashLine));
    for (const PieceId& twin : m_state.twins())
        if (const auto rect = rectOf(twin)) painter.drawRect(rect->adjusted(-1, -1, 1, 1));
    if (m_state.playHead() > 0) {
        painter.setPen(QPen(m_theme.playHead, 2, Qt::SolidLine, Qt::FlatCap));
        drawLine(m_state.playHead());
    }
    if (const auto cursor = m_state.cursor()) {
        painter.setPen(QPen(m_theme.mutedText, 1, Qt::DotLine, Qt::FlatCap));
        drawLine(*cursor);
    }
    painter.setClipping(false);
    if (hasFocus()) {
        painter.setPen(QPen(m_theme.palette.color(QPalette::Highlight), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
}

}  // namespace shardscope::gui
