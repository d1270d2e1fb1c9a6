// Text from 100 to 300 %: readable, and no words cut off, in both languages.

#include <QAbstractButton>
#include <QDockWidget>
#include <QLabel>
#include <QMenuBar>
#include <QTableView>
#include <QTableWidget>
#include <QToolButton>

#include "gui/theme/frame_style.h"
#include "gui/theme/text_scale.h"
#include "gui/view/knob_panel.h"
#include "gui/view/range_panel.h"
#include "gui/view/sweep_panel.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

constexpr double kSmallest = 9;  // pt, at 100 %

std::string nameOf(const QWidget& widget, const QString& text) {
    return std::string(widget.metaObject()->className()) + " \"" + text.toStdString() + "\"";
}

void expectFits(const QWidget& window, int percent) {
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        if (!widget->isVisible()) continue;
        const auto* label = qobject_cast<const QLabel*>(widget);
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        if (button == nullptr || !button->text().isEmpty()) {
            EXPECT_GE(widget->font().pointSizeF(), kSmallest * percent / 100 - 0.01)
                << widget->metaObject()->className();
        }
        if (label != nullptr && !label->text().isEmpty()) {
            const int height = label->wordWrap() ? label->heightForWidth(label->width()) : label->sizeHint().height();
            EXPECT_GE(label->height(), height) << nameOf(*label, label->text());
            if (!label->wordWrap()) {
                EXPECT_GE(label->width(), label->sizeHint().width()) << nameOf(*label, label->text());
            } else {
                // No word is wider than the place that it has. Names break behind their parts.
                static const QRegularExpression gap(QStringLiteral("[\\s\\x{200b}]+"));
                for (const QString& word : label->text().split(gap))
                    EXPECT_GE(label->width(), label->fontMetrics().horizontalAdvance(word)) << nameOf(*label, word);
            }
        }
        if (button != nullptr && !button->text().isEmpty()) {
            EXPECT_GE(button->width(),
                      button->fontMetrics().horizontalAdvance(button->text().remove(u'&').section(u'\n', 0, 0)))
                << nameOf(*button, button->text());
            EXPECT_GE(button->height(), button->fontMetrics().height()) << nameOf(*button, button->text());
        }
        const auto* table = qobject_cast<const QTableWidget*>(widget);
        for (int row = 0; table != nullptr && row < table->rowCount(); ++row)
            for (int column = 0; column < table->columnCount(); ++column) {
                const QTableWidgetItem* item = table->item(row, column);
                if (item == nullptr || item->text().isEmpty()) continue;
                EXPECT_GE(table->columnWidth(column), table->fontMetrics().horizontalAdvance(item->text()))
                    << nameOf(*table, item->text());
                EXPECT_GE(table->rowHeight(row), table->fontMetrics().height()) << nameOf(*table, item->text());
            }
    }
}

class AsUsual {
public:
    ~AsUsual() { setTextScale(100); }
};

TEST(TextSize, NothingIsCutOffAtAnySizeInEitherLanguage) {
    const AsUsual afterwards;
    for (const char* language : {"en", "ko"}) {
        OpenWindow window{QLatin1String(language)};
        for (const int percent : textScales()) {
            window.setScale(percent);
            // As large a screen as such text is for.
            window.resize(1280 * percent / 100, 800 * percent / 100);
            window.actions().find(QStringLiteral("start"))->trigger();
            QApplication::processEvents();
            expectFits(window, percent);
            if (window.state().answer() == nullptr) window.openLecture();
            window.actions().find(QStringLiteral("timeline"))->trigger();
            QApplication::processEvents();
            QTest::qWait(50);
            expectFits(window, percent);
            if (testing::Test::HasFailure()) FAIL() << percent << " %, " << language;
        }
    }
}

