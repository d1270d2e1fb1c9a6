// The picture, and what keys and the pointer do to it.

#include <QScrollBar>
#include <QWheelEvent>

#include "gui/view/details_panel.h"
#include "gui/view/range_panel.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

QImage pictureOf(MainWindow& window) {
    return window.timeline().viewport()->grab().toImage();
}

// Wider than the panels can ask for: a window that they stretch takes its size a little later.
constexpr QSize kRoom(1400, 900);

TEST(Timeline, TheSameStateIsTheSamePicture) {
    OpenWindow window;
    window.resize(kRoom);
    window.openLecture();
    const QImage first = pictureOf(window);
    EXPECT_EQ(first, pictureOf(window));
    window.timeline().setTheme(themeOf(ThemeKind::Light));  // drawn anew, nothing kept
    EXPECT_EQ(first, pictureOf(window));
    OpenWindow other;
    other.resize(kRoom);
    other.openLecture();
    ASSERT_EQ(other.timeline().viewport()->size(), window.timeline().viewport()->size());
    EXPECT_EQ(other.timeline().wholePicture(), window.timeline().wholePicture()) << "another window, the same answer";
}

TEST(Timeline, SteppingForwardAndBackGivesTheSamePictures) {
    OpenWindow window;
    window.openLecture();
    PageState& state = window.state();
    state.step(1);
    ASSERT_TRUE(state.selection().has_value());
    std::vector<QImage> pictures{pictureOf(window)};
    constexpr int kSteps = 12;
    for (int i = 0; i < kSteps; ++i) {
        state.step(1);
        pictures.push_back(pictureOf(window));
        EXPECT_NE(pictures[pictures.size() - 2], pictures.back()) << "a step changes something";
    }
    for (int i = kSteps; i-- > 0;) {
        state.step(-1);
        EXPECT_EQ(pictureOf(window), pictures[static_cast<std::size_t>(i)]) << "back at step " << i;
    }
    state.setPlayHead(0.5 * state.view().end());
    const QImage middle = pictureOf(window);
    state.setPlayHead(0.7 * state.view().end());
    EXPECT_NE(pictureOf(window), middle);
    state.setPlayHead(0.5 * state.view().end());
    EXPECT_EQ(pictureOf(window), middle);
}

TEST(Timeline, KeysWorkByTheirPlaceWhateverTheyType) {
    OpenWindow window;
    window.openLecture();
    TimelineView& view = window.timeline();
    PageState& state = window.state();
    state.zoom(4, state.view().end() / 2);
    struct Case {
        const char* what;
        quint32 scanCode;
        int key;
    };
    // evdev codes of W, S, A, D plus 8; once with no letter, as while Hangul is typed, once by letter alone.
    for (const bool byPlace : {true, false}) {
        const auto type = [&](Case one) { press(view, byPlace ? 0 : one.key, byPlace ? one.scanCode : 0); };
        TimeRange before = state.view().range();
        type({"W", 25, Qt::Key_W});
        EXPECT_LT(state.view().range().length(), before.length());
        type({"S", 39, Qt::Key_S});
        EXPECT_NEAR(state.view().range().length(), before.length(), 1e-6 * before.length());
        before = state.view().range();
        type({"D", 40, Qt::Key_D});
        EXPECT_GT(state.view().range().begin, before.begin);
        type({"A", 38, Qt::Key_A});
        EXPECT_NEAR(state.view().range().begin, before.begin, 1e-6 * before.length());
    }
}

