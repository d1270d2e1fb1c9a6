// What a window keeps from one time to the next.

#include <QDockWidget>
#include <QPushButton>
#include <QScreen>
#include <QUndoStack>

#include "gui/view/knob_panel.h"
#include "gui/window/start_page.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

const QString kBatch = QStringLiteral("training.local_batch_size");

QPushButton* continueButton(MainWindow& window) {
    for (auto* button : window.findChild<StartPage*>()->findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Continue where you were")) return button;
    return nullptr;
}

TEST(Session, IsContinuedWithItsKeptPlansItsKnobsAndItsView) {
    QSettings().clear();
    QStringList titles;
    TimeRange view;
    std::vector<std::string> reports;
    core::Scenario scenario;
    const auto reportOf = [](const ShownPlan& plan) { return core::writeJson(cli::reportDocument(plan.report())); };
    {
        OpenWindow window;
        EXPECT_FALSE(continueButton(window)->isVisible());
        window.openLecture();
        window.keepPlan();
        window.await([&] { window.knobs().setKey(kBatch, QStringLiteral("16")); });
        window.state().select(PieceId{0, 0, 1});
        window.await([&] { window.actions().find(QStringLiteral("strategyNaive"))->trigger(); });
        window.await([&] {
            window.knobs().setKey(QStringLiteral("parallelism.data_parallel_shard_degree"), QStringLiteral("8"));
        });
        window.actions().find(QStringLiteral("streams"))->trigger();
        window.actions().find(QStringLiteral("alignEnd"))->trigger();
        window.state().show({0.25 * window.state().view().end(), 0.5 * window.state().view().end()});
        for (std::size_t p = 0; p < window.state().plans().size(); ++p) {
            titles << window.state().titleOf(p);
            reports.push_back(reportOf(window.state().plans()[p]));
        }
        view = window.state().view().range();
        scenario = window.shownScenario();
        window.close();
    }
    OpenWindow window;
    EXPECT_EQ(window.state().answer(), nullptr) << "nothing is simulated unasked";
    ASSERT_TRUE(continueButton(window)->isVisible());
    EXPECT_FALSE(window.state().streamsShown());
    EXPECT_EQ(window.state().alignment(), Alignment::StepEnd);
    window.await([&] { continueButton(window)->click(); });
    EXPECT_EQ(window.problem(), QString());
    ASSERT_EQ(window.state().plans().size(), reports.size());
    for (std::size_t p = 0; p < reports.size(); ++p) {
        EXPECT_EQ(window.state().titleOf(p), titles[static_cast<qsizetype>(p)]);
        EXPECT_EQ(reportOf(window.state().plans()[p]), reports[p]);
    }
    EXPECT_TRUE(window.state().plans()[0].kept);
    EXPECT_EQ(window.shownScenario(), scenario);
    EXPECT_EQ(window.knobs().scenario(), scenario);
    EXPECT_NEAR(window.state().view().range().begin, view.begin, 1e-6 * view.begin);
    EXPECT_NEAR(window.state().view().range().end, view.end, 1e-6 * view.end);
    EXPECT_FALSE(window.undoStack().canUndo());
    // And it goes on: the kept plan is dropped, a knob turned.
    window.actions().find(QStringLiteral("dropPlans"))->trigger();
    EXPECT_EQ(window.state().plans().size(), 1u);
    window.await([&] { window.knobs().setKey(kBatch, QStringLiteral("8")); });
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 8);
    QSettings().clear();
}

TEST(Session, WhoseFileIsGoneSaysSoAndLosesNothingElse) {
    QSettings().clear();
    Session session;
    const std::string scenario = "[model]\nname = \"vit_b_16\"\n[parallelism]\ndata_parallel_shard_degree = 4\n";
    session.parts.push_back({"/nowhere/absent.toml", scenario, {"fsdp"}, "", "fsdp"});
    session.parts.push_back({"vit_b_16", scenario, {"fsdp"}, "", ""});
    writeSession(session);
    {
        OpenWindow window;
        window.await([&] { window.continueSession(); });
        EXPECT_TRUE(window.problem().contains(QStringLiteral("The kept plan fsdp"))) << window.problem().toStdString();
        EXPECT_TRUE(window.problem().contains(QStringLiteral("absent.toml"))) << window.problem().toStdString();
        ASSERT_EQ(window.state().plans().size(), 1u) << "the kept plan whose file is gone is left out";
        EXPECT_EQ(window.shownScenario().parallelism.shardDegree, 4);
        // Said once: the next answer has nothing to do with it.
        window.await([&] { window.knobs().setKey(kBatch, QStringLiteral("8")); });
        EXPECT_EQ(window.problem(), QString());
    }
    session.parts = {{"/nowhere/absent.toml", scenario, {"fsdp"}, "", ""}};
    writeSession(session);
    OpenWindow window;
    window.await([&] { window.continueSession(); });
    EXPECT_TRUE(window.problem().contains(QStringLiteral("absent.toml"))) << window.problem().toStdString();
    EXPECT_EQ(window.state().answer(), nullptr);
    window.openLecture();
    QSettings().clear();
}

