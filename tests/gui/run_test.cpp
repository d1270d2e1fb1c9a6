// A run in the window: measured above predicted on one clock, the same op in both, and what can go wrong.

#include <QLabel>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>

#include "cli/face/files.h"
#include "gui/view/details_panel.h"
#include "gui/view/difference_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/view/run_figures.h"
#include "gui/view/sweep_panel.h"
#include "gui/view/words.h"
#include "gui/window/session.h"
#include "tests/gui/open_window.h"
#include "tests/gui/small_run.h"

namespace shardscope::gui {
namespace {

struct RunWindow : OpenWindow {
    using OpenWindow::OpenWindow;
    QTemporaryDir folder;

    QString pathOf(const char* name) const { return folder.filePath(QLatin1String(name)); }
    void open(const QString& path) {
        await([&] { openPath(path); });
    }
    void openSmall(bool predicted = true) {
        const QString path = pathOf("run.json.gz");
        write(smallRun(predicted).file, path);
        open(path);
        ASSERT_NE(state().answer(), nullptr) << problem().toStdString();
    }
    [[nodiscard]] QString cell(int row, int column) { return differences().item(row, column)->text(); }
};

TEST(Run, ShowsMeasuredAbovePredictedOnOneClock) {
    RunWindow window;
    window.openSmall();
    EXPECT_EQ(window.problem(), QString());
    ASSERT_EQ(window.state().plans().size(), 2u);
    EXPECT_EQ(window.state().titleOf(0), QStringLiteral("measured"));
    EXPECT_EQ(window.state().titleOf(1), QStringLiteral("predicted"));
    const cli::PlanReport &measured = window.state().plan(0), &predicted = window.state().plan(1);
    EXPECT_EQ(measured.timeline.ranks.size(), 2u) << "a row a rank";
    EXPECT_EQ(predicted.timeline.ranks.size(), 1u) << "ranks that do the same";
    EXPECT_EQ(measured.graph, predicted.graph);
    EXPECT_EQ(window.state().view().end(), static_cast<double>(measured.stepNs));
    EXPECT_GT(measured.stepNs, predicted.stepNs);
    for (const LaneSet* set : {&window.state().lanes(0), &window.state().lanes(1)}) {
        EXPECT_FALSE(set->memory.time.empty());
        EXPECT_EQ(set->capacity, 0) << "no GPU's";
    }
    EXPECT_TRUE(window.windowTitle().contains(QStringLiteral("run.json.gz")));
}

TEST(Run, IsOpenedByDroppingItAndWithoutPacking) {
    RunWindow window;
    const QString path = window.pathOf("plain.json");
    write(smallRun().file, path);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    window.await([&] {
        QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &enter);
        QDropEvent event(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &event);
    });
    ASSERT_NE(window.state().answer(), nullptr) << window.problem().toStdString();
    EXPECT_EQ(window.state().plans().size(), 2u);
}

TEST(Run, AnOpIsSelectedInBothTimelines) {
    RunWindow window;
    window.openSmall();
    PageState& state = window.state();
    ASSERT_TRUE(window.search(QStringLiteral("all-gather")));
    const PieceId selected = *state.selection();
    ASSERT_EQ(selected.plan, 0u);
    ASSERT_EQ(state.twins().size(), 1u);
    const PieceId twin = state.twins().front();
    EXPECT_EQ(twin.plan, 1u);
    const auto opOf = [&](const PieceId& id) {
        return state.lanes(id.plan).timeline->spans.op[state.pieceOf(id)->span];
    };
    EXPECT_EQ(opOf(twin), opOf(selected));
    EXPECT_TRUE(window.timeline().rectOf(twin).has_value());
    // And back, to the first of the ranks that one row stands for; to the other one where that is the one.
    state.select(twin);
    ASSERT_EQ(state.twins().size(), 1u);
    EXPECT_EQ(opOf(state.twins().front()), opOf(selected));
    EXPECT_EQ(state.lanes(0).timeline->ranks[state.lanes(0).lanes[state.twins().front().lane].rankIndex].rank, 0);
    state.unfold(twin.plan, twin.lane, {Unfolding::Kind::Unfolded});
    PieceId second = twin;
    second.rank = 1;
    state.select(second);
    ASSERT_EQ(state.twins().size(), 1u);
    EXPECT_EQ(state.lanes(0).timeline->ranks[state.lanes(0).lanes[state.twins().front().lane].rankIndex].rank, 1);
    // Its instants side by side.
    const QString details = window.details().toPlainText();
    for (const char* word : {"measured", "predicted", "waits", "works"})
        EXPECT_TRUE(details.contains(QLatin1String(word))) << details.toStdString();
    const timeline::Spans& spans = state.lanes(1).timeline->spans;
    EXPECT_TRUE(details.contains(instantText(spans.end[state.pieceOf(twin)->span])));
    state.select(std::nullopt);
    EXPECT_TRUE(state.twins().empty());
}

TEST(Run, AGapIsNoOpOfTheOtherTimeline) {
    RunWindow window;
    window.openSmall();
    const LaneSet& set = window.state().lanes(0);
    for (std::size_t i = 0; i < set.lanes[0].pieces.size(); ++i) {
        window.state().select(PieceId{0, 0, i});
        EXPECT_TRUE(!isGap(set.lanes[0].pieces.lookOf(i)) || window.state().twins().empty());
    }
}

TEST(Run, KnobsAskWhatIf) {
    RunWindow window;
    window.openSmall();
    EXPECT_FALSE(window.knobs().frozen());
    window.await([&] {
        window.knobs().setKey(QStringLiteral("parallelism.fsdp_reshard_after_forward"), QStringLiteral("never"));
    });
    EXPECT_EQ(window.problem(), QString());
    ASSERT_EQ(window.state().plans().size(), 3u);
    EXPECT_TRUE(window.state().titleOf(2).startsWith(QStringLiteral("what if")));
    EXPECT_LT(window.state().plan(2).classes[0].transfers.allGathers,
              window.state().plan(1).classes[0].transfers.allGathers);
    EXPECT_EQ(window.state().plan(0).name, "measured");
    // What was not measured is refused where it was turned.
    window.await([&] { window.knobs().setKey(QStringLiteral("training.local_batch_size"), QStringLiteral("3")); });
    EXPECT_FALSE(window.knobs().problemOf(QStringLiteral("training.local_batch_size")).isEmpty());
    window.await([&] { window.undoStack().undo(); });
    window.await([&] { window.undoStack().undo(); });
    EXPECT_EQ(window.state().plans().size(), 2u);
}

TEST(Run, WithoutTimesStandsAloneUntilTheyAreGiven) {
    RunWindow window;
    window.openSmall(false);
    EXPECT_EQ(window.state().plans().size(), 1u);
    EXPECT_TRUE(window.problem().contains(QStringLiteral("--compare"))) << window.problem().toStdString();
    EXPECT_TRUE(window.knobs().frozen());
    EXPECT_FALSE(window.knobs().editorOf(QStringLiteral("training.local_batch_size"))->isEnabled());
    EXPECT_TRUE(window.actions().find(QStringLiteral("predictRun"))->isEnabled());
    EXPECT_FALSE(window.state().lanes(0).memory.time.empty()) << "its graph is known";
    // Of another machine: refused, and the run stays.
    SmallRun small = smallRun();
    small.times.processor = "another processor";
    write(small.times, window.pathOf("other.json"));
    window.await([&] { window.predictRun(window.pathOf("other.json")); });
    EXPECT_TRUE(window.problem().contains(QStringLiteral("another processor"))) << window.problem().toStdString();
    EXPECT_TRUE(window.problem().contains(window.pathOf("other.json")));
    EXPECT_EQ(window.state().plans().size(), 1u);
    small.times.processor = "a processor";
    write(small.times, window.pathOf("machine.json"));
    window.await([&] { window.predictRun(window.pathOf("machine.json")); });
    EXPECT_EQ(window.problem(), QString());
    EXPECT_EQ(window.state().plans().size(), 2u);
    EXPECT_FALSE(window.knobs().frozen());
}

TEST(Run, OfAnotherGraphStandsAloneAndSaysWhy) {
    RunWindow window;
    SmallRun small = smallRun();
    small.file.about.set("graph_hash", core::Document::of("0123456789abcdef"));
    write(small.file, window.pathOf("old.json.gz"));
    window.open(window.pathOf("old.json.gz"));
    ASSERT_EQ(window.state().plans().size(), 1u) << window.problem().toStdString();
    EXPECT_TRUE(window.problem().contains(QStringLiteral("another version"))) << window.problem().toStdString();
    EXPECT_TRUE(window.state().lanes(0).memory.time.empty());
    ASSERT_TRUE(window.search(QStringLiteral("all-gather")));
    EXPECT_TRUE(window.details().toPlainText().contains(QStringLiteral("takes")));
    window.state().select(std::nullopt);
    window.timeline().grab();
}

TEST(Run, IsSavedAsAPictureWithoutGpus) {
    RunWindow window;
    const auto picture = [&](const char* name) {
        EXPECT_TRUE(window.exportPicture(window.pathOf(name))) << window.problem().toStdString();
        return *cli::readFile(window.pathOf(name).toStdString());
    };
    window.openSmall();
    const std::string both = picture("both.svg");
    EXPECT_NE(both.find("predicted"), std::string::npos);
    EXPECT_NE(both.find("each rank works"), std::string::npos);
    SmallRun small = smallRun();
    small.file.about.set("graph_hash", core::Document::of("0"));
    write(small.file, window.pathOf("old.json.gz"));
    window.open(window.pathOf("old.json.gz"));
    EXPECT_NE(picture("alone.svg").find("measured"), std::string::npos);
}

TEST(Run, BrokenOnesAreNamedWithWhatToDo) {
    RunWindow window;
    window.openLecture();
    const auto before = window.state().answer();
    const QString whole = window.pathOf("whole.json.gz");
    write(smallRun().file, whole);
    const std::string packed = *cli::readFile(whole.toStdString());
    write(smallRun().file, window.pathOf("whole.json"));
    const std::string plain = *cli::readFile(window.pathOf("whole.json").toStdString());
    const auto file = [&](const char* name, const std::string& bytes) {
        QFile out(window.pathOf(name));
        EXPECT_TRUE(out.open(QIODevice::WriteOnly));
        out.write(QByteArray::fromStdString(bytes));
        return out.fileName();
    };
    std::string version = plain;
    version.replace(version.find("\"version\":2", version.find("shardscope.timeline")), 11, "\"version\":9");
    const std::pair<QString, const char*> files[] = {
        {file("cut.json.gz", packed.substr(0, packed.size() / 2)), "cut off"},
        {file("cut.json", plain.substr(0, plain.size() / 2)), ""},
        {file("later.json", version), "version 9"},
        {file("kineto.json", R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "aten::mm"}]})"),
         "another tool"},
        {file("list.json", R"([{"ph": "X", "name": "a"}])"), "no run"},
    };
    for (const auto& [path, words] : files) {
        window.open(path);
        EXPECT_TRUE(window.problem().contains(path)) << window.problem().toStdString();
        EXPECT_TRUE(window.problem().contains(QLatin1String(words))) << window.problem().toStdString();
        EXPECT_TRUE(window.problem().contains(u'\n')) << "without what to do: " << window.problem().toStdString();
        EXPECT_EQ(window.state().answer(), before);
    }
}

