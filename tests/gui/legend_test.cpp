// What colours and patterns mean is in sight: a legend that paints as lanes do, and words on the waits themselves.

#include <QHelpEvent>
#include <QToolBar>
#include <QToolTip>
#include <bit>

#include "cli/face/text_picture.h"
#include "gui/view/legend.h"
#include "gui/view/words.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

using formats::Look;

std::set<QRgb> coloursIn(const QImage& image, const QRect& rect) {
    std::set<QRgb> colours;
    for (int y = rect.top(); y <= rect.bottom(); ++y)
        for (int x = rect.left(); x <= rect.right(); ++x) colours.insert(image.pixelColor(x, y).rgb());
    return colours;
}

TEST(Legend, HasEveryKindThatIsOnThePageAndNoOther) {
    OpenWindow window;
    EXPECT_TRUE(window.legend().entries().empty());
    for (int sample = 0; sample < 3; ++sample) {
        window.await([&] { window.openSample(sample); });
        std::set<std::pair<bool, std::size_t>> wanted, shown;
        for (const ShownPlan& plan : window.state().plans()) {
            for (const Lane& lane : plan.lanes().lanes)
                for (const formats::RowPiece& piece : lane.pieces)
                    if (piece.look != Look::None) wanted.emplace(false, static_cast<std::size_t>(piece.look));
            for (const MemoryCurve::Bytes& bytes : plan.lanes().memory.bytes)
                for (std::size_t c = 0; c < bytes.size(); ++c)
                    if (bytes[c] > 0) wanted.emplace(true, c);
        }
        for (const Legend::Entry& entry : window.legend().entries()) {
            EXPECT_TRUE(shown.emplace(entry.isMemory, entry.kind).second) << "twice: " << entry.words.toStdString();
            EXPECT_FALSE(entry.words.isEmpty());
        }
        EXPECT_EQ(shown, wanted) << "sample " << sample;
        EXPECT_GT(wanted.size(), 10U);
    }
}

TEST(Legend, PaintsAsLanesDoInEveryTheme) {
    OpenWindow window;
    window.resize(1280, 800);
    window.openLecture();
    for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark, ThemeKind::HighContrast}) {
        window.setThemeKind(kind);
        QApplication::processEvents();
        ASSERT_TRUE(window.legend().isVisible());
        const QImage image = window.legend().grab().toImage();
        const Theme theme = themeOf(kind);
        std::set<std::set<QRgb>> seen;
        for (const Legend::Entry& entry : window.legend().entries()) {
            const Fill& fill = entry.isMemory ? theme.memory[entry.kind] : theme.looks[entry.kind];
            const std::set<QRgb> colours = coloursIn(image, entry.swatch);
            EXPECT_TRUE(colours.contains(fill.colour.rgb())) << entry.words.toStdString();
            if (fill.ink.isValid()) {
                EXPECT_TRUE(colours.contains(fill.ink.rgb())) << "without its pattern: " << entry.words.toStdString();
            }
            if (!entry.isMemory && fill.outline.isValid()) {
                EXPECT_TRUE(colours.contains(fill.outline.rgb())) << entry.words.toStdString();
            }
        }
    }
    window.setThemeKind(ThemeKind::Light);
}

TEST(Legend, IsWholeInBothLanguagesAndSizes) {
    for (const char* language : {"en", "ko"})
        for (const int percent : {100, 200}) {
            OpenWindow window{QLatin1String(language)};
            window.resize(1280 * percent / 100, 800 * percent / 100);
            window.setScale(percent);
            window.openLecture();
            QApplication::processEvents();
            const Legend& legend = window.legend();
            for (std::size_t i = 0; i < legend.entries().size(); ++i) {
                const Legend::Entry& entry = legend.entries()[i];
                EXPECT_TRUE(legend.rect().contains(entry.place)) << language << percent << entry.words.toStdString();
                EXPECT_LE(entry.swatch.width() + legend.fontMetrics().horizontalAdvance(entry.words),
                          entry.place.width());
                for (std::size_t k = 0; k < i; ++k) EXPECT_FALSE(entry.place.intersects(legend.entries()[k].place));
                EXPECT_EQ(entry.words.contains(QRegularExpression(QStringLiteral("[가-힣]"))),
                          QLatin1String(language) == QLatin1String("ko"))
                    << entry.words.toStdString();
            }
            EXPECT_LE(legend.height(), 3 * legend.fontMetrics().height()) << "it leaves the timeline its place";
            window.setScale(100);
        }
}

