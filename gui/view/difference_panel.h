#pragma once

// The plans' figures as a table: a column a plan, and for the later ones how they differ from the first.

#include <QTableWidget>
#include <memory>

#include "gui/worker/answer.h"

namespace shardscope::gui {

class DifferencePanel : public QTableWidget {
    Q_OBJECT
public:
    explicit DifferencePanel(QWidget* parent = nullptr);
    void show(std::shared_ptr<const Answer> answer);

protected:
    void changeEvent(QEvent* event) override;

private:
    void fill();
    std::shared_ptr<const Answer> m_answer;
};

}  // namespace shardscope::gui
