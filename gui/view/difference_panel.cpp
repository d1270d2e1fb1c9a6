#include "gui/view/difference_panel.h"

#include <QEvent>
#include <QHeaderView>
#include <algorithm>

#include "cli/face/text_table.h"
#include "gui/view/figure_words.h"
#include "gui/view/run_figures.h"
#include "gui/view/words.h"

namespace shardscope::gui {

namespace {

/// Qt leaves room for bold words in every head.
QFont bold(QFont font) {
    font.setBold(true);
    return font;
}

}  // namespace

DifferencePanel::DifferencePanel(PageState& state, QWidget* parent) : QTableWidget(parent), m_state(state) {
    setEditTriggers(NoEditTriggers);
    setSelectionBehavior(SelectRows);
    setAlternatingRowColors(true);
    setTabKeyNavigation(false);
    setWordWrap(false);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    setAccessibleName(tr("Differences"));
    connect(&state, &PageState::answerChanged, this, &DifferencePanel::fill);
}

void DifferencePanel::changeEvent(QEvent* event) {
    QTableWidget::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        setAccessibleName(tr("Differences"));
        fill();
    }
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        m_texts.forget();
        m_heads.forget();
        m_height = 0;
        fit();
    }
}

// What stays as it was is left alone, and words are measured once: a table that is filled anew with every step of a
// knob would measure each of its cells a dozen times.
void DifferencePanel::put(int row, int column, const QString& text, bool isFigure, const QString& formula) {
    QTableWidgetItem* cell = item(row, column);
    if (cell == nullptr) setItem(row, column, cell = new QTableWidgetItem);
    const Qt::Alignment alignment = (isFigure ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter;
    if (Qt::Alignment(cell->textAlignment()) != alignment) cell->setTextAlignment(alignment);
    if (cell->text() != text) cell->setText(text);
    if (cell->toolTip() != formula) cell->setToolTip(formula);
}

void DifferencePanel::name(Qt::Orientation orientation, int section, const QString& text) {
    const bool column = orientation == Qt::Horizontal;
    QTableWidgetItem* item = column ? horizontalHeaderItem(section) : verticalHeaderItem(section);
    if (item != nullptr) {
        if (item->text() != text) item->setText(text);
        return;
    }
    item = new QTableWidgetItem(text);
    if (column)
        setHorizontalHeaderItem(section, item);
    else
        setVerticalHeaderItem(section, item);
}

void DifferencePanel::measure() {
    // What the style puts around words, from words that it measures itself.
    const QHeaderView &columns = *horizontalHeader(), &rows = *verticalHeader();
    const QSize cell = sizeHintForIndex(model()->index(0, 0));
    m_margin = cell.width() - fontMetrics().horizontalAdvance(item(0, 0)->text()) + 2;
    m_headMargin = columns.sectionSizeHint(0) -
                   QFontMetrics(bold(columns.font())).horizontalAdvance(horizontalHeaderItem(0)->text()) + 2;
    m_height =
        std::max(cell.height() + 1, rows.sectionSizeHint(0) - rows.fontMetrics().height() + fontMetrics().height());
}

int DifferencePanel::widthOf(int column) {
    int widest = m_heads.widthOf(bold(font()), horizontalHeaderItem(column)->text()) + m_headMargin;
    for (int row = 0; row < rowCount(); ++row)
        if (const QTableWidgetItem* cell = item(row, column))
            widest = std::max(widest, m_texts.widthOf(font(), cell->text()) + m_margin);
    return widest;
}

void DifferencePanel::fit() {
    if (rowCount() == 0) return;
    if (m_height == 0) measure();
    for (int row = 0; row < rowCount(); ++row)
        if (rowHeight(row) != m_height) setRowHeight(row, m_height);
    for (int column = 0; column < columnCount(); ++column)
        if (const int width = widthOf(column); columnWidth(column) != width) setColumnWidth(column, width);
}

void DifferencePanel::fill() {
    const std::vector<ShownPlan>& shown = m_state.plans();
    if (shown.empty()) {
        setRowCount(0);
        setColumnCount(0);
        return;
    }
    const std::vector<std::optional<std::size_t>> bases = basesOf(shown);
    std::vector<int> columns;  // of the plans
    int column = 0;
    for (const auto& base : bases) {
        columns.push_back(column);
        column += base ? 2 : 1;
    }
    setColumnCount(column);
    for (std::size_t p = 0; p < shown.size(); ++p) {
        name(Qt::Horizontal, columns[p], m_state.titleOf(p));
        if (bases[p]) name(Qt::Horizontal, columns[p] + 1, tr("against %1").arg(m_state.titleOf(*bases[p])));
    }
    if (std::ranges::any_of(shown, &ShownPlan::ofRun))
        fillRun(bases, columns);
    else
        fillPlans(bases, columns);
    fit();
}

void DifferencePanel::fillRun(const std::vector<std::optional<std::size_t>>& bases, const std::vector<int>& columns) {
    const std::vector<cli::FigureRow> rows = runRowsOf(m_state.plans());
    setRowCount(static_cast<int>(rows.size()));
    for (int row = 0; const cli::FigureRow& figure : rows) {
        name(Qt::Vertical, row, runFigureName(figure.what));
        for (std::size_t p = 0; p < columns.size(); ++p) {
            put(row, columns[p], runValueText(figure, p), true, runFigureMeaning(figure.what));
            if (bases[p])
                put(row, columns[p] + 1, runDifferenceText(figure, p, *bases[p]), false,
                    QStringLiteral("%1 \u2212 %2").arg(runValueText(figure, p), runValueText(figure, *bases[p])));
        }
        ++row;
    }
}

void DifferencePanel::fillPlans(const std::vector<std::optional<std::size_t>>& bases, const std::vector<int>& columns) {
    const std::vector<ShownPlan>& shown = m_state.plans();
    std::vector<const cli::PlanReport*> plans;
    for (const ShownPlan& plan : shown) plans.push_back(&plan.plan());
    const std::vector<DifferenceRow> rows = differencesOf(plans);
    const auto batchOf = [](const ShownPlan& plan) { return plan.report().globalBatch; };
    // Steps of as many samples are what is compared; where they are not, that is said.
    const bool batches =
        std::ranges::any_of(shown, [&](const ShownPlan& plan) { return batchOf(plan) != batchOf(shown.front()); });
    setRowCount(static_cast<int>(rows.size()) + (batches ? 2 : 1));
    int row = 0;
    const auto putRow = [&](const QString& head, const auto& putPlan) {
        name(Qt::Vertical, row, head);
        for (std::size_t p = 0; p < shown.size(); ++p) putPlan(p);
        ++row;
    };
    // What is not compared leaves nothing of another row in its place.
    const auto putAlone = [&](std::size_t p, const QString& text, const QString& formula) {
        put(row, columns[p], text, true, formula);
        if (bases[p]) put(row, columns[p] + 1, {}, false, {});
    };
    for (const DifferenceRow& figure : rows) {
        putRow(figureName(figure.figure), [&](std::size_t p) {
            put(row, columns[p], valueText(figure.unit, figure.values[p]), true,
                figureFormula(figure.figure, shown[p].report(), *plans[p]));
            if (bases[p])
                put(row, columns[p] + 1, differenceText(figure, p, *bases[p]), false,
                    differenceFormula(figure, p, *bases[p]));
        });
        if (figure.figure != Figure::Throughput || !batches) continue;
        putRow(tr("Samples in a step"), [&](std::size_t p) {
            putAlone(p, toQString(cli::groupedDigits(batchOf(shown[p]))),
                     tr("The global batch: training.global_batch_size, or training.local_batch_size on every GPU."));
        });
    }
    putRow(tr("Fits in memory"), [&](std::size_t p) {
        const std::int64_t left = plans[p]->tightest().memory.left();
        const QString size = valueText(Unit::Bytes, static_cast<double>(left < 0 ? -left : left));
        putAlone(p, left >= 0 ? tr("yes, %1 left").arg(size) : tr("NO, %1 short").arg(size), fitFormula(*plans[p]));
    });
}

}  // namespace shardscope::gui
