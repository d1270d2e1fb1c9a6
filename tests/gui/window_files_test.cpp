// What comes into the window by dropping, and what goes out: pictures, words for the clipboard.

#include <QClipboard>
#include <QLineEdit>
#include <QMimeData>
#include <QProcess>
#include <QTemporaryDir>

#include "core/base/document.h"
#include "gui/view/knob_panel.h"
#include "gui/window/start_page.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

const QString kExample = QStringLiteral(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml");

bool drop(MainWindow& window, const QMimeData& data) {
    QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    enter.setAccepted(false);
    QApplication::sendEvent(&window, &enter);
    if (!enter.isAccepted()) return false;
    QDropEvent event(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &event);
    return true;
}

QMimeData* fileData(QMimeData& data, const QString& path) {
    data.setUrls({QUrl::fromLocalFile(path)});
    return &data;
}

TEST(Files, ADroppedScenarioIsOpened) {
    OpenWindow window;
    QMimeData data;
    fileData(data, kExample);
    window.await([&] { EXPECT_TRUE(drop(window, data)); });
    ASSERT_NE(window.state().answer(), nullptr) << window.problem().toStdString();
    EXPECT_EQ(window.state().answer()->loaded.source, kExample.toStdString());
}

TEST(Files, ADroppedFolderOfAModelIsOpened) {
    const QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("config.json")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256,
        "intermediate_size": 688, "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": 8,
        "vocab_size": 1000, "max_position_embeddings": 512, "rms_norm_eps": 1e-6, "tie_word_embeddings": false,
        "hidden_act": "silu"})");
    file.close();
    OpenWindow window;
    QMimeData data;
    fileData(data, folder.path());
    window.await([&] { EXPECT_TRUE(drop(window, data)); });
    ASSERT_NE(window.state().answer(), nullptr) << window.problem().toStdString();
    EXPECT_EQ(window.state().answer()->loaded.scenario.model.path, folder.path().toStdString());
}

TEST(Files, ABrokenFileThatIsDroppedIsNamed) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("dropped.json"));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("{\"model_type\": ");
    file.close();
    OpenWindow window;
    QMimeData data;
    fileData(data, path);
    window.await([&] { EXPECT_TRUE(drop(window, data)); });
    EXPECT_TRUE(window.problem().contains(QStringLiteral("dropped.json"))) << window.problem().toStdString();
    EXPECT_EQ(window.state().answer(), nullptr);
}

/// What the window says of something that cannot be opened or written: which file, and what to do.
void expectHelpful(const OpenWindow& window, const QString& name) {
    EXPECT_TRUE(window.problem().contains(name)) << name.toStdString() << ": " << window.problem().toStdString();
    EXPECT_TRUE(window.problem().contains(u'\n')) << "without what to do: " << window.problem().toStdString();
}

