// Identical ranks as one row with their count, or one by one.

#include <QInputDialog>
#include <QScrollBar>
#include <QTimer>

#include "gui/view/details_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/view/words.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

QStringList stateLabels(MainWindow& window, std::size_t plan) {
    QStringList labels;
    for (const Strip& strip : window.timeline().strips())
        if (strip.kind == Strip::Kind::Lane && strip.plan == plan &&
            window.state().lanes(plan).lanes[strip.lane].kind == Lane::Kind::State)
            labels << window.timeline().labelOf(strip);
    return labels;
}

const Strip& firstOf(MainWindow& window, std::size_t plan) {
    return *std::ranges::find_if(window.timeline().strips(), [&](const Strip& strip) {
        return strip.kind == Strip::Kind::Lane && strip.plan == plan;
    });
}

void openIdentical(MainWindow& window, OpenWindow& open, int ranks) {
    open.openLecture();
    open.await([&] { window.actions().find(QStringLiteral("strategyNaive"))->trigger(); });
    open.await([&] {
        window.knobs().setKey(QStringLiteral("parallelism.data_parallel_shard_degree"), QString::number(ranks));
    });
    ASSERT_EQ(window.problem(), QString());
}

TEST(Folding, AClassIsOneRowWithItsCountUntilItsLabelIsClicked) {
    OpenWindow window;
    window.openLecture();
    EXPECT_EQ(stateLabels(window, 0), QStringList({QStringLiteral("stage 0"), QStringLiteral("stage 1"),
                                                   QStringLiteral("stage 2"), QStringLiteral("stage 3")}))
        << "ranks with clocks of their own stay apart";
    EXPECT_EQ(stateLabels(window, 1), QStringList{QStringLiteral("\u25b8 all ranks x 4")});
    const QImage folded = window.timeline().wholePicture();
    const auto click = [&] {
        const Strip& strip = firstOf(window, 1);
        window.timeline().verticalScrollBar()->setValue(strip.top - 20);
        const QPoint at(6, strip.top + strip.height / 2 - window.timeline().verticalScrollBar()->value());
        EXPECT_FALSE(window.timeline().wordsAt(at).isEmpty());
        QTest::mouseClick(window.timeline().viewport(), Qt::LeftButton, {}, at);
    };
    click();
    EXPECT_EQ(stateLabels(window, 1), QStringList({QStringLiteral("\u25be rank 0"), QStringLiteral("\u25be rank 1"),
                                                   QStringLiteral("\u25be rank 2"), QStringLiteral("\u25be rank 3")}));
    EXPECT_EQ(stateLabels(window, 0).size(), 4);
    click();
    EXPECT_EQ(stateLabels(window, 1), QStringList{QStringLiteral("\u25b8 all ranks x 4")});
    EXPECT_EQ(window.timeline().wholePicture(), folded);
    // The labels of stages do nothing.
    const Strip& stage = firstOf(window, 0);
    window.timeline().verticalScrollBar()->setValue(0);
    const auto rows = window.state().rows().size();
    QTest::mouseClick(window.timeline().viewport(), Qt::LeftButton, {}, QPoint(6, stage.top + stage.height / 2));
    EXPECT_EQ(window.state().rows().size(), rows);
}

