// Which plans the window shows, and what it asks of its worker.

#include <QDockWidget>
#include <QInputDialog>
#include <QLabel>
#include <algorithm>

#include "gui/view/knob_panel.h"
#include "gui/view/range_panel.h"
#include "gui/view/sweep_panel.h"
#include "gui/view/table_panel.h"
#include "gui/window/main_window.h"

namespace shardscope::gui {

void MainWindow::change(const core::Scenario& scenario, const QString& path) {
    if (!m_state.answer()) return;
    Study next = m_study;
    next.scenario = scenario;
    changeStudy(std::move(next), path);
}

void MainWindow::changeStudy(Study next, const QString& key) {
    m_undo.push(new StudyChange(m_study, std::move(next), key, [this](const Study& study, const QString& changed) {
        m_study = study;
        m_state.setKept(study.kept);
        showStrategies();
        if (changed.isEmpty()) {
            emit shown();
            return;
        }
        m_editedPath = changed;
        m_firstAnswer = false;  // whatever was being opened, this is another study of what is open
        // The worker has begun when the knobs are put to their values.
        m_evaluator.change(m_state.answer(), study.scenario, study.strategies);
        m_knobs->setScenario(study.scenario);
    }));
}

void MainWindow::switchStrategy(const std::string& strategy) {
    Study next = m_study;
    const auto at = std::ranges::find(next.strategies, strategy);
    if (at == next.strategies.end()) {
        next.strategies.push_back(strategy);
        // As compare names them.
        std::ranges::sort(next.strategies, {}, [](const std::string& one) {
            return one == "single" ? 0 : one == "naive" ? 1 : one == "ddp" ? 2 : 3;
        });
    } else if (next.strategies.size() > 1) {
        next.strategies.erase(at);
    } else {
        m_status->setText(tr("One strategy at least is shown. Choose another one first."));
        showStrategies();
        return;
    }
    if (m_state.answer()) {
        changeStudy(std::move(next), QStringLiteral("parallelism.strategy"));
    } else {
        m_study.strategies = std::move(next.strategies);
        showStrategies();
    }
}

void MainWindow::showStrategies() {
    for (const auto& [id, strategy] : {std::pair{"strategySingle", "single"}, std::pair{"strategyNaive", "naive"},
                                       std::pair{"strategyDdp", "ddp"}, std::pair{"strategyFsdp", "fsdp"}})
        m_actions.find(QLatin1String(id))
            ->setChecked(std::ranges::find(m_study.strategies, strategy) != m_study.strategies.end());
}

void MainWindow::keepPlan() {
    if (!m_state.answer()) return;
    // What is selected, or else the last: FSDP where it is shown.
    const std::size_t plan = m_state.selection() ? m_state.selection()->plan : m_state.lastPresent();
    ShownPlan kept = m_state.plans()[plan];
    const QString title = m_state.titleOf(plan);
    const auto same = [&](const ShownPlan& other) { return isSamePlan(kept, other); };
    if (std::ranges::any_of(m_study.kept, same)) {
        m_status->setText(tr("%1 is kept already.").arg(title));
        return;
    }
    if (m_study.kept.size() >= kMostKept) {
        m_status->setText(tr("%1 plans are kept, which is the most. Drop one first.").arg(kMostKept));
        return;
    }
    kept.kept = true;
    Study next = m_study;
    next.kept.push_back(std::move(kept));
    changeStudy(std::move(next), {});
    m_status->setText(tr("%1 stays on the page. Turn a knob to see what changes against it.").arg(title));
}

void MainWindow::dropPlan(std::size_t kept) {
    if (kept >= m_study.kept.size()) return;
    Study next = m_study;
    next.kept.erase(next.kept.begin() + static_cast<std::ptrdiff_t>(kept));
    changeStudy(std::move(next), {});
}

void MainWindow::dropSelectedPlan() {
    if (m_study.kept.empty()) {
        m_status->setText(tr("No plan is kept."));
        return;
    }
    std::size_t drop = m_study.kept.size() - 1;  // the last one, where none is selected
    for (std::size_t k = 0; m_state.selection() && k < m_study.kept.size(); ++k)
        if (m_state.placeOfKept(k) == m_state.selection()->plan) drop = k;
    dropPlan(drop);
}

std::vector<QDockWidget*> MainWindow::docks() const {
    return {m_knobDock, m_differenceDock, m_sweepDock, m_statisticsDock, m_tableDock, m_detailsDock};
}

void MainWindow::makeStatistics() {
    QList<QAction*> actions;
    for (const auto& [id, icon] : {std::pair{"previousOfRow", "\u25c2"}, std::pair{"nextOfRow", "\u25b8"},
                                   std::pair{"copyStatisticsCsv", "CSV"}, std::pair{"copyStatisticsMarkdown", "MD"}}) {
        QAction* action = m_actions.find(QLatin1String(id));
        action->setIconText(QString::fromUtf8(icon));
        actions << action;
    }
    m_statistics = new RangePanel(m_state, actions);
    m_statisticsDock = makeDock("statistics", m_statistics, Qt::BottomDockWidgetArea);
    tabifyDockWidget(m_sweepDock, m_statisticsDock);
    m_table = new TablePanel(m_state, *m_sweep->table().model());
    m_tableDock = makeDock("table", m_table, Qt::BottomDockWidgetArea);
    tabifyDockWidget(m_statisticsDock, m_tableDock);
    // A dock that is a tab behind another one counts as visible, but tells when it comes and goes.
    connect(m_statisticsDock, &QDockWidget::visibilityChanged, m_statistics, &RangePanel::setSeen);
    connect(m_tableDock, &QDockWidget::visibilityChanged, m_table, &TablePanel::setSeen);
    connect(&m_state, &PageState::rangeChanged, this, [this] {
        if (m_state.range() && m_statisticsDock->isVisible()) m_statisticsDock->raise();
    });
}

void MainWindow::askForRank() {
    // The class that is selected, or the first that stands for several.
    const auto isClass = [&](const ShownRow& row) { return m_state.ranksOf(row.plan, row.lane) > 1; };
    std::optional<ShownRow> row;
    if (const auto selected = m_state.selection()) row = ShownRow{selected->plan, selected->lane, selected->rank};
    if (!row || !isClass(*row)) {
        const auto first = std::ranges::find_if(m_state.rows(), isClass);
        if (first == m_state.rows().end()) {
            m_status->setText(tr("Every rank is drawn by itself already."));
            return;
        }
        row = *first;
    }
    const LaneSet& set = m_state.lanes(row->plan);
    const timeline::RankRow& ranks = set.timeline->ranks[set.lanes[row->lane].rankIndex];
    const std::int64_t last = ranks.rank + ranks.multiplicity - 1;
    bool chosen = false;
    const int rank = QInputDialog::getInt(
        this, tr("One of identical ranks"),
        tr("%1: which rank, from %2 to %3?").arg(m_state.titleOf(row->plan)).arg(ranks.rank).arg(last),
        static_cast<int>(ranks.rank), static_cast<int>(ranks.rank), static_cast<int>(last), 1, &chosen);
    if (chosen) m_state.unfold(row->plan, row->lane, {Unfolding::Kind::Single, rank - ranks.rank});
}

void MainWindow::dropAllPlans() {
    if (m_study.kept.empty()) return;
    Study next = m_study;
    next.kept.clear();
    changeStudy(std::move(next), {});
}

}  // namespace shardscope::gui
