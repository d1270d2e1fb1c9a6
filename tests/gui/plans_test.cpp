// Which plans are on the page: strategies, and plans kept from earlier scenarios.

#include <QCheckBox>
#include <QScrollBar>
#include <QToolButton>
#include <QUndoStack>

#include "gui/view/details_panel.h"
#include "gui/view/difference_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/view/plan_bar.h"
#include "gui/view/words.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

const QString kBatch = QStringLiteral("training.local_batch_size");
const QString kShards = QStringLiteral("parallelism.data_parallel_shard_degree");

void trigger(MainWindow& window, const char* id) {
    window.actions().find(QLatin1String(id))->trigger();
}

QStringList titlesOf(MainWindow& window) {
    QStringList titles;
    for (std::size_t p = 0; p < window.state().plans().size(); ++p) titles << window.state().titleOf(p);
    return titles;
}

QStringList chipsOf(MainWindow& window) {
    QStringList texts;
    for (const auto* button : window.findChild<PlanBar*>()->findChildren<QToolButton*>())
        if (button->isVisible() && button->defaultAction() == nullptr) texts << button->text();
    return texts;
}

TEST(Strategies, AreSwitchedOneByOne) {
    OpenWindow window;
    window.openLecture();
    EXPECT_EQ(titlesOf(window), QStringList({QStringLiteral("naive"), QStringLiteral("fsdp")}));
    window.await([&] { trigger(window, "strategySingle"); });
    EXPECT_EQ(titlesOf(window),
              QStringList({QStringLiteral("single"), QStringLiteral("naive"), QStringLiteral("fsdp")}));
    EXPECT_EQ(window.differences().columnCount(), 5);
    const auto alone = answerTo(window.state().answer()->loaded, window.shownScenario(), {"single", "naive", "fsdp"});
    ASSERT_TRUE(alone.has_value());
    EXPECT_EQ(cli::reportDocument(alone->report), cli::reportDocument(window.state().answer()->report));
    window.await([&] { trigger(window, "strategyNaive"); });
    EXPECT_EQ(titlesOf(window), QStringList({QStringLiteral("single"), QStringLiteral("fsdp")}));
    EXPECT_FALSE(window.actions().find(QStringLiteral("strategyNaive"))->isChecked());
    window.await([&] { trigger(window, "strategySingle"); });
    EXPECT_EQ(titlesOf(window), QStringList{QStringLiteral("fsdp")});
    EXPECT_EQ(window.differences().columnCount(), 1);
    // The last one stays, and its box says so.
    for (auto* box : window.findChild<PlanBar*>()->findChildren<QCheckBox*>()) {
        EXPECT_EQ(box->isChecked(), box->text() == QStringLiteral("fsdp"));
        if (!box->isChecked()) continue;
        box->click();
        EXPECT_TRUE(box->isChecked());
    }
    EXPECT_TRUE(window.actions().find(QStringLiteral("strategyFsdp"))->isChecked());
    EXPECT_FALSE(window.evaluator().busy());
    EXPECT_EQ(titlesOf(window), QStringList{QStringLiteral("fsdp")});
    window.await([&] { window.undoStack().undo(); });
    EXPECT_EQ(titlesOf(window), QStringList({QStringLiteral("naive"), QStringLiteral("fsdp")}));
    EXPECT_TRUE(window.actions().find(QStringLiteral("strategyNaive"))->isChecked());
}

TEST(Strategies, ChosenOnTheStartPageCountForWhatIsOpened) {
    OpenWindow window;
    trigger(window, "strategyNaive");
    window.openLecture();
    EXPECT_EQ(titlesOf(window), QStringList{QStringLiteral("fsdp")});
    // What naive placement cannot do does not stand in the way where it is not shown: 12 blocks, 16 stages.
    window.await([&] { window.knobs().setKey(kShards, QStringLiteral("16")); });
    EXPECT_EQ(window.problem(), QString());
    EXPECT_EQ(window.state().plan(0).ranks, 16);
}