TEST(Folding, TheKeyboardUnfoldsWhatIsSelectedOrAll) {
    OpenWindow window;
    window.openLecture();
    PageState& state = window.state();
    QAction* fold = window.actions().find(QStringLiteral("fold"));
    fold->trigger();
    EXPECT_EQ(stateLabels(window, 1).size(), 4);
    fold->trigger();
    EXPECT_EQ(stateLabels(window, 1).size(), 1);
    state.select(PieceId{0, 0, 0});
    fold->trigger();
    EXPECT_EQ(stateLabels(window, 1).size(), 1) << "a stage is a class of one";
    state.select(PieceId{1, 0, 2});
    fold->trigger();
    EXPECT_EQ(stateLabels(window, 1).size(), 4);
    // Down through every rank: each has a row of its own.
    std::vector<std::int64_t> ranks{state.selection()->rank};
    for (int i = 0; i < 40; ++i) {
        press(window.timeline(), Qt::Key_Down);
        if (state.selection()->rank != ranks.back()) ranks.push_back(state.selection()->rank);
    }
    EXPECT_EQ(ranks, (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_TRUE(window.details().toPlainText().contains(QStringLiteral("rank 3")));
    // Folded again, what is selected is on the row that is there.
    fold->trigger();
    EXPECT_EQ(state.selection()->rank, 0);
    EXPECT_TRUE(window.details().toPlainText().contains(QStringLiteral("all ranks x 4")));
}

TEST(Folding, OneOfManyIsShownBesideTheOthers) {
    OpenWindow window;
    openIdentical(window, window, 128);
    PageState& state = window.state();
    EXPECT_EQ(stateLabels(window, 0), QStringList{QStringLiteral("\u25b8 all ranks x 128")});
    state.unfold(0, 0, {Unfolding::Kind::Single, 70});
    EXPECT_EQ(stateLabels(window, 0),
              QStringList({QStringLiteral("\u25be rank 70"), QStringLiteral("\u25be the other 127")}));
    state.unfold(0, 0, {Unfolding::Kind::Single, 9999});
    EXPECT_EQ(stateLabels(window, 0).front(), QStringLiteral("\u25be rank 127"));
    state.unfold(0, 0, {Unfolding::Kind::Unfolded});
    ASSERT_EQ(stateLabels(window, 0).size(), kMostUnfolded + 1);
    EXPECT_EQ(stateLabels(window, 0).back(), QStringLiteral("\u25be the other 64"));
    // By the menu, which asks for its number.
    QTimer::singleShot(0, &window, [&] {
        auto* dialog = window.findChild<QInputDialog*>();
        ASSERT_NE(dialog, nullptr);
        EXPECT_EQ(dialog->intMaximum(), 127);
        dialog->setIntValue(5);
        dialog->accept();
    });
    window.actions().find(QStringLiteral("oneRank"))->trigger();
    EXPECT_EQ(stateLabels(window, 0).front(), QStringLiteral("\u25be rank 5"));
    // How it is folded outlasts a knob; of fewer ranks it is the last.
    window.await(
        [&] { window.knobs().setKey(QStringLiteral("parallelism.data_parallel_shard_degree"), QStringLiteral("4")); });
    EXPECT_EQ(stateLabels(window, 0),
              QStringList({QStringLiteral("\u25be rank 3"), QStringLiteral("\u25be the other 3")}));
}

TEST(Folding, RowsOfIdenticalRanksShowTheSameAtTheSameTime) {
    OpenWindow window;
    openIdentical(window, window, 4);
    window.state().unfold(0, 0, {Unfolding::Kind::Unfolded});
    const TimelineView& view = window.timeline();
    view.verticalScrollBar()->setValue(0);
    std::vector<PieceId> pieces;
    for (const Strip& strip : view.strips())
        if (strip.kind == Strip::Kind::Lane && strip.lane == 0) {
            const auto piece = view.pieceAt({view.plot().center().x(), strip.top + strip.height / 2});
            ASSERT_TRUE(piece.has_value());
            pieces.push_back(*piece);
        }
    ASSERT_EQ(pieces.size(), 4u);
    for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
        EXPECT_EQ(pieces[rank].rank, static_cast<std::int64_t>(rank));
        EXPECT_EQ(pieces[rank].piece, pieces.front().piece);
    }
}

TEST(Folding, SelectingInOneRankLeavesTheOthers) {
    OpenWindow window;
    openIdentical(window, window, 4);
    PageState& state = window.state();
    state.unfold(0, 0, {Unfolding::Kind::Unfolded});
    state.select(PieceId{0, 0, 2, 3});
    EXPECT_EQ(state.selection()->rank, 3);
    state.step(1);
    EXPECT_EQ(*state.selection(), (PieceId{0, 0, 3, 3}));
    const auto span = state.pieceOf(*state.selection())->span;
    EXPECT_EQ(state.findSpan(0, span)->rank, 3) << "links stay with the rank";
    state.setStreamsShown(false);
    press(window.timeline(), Qt::Key_Up);
    EXPECT_EQ(state.selection()->rank, 2);
}

}  // namespace
}  // namespace shardscope::gui
