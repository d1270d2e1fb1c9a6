// The statistics of a stretch of time, linked with the timeline both ways.

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QLineEdit>
#include <QTableView>

#include "gui/view/range_panel.h"
#include "gui/view/table_text.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

TEST(Statistics, OfTheWholeStepAreTheReports) {
    OpenWindow window;
    window.openLecture();
    for (const Grouping grouping : {Grouping::Kind, Grouping::Unit, Grouping::Rank}) {
        const auto rows = statisticsOf(window.state(), window.statistics().model().range(), grouping);
        for (std::size_t p = 0; p < 2; ++p) {
            const cli::PlanReport& plan = window.state().plan(p);
            std::int64_t waits = 0, exposed = 0, all = 0;
            double share = 0;
            for (const RangeRow& row : rows) {
                if (row.key.plan != p || !row.key.stream.empty()) continue;
                all += row.total;
                share += row.share;
                if (row.key.look == formats::Look::Exposed) exposed += row.total;
                if (row.key.look == formats::Look::Waiting || row.key.look == formats::Look::Idle) waits += row.total;
                EXPECT_LE(row.shortest, row.mean());
                EXPECT_LE(row.mean(), row.longest);
            }
            EXPECT_EQ(all, plan.allRanks.step);
            EXPECT_EQ(waits, plan.allRanks.gpuWaits());
            EXPECT_EQ(exposed, plan.allRanks.transfer);
            EXPECT_NEAR(share, 1, 1e-9);
        }
    }
    // The transfers of FSDP by number: what the report counts, of every rank.
    std::int64_t gathers = 0;
    for (const RangeRow& row : statisticsOf(window.state(), window.statistics().model().range(), Grouping::Kind))
        if (row.key.plan == 1 && row.key.look == formats::Look::Gather && row.key.stream == "all_gather")
            gathers = row.count;
    EXPECT_EQ(gathers, 4 * window.state().plan(1).classes[0].transfers.allGathers);
}

TEST(Statistics, OfAPartCountOnlyWhatLiesInIt) {
    OpenWindow window;
    window.openLecture();
    const double end = window.state().view().end();
    window.state().setRange(TimeRange{0.25 * end, 0.5 * end});
    std::int64_t all = 0;
    for (const RangeRow& row : window.statistics().model().rows())
        if (row.key.plan == 0 && row.key.stream.empty()) all += row.total;
    EXPECT_NEAR(static_cast<double>(all), 4 * 0.25 * end, 8) << "four stages, each for a quarter of the axis";
    window.state().setRange(TimeRange{2 * end, 3 * end});
    EXPECT_EQ(window.statistics().model().rowCount(), 0) << "nothing is there";
}

TEST(Statistics, AreAModelThatKeepsQtsRules) {
    OpenWindow window;
    QAbstractItemModelTester tester(&window.statistics().model(),
                                    QAbstractItemModelTester::FailureReportingMode::Fatal);
    QAbstractItemModelTester sorted(window.statistics().table().model(),
                                    QAbstractItemModelTester::FailureReportingMode::Fatal);
    window.openLecture();
    window.statistics().setGrouping(Grouping::Unit);
    window.state().setRange(TimeRange{0, 1e6});
    window.statistics().table().sortByColumn(RangeModel::Sum, Qt::DescendingOrder);
    const QAbstractItemModel& shown = window.statistics().shown();
    ASSERT_GT(shown.rowCount(), 2);
    for (int row = 1; row < shown.rowCount(); ++row)
        EXPECT_GE(shown.index(row - 1, RangeModel::Sum).data(RangeModel::kValueRole).toLongLong(),
                  shown.index(row, RangeModel::Sum).data(RangeModel::kValueRole).toLongLong());
    window.setLanguage(QStringLiteral("ko"));
    window.state().setRange(std::nullopt);
}

TEST(Statistics, AChosenRowIsHighlightedAndJumpedThrough) {
    OpenWindow window;
    window.openLecture();
    PageState& state = window.state();
    const RangeModel& model = window.statistics().model();
    const auto wanted = std::ranges::find_if(model.rows(), [](const RangeRow& row) {
        return row.key.plan == 0 && row.key.stream.empty() && row.key.look == formats::Look::Backward;
    });
    ASSERT_NE(wanted, model.rows().end());
    const QImage before = window.timeline().viewport()->grab().toImage();
    const auto row = static_cast<int>(wanted - model.rows().begin());
    window.statistics().table().setCurrentIndex(window.statistics().table().model()->index(row, 0));
    ASSERT_FALSE(state.highlight().empty());
    EXPECT_EQ(static_cast<std::int64_t>(state.highlight().size()), wanted->count);
    for (const PieceId& id : state.highlight())
        EXPECT_EQ(state.lanes(id.plan).lanes[id.lane].pieces.lookOf(id.piece), formats::Look::Backward);
    EXPECT_NE(window.timeline().viewport()->grab().toImage(), before);
    // Through all of them in order of time, and round again; the row stays marked and highlighted.
    std::vector<PieceId> seen;
    std::int64_t time = -1;
    for (std::size_t i = 0; i < state.highlight().size(); ++i) {
        window.actions().find(QStringLiteral("nextOfRow"))->trigger();
        seen.push_back(*state.selection());
        EXPECT_GE(state.pieceOf(seen.back())->begin, time);
        time = state.pieceOf(seen.back())->begin;
        EXPECT_EQ(window.statistics().table().currentIndex().row(), row);
    }
    EXPECT_EQ(seen, state.highlight());
    window.actions().find(QStringLiteral("nextOfRow"))->trigger();
    EXPECT_EQ(*state.selection(), seen.front());
    window.actions().find(QStringLiteral("previousOfRow"))->trigger();
    EXPECT_EQ(*state.selection(), seen.back());
    press(window.timeline(), Qt::Key_Escape);
    EXPECT_TRUE(state.highlight().empty());
    EXPECT_EQ(window.timeline().viewport()->grab().toImage().size(), before.size());
}

