// The pictures for those who do not see them: an interface tree of the timeline, and every picture as a table.

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QClipboard>
#include <QTableView>
#include <QTableWidget>
#include <QToolButton>
#include <cmath>
#include <set>

#include "gui/view/sweep_panel.h"
#include "gui/view/table_panel.h"
#include "gui/view/timeline_access.h"
#include "gui/view/words.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

TEST(Access, TheTimelineIsATableOfLanesWithTheirCurrentBars) {
    OpenWindow window;
    window.openLecture();
    PageState& state = window.state();
    QAccessibleInterface* table = QAccessible::queryAccessibleInterface(&window.timeline());
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->role(), QAccessible::Table);
    EXPECT_EQ(table->text(QAccessible::Name), QStringLiteral("Timeline"));
    const auto walk = [&] {
        ASSERT_EQ(table->childCount(), static_cast<int>(state.rows().size()));
        EXPECT_EQ(table->child(-1), nullptr);
        EXPECT_EQ(table->child(table->childCount()), nullptr);
        std::set<QString> names;
        int cells = 0;
        for (int r = 0; r < table->childCount(); ++r) {
            QAccessibleInterface* row = table->child(r);
            ASSERT_NE(row, nullptr);
            EXPECT_TRUE(row->isValid());
            EXPECT_EQ(row->role(), QAccessible::Row);
            EXPECT_EQ(row->parent(), table);
            EXPECT_EQ(table->indexOfChild(row), r);
            EXPECT_FALSE(row->rect().isEmpty());
            names.insert(row->text(QAccessible::Name));
            for (int c = 0; c < row->childCount(); ++c) {
                QAccessibleInterface* cell = row->child(c);
                ASSERT_NE(cell, nullptr);
                EXPECT_EQ(cell->role(), QAccessible::Cell);
                EXPECT_EQ(cell->parent(), row);
                EXPECT_EQ(row->indexOfChild(cell), c);
                EXPECT_EQ(cell->childCount(), 0);
                EXPECT_FALSE(cell->text(QAccessible::Name).isEmpty());
                EXPECT_FALSE(cell->text(QAccessible::Value).isEmpty());
                ++cells;
            }
        }
        EXPECT_EQ(names.size(), state.rows().size()) << "every row has a name of its own";
        EXPECT_GT(cells, 0);
    };
    walk();
    EXPECT_EQ(table->child(0)->text(QAccessible::Name), QStringLiteral("naive, stage 0"));
    // More rows, and fewer.
    state.unfold(1, 0, {Unfolding::Kind::Unfolded});
    walk();
    state.setStreamsShown(false);
    walk();
    state.setStreamsShown(true);
    state.unfold(1, 0, {Unfolding::Kind::Folded});
    QAccessibleInterface* last = table->child(table->childCount() - 1);
    walk();
    // Of a page that is gone, rows say that they are.
    window.await([&] { window.actions().find(QStringLiteral("strategyNaive"))->trigger(); });
    EXPECT_FALSE(last->isValid());
    walk();
}

TEST(Access, TheCurrentBarIsTheSelectedOneAndSaysWhatItIs) {
    OpenWindow window;
    window.openLecture();
    PageState& state = window.state();
    QAccessibleInterface* table = QAccessible::queryAccessibleInterface(&window.timeline());
    EXPECT_EQ(table->focusChild(), nullptr);
    ASSERT_TRUE(window.search(QStringLiteral("reduce-scatter enc")));
    const PieceId id = *state.selection();
    const LaneSet& set = state.lanes(id.plan);
    const auto piece = *state.pieceOf(id);
    QAccessibleInterface* cell = table->focusChild();
    ASSERT_NE(cell, nullptr);
    EXPECT_EQ(cell->text(QAccessible::Name), describePiece(set, set.lanes[id.lane], piece));
    EXPECT_TRUE(cell->text(QAccessible::Description).contains(instantText(piece.begin)));
    EXPECT_TRUE(cell->state().selected);
    EXPECT_EQ(cell->rect().topLeft(),
              window.timeline().viewport()->mapToGlobal(window.timeline().rectOf(id)->topLeft()));
    // Another row's is the one at the play head.
    QAccessibleInterface* stage = table->child(0)->child(0);
    ASSERT_NE(stage, nullptr);
    EXPECT_FALSE(stage->state().selected);
    const auto there = state.lanes(0).lanes[0].pieces.at(std::llround(state.playHead()));
    ASSERT_TRUE(there.has_value());
    EXPECT_EQ(stage->text(QAccessible::Name),
              describePiece(state.lanes(0), state.lanes(0).lanes[0], state.lanes(0).lanes[0].pieces[*there]));
}

