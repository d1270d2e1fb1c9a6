#include "gui/view/difference_panel.h"

#include <QEvent>
#include <algorithm>

#include "cli/face/text_table.h"
#include "gui/view/figure_words.h"
#include "gui/view/words.h"

namespace shardscope::gui {

DifferencePanel::DifferencePanel(PageState& state, QWidget* parent) : QTableWidget(parent), m_state(state) {
    setEditTriggers(NoEditTriggers);
    setSelectionBehavior(SelectRows);
    setAlternatingRowColors(true);
    setTabKeyNavigation(false);
    setAccessibleName(tr("Differences"));
    connect(&state, &PageState::answerChanged, this, &DifferencePanel::fill);
}

void DifferencePanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) {
        setAccessibleName(tr("Differences"));
        fill();
    }
    QTableWidget::changeEvent(event);
}

void DifferencePanel::fill() {
    resizeSections(QHeaderView::Fixed);  // once at the end, not with every cell
    clear();
    const std::vector<ShownPlan>& shown = m_state.plans();
    if (shown.empty()) return;
    std::vector<const cli::PlanReport*> plans;
    for (const ShownPlan& plan : shown) plans.push_back(&plan.plan());
    const std::vector<DifferenceRow> rows = differencesOf(plans);
    const auto batchOf = [](const ShownPlan& plan) { return plan.report().globalBatch; };
    // Steps of as many samples are what is compared; where they are not, that is said.
    const bool batches =
        std::ranges::any_of(shown, [&](const ShownPlan& plan) { return batchOf(plan) != batchOf(shown.front()); });
    setRowCount(static_cast<int>(rows.size()) + (batches ? 2 : 1));
    setColumnCount(2 * static_cast<int>(shown.size()) - 1);
    const auto columnOf = [](std::size_t plan) { return plan == 0 ? 0 : 2 * static_cast<int>(plan) - 1; };
    const auto put = [&](int row, int column, const QString& text, bool isFigure, const QString& formula) {
        auto* item = new QTableWidgetItem(text);
        if (isFigure) item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        item->setToolTip(formula);
        setItem(row, column, item);
    };
    QStringList columns, names;
    for (std::size_t p = 0; p < shown.size(); ++p) {
        columns << m_state.titleOf(p);
        if (p > 0) columns << tr("%1 against %2").arg(columns.last(), columns.first());
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        names << figureName(rows[r].figure);
        for (std::size_t p = 0; p < shown.size(); ++p) {
            put(static_cast<int>(r), columnOf(p), valueText(rows[r].unit, rows[r].values[p]), true,
                figureFormula(rows[r].figure, shown[p].report(), *plans[p]));
            if (p > 0)
                put(static_cast<int>(r), columnOf(p) + 1, differenceText(rows[r], p), false,
                    differenceFormula(rows[r], p));
        }
    }
    names << tr("Fits in memory");
    for (std::size_t p = 0; p < shown.size(); ++p) {
        const std::int64_t left = plans[p]->tightest().memory.left();
        const QString size = valueText(Unit::Bytes, static_cast<double>(left < 0 ? -left : left));
        put(static_cast<int>(rows.size()), columnOf(p),
            left >= 0 ? tr("yes, %1 left").arg(size) : tr("NO, %1 short").arg(size), true, fitFormula(*plans[p]));
    }
    if (batches) {
        names << tr("Samples in a step");
        for (std::size_t p = 0; p < shown.size(); ++p)
            put(static_cast<int>(rows.size()) + 1, columnOf(p), toQString(cli::groupedDigits(batchOf(shown[p]))), true,
                tr("The global batch: training.global_batch_size, or training.local_batch_size on every GPU."));
    }
    setHorizontalHeaderLabels(columns);
    setVerticalHeaderLabels(names);
    resizeSections(QHeaderView::ResizeToContents);
}

void DifferencePanel::resizeSections(QHeaderView::ResizeMode mode) {
    horizontalHeader()->setSectionResizeMode(mode);
    verticalHeader()->setSectionResizeMode(mode);
}

}  // namespace shardscope::gui
