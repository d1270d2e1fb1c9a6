#include "gui/window/screenshots.h"

#include <QApplication>
#include <QDir>
#include <QEventLoop>
#include <QFileInfo>
#include <QFontDatabase>
#include <QPainter>
#include <QSettings>
#include <QTableView>
#include <QTimer>
#include <cstdio>

#include "gui/view/difference_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/view/range_panel.h"
#include "gui/view/sweep_panel.h"
#include "gui/view/timeline_view.h"
#include "gui/window/main_window.h"

namespace shardscope::gui {

void chooseFont() {
    const QStringList wanted = {QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans"),
                                QStringLiteral("Noto Sans CJK KR"), QStringLiteral("NanumGothic")};
    QStringList families;
    for (const QString& family : wanted)
        if (QFontDatabase::families().contains(family)) families << family;
    QFont font = QApplication::font();
    if (!families.isEmpty()) font.setFamilies(families);
    if (font.pointSizeF() < 9.5) font.setPointSizeF(9.5);
    QApplication::setFont(font);
}

namespace {

/// From the repository's root: what the view "run" shows.
const QString kRun = QStringLiteral("examples/run_fsdp_2.json.gz");

bool save(QWidget& widget, const QString& path, double scale) {
    QImage image(widget.size() * scale, QImage::Format_ARGB32);
    image.setDevicePixelRatio(scale);
    QPainter painter(&image);
    widget.render(&painter);
    painter.end();
    if (image.save(path)) return true;
    std::fprintf(stderr, "shardscope-gui: %s cannot be written\n", qPrintable(path));
    return false;
}

}  // namespace

int writeScreenshots(const QString& folder) {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder);
    if (!QDir().mkpath(folder)) {
        std::fprintf(stderr, "shardscope-gui: %s cannot be made\n", qPrintable(folder));
        return 1;
    }
    bool good = true;
    for (const QString& language : {QStringLiteral("en"), QStringLiteral("ko")})
        for (const ThemeKind kind : {ThemeKind::Light, ThemeKind::Dark, ThemeKind::HighContrast})
            for (const int scale : {1, 2}) {
                const QString theme = kind == ThemeKind::Light  ? QStringLiteral("light")
                                      : kind == ThemeKind::Dark ? QStringLiteral("dark")
                                                                : QStringLiteral("contrast");
                const QString ending = QStringLiteral("_%1_%2_%3.png").arg(theme, language).arg(100 * scale);
                MainWindow window;
                window.setThemeKind(kind);
                window.setLanguage(language);
                window.resize(1440, 900);
                window.show();
                QApplication::processEvents();
                good &= save(window, folder + QStringLiteral("/start") + ending, scale);
                QEventLoop loop;
                QObject::connect(&window, &MainWindow::shown, &loop, &QEventLoop::quit);
                window.openSample(0);
                loop.exec();
                QApplication::processEvents();
                good &= save(window, folder + QStringLiteral("/compare") + ending, scale);
                QObject::connect(&window.sweep(), &SweepPanel::finished, &loop, &QEventLoop::quit);
                window.sweep().start(QStringLiteral("parallelism.data_parallel_shard_degree"), QStringLiteral("2,4,8"));
                loop.exec();
                window.sweep().parentWidget()->raise();
                QApplication::processEvents();
                good &= save(window, folder + QStringLiteral("/sweep") + ending, scale);
                window.search(QStringLiteral("reduce-scatter"));
                window.state().focusSelection();
                window.state().zoom(0.1, window.state().playHead());
                QApplication::processEvents();
                good &= save(window, folder + QStringLiteral("/selection") + ending, scale);
                window.state().select(std::nullopt);
                window.state().fit();
                window.state().setRange(
                    TimeRange{0.2 * window.state().view().end(), 0.6 * window.state().view().end()});
                window.statistics().table().setCurrentIndex(window.statistics().table().model()->index(2, 0));
                QApplication::processEvents();
                good &= save(window, folder + QStringLiteral("/statistics") + ending, scale);
                window.state().setRange(std::nullopt);
                window.actions().find(QStringLiteral("tableOfTimeline"))->trigger();
                QApplication::processEvents();
                good &= save(window, folder + QStringLiteral("/table") + ending, scale);
                window.state().setPlayHead(0);
                window.keepPlan();
                QObject::connect(&window, &MainWindow::shown, &loop, &QEventLoop::quit);
                window.actions().find(QStringLiteral("strategyNaive"))->trigger();
                window.knobs().setKey(QStringLiteral("parallelism.data_parallel_shard_degree"), QStringLiteral("8"));
                loop.exec();
                window.differences().parentWidget()->raise();
                QApplication::processEvents();
                good &= save(window, folder + QStringLiteral("/plans") + ending, scale);
                if (!QFileInfo::exists(kRun)) continue;
                MainWindow other;
                other.setThemeKind(kind);
                other.setLanguage(language);
                other.resize(1440, 900);
                other.show();
                QObject::connect(&other, &MainWindow::shown, &loop, &QEventLoop::quit);
                other.openPath(kRun);
                loop.exec();
                other.search(QStringLiteral("backward"));
                QApplication::processEvents();
                good &= save(other, folder + QStringLiteral("/run") + ending, scale);
            }
    return good ? 0 : 1;
}

}  // namespace shardscope::gui
