// What the window keeps from one time to the next, and where its panels stand.

#include <QDockWidget>
#include <QLabel>
#include <QScreen>
#include <QSettings>
#include <QToolBar>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/theme/text_scale.h"
#include "gui/view/knob_panel.h"
#include "gui/view/messages.h"
#include "gui/view/words.h"
#include "gui/window/main_window.h"
#include "gui/window/start_page.h"

namespace shardscope::gui {

namespace {

/// Moves and shrinks a window until all of it is on its screen.
void clampToScreen(QWidget& window) {
    const QScreen* screen = window.screen();
    if (screen == nullptr) return;
    const QRect area = screen->availableGeometry();
    const QSize size = window.size().expandedTo({320, 240}).boundedTo(area.size());
    const QPoint place(std::clamp(window.x(), area.left(), area.right() + 1 - size.width()),
                       std::clamp(window.y(), area.top(), area.bottom() + 1 - size.height()));
    if (size != window.size()) window.resize(size);
    if (place != window.pos()) window.move(place);
}

}  // namespace

void MainWindow::arrangePanels() {
    for (const auto& [dock, area] :
         {std::pair{m_knobDock, Qt::LeftDockWidgetArea}, std::pair{m_differenceDock, Qt::BottomDockWidgetArea},
          std::pair{m_sweepDock, Qt::BottomDockWidgetArea}, std::pair{m_statisticsDock, Qt::BottomDockWidgetArea},
          std::pair{m_tableDock, Qt::BottomDockWidgetArea}, std::pair{m_detailsDock, Qt::RightDockWidgetArea}}) {
        dock->setFloating(false);
        addDockWidget(area, dock);
        dock->show();
    }
    m_legendBar->show();
    tabifyDockWidget(m_differenceDock, m_sweepDock);
    tabifyDockWidget(m_sweepDock, m_statisticsDock);
    tabifyDockWidget(m_statisticsDock, m_tableDock);
    // The timeline is what the window is for.
    resizeDocks({m_knobDock, m_detailsDock}, {width() / 5, width() / 5}, Qt::Horizontal);
    measure();
    m_differenceDock->raise();
}

void MainWindow::showPanels() {
    m_legendBar->show();  // unless it is kept as hidden
    if (!QMainWindow::restoreState(QSettings().value(QStringLiteral("panels")).toByteArray())) {
        arrangePanels();
        return;
    }
    for (QDockWidget* dock : docks())
        if (dock->isFloating()) clampToScreen(*dock);
}

void MainWindow::saveState() {
    QSettings settings;
    settings.setValue(QStringLiteral("geometry"), saveGeometry());
    if (m_panelsShown) settings.setValue(QStringLiteral("panels"), QMainWindow::saveState());
    settings.setValue(QStringLiteral("scale"), textScale());
    settings.setValue(QStringLiteral("language"), m_language);
    settings.setValue(QStringLiteral("theme"), m_themeKind ? static_cast<int>(*m_themeKind) : -1);
    settings.setValue(QStringLiteral("streams"), m_state.streamsShown());
    settings.setValue(QStringLiteral("alignment"), static_cast<int>(m_state.alignment()));
    if (m_state.answer())
        writeSession(sessionOf(m_study, *m_state.answer(), m_state.view().range(), m_state.view().end()));
}

void MainWindow::restoreState() {
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
    clampToScreen(*this);
    setScale(settings.value(QStringLiteral("scale"), textScale()).toInt());
    const int theme = settings.value(QStringLiteral("theme"), -1).toInt();
    if (theme >= 0 && theme <= 2) setThemeKind(static_cast<ThemeKind>(theme));
    setLanguage(settings
                    .value(QStringLiteral("language"), QLocale::system().language() == QLocale::Korean
                                                           ? QStringLiteral("ko")
                                                           : QStringLiteral("en"))
                    .toString());
    if (!settings.value(QStringLiteral("streams"), true).toBool()) m_actions.find(QStringLiteral("streams"))->trigger();
    const int alignment = settings.value(QStringLiteral("alignment"), 0).toInt();
    if (alignment == 1) m_actions.find(QStringLiteral("alignEnd"))->trigger();
    if (alignment == 2) m_actions.find(QStringLiteral("alignNormalised"))->trigger();
    m_start->setRecent(lastingPaths(settings.value(QStringLiteral("recent")).toStringList()));
    m_start->setContinuable(!readSession().empty());
}

void MainWindow::continueSession() {
    m_session = readSession();
    m_restored.clear();
    m_lost.clear();
    if (m_session.empty()) m_status->setText(tr("There is nothing to continue."));
    openNextPart();
}

void MainWindow::openNextPart() {
    if (m_session.empty()) return;
    const Session::Part& part = m_session.parts.front();
    m_opened.clear();
    m_firstAnswer = true;
    m_evaluator.reopen(part.source, part.scenario, part.times, part.strategies);
}

bool MainWindow::takePart(const core::Result<std::shared_ptr<const Answer>>& answer) {
    if (m_session.empty()) return false;
    const Session::Part part = std::move(m_session.parts.front());
    m_session.parts.erase(m_session.parts.begin());
    if (part.plan.empty()) {
        if (!answer) return false;
        m_study.strategies = part.strategies;
        m_study.kept = std::exchange(m_restored, {});
        showStrategies();
        return false;  // the present scenario is shown as any other
    }
    const std::size_t before = m_restored.size();
    if (answer)
        for (std::size_t p = 0; p < (*answer)->plans(); ++p)
            if ((*answer)->report.plans[p].name == part.plan) m_restored.push_back({*answer, p, true});
    if (m_restored.size() == before)
        m_lost.emplace_back([plan = part.plan, error = answer ? core::Error() : answer.error()] {
            return tr("The kept plan %1 could not be made again and is left out. %2")
                .arg(toQString(plan), errorText(error))
                .trimmed();
        });
    openNextPart();
    return true;
}

void MainWindow::restoreView() {
    const double end = m_state.view().end();
    if (m_session.begin < m_session.end) m_state.show({m_session.begin * end, m_session.end * end});
    m_session = {};
}

}  // namespace shardscope::gui