TEST(Statistics, TheRowOfWhatIsSelectedIsMarked) {
    OpenWindow window;
    window.openLecture();
    PageState& state = window.state();
    const RangeModel& model = window.statistics().model();
    for (const Grouping grouping : {Grouping::Kind, Grouping::Unit, Grouping::Rank}) {
        window.statistics().setGrouping(grouping);
        for (const PieceId& id : {PieceId{0, 0, 0}, PieceId{0, 2, 1}, PieceId{1, 0, 5}}) {
            state.select(id);
            const QModelIndex current = window.statistics().table().currentIndex();
            ASSERT_TRUE(current.isValid());
            EXPECT_EQ(model.rows()[static_cast<std::size_t>(current.row())].key, *keyOf(state, id, grouping));
            EXPECT_TRUE(state.highlight().empty()) << "marking is not choosing";
        }
    }
    // Of another row than the chosen one: the highlight goes.
    window.statistics().setGrouping(Grouping::Kind);
    state.select(PieceId{0, 0, 0});
    emit window.statistics().table().clicked(window.statistics().table().currentIndex());
    EXPECT_FALSE(state.highlight().empty());
    state.select(PieceId{1, 0, 0});
    EXPECT_TRUE(state.highlight().empty());
    state.select(std::nullopt);
    EXPECT_FALSE(window.statistics().table().currentIndex().isValid());
}

TEST(Statistics, AreCopiedAsCsvAndMarkdown) {
    OpenWindow window;
    window.openLecture();
    const RangeModel& model = window.statistics().model();
    window.actions().find(QStringLiteral("copyStatisticsCsv"))->trigger();
    const QStringList lines = QApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts);
    ASSERT_EQ(lines.size(), model.rowCount() + 1);
    EXPECT_EQ(lines.front(), QStringLiteral("plan,what,count,sum (ns),mean (ns),smallest (ns),largest (ns),share"));
    const RangeRow& first = model.rows().front();
    EXPECT_TRUE(lines[1].contains(QStringLiteral(",%1,%2,").arg(first.count).arg(first.total)))
        << lines[1].toStdString();
    window.actions().find(QStringLiteral("copyStatisticsMarkdown"))->trigger();
    const QStringList rows = QApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts);
    ASSERT_EQ(rows.size(), model.rowCount() + 2);
    EXPECT_EQ(rows[1], QStringLiteral("|---|---|---:|---:|---:|---:|---:|---:|"));
    for (const QString& row : rows) EXPECT_EQ(row.count(u'|'), 9) << row.toStdString();
}

TEST(Links, TheKeyboardFollowsThem) {
    OpenWindow window;
    window.openLecture();
    PageState& state = window.state();
    ASSERT_TRUE(window.search(QStringLiteral("reduce-scatter")));
    const PieceId start = *state.selection();
    const timeline::Timeline& t = *state.lanes(start.plan).timeline;
    const auto linked = [&](std::uint32_t from, std::uint32_t to) {
        if (from + 1 == to && t.spans.lane[from] == t.spans.lane[to]) return true;  // the order of their stream
        return std::ranges::any_of(t.flows, [&](const timeline::Flow& f) { return f.from == from && f.to == to; });
    };
    const auto spanOf = [&] { return state.pieceOf(*state.selection())->span; };
    const std::uint32_t span = spanOf();
    window.actions().find(QStringLiteral("followBack"))->trigger();
    ASSERT_NE(spanOf(), span);
    EXPECT_TRUE(linked(spanOf(), span));
    const std::uint32_t before = spanOf();
    for (const timeline::Flow& flow : t.flows) {
        if (flow.to == span) {
            EXPECT_LE(t.spans.end[flow.from], t.spans.end[before]) << "the last that it waited for";
        }
    }
    state.select(start);
    window.actions().find(QStringLiteral("followForward"))->trigger();
    ASSERT_NE(spanOf(), span);
    EXPECT_TRUE(linked(span, spanOf()));
    // And along a chain to its beginning: every link ends before what waited for it.
    for (int i = 0; i < 10; ++i) {
        const std::int64_t end = t.spans.end[spanOf()];
        window.actions().find(QStringLiteral("followBack"))->trigger();
        EXPECT_LE(t.spans.end[spanOf()], end);
    }
    // From a gap to what is to blame for it.
    const Pieces& stage = state.lanes(0).lanes[0].pieces;
    for (std::size_t i = 0; i < stage.size(); ++i) {
        if (!isGap(stage.lookOf(i)) || stage.spanOf(i) == timeline::kNoIndex) continue;
        state.select(PieceId{0, 0, i});
        state.follow(-1);
        EXPECT_EQ(spanOf(), stage.spanOf(i));
        EXPECT_NE(*state.selection(), (PieceId{0, 0, i}));
        break;
    }
    state.select(std::nullopt);
    state.follow(1);
    EXPECT_FALSE(state.selection().has_value());
}

}  // namespace
}  // namespace shardscope::gui
