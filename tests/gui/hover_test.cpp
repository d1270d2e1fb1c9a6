// Every figure explains itself where the pointer rests: its formula with the numbers put in; every wait its cause.

#include <QTableWidget>

#include "cli/face/text_picture.h"
#include "core/scenario/keys.h"
#include "gui/view/difference_panel.h"
#include "gui/view/figure_words.h"
#include "gui/view/knob_panel.h"
#include "gui/view/sweep_panel.h"
#include "gui/view/words.h"
#include "gui/window/start_page.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

bool hasFigure(const QString& text) {
    return text.contains(QRegularExpression(QStringLiteral("[0-9]")));
}

void expectExplained(QTableWidget& table, int firstColumn) {
    int explained = 0;
    for (int row = 0; row < table.rowCount(); ++row)
        for (int column = firstColumn; column < table.columnCount(); ++column) {
            const QTableWidgetItem* item = table.item(row, column);
            if (item == nullptr || !hasFigure(item->text())) continue;
            ++explained;
            EXPECT_FALSE(item->toolTip().isEmpty()) << row << ", " << column << ": " << item->text().toStdString();
        }
    EXPECT_GT(explained, 10);
}

TEST(Hover, EveryFigureOfTheTablesHasItsFormula) {
    for (const char* language : {"en", "ko"}) {
        OpenWindow window{QLatin1String(language)};
        window.openLecture();
        expectExplained(window.differences(), 0);
        QSignalSpy finished(&window.sweep(), &SweepPanel::finished);
        window.sweep().start(QStringLiteral("training.local_batch_size"), QStringLiteral("8,16,32"));
        if (finished.isEmpty()) {
            ASSERT_TRUE(finished.wait(kPatience));
        }
        expectExplained(window.sweep().table(), 2);
    }
}

TEST(Hover, FormulasHaveTheFiguresThatTheyGive) {
    OpenWindow window;
    window.openLecture();
    const cli::Report& report = window.state().answer()->report;
    const auto rows = differencesOf(report);
    for (std::size_t p = 0; p < report.plans.size(); ++p)
        for (const DifferenceRow& row : rows) {
            const QString formula = figureFormula(row.figure, report, report.plans[p]);
            if (row.figure == Figure::WireBytes) continue;  // a sum of what each kind sends
            EXPECT_TRUE(formula.contains(valueText(row.unit, row.values[p])))
                << formula.toStdString() << "\nwithout " << valueText(row.unit, row.values[p]).toStdString();
        }
    const QString wire = figureFormula(Figure::WireBytes, report, report.plans[1]);
    EXPECT_TRUE(wire.contains(QStringLiteral("all-gather")) && wire.contains(QStringLiteral("reduce-scatter")))
        << wire.toStdString();
    EXPECT_TRUE(differenceFormula(rows[0], 1).contains(QStringLiteral(" / ")))
        << differenceFormula(rows[0], 1).toStdString();
}

TEST(Hover, EveryWaitOfEverySampleTellsItsCauseAndItsTime) {
    OpenWindow window;
    std::set<timeline::Cause> causes;
    for (int sample = 0; sample < static_cast<int>(samples().size()); ++sample) {
        window.await([&] { window.openSample(sample); });
        const auto answer = window.state().answer();
        ASSERT_NE(answer, nullptr);
        for (const LaneSet& set : answer->lanes)
            for (const Lane& lane : set.lanes) {
                if (lane.kind != Lane::Kind::State) continue;
                for (std::size_t i = 0; i < lane.pieces.size(); ++i) {
                    const formats::RowPiece piece = lane.pieces[i];
                    if (!isGap(piece.look)) continue;
                    causes.insert(piece.cause);
                    const QString words = describePiece(set, lane, piece);
                    const QString time = toQString(cli::durationText(piece.end - piece.begin));
                    EXPECT_TRUE(words.contains(time)) << words.toStdString();
                    EXPECT_NE(piece.cause, timeline::Cause::Unknown)
                        << "sample " << sample << ": " << words.toStdString();
                    const QString cause =
                        toQString(formats::fill(formats::englishText().waits[static_cast<std::size_t>(piece.cause)],
                                                set.timeline->strings[piece.causeUnit]));
                    EXPECT_FALSE(cause.isEmpty());
                    EXPECT_TRUE(words.contains(cause)) << words.toStdString();
                }
            }
    }
    EXPECT_GT(causes.size(), 3u) << "the samples have several";
}

TEST(Hover, HeadlinesSharesAndMemoryAreExplained) {
    OpenWindow window;
    window.openLecture();
    TimelineView& view = window.timeline();
    for (const Strip& strip : view.strips()) {
        if (strip.top + strip.height > view.plot().height()) continue;
        const int y = strip.top + strip.height / 2;
        const QString inside = view.wordsAt(QPoint(view.plot().center().x(), y));
        if (strip.kind == Strip::Kind::Header) {
            EXPECT_TRUE(inside.contains(QStringLiteral("compute / step = "))) << inside.toStdString();
        }
        if (strip.kind == Strip::Kind::Memory) {
            const QString first = view.wordsAt(QPoint(view.plot().left() + 1, y));
            EXPECT_TRUE(first.contains(QStringLiteral("in use at"))) << first.toStdString();
            EXPECT_TRUE(first.contains(QStringLiteral("that a GPU can use"))) << first.toStdString();
        }
        if (strip.kind == Strip::Kind::Lane &&
            window.state().lanes(strip.plan).lanes[strip.lane].kind == Lane::Kind::State) {
            const QString share = view.wordsAt(QPoint(view.plot().right() + 6, y));
            EXPECT_TRUE(share.contains(QStringLiteral("compute / step = "))) << share.toStdString();
        }
    }
}

TEST(Hover, EveryKnobTellsItsKeyItsRangeAndItsDefault) {
    OpenWindow window;
    for (const core::Key& key : core::scenarioKeys()) {
        const QString path = toQString(key.path);
        const QWidget* editor = window.knobs().editorOf(path);
        ASSERT_NE(editor, nullptr) << key.path;
        EXPECT_TRUE(editor->toolTip().contains(path)) << editor->toolTip().toStdString();
        EXPECT_TRUE(editor->toolTip().contains(toQString(core::describeType(key))));
        EXPECT_TRUE(editor->toolTip().contains(toQString(key.what)));
    }
}

}  // namespace
}  // namespace shardscope::gui
