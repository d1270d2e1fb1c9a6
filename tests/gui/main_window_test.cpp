// Opening, turning knobs, undoing, cancelling.

#include <QCheckBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QUndoStack>

#include "gui/view/difference.h"
#include "gui/view/difference_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/window/start_page.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

const QString kBatch = QStringLiteral("training.local_batch_size");
const QString kShards = QStringLiteral("parallelism.data_parallel_shard_degree");

TEST(Window, OpensWithAPageThatHasTheSamples) {
    QSettings().clear();
    OpenWindow window;
    EXPECT_EQ(window.state().answer(), nullptr);
    EXPECT_EQ(window.problem(), QString());
    auto* page = window.findChild<StartPage*>();
    ASSERT_NE(page, nullptr);
    EXPECT_TRUE(page->isVisible());
    std::size_t buttons = 0;
    for (const auto* button : page->findChildren<QPushButton*>()) buttons += button->isVisible();
    EXPECT_EQ(buttons, samples().size() + 1) << "the samples, and opening a file";
}

TEST(Window, OpensEachSample) {
    OpenWindow window;
    for (int i = 0; i < static_cast<int>(samples().size()); ++i) {
        window.await([&] { window.openSample(i); });
        EXPECT_EQ(window.problem(), QString());
        ASSERT_NE(window.state().answer(), nullptr);
        EXPECT_EQ(window.state().answer()->loaded.source, samples()[static_cast<std::size_t>(i)].source);
        EXPECT_TRUE(window.timeline().isVisible());
        EXPECT_FALSE(window.timeline().strips().empty());
        EXPECT_EQ(window.differences().rowCount(), static_cast<int>(kFigures) + 1);
        EXPECT_EQ(window.state().view().range(), (TimeRange{0, static_cast<double>(window.state().answer()->end)}));
        EXPECT_EQ(window.knobs().scenario(), window.shownScenario());
    }
}

