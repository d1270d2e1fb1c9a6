#pragma once

// Every key of a scenario as an editor, made from the parser's own list. A value that the scenario refuses is told
// beside its editor and changes nothing.

#include <QScrollArea>
#include <functional>
#include <vector>

#include "core/scenario/keys.h"
#include "core/scenario/scenario.h"

class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace shardscope::gui {

class KnobPanel : public QScrollArea {
    Q_OBJECT
public:
    explicit KnobPanel(QWidget* parent = nullptr);

    /// Shows the values of a scenario; emits nothing.
    void setScenario(const core::Scenario& scenario);
    [[nodiscard]] const core::Scenario& scenario() const { return m_scenario; }
    /// Sets a key from text as `--set` takes it; false, with the reason shown, where it is refused.
    bool setKey(const QString& path, const QString& value);
    /// What simulating the present scenario failed with, beside the key that was turned, in words that are asked for
    /// again when the language changes; none takes it away.
    void showProblem(const QString& path, std::function<QString()> words);
    [[nodiscard]] QWidget* editorOf(const QString& path) const;
    [[nodiscard]] QString problemOf(const QString& path) const;
    /// Whether the knob is there to be seen, if need be by scrolling.
    [[nodiscard]] bool shows(const QString& path) const;
    void setFilter(const QString& text);
    /// Nothing can be turned, for a reason that stands above the knobs; none: it can.
    void freeze(std::function<QString()> words);
    [[nodiscard]] bool frozen() const { return m_frozen != nullptr; }
    /// Never narrower than its content: there is nothing to scroll sideways.
    [[nodiscard]] QSize minimumSizeHint() const override;

signals:
    /// The user chose another value of `path`.
    void edited(const shardscope::core::Scenario& scenario, const QString& path);

protected:
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct Knob {
        const core::Key* key = nullptr;
        QWidget* row = nullptr;
        QLabel *name = nullptr, *what = nullptr, *problem = nullptr;
        QWidget* editor = nullptr;
        std::function<void(const core::Document&)> put;  ///< shows a value
        std::function<QString()> problemWords;
    };
    void build();
    void addKnob(const core::Key& key, QVBoxLayout& layout);
    void retranslate();
    void measure();  ///< what is as wide as some text
    void refresh();
    void choose(Knob& knob, const core::Document& value);
    static void showProblem(const Knob& knob);
    [[nodiscard]] Knob* find(const QString& path);

    core::Scenario m_scenario;
    std::vector<Knob> m_knobs;
    std::vector<std::pair<QLabel*, std::string>> m_sections;
    QLineEdit* m_filter = nullptr;
    QLabel* m_reason = nullptr;         ///< why nothing can be turned
    std::function<QString()> m_frozen;  ///< its words
    bool m_showing = false;             ///< values are being shown, not chosen
};

}  // namespace shardscope::gui