TEST(Run, ChangesItsLanguageWhileOpen) {
    RunWindow window;
    window.openSmall(false);
    window.setLanguage(QStringLiteral("ko"));
    QApplication::processEvents();
    EXPECT_EQ(window.state().titleOf(0), QStringLiteral("실측"));
    EXPECT_TRUE(window.problem().contains(QStringLiteral("실행만")));
    EXPECT_EQ(window.differences().verticalHeaderItem(0)->text(), QStringLiteral("스텝"));
    window.setLanguage(QStringLiteral("en"));
    QApplication::processEvents();
    EXPECT_EQ(window.state().titleOf(0), QStringLiteral("measured"));
    EXPECT_TRUE(window.problem().contains(QStringLiteral("shown alone")));
}

TEST(Run, ScenariosAreAsBeforeAfterOne) {
    RunWindow window;
    window.openSmall(false);
    EXPECT_FALSE(window.actions().find(QStringLiteral("strategyFsdp"))->isEnabled());
    window.openLecture();
    EXPECT_TRUE(window.actions().find(QStringLiteral("strategyFsdp"))->isEnabled());
    EXPECT_FALSE(window.knobs().frozen());
    EXPECT_TRUE(window.knobs().editorOf(QStringLiteral("training.local_batch_size"))->isEnabled());
    EXPECT_EQ(window.differences().verticalHeaderItem(1)->text(), QStringLiteral("Throughput"));
}

