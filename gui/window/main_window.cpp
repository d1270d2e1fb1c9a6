#include "gui/window/main_window.h"

#include <QApplication>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLibraryInfo>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QSaveFile>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/face/output.h"
#include "cli/face/text_picture.h"
#include "gui/theme/frame_style.h"
#include "gui/theme/text_scale.h"
#include "gui/view/details_panel.h"
#include "gui/view/difference_panel.h"
#include "gui/view/knob_panel.h"
#include "gui/view/legend.h"
#include "gui/view/messages.h"
#include "gui/view/plan_bar.h"
#include "gui/view/sweep_panel.h"
#include "gui/view/timeline_view.h"
#include "gui/view/words.h"
#include "gui/window/start_page.h"

namespace shardscope::gui {

namespace {

/// The first file of what is dragged; empty where there is none.
QString droppedFile(const QMimeData& data) {
    return data.urls().isEmpty() ? QString() : data.urls().constFirst().toLocalFile();
}

}  // namespace

MainWindow::MainWindow(QWidget* parent) : QMainWindow(parent), m_desktop(QApplication::palette()) {
    setAcceptDrops(true);
    setObjectName(QStringLiteral("window"));
    m_pages = new QStackedWidget;
    m_start = new StartPage;
    m_timeline = new TimelineView(m_state);
    m_pages->addWidget(m_start);
    m_pages->addWidget(m_timeline);

    auto* central = new QWidget;
    auto* column = new QVBoxLayout(central);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_banner = new QWidget;
    m_banner->setObjectName(QStringLiteral("banner"));
    m_banner->setAutoFillBackground(true);
    m_banner->setBackgroundRole(QPalette::AlternateBase);
    auto* bannerColumn = new QVBoxLayout(m_banner);
    bannerColumn->setContentsMargins(0, 0, 0, 0);
    auto* bannerRow = new QHBoxLayout;
    bannerRow->setContentsMargins(9, 6, 9, 2);
    bannerColumn->addLayout(bannerRow);
    m_bannerLine = new QWidget;
    m_bannerLine->setAutoFillBackground(true);
    m_bannerLine->setFixedHeight(2);
    bannerColumn->addWidget(m_bannerLine);
    m_bannerText = new QLabel;
    m_bannerText->setWordWrap(true);
    m_bannerText->setTextFormat(Qt::PlainText);
    m_bannerText->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    bannerRow->addWidget(m_bannerText, 1);
    m_bannerPredict = new QPushButton;
    m_bannerPredict->hide();
    connect(m_bannerPredict, &QPushButton::clicked, this, &MainWindow::askForTimes);
    bannerRow->addWidget(m_bannerPredict);
    auto* close = new QPushButton(QStringLiteral("\u2715"));
    close->setObjectName(QStringLiteral("closeBanner"));
    connect(close, &QPushButton::clicked, this, &MainWindow::hideProblem);
    bannerRow->addWidget(close);
    m_banner->hide();
    column->addWidget(m_banner);
    column->addWidget(m_pages, 1);
    setCentralWidget(central);

    makePanels();
    makeActions();
    QList<QAction*> planActions;
    for (const char* id : {"strategySingle", "strategyNaive", "strategyDdp", "strategyFsdp", "keepPlan"})
        planActions << m_actions.find(QLatin1String(id));
    auto* plans = new PlanBar(m_state, planActions);
    connect(plans, &PlanBar::dropWanted, this, &MainWindow::dropPlan);
    m_tools->addWidget(plans);
    makeStatistics();
    m_play = new QTimer(this);
    m_play->setInterval(16);
    connect(m_play, &QTimer::timeout, this, [this] {
        // A whole step in ten seconds.
        const double next = m_state.playHead() + m_state.view().end() * 0.0016;
        m_state.setPlayHead(next);
        if (next >= m_state.view().end()) m_play->stop();
    });

    m_slow = new QTimer(this);
    m_slow->setSingleShot(true);
    m_slow->setInterval(150);
    connect(m_slow, &QTimer::timeout, this, [this] {
        for (QWidget* widget : std::initializer_list<QWidget*>{m_stage, m_progress, m_cancel}) widget->show();
    });

    connect(m_start, &StartPage::sampleChosen, this, &MainWindow::openSample);
    connect(m_start, &StartPage::continueWanted, this, &MainWindow::continueSession);
    connect(m_start, &StartPage::fileChosen, this, &MainWindow::openPath);
    connect(m_start, &StartPage::openWanted, this, [this] { m_actions.find(QStringLiteral("open"))->trigger(); });
    connect(&m_evaluator, &Evaluator::answered, this, &MainWindow::showAnswer);
    connect(&m_evaluator, &Evaluator::failed, this, &MainWindow::showError);
    connect(&m_evaluator, &Evaluator::busyChanged, this, [this](bool busy) {
        if (busy) {
            showProgress(core::WorkStage::Reading, {}, 0);
            m_slow->start();
        } else {
            m_slow->stop();
            for (QWidget* widget : std::initializer_list<QWidget*>{m_stage, m_progress, m_cancel}) widget->hide();
        }
    });
    connect(&m_evaluator, &Evaluator::progressed, this, &MainWindow::showProgress);
    connect(m_knobs, &KnobPanel::edited, this, &MainWindow::change);
    connect(m_sweep, &SweepPanel::chosen, this, &MainWindow::change);
    connect(&m_state, &PageState::cursorChanged, this, [this] {
        if (const auto cursor = m_state.cursor())
            m_status->setText(toQString(cli::durationText(std::llround(*cursor))));
    });

    resize(1280, 800);
    measure();
    applyTheme();
    retranslate();
    restoreState();
}

MainWindow::~MainWindow() {
    // Views read the page's state until they go, also while they are hidden for the last time.
    qDeleteAll(docks());
    delete takeCentralWidget();
}

QDockWidget* MainWindow::makeDock(const char* name, QWidget* widget, Qt::DockWidgetArea area) {
    auto* made = new QDockWidget;
    made->setObjectName(QLatin1String(name));
    made->setWidget(widget);
    addDockWidget(area, made);
    made->hide();
    return made;
}

void MainWindow::makePanels() {
    m_differences = new DifferencePanel(m_state);
    m_details = new DetailsPanel(m_state);
    m_knobs = new KnobPanel;
    m_sweep = new SweepPanel;
    m_knobDock = makeDock("knobs", m_knobs, Qt::LeftDockWidgetArea);
    m_differenceDock = makeDock("differences", m_differences, Qt::BottomDockWidgetArea);
    m_sweepDock = makeDock("sweep", m_sweep, Qt::BottomDockWidgetArea);
    m_detailsDock = makeDock("details", m_details, Qt::RightDockWidgetArea);
    tabifyDockWidget(m_differenceDock, m_sweepDock);
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);

