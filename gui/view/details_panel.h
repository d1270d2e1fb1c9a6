#pragma once

// The selected piece: what it is, its price's formula with the numbers, what it waited for and what waits for it, as
// links. With nothing selected, what the peaks of memory consist of.

#include <QTextBrowser>

#include "gui/view/page_state.h"

namespace shardscope::gui {

class DetailsPanel : public QTextBrowser {
    Q_OBJECT
public:
    DetailsPanel(PageState& state, QWidget* parent = nullptr);

protected:
    void changeEvent(QEvent* event) override;
    void doSetSource(const QUrl& link, QTextDocument::ResourceType type) override;

private:
    void fill();
    [[nodiscard]] QString selectionHtml(const PieceId& id) const;
    [[nodiscard]] QString peakHtml() const;
    /// Of an op of a run: its instants, measured and predicted side by side; empty where it stands alone.
    [[nodiscard]] QString twinsHtml(const PieceId& id) const;

    PageState& m_state;
    QString m_shown;                   ///< HTML
    std::optional<PieceId> m_subject;  ///< what it tells of; the peaks, where of no piece
};

}  // namespace shardscope::gui
