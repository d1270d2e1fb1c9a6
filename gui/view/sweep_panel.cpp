#include "gui/view/sweep_panel.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "cli/face/words.h"
#include "core/scenario/keys.h"
#include "gui/view/difference.h"
#include "gui/view/figure_words.h"
#include "gui/view/messages.h"
#include "gui/view/words.h"

namespace shardscope::gui {

namespace {

enum Column { Value, Plan, Step, Bar, Throughput, Waiting, Memory, kColumns };

}  // namespace

SweepPanel::SweepPanel(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    auto* row = new QHBoxLayout;
    m_key = new QComboBox;
    m_key->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_key->setMinimumContentsLength(32);
    for (const core::Key& key : core::scenarioKeys())
        if (key.path != "title") m_key->addItem(toQString(key.path));
    m_key->setCurrentText(QStringLiteral("parallelism.data_parallel_shard_degree"));
    m_values = new QLineEdit(QStringLiteral("2,4,8,16"));
    m_run = new QPushButton;
    m_cancel = new QPushButton;
    m_progress = new QProgressBar;
    m_progress->hide();
    m_cancel->hide();
    for (QWidget* widget : std::initializer_list<QWidget*>{m_key, m_values, m_run, m_progress, m_cancel})
        row->addWidget(widget);
    column->addLayout(row);
    m_problem = new QLabel;
    m_problem->setObjectName(QStringLiteral("problem"));
    m_problem->setWordWrap(true);
    m_problem->hide();
    column->addWidget(m_problem);
    m_table = new QTableWidget(0, kColumns);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(Bar, QHeaderView::Stretch);
    column->addWidget(m_table, 1);
    connect(m_run, &QPushButton::clicked, this, [this] { start(m_key->currentText(), m_values->text()); });
    connect(m_values, &QLineEdit::returnPressed, m_run, &QPushButton::click);
    connect(m_cancel, &QPushButton::clicked, this, &SweepPanel::cancel);
    const auto choose = [this](int at) {
        const auto index = static_cast<std::size_t>(at);
        if (at >= 0 && index < m_scenarios.size() && m_steps[index] > 0) emit chosen(m_scenarios[index], m_path);
    };
    connect(m_table, &QTableWidget::cellClicked, this, [choose](int at, int) { choose(at); });
    connect(m_table, &QTableWidget::cellActivated, this, [choose](int at, int) { choose(at); });
    retranslate();
}

SweepPanel::~SweepPanel() {
    m_thread.request_stop();  // before the first of them is waited for
}

void SweepPanel::setAnswer(std::shared_ptr<const Answer> answer, bool anotherDocument) {
    m_answer = std::move(answer);
    if (!anotherDocument) return;
    cancel();
    clearRows();
}

void SweepPanel::setRun(bool run) {
    if (std::exchange(m_isRun, run) == run) return;
    for (QWidget* widget : std::initializer_list<QWidget*>{m_key, m_values, m_run}) widget->setEnabled(!run);
    m_problem->setVisible(run);
    retranslate();
}

void SweepPanel::clearRows() {
    m_table->setRowCount(0);
    m_scenarios.clear();
    m_steps.clear();
    m_fill.clear();
}

void SweepPanel::start(const QString& path, const QString& values) {
    cancel();
    m_problem->hide();
    clearRows();
    m_path = path;
    std::vector<std::string> all;
    for (const QString& value : values.split(u',', Qt::SkipEmptyParts))
        if (!value.trimmed().isEmpty()) all.push_back(value.trimmed().toStdString());
    if (!m_answer || all.empty()) {
        m_problem->show();
        emit finished();
        return;
    }
    m_progress->setRange(0, static_cast<int>(all.size()));
    m_progress->setValue(0);
    m_progress->show();
    m_cancel->show();
    m_running = true;
    const std::uint64_t number = ++m_number;
    // What is cancelled ends in its own time; waiting for it would hold up the window.
    if (m_thread.joinable()) m_ending.push_back(std::move(m_thread));
    m_thread =
        std::jthread([this, number, all, key = path.toStdString(), answer = m_answer](const std::stop_token& stop) {
            for (std::size_t i = 0; i < all.size() && !stop.stop_requested(); ++i) {
                auto point = std::make_shared<Point>(
                    Point{i, all[i], answer->loaded.scenario, core::fail(core::ErrorCode::Cancelled, "")});
                if (const auto set = core::applyOverride(point->scenario, key + "=" + all[i]); !set) {
                    point->report = tl::unexpected(set.error());
                } else if (auto made = answerTo(*answer, point->scenario, answer->strategies, {stop, {}})) {
                    point->report = std::move(made->report);
                    // Rows show figures alone; what is large is freed here.
                    for (cli::PlanReport& plan : point->report->plans) {
                        plan.timeline = {};
                        plan.graph.reset();
                        plan.model.reset();
                    }
                } else {
                    point->report = tl::unexpected(made.error());
                }
                if (stop.stop_requested()) return;  // freed here, not by the window's thread
                QMetaObject::invokeMethod(
                    this,
                    [this, number, point, count = all.size()] {
                        if (number != m_number) return;
                        const bool last = point->index + 1 == count;
                        addPoint(std::move(*point));
                        if (last) done();
                    },
                    Qt::QueuedConnection);
            }
        });
}

void SweepPanel::cancel() {
    m_thread.request_stop();
    ++m_number;
    if (m_running) done();
}

void SweepPanel::done() {
    m_running = false;
    m_progress->hide();
    m_cancel->hide();
    emit finished();
}

void SweepPanel::addPoint(Point point) {
    m_progress->setValue(static_cast<int>(point.index) + 1);
    const auto addRow = [&](std::int64_t step, const std::function<void(int row)>& fill) {
        const int row = m_table->rowCount();
        m_table->insertRow(row);
        m_scenarios.push_back(point.scenario);
        m_steps.push_back(step);
        m_table->setItem(row, Value, new QTableWidgetItem(toQString(point.value)));
        m_fill.push_back(fill);
        fill(row);
    };
    if (!point.report) {
        addRow(0, [this, error = point.report.error()](int row) { put(row, Bar, errorText(error), errorText(error)); });
        return;
    }
    const auto report = std::make_shared<const cli::Report>(std::move(*point.report));
    for (std::size_t p = 0; p < report->plans.size(); ++p)
        addRow(report->plans[p].stepNs, [this, report, p](int row) { fillRow(row, *report, p); });
    fillBars();
}

void SweepPanel::put(int row, int column, const QString& text, const QString& formula) {
    auto* item = new QTableWidgetItem(text);
    item->setToolTip(formula);
    if (column != Bar && column != Plan) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_table->setItem(row, column, item);
}

void SweepPanel::fillRow(int row, const cli::Report& report, std::size_t plan) {
    const cli::PlanReport& of = report.plans[plan];
    const std::vector<DifferenceRow> figures = differencesOf(report);
    const auto figure = [&](Figure wanted) {
        const DifferenceRow& one = figures[static_cast<std::size_t>(wanted)];
        return valueText(one.unit, one.values[plan]);
    };
    put(row, Plan, toQString(of.name), toQString(cli::planInWords(of.setup, std::string(pictureText().language))));
    for (const auto& [column, wanted] : {std::pair{Step, Figure::Step}, std::pair{Throughput, Figure::Throughput},
                                         std::pair{Waiting, Figure::Waiting}})
        put(row, column, figure(wanted), figureFormula(wanted, report, of));
    put(row, Memory, figure(Figure::PeakMemory) + (of.fits() ? QString() : QStringLiteral(", ") + tr("does not fit")),
        figureFormula(Figure::PeakMemory, report, of) + u'\n' + fitFormula(of));
}

void SweepPanel::fillBars() {
    const std::int64_t most = std::max<std::int64_t>(1, m_steps.empty() ? 1 : std::ranges::max(m_steps));
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const std::int64_t step = m_steps[static_cast<std::size_t>(row)];
        if (step == 0) continue;
        auto* bar = qobject_cast<QProgressBar*>(m_table->cellWidget(row, Bar));
        if (bar == nullptr) {
            bar = new QProgressBar;
            bar->setTextVisible(false);
            bar->setFocusPolicy(Qt::NoFocus);
            bar->setAccessibleName(tr("Step"));
            m_table->setCellWidget(row, Bar, bar);
        }
        bar->setRange(0, 1000);
        bar->setValue(static_cast<int>(1000.0 * static_cast<double>(step) / static_cast<double>(most)));
    }
}

void SweepPanel::retranslate() {
    m_key->setAccessibleName(tr("Knob to turn"));
    m_values->setAccessibleName(tr("Values, separated by commas"));
    m_values->setPlaceholderText(tr("Values, separated by commas"));
    m_run->setText(tr("Sweep"));
    m_cancel->setText(tr("Cancel"));
    m_problem->setText(m_isRun ? tr("A run is not swept. Open its model or scenario for that.")
                               : tr("Give values separated by commas, such as 2,4,8."));
    m_table->setAccessibleName(tr("Points of the sweep"));
    m_table->setHorizontalHeaderLabels({tr("Value"), tr("Plan"), figureName(Figure::Step), QString(),
                                        figureName(Figure::Throughput), figureName(Figure::Waiting),
                                        figureName(Figure::PeakMemory)});
    for (std::size_t row = 0; row < m_fill.size(); ++row) m_fill[row](static_cast<int>(row));
}

void SweepPanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) retranslate();
    QWidget::changeEvent(event);
}

}  // namespace shardscope::gui
