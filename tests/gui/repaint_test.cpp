// What is drawn in part is what is drawn whole.

#include <QScreen>
#include <random>

#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

/// What the window system was given, not what the view would draw now.
QImage onScreen(TimelineView& view) {
    QApplication::processEvents();
    return view.screen()->grabWindow(view.winId()).toImage();
}

TEST(Repaint, AMovedCursorLeavesThePictureThatAFullDrawGives) {
    OpenWindow opened;
    opened.openLecture();
    TimelineView view(opened.state());
    view.setFocusPolicy(Qt::NoFocus);  // whose frame is part of the picture
    view.resize(900, 700);
    view.show();
    std::mt19937 random(5);
    const double end = opened.state().view().end();
    std::uniform_real_distribution<double> anywhere(-0.05 * end, 1.05 * end);
    bool different = false;
    QImage before = onScreen(view);
    ASSERT_FALSE(before.isNull());
    for (int i = 0; i < 30; ++i) {
        if (i % 3 == 2)
            opened.state().setPlayHead(anywhere(random));
        else
            opened.state().setCursor(i % 10 == 9 ? std::nullopt : std::optional(anywhere(random)));
        if (i % 7 == 6) opened.state().pan(0.1);
        const QImage part = onScreen(view);
        view.viewport()->update();
        ASSERT_EQ(part, onScreen(view)) << "move " << i;
        different |= part != before;
        before = part;
    }
    EXPECT_TRUE(different);
}

// Everything that is kept from one frame to the next is filled in by other views, and must not show in this one.
TEST(Repaint, WhatWasDrawnBeforeDoesNotShow) {
    OpenWindow opened;
    opened.openLecture();
    TimelineView travelled(opened.state());
    travelled.setFocusPolicy(Qt::NoFocus);
    travelled.resize(900, 700);
    travelled.show();
    const double end = opened.state().view().end();
    for (int i = 0; i < 40; ++i) {
        opened.state().zoom(i < 20 ? 1.5 : 1 / 1.4, 0.3 * end);
        QApplication::processEvents();
        if (i % 8 != 7) continue;
        TimelineView fresh(opened.state());
        fresh.setFocusPolicy(Qt::NoFocus);
        fresh.resize(900, 700);
        fresh.show();
        ASSERT_EQ(onScreen(travelled), onScreen(fresh)) << "zoom " << i;
    }
}

}  // namespace
}  // namespace shardscope::gui