    auto* tools = new QToolBar;
    tools->setObjectName(QStringLiteral("tools"));
    tools->setMovable(false);
    m_search = new QLineEdit;
    m_search->setObjectName(QStringLiteral("search"));
    m_search->setClearButtonEnabled(true);
    connect(m_search, &QLineEdit::returnPressed, this, [this] { search(m_search->text()); });
    tools->addWidget(m_search);
    addToolBar(Qt::TopToolBarArea, tools);
    m_tools = tools;
    // As wide as the window, so that it takes little of its height.
    m_legend = new Legend(m_state);
    m_legendBar = new QToolBar;
    m_legendBar->setObjectName(QStringLiteral("legend"));
    m_legendBar->setMovable(false);
    m_legendBar->addWidget(m_legend);
    addToolBarBreak(Qt::TopToolBarArea);
    addToolBar(Qt::TopToolBarArea, m_legendBar);
    m_legendBar->hide();  // until there is something that it explains

    m_status = new QLabel;
    m_progress = new QProgressBar;
    m_progress->setRange(0, 100);
    m_progress->hide();
    m_stage = new QLabel;
    m_stage->setObjectName(QStringLiteral("stage"));
    m_stage->hide();
    m_cancel = new QPushButton;
    // Its place stays free: coming and going, it would move what is beside it.
    QSizePolicy policy = m_cancel->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_cancel->setSizePolicy(policy);
    m_cancel->hide();
    connect(m_cancel, &QPushButton::clicked, this, &MainWindow::cancel);
    statusBar()->addWidget(m_status, 1);
    statusBar()->addPermanentWidget(m_stage);
    statusBar()->addPermanentWidget(m_progress);
    statusBar()->addPermanentWidget(m_cancel);
}

