#include "gui/view/plan_bar.h"

#include <QAction>
#include <QCheckBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QToolButton>

namespace shardscope::gui {

PlanBar::PlanBar(PageState& state, const QList<QAction*>& actions, QWidget* parent) : QWidget(parent), m_state(state) {
    m_row = new QHBoxLayout(this);
    for (QAction* action : actions) {
        if (action->isCheckable()) {
            // A box says in every theme whether it is on.
            auto* box = new QCheckBox(action->iconText());
            box->setChecked(action->isChecked());
            box->setFocusPolicy(Qt::TabFocus);
            connect(box, &QCheckBox::clicked, action, &QAction::trigger);
            connect(action, &QAction::toggled, box, &QCheckBox::setChecked);
            m_boxes.emplace_back(box, action);
            m_row->addWidget(box);
            continue;
        }
        auto* button = new QToolButton;
        button->setDefaultAction(action);
        button->setFocusPolicy(Qt::TabFocus);
        m_row->addWidget(button);
    }
    connect(&state, &PageState::answerChanged, this, &PlanBar::fill);
    retranslate();
    measure();
}

void PlanBar::measure() {
    // The search box before it, and what the chips end with, do not touch it.
    const int gap = 2 * fontMetrics().averageCharWidth();
    m_row->setContentsMargins(gap, 0, gap, 0);
}

void PlanBar::fill() {
    for (QWidget* chip : m_chips) {
        // A chip that was clicked is still in its event.
        chip->hide();
        chip->deleteLater();
    }
    m_chips.clear();
    // A run is what it was.
    for (const auto& [box, action] : m_boxes) box->setVisible(!m_state.answer() || !m_state.answer()->run);
    for (std::size_t k = 0; k < m_state.kept().size(); ++k) {
        auto* chip = new QToolButton;
        const QString title = m_state.titleOf(m_state.placeOfKept(k));
        chip->setText(title + QStringLiteral("  \u2715"));
        chip->setToolTip(tr("Drop the kept plan %1").arg(title));
        chip->setAccessibleName(chip->toolTip());
        chip->setFocusPolicy(Qt::TabFocus);
        connect(chip, &QToolButton::clicked, this, [this, k] { emit dropWanted(k); });
        m_row->addWidget(chip);
        m_chips << chip;
    }
}

void PlanBar::retranslate() {
    for (const auto& [box, action] : m_boxes) {
        box->setToolTip(action->text());
        box->setAccessibleName(action->text());
    }
    fill();
}

void PlanBar::changeEvent(QEvent* event) {
    if (event->type() == QEvent::LanguageChange) retranslate();
    if (event->type() == QEvent::FontChange) measure();
    QWidget::changeEvent(event);
}

}  // namespace shardscope::gui