TEST(Window, ABrokenFileIsNamedAndWhatWasOpenStays) {
    OpenWindow window;
    window.openLecture();
    const auto before = window.state().answer();
    const QTemporaryDir folder;
    const std::pair<const char*, QByteArray> broken[] = {
        {"broken.toml", "[model]\nname = \"vit_b_16\"\nlayers = \"many\"\n"},
        {"empty.json", ""},
        {"foreign.json", "{\"architectures\": [\"SomethingElse\"], \"model_type\": \"else\"}"},
        {"noise.toml", QByteArray("\0\xff\xfe[[[", 6)},
        {"truncated.json", "{\"model_type\": \"llama\", \"hidden_size\": "},
        {"deep.json", QByteArray(100'000, '[')},
    };
    for (const auto& [name, bytes] : broken) {
        const QString path = folder.filePath(QLatin1String(name));
        QFile file(path);
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(bytes);
        file.close();
        window.await([&] { window.openPath(path); });
        EXPECT_TRUE(window.problem().contains(QLatin1String(name))) << window.problem().toStdString();
        EXPECT_EQ(window.state().answer(), before) << name;
    }
    window.await([&] { window.openPath(folder.filePath(QStringLiteral("absent.toml"))); });
    EXPECT_TRUE(window.problem().contains(QStringLiteral("absent.toml")));
    EXPECT_EQ(window.state().answer(), before);
    // And it goes on working.
    window.await([&] { window.knobs().setKey(kBatch, QStringLiteral("16")); });
    EXPECT_EQ(window.problem(), QString());
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 16);
}

TEST(Window, ATurnedKnobGivesANewReport) {
    OpenWindow window;
    window.openLecture();
    const std::int64_t step = window.state().answer()->report.plans[1].stepNs;
    auto* box = qobject_cast<QSpinBox*>(window.knobs().editorOf(kBatch));
    ASSERT_NE(box, nullptr);
    EXPECT_EQ(box->value(), 32);
    window.await([&] { box->setValue(64); });
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 64);
    EXPECT_GT(window.state().answer()->report.plans[1].stepNs, step);
    // The same as simulating that scenario afresh.
    core::Scenario wanted = window.shownScenario();
    const auto again = answerTo(window.state().answer()->loaded, wanted, {"naive", "fsdp"});
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(cli::reportDocument(again->report), cli::reportDocument(window.state().answer()->report));
}

TEST(Window, ARefusedValueIsToldInPlaceAndChangesNothing) {
    OpenWindow window;
    window.openLecture();
    const auto before = window.state().answer();
    const core::Scenario scenario = window.knobs().scenario();
    const QString reshard = QStringLiteral("parallelism.fsdp_reshard_after_forward");
    QSignalSpy edited(&window.knobs(), &KnobPanel::edited);
    EXPECT_FALSE(window.knobs().setKey(reshard, QStringLiteral("sometimes")));
    EXPECT_FALSE(window.knobs().problemOf(reshard).isEmpty());
    EXPECT_TRUE(edited.isEmpty());
    EXPECT_EQ(window.knobs().scenario(), scenario);
    EXPECT_FALSE(window.evaluator().busy());
    EXPECT_EQ(window.undoStack().count(), 0);
    EXPECT_EQ(window.state().answer(), before);
    // The same typed into the field.
    auto* line = qobject_cast<QLineEdit*>(window.knobs().editorOf(reshard));
    ASSERT_NE(line, nullptr);
    line->setText(QString());
    QTest::keyClicks(line, QStringLiteral("often"));
    QTest::keyClick(line, Qt::Key_Return);
    EXPECT_TRUE(window.knobs().problemOf(reshard).contains(QStringLiteral("often")))
        << window.knobs().problemOf(reshard).toStdString();
    EXPECT_EQ(window.knobs().scenario(), scenario);
    // What is taken takes the message away.
    window.await([&] { EXPECT_TRUE(window.knobs().setKey(reshard, QStringLiteral("never"))); });
    EXPECT_TRUE(window.knobs().problemOf(reshard).isEmpty());
}

TEST(Window, AScenarioThatCannotBeSimulatedIsToldBesideItsKnob) {
    OpenWindow window;
    window.openLecture();
    const auto before = window.state().answer();
    window.await([&] { window.knobs().setKey(kShards, QStringLiteral("16")); });  // naive has 12 blocks for 16 stages
    EXPECT_EQ(window.problem(), QString()) << "it is told once";
    const QString beside = window.knobs().problemOf(kShards);
    EXPECT_TRUE(beside.contains(QStringLiteral("stages"))) << beside.toStdString();
    EXPECT_TRUE(beside.contains(QStringLiteral("What is shown is the scenario before the last change.")));
    EXPECT_FALSE(beside.contains(QStringLiteral("--set"))) << "a window has no options: " << beside.toStdString();
    EXPECT_TRUE(beside.contains(QStringLiteral("in the knobs panel"))) << beside.toStdString();
    EXPECT_EQ(window.state().answer(), before) << "the picture is of the last scenario that could be simulated";
    window.await([&] { window.undoStack().undo(); });
    EXPECT_EQ(window.problem(), QString());
    EXPECT_TRUE(window.knobs().problemOf(kShards).isEmpty());
    EXPECT_EQ(window.knobs().scenario(), before->loaded.scenario);
}

TEST(Window, WhatIsWrongIsToldAboveTheTimelineWhereNoKnobShowsIt) {
    OpenWindow window;
    window.openLecture();
    window.findChild<QDockWidget*>(QStringLiteral("knobs"))->close();
    window.await([&] { window.knobs().setKey(kShards, QStringLiteral("13")); });
    EXPECT_TRUE(window.problem().contains(QStringLiteral("What is shown is the scenario before the last change.")));
    EXPECT_FALSE(window.problem().contains(QStringLiteral("--set"))) << window.problem().toStdString();
    EXPECT_EQ(window.knobs().problemOf(kShards), QString());
    // The knob that the filter has taken away shows nothing either.
    window.await([&] { window.undoStack().undo(); });
    window.findChild<QDockWidget*>(QStringLiteral("knobs"))->show();
    window.knobs().setFilter(QStringLiteral("local_batch_size"));
    window.await([&] { window.knobs().setKey(kShards, QStringLiteral("13")); });
    EXPECT_FALSE(window.problem().isEmpty());
}

TEST(Window, ANumberCountsOnceItIsTyped) {
    OpenWindow window;
    window.openLecture();
    auto* box = qobject_cast<QSpinBox*>(window.knobs().editorOf(kBatch));
    ASSERT_NE(box, nullptr);
    QSignalSpy edited(&window.knobs(), &KnobPanel::edited);
    const auto type = [&](const char* digits) {
        for (const char* digit = digits; *digit != 0; ++digit) QTest::keyClick(box, *digit);
    };
    // Nobody pauses before 77: neither 7 nor 77 is simulated, then 777 is.
    box->selectAll();
    type("77");
    QApplication::processEvents();
    EXPECT_EQ(edited.count(), 0);
    EXPECT_FALSE(window.evaluator().busy());
    type("7");
    EXPECT_EQ(edited.count(), 0) << "half a number";
    window.await([] {});
    EXPECT_EQ(edited.count(), 1);
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 777);
    // The hand goes on behind what it has typed, whatever separators came meanwhile.
    type("7");
    EXPECT_EQ(edited.count(), 1);
    window.await([] {});
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 7777);
    type("1");
    window.await([&] { QTest::keyClick(box, Qt::Key_Return); });
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 77771) << "Enter waits for no pause";
    EXPECT_EQ(edited.count(), 3);
    // Nor do arrows.
    window.await([&] { QTest::keyClick(box, Qt::Key_Down); });
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 77770);
    EXPECT_EQ(edited.count(), 4);
    // A field that is left with half a number has that number.
    box->setFocus();
    box->selectAll();
    type("16");
    QFocusEvent left(QEvent::FocusOut);
    window.await([&] { QApplication::sendEvent(box, &left); });
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 16);
    // What is no number in the end is none.
    const auto before = edited.count();
    box->selectAll();
    QTest::keyClick(box, Qt::Key_Backspace);
    QTest::qWait(600);
    EXPECT_EQ(edited.count(), before);
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 16);
}