TEST(Files, WhateverIsDroppedIsOpenedOrSaysWhatToDo) {
    const QTemporaryDir folder;
    OpenWindow window;
    window.openLecture();
    const auto before = window.state().answer();
    const auto write = [&](const char* name, const QByteArray& bytes, qint64 size = -1) {
        QFile file(folder.filePath(QLatin1String(name)));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(bytes);
        if (size >= 0) file.resize(size);
        return file.fileName();
    };
    const QString files[] = {write("empty.json", ""),
                             write("cut.json", "{\"model_type\": \"llama\", \"hidden_si"),
                             write("huge.json", "{", qint64{3} << 30),
                             write("huge.toml", "title = \"", qint64{3} << 30),
                             write("huge.safetensors", QByteArray("\xff\xff\xff\xff\xff\xff\xff\x7f{", 9), 1 << 20),
                             write("foreign.json", "{\"traceEvents\": []}"),
                             write("picture.png", "\x89PNG\r\n\x1a\n"),
                             write("words.txt", "no scenario at all"),
                             write("latin.toml", "[model]\nname = \"\xe9\"\n"),
                             write("config.json", "{\"model_type\": [1]}"),
                             folder.path()};
    for (const QString& path : files) {
        QMimeData data;
        fileData(data, path);
        window.await([&] { EXPECT_TRUE(drop(window, data)); });
        expectHelpful(window, path);
        EXPECT_EQ(window.state().answer(), before) << path.toStdString();
    }
    // A window does not send anyone to the command line.
    for (const char* file : {"foreign.json", "absent.toml", "absent"}) {
        window.await([&] { window.openPath(folder.filePath(QLatin1String(file))); });
        EXPECT_FALSE(window.problem().isEmpty());
        EXPECT_FALSE(window.problem().contains(QStringLiteral("shardscope "))) << window.problem().toStdString();
    }
    // One that is gone before it is read: either it was quick enough, or it is said.
    for (int i = 0; i < 5; ++i) {
        const QString path = write("vanishing.toml", "[model]\nname = \"vit_b_16\"\n");
        QMimeData data;
        fileData(data, path);
        window.await([&] {
            EXPECT_TRUE(drop(window, data));
            QFile::remove(path);
        });
        if (!window.problem().isEmpty()) expectHelpful(window, QStringLiteral("vanishing.toml"));
    }
    // And what was open while its file went away stays usable.
    const QString path = write("kept.toml", "[model]\nname = \"vit_b_16\"\n");
    window.await([&] { window.openPath(path); });
    ASSERT_EQ(window.problem(), QString());
    QFile::remove(path);
    window.await([&] { window.knobs().setKey(QStringLiteral("training.local_batch_size"), QStringLiteral("4")); });
    EXPECT_EQ(window.problem(), QString());
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 4);
    window.await([&] { window.openPath(path); });
    expectHelpful(window, path);
}

TEST(Files, OfSeveralTheFirstIsOpenedAndThatIsSaid) {
    OpenWindow window;
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(kExample), QUrl::fromLocalFile(QStringLiteral("/nowhere/else.toml"))});
    window.await([&] { EXPECT_TRUE(drop(window, data)); });
    ASSERT_NE(window.state().answer(), nullptr);
    EXPECT_EQ(window.state().answer()->loaded.source, kExample.toStdString());
    bool said = false;
    for (const auto* label : window.findChildren<QLabel*>()) said |= label->text().contains(QStringLiteral("2 files"));
    EXPECT_TRUE(said);
}

TEST(Export, WhereNothingCanBeWrittenSaysWhatToDo) {
    OpenWindow window;
    window.openLecture();
    // Not even for whoever may write everywhere.
    for (const char* path : {"/proc/picture.png", "/proc/picture.svg", "/proc/picture.pdf", "/dev/full/picture.png"}) {
        EXPECT_FALSE(window.exportPicture(QLatin1String(path)));
        expectHelpful(window, QLatin1String(path));
    }
}

TEST(Files, WhatIsNoFileIsNotTaken) {
    OpenWindow window;
    QMimeData text;
    text.setText(QStringLiteral("not a file"));
    EXPECT_FALSE(drop(window, text));
    QMimeData page;
    page.setUrls({QUrl(QStringLiteral("https://example.org/config.json"))});
    EXPECT_FALSE(drop(window, page));
    // Not even where nobody asked whether it would be.
    QDropEvent event(QPointF(300, 300), Qt::CopyAction, &text, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &event);
    EXPECT_FALSE(window.evaluator().busy());
}

TEST(Files, OpenedFilesAreRemembered) {
    QSettings().clear();
    {
        OpenWindow window;
        window.await([&] { window.openPath(kExample); });
        ASSERT_EQ(window.problem(), QString());
    }
    OpenWindow next;
    const auto* recent = next.findChild<StartPage*>()->findChild<QListWidget*>();
    ASSERT_EQ(recent->count(), 1);
    EXPECT_EQ(recent->item(0)->text(), kExample);
    QSettings().clear();
}

