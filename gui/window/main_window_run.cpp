// What is different in the window while a run is open.

#include <QFileDialog>
#include <QLabel>
#include <QPushButton>

#include "gui/view/knob_panel.h"
#include "gui/view/messages.h"
#include "gui/view/sweep_panel.h"
#include "gui/view/words.h"
#include "gui/window/main_window.h"

namespace shardscope::gui {

namespace {

bool hasPrediction(const Answer& answer) {
    return answer.plans() > 1;
}

}  // namespace

void MainWindow::showRun() {
    const std::shared_ptr<const Answer> answer = m_state.answer();
    const bool run = answer && answer->run;
    for (const char* id : {"strategySingle", "strategyNaive", "strategyDdp", "strategyFsdp", "copyCommand"})
        m_actions.find(QLatin1String(id))->setEnabled(!run);
    m_actions.find(QStringLiteral("predictRun"))->setEnabled(run);
    m_actions.find(QStringLiteral("copyPyTorch"))->setEnabled(!run || answer->report.plans.front().graph);
    m_sweep->setRun(run);
    if (run && !hasPrediction(*answer))
        m_knobs->freeze([] { return tr("A run is what it was. Once it is predicted, a knob asks what if."); });
    else
        m_knobs->freeze({});
    if (!run || hasPrediction(*answer)) return;
    // Below what the banner says already, which is of what was lost on the way here.
    showProblem([before = m_problem, unpredicted = answer->unpredicted] {
        const QString said = before ? before() + u'\n' : QString();
        if (unpredicted) return said + tr("The run is shown alone.") + u' ' + errorText(*unpredicted);
        return said +
               tr("The run is shown alone: it was written without --compare, so that it holds no times of its machine "
                  "to predict it with. Choose the file that `shardscope calibrate -o` wrote there.");
    });
    m_bannerPredict->show();
}

void MainWindow::askForTimes() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Machine times"), {}, tr("Machine times (*.json);;All files (*)"));
    if (!path.isEmpty()) predictRun(path);
}

void MainWindow::predictRun(const QString& times) {
    if (!m_state.answer() || !m_state.answer()->run) return;
    m_session = {};
    m_opened = toQString(m_state.answer()->loaded.source);
    m_firstAnswer = true;
    m_evaluator.openRun(m_state.answer()->loaded.source, lastingPath(times).toStdString(), m_study.strategies);
}

}  // namespace shardscope::gui
