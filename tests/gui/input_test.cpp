// What hands do: every shortcut, wheels with every modifier, drags over edges, and the keyboard alone.

#include <QApplication>
#include <QDialog>
#include <QDockWidget>
#include <QLineEdit>
#include <QScrollBar>
#include <QTimer>
#include <QWheelEvent>

#include "gui/view/details_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/view/sweep_panel.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

/// Answers whatever dialog opens with Esc.
class Dismiss {
public:
    Dismiss() {
        QObject::connect(&m_timer, &QTimer::timeout, [] {
            if (QWidget* dialog = QApplication::activeModalWidget()) dialog->close();
        });
        m_timer.start(10);
    }

private:
    QTimer m_timer;
};

TEST(Input, EveryShortcutRunsItsActionOnce) {
    const Dismiss dismiss;
    OpenWindow window;
    window.openLecture();
    window.activateWindow();
    window.timeline().setFocus();
    if (!QTest::qWaitForWindowActive(&window)) GTEST_SKIP() << "this screen makes no window active";
    int shortcuts = 0;
    for (QAction* action : window.actions().all())
        for (const QKeySequence& sequence : action->shortcuts()) {
            if (action->objectName() == QLatin1String("quit")) continue;
            ASSERT_EQ(sequence.count(), 1);
            window.actions().find(QStringLiteral("timeline"))->trigger();
            window.activateWindow();  // a dialog that was dismissed had the keyboard
            ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
            window.timeline().setFocus();
            QSignalSpy triggered(action, &QAction::triggered);
            QTest::keyClick(&window.timeline(), sequence[0].key(), sequence[0].keyboardModifiers());
            EXPECT_TRUE(QTest::qWaitFor([&] { return !triggered.isEmpty(); }, 2000))
                << sequence.toString().toStdString() << " of " << action->objectName().toStdString();
            EXPECT_EQ(triggered.count(), 1) << sequence.toString().toStdString();
            ++shortcuts;
        }
    EXPECT_GT(shortcuts, 20);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !window.evaluator().busy(); }, kPatience));
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    window.timeline().setFocus();
    QTest::keyClick(&window.timeline(), Qt::Key_Q, Qt::ControlModifier);
    EXPECT_FALSE(window.isVisible());
}

TEST(Input, EveryActionWithoutAShortcutRuns) {
    const Dismiss dismiss;
    OpenWindow window;
    for (const bool open : {false, true}) {
        if (open) window.openLecture();
        for (QAction* action : window.actions().all())
            if (action->shortcuts().isEmpty()) action->trigger();
        ASSERT_TRUE(QTest::qWaitFor([&] { return !window.evaluator().busy(); }, kPatience));
    }
    window.setScale(100);
    window.setThemeKind(ThemeKind::Light);
    EXPECT_NE(window.state().answer(), nullptr);
}

struct Wheel {
    Qt::KeyboardModifiers modifiers;
    QPoint delta;
    enum class Does : std::uint8_t { ZoomIn, ZoomOut, Left, Right, Up, Down } does;
};

TEST(Input, AWheelDoesOneThingWithEveryModifier) {
    using enum Wheel::Does;
    const Wheel table[] = {{Qt::NoModifier, {0, 120}, Up},
                           {Qt::NoModifier, {0, -120}, Down},
                           {Qt::NoModifier, {120, 0}, Left},
                           {Qt::NoModifier, {-120, 0}, Right},
                           {Qt::ControlModifier, {0, 120}, ZoomIn},
                           {Qt::ControlModifier, {0, -120}, ZoomOut},
                           {Qt::ControlModifier, {120, 0}, ZoomIn},
                           {Qt::ControlModifier | Qt::ShiftModifier, {0, 120}, ZoomIn},
                           {Qt::ControlModifier | Qt::ShiftModifier, {0, -120}, ZoomOut},
                           {Qt::ShiftModifier, {0, 120}, Left},
                           {Qt::ShiftModifier, {0, -120}, Right},
                           {Qt::ShiftModifier, {120, 0}, Left},
                           {Qt::ShiftModifier, {-120, 0}, Right},
                           {Qt::AltModifier, {120, 0}, Left},
                           {Qt::AltModifier, {-120, 0}, Right}};
    QSettings().clear();
    OpenWindow window;
    window.resize(900, 420);
    window.openLecture();
    TimelineView& view = window.timeline();
    PageState& state = window.state();
    ASSERT_GT(view.verticalScrollBar()->maximum(), 20);
    for (const Wheel& row : table) {
        state.fit();
        state.zoom(8, 0.5 * state.view().end());
        view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum() / 2);
        const TimeRange before = state.view().range();
        const int scroll = view.verticalScrollBar()->value();
        const QPointF at(view.plot().center().x(), 60);
        QWheelEvent event(at, view.viewport()->mapToGlobal(at), {}, row.delta, Qt::NoButton, row.modifiers,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(view.viewport(), &event);
        const TimeRange after = state.view().range();
        const std::string which = std::to_string(row.modifiers.toInt()) + ", " + std::to_string(row.delta.x()) + " " +
                                  std::to_string(row.delta.y());
        const int moved = view.verticalScrollBar()->value() - scroll;
        EXPECT_EQ(row.does == ZoomIn, after.length() < 0.99 * before.length()) << which;
        EXPECT_EQ(row.does == ZoomOut, after.length() > 1.01 * before.length()) << which;
        const bool zoomed = row.does == ZoomIn || row.does == ZoomOut;
        if (!zoomed) {
            EXPECT_EQ(row.does == Left, after.begin < before.begin) << which;
            EXPECT_EQ(row.does == Right, after.begin > before.begin) << which;
        }
        EXPECT_EQ(row.does == Up, moved < 0) << which;
        EXPECT_EQ(row.does == Down, moved > 0) << which;
    }
}

