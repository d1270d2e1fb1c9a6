#pragma once

// The window: start page or the plans of a scenario, the panels around them, and the one list of actions.

#include <QMainWindow>
#include <QTranslator>
#include <QUndoStack>
#include <functional>
#include <memory>

#include "gui/action/actions.h"
#include "gui/theme/theme.h"
#include "gui/view/page_state.h"
#include "gui/window/session.h"
#include "gui/window/study.h"
#include "gui/worker/evaluator.h"

class QDockWidget;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QTimer;
class QToolBar;

namespace shardscope::gui {

class DetailsPanel;
class DifferencePanel;
class KnobPanel;
class Legend;
class RangePanel;
class TablePanel;
class StartPage;
class SweepPanel;
class TimelineView;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    void openPath(const QString& path);
    void openSample(int index);
    /// The open run once more, predicted with the machine's times in that file (shardscope calibrate -o).
    void predictRun(const QString& times);
    /// What was open when the last window was closed: its scenario, its kept plans, what was in view.
    void continueSession();
    void setThemeKind(std::optional<ThemeKind> kind);  ///< none: as the desktop
    void setLanguage(const QString& language);         ///< "en", "ko"
    void setScale(int percent);                        ///< of text and what is measured by it (gui/theme/text_scale.h)
    [[nodiscard]] QString language() const { return m_language; }
    /// Saves the whole view; by ending .png, .svg or .pdf. Errors are told in the window.
    bool exportPicture(const QString& path);

    [[nodiscard]] PageState& state() { return m_state; }
    [[nodiscard]] Evaluator& evaluator() { return m_evaluator; }
    [[nodiscard]] Actions& actions() { return m_actions; }
    [[nodiscard]] TimelineView& timeline() { return *m_timeline; }
    [[nodiscard]] KnobPanel& knobs() { return *m_knobs; }
    [[nodiscard]] DifferencePanel& differences() { return *m_differences; }
    [[nodiscard]] DetailsPanel& details() { return *m_details; }
    [[nodiscard]] SweepPanel& sweep() { return *m_sweep; }
    [[nodiscard]] RangePanel& statistics() { return *m_statistics; }
    [[nodiscard]] TablePanel& table() { return *m_table; }
    [[nodiscard]] Legend& legend() { return *m_legend; }
    [[nodiscard]] QUndoStack& undoStack() { return m_undo; }
    [[nodiscard]] const Study& study() const { return m_study; }
    [[nodiscard]] QString problem() const;  ///< what the banner says; empty where it is hidden
    /// Finds the next (or, with -1, the previous) op whose name holds the text, and selects it.
    bool search(const QString& text, int direction = 1);
    /// The keys of every action, as the sheet shows them.
    [[nodiscard]] QString keysHtml() const { return m_actions.keysHtml(); }
    /// Keeps the plan that is selected, or the last one, beside what is simulated next. Says why where it cannot.
    void keepPlan();
    /// One line for each scenario on the page, the present one last.
    [[nodiscard]] QString asCommandLine() const;
    [[nodiscard]] QString asScenario() const;
    [[nodiscard]] QString asPyTorch() const;

signals:
    void shown();  ///< an answer, or an error, has arrived

protected:
    void changeEvent(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeActions();
    void makePanels();
    QDockWidget* makeDock(const char* name, QWidget* widget, Qt::DockWidgetArea area);
    void makeStatistics();
    [[nodiscard]] std::vector<QDockWidget*> docks() const;
    void applyTheme();
    void measure();  ///< what is as wide as some text
    void stepScale(int by);
    void retranslate();
    void showAnswer(std::shared_ptr<const Answer> answer);
    void showError(const core::Error& error);
    void showProgress(core::WorkStage stage, const QString& plan, double share);
    /// What a run allows, and why it stands alone where it does.
    void showRun();
    void askForTimes();
    void showPanels();
    void arrangePanels();
    void openNextPart();
    /// Whether an answer (or an error) was of a session's kept plan; asks for the next part then.
    bool takePart(const core::Result<std::shared_ptr<const Answer>>& answer);
    void restoreView();
    void cancel();
    /// The words are asked for again when the language changes.
    void showProblem(std::function<QString()> words);
    void hideProblem();
    void remember(const QString& path);
    /// As a step that can be undone.
    void change(const core::Scenario& scenario, const QString& path);
    void changeStudy(Study next, const QString& key);
    void switchStrategy(const std::string& strategy);
    void showStrategies();
    void askForRank();
    void dropPlan(std::size_t kept);
    void dropSelectedPlan();
    void dropAllPlans();
    void openPalette();
    void openKeys();
    void togglePlay();
    void saveState();
    void restoreState();

    PageState m_state;
    Evaluator m_evaluator;
    Actions m_actions;
    QUndoStack m_undo;
    Theme m_theme;
    std::optional<ThemeKind> m_themeKind;
    QPalette m_desktop;
    QString m_language = QStringLiteral("en");
    QTranslator m_translator, m_keyTranslator, m_qtTranslator;
    QString m_opened;           ///< what is open or being opened
    bool m_firstAnswer = true;  ///< of what was opened
    bool m_panelsShown = false;

    QStackedWidget* m_pages = nullptr;
    StartPage* m_start = nullptr;
    TimelineView* m_timeline = nullptr;
    DifferencePanel* m_differences = nullptr;
    DetailsPanel* m_details = nullptr;
    KnobPanel* m_knobs = nullptr;
    SweepPanel* m_sweep = nullptr;
    RangePanel* m_statistics = nullptr;
    TablePanel* m_table = nullptr;
    QDockWidget *m_differenceDock = nullptr, *m_detailsDock = nullptr, *m_knobDock = nullptr, *m_sweepDock = nullptr,
                *m_statisticsDock = nullptr, *m_tableDock = nullptr;
    Legend* m_legend = nullptr;
    QToolBar *m_tools = nullptr, *m_legendBar = nullptr;
    QWidget *m_banner = nullptr, *m_bannerLine = nullptr;
    QLabel* m_bannerText = nullptr;
    QPushButton* m_bannerPredict = nullptr;  ///< to give a run the times that it lacks
    std::function<QString()> m_problem;      ///< what the banner says
    QLineEdit* m_search = nullptr;
    QProgressBar* m_progress = nullptr;
    QPushButton* m_cancel = nullptr;
    QLabel *m_status = nullptr, *m_stage = nullptr;
    QTimer *m_play = nullptr, *m_slow = nullptr;  ///< m_slow: work that takes long enough to be told of
    std::vector<QMenu*> m_menus;
    QString m_editedPath;
    Session m_session;                             ///< what is still to be continued
    std::vector<ShownPlan> m_restored;             ///< of it so far
    std::vector<std::function<QString()>> m_lost;  ///< words for what of it could not be made again
    Study m_study;                                 ///< what the next change is counted from
};

}  // namespace shardscope::gui