TEST(Legend, IsHiddenAndShownAndStaysSo) {
    QSettings().clear();
    const auto shown = [](MainWindow& window) { return window.legend().isVisible(); };
    {
        OpenWindow window;
        EXPECT_FALSE(shown(window)) << "there is nothing to explain yet";
        window.openLecture();
        EXPECT_TRUE(shown(window));
        QAction* action = window.actions().find(QStringLiteral("legend"));
        EXPECT_TRUE(action->isChecked());
        action->trigger();
        EXPECT_FALSE(shown(window));
        EXPECT_FALSE(action->isChecked());
        window.close();
    }
    {
        OpenWindow window;
        window.openLecture();
        EXPECT_FALSE(shown(window));
        EXPECT_FALSE(window.actions().find(QStringLiteral("legend"))->isChecked());
        window.actions().find(QStringLiteral("resetLayout"))->trigger();
        EXPECT_TRUE(shown(window));
        EXPECT_TRUE(window.actions().find(QStringLiteral("legend"))->isChecked());
        window.close();
    }
    QSettings().clear();
}

TEST(Legend, SaysWhatAColourMeansWhereThePointerRests) {
    OpenWindow window;
    window.openLecture();
    for (const Legend::Entry& entry : window.legend().entries()) {
        if (entry.isMemory || static_cast<Look>(entry.kind) != Look::Idle) continue;
        EXPECT_EQ(entry.words, QStringLiteral("idle"));
        QHelpEvent help(QEvent::ToolTip, entry.place.center(), window.legend().mapToGlobal(entry.place.center()));
        QApplication::sendEvent(&window.legend(), &help);
        EXPECT_EQ(QToolTip::text(), QStringLiteral("idle: nothing to do"));
        QToolTip::hideText();
        return;
    }
    FAIL() << "naive placement idles at its end";
}

/// The first gap of a plan's lanes with this cause.
std::optional<formats::RowPiece> gapWith(const LaneSet& set, timeline::Cause cause) {
    for (const Lane& lane : set.lanes)
        for (const formats::RowPiece& piece : lane.pieces)
            if (lane.kind == Lane::Kind::State && isGap(piece.look) && piece.cause == cause) return piece;
    return std::nullopt;
}

TEST(Waits, TellTheirCauseAsFarAsThereIsRoom) {
    OpenWindow window;
    window.openLecture();
    TimelineView& view = window.timeline();
    const auto on = [&](std::size_t plan, timeline::Cause cause, int room) {
        const LaneSet& set = window.state().lanes(plan);
        const auto gap = gapWith(set, cause);
        EXPECT_TRUE(gap.has_value());
        const TimelineView::Label label = view.labelOn(set, gap.value_or(formats::RowPiece{}), room);
        EXPECT_LE(view.fontMetrics().horizontalAdvance(label.text) + view.fontMetrics().horizontalAdvance(label.time),
                  room);
        return label.text + label.time;
    };
    using enum timeline::Cause;
    const auto gap = gapWith(window.state().lanes(0), UpstreamStage);
    ASSERT_TRUE(gap.has_value());
    EXPECT_EQ(on(0, UpstreamStage, 600),
              QStringLiteral("waits for the stage before, ") + toQString(cli::durationText(gap->end - gap->begin)));
    EXPECT_EQ(on(0, UpstreamStage, 190), QStringLiteral("waits for the stage before"));
    EXPECT_EQ(on(0, UpstreamStage, 110), QStringLiteral("stage before"));
    EXPECT_EQ(on(0, UpstreamStage, 50), QStringLiteral("waits"));
    EXPECT_EQ(on(0, UpstreamStage, 10), QString());
    // What no GPU waits for is no wait, as the command line has it too.
    EXPECT_TRUE(on(0, PipelineBubble, 600).startsWith(QStringLiteral("idle: nothing left to do, ")));
    EXPECT_EQ(on(0, PipelineBubble, 40), QStringLiteral("idle"));
    const auto gather = gapWith(window.state().lanes(1), AllGather);
    ASSERT_TRUE(gather.has_value());
    const QString unit = toQString(window.state().lanes(1).timeline->strings[gather->causeUnit]);
    ASSERT_FALSE(unit.isEmpty());
    EXPECT_EQ(on(1, AllGather, 900), QStringLiteral("waits for the all-gather of %1, ").arg(unit) +
                                         toQString(cli::durationText(gather->end - gather->begin)));
    const QString narrow = on(1, AllGather, 130);
    EXPECT_TRUE(narrow.startsWith(QStringLiteral("all-gath")) || unit.size() < 6) << narrow.toStdString();
}

