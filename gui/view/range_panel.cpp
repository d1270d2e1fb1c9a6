#include "gui/view/range_panel.h"

#include <QAction>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QToolButton>
#include <cmath>

#include "cli/face/text_picture.h"
#include "gui/view/words.h"

namespace shardscope::gui {

RangePanel::RangePanel(PageState& state, const QList<QAction*>& actions, QWidget* parent)
    : QWidget(parent), m_state(state) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(6, 2, 6, 2);  // the height is the table's
    column->setSpacing(3);
    auto* row = new QHBoxLayout;
    m_range = new QLabel;
    m_range->setWordWrap(true);
    m_grouping = new QComboBox;
    for (int g = 0; g < 3; ++g) m_grouping->addItem(QString());
    m_grouping->setMinimumContentsLength(4);  // where there is little room, the buttons keep theirs
    column->addWidget(m_range);
    row->addWidget(m_grouping);
    for (QAction* action : actions) {
        auto* button = new QToolButton;
        button->setDefaultAction(action);
        button->setFocusPolicy(Qt::TabFocus);
        row->addWidget(button);
    }
    row->addStretch(1);
    column->addLayout(row);
    m_model = new RangeModel(state, this);
    m_sorted = new QSortFilterProxyModel(this);
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(RangeModel::kValueRole);
    m_table = new QTableView;
    m_table->setMinimumHeight(1);  // where there is little room, the words above it go first
    m_table->setModel(m_sorted);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(-1, Qt::AscendingOrder);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setTabKeyNavigation(false);
    m_table->setAlternatingRowColors(true);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    column->addWidget(m_table, 1);
    connect(m_grouping, &QComboBox::activated, this,
            [this](int at) { m_model->setGrouping(static_cast<Grouping>(at)); });
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &RangePanel::highlightRow);
    connect(m_table, &QTableView::clicked, this, &RangePanel::highlightRow);
    connect(m_table, &QTableView::activated, this, [this] {
        highlightRow();
        m_state.jump(1);
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        describeRange();
        markSelected();
    });
    connect(&state, &PageState::selectionChanged, this, &RangePanel::markSelected);
    retranslate();
}

RangeModel& RangePanel::model() {
    m_model->refresh();
    return *m_model;
}

QTableView& RangePanel::table() {
    m_model->refresh();
    return *m_table;
}

const QAbstractItemModel& RangePanel::shown() {
    m_model->refresh();
    return *m_sorted;
}

void RangePanel::setSeen(bool seen) {
    m_model->setSeen(seen);
}

void RangePanel::setGrouping(Grouping grouping) {
    m_grouping->setCurrentIndex(static_cast<int>(grouping));
    m_model->setGrouping(grouping);
}

void RangePanel::describeRange() {
    const TimeRange range = m_model->range();
    const auto words = [](double ns) { return toQString(cli::durationText(std::llround(ns))); };
    m_range->setText(m_state.range()
                         ? tr("%1 to %2: %3").arg(words(range.begin), words(range.end), words(range.length()))
                         : tr("The whole step. Shift + drag over the timeline chooses a stretch of it."));
}

void RangePanel::highlightRow() {
    const QModelIndex current = m_table->currentIndex();
    if (m_marking || !current.isValid()) return;
    const RangeKey& key = m_model->rows()[static_cast<std::size_t>(m_sorted->mapToSource(current).row())].key;
    m_state.setHighlight(piecesOf(m_state, m_model->range(), m_model->grouping(), key));
}

void RangePanel::markSelected() {
    const auto selected = m_state.selection();
    const int row = selected ? m_model->rowOf(*selected) : -1;
    m_marking = true;
    if (row >= 0)
        m_table->setCurrentIndex(m_sorted->mapFromSource(m_model->index(row, 0)));
    else
        m_table->setCurrentIndex({});
    m_marking = false;
}

void RangePanel::retranslate() {
    m_grouping->setAccessibleName(tr("Sum up by"));
    m_grouping->setItemText(0, tr("by kind"));
    m_grouping->setItemText(1, tr("by unit"));
    m_grouping->setItemText(2, tr("by rank"));
    m_table->setAccessibleName(tr("Statistics"));
    m_model->retranslate();
}

void RangePanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) retranslate();
    QWidget::changeEvent(event);
}

}  // namespace shardscope::gui
