// shardscope-gui [FILE]: the desktop window.

#include <malloc.h>

#include <QApplication>
#include <QCommandLineParser>
#include <QFont>

#include "core/base/result.h"
#include "gui/window/bench_knob.h"
#include "gui/window/bench_timeline.h"
#include "gui/window/main_window.h"
#include "gui/window/screenshots.h"

int main(int argc, char** argv) {
    // What an answer gives back, the next one takes: with every change of a knob, megabytes come and go.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    // And so do tens of thousands of small pieces, which glibc would gather again and again, whenever a larger one is
    // asked for: a tenth of an answer's time.
    mallopt(M_MXFAST, 0);
    QApplication app(argc, argv);
    QCoreApplication::setOrganizationName(QStringLiteral("Shardscope"));
    QCoreApplication::setApplicationName(QStringLiteral("shardscope-gui"));
    QCoreApplication::setApplicationVersion(QStringLiteral(SHARDSCOPE_VERSION));
    QApplication::setStyle(QStringLiteral("Fusion"));
    shardscope::gui::chooseFont();

    QCommandLineParser parser;
    parser.setApplicationDescription(
        QStringLiteral("Where do my GPUs wait, and what would happen if I sharded differently?"));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(
        QStringLiteral("file"),
        QStringLiteral("A scenario, a config.json, a model's folder or its built-in name; or a run "
                       "(shardscope run -o FILE.json.gz)."),
        QStringLiteral("[file]"));
    const QCommandLineOption screenshots(QStringLiteral("screenshots"),
                                         QStringLiteral("Writes a picture of every view into FOLDER and ends."),
                                         QStringLiteral("FOLDER"));
    parser.addOption(screenshots);
    const QCommandLineOption bench(
        QStringLiteral("bench-timeline"),
        QStringLiteral("Measures frames of large timelines, and changes of knobs, and ends."));
    parser.addOption(bench);
    parser.process(app);
    if (parser.isSet(screenshots)) return shardscope::gui::writeScreenshots(parser.value(screenshots));

    if (parser.isSet(bench)) {
        const bool frames = shardscope::gui::benchTimeline(), knobs = shardscope::gui::benchKnobs();
        return frames && knobs ? 0 : 1;
    }

    shardscope::gui::MainWindow window;
    window.show();
    if (!parser.positionalArguments().isEmpty()) window.openPath(parser.positionalArguments().constFirst());
    return QApplication::exec();
}
