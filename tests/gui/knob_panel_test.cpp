// The panel of knobs: all of it is in sight from left to right, however narrow, in both languages and at every size.

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>

#include "core/scenario/keys.h"
#include "gui/theme/text_scale.h"
#include "gui/view/knob_panel.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

/// Whatever is in the panel ends before its right edge, arrows of fields included; no word is cut off.
void expectAllInSight(KnobPanel& knobs, const std::string& when) {
    EXPECT_EQ(knobs.horizontalScrollBar()->maximum(), 0) << when;
    const int right = knobs.viewport()->width();
    for (const QWidget* widget : knobs.widget()->findChildren<QWidget*>()) {
        if (!widget->isVisible()) continue;
        EXPECT_LE(widget->mapTo(knobs.viewport(), QPoint(widget->width(), 0)).x(), right)
            << when << ": " << widget->metaObject()->className() << " " << widget->accessibleName().toStdString();
    }
    static const QRegularExpression gap(QStringLiteral("[\\s\\x{200b}]+"));
    for (const QLabel* label : knobs.widget()->findChildren<QLabel*>()) {
        if (!label->isVisible()) continue;
        for (const QString& word : label->text().split(gap))
            EXPECT_GE(label->width(), label->fontMetrics().horizontalAdvance(word)) << when << word.toStdString();
    }
}

TEST(Knobs, AreAllInSightFromLeftToRight) {
    for (const char* language : {"en", "ko"}) {
        QSettings().clear();
        OpenWindow window{QLatin1String(language)};
        window.resize(1280, 800);
        window.openLecture();
        auto* dock = window.findChild<QDockWidget*>(QStringLiteral("knobs"));
        for (const int percent : {100, 150, 200, 300}) {
            window.setScale(percent);
            window.resize(1280 * percent / 100, 800 * percent / 100);
            QApplication::processEvents();
            expectAllInSight(window.knobs(), "as it begins, " + std::to_string(percent) + " %");
            window.resizeDocks({dock}, {1}, Qt::Horizontal);
            QApplication::processEvents();
            expectAllInSight(window.knobs(), "as narrow as it gets, " + std::to_string(percent) + " %");
        }
        window.setScale(100);
    }
    QSettings().clear();
}

TEST(Knobs, StayWhereTheyAreWhileTextIsTyped) {
    QSettings().clear();
    OpenWindow window;
    window.resize(1280, 800);
    window.openLecture();
    auto* line =
        qobject_cast<QLineEdit*>(window.knobs().editorOf(QStringLiteral("parallelism.fsdp_reshard_after_forward")));
    ASSERT_NE(line, nullptr);
    line->setFocus();
    QTest::keyClicks(line, QString(200, u'x'));
    QApplication::processEvents();
    EXPECT_EQ(window.knobs().horizontalScrollBar()->value(), 0);
    EXPECT_EQ(window.knobs().widget()->x(), 0);
    // What is refused may be a long word too.
    QTest::keyClick(line, Qt::Key_Return);
    EXPECT_FALSE(window.knobs().problemOf(QStringLiteral("parallelism.fsdp_reshard_after_forward")).isEmpty());
    QApplication::processEvents();
    EXPECT_EQ(window.knobs().horizontalScrollBar()->maximum(), 0);
    EXPECT_EQ(window.knobs().widget()->x(), 0);
    EXPECT_LT(window.findChild<QDockWidget*>(QStringLiteral("knobs"))->width(), 640);
    QSettings().clear();
}

}  // namespace
}  // namespace shardscope::gui