void drag(TimelineView& view, Qt::KeyboardModifiers modifiers, QPoint from, const std::vector<QPoint>& way) {
    QTest::mousePress(view.viewport(), Qt::LeftButton, modifiers, from);
    for (const QPoint& to : way) {
        QMouseEvent move(QEvent::MouseMove, to, view.viewport()->mapToGlobal(QPointF(to)), Qt::LeftButton,
                         Qt::LeftButton, modifiers);
        QApplication::sendEvent(view.viewport(), &move);
    }
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, modifiers, way.back());
}

TEST(Input, ADragGoesOverEdgesOfLanesAndOfTheView) {
    OpenWindow window;
    window.openLecture();
    TimelineView& view = window.timeline();
    PageState& state = window.state();
    state.zoom(4, 0.5 * state.view().end());
    const auto first = std::ranges::find_if(view.strips(), [](const Strip& s) { return s.kind == Strip::Kind::Lane; });
    const auto second =
        std::find_if(first + 1, view.strips().end(), [](const Strip& s) { return s.kind == Strip::Kind::Lane; });
    const QPoint from(view.plot().left() + 200, first->top + first->height / 2);
    const QPoint other(from.x() + 80, second->top + second->height / 2);
    // A stretch of time is one of all lanes, wherever the pointer goes meanwhile.
    const double begin = view.timeAt(from.x()), end = view.timeAt(other.x());
    drag(view, Qt::ShiftModifier, from, {from + QPoint(10, 0), other});
    ASSERT_TRUE(state.range().has_value());
    EXPECT_NEAR(state.range()->begin, begin, 1);
    EXPECT_NEAR(state.range()->end, end, 1);
    EXPECT_FALSE(state.selection().has_value());
    // Out of the view and back: what is moved follows the pointer all the way.
    const TimeRange before = state.view().range();
    drag(view, Qt::NoModifier, from, {other, QPoint(-500, -300), QPoint(5000, 4000), from + QPoint(30, 0)});
    EXPECT_FALSE(state.selection().has_value()) << "a drag selects nothing";
    EXPECT_GE(state.view().range().begin, -0.1 * state.view().end() - 1);
    EXPECT_NEAR(state.view().range().length(), before.length(), 1e-6 * before.length());
    view.verticalScrollBar()->setValue(0);
    // A press that moves by less than a hand's tremble is a click.
    drag(view, Qt::NoModifier, from, {from + QPoint(1, 1)});
    EXPECT_TRUE(state.selection().has_value());
    // A stretch that ends outside of the step is cut by nobody, and zooming to it works.
    drag(view, Qt::ShiftModifier, from, {QPoint(-400, from.y())});
    ASSERT_TRUE(state.range().has_value());
    EXPECT_LT(state.range()->begin, state.range()->end);
    state.focusSelection();
    EXPECT_GT(state.view().range().length(), 0);
}