TEST(Kept, APlanStaysWhileKnobsChangeTheOthers) {
    OpenWindow window;
    window.openLecture();
    const auto four = window.state().answer();
    trigger(window, "keepPlan");
    EXPECT_EQ(titlesOf(window),
              QStringList({QStringLiteral("fsdp \u00b7 kept"), QStringLiteral("fsdp"), QStringLiteral("naive")}));
    EXPECT_EQ(window.differences().item(0, 2)->text(), QStringLiteral("the same"));
    window.await([&] { window.knobs().setKey(kShards, QStringLiteral("8")); });
    EXPECT_EQ(titlesOf(window), QStringList({QStringLiteral("fsdp \u00b7 4 GPUs"), QStringLiteral("fsdp \u00b7 8 GPUs"),
                                             QStringLiteral("naive \u00b7 8 GPUs")}))
        << "what became of the kept plan is beside it";
    EXPECT_EQ(&window.state().plan(0), &four->report.plans[1]) << "the kept figures are those of its report";
    EXPECT_EQ(window.shownScenario().parallelism.shardDegree, 8);
    // The difference is that of two reports made one by one.
    const auto eight = answerTo(four->loaded, window.shownScenario(), {"naive", "fsdp"});
    ASSERT_TRUE(eight.has_value());
    const cli::PlanReport* pair[] = {&four->report.plans[1], &eight->report.plans[1]};
    const std::vector<DifferenceRow> rows = differencesOf(pair);
    for (std::size_t f = 0; f < kFigures; ++f) {
        const int row = static_cast<int>(f < 2 ? f : f + 1);  // samples stand behind throughput
        EXPECT_EQ(window.differences().verticalHeaderItem(row)->text(), figureName(rows[f].figure));
        EXPECT_EQ(window.differences().item(row, 0)->text(), valueText(rows[f].unit, rows[f].values[0]));
        EXPECT_EQ(window.differences().item(row, 1)->text(), valueText(rows[f].unit, rows[f].values[1]));
        EXPECT_EQ(window.differences().item(row, 2)->text(), differenceText(rows[f], 1));
    }
    EXPECT_EQ(window.differences().horizontalHeaderItem(2)->text(), QStringLiteral("against fsdp \u00b7 4 GPUs"));
    // Naive placement has nothing of its own to be compared with: with what else is simulated now.
    EXPECT_EQ(window.differences().horizontalHeaderItem(3)->text(), QStringLiteral("naive \u00b7 8 GPUs"));
    EXPECT_EQ(window.differences().horizontalHeaderItem(4)->text(), QStringLiteral("against fsdp \u00b7 8 GPUs"));
    const cli::PlanReport* now[] = {&eight->report.plans[1], &eight->report.plans[0]};
    EXPECT_EQ(window.differences().item(0, 4)->text(), differenceText(differencesOf(now)[0], 1));
    // Twice the GPUs at the same local batch: steps of twice as many samples, which the table says.
    EXPECT_EQ(window.differences().verticalHeaderItem(2)->text(), QStringLiteral("Samples in a step"));
    EXPECT_EQ(window.differences().item(2, 0)->text(), QStringLiteral("128"));
    EXPECT_EQ(window.differences().item(2, 1)->text(), QStringLiteral("256"));
    EXPECT_EQ(window.differences().item(2, 2)->text(), QString());
    // One clock for all of them.
    EXPECT_EQ(window.state().view().end(),
              std::max({four->report.plans[1].stepNs, eight->report.plans[0].stepNs, eight->report.plans[1].stepNs}));
}

TEST(Kept, KeepingAndDroppingIsUndoneAndRedone) {
    OpenWindow window;
    window.openLecture();
    trigger(window, "keepPlan");
    window.await([&] { window.knobs().setKey(kBatch, QStringLiteral("64")); });
    const QStringList both{QStringLiteral("fsdp \u00b7 local_batch_size 32"),
                           QStringLiteral("fsdp \u00b7 local_batch_size 64"),
                           QStringLiteral("naive \u00b7 local_batch_size 64")};
    EXPECT_EQ(titlesOf(window), both);
    EXPECT_EQ(chipsOf(window), QStringList{both.front() + QStringLiteral("  \u2715")});
    window.await([&] { window.undoStack().undo(); });
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 32);
    EXPECT_EQ(window.state().kept().size(), 1u);
    window.undoStack().undo();
    EXPECT_FALSE(window.undoStack().canUndo());
    EXPECT_TRUE(window.state().kept().empty());
    EXPECT_TRUE(chipsOf(window).isEmpty());
    window.undoStack().redo();
    EXPECT_EQ(window.state().kept().size(), 1u);
    window.await([&] { window.undoStack().redo(); });
    EXPECT_EQ(titlesOf(window), both);
    // Dropped by its chip, and back.
    for (auto* button : window.findChild<PlanBar*>()->findChildren<QToolButton*>())
        if (button->defaultAction() == nullptr && button->isVisible()) {
            button->click();
            break;
        }
    EXPECT_EQ(titlesOf(window), QStringList({QStringLiteral("naive"), QStringLiteral("fsdp")}));
    window.undoStack().undo();
    EXPECT_EQ(titlesOf(window), both);
    trigger(window, "dropPlans");
    EXPECT_TRUE(window.state().kept().empty());
}