TEST(TextSize, EveryPanelHasRoomOnAUsualScreenAtAnySize) {
    const AsUsual afterwards;
    QSettings().clear();
    for (const int percent : {200, 250, 300}) {
        OpenWindow window;
        window.setScale(percent);
        window.resize(1920, 1080);
        window.openLecture();
        window.findChild<QDockWidget*>(QStringLiteral("statistics"))->raise();
        QTest::qWait(50);
        EXPECT_LE(window.height(), 1080) << percent;
        const QTableView& table = window.statistics().table();
        const int rows = table.viewport()->height() / table.rowHeight(0);
        EXPECT_GE(rows, percent < 300 ? 3 : 2) << percent << ": rows of statistics in sight";
        // The timeline has its headline and the first of its lanes.
        EXPECT_GE(window.timeline().plot().height(), 4 * window.fontMetrics().height()) << percent;
        window.setScale(100);
    }
}

TEST(TextSize, IsTurnedByKeysAndKept) {
    const AsUsual afterwards;
    QSettings().clear();
    {
        OpenWindow window;
        const double usual = window.font().pointSizeF();
        const auto run = [&](const char* id) { window.actions().find(QLatin1String(id))->trigger(); };
        run("smaller");
        EXPECT_EQ(textScale(), 100) << "it is not made smaller than usual";
        run("larger");
        run("larger");
        EXPECT_EQ(textScale(), 150);
        EXPECT_NEAR(window.font().pointSizeF(), 1.5 * usual, 0.1);
        EXPECT_TRUE(window.actions().find(QStringLiteral("scale150"))->isChecked());
        EXPECT_NEAR(window.timeline().font().pointSizeF(), 1.5 * usual, 0.1) << "open views follow";
        run("usualSize");
        EXPECT_EQ(textScale(), 100);
        run("scale300");
        run("larger");
        EXPECT_EQ(textScale(), 300) << "there is nothing larger";
        window.close();
    }
    setTextScale(100);
    OpenWindow next;
    EXPECT_EQ(textScale(), 300);
    next.setScale(100);
    next.close();
    QSettings().clear();
}

TEST(TextSize, PaintedTextGrowsToo) {
    const AsUsual afterwards;
    OpenWindow window;
    window.openLecture();
    const int header = window.timeline().strips().front().height, left = window.timeline().plot().left();
    window.setScale(200);
    QApplication::processEvents();
    EXPECT_GT(window.timeline().strips().front().height, 1.6 * header);
    EXPECT_GT(window.timeline().plot().left(), left);
    window.setScale(100);
    QApplication::processEvents();
    EXPECT_EQ(window.timeline().strips().front().height, header);
}

TEST(HighContrast, FieldsForNumbersHaveTheirArrows) {
    OpenWindow window;
    window.openLecture();
    window.setThemeKind(ThemeKind::HighContrast);
    QApplication::processEvents();
    ASSERT_NE(qobject_cast<FrameStyle*>(QApplication::style()), nullptr);
    QWidget* box = window.knobs().editorOf(QStringLiteral("training.local_batch_size"));
    box->clearFocus();
    const QImage image = box->grab().toImage();
    QStyleOptionSpinBox option;
    option.initFrom(box);
    option.subControls = QStyle::SC_All;
    option.stepEnabled = QAbstractSpinBox::StepUpEnabled | QAbstractSpinBox::StepDownEnabled;
    for (const QStyle::SubControl part : {QStyle::SC_SpinBoxUp, QStyle::SC_SpinBoxDown}) {
        const QRect button =
            box->style()->subControlRect(QStyle::CC_SpinBox, &option, part, box).adjusted(2, 2, -2, -2);
        int bright = 0;
        for (int y = button.top(); y <= button.bottom(); ++y)
            for (int x = button.left(); x <= button.right(); ++x)
                bright += contrastOf(image.pixelColor(x, y), window.palette().color(QPalette::Button)) >= 3;
        EXPECT_GT(bright, 3) << "an arrow";
    }
    window.setThemeKind(ThemeKind::Light);
    QApplication::processEvents();
    EXPECT_EQ(qobject_cast<FrameStyle*>(QApplication::style())->kind(), ThemeKind::Light);
}

}  // namespace
}  // namespace shardscope::gui
