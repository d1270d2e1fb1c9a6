#include "gui/window/bench_knob.h"

#include <QApplication>
#include <QEventLoop>
#include <QSettings>
#include <QTemporaryDir>
#include <array>
#include <cstdio>

#include "gui/view/knob_panel.h"
#include "gui/window/bench_times.h"
#include "gui/window/main_window.h"
#include "gui/window/start_page.h"

namespace shardscope::gui {

namespace {

struct KnobCase {
    const char* name;
    Sample sample;
    bool naive;     ///< beside FSDP
    double target;  ///< ms
};

/// From a knob's change to the window with the new timeline painted, the worker and all panels included.
bool measure(const KnobCase& one) {
    MainWindow window;
    window.resize(1920, 1080);
    window.show();
    if (!one.naive) window.actions().find(QStringLiteral("strategyNaive"))->trigger();
    std::vector<std::string> strategies{"fsdp"};
    if (one.naive) strategies.insert(strategies.begin(), "naive");
    QEventLoop loop;
    QObject::connect(&window, &MainWindow::shown, &loop, &QEventLoop::quit);
    window.evaluator().open(one.sample.source, one.sample.overrides, strategies);
    loop.exec();
    QApplication::processEvents();
    if (!window.state().answer()) {
        std::fprintf(stderr, "shardscope-gui: %s\n", qPrintable(window.problem()));
        return false;
    }

    const QString batch = QStringLiteral("training.local_batch_size");
    const QString reshard = QStringLiteral("parallelism.fsdp_reshard_after_forward");
    const std::array<std::pair<QString, QString>, 4> changes = {{{batch, QStringLiteral("2")},
                                                                 {reshard, QStringLiteral("never")},
                                                                 {batch, QStringLiteral("1")},
                                                                 {reshard, QStringLiteral("always")}}};
    Times answer, frame;
    constexpr std::size_t kChanges = 120;
    for (std::size_t i = 0; i < kChanges; ++i) {
        const auto before = window.state().answer();
        const Stopwatch watch;
        const bool taken = window.knobs().setKey(changes[i % changes.size()].first, changes[i % changes.size()].second);
        if (!taken || !window.evaluator().busy()) return false;
        loop.exec();
        QApplication::processEvents();
        frame.add(watch.elapsed());
        if (window.state().answer() == before) return false;
        const Stopwatch alone;
        static_cast<void>(answerTo(*before, window.knobs().scenario(), strategies));
        answer.add(alone.elapsed());
    }
    const bool met = frame.at(0.99).wall <= one.target;
    std::printf("%-44s  %-4s  %7.2f ms  %7.2f ms  %7.2f ms  %7.0f ms  %s\n", one.name, "wall", answer.at(0.5).wall,
                frame.at(0.5).wall, frame.at(0.99).wall, one.target, met ? "met" : "NOT met");
    std::printf("%-44s  %-4s  %7.2f ms  %7.2f ms  %7.2f ms\n", "", "cpu", answer.at(0.5).cpu, frame.at(0.5).cpu,
                frame.at(0.99).cpu);
    std::fflush(stdout);
    return met;
}

}  // namespace

bool benchKnobs() {
    // Neither reads nor changes how the user has arranged the window.
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    std::printf("%-44s  %-4s  %10s  %10s  %10s  %10s\n", "a knob's change", "by", "answer p50", "frame p50",
                "frame p99", "target p99");
    Sample many = samples().at(2);
    many.overrides.back() = "parallelism.data_parallel_shard_degree=1024";
    bool good = true;
    for (const KnobCase& one : {KnobCase{"1,024 identical ranks x 80 layers (FSDP)", many, false, 16},
                                KnobCase{"the largest sample: 70B on 4 nodes, 2 plans", samples().at(2), true, 100}})
        good &= measure(one);
    std::printf(
        "frame: from the knob to the painted window of 1920 x 1080, worker and all panels included; answer: what the "
        "worker does of it\n");
    return good;
}

}  // namespace shardscope::gui
