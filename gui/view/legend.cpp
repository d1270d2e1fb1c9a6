#include "gui/view/legend.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/lane/raster.h"
#include "gui/view/words.h"

namespace shardscope::gui {

using formats::Look;

Legend::Legend(PageState& state, QWidget* parent)
    : QWidget(parent), m_state(state), m_theme(themeOf(ThemeKind::Light)) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&state, &PageState::answerChanged, this, [this] {
        std::uint32_t looks = 0, categories = 0;
        for (const ShownPlan& plan : m_state.plans()) {
            looks |= plan.lanes().looks;
            categories |= plan.lanes().categories;
        }
        // Ranks of a run are no GPUs.
        const bool runs = !m_state.plans().empty() && std::ranges::all_of(m_state.plans(), &ShownPlan::ofRun);
        if (looks == m_looks && categories == m_categories && runs == m_runs) return;
        m_looks = looks;
        m_categories = categories;
        m_runs = runs;
        collect();
    });
    collect();
}

void Legend::setTheme(const Theme& theme) {
    m_theme = theme;
    update();
}

void Legend::collect() {
    const formats::PictureText& text = pictureText();
    m_entries.clear();
    QStringList all;
    const auto add = [&](bool isMemory, std::size_t kind, std::string_view words) {
        const QString whole = toQString(words);
        // "idle: nothing to do" is what it means; the colour is called idle.
        m_entries.push_back({isMemory, kind, whole.section(QStringLiteral(":"), 0, 0), whole, {}, {}});
        all << whole;
    };
    const std::string exposed = tr("a rank waits for a transfer").toStdString();
    for (std::size_t l = 0; l < formats::kLooks; ++l)
        if ((m_looks >> l & 1) != 0 && static_cast<Look>(l) != Look::None)
            add(false, l, m_runs && static_cast<Look>(l) == Look::Exposed ? exposed : text.looks[l]);
    for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
        if ((m_categories >> c & 1) != 0) add(true, c, text.memoryCategories[c]);
    setAccessibleName(tr("Legend"));
    setAccessibleDescription(all.join(QStringLiteral(", ")));
    layOut();
    update();
}

void Legend::layOut() {
    const QFontMetrics metrics = fontMetrics();
    // Two lines of them as the window begins.
    const int line = metrics.height(), swatch = line * 6 / 5, space = line / 4, gap = line / 2;
    int x = gap, y = 1;
    bool memory = false;
    for (Entry& entry : m_entries) {
        const int words = metrics.horizontalAdvance(entry.words);
        // What memory consists of begins a line.
        const bool first = entry.isMemory && !std::exchange(memory, entry.isMemory);
        if (x > gap && (first || x + swatch + space + words > width())) {
            x = gap;
            y += line + 2;
        }
        if (first) x += metrics.horizontalAdvance(toQString(pictureText().memory)) + gap / 2;
        entry.swatch = QRect(x, y + 1, swatch, line - 2);
        entry.place = QRect(x, y, swatch + space + words, line);
        x += entry.place.width() + gap;
    }
    const int height = y + (m_entries.empty() ? 0 : line + 2);
    if (height == m_height) return;
    m_height = height;
    setFixedHeight(height);
}

QImage Legend::swatchOf(const Entry& entry) const {
    const double ratio = devicePixelRatioF();
    QImage image((QSizeF(entry.swatch.size()) * ratio).toSize(), QImage::Format_RGB32);
    image.fill(m_theme.canvas);
    constexpr std::int64_t kEnd = 1000;
    const TimeRange whole{0, static_cast<double>(kEnd)};
    if (entry.isMemory) {
        MemoryCurve curve;
        MemoryCurve::Bytes bytes{};
        bytes[entry.kind] = 1;
        curve.append(0, bytes);
        paintMemory(image, image.rect(), curve, 1, whole, m_theme);
    } else {
        Lane lane;
        lane.pieces.append({0, kEnd, static_cast<Look>(entry.kind)});
        lane.pyramid = Pyramid(lane.pieces);
        paintLane(image, image.rect(), lane, whole, m_theme);
    }
    image.setDevicePixelRatio(ratio);
    return image;
}

void Legend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QColor words = palette().color(QPalette::WindowText);
    bool memory = false;
    for (const Entry& entry : m_entries) {
        painter.setPen(words);
        if (entry.isMemory && !std::exchange(memory, true))
            painter.drawText(
                QRect(0, entry.place.top(), entry.place.left() - fontMetrics().height() / 4, entry.place.height()),
                Qt::AlignRight | Qt::AlignVCenter, toQString(pictureText().memory));
        painter.drawImage(entry.swatch.topLeft(), swatchOf(entry));
        painter.drawText(entry.place, Qt::AlignRight | Qt::AlignVCenter, entry.words);
    }
}

void Legend::resizeEvent(QResizeEvent* event) {
    layOut();
    QWidget::resizeEvent(event);
}

void Legend::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) collect();
    if (event->type() == QEvent::FontChange) layOut();
    QWidget::changeEvent(event);
}

bool Legend::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto at = std::ranges::find_if(m_entries, [&](const Entry& one) { return one.place.contains(help->pos()); });
    if (at != m_entries.end())
        QToolTip::showText(help->globalPos(), at->what, this);
    else
        QToolTip::hideText();
    return true;
}

}  // namespace shardscope::gui
