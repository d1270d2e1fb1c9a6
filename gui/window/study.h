#pragma once

// What a page asks: a scenario, under which strategies it is simulated, and which plans of earlier answers stay beside
// it. Every change of it is one step that can be undone.

#include <QString>
#include <QUndoCommand>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/scenario/scenario.h"
#include "gui/view/shown_plan.h"

namespace shardscope::gui {

struct Study {
    core::Scenario scenario;
    std::vector<std::string> strategies{"naive", "fsdp"};
    std::vector<ShownPlan> kept;
};

/// From one study to another; edits of one key in a row are one step back.
class StudyChange : public QUndoCommand {
public:
    /// `key` is what was changed, as a path of the scenario; empty where nothing has to be simulated.
    using Apply = std::function<void(const Study& study, const QString& key)>;

    StudyChange(Study before, Study after, const QString& key, Apply apply)
        : QUndoCommand(key),
          m_before(std::move(before)),
          m_after(std::move(after)),
          m_key(key),
          m_apply(std::move(apply)) {}
    void undo() override { m_apply(m_before, m_key); }
    void redo() override { m_apply(m_after, m_key); }
    [[nodiscard]] int id() const override { return 1; }
    bool mergeWith(const QUndoCommand* other) override {
        const auto* next = static_cast<const StudyChange*>(other);
        if (m_key.isEmpty() || next->m_key != m_key) return false;
        m_after = next->m_after;
        return true;
    }

private:
    Study m_before, m_after;
    QString m_key;
    Apply m_apply;
};

}  // namespace shardscope::gui