void MainWindow::openPath(const QString& path) {
    m_session = {};
    m_opened = lastingPath(path);
    m_firstAnswer = true;
    m_evaluator.open(m_opened.toStdString(), {}, m_study.strategies);
}

void MainWindow::openSample(int index) {
    const Sample& sample = samples().at(static_cast<std::size_t>(index));
    m_session = {};
    m_opened.clear();
    m_firstAnswer = true;
    m_evaluator.open(sample.source, sample.overrides, m_study.strategies);
}

void MainWindow::showAnswer(std::shared_ptr<const Answer> answer) {
    const bool continued = !m_session.empty();
    if (takePart(answer)) return;
    hideProblem();
    if (const auto lost = std::exchange(m_lost, {}); continued && !lost.empty())
        showProblem([lost] {
            QStringList all;
            for (const auto& words : lost) all << words();
            return all.join(u'\n');
        });
    m_state.setAnswer(answer);
    if (continued) m_state.setKept(m_study.kept);
    m_sweep->setAnswer(answer, m_firstAnswer);
    if (m_firstAnswer) {
        m_firstAnswer = false;
        m_undo.clear();
        m_study.scenario = answer->loaded.scenario;
        m_knobs->setScenario(answer->loaded.scenario);
        m_state.fit();
        if (continued) restoreView();
        if (!m_opened.isEmpty()) remember(m_opened);
        if (m_pages->currentWidget() != m_timeline) {
            m_pages->setCurrentWidget(m_timeline);
            if (!std::exchange(m_panelsShown, true)) showPanels();
            m_timeline->setFocus();
        }
    } else {
        m_knobs->showProblem(m_editedPath, {});
    }
    showRun();
    setWindowTitle(toQString(answer->report.title.empty() ? answer->report.modelName : answer->report.title) +
                   QStringLiteral(" \u2013 Shardscope"));
    emit shown();
}

void MainWindow::showProgress(core::WorkStage stage, const QString& plan, double share) {
    m_stage->setText(stageText(stage, plan));
    m_progress->setValue(static_cast<int>(std::lround(100 * share)));
}

void MainWindow::cancel() {
    m_evaluator.cancel();
    m_session = {};
    if (!m_state.answer()) return;
    m_firstAnswer = false;
    if (m_knobs->scenario() != m_state.answer()->loaded.scenario || m_study.strategies != m_state.answer()->strategies)
        showProblem([] { return tr("Cancelled. What is shown is the scenario before the last change."); });
}

void MainWindow::showError(const core::Error& error) {
    // A kept plan that cannot be made again is left out, and told of at the end; the others go on.
    if (takePart(tl::unexpected(error))) return;
    m_session = {};
    // Once: at the knob that was turned, where it can be seen.
    if (!m_firstAnswer && m_knobs->shows(m_editedPath)) {
        hideProblem();
        m_knobs->showProblem(m_editedPath, [error] {
            return errorText(error) + u'\n' + tr("What is shown is the scenario before the last change.");
        });
    } else {
        showProblem([error, first = m_firstAnswer] {
            const QString text = errorText(error);
            return first ? text : text + u'\n' + tr("What is shown is the scenario before the last change.");
        });
    }
    if (m_firstAnswer && m_state.answer()) m_firstAnswer = false;  // what was open stays open
    emit shown();
}

void MainWindow::showProblem(std::function<QString()> words) {
    m_problem = std::move(words);
    m_bannerText->setText(m_problem());
    m_bannerPredict->hide();
    m_banner->show();
}

void MainWindow::hideProblem() {
    m_problem = {};
    m_banner->hide();
}

QString MainWindow::problem() const {
    return m_banner->isHidden() ? QString() : m_bannerText->text();
}

