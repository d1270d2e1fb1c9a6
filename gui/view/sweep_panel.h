#pragma once

// One knob over values: a row a point and plan as it is simulated, with progress and cancel. A chosen row's scenario is
// opened in the timeline.

#include <QWidget>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "gui/worker/answer.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QTableWidget;

namespace shardscope::gui {

class SweepPanel : public QWidget {
    Q_OBJECT
public:
    explicit SweepPanel(QWidget* parent = nullptr);
    ~SweepPanel() override;

    /// What a sweep starts from. Of another document: the rows of the one before go.
    void setAnswer(std::shared_ptr<const Answer> answer, bool anotherDocument);
    /// Nothing is swept while a run is open, which is said.
    void setRun(bool run);
    /// The key's path and its values as `--over` takes them, separated by commas.
    void start(const QString& path, const QString& values);
    void cancel();
    [[nodiscard]] bool running() const { return m_running; }
    [[nodiscard]] QTableWidget& table() { return *m_table; }
    [[nodiscard]] const std::vector<core::Scenario>& scenarios() const { return m_scenarios; }

signals:
    void finished();
    void chosen(const shardscope::core::Scenario& scenario, const QString& path);

protected:
    void changeEvent(QEvent* event) override;

private:
    struct Point {
        std::size_t index = 0;
        std::string value;
        core::Scenario scenario;
        core::Result<cli::Report> report;
    };
    void retranslate();
    void addPoint(Point point);
    void fillRow(int row, const cli::Report& report, std::size_t plan);
    void put(int row, int column, const QString& text, const QString& formula);
    void clearRows();
    void fillBars();
    void done();

    std::shared_ptr<const Answer> m_answer;
    std::vector<core::Scenario> m_scenarios;           ///< by row
    std::vector<std::int64_t> m_steps;                 ///< by row; 0 for a point that failed
    std::vector<std::function<void(int row)>> m_fill;  ///< by row: its words in the window's language
    QString m_path;
    std::uint64_t m_number = 0;  ///< of the sweep at hand; points of earlier ones are dropped
    bool m_running = false, m_isRun = false;
    QComboBox* m_key = nullptr;
    QLineEdit* m_values = nullptr;
    QPushButton *m_run = nullptr, *m_cancel = nullptr;
    QProgressBar* m_progress = nullptr;
    QLabel* m_problem = nullptr;
    QTableWidget* m_table = nullptr;
    std::vector<std::jthread> m_ending;  ///< cancelled, at their last point
    std::jthread m_thread;
};

}  // namespace shardscope::gui
