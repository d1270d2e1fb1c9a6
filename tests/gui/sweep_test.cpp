// One knob over values.

#include <QLineEdit>
#include <QPushButton>
#include <QTableWidget>
#include <QUndoStack>

#include "gui/view/difference.h"
#include "gui/view/sweep_panel.h"
#include "gui/view/words.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

const QString kBatch = QStringLiteral("training.local_batch_size");

SweepPanel& sweepOf(MainWindow& window) {
    return *window.findChild<SweepPanel*>();
}

void finish(SweepPanel& sweep, const QString& key, const QString& values) {
    QSignalSpy finished(&sweep, &SweepPanel::finished);
    sweep.start(key, values);
    if (finished.isEmpty()) {
        ASSERT_TRUE(finished.wait(kPatience));
    }
}

QStringList textsOf(const QTableWidget& table, int row) {
    QStringList texts;
    for (int column = 0; column < table.columnCount(); ++column)
        texts << (table.item(row, column) != nullptr ? table.item(row, column)->text() : QString());
    return texts;
}

TEST(Sweep, HasTheFiguresOfEveryScenarioByItself) {
    OpenWindow window;
    window.openLecture();
    SweepPanel& sweep = sweepOf(window);
    const std::vector<std::string> values = {"16", "32", "64"};
    finish(sweep, kBatch, QStringLiteral("16, 32,64"));
    EXPECT_FALSE(sweep.running());
    ASSERT_EQ(sweep.table().rowCount(), 6);
    for (std::size_t v = 0; v < values.size(); ++v) {
        core::Scenario scenario = window.shownScenario();
        ASSERT_TRUE(core::applyOverride(scenario, "training.local_batch_size=" + values[v]).has_value());
        const auto alone = answerTo(window.state().answer()->loaded, scenario, {"naive", "fsdp"});
        ASSERT_TRUE(alone.has_value());
        const auto rows = differencesOf(alone->report);
        for (std::size_t p = 0; p < 2; ++p) {
            const int row = static_cast<int>(2 * v + p);
            const QStringList texts = textsOf(sweep.table(), row);
            EXPECT_EQ(texts[0].toStdString(), values[v]);
            EXPECT_EQ(texts[1].toStdString(), alone->report.plans[p].name);
            for (const Figure figure : {Figure::Step, Figure::Throughput, Figure::Waiting}) {
                const DifferenceRow& one = rows[static_cast<std::size_t>(figure)];
                EXPECT_TRUE(texts.contains(valueText(one.unit, one.values[p]))) << texts.join(u'|').toStdString();
            }
            EXPECT_EQ(sweep.scenarios()[static_cast<std::size_t>(row)], scenario);
        }
    }
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 32) << "what is shown stays";
}

TEST(Sweep, APointThatCannotBeSimulatedSaysWhyAndTheOthersGoOn) {
    OpenWindow window;
    window.openLecture();
    SweepPanel& sweep = sweepOf(window);
    finish(sweep, QStringLiteral("parallelism.data_parallel_shard_degree"), QStringLiteral("2,none,13,4"));
    ASSERT_EQ(sweep.table().rowCount(), 6);
    for (const int row : {2, 3}) {
        const QString texts = textsOf(sweep.table(), row).join(u'|');
        EXPECT_GT(texts.size(), 20) << texts.toStdString();
        QSignalSpy chosen(&sweep, &SweepPanel::chosen);
        emit sweep.table().cellClicked(row, 0);
        EXPECT_TRUE(chosen.isEmpty()) << "there is no timeline to open";
    }
    EXPECT_EQ(textsOf(sweep.table(), 5)[0], QStringLiteral("4"));
}

TEST(Sweep, ARowOpensItsTimelineAndUndoComesBack) {
    OpenWindow window;
    window.openLecture();
    const core::Scenario before = window.shownScenario();
    SweepPanel& sweep = sweepOf(window);
    finish(sweep, kBatch, QStringLiteral("8,64"));
    ASSERT_EQ(sweep.table().rowCount(), 4);
    window.await([&] { emit sweep.table().cellClicked(2, 0); });
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 64);
    EXPECT_EQ(window.shownScenario(), sweep.scenarios()[2]);
    window.await([&] { window.undoStack().undo(); });
    EXPECT_EQ(window.shownScenario(), before);
}

TEST(Sweep, CanBeCancelledAndBegunAnewAtOnce) {
    OpenWindow window;
    window.openLecture();
    SweepPanel& sweep = sweepOf(window);
    QStringList many;
    for (int i = 1; i <= 400; ++i) many << QString::number(i);
    QSignalSpy finished(&sweep, &SweepPanel::finished);
    sweep.start(kBatch, many.join(u','));
    EXPECT_TRUE(sweep.running());
    QTest::qWait(100);
    sweep.cancel();
    EXPECT_FALSE(sweep.running());
    EXPECT_EQ(finished.count(), 1);
    const int rows = sweep.table().rowCount();
    EXPECT_LT(rows, 800);
    QTest::qWait(500);
    EXPECT_EQ(sweep.table().rowCount(), rows) << "nothing comes after it";
    finish(sweep, kBatch, QStringLiteral("5"));
    ASSERT_EQ(sweep.table().rowCount(), 2);
    EXPECT_EQ(textsOf(sweep.table(), 0)[0], QStringLiteral("5"));
}

TEST(Sweep, WithoutValuesSaysWhatIsMissing) {
    OpenWindow window;
    window.openLecture();
    SweepPanel& sweep = sweepOf(window);
    finish(sweep, kBatch, QStringLiteral(" , ,"));
    EXPECT_EQ(sweep.table().rowCount(), 0);
    const auto* problem = sweep.findChild<QLabel*>(QStringLiteral("problem"));
    EXPECT_FALSE(problem->isHidden());
    finish(sweep, kBatch, QStringLiteral("3"));
    EXPECT_TRUE(problem->isHidden());
}

}  // namespace
}  // namespace shardscope::gui