TEST(Window, UndoAndRedoReturnTheSameScenario) {
    OpenWindow window;
    window.openLecture();
    std::vector<core::Scenario> scenarios{window.shownScenario()};
    const std::pair<QString, QString> edits[] = {{kBatch, QStringLiteral("16")},
                                                 {kShards, QStringLiteral("2")},
                                                 {QStringLiteral("model.layers"), QStringLiteral("6")},
                                                 {kBatch, QStringLiteral("8")}};
    for (const auto& edit : edits) {
        window.await([&] { ASSERT_TRUE(window.knobs().setKey(edit.first, edit.second)); });
        ASSERT_EQ(window.problem(), QString());
        scenarios.push_back(window.shownScenario());
        EXPECT_NE(scenarios.back(), scenarios[scenarios.size() - 2]);
    }
    for (std::size_t i = scenarios.size() - 1; i-- > 0;) {
        window.await([&] { window.undoStack().undo(); });
        EXPECT_EQ(window.shownScenario(), scenarios[i]);
        EXPECT_EQ(window.knobs().scenario(), scenarios[i]);
    }
    EXPECT_FALSE(window.undoStack().canUndo());
    for (std::size_t i = 1; i < scenarios.size(); ++i) {
        window.await([&] { window.undoStack().redo(); });
        EXPECT_EQ(window.shownScenario(), scenarios[i]);
        EXPECT_EQ(window.knobs().scenario(), scenarios[i]);
    }
    window.openLecture();
    EXPECT_FALSE(window.undoStack().canUndo()) << "of another document there is nothing to undo";
}