TEST(Timeline, ArrowsStepThroughPiecesAndLanesAndEscapeSelectsNothing) {
    OpenWindow window;
    window.openLecture();
    TimelineView& view = window.timeline();
    PageState& state = window.state();
    EXPECT_FALSE(state.selection().has_value());
    press(view, Qt::Key_Right);
    ASSERT_TRUE(state.selection().has_value());
    EXPECT_EQ(*state.selection(), (PieceId{0, 0, 0}));
    press(view, Qt::Key_Right);
    EXPECT_EQ(*state.selection(), (PieceId{0, 0, 1}));
    press(view, Qt::Key_Left);
    press(view, Qt::Key_Left);
    EXPECT_EQ(*state.selection(), (PieceId{0, 0, 0})) << "there is nothing before the first";
    press(view, Qt::Key_Down);
    EXPECT_GT(state.selection()->lane, 0u);
    press(view, Qt::Key_Up);
    EXPECT_EQ(state.selection()->lane, 0u);
    press(view, Qt::Key_Up);
    EXPECT_EQ(state.selection()->lane, 0u);
    for (int i = 0; i < 100; ++i) press(view, Qt::Key_Down);
    EXPECT_EQ(state.selection()->plan, 1u);
    EXPECT_EQ(state.selection()->lane, state.answer()->lanes[1].lanes.size() - 1) << "the last lane of the last plan";
    state.setRange(TimeRange{1, 2});
    press(view, Qt::Key_Escape);
    EXPECT_FALSE(state.selection().has_value());
    EXPECT_FALSE(state.range().has_value());
}

TEST(Timeline, EveryLaneIsReachedWithStreamsHiddenToo) {
    OpenWindow window;
    window.openLecture();
    window.state().setStreamsShown(false);
    press(window.timeline(), Qt::Key_Right);
    for (int i = 0; i < 20; ++i) {
        const PieceId at = *window.state().selection();
        EXPECT_EQ(window.state().answer()->lanes[at.plan].lanes[at.lane].kind, Lane::Kind::State);
        press(window.timeline(), Qt::Key_Down);
    }
}

TEST(Timeline, ShortcutsReachTheirActions) {
    OpenWindow window;
    window.openLecture();
    window.activateWindow();
    window.timeline().setFocus();
    if (!QTest::qWaitForWindowActive(&window)) GTEST_SKIP() << "this screen makes no window active";
    PageState& state = window.state();
    window.search(QStringLiteral("reduce-scatter"));
    QTest::keyClick(&window.timeline(), Qt::Key_F);
    const TimeRange focused = state.view().range();
    EXPECT_LT(focused.length(), state.view().end() / 10) << "F shows the selection";
    QTest::keyClick(&window.timeline(), Qt::Key_0);
    EXPECT_EQ(state.view().range(), (TimeRange{0, state.view().end()})) << "0 shows everything";
    QTest::keyClick(&window.timeline(), Qt::Key_Left, Qt::AltModifier);
    EXPECT_EQ(state.view().range(), focused) << "Alt+Left goes back";
    QTest::keyClick(&window.timeline(), Qt::Key_Right, Qt::AltModifier);
    EXPECT_EQ(state.view().range(), (TimeRange{0, state.view().end()}));
    const bool streams = state.streamsShown();
    QTest::keyClick(&window.timeline(), Qt::Key_T);
    EXPECT_NE(state.streamsShown(), streams);
    QTest::keyClick(&window.timeline(), Qt::Key_Slash);
    EXPECT_EQ(QApplication::focusWidget(), window.findChild<QWidget*>(QStringLiteral("search")));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_F6);
    EXPECT_EQ(QApplication::focusWidget(), &window.timeline());
}