TEST(Run, IsContinuedWithItsTimes) {
    QSettings().clear();
    QTemporaryDir folder;
    const QString run = folder.filePath(QStringLiteral("run.json.gz"));
    const QString times = folder.filePath(QStringLiteral("machine.json"));
    write(smallRun(false).file, run);
    write(smallRun().times, times);
    {
        OpenWindow window;
        window.await([&] { window.openPath(run); });
        window.await([&] { window.predictRun(times); });
        EXPECT_EQ(window.state().plans().size(), 2u) << window.problem().toStdString();
        window.close();
    }
    OpenWindow next;
    next.await([&] { next.continueSession(); });
    EXPECT_EQ(next.problem(), QString());
    EXPECT_EQ(next.state().plans().size(), 2u);
    next.close();
    QSettings().clear();
}

TEST(Run, ContinuedAloneSaysAlsoWhatWasLost) {
    QSettings().clear();
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.json.gz"));
    const SmallRun small = smallRun(false);
    write(small.file, path);
    Session session;
    session.parts.push_back({"/nowhere/absent.toml", "[model]\nname = \"vit_tiny\"\n", {"fsdp"}, "", "fsdp"});
    session.parts.push_back({path.toStdString(), small.file.scenario, {"fsdp"}, "", ""});
    writeSession(session);
    OpenWindow window;
    window.await([&] { window.continueSession(); });
    ASSERT_NE(window.state().answer(), nullptr) << window.problem().toStdString();
    for (const char* words : {"The kept plan fsdp", "absent.toml", "The run is shown alone"})
        EXPECT_TRUE(window.problem().contains(QLatin1String(words))) << window.problem().toStdString();
    window.close();
    QSettings().clear();
}