TEST(Kept, IsWhatIsSelectedAndTheSelectionStaysWithItsPlan) {
    OpenWindow window;
    window.openLecture();
    window.state().select(PieceId{0, 0, 3});
    trigger(window, "keepPlan");
    EXPECT_EQ(window.state().plan(0).name, "naive");
    ASSERT_TRUE(window.state().selection().has_value());
    EXPECT_EQ(*window.state().selection(), (PieceId{1, 0, 3})) << "the one that was selected, a plan further down";
    window.state().select(PieceId{0, 0, 2});
    window.await([&] { window.knobs().setKey(kBatch, QStringLiteral("16")); });
    EXPECT_EQ(*window.state().selection(), (PieceId{0, 0, 2})) << "a kept plan does not change";
    EXPECT_TRUE(window.details().toPlainText().contains(QStringLiteral("naive \u00b7 local_batch_size 32")));
    trigger(window, "dropPlan");
    EXPECT_TRUE(window.state().kept().empty());
    EXPECT_FALSE(window.state().selection().has_value());
}

TEST(Kept, EveryPlanIsComparedWithItsOwnCounterpart) {
    OpenWindow window;
    window.openLecture();
    window.state().select(PieceId{0, 0, 0});
    trigger(window, "keepPlan");
    window.state().select(std::nullopt);
    trigger(window, "keepPlan");
    ASSERT_EQ(window.state().kept().size(), 2U);
    window.await([&] { window.knobs().setKey(kShards, QStringLiteral("8")); });
    EXPECT_EQ(titlesOf(window),
              QStringList({QStringLiteral("naive \u00b7 4 GPUs"), QStringLiteral("naive \u00b7 8 GPUs"),
                           QStringLiteral("fsdp \u00b7 4 GPUs"), QStringLiteral("fsdp \u00b7 8 GPUs")}));
    QStringList heads;
    for (int column = 0; column < window.differences().columnCount(); ++column)
        heads << window.differences().horizontalHeaderItem(column)->text();
    EXPECT_EQ(heads,
              QStringList({titlesOf(window)[0], titlesOf(window)[1], QStringLiteral("against naive \u00b7 4 GPUs"),
                           titlesOf(window)[2], titlesOf(window)[3], QStringLiteral("against fsdp \u00b7 4 GPUs")}));
    EXPECT_EQ(chipsOf(window), QStringList({titlesOf(window)[0] + QStringLiteral("  \u2715"),
                                            titlesOf(window)[2] + QStringLiteral("  \u2715")}));
    // What is dropped is what is selected, wherever it stands.
    window.state().select(PieceId{2, 0, 0});
    trigger(window, "dropPlan");
    EXPECT_EQ(titlesOf(window),
              QStringList({QStringLiteral("naive \u00b7 4 GPUs"), QStringLiteral("naive \u00b7 8 GPUs"),
                           QStringLiteral("fsdp \u00b7 8 GPUs")}));
    EXPECT_EQ(window.differences().horizontalHeaderItem(4)->text(), QStringLiteral("against naive \u00b7 8 GPUs"));
}

TEST(Kept, ThePairIsInSightAtOnce) {
    for (const char* language : {"en", "ko"}) {
        QSettings().clear();
        OpenWindow window{QLatin1String(language)};
        window.resize(1280, 800);
        window.openLecture();
        const auto expectInSight = [&](std::size_t plans) {
            // Whole strips, the memory of each included.
            const TimelineView& view = window.timeline();
            EXPECT_EQ(view.verticalScrollBar()->value(), 0);
            for (const Strip& strip : view.strips())
                if (strip.plan < plans) {
                    EXPECT_LE(strip.top + strip.height, view.plot().height())
                        << language << ": plan " << strip.plan << ", kind " << static_cast<int>(strip.kind);
                }
        };
        expectInSight(2);
        trigger(window, "keepPlan");
        window.await([&] { window.knobs().setKey(kShards, QStringLiteral("8")); });
        QApplication::processEvents();
        expectInSight(2);
        // Both columns and what lies between them; step, throughput, samples.
        const DifferencePanel& table = window.differences();
        const QRect last = table.visualItemRect(table.item(2, 2));
        EXPECT_TRUE(table.viewport()->rect().contains(last)) << language << last.right();
        EXPECT_GT(last.width(), 0);
    }
    QSettings().clear();
}

