#include "gui/view/difference_panel.h"

#include <QEvent>
#include <QHeaderView>

#include "gui/view/words.h"

namespace shardscope::gui {

DifferencePanel::DifferencePanel(QWidget* parent) : QTableWidget(parent) {
    setEditTriggers(NoEditTriggers);
    setSelectionBehavior(SelectRows);
    setAlternatingRowColors(true);
    setTabKeyNavigation(false);
    horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    setAccessibleName(tr("Differences"));
}

void DifferencePanel::show(std::shared_ptr<const Answer> answer) {
    m_answer = std::move(answer);
    fill();
}

void DifferencePanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) {
        setAccessibleName(tr("Differences"));
        fill();
    }
    QTableWidget::changeEvent(event);
}

void DifferencePanel::fill() {
    clear();
    if (!m_answer) return;
    const std::vector<DifferenceRow> rows = differencesOf(m_answer->report);
    const auto plans = static_cast<int>(m_answer->plans());
    setRowCount(static_cast<int>(rows.size()) + 1);
    setColumnCount(2 * plans - 1);
    QStringList columns, names;
    for (int p = 0; p < plans; ++p) {
        const QString name = toQString(m_answer->report.plans[static_cast<std::size_t>(p)].name);
        columns << name;
        if (p > 0) columns << tr("%1 against %2").arg(name, columns.first());
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        names << figureName(rows[r].figure);
        for (int p = 0; p < plans; ++p) {
            const auto plan = static_cast<std::size_t>(p);
            auto* value = new QTableWidgetItem(valueText(rows[r].unit, rows[r].values[plan]));
            value->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
            setItem(static_cast<int>(r), p == 0 ? 0 : 2 * p - 1, value);
            if (p > 0) setItem(static_cast<int>(r), 2 * p, new QTableWidgetItem(differenceText(rows[r], plan)));
        }
    }
    names << tr("Fits in memory");
    for (int p = 0; p < plans; ++p) {
        const std::int64_t left = m_answer->report.plans[static_cast<std::size_t>(p)].tightest().memory.left();
        const QString size = valueText(Unit::Bytes, static_cast<double>(left < 0 ? -left : left));
        auto* item = new QTableWidgetItem(left >= 0 ? tr("yes, %1 left").arg(size) : tr("NO, %1 short").arg(size));
        item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        setItem(static_cast<int>(rows.size()), p == 0 ? 0 : 2 * p - 1, item);
    }
    setHorizontalHeaderLabels(columns);
    setVerticalHeaderLabels(names);
}

}  // namespace shardscope::gui