TEST(Run, PredictedIsTheOneThatIsRememberedAsOpened) {
    QSettings().clear();
    RunWindow window;
    window.openSmall(false);
    write(smallRun().times, window.pathOf("machine.json"));
    const QString absent = window.pathOf("absent.json");
    window.open(absent);
    EXPECT_TRUE(window.problem().contains(QStringLiteral("absent.json")));
    window.await([&] { window.predictRun(window.pathOf("machine.json")); });
    EXPECT_EQ(window.state().plans().size(), 2u) << window.problem().toStdString();
    EXPECT_EQ(QSettings().value(QStringLiteral("recent")).toStringList(), QStringList{window.pathOf("run.json.gz")});
    QSettings().clear();
}

TEST(Run, IsLetGoOfWithTheNextDocument) {
    RunWindow window;
    window.openSmall(false);
    const std::weak_ptr<const Answer> run = window.state().answer();
    window.openLecture();
    window.openLecture();
    EXPECT_TRUE(run.expired());
}

TEST(Run, TheExampleIsOfTodaysGraph) {
    RunWindow window;
    window.open(QStringLiteral(SHARDSCOPE_SOURCE_DIR "/examples/run_fsdp_2.json.gz"));
    ASSERT_NE(window.state().answer(), nullptr) << window.problem().toStdString();
    EXPECT_EQ(window.state().plans().size(), 2u)
        << window.problem().toStdString() << "\nmake it anew, as docs/window.md tells";
}

/// The panel against the document of `run --compare --json` of a true run, to the digit.
TEST(Run, FiguresAreThoseOfTheCommandLine) {
    RunWindow window;
    const QString path = window.pathOf("true.json.gz");
    QProcess program;
    program.start(QStringLiteral(SHARDSCOPE_PROGRAM),
                  {QStringLiteral("run"), QStringLiteral("vit_tiny"), QStringLiteral("--ranks"), QStringLiteral("2"),
                   QStringLiteral("--steps"), QStringLiteral("4"), QStringLiteral("--set"),
                   QStringLiteral("training.local_batch_size=2"), QStringLiteral("--compare"), QStringLiteral("--json"),
                   QStringLiteral("-o"), path});
    ASSERT_TRUE(program.waitForFinished(kPatience));
    ASSERT_EQ(program.exitCode(), 0) << program.readAllStandardError().toStdString();
    const auto document = core::parseJson(program.readAllStandardOutput().toStdString(), "run");
    ASSERT_TRUE(document) << core::describe(document.error());
    window.open(path);
    ASSERT_EQ(window.problem(), QString());
    ASSERT_EQ(window.state().plans().size(), 2u);
    const std::vector<cli::FigureRow> rows = runRowsOf(window.state().plans());
    const std::vector<core::Document>& printed = document->find("prediction")->items;
    ASSERT_EQ(rows.size(), printed.size());
    ASSERT_EQ(window.differences().rowCount(), static_cast<int>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].what, printed[i].find("what")->text);
        EXPECT_EQ(rows[i].bytes, printed[i].find("unit")->text == "bytes");
        EXPECT_EQ(rows[i].values[0], printed[i].find("measured")->number()) << rows[i].what;
        EXPECT_EQ(rows[i].values[1], printed[i].find("predicted")->number()) << rows[i].what;
        EXPECT_EQ(window.cell(static_cast<int>(i), 0), runValueText(rows[i], 0));
        EXPECT_EQ(window.cell(static_cast<int>(i), 1), runValueText(rows[i], 1));
        EXPECT_EQ(window.cell(static_cast<int>(i), 2), runDifferenceText(rows[i], 1, 0));
    }
}

}  // namespace
}  // namespace shardscope::gui
