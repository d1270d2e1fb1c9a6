// What a turned knob leaves as it was, and what it makes later, is what making everything anew would show.

#include <QDockWidget>
#include <QHeaderView>
#include <QScrollBar>

#include "gui/theme/text_scale.h"
#include "gui/view/details_panel.h"
#include "gui/view/difference_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/view/range_panel.h"
#include "gui/view/table_panel.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

const QString kBatch = QStringLiteral("training.local_batch_size");
const QString kReshard = QStringLiteral("parallelism.fsdp_reshard_after_forward");

void turn(OpenWindow& window, const QString& key, const QString& value) {
    window.await([&] { ASSERT_TRUE(window.knobs().setKey(key, value)) << value.toStdString(); });
}

/// Paragraphs with their letters' weights and their margins.
QString paragraphsOf(const DetailsPanel& details) {
    const QString html = details.toHtml();
    return html.mid(html.indexOf(QStringLiteral("<p")));
}

void expectSameAsFresh(OpenWindow& window, const std::string& when) {
    const DetailsPanel details(window.state());
    EXPECT_EQ(paragraphsOf(window.details()), paragraphsOf(details)) << when;
    DifferencePanel fresh(window.state());
    QEvent change(QEvent::LanguageChange);
    QApplication::sendEvent(&fresh, &change);
    const DifferencePanel& shown = window.differences();
    ASSERT_EQ(shown.rowCount(), fresh.rowCount()) << when;
    ASSERT_EQ(shown.columnCount(), fresh.columnCount()) << when;
    ASSERT_GT(shown.rowCount(), 0) << when;
    for (int column = 0; column < shown.columnCount(); ++column) {
        EXPECT_EQ(shown.horizontalHeaderItem(column)->text(), fresh.horizontalHeaderItem(column)->text()) << when;
        EXPECT_GE(shown.columnWidth(column), shown.horizontalHeader()->sectionSizeHint(column)) << when;
        for (int row = 0; row < shown.rowCount(); ++row) {
            EXPECT_EQ(shown.verticalHeaderItem(row)->text(), fresh.verticalHeaderItem(row)->text()) << when;
            EXPECT_GE(shown.rowHeight(row), shown.verticalHeader()->sectionSizeHint(row)) << when;
            const QTableWidgetItem *one = shown.item(row, column), *other = fresh.item(row, column);
            ASSERT_EQ(one == nullptr, other == nullptr) << when;
            if (one == nullptr) continue;
            EXPECT_EQ(one->text(), other->text()) << when;
            EXPECT_EQ(one->toolTip(), other->toolTip()) << when;
            EXPECT_EQ(one->textAlignment(), other->textAlignment()) << when;
            const QSize hint = shown.sizeHintForIndex(shown.model()->index(row, column));
            EXPECT_GE(shown.columnWidth(column), hint.width()) << when << ": " << one->text().toStdString();
            EXPECT_GE(shown.rowHeight(row), hint.height()) << when;
        }
    }
}

TEST(TurnedKnob, LeavesDifferencesThatAFreshPanelWouldShow) {
    for (const char* language : {"en", "ko"}) {
        OpenWindow window{QLatin1String(language)};
        window.openLecture();
        expectSameAsFresh(window, "opened");
        turn(window, kBatch, QStringLiteral("512"));
        expectSameAsFresh(window, "another batch");
        window.state().select(PieceId{0, 0, 3});
        expectSameAsFresh(window, "a selected piece");
        window.state().select(std::nullopt);
        expectSameAsFresh(window, "nothing selected again");
        window.await([&] { window.actions().find(QStringLiteral("strategySingle"))->trigger(); });
        expectSameAsFresh(window, "three plans");
        window.keepPlan();
        turn(window, kBatch, QStringLiteral("1"));
        expectSameAsFresh(window, "a kept one of another batch");
        window.setScale(200);
        QApplication::processEvents();
        expectSameAsFresh(window, "larger");
        window.await([&] { window.actions().find(QStringLiteral("strategyNaive"))->trigger(); });
        turn(window, kBatch, QStringLiteral("32"));
        expectSameAsFresh(window, "fewer plans");
        window.setScale(100);
        window.setLanguage(QLatin1String(language) == QLatin1String("en") ? QStringLiteral("ko")
                                                                          : QStringLiteral("en"));
        QApplication::processEvents();
        expectSameAsFresh(window, "the other language");
    }
}