TEST(Waits, OfTheFirstSampleSayTheirCauseInTheFirstPicture) {
    for (const char* language : {"en", "ko"}) {
        QSettings().clear();
        OpenWindow window{QLatin1String(language)};
        window.resize(1280, 800);
        window.openLecture();
        TimelineView& view = window.timeline();
        const LaneSet& naive = window.state().lanes(0);
        const QString waits = toQString(pictureText().waits.back());
        int told = 0;
        for (std::size_t l = 0; l < naive.lanes.size(); ++l)
            for (std::size_t i = 0; i < naive.lanes[l].pieces.size(); ++i) {
                const auto rect = view.rectOf(PieceId{0, l, i});
                if (naive.lanes[l].kind != Lane::Kind::State || !rect) continue;
                const formats::RowPiece piece = naive.lanes[l].pieces[i];
                if (!isGap(piece.look)) continue;
                const QString text = view.labelOn(naive, piece, rect->width() - 8).text;
                told += !text.isEmpty() && text != waits;
            }
        EXPECT_GE(told, 7) << language << ": all of the first stage and of the last";
    }
    QSettings().clear();
}

TEST(Bars, NameUnitsAndIdleTimeInTheWindowsLanguage) {
    OpenWindow window(QStringLiteral("ko"));
    window.openLecture();
    const LaneSet& naive = window.state().lanes(0);
    int units = 0, idle = 0;
    for (const Lane& lane : naive.lanes)
        for (const formats::RowPiece& piece : lane.pieces) {
            if (lane.kind != Lane::Kind::State) continue;
            const QString text = window.timeline().labelOn(naive, piece, 900).text;
            if (piece.look == Look::Idle) {
                ++idle;
                EXPECT_TRUE(text.startsWith(QStringLiteral("유휴"))) << text.toStdString();
                EXPECT_TRUE(describePiece(naive, lane, piece).contains(QStringLiteral("유휴")));
            } else if (piece.span != timeline::kNoIndex && !isGap(piece.look) &&
                       naive.timeline->strings[naive.timeline->spans.unit[piece.span]].starts_with("stage ")) {
                ++units;
                EXPECT_TRUE(text.startsWith(QStringLiteral("스테이지 "))) << text.toStdString();
            }
        }
    EXPECT_GT(units, 3);
    EXPECT_GE(idle, 3) << "all stages but the first end early";
}

TEST(Lines, OfTimeLeaveHeadlinesReadable) {
    OpenWindow window;
    window.openLecture();
    TimelineView& view = window.timeline();
    const auto headlines = [&] {
        std::vector<QImage> pictures;
        const QImage all = view.viewport()->grab().toImage();
        for (const Strip& strip : view.strips())
            if (strip.kind == Strip::Kind::Header)
                pictures.push_back(all.copy(view.plot().left(), strip.top, 400, strip.height));
        return pictures;
    };
    // A stretch of time brings its statistics to the front, and they stay there.
    window.state().setRange(TimeRange{1, 2});
    window.state().setRange(std::nullopt);
    QApplication::processEvents();
    const QImage lane = view.viewport()->grab().toImage();
    const std::vector<QImage> before = headlines();
    window.state().setPlayHead(0.3 * window.state().view().end());
    window.state().setCursor(0.2 * window.state().view().end());
    window.state().setRange(TimeRange{0.1 * window.state().view().end(), 0.4 * window.state().view().end()});
    EXPECT_EQ(headlines(), before);
    EXPECT_NE(view.viewport()->grab().toImage(), lane) << "beside them they are drawn";
}

}  // namespace
}  // namespace shardscope::gui