// Qt's offscreen platform has nobody who listens and drops events; what is sent is told by a signal as well.
TEST(Access, MovingTheSelectionAndThePlayHeadIsTold) {
    OpenWindow window;
    window.openLecture();
    std::vector<std::pair<QAccessible::Event, QString>> heard;
    QObject::connect(window.timeline().findChild<TimelineVoice*>(), &TimelineVoice::told, &window,
                     [&](QAccessible::Event event, const QString& text) { heard.emplace_back(event, text); });
    press(window.timeline(), Qt::Key_Right);
    press(window.timeline(), Qt::Key_Right);
    const PieceId id = *window.state().selection();
    const LaneSet& set = window.state().lanes(id.plan);
    const QString words = describePiece(set, set.lanes[id.lane], *window.state().pieceOf(id));
    ASSERT_FALSE(heard.empty());
    EXPECT_EQ(heard.back(), std::pair(QAccessible::Focus, words));
    QTest::qWait(600);  // until what the selection moved is told
    heard.clear();
    for (int i = 0; i < 30; ++i) window.state().setPlayHead(1e6 + 1000.0 * i);
    EXPECT_TRUE(QTest::qWaitFor([&] { return !heard.empty(); }, 5000));
    QTest::qWait(600);
    ASSERT_EQ(heard.size(), 1u) << "as often as can be listened to";
    EXPECT_EQ(heard.front(), std::pair(QAccessible::ValueChanged, instantText(1'029'000)));
}

TEST(Table, ShowsThePiecesInViewAndSelectsThem) {
    OpenWindow window;
    window.openLecture();
    PageState& state = window.state();
    window.actions().find(QStringLiteral("tableOfTimeline"))->trigger();
    QAbstractItemModel* model = window.table().table().model();
    QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    std::size_t pieces = 0;
    for (const ShownRow& row : state.rows()) pieces += state.lanes(row.plan).lanes[row.lane].pieces.size();
    EXPECT_EQ(model->rowCount(), static_cast<int>(pieces)) << "the whole step is in view";
    std::int64_t works = 0;
    for (int row = 0; row < model->rowCount(); ++row)
        if (model->index(row, PieceTable::Plan).data() == QStringLiteral("naive") &&
            model->index(row, PieceTable::Stream).data().toString().isEmpty())
            works += model->index(row, PieceTable::Duration).data(PieceTable::kValueRole).toLongLong();
    EXPECT_EQ(works, state.plan(0).allRanks.step) << "the lanes of ranks tile their steps";
    emit window.table().table().activated(model->index(7, 0));
    ASSERT_TRUE(state.selection().has_value());
    EXPECT_EQ(*state.selection(), (PieceId{0, 0, 7}));
    state.show({0, state.view().end() / 20});
    EXPECT_LT(model->rowCount(), static_cast<int>(pieces));
    EXPECT_GT(model->rowCount(), 0);
    for (auto* button : window.table().findChildren<QToolButton*>())
        if (button->text() == QStringLiteral("CSV")) button->click();
    EXPECT_EQ(QApplication::clipboard()->text().count(u'\n'), model->rowCount() + 1);
    EXPECT_TRUE(QApplication::clipboard()->text().startsWith(QStringLiteral("plan,rank,stream,what,from (ns)")));
}

TEST(Table, ShowsMemoryWithItsPeakAndTheSweep) {
    OpenWindow window;
    window.openLecture();
    window.actions().find(QStringLiteral("tableOfMemory"))->trigger();
    QAbstractItemModel* model = window.table().table().model();
    QAbstractItemModelTester tester(model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    for (std::size_t p = 0; p < 2; ++p) {
        std::int64_t peak = 0;
        for (int row = 0; row < model->rowCount(); ++row) {
            if (model->index(row, 0).data() != window.state().titleOf(p)) continue;
            const auto total = model->index(row, 2).data(MemoryTable::kValueRole).toLongLong();
            std::int64_t sum = 0;
            for (int c = 3; c < model->columnCount(); ++c)
                sum += model->index(row, c).data(MemoryTable::kValueRole).toLongLong();
            EXPECT_EQ(sum, total);
            peak = std::max<std::int64_t>(peak, total);
        }
        EXPECT_EQ(peak, window.state().plan(p).tightest().memory.step.deviceTime.total.value);
    }
    QSignalSpy finished(&window.sweep(), &SweepPanel::finished);
    window.sweep().start(QStringLiteral("training.local_batch_size"), QStringLiteral("16,32"));
    ASSERT_TRUE(!finished.isEmpty() || finished.wait(kPatience));
    window.actions().find(QStringLiteral("tableOfSweep"))->trigger();
    EXPECT_EQ(window.table().table().model(), window.sweep().table().model());
    EXPECT_EQ(window.table().table().model()->rowCount(), 4);
}

}  // namespace
}  // namespace shardscope::gui
