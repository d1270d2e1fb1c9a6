#include "gui/view/table_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QTableView>
#include <QToolButton>

#include "gui/view/table_text.h"

namespace shardscope::gui {

TablePanel::TablePanel(PageState& state, QAbstractItemModel& sweep, QWidget* parent)
    : QWidget(parent), m_state(state), m_sweep(sweep) {
    m_pieces = new PieceTable(state, this);
    m_memory = new MemoryTable(state, this);
    auto* column = new QVBoxLayout(this);
    auto* row = new QHBoxLayout;
    m_picture = new QComboBox;
    for (int p = 0; p < 3; ++p) m_picture->addItem(QString());
    m_picture->setMinimumContentsLength(4);  // where there is little room, the buttons keep theirs
    m_csv = new QToolButton;
    m_markdown = new QToolButton;
    m_csv->setText(QStringLiteral("CSV"));
    m_markdown->setText(QStringLiteral("MD"));
    row->addWidget(m_picture);
    row->addStretch();
    for (QToolButton* button : {m_csv, m_markdown}) {
        button->setFocusPolicy(Qt::TabFocus);
        row->addWidget(button);
    }
    column->addLayout(row);
    m_table = new QTableView;
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setTabKeyNavigation(false);
    m_table->setAlternatingRowColors(true);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    m_table->horizontalHeader()->setResizeContentsPrecision(20);
    column->addWidget(m_table, 1);
    connect(m_picture, &QComboBox::activated, this, &TablePanel::refresh);
    connect(m_csv, &QToolButton::clicked, this,
            [this] { QApplication::clipboard()->setText(csvOf(*m_table->model())); });
    connect(m_markdown, &QToolButton::clicked, this,
            [this] { QApplication::clipboard()->setText(markdownOf(*m_table->model())); });
    connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
        if (m_table->model() == m_pieces) m_state.select(m_pieces->pieceAt(index.row()), true);
    });
    for (const auto signal : {&PageState::answerChanged, &PageState::viewChanged})
        connect(&state, signal, this, &TablePanel::refresh);
    retranslate();
    refresh();
}

TablePanel::Picture TablePanel::picture() const {
    return static_cast<Picture>(m_picture->currentIndex());
}

void TablePanel::show(Picture picture) {
    m_picture->setCurrentIndex(static_cast<int>(picture));
    refresh();
}

void TablePanel::refresh() {
    QAbstractItemModel* models[] = {m_pieces, m_memory, &m_sweep};
    QAbstractItemModel* wanted = models[m_picture->currentIndex()];
    if (m_table->model() != wanted) {
        const QItemSelectionModel* old = m_table->selectionModel();
        m_table->setModel(wanted);
        delete old;
    }
    if (!isVisible() || !m_seen) return;
    if (wanted == m_pieces) m_pieces->fill();
    if (wanted == m_memory) m_memory->fill();
    m_table->resizeColumnsToContents();
}

void TablePanel::setSeen(bool seen) {
    m_seen = seen;
    refresh();
}

void TablePanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

void TablePanel::retranslate() {
    m_picture->setAccessibleName(tr("Picture to show as a table"));
    m_picture->setItemText(0, tr("Timeline: what is in view"));
    m_picture->setItemText(1, tr("Memory: what is in view"));
    m_picture->setItemText(2, tr("Sweep"));
    m_csv->setAccessibleName(tr("Copy the table as CSV"));
    m_csv->setToolTip(m_csv->accessibleName());
    m_markdown->setAccessibleName(tr("Copy the table as Markdown"));
    m_markdown->setToolTip(m_markdown->accessibleName());
    m_table->setAccessibleName(tr("Table"));
    refresh();
}

void TablePanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) retranslate();
    QWidget::changeEvent(event);
}

}  // namespace shardscope::gui
