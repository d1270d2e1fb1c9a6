#pragma once

// What all views of a page share: the stretch of time in view, the cursor, what is selected, the play head. A picture
// is a function of the answer and of this.

#include <QObject>
#include <cstdint>
#include <memory>
#include <optional>

#include "gui/lane/view_range.h"
#include "gui/worker/answer.h"

namespace shardscope::gui {

/// A piece of a lane of a plan.
struct PieceId {
    std::size_t plan = 0, lane = 0, piece = 0;
    friend bool operator==(const PieceId&, const PieceId&) = default;
};

class PageState : public QObject {
    Q_OBJECT
public:
    explicit PageState(QObject* parent = nullptr);

    void setAnswer(std::shared_ptr<const Answer> answer);
    [[nodiscard]] const std::shared_ptr<const Answer>& answer() const { return m_answer; }

    [[nodiscard]] const ViewRange& view() const { return m_view; }
    [[nodiscard]] Alignment alignment() const { return m_alignment; }
    void setAlignment(Alignment alignment);
    [[nodiscard]] bool streamsShown() const { return m_streams; }
    void setStreamsShown(bool shown);

    void zoom(double factor, double at);
    void pan(double share);
    void show(TimeRange range);
    void fit();
    void back();
    void forward();
    void remember() { m_view.remember(); }

    [[nodiscard]] std::optional<double> cursor() const { return m_cursor; }
    void setCursor(std::optional<double> axisTime);
    [[nodiscard]] double playHead() const { return m_playHead; }
    void setPlayHead(double axisTime);
    [[nodiscard]] std::optional<TimeRange> range() const { return m_range; }
    void setRange(std::optional<TimeRange> range);

    [[nodiscard]] std::optional<PieceId> selection() const { return m_selection; }
    void select(std::optional<PieceId> piece, bool reveal = false);
    /// The next or previous piece of the selected lane; the first one in view where nothing is selected.
    void step(int by);
    /// The piece at the same instant `by` lanes further down.
    void stepLane(int by);
    void focusSelection();

    [[nodiscard]] const formats::RowPiece* pieceOf(const PieceId& id) const;
    /// The piece that shows a span of a plan: on its stream's lane, or on its rank's.
    [[nodiscard]] std::optional<PieceId> findSpan(std::size_t plan, std::uint32_t span) const;
    [[nodiscard]] double toAxis(std::size_t plan, double time) const;
    [[nodiscard]] double toPlan(std::size_t plan, double axisTime) const;
    /// Whether the lane is drawn.
    [[nodiscard]] bool isShown(const Lane& lane) const { return m_streams || lane.kind == Lane::Kind::State; }

signals:
    void answerChanged();
    void viewChanged();       ///< range or alignment, lanes shown
    void cursorChanged();     ///< cursor, play head
    void selectionChanged();  ///< piece
    void rangeChanged();      ///< the chosen stretch of time

private:
    std::shared_ptr<const Answer> m_answer;
    ViewRange m_view;
    Alignment m_alignment = Alignment::OneClock;
    bool m_streams = true;
    std::optional<double> m_cursor;
    double m_playHead = 0;
    std::optional<TimeRange> m_range;
    std::optional<PieceId> m_selection;
};

}  // namespace shardscope::gui
