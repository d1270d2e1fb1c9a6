#pragma once

// A window that is shown, and waiting for what it answers.

#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QSignalSpy>
#include <QTest>
#include <functional>

#include "gui/view/timeline_view.h"
#include "gui/window/main_window.h"

namespace shardscope::gui {

constexpr int kPatience = 120'000;  // ms; machines that test are slow and shared

struct OpenWindow : MainWindow {
    explicit OpenWindow(const QString& language = QStringLiteral("en")) {
        setThemeKind(ThemeKind::Light);
        setLanguage(language);
        resize(1200, 800);
        show();
        QApplication::processEvents();
    }
    /// Runs something that simulates, and waits for its answer or error.
    void await(const std::function<void()>& ask) {
        QSignalSpy spy(this, &MainWindow::shown);
        ask();
        if (spy.isEmpty()) {
            ASSERT_TRUE(spy.wait(kPatience)) << "no answer came";
        }
        QApplication::processEvents();
    }
    void openLecture() {
        await([this] { openSample(0); });
        ASSERT_NE(state().answer(), nullptr) << problem().toStdString();
        ASSERT_EQ(problem(), QString());
    }
    [[nodiscard]] const core::Scenario& shownScenario() { return state().answer()->loaded.scenario; }
};

/// As the keyboard sends a key: a letter, and where it lies.
inline void press(QWidget& widget, int key, quint32 scanCode = 0, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QKeyEvent event(QEvent::KeyPress, key, modifiers, scanCode, 0, 0);
    QApplication::sendEvent(&widget, &event);
}

}  // namespace shardscope::gui