/// All that takes the focus and can be seen, in the window.
std::set<QWidget*> takers(const QWidget& window) {
    std::set<QWidget*> all;
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        if (!(widget->focusPolicy() & Qt::TabFocus) || !widget->isVisible() || !widget->isEnabled()) continue;
        if (widget->focusProxy() != nullptr || widget->objectName().startsWith(QLatin1String("qt_"))) continue;
        if (const auto* tabs = qobject_cast<QTabBar*>(widget); tabs != nullptr && tabs->count() == 0) continue;
        all.insert(widget);
    }
    return all;
}

void expectTabReachesAll(OpenWindow& window) {
    const std::set<QWidget*> wanted = takers(window);
    std::set<QWidget*> reached;
    window.timeline().setFocus(Qt::TabFocusReason);
    for (std::size_t i = 0; i < 2 * wanted.size() + 20; ++i) {
        QWidget* focus = QApplication::focusWidget();
        ASSERT_NE(focus, nullptr);
        reached.insert(focus);
        QTest::keyClick(focus, Qt::Key_Tab);
    }
    for (QWidget* widget : wanted) {
        if (reached.count(widget) > 0) continue;
        ADD_FAILURE() << widget->metaObject()->className() << " \"" << widget->accessibleName().toStdString()
                      << "\" is not reached by Tab";
    }
}

TEST(Input, TabReachesEveryPanelsEveryField) {
    OpenWindow window;
    window.resize(1600, 1000);
    window.activateWindow();
    if (!QTest::qWaitForWindowActive(&window)) GTEST_SKIP() << "this screen makes no window active";
    window.openLecture();
    window.actions().find(QStringLiteral("panels"))->trigger();
    for (const char* dock : {"differences", "sweep"}) {
        window.findChild<QDockWidget*>(QLatin1String(dock))->raise();
        QApplication::processEvents();
        expectTabReachesAll(window);
    }
}

TEST(Input, TheFocusIsSeenInEveryTheme) {
    OpenWindow window;
    window.resize(1600, 1000);
    window.activateWindow();
    if (!QTest::qWaitForWindowActive(&window)) GTEST_SKIP() << "this screen makes no window active";
    window.openLecture();
    for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark, ThemeKind::HighContrast}) {
        window.setThemeKind(kind);
        QApplication::processEvents();
        // Some styles show the focus once a key has moved it.
        window.timeline().setFocus(Qt::TabFocusReason);
        QTest::keyClick(&window.timeline(), Qt::Key_Tab);
        for (QWidget* widget : takers(window)) {
            widget->setFocus(Qt::TabFocusReason);
            if (QApplication::focusWidget() != widget) continue;  // a part of it has it
            QApplication::processEvents();
            const QImage with = widget->grab().toImage();
            widget->clearFocus();
            QApplication::processEvents();
            EXPECT_FALSE(widget->grab().toImage() == with)
                << widget->metaObject()->className() << " \"" << widget->accessibleName().toStdString() << "\", theme "
                << static_cast<int>(kind);
        }
    }
    window.setThemeKind(ThemeKind::Light);
}

TEST(Input, ThePlaceOfAKeyCountsWhileHangulIsTyped) {
    OpenWindow window;
    window.openLecture();
    EXPECT_FALSE(window.timeline().testAttribute(Qt::WA_InputMethodEnabled)) << "keys would go to the input method";
    EXPECT_FALSE(window.timeline().viewport()->testAttribute(Qt::WA_InputMethodEnabled));
    EXPECT_TRUE(window.findChild<QLineEdit*>(QStringLiteral("search"))->testAttribute(Qt::WA_InputMethodEnabled));
    PageState& state = window.state();
    const auto type = [&](quint32 place, const char16_t* hangul) {
        const QString text = QString::fromUtf16(hangul);
        QKeyEvent event(QEvent::KeyPress, text.at(0).unicode(), Qt::NoModifier, place, 0, 0, text);
        QApplication::sendEvent(&window.timeline(), &event);
    };
    state.zoom(4, 0.5 * state.view().end());
    const double length = state.view().range().length(), begin = state.view().range().begin;
    type(25, u"ㅈ");  // W
    EXPECT_LT(state.view().range().length(), length);
    type(39, u"ㄴ");  // S
    EXPECT_NEAR(state.view().range().length(), length, 1e-6 * length);
    type(40, u"ㅇ");  // D
    EXPECT_GT(state.view().range().begin, begin);
    type(38, u"ㅁ");  // A
    EXPECT_NEAR(state.view().range().begin, begin, 1e-6 * length);
}

}  // namespace
}  // namespace shardscope::gui
