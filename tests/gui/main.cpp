// The window's tests: one application for all of them, on a screen that is not there and with settings of its own.

#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>
#include <string_view>

#include "gui/window/screenshots.h"

// Read by LeakSanitizer where tests are built with it: fontconfig keeps its caches, and Qt's platform its fonts, until
// the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libfontconfig\nleak:libQt6Gui\nleak:libqoffscreen\nleak:libfreetype\n";
}

int main(int argc, char** argv) {
    bool onlyLists = false;
    for (int i = 1; i < argc; ++i) onlyLists |= std::string_view(argv[i]) == "--gtest_list_tests";
    testing::InitGoogleTest(&argc, argv);
    if (onlyLists) return RUN_ALL_TESTS();
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    QCoreApplication::setOrganizationName(QStringLiteral("Shardscope"));
    QCoreApplication::setApplicationName(QStringLiteral("tests_gui"));
    QApplication::setStyle(QStringLiteral("Fusion"));
    shardscope::gui::chooseFont();
    return RUN_ALL_TESTS();
}