TEST(Files, AreRememberedByPathsThatHoldFromEverywhere) {
    QSettings().clear();
    const QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("mine.toml")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("[model]\nname = \"vit_b_16\"\n");
    file.close();
    const QString started = QDir::currentPath();
    ASSERT_TRUE(QDir::setCurrent(folder.path()));
    // What a window of before has kept: what leads somewhere from here, and what does not; twice the same.
    QSettings().setValue(QStringLiteral("recent"),
                         QStringList{QStringLiteral("mine.toml"), QStringLiteral("gone.toml"),
                                     QStringLiteral("./mine.toml"), QStringLiteral("vit_b_16"), kExample});
    const auto listed = [](MainWindow& window) {
        QStringList all;
        const auto* recent = window.findChild<StartPage*>()->findChild<QListWidget*>();
        for (int i = 0; i < recent->count(); ++i) all << recent->item(i)->text();
        return all;
    };
    const QString mine = QDir(QDir::currentPath()).filePath(QStringLiteral("mine.toml"));
    {
        OpenWindow window;
        EXPECT_EQ(listed(window), QStringList({mine, QStringLiteral("vit_b_16"), kExample}));
        window.await([&] { window.openPath(QStringLiteral("mine.toml")); });
        EXPECT_EQ(window.problem(), QString());
        EXPECT_EQ(window.state().answer()->loaded.source, mine.toStdString());
        window.close();
    }
    ASSERT_TRUE(QDir::setCurrent(started));
    OpenWindow next;
    EXPECT_EQ(listed(next), QStringList({mine, QStringLiteral("vit_b_16"), kExample}));
    next.await([&] { next.openPath(listed(next).first()); });
    EXPECT_EQ(next.problem(), QString());
    next.await([&] { next.continueSession(); });
    EXPECT_EQ(next.problem(), QString()) << "the session's file is found from here too";
    next.close();
    QSettings().clear();
}

TEST(Export, WritesPngSvgAndPdf) {
    OpenWindow window;
    EXPECT_FALSE(window.exportPicture(QStringLiteral("nothing.png"))) << "there is nothing to save yet";
    window.openLecture();
    const QTemporaryDir folder;
    const auto bytesOf = [&](const QString& name) {
        QFile file(folder.filePath(name));
        EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << name.toStdString();
        return file.readAll();
    };
    for (const char* name : {"picture.png", "picture.svg", "picture.pdf"})
        EXPECT_TRUE(window.exportPicture(folder.filePath(QLatin1String(name)))) << window.problem().toStdString();
    EXPECT_EQ(window.problem(), QString());
    const QImage image(folder.filePath(QStringLiteral("picture.png")));
    ASSERT_FALSE(image.isNull());
    EXPECT_EQ(image.convertToFormat(QImage::Format_RGB32), window.timeline().wholePicture());
    int forward = 0;
    const QRgb wanted = window.timeline().theme().of(formats::Look::Forward).colour.rgb();
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) forward += image.pixel(x, y) == wanted;
    EXPECT_GT(forward, 100) << "the lanes are in it";
    EXPECT_TRUE(bytesOf(QStringLiteral("picture.svg")).contains("</svg>"));
    EXPECT_TRUE(bytesOf(QStringLiteral("picture.pdf")).startsWith("%PDF-"));
}

TEST(Export, IntoAFolderThatIsNotThereIsAnError) {
    OpenWindow window;
    window.openLecture();
    const QTemporaryDir folder;
    for (const char* name : {"absent/picture.png", "absent/picture.svg", "absent/picture.pdf", "picture.docx"}) {
        const QString path = folder.filePath(QLatin1String(name));
        EXPECT_FALSE(window.exportPicture(path));
        EXPECT_TRUE(window.problem().contains(path)) << window.problem().toStdString();
        EXPECT_FALSE(window.problem().contains(QStringLiteral("last change"))) << "nothing was changed";
        EXPECT_FALSE(QFile::exists(path));
    }
    for (const core::Key& key : core::scenarioKeys())
        EXPECT_EQ(window.knobs().problemOf(QString::fromUtf8(key.path.data(), static_cast<int>(key.path.size()))),
                  QString());
}