TEST(TurnedKnob, LetsWhoReadsTheDetailsReadOn) {
    OpenWindow window;
    window.openLecture();
    const QScrollBar& bar = *window.details().verticalScrollBar();
    ASSERT_GT(bar.maximum(), 40);
    EXPECT_EQ(bar.value(), 0);
    window.details().verticalScrollBar()->setValue(40);
    turn(window, kBatch, QStringLiteral("512"));
    EXPECT_EQ(bar.value(), 40);
    window.state().select(PieceId{0, 0, 3});
    EXPECT_EQ(bar.value(), 0);
    window.state().select(std::nullopt);
    EXPECT_EQ(bar.value(), 0);
}

TEST(TurnedKnob, SumsUpStatisticsWhenTheyAreLookedAt) {
    OpenWindow window;
    window.openLecture();
    auto* dock = window.findChild<QDockWidget*>(QStringLiteral("statistics"));
    auto* table = window.findChild<QDockWidget*>(QStringLiteral("table"));
    ASSERT_TRUE(dock != nullptr && table != nullptr);
    const auto expectPresent = [&](const std::string& when) {
        const std::vector<RangeRow> wanted =
            statisticsOf(window.state(), window.statistics().model().range(), Grouping::Kind);
        const std::vector<RangeRow>& rows = window.statistics().model().rows();
        ASSERT_EQ(rows.size(), wanted.size()) << when;
        ASSERT_GT(rows.size(), 2U) << when;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows[i].key, wanted[i].key) << when;
            EXPECT_EQ(rows[i].total, wanted[i].total) << when;
        }
    };
    expectPresent("behind another tab, but asked for");
    dock->raise();
    QApplication::processEvents();
    turn(window, kBatch, QStringLiteral("64"));
    // Nobody asks for it here: what is seen is what the table holds.
    const auto sums = [&] {
        QStringList all;
        const QAbstractItemModel& model =
            *window.findChild<QDockWidget*>(QStringLiteral("statistics"))->findChild<QTableView*>()->model();
        for (int row = 0; row < model.rowCount(); ++row)
            all << model.index(row, RangeModel::Sum).data(RangeModel::kValueRole).toString();
        return all;
    };
    const QStringList seen = sums();
    EXPECT_GT(seen.size(), 2);
    expectPresent("seen");
    EXPECT_EQ(sums(), seen);
    // Behind another one its rows would be of an answer that is gone.
    table->raise();
    QApplication::processEvents();
    turn(window, kBatch, QStringLiteral("16"));
    EXPECT_TRUE(sums().isEmpty());
    dock->raise();
    QApplication::processEvents();
    EXPECT_EQ(sums().size(), seen.size());
    EXPECT_NE(sums(), seen);
    expectPresent("seen again");
    // The table of pieces, which nobody saw meanwhile, is there too.
    table->raise();
    QApplication::processEvents();
    const QAbstractItemModel& pieces = *window.table().table().model();
    const auto last = static_cast<double>(window.state().plan(0).stepNs);
    ASSERT_GT(pieces.rowCount(), 2);
    EXPECT_LE(pieces.index(0, PieceTable::To).data(PieceTable::kValueRole).toDouble(), last);
    const int rows = pieces.rowCount();
    PieceTable fresh(window.state());
    fresh.fill();
    EXPECT_EQ(rows, fresh.rowCount());
}

TEST(TurnedKnob, KeepsTheModelWhereItChangesNothingOfIt) {
    OpenWindow window;
    window.openLecture();
    const auto model = [&] { return window.state().answer()->report.plans[1].model; };
    const auto expectAsAfresh = [&] {
        const auto afresh = answerTo(window.state().answer()->loaded, window.shownScenario(), {"naive", "fsdp"});
        ASSERT_TRUE(afresh.has_value());
        EXPECT_EQ(cli::reportDocument(afresh->report), cli::reportDocument(window.state().answer()->report));
    };
    const auto first = model();
    turn(window, kReshard, QStringLiteral("never"));
    EXPECT_EQ(model(), first);
    expectAsAfresh();
    turn(window, kBatch, QStringLiteral("16"));
    EXPECT_NE(model(), first) << "activations are of another size";
    expectAsAfresh();
    const auto second = model();
    turn(window, QStringLiteral("model.layers"), QStringLiteral("6"));
    EXPECT_NE(model(), second);
    expectAsAfresh();
    window.await([&] { window.undoStack().undo(); });
    EXPECT_EQ(model()->layers.size(), first->layers.size());
    expectAsAfresh();
}

}  // namespace
}  // namespace shardscope::gui