TEST(Kept, TheMemoryOfAShortStepEndsWithIt) {
    OpenWindow window;
    window.resize(1280, 800);
    window.openLecture();
    trigger(window, "keepPlan");
    window.await([&] { window.knobs().setKey(kShards, QStringLiteral("8")); });
    TimelineView& view = window.timeline();
    const auto strip = std::ranges::find_if(
        view.strips(), [](const Strip& one) { return one.kind == Strip::Kind::Memory && one.plan == 0; });
    ASSERT_NE(strip, view.strips().end());
    const QImage image = view.viewport()->grab().toImage();
    const auto end = static_cast<int>(view.xOf(static_cast<double>(window.state().plan(0).stepNs)));
    ASSERT_LT(end + 100, view.plot().right());
    const int y = strip->top + strip->height - 4;
    const QColor canvas = view.theme().canvas, grid = view.theme().grid;
    EXPECT_NE(image.pixelColor(end - 10, y), canvas) << "there is memory before";
    for (int x = end + 3; x < view.plot().right(); ++x) {
        const QColor colour = image.pixelColor(x, y);
        ASSERT_TRUE(colour == canvas || colour == grid) << x << " of a step that ends at " << end;
    }
    EXPECT_FALSE(view.wordsAt(QPoint(end - 10, y)).isEmpty());
    EXPECT_TRUE(view.wordsAt(QPoint(end + 20, y)).isEmpty());
    // Zoomed to where nothing of it is left, and to where a part is.
    window.state().show({1.5 * static_cast<double>(window.state().plan(0).stepNs), window.state().view().end()});
    EXPECT_EQ(view.viewport()->grab().toImage().pixelColor(view.plot().left() + 60, y), canvas);
}

TEST(Kept, AreAHandfulAndEachOnce) {
    OpenWindow window;
    window.openLecture();
    trigger(window, "keepPlan");
    trigger(window, "keepPlan");
    EXPECT_EQ(window.state().kept().size(), 1u) << "the same plan is not kept twice";
    for (std::size_t i = 1; i < kMostKept; ++i) {
        window.await([&] { window.knobs().setKey(kBatch, QString::number(8 * i)); });
        trigger(window, "keepPlan");
        EXPECT_EQ(window.state().kept().size(), i + 1);
    }
    window.await([&] { window.knobs().setKey(kBatch, QStringLiteral("48")); });
    const int steps = window.undoStack().count();
    trigger(window, "keepPlan");
    EXPECT_EQ(window.state().kept().size(), kMostKept);
    EXPECT_EQ(window.undoStack().count(), steps);
    bool told = false;
    for (const auto* label : window.findChildren<QLabel*>())
        told |= label->text() == QStringLiteral("4 plans are kept, which is the most. Drop one first.");
    EXPECT_TRUE(told);
    // And it draws them all.
    EXPECT_FALSE(window.timeline().wholePicture().isNull());
    EXPECT_EQ(window.state().plans().size(), kMostKept + 2);
}

TEST(Kept, StaysWhenAnotherModelIsOpened) {
    OpenWindow window;
    window.openLecture();
    trigger(window, "keepPlan");
    window.await([&] { window.openSample(1); });
    ASSERT_EQ(window.problem(), QString());
    ASSERT_EQ(window.state().plans().size(), 3u);
    for (std::size_t p = 0; p < 3; ++p)
        EXPECT_TRUE(window.state().titleOf(p).contains(toQString(window.state().plans()[p].report().modelName)))
            << window.state().titleOf(p).toStdString();
    EXPECT_FALSE(window.undoStack().canUndo());
    EXPECT_EQ(window.knobs().scenario(), window.shownScenario());
    trigger(window, "dropPlan");
    EXPECT_EQ(window.state().plans().size(), 2u);
}

TEST(Kept, TitlesNameAFewKeysAndThenNoMore) {
    const auto with = [](std::vector<std::string> overrides) {
        overrides.emplace_back("parallelism.data_parallel_shard_degree=4");
        auto answer = answerTo("vit_b_16", overrides, {"fsdp"});
        EXPECT_TRUE(answer.has_value());
        return ShownPlan{std::make_shared<const Answer>(std::move(*answer)), 0, false};
    };
    const auto titles = [](const std::vector<ShownPlan>& plans) {
        const auto distinctions = distinctionsOf(plans);
        QStringList all;
        for (std::size_t p = 0; p < plans.size(); ++p) all << titleOf(plans[p].plan(), distinctions[p]);
        return all;
    };
    setPictureLanguage(QStringLiteral("en"));
    const ShownPlan plain = with({});
    EXPECT_EQ(titles({plain}), QStringList{QStringLiteral("fsdp")});
    EXPECT_EQ(titles({plain, with({"parallelism.fsdp_forward_prefetch=1"})}),
              QStringList({QStringLiteral("fsdp \u00b7 fsdp_forward_prefetch 0"),
                           QStringLiteral("fsdp \u00b7 fsdp_forward_prefetch 1")}));
    EXPECT_EQ(titles({plain, with({"title=another"})}), QStringList({QStringLiteral("fsdp"), QStringLiteral("fsdp")}));
    const QStringList many = titles({plain, with({"parallelism.fsdp_forward_prefetch=1", "training.local_batch_size=2",
                                                  "training.optimizer=sgd", "parallelism.fsdp_wrap_root=false"})});
    EXPECT_EQ(many[1].count(u'\u00b7'), 3) << many[1].toStdString();
    EXPECT_TRUE(many[1].endsWith(QStringLiteral("\u2026")));
}

}  // namespace
}  // namespace shardscope::gui
