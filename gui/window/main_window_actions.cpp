// What a user can do in the window, and the words of the window itself.

#include <QAbstractButton>
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDockWidget>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolBar>
#include <QVBoxLayout>

#include "core/scenario/keys.h"
#include "gui/view/details_panel.h"
#include "gui/view/difference_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/view/range_panel.h"
#include "gui/view/table_panel.h"
#include "gui/view/table_text.h"
#include "gui/view/timeline_view.h"
#include "gui/view/words.h"
#include "gui/window/main_window.h"
#include "gui/window/start_page.h"

namespace shardscope::gui {

void MainWindow::makeActions() {
    const auto text = [](const char* marked) { return marked; };
    Actions& a = m_actions;
    a.add(Menu::File, "start", text(QT_TRANSLATE_NOOP("Actions", "Start page")), "Ctrl+Home",
          [this] { m_pages->setCurrentWidget(m_start); });
    a.add(Menu::File, "open", text(QT_TRANSLATE_NOOP("Actions", "Open a file\u2026")), "Ctrl+O", [this] {
        const QString path = QFileDialog::getOpenFileName(this);
        if (!path.isEmpty()) openPath(path);
    });
    a.add(Menu::File, "openFolder", text(QT_TRANSLATE_NOOP("Actions", "Open a model's folder\u2026")), "Ctrl+Shift+O",
          [this] {
              const QString path = QFileDialog::getExistingDirectory(this);
              if (!path.isEmpty()) openPath(path);
          });
    a.add(Menu::File, "continue", text(QT_TRANSLATE_NOOP("Actions", "Continue where you were")), "Ctrl+Shift+R",
          [this] { continueSession(); });
    a.add(Menu::File, "export", text(QT_TRANSLATE_NOOP("Actions", "Save the picture\u2026")), "Ctrl+E", [this] {
        const QString path = QFileDialog::getSaveFileName(this, {}, QStringLiteral("shardscope.png"),
                                                          QStringLiteral("PNG (*.png);;SVG (*.svg);;PDF (*.pdf)"));
        if (!path.isEmpty()) exportPicture(path);
    });
    a.add(Menu::File, "quit", text(QT_TRANSLATE_NOOP("Actions", "Quit")), "Ctrl+Q", [this] { close(); });

    a.add(Menu::Edit, "undo", text(QT_TRANSLATE_NOOP("Actions", "Undo")), "Ctrl+Z", [this] { m_undo.undo(); });
    a.add(Menu::Edit, "redo", text(QT_TRANSLATE_NOOP("Actions", "Redo")), "Ctrl+Shift+Z; Ctrl+Y",
          [this] { m_undo.redo(); });
    const auto copy = [](const QString& words) { QApplication::clipboard()->setText(words); };
    a.add(Menu::Edit, "copyScenario", text(QT_TRANSLATE_NOOP("Actions", "Copy as a scenario file")), "",
          [this, copy] { copy(asScenario()); });
    a.add(Menu::Edit, "copyCommand", text(QT_TRANSLATE_NOOP("Actions", "Copy as a command line")), "",
          [this, copy] { copy(asCommandLine()); });
    a.add(Menu::Edit, "copyPyTorch", text(QT_TRANSLATE_NOOP("Actions", "Copy what FSDP does, with the PyTorch calls")),
          "", [this, copy] { copy(asPyTorch()); });

    a.add(Menu::Edit, "copyStatisticsCsv", text(QT_TRANSLATE_NOOP("Actions", "Copy the statistics as CSV")), "",
          [this, copy] { copy(csvOf(m_statistics->shown(), RangeModel::kValueRole)); });
    a.add(Menu::Edit, "copyStatisticsMarkdown", text(QT_TRANSLATE_NOOP("Actions", "Copy the statistics as Markdown")),
          "", [this, copy] { copy(markdownOf(m_statistics->shown())); });

    // The words of the plans' titles and of `--strategy`.
    const auto strategy = [&](const char* id, const char* words, const char* word) {
        QAction* action = a.add(Menu::Plans, id, words, "", [this, word] { switchStrategy(word); });
        action->setCheckable(true);
        action->setIconText(QLatin1String(word));
    };
    strategy("strategySingle", text(QT_TRANSLATE_NOOP("Actions", "Show one GPU alone (single)")), "single");
    strategy("strategyNaive", text(QT_TRANSLATE_NOOP("Actions", "Show naive placement (naive)")), "naive");
    strategy("strategyDdp", text(QT_TRANSLATE_NOOP("Actions", "Show whole copies with averaged gradients (ddp)")),
             "ddp");
    strategy("strategyFsdp", text(QT_TRANSLATE_NOOP("Actions", "Show sharding (fsdp)")), "fsdp");
    a.add(Menu::Plans, "keepPlan", text(QT_TRANSLATE_NOOP("Actions", "Keep for comparison")), "K",
          [this] { keepPlan(); });
    a.add(Menu::Plans, "dropPlan", text(QT_TRANSLATE_NOOP("Actions", "Drop a kept plan")), "Shift+K",
          [this] { dropSelectedPlan(); });
    a.add(Menu::Plans, "dropPlans", text(QT_TRANSLATE_NOOP("Actions", "Drop all kept plans")), "",
          [this] { dropAllPlans(); });
    a.add(Menu::Plans, "predictRun", text(QT_TRANSLATE_NOOP("Actions", "Predict a run with machine times\u2026")), "",
          [this] { askForTimes(); })
        ->setEnabled(false);
    showStrategies();

    a.add(Menu::View, "fit", text(QT_TRANSLATE_NOOP("Actions", "Show the whole step")), "0; Home",
          [this] { m_state.fit(); });
    a.add(Menu::View, "focus", text(QT_TRANSLATE_NOOP("Actions", "Zoom to the selection")), "F",
          [this] { m_state.focusSelection(); });
    QAction* streams = a.add(Menu::View, "streams", text(QT_TRANSLATE_NOOP("Actions", "Show every stream")), "T",
                             [this] { m_state.setStreamsShown(!m_state.streamsShown()); });
    streams->setCheckable(true);
    streams->setChecked(m_state.streamsShown());
    QAction* legend = a.add(Menu::View, "legend", text(QT_TRANSLATE_NOOP("Actions", "Legend of colours and patterns")),
                            "L", [this] { m_legendBar->setVisible(m_legendBar->isHidden()); });
    legend->setCheckable(true);
    connect(m_legendBar->toggleViewAction(), &QAction::toggled, legend, &QAction::setChecked);
    a.add(Menu::View, "fold", text(QT_TRANSLATE_NOOP("Actions", "Identical ranks one by one, or once")), "G",
          [this] { m_state.toggleFolds(); });
    a.add(Menu::View, "oneRank", text(QT_TRANSLATE_NOOP("Actions", "One of identical ranks\u2026")), "R",
          [this] { askForRank(); });
    auto* alignments = new QActionGroup(this);
    const auto align = [this](Alignment alignment) { return [this, alignment] { m_state.setAlignment(alignment); }; };
    a.addChoice(Menu::View, "alignClock", text(QT_TRANSLATE_NOOP("Actions", "One clock for all plans")), alignments,
                align(Alignment::OneClock))
        ->setChecked(true);
    a.addChoice(Menu::View, "alignEnd", text(QT_TRANSLATE_NOOP("Actions", "Steps end together")), alignments,
                align(Alignment::StepEnd));
    a.addChoice(Menu::View, "alignNormalised", text(QT_TRANSLATE_NOOP("Actions", "Every step fills the axis")),
                alignments, align(Alignment::Normalised));
    auto* themes = new QActionGroup(this);
    a.addChoice(Menu::View, "themeDesktop", text(QT_TRANSLATE_NOOP("Actions", "Colours of the desktop")), themes,
                [this] { setThemeKind(std::nullopt); });
    a.addChoice(Menu::View, "themeLight", text(QT_TRANSLATE_NOOP("Actions", "Light")), themes,
                [this] { setThemeKind(ThemeKind::Light); });
    a.addChoice(Menu::View, "themeDark", text(QT_TRANSLATE_NOOP("Actions", "Dark")), themes,
                [this] { setThemeKind(ThemeKind::Dark); });
    a.addChoice(Menu::View, "themeContrast", text(QT_TRANSLATE_NOOP("Actions", "High contrast")), themes,
                [this] { setThemeKind(ThemeKind::HighContrast); });
    auto* scales = new QActionGroup(this);
    const std::pair<int, const char*> sizes[] = {{100, text(QT_TRANSLATE_NOOP("Actions", "Size 100 %"))},
                                                 {125, text(QT_TRANSLATE_NOOP("Actions", "Size 125 %"))},
                                                 {150, text(QT_TRANSLATE_NOOP("Actions", "Size 150 %"))},
                                                 {200, text(QT_TRANSLATE_NOOP("Actions", "Size 200 %"))},
                                                 {250, text(QT_TRANSLATE_NOOP("Actions", "Size 250 %"))},
                                                 {300, text(QT_TRANSLATE_NOOP("Actions", "Size 300 %"))}};
    for (const auto& size : sizes)
        a.addChoice(Menu::View, ("scale" + std::to_string(size.first)).c_str(), size.second, scales,
                    [this, percent = size.first] { setScale(percent); });
    auto* languages = new QActionGroup(this);
    a.addChoice(Menu::View, "languageEn", "English", languages, [this] { setLanguage(QStringLiteral("en")); });
    a.addChoice(Menu::View, "languageKo", "\ud55c\uad6d\uc5b4", languages,
                [this] { setLanguage(QStringLiteral("ko")); });
    a.add(Menu::View, "larger", text(QT_TRANSLATE_NOOP("Actions", "Larger")),
          "Ctrl++; Ctrl+=", [this] { stepScale(1); });
    a.add(Menu::View, "smaller", text(QT_TRANSLATE_NOOP("Actions", "Smaller")), "Ctrl+-", [this] { stepScale(-1); });
    a.add(Menu::View, "usualSize", text(QT_TRANSLATE_NOOP("Actions", "Usual size")), "Ctrl+0",
          [this] { setScale(100); });
    a.add(Menu::View, "panels", text(QT_TRANSLATE_NOOP("Actions", "Show all panels")), "", [this] {
        for (QDockWidget* dock : docks()) dock->show();
    });

    a.add(Menu::View, "resetLayout", text(QT_TRANSLATE_NOOP("Actions", "Reset layout")), "", [this] {
        QSettings().remove(QStringLiteral("panels"));
        if (m_panelsShown) arrangePanels();
    });

    a.add(Menu::Go, "play", text(QT_TRANSLATE_NOOP("Actions", "Play and pause")), "Space", [this] { togglePlay(); });
    a.add(Menu::Go, "back", text(QT_TRANSLATE_NOOP("Actions", "Back to the view before")), "Alt+Left",
          [this] { m_state.back(); });
    a.add(Menu::Go, "forward", text(QT_TRANSLATE_NOOP("Actions", "Forward again")), "Alt+Right",
          [this] { m_state.forward(); });
    a.add(Menu::Go, "search", text(QT_TRANSLATE_NOOP("Actions", "Search an op")), "/; Ctrl+F", [this] {
        m_search->setFocus();
        m_search->selectAll();
    });
    a.add(Menu::Go, "searchNext", text(QT_TRANSLATE_NOOP("Actions", "Next hit")), "F3",
          [this] { search(m_search->text()); });
    a.add(Menu::Go, "searchPrevious", text(QT_TRANSLATE_NOOP("Actions", "Previous hit")), "Shift+F3",
          [this] { search(m_search->text(), -1); });
    a.add(Menu::Go, "followBack", text(QT_TRANSLATE_NOOP("Actions", "To what it waited for")), "[",
          [this] { m_state.follow(-1); });
    a.add(Menu::Go, "followForward", text(QT_TRANSLATE_NOOP("Actions", "To what waits for it")), "]",
          [this] { m_state.follow(1); });
    a.add(Menu::Go, "nextOfRow", text(QT_TRANSLATE_NOOP("Actions", "Next piece of the chosen row of statistics")), "N",
          [this] { m_state.jump(1); });
    a.add(Menu::Go, "previousOfRow",
          text(QT_TRANSLATE_NOOP("Actions", "Previous piece of the chosen row of statistics")), "Shift+N",
          [this] { m_state.jump(-1); });
    a.add(Menu::Go, "statistics", text(QT_TRANSLATE_NOOP("Actions", "To the statistics")), "F7", [this] {
        m_statisticsDock->show();
        m_statisticsDock->raise();
        m_statistics->table().setFocus();
    });
    const auto table = [this](TablePanel::Picture picture) {
        return [this, picture] {
            m_tableDock->show();
            m_tableDock->raise();
            m_table->show(picture);
            m_table->table().setFocus();
        };
    };
    a.add(Menu::Go, "tableOfTimeline", text(QT_TRANSLATE_NOOP("Actions", "The timeline as a table")), "F8",
          table(TablePanel::Picture::Timeline));
    a.add(Menu::Go, "tableOfMemory", text(QT_TRANSLATE_NOOP("Actions", "Memory as a table")), "Shift+F8",
          table(TablePanel::Picture::Memory));
    a.add(Menu::Go, "tableOfSweep", text(QT_TRANSLATE_NOOP("Actions", "The sweep as a table")), "Ctrl+F8",
          table(TablePanel::Picture::Sweep));
    a.add(Menu::Go, "timeline", text(QT_TRANSLATE_NOOP("Actions", "To the timeline")), "F6", [this] {
        if (m_state.answer()) m_pages->setCurrentWidget(m_timeline);
        m_timeline->setFocus();
    });

    a.add(Menu::Help, "keys", text(QT_TRANSLATE_NOOP("Actions", "Keys")), "?; F1", [this] { openKeys(); });
    a.add(Menu::Help, "palette", text(QT_TRANSLATE_NOOP("Actions", "All commands\u2026")), "Ctrl+Shift+P",
          [this] { openPalette(); });

    for (std::size_t m = 0; m < kMenus; ++m) {
        QMenu* menu = menuBar()->addMenu(QString());
        m_menus.push_back(menu);
        const QActionGroup* group = nullptr;
        for (QAction* action : m_actions.of(static_cast<Menu>(m))) {
            if (action->actionGroup() != group) menu->addSeparator();
            group = action->actionGroup();
            menu->addAction(action);
        }
    }
    addActions(QList<QAction*>(m_actions.all().begin(), m_actions.all().end()));
    // Fields, buttons and lists have a use of their own for these keys.
    for (const char* id : {"fit", "focus", "streams", "legend", "fold", "oneRank", "play", "keepPlan", "dropPlan",
                           "followBack", "followForward", "nextOfRow", "previousOfRow"}) {
        QAction* action = m_actions.find(QLatin1String(id));
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        removeAction(action);
        m_timeline->addAction(action);
    }
}

void MainWindow::retranslate() {
    m_actions.retranslate();
    for (std::size_t m = 0; m < m_menus.size(); ++m) m_menus[m]->setTitle(Actions::nameOf(static_cast<Menu>(m)));
    m_differenceDock->setWindowTitle(tr("Differences"));
    m_detailsDock->setWindowTitle(tr("Details"));
    m_knobDock->setWindowTitle(tr("Knobs"));
    m_sweepDock->setWindowTitle(tr("Sweep"));
    m_statisticsDock->setWindowTitle(tr("Statistics"));
    m_tableDock->setWindowTitle(tr("Table"));
    m_legendBar->setWindowTitle(tr("Legend"));
    // Qt's own Korean lacks these.
    for (auto* dock : findChildren<QDockWidget*>())
        for (auto* button : dock->findChildren<QAbstractButton*>()) {
            if (button->objectName() == QLatin1String("qt_dockwidget_floatbutton"))
                button->setAccessibleDescription(tr("Takes the panel out of the window, or puts it back"));
            if (button->objectName() == QLatin1String("qt_dockwidget_closebutton"))
                button->setAccessibleDescription(tr("Closes the panel"));
        }
    for (auto* tabs : findChildren<QTabBar*>())
        for (auto* button : tabs->findChildren<QAbstractButton*>()) {
            if (button->objectName() == QLatin1String("ScrollLeftButton")) button->setAccessibleName(tr("Scroll left"));
            if (button->objectName() == QLatin1String("ScrollRightButton"))
                button->setAccessibleName(tr("Scroll right"));
        }
    m_search->setPlaceholderText(tr("Search an op  ( / )"));
    m_search->setAccessibleName(tr("Search an op"));
    if (m_problem) m_bannerText->setText(m_problem());
    m_bannerPredict->setText(tr("Predict with machine times\u2026"));
    m_cancel->setText(tr("Cancel"));
    m_progress->setAccessibleName(tr("Progress"));
    if (auto* close = findChild<QPushButton*>(QStringLiteral("closeBanner")))
        close->setAccessibleName(tr("Close this message"));
    if (!m_state.answer()) setWindowTitle(QStringLiteral("Shardscope"));
}

void MainWindow::openKeys() {
    QDialog dialog(this);
    dialog.setWindowTitle(tr("Keys"));
    auto* layout = new QVBoxLayout(&dialog);
    auto* area = new QScrollArea;
    area->setWidgetResizable(true);
    area->setWidget(new QLabel(keysHtml()));
    layout->addWidget(area);
    dialog.resize(520, 560);
    dialog.exec();
}

void MainWindow::openPalette() {
    QDialog dialog(this);
    dialog.setObjectName(QStringLiteral("palette"));
    dialog.setWindowTitle(tr("All commands"));
    auto* layout = new QVBoxLayout(&dialog);
    auto* filter = new QLineEdit;
    filter->setAccessibleName(tr("Filter commands"));
    auto* list = new QListWidget;
    list->setAccessibleName(tr("All commands"));
    layout->addWidget(filter);
    layout->addWidget(list);
    const auto fill = [&](const QString& wanted) {
        list->clear();
        for (QAction* action : m_actions.all()) {
            const QString words = action->text().remove(u'&');
            if (!words.contains(wanted, Qt::CaseInsensitive)) continue;
            auto* item = new QListWidgetItem(action->shortcut().isEmpty()
                                                 ? words
                                                 : words + QStringLiteral("    ") +
                                                       action->shortcut().toString(QKeySequence::NativeText));
            item->setData(Qt::UserRole, action->objectName());
            list->addItem(item);
        }
        list->setCurrentRow(0);
    };
    fill({});
    QString chosen;
    const auto take = [&] {
        if (list->currentItem() != nullptr) chosen = list->currentItem()->data(Qt::UserRole).toString();
        dialog.accept();
    };
    QObject::connect(filter, &QLineEdit::textChanged, &dialog, fill);
    QObject::connect(filter, &QLineEdit::returnPressed, &dialog, take);
    QObject::connect(list, &QListWidget::itemActivated, &dialog, take);
    dialog.resize(460, 420);
    dialog.exec();
    if (QAction* action = m_actions.find(chosen)) action->trigger();
}

QString MainWindow::asScenario() const {
    return m_state.answer() ? toQString(core::writeScenario(m_knobs->scenario())) : QString();
}

namespace {

/// What differs from the file (or the model) that was named.
QString commandFor(const cli::Loaded& loaded, const core::Scenario& scenario,
                   const std::vector<std::string>& strategies) {
    core::Scenario named;
    if (const auto again = cli::load(loaded.source)) named = again->scenario;
    const auto quoted = [](const std::string& text) {
        QString word = toQString(text);
        return QStringLiteral("'") + word.replace(QStringLiteral("'"), QStringLiteral("'\\''")) + QStringLiteral("'");
    };
    QString command = QStringLiteral("shardscope compare ") + quoted(loaded.source);
    for (const core::Key& key : core::scenarioKeys()) {
        const std::string value = core::writeTomlValue(core::valueOf(scenario, key));
        // Some keys count by being given, whatever their value.
        const bool sameGiven = scenario.given(key.path) == named.given(key.path);
        if (value == core::writeTomlValue(core::valueOf(named, key)) && sameGiven) continue;
        command += QStringLiteral(" --set ") + quoted(std::string(key.path) + "=" + value);
    }
    if (strategies != Study().strategies) {
        QStringList words;
        for (const std::string& one : strategies) words << toQString(one);
        command += QStringLiteral(" --strategy ") + words.join(u',');
    }
    return command;
}

}  // namespace

QString MainWindow::asCommandLine() const {
    if (!m_state.answer()) return {};
    QStringList commands;
    for (const ShownPlan& kept : m_study.kept)
        if (!kept.ofRun()) commands << commandFor(kept.answer->loaded, kept.scenario(), kept.answer->strategies);
    if (!m_state.answer()->run)
        commands << commandFor(m_state.answer()->loaded, m_knobs->scenario(), m_study.strategies);
    // Plans of one scenario are in one report; the present one's stays the last.
    QStringList distinct;
    for (const QString& command : commands) {
        distinct.removeAll(command);
        distinct << command;
    }
    return distinct.join(u'\n');
}

QString MainWindow::asPyTorch() const {
    if (!m_state.answer()) return {};
    const cli::Report& report = m_state.answer()->report;
    for (const cli::PlanReport& plan : report.plans)
        if (plan.graph && plan.setup.plan.policy != core::UnitPolicy::None)
            return toQString(cli::explanation(report, plan));
    return {};
}

}  // namespace shardscope::gui