TEST(Session, IsBelievedNothing) {
    QSettings().clear();
    EXPECT_TRUE(readSession().empty());
    QSettings().setValue(QStringLiteral("session/size"), 1'000'000);
    QSettings().setValue(QStringLiteral("session/1/source"), QStringLiteral("vit_b_16"));
    EXPECT_TRUE(readSession().empty()) << "no strategies, no present scenario";
    Session session;
    session.parts = {{"vit_b_16", "[[[ no TOML", {"fsdp"}, "", ""}};
    session.begin = 7;
    session.end = -3;
    writeSession(session);
    OpenWindow window;
    window.await([&] { window.continueSession(); });
    EXPECT_FALSE(window.problem().isEmpty());
    EXPECT_EQ(window.state().answer(), nullptr);
    QSettings().clear();
}

TEST(Session, AnotherDocumentInBetweenEndsContinuing) {
    QSettings().clear();
    Session session;
    for (const char* plan : {"naive", "fsdp", ""})
        session.parts.push_back({"lecture", "", {"naive", "fsdp"}, "", plan});
    for (Session::Part& part : session.parts)
        part.scenario = "[model]\nname = \"vit_b_16\"\n[parallelism]\ndata_parallel_shard_degree = 4\n";
    writeSession(session);
    OpenWindow window;
    window.await([&] {
        window.continueSession();
        window.openSample(1);
    });
    EXPECT_EQ(window.state().answer()->loaded.source, samples()[1].source);
    EXPECT_TRUE(window.state().kept().empty());
    QSettings().clear();
}

TEST(Layout, AWindowFromElsewhereIsBroughtOntoTheScreen) {
    QSettings().clear();
    {
        QWidget far;
        far.setGeometry(30'000, 20'000, 9'000, 7'000);
        QSettings().setValue(QStringLiteral("geometry"), far.saveGeometry());
    }
    MainWindow window;
    const QRect screen = window.screen()->availableGeometry();
    EXPECT_TRUE(screen.contains(QRect(window.pos(), window.size())));
    EXPECT_GE(window.width(), 320);
    EXPECT_GE(window.height(), 240);
    QSettings().clear();
}

TEST(Layout, IsResetWhateverWasDoneToThePanels) {
    QSettings().clear();
    OpenWindow window;
    window.openLecture();
    const auto dock = [&](const char* name) { return window.findChild<QDockWidget*>(QLatin1String(name)); };
    dock("knobs")->setFloating(true);
    dock("details")->close();
    window.removeDockWidget(dock("differences"));
    window.addDockWidget(Qt::RightDockWidgetArea, dock("sweep"));
    window.actions().find(QStringLiteral("resetLayout"))->trigger();
    QApplication::processEvents();
    EXPECT_FALSE(dock("knobs")->isFloating());
    for (const char* name : {"knobs", "differences", "sweep", "statistics", "table", "details"})
        EXPECT_FALSE(dock(name)->isHidden()) << name;
    EXPECT_EQ(window.dockWidgetArea(dock("knobs")), Qt::LeftDockWidgetArea);
    EXPECT_EQ(window.dockWidgetArea(dock("differences")), Qt::BottomDockWidgetArea);
    EXPECT_EQ(window.dockWidgetArea(dock("sweep")), Qt::BottomDockWidgetArea);
    EXPECT_EQ(window.dockWidgetArea(dock("details")), Qt::RightDockWidgetArea);
    EXPECT_EQ(window.tabifiedDockWidgets(dock("differences")).size(), 3);
    EXPECT_GT(window.timeline().width(), window.width() / 3) << "the timeline is what the window is for";
    QSettings().clear();
}

}  // namespace
}  // namespace shardscope::gui
