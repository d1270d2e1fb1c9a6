// Work that takes seconds: it says where it stands, it can be cancelled at any time, and what was open stays.

#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTemporaryDir>

#include "gui/view/knob_panel.h"
#include "gui/view/sweep_panel.h"
#include "gui/worker/answer.h"
#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

const std::vector<std::string> kPlans{"naive", "fsdp"};

/// A model that takes long: thousands of layers.
QString deepModel(const QTemporaryDir& folder, int layers) {
    QFile file(folder.filePath(QStringLiteral("config.json")));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QStringLiteral(R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 256,
        "intermediate_size": 688, "num_attention_heads": 4, "num_key_value_heads": 4, "num_hidden_layers": %1,
        "vocab_size": 1000, "max_position_embeddings": 512, "rms_norm_eps": 1e-6, "tie_word_embeddings": false,
        "hidden_act": "silu"})")
                   .arg(layers)
                   .toUtf8());
    return folder.path();
}

TEST(LongWork, CanBeStoppedAtEveryStage) {
    std::vector<core::WorkStage> all;
    const core::Work watched{{}, [&](core::WorkStage stage, std::string_view) { all.push_back(stage); }};
    ASSERT_TRUE(answerTo("vit_tiny", {"parallelism.data_parallel_shard_degree=2"}, kPlans, watched));
    ASSERT_LE(all.size(), stagesOfAnswer(kPlans.size()));
    EXPECT_EQ(all.front(), core::WorkStage::Reading);
    EXPECT_EQ(all.back(), core::WorkStage::Lanes);
    for (const core::WorkStage stage : {core::WorkStage::Model, core::WorkStage::Graph, core::WorkStage::Simulating,
                                        core::WorkStage::Memory, core::WorkStage::Causes, core::WorkStage::Lanes})
        EXPECT_NE(std::ranges::find(all, stage), all.end()) << static_cast<int>(stage);
    for (std::size_t last = 1; last <= all.size(); ++last) {
        std::stop_source stop;
        std::size_t entered = 0;
        const core::Work work{stop.get_token(), [&](core::WorkStage, std::string_view) {
                                  if (++entered == last) stop.request_stop();
                              }};
        const auto answer = answerTo("vit_tiny", {"parallelism.data_parallel_shard_degree=2"}, kPlans, work);
        ASSERT_FALSE(answer.has_value()) << "stopped in stage " << last;
        EXPECT_EQ(answer.error().code, core::ErrorCode::Cancelled);
        EXPECT_EQ(entered, last) << "nothing begins after it";
    }
}

TEST(LongWork, SaysWhereItStandsAndGoesForward) {
    const QTemporaryDir folder;
    OpenWindow window;
    std::vector<double> shares;
    QSet<QString> said;
    const auto* label = window.findChild<QLabel*>(QStringLiteral("stage"));
    ASSERT_NE(label, nullptr);
    EXPECT_FALSE(label->isVisible());
    bool seen = false;
    QObject::connect(&window.evaluator(), &Evaluator::progressed, &window,
                     [&](core::WorkStage, const QString&, double share) {
                         shares.push_back(share);
                         said.insert(label->text());
                         seen = seen || label->isVisible();
                     });
    window.await([&] { window.openPath(deepModel(folder, 1500)); });
    ASSERT_NE(window.state().answer(), nullptr) << window.problem().toStdString();
    EXPECT_GT(shares.size(), 8u);
    EXPECT_TRUE(std::ranges::is_sorted(shares));
    EXPECT_EQ(shares.front(), 0);
    EXPECT_LE(shares.back(), 1);
    EXPECT_GT(shares.back(), 0.6);
    EXPECT_TRUE(seen) << "what takes long is told of";
    EXPECT_TRUE(said.contains(QStringLiteral("Building the graph of naive")));
    EXPECT_TRUE(said.contains(QStringLiteral("Simulating fsdp")));
    EXPECT_FALSE(label->isVisible());
}

TEST(LongWork, CancelledAtAThirdLeavesWhatWasOpen) {
    const QTemporaryDir folder;
    OpenWindow window;
    window.openLecture();
    const auto before = window.state().answer();
    QSignalSpy shown(&window, &MainWindow::shown);
    bool cancelled = false;
    QObject::connect(&window.evaluator(), &Evaluator::progressed, &window,
                     [&](core::WorkStage, const QString&, double share) {
                         if (share < 0.3 || cancelled) return;
                         for (auto* button : window.findChildren<QPushButton*>()) {
                             if (button->text() != QStringLiteral("Cancel") || !button->isVisible()) continue;
                             button->click();
                             cancelled = true;
                         }
                         if (!cancelled) return;  // not long enough yet for the button to be there
                         EXPECT_FALSE(window.evaluator().busy()) << "at once, whatever the worker is at";
                     });
    window.openPath(deepModel(folder, 1500));
    ASSERT_TRUE(QTest::qWaitFor([&] { return cancelled; }, kPatience)) << "a third is never reached";
    QTest::qWait(500);
    EXPECT_TRUE(shown.isEmpty());
    EXPECT_EQ(window.state().answer(), before);
    // And the window goes on from there.
    window.await([&] { window.knobs().setKey(QStringLiteral("training.local_batch_size"), QStringLiteral("8")); });
    EXPECT_EQ(window.state().answer()->loaded.source, before->loaded.source);
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 8);
}

TEST(LongWork, AnEditDoesNotWaitForTheOneBeforeIt) {
    const QTemporaryDir folder;
    OpenWindow window;
    window.await([&] { window.openPath(deepModel(folder, 1500)); });
    ASSERT_NE(window.state().answer(), nullptr);
    QSignalSpy entered(&window.evaluator(), &Evaluator::progressed);
    QSignalSpy answers(&window.evaluator(), &Evaluator::answered);
    window.await([&] {
        // Begun, not only asked for, and then replaced.
        for (int i = 3; i < 13; ++i) {
            window.knobs().setKey(QStringLiteral("training.local_batch_size"), QString::number(i));
            const auto begun = entered.count();
            EXPECT_TRUE(QTest::qWaitFor([&] { return entered.count() > begun; }, kPatience));
        }
    });
    EXPECT_EQ(answers.count(), 1);
    EXPECT_EQ(window.shownScenario().training.localBatchSize, 12);
}

TEST(LongWork, TheWindowClosesWhileItIsUnderWay) {
    const QTemporaryDir folder;
    const QString model = deepModel(folder, 3000);
    for (const bool sweeping : {false, true}) {
        auto window = std::make_unique<OpenWindow>();
        window->openLecture();
        if (sweeping)
            window->sweep().start(QStringLiteral("model.layers"), QStringLiteral("12,1200,2400,3600"));
        else
            window->openPath(model);
        QTest::qWait(60);
        window->close();
        window.reset();  // waits for its threads; there is nothing to see but that it ends, and clean
    }
}

}  // namespace
}  // namespace shardscope::gui