TEST(Window, OfEditsFasterThanTheWorkerTheLastWins) {
    OpenWindow window;
    window.openLecture();
    QSignalSpy answers(&window.evaluator(), &Evaluator::answered);
    window.await([&] {
        for (int i = 1; i <= 40; ++i) window.knobs().setKey(kBatch, QString::number(i));
    });
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 40);
    EXPECT_EQ(answers.count(), 1) << "what is no longer wanted is not shown";
    QTest::qWait(300);
    EXPECT_EQ(answers.count(), 1);
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 40);
    EXPECT_FALSE(window.evaluator().busy());
    EXPECT_EQ(window.undoStack().count(), 1) << "turning one knob is one step back";
    window.await([&] { window.undoStack().undo(); });
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 32);
}

TEST(Window, CancelledWorkIsNotShownAndWhatWasOpenStays) {
    OpenWindow window;
    window.openLecture();
    const auto before = window.state().answer();
    QSignalSpy shown(&window, &MainWindow::shown);
    window.openSample(2);
    EXPECT_TRUE(window.evaluator().busy());
    window.evaluator().cancel();
    EXPECT_FALSE(window.evaluator().busy());
    QTest::qWait(1500);
    EXPECT_EQ(window.state().answer(), before);
    EXPECT_TRUE(shown.isEmpty());
    // An edit after it is an edit of what is open.
    window.await([&] { window.knobs().setKey(kBatch, QStringLiteral("24")); });
    EXPECT_EQ(window.state().answer()->loaded.source, before->loaded.source);
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 24);
    EXPECT_TRUE(window.undoStack().canUndo());
    window.await([&] { window.undoStack().undo(); });
    EXPECT_EQ(window.shownScenario(), before->loaded.scenario);
}

TEST(Window, ACancelledEditIsSaidToBeMissingInThePicture) {
    OpenWindow window;
    window.openLecture();
    window.knobs().setKey(kBatch, QStringLiteral("24"));
    QPushButton* cancel = nullptr;
    for (auto* button : window.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Cancel") && button->window() == &window &&
            qobject_cast<QStatusBar*>(button->parentWidget()) != nullptr)
            cancel = button;
    ASSERT_NE(cancel, nullptr);
    EXPECT_FALSE(cancel->isVisible()) << "it is offered where something takes long";
    cancel->click();
    EXPECT_FALSE(window.evaluator().busy());
    EXPECT_TRUE(window.problem().startsWith(QStringLiteral("Cancelled"))) << window.problem().toStdString();
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 32);
    window.await([&] { window.undoStack().undo(); });
    EXPECT_EQ(window.problem(), QString());
}

TEST(Window, FromTheStartPageThereIsAWayBack) {
    OpenWindow window;
    window.openLecture();
    window.actions().find(QStringLiteral("start"))->trigger();
    EXPECT_FALSE(window.timeline().isVisible());
    window.actions().find(QStringLiteral("timeline"))->trigger();
    EXPECT_TRUE(window.timeline().isVisible());
}

TEST(Window, KeepsItsPanelsFromOneTimeToTheNext) {
    QSettings().clear();
    {
        OpenWindow window;
        window.openLecture();
        auto* details = window.findChild<QDockWidget*>(QStringLiteral("details"));
        ASSERT_TRUE(details->isVisible());
        details->close();
        window.close();
    }
    {
        OpenWindow window;
        window.close();  // on the start page, without panels: that is not remembered
    }
    OpenWindow window;
    window.openLecture();
    EXPECT_FALSE(window.findChild<QDockWidget*>(QStringLiteral("details"))->isVisible());
    EXPECT_TRUE(window.findChild<QDockWidget*>(QStringLiteral("knobs"))->isVisible());
    QSettings().clear();
}