/// What `shardscope compare ... --json` prints when a shell runs the line.
std::string printed(const QString& command) {
    QProcess shell;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    const QString folder = QFileInfo(QStringLiteral(SHARDSCOPE_PROGRAM)).path();
    environment.insert(QStringLiteral("PATH"), folder + u':' + environment.value(QStringLiteral("PATH")));
    shell.setProcessEnvironment(environment);
    shell.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), command + QStringLiteral(" --json")});
    EXPECT_TRUE(shell.waitForFinished(kPatience));
    EXPECT_EQ(shell.exitCode(), 0) << command.toStdString() << "\n" << shell.readAllStandardError().toStdString();
    return shell.readAllStandardOutput().toStdString();
}

void expectSameReport(OpenWindow& window) {
    window.actions().find(QStringLiteral("copyCommand"))->trigger();
    const QString command = QApplication::clipboard()->text();
    EXPECT_EQ(printed(command), core::writeJson(cli::reportDocument(window.state().answer()->report)) + "\n")
        << command.toStdString();
}

TEST(Copy, TheCommandLineGivesTheSameReport) {
    OpenWindow window;
    window.openLecture();
    expectSameReport(window);
    const std::pair<const char*, const char*> edits[] = {
        {"title", "It's the \"lecture's\" $HOME"},
        {"training.local_batch_size", "24"},
        {"precision.mixed_precision_param", "none"},
        {"parallelism.fsdp_unit_reshard_after_forward", "{ \"encoder.layers.encoder_layer_3\" = false }"},
        {"parallelism.fsdp_forward_prefetch", "1"},
        {"cluster.node", "dgx-a100"},
    };
    for (const auto& edit : edits) {
        const QLatin1String key(edit.first), value(edit.second);
        window.await([&] { ASSERT_TRUE(window.knobs().setKey(key, value)) << edit.first; });
        ASSERT_EQ(window.problem(), QString());
    }
    expectSameReport(window);
}

TEST(Copy, OfAFileTheCommandLineHasOnlyWhatWasChanged) {
    OpenWindow window;
    window.await([&] { window.openPath(kExample); });
    EXPECT_EQ(window.asCommandLine(), QStringLiteral("shardscope compare '%1'").arg(kExample));
    window.await([&] { window.knobs().setKey(QStringLiteral("training.local_batch_size"), QStringLiteral("16")); });
    EXPECT_EQ(window.asCommandLine(),
              QStringLiteral("shardscope compare '%1' --set 'training.local_batch_size=16'").arg(kExample));
    expectSameReport(window);
    // What only counts when given is said though it has its default.
    window.await([&] {
        window.knobs().setKey(QStringLiteral("parallelism.fsdp_units"), QStringLiteral("torchtitan"));
        window.knobs().setKey(QStringLiteral("parallelism.fsdp_keep_last_unit"), QStringLiteral("false"));
    });
    expectSameReport(window);
}

TEST(Copy, StrategiesAndKeptPlansAreInTheCommandLines) {
    OpenWindow window;
    window.openLecture();
    window.await([&] { window.actions().find(QStringLiteral("strategyNaive"))->trigger(); });
    expectSameReport(window);
    window.keepPlan();
    EXPECT_EQ(window.asCommandLine().count(u'\n'), 0) << "the same scenario, the same report";
    const auto four = window.state().answer();
    window.await(
        [&] { window.knobs().setKey(QStringLiteral("parallelism.data_parallel_shard_degree"), QStringLiteral("8")); });
    const QStringList commands = window.asCommandLine().split(u'\n');
    ASSERT_EQ(commands.size(), 2);
    const auto json = [](const Answer& answer) { return core::writeJson(cli::reportDocument(answer.report)) + "\n"; };
    EXPECT_EQ(printed(commands[0]), json(*four)) << "the kept plan's, as it was";
    EXPECT_EQ(printed(commands[1]), json(*window.state().answer()));
}