bool MainWindow::search(const QString& text, int direction) {
    if (text.isEmpty()) return false;
    // All pieces in order, beginning behind the selection.
    std::vector<PieceId> hits;
    for (std::size_t p = 0; p < m_state.plans().size(); ++p) {
        const timeline::Timeline& t = *m_state.lanes(p).timeline;
        for (std::size_t l = 0; l < m_state.lanes(p).lanes.size(); ++l) {
            const Lane& lane = m_state.lanes(p).lanes[l];
            if (!m_state.isShown(lane)) continue;
            for (std::size_t i = 0; i < lane.pieces.size(); ++i) {
                const std::uint32_t span = lane.pieces.spanOf(i);
                if (span == timeline::kNoIndex || (lane.kind == Lane::Kind::State && isGap(lane.pieces.lookOf(i))))
                    continue;
                // As it is shown, or by its name in English, which is the same in every window.
                const std::string& name = t.strings[t.spans.name[span]];
                if (toQString(name).contains(text, Qt::CaseInsensitive) ||
                    inWindowsLanguage(name).contains(text, Qt::CaseInsensitive))
                    hits.push_back({p, l, i});
            }
        }
    }
    if (hits.empty()) {
        m_status->setText(tr("Nothing is called \u201c%1\u201d.").arg(text));
        return false;
    }
    const auto key = [](const PieceId& id) { return std::tuple(id.plan, id.lane, id.piece); };
    std::size_t next = direction > 0 ? 0 : hits.size() - 1;
    if (const auto selected = m_state.selection()) {
        const auto after = std::ranges::upper_bound(hits, key(*selected), {}, key);
        const auto at = static_cast<std::size_t>(after - hits.begin());
        if (direction > 0)
            next = at % hits.size();
        else {
            const auto from =
                static_cast<std::size_t>(std::ranges::lower_bound(hits, key(*selected), {}, key) - hits.begin());
            next = (from + hits.size() - 1) % hits.size();
        }
    }
    m_state.select(hits[next], true);
    m_status->setText(tr("%1 of %2").arg(next + 1).arg(hits.size()));
    m_timeline->setFocus();
    return true;
}

void MainWindow::togglePlay() {
    if (m_play->isActive()) {
        m_play->stop();
        return;
    }
    if (m_state.playHead() >= m_state.view().end()) m_state.setPlayHead(0);
    m_play->start();
}

bool MainWindow::exportPicture(const QString& path) {
    if (!m_state.answer()) return false;
    if (path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive)) {
        QSaveFile file(path);
        if (file.open(QIODevice::WriteOnly) && m_timeline->wholePicture().save(&file, "PNG") && file.commit())
            return true;
        const core::Error error{core::ErrorCode::Io, "cannot write: " + file.errorString().toStdString(),
                                path.toStdString(), "choose a place that you may write to"};
        showProblem([error] { return errorText(error); });
        return false;
    }
    // The plans of the page under their titles there.
    cli::Report report = m_state.answer()->report;
    report.plans.clear();
    for (std::size_t p = 0; p < m_state.plans().size(); ++p) {
        report.plans.push_back(m_state.plan(p));
        report.plans.back().name = m_state.titleOf(p).toStdString();
    }
    const auto written = cli::writeOutput(report, path.toStdString(), m_language.toStdString());
    if (!written) showProblem([error = written.error()] { return errorText(error); });
    return written.has_value();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!droppedFile(*event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QString path = droppedFile(*event->mimeData());
    if (path.isEmpty()) return;
    openPath(path);
    if (const auto files = event->mimeData()->urls().size(); files > 1)
        m_status->setText(tr("Of %1 files the first is opened.").arg(files));
    event->acceptProposedAction();
}

void MainWindow::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) retranslate();
    if (event->type() == QEvent::FontChange) measure();
    QMainWindow::changeEvent(event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    saveState();
    QMainWindow::closeEvent(event);
}

void MainWindow::remember(const QString& path) {
    QSettings settings;
    QStringList recent = lastingPaths(settings.value(QStringLiteral("recent")).toStringList());
    recent.removeAll(path);
    recent.prepend(path);
    while (recent.size() > 8) recent.removeLast();
    settings.setValue(QStringLiteral("recent"), recent);
    m_start->setRecent(recent);
}