TEST(Window, FieldsHaveFramesThatAreSeenInHighContrast) {
    OpenWindow window;
    window.setThemeKind(ThemeKind::HighContrast);
    QApplication::processEvents();
    window.openLecture();
    const QColor ground = window.palette().color(QPalette::Window);
    for (QWidget* field : {window.findChild<QWidget*>(QStringLiteral("search")), window.knobs().editorOf(kBatch)}) {
        const QImage image = field->grab().toImage();
        EXPECT_GE(contrastOf(image.pixelColor(image.width() / 2, 0), ground), 3) << field->metaObject()->className();
        EXPECT_GE(contrastOf(image.pixelColor(0, image.height() / 2), ground), 3) << field->metaObject()->className();
    }
    // An empty box is seen too: its frame, on every side of the middle of its place.
    auto* box = qobject_cast<QCheckBox*>(window.knobs().editorOf(QStringLiteral("parallelism.fsdp_keep_last_unit")));
    ASSERT_FALSE(box->isChecked());
    const auto brightIn = [&](QCheckBox& of) {
        const QImage image = of.grab(QRect(0, 0, of.height(), of.height())).toImage();
        int bright = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) bright += contrastOf(image.pixelColor(x, y), ground) >= 3;
        return bright;
    };
    const int frame = brightIn(*box);
    EXPECT_GT(frame, 30);
    window.await([&] { box->setChecked(true); });
    EXPECT_GT(brightIn(*box), frame + 30) << "and a checked one is told from it";
}

TEST(Window, AnEditWhileAnotherIsOpeningIsOfWhatIsShown) {
    OpenWindow window;
    window.openLecture();
    window.await([&] {
        window.openSample(1);
        window.knobs().setKey(kBatch, QStringLiteral("48"));
    });
    EXPECT_EQ(window.state().answer()->loaded.source, samples()[0].source);
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 48);
    EXPECT_TRUE(window.undoStack().canUndo());
}

TEST(Window, KeysOfFieldsStayTheirs) {
    OpenWindow window;
    window.openLecture();
    window.activateWindow();
    if (!QTest::qWaitForWindowActive(&window)) GTEST_SKIP() << "this screen makes no window active";
    auto* box = qobject_cast<QCheckBox*>(window.knobs().editorOf(QStringLiteral("parallelism.fsdp_wrap_root")));
    ASSERT_NE(box, nullptr);
    box->setFocus();
    const bool before = box->isChecked();
    window.await([&] { QTest::keyClick(box, Qt::Key_Space); });
    EXPECT_NE(box->isChecked(), before) << "Space turns a knob that has the focus, and plays nothing";
    EXPECT_EQ(window.state().playHead(), 0);
    auto* search = window.findChild<QLineEdit*>(QStringLiteral("search"));
    search->setFocus();
    QTest::keyClicks(search, QStringLiteral("f0/t?w"));
    EXPECT_EQ(search->text(), QStringLiteral("f0/t?w"));
}

TEST(Window, AKnobThatOnlyCountsWhenGivenCountsWhenTurned) {
    OpenWindow window;
    window.openLecture();
    // fsdp_units = "torchtitan" keeps the last unit unless the key is given (docs/scenario.md).
    window.await(
        [&] { window.knobs().setKey(QStringLiteral("parallelism.fsdp_units"), QStringLiteral("torchtitan")); });
    auto* box = qobject_cast<QCheckBox*>(window.knobs().editorOf(QStringLiteral("parallelism.fsdp_keep_last_unit")));
    ASSERT_NE(box, nullptr);
    const auto fsdp = [&] { return core::writeJson(cli::reportDocument(window.state().answer()->report)); };
    const std::string kept = fsdp();
    window.await([&] { box->setChecked(true); });
    EXPECT_EQ(fsdp(), kept);
    window.await([&] { box->setChecked(false); });
    EXPECT_NE(fsdp(), kept) << "given as false, the last unit is resharded";
}

TEST(Window, KeepsItsLanguageAndColoursFromOneTimeToTheNext) {
    {
        OpenWindow window(QStringLiteral("ko"));
        window.setThemeKind(ThemeKind::Dark);
        window.close();
    }
    MainWindow next;
    EXPECT_EQ(next.language(), QStringLiteral("ko"));
    EXPECT_EQ(next.timeline().theme().kind, ThemeKind::Dark);
    QSettings().clear();
}

}  // namespace
}  // namespace shardscope::gui