TEST(Timeline, WheelZoomsMovesAndScrolls) {
    QSettings().clear();
    OpenWindow window;
    window.resize(1200, 500);
    window.openLecture();
    TimelineView& view = window.timeline();
    PageState& state = window.state();
    const QPointF at(view.plot().left() + view.plot().width() * 0.3, 60);
    const auto wheel = [&](int delta, Qt::KeyboardModifiers modifiers) {
        QWheelEvent event(at, view.viewport()->mapToGlobal(at), {}, QPoint(0, delta), Qt::NoButton, modifiers,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(view.viewport(), &event);
    };
    const double instant = view.timeAt(at.x());
    const double length = state.view().range().length();
    wheel(120, Qt::ControlModifier);
    EXPECT_LT(state.view().range().length(), length);
    EXPECT_NEAR(view.timeAt(at.x()), instant, 1e-6 * length) << "what is under the pointer stays there";
    const TimeRange zoomed = state.view().range();
    wheel(-120, Qt::ShiftModifier);
    EXPECT_GT(state.view().range().begin, zoomed.begin);
    EXPECT_NEAR(state.view().range().length(), zoomed.length(), 1e-6 * length);
    const TimeRange moved = state.view().range();
    view.verticalScrollBar()->setValue(0);
    wheel(-120, Qt::NoModifier);
    EXPECT_EQ(state.view().range(), moved);
    EXPECT_GT(view.verticalScrollBar()->value(), 0);
}

TEST(Timeline, ClickSelectsDragMovesAndShiftDragSumsUp) {
    OpenWindow window;
    window.openLecture();
    TimelineView& view = window.timeline();
    PageState& state = window.state();
    const auto strip = std::ranges::find_if(view.strips(), [](const Strip& s) { return s.kind == Strip::Kind::Lane; });
    ASSERT_NE(strip, view.strips().end());
    const QPoint at(view.plot().left() + 3, strip->top + strip->height / 2);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at);
    ASSERT_TRUE(state.selection().has_value());
    EXPECT_EQ(*state.selection(), view.pieceAt(at));
    EXPECT_FALSE(view.wordsAt(at).isEmpty());
    EXPECT_FALSE(window.details().toPlainText().isEmpty());

    state.zoom(2, state.view().end() / 2);
    const TimeRange before = state.view().range();
    const auto drag = [&](Qt::KeyboardModifiers modifiers, QPoint from, QPoint to) {
        QTest::mousePress(view.viewport(), Qt::LeftButton, modifiers, from);
        QMouseEvent move(QEvent::MouseMove, to, view.viewport()->mapToGlobal(QPointF(to)), Qt::LeftButton,
                         Qt::LeftButton, modifiers);
        QApplication::sendEvent(view.viewport(), &move);
        QTest::mouseRelease(view.viewport(), Qt::LeftButton, modifiers, to);
    };
    drag(Qt::NoModifier, at + QPoint(200, 0), at + QPoint(100, 0));
    EXPECT_NEAR(state.view().range().begin - before.begin, 100.0 / view.plot().width() * before.length(), 1);
    EXPECT_FALSE(state.range().has_value());
    const double from = view.timeAt(at.x() + 300), to = view.timeAt(at.x() + 150);
    drag(Qt::ShiftModifier, at + QPoint(300, 0), at + QPoint(150, 0));
    ASSERT_TRUE(state.range().has_value());
    EXPECT_NEAR(state.range()->begin, to, 1);
    EXPECT_NEAR(state.range()->end, from, 1);
    EXPECT_EQ(window.statistics().model().range(), *state.range());
    EXPECT_GT(window.statistics().model().rowCount(), 0);
}

TEST(Timeline, TheLinksOfDetailsLeadToTheOtherOp) {
    OpenWindow window;
    window.openLecture();
    ASSERT_TRUE(window.search(QStringLiteral("reduce-scatter")));
    const auto before = window.state().selection();
    const QString html = window.details().toHtml();
    const auto match = QRegularExpression(QStringLiteral("href=\"(span:[0-9/]+)\"")).match(html);
    ASSERT_TRUE(match.hasMatch()) << html.toStdString();
    window.details().setSource(QUrl(match.captured(1)));
    ASSERT_TRUE(window.state().selection().has_value());
    EXPECT_NE(window.state().selection(), before);
    window.details().setSource(QUrl(QStringLiteral("span:7/999999999")));
    window.details().setSource(QUrl(QStringLiteral("file:///etc/passwd")));
    EXPECT_TRUE(window.state().selection().has_value()) << "a link that leads nowhere changes nothing";
}

}  // namespace
}  // namespace shardscope::gui