TEST(Copy, TheScenarioReadsBackEqual) {
    OpenWindow window;
    window.openLecture();
    window.await([&] { window.knobs().setKey(QStringLiteral("model.layers"), QStringLiteral("8")); });
    // Its default, but chosen: torchtitan's rule for the last unit would come in where it is left out.
    window.await(
        [&] { window.knobs().setKey(QStringLiteral("parallelism.fsdp_keep_last_unit"), QStringLiteral("false")); });
    window.actions().find(QStringLiteral("copyScenario"))->trigger();
    const auto document = core::parseToml(QApplication::clipboard()->text().toStdString(), "clipboard");
    ASSERT_TRUE(document.has_value());
    const auto scenario = core::parseScenario(*document, "clipboard");
    ASSERT_TRUE(scenario.has_value()) << core::describe(scenario.error());
    EXPECT_EQ(*scenario, window.shownScenario());
    EXPECT_TRUE(scenario->given("parallelism.fsdp_keep_last_unit"));
}

TEST(Copy, PyTorchCallsAreThose) {
    OpenWindow window;
    window.openLecture();
    window.actions().find(QStringLiteral("copyPyTorch"))->trigger();
    EXPECT_TRUE(QApplication::clipboard()->text().contains(QStringLiteral("fully_shard(")));
}

TEST(Search, GoesThroughTheHitsAndRoundAgain) {
    OpenWindow window;
    window.openLecture();
    const QString words = QStringLiteral("Reduce-Scatter");
    ASSERT_TRUE(window.search(words));
    std::vector<PieceId> hits{*window.state().selection()};
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(window.search(words));
        if (*window.state().selection() == hits.front()) break;
        hits.push_back(*window.state().selection());
    }
    ASSERT_GT(hits.size(), 8u);
    ASSERT_LT(hits.size(), 1000u) << "after the last comes the first";
    for (const PieceId& id : hits) {
        const timeline::Timeline& t = *window.state().answer()->lanes[id.plan].timeline;
        const std::uint32_t span = window.state().pieceOf(id)->span;
        EXPECT_NE(t.strings[t.spans.name[span]].find("reduce-scatter"), std::string::npos);
    }
    EXPECT_TRUE(window.search(words, -1));
    EXPECT_EQ(*window.state().selection(), hits.back()) << "before the first comes the last";
    EXPECT_TRUE(window.search(words, -1));
    EXPECT_EQ(*window.state().selection(), hits[hits.size() - 2]);
    const auto before = window.state().selection();
    EXPECT_FALSE(window.search(QStringLiteral("no such op")));
    EXPECT_FALSE(window.search(QString()));
    EXPECT_EQ(window.state().selection(), before);
    window.state().select(std::nullopt);
    EXPECT_TRUE(window.search(words, -1));
    EXPECT_EQ(*window.state().selection(), hits.back());
}

TEST(Search, TheHitIsInView) {
    OpenWindow window;
    window.openLecture();
    window.state().zoom(50, 0);
    window.findChild<QLineEdit*>(QStringLiteral("search"))->setText(QStringLiteral("optimizer"));
    window.actions().find(QStringLiteral("searchNext"))->trigger();
    ASSERT_TRUE(window.state().selection().has_value());
    const PieceId id = *window.state().selection();
    const double begin = window.state().toAxis(id.plan, static_cast<double>(window.state().pieceOf(id)->begin));
    EXPECT_GE(begin, window.state().view().range().begin);
    EXPECT_LE(begin, window.state().view().range().end);
    const PieceId first = id;
    window.actions().find(QStringLiteral("searchNext"))->trigger();
    EXPECT_NE(*window.state().selection(), first);
    window.actions().find(QStringLiteral("searchPrevious"))->trigger();
    EXPECT_EQ(*window.state().selection(), first);
}

}  // namespace
}  // namespace shardscope::gui