void MainWindow::measure() {
    if (m_search == nullptr) return;  // still being made
    if (auto* close = findChild<QPushButton*>(QStringLiteral("closeBanner")))
        close->setFixedWidth(fontMetrics().height() * 2);
    m_search->setMaximumWidth(fontMetrics().averageCharWidth() * 40);
    m_progress->setMaximumWidth(fontMetrics().averageCharWidth() * 20);
    // As many lines of the panels below as they begin with; where text is large, the timeline keeps the most.
    if (m_panelsShown)
        resizeDocks({m_differenceDock}, {std::min(fontMetrics().height() * 16, height() * 2 / 5)}, Qt::Vertical);
}

void MainWindow::setScale(int percent) {
    setTextScale(percent);
    setFont(QApplication::font());
    // Qt measures a tool button anew, but does not tell the layout that it is in.
    for (auto* button : findChildren<QToolButton*>()) button->updateGeometry();
    QToolTip::setFont(QApplication::font());
    if (QAction* action = m_actions.find(QStringLiteral("scale%1").arg(textScale()))) action->setChecked(true);
}

void MainWindow::stepScale(int by) {
    const auto scales = textScales();
    const auto at = std::ranges::find(scales, textScale()) - scales.begin() + by;
    setScale(scales[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at, 0, std::ssize(scales) - 1))]);
}

void MainWindow::setThemeKind(std::optional<ThemeKind> kind) {
    m_themeKind = kind;
    applyTheme();
}

void MainWindow::applyTheme() {
    m_theme =
        themeOf(m_themeKind.value_or(kindOfDesktop(m_desktop)), static_cast<int>(std::lround(devicePixelRatioF())));
    const auto* style = qobject_cast<FrameStyle*>(QApplication::style());
    if (style == nullptr || style->kind() != m_theme.kind) QApplication::setStyle(new FrameStyle(m_theme));
    QApplication::setPalette(m_theme.palette);
    m_timeline->setTheme(m_theme);
    m_legend->setTheme(m_theme);
    const auto colour = [](QWidget& widget, QPalette::ColorRole role, const QColor& with) {
        QPalette palette = widget.palette();
        palette.setColor(role, with);
        widget.setPalette(palette);
    };
    for (auto* problem : findChildren<QLabel*>(QStringLiteral("problem")))
        colour(*problem, QPalette::WindowText, m_theme.peak);
    colour(*m_bannerLine, QPalette::Window, m_theme.peak);
    const QString checked = !m_themeKind                       ? QStringLiteral("themeDesktop")
                            : *m_themeKind == ThemeKind::Light ? QStringLiteral("themeLight")
                            : *m_themeKind == ThemeKind::Dark  ? QStringLiteral("themeDark")
                                                               : QStringLiteral("themeContrast");
    if (QAction* action = m_actions.find(checked)) action->setChecked(true);
}

void MainWindow::setLanguage(const QString& language) {
    m_language = language == QLatin1String("ko") ? language : QStringLiteral("en");
    setPictureLanguage(m_language);
    for (QTranslator* translator : {&m_translator, &m_keyTranslator, &m_qtTranslator})
        QCoreApplication::removeTranslator(translator);
    const auto install = [&](QTranslator& translator, const char* name, const QString& folder) {
        if (translator.load(QLatin1String(name) + m_language, folder)) QCoreApplication::installTranslator(&translator);
    };
    install(m_qtTranslator, "qtbase_", QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    install(m_keyTranslator, "keys_", QStringLiteral(":/i18n"));
    install(m_translator, "shardscope_", QStringLiteral(":/i18n"));
    if (QAction* action = m_actions.find(m_language == QLatin1String("ko") ? QStringLiteral("languageKo")
                                                                           : QStringLiteral("languageEn")))
        action->setChecked(true);
    retranslate();
    // Painted words are not widgets' texts: whoever draws them is told.
    emit m_state.viewChanged();
}

}  // namespace shardscope::gui
