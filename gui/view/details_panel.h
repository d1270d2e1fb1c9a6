#pragma once

// The selected piece: what it is, its price's formula with the numbers, what it waited for and what waits for it, as
// links. With nothing selected, what the peaks of memory consist of.

#include <QTextBrowser>
#include <vector>

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
    struct Paragraph {
        QString bold, plain;  ///< one after the other
        int margin = 12;      ///< px, above and below
        bool operator==(const Paragraph&) const = default;
    };

    void fill();
    void showParagraphs(const std::vector<Paragraph>& paragraphs);
    [[nodiscard]] QString selectionHtml(const PieceId& id) const;
    [[nodiscard]] std::vector<Paragraph> peaks() const;
    /// Of an op of a run: its instants, measured and predicted side by side; empty where it stands alone.
    [[nodiscard]] QString twinsHtml(const PieceId& id) const;

    PageState& m_state;
    // What is shown: HTML of a piece, or else paragraphs of the peaks.
    QString m_html;
    std::optional<PieceId> m_subject;  ///< the piece
    std::vector<Paragraph> m_paragraphs;
};

}  // namespace shardscope::gui
