#pragma once

// What all views of a page share: the stretch of time in view, the cursor, what is selected, the play head. A picture
// is a function of the answer and of this.

#include <QObject>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "gui/lane/view_range.h"
#include "gui/view/shown_plan.h"
#include "gui/worker/answer.h"

namespace shardscope::gui {

/// A piece of a lane of a plan.
struct PieceId {
    std::size_t plan = 0, lane = 0, piece = 0;
    std::int64_t rank = 0;  ///< which of the identical ranks that the lane stands for
    friend bool operator==(const PieceId&, const PieceId&) = default;
};

/// A lane as it is drawn: for `ranks` of the identical ranks that it stands for, from `rank` on.
struct ShownRow {
    std::size_t plan = 0, lane = 0;
    std::int64_t rank = 0, ranks = 1;
};

/// How a class of identical ranks is drawn.
struct Unfolding {
    enum class Kind : std::uint8_t {
        Folded,   ///< once
        Single,   ///< one of them, and the others once
        Unfolded  ///< each of the first kMostUnfolded, and the others once
    } kind = Kind::Folded;
    std::int64_t rank = 0;  ///< of Kind::Single
    friend bool operator==(const Unfolding&, const Unfolding&) = default;
};
inline constexpr std::int64_t kMostUnfolded = 64;

class PageState : public QObject {
    Q_OBJECT
public:
    explicit PageState(QObject* parent = nullptr);

    void setAnswer(std::shared_ptr<const Answer> answer);
    [[nodiscard]] const std::shared_ptr<const Answer>& answer() const { return m_answer; }
    /// Plans of earlier answers, shown beside those of the present one.
    void setKept(std::vector<ShownPlan> kept);
    [[nodiscard]] const std::vector<ShownPlan>& kept() const { return m_kept; }

    /// All plans on the page, in its order (pageOrder).
    [[nodiscard]] const std::vector<ShownPlan>& plans() const { return m_plans; }
    /// Where the `kept`-th of the kept plans stands.
    [[nodiscard]] std::size_t placeOfKept(std::size_t kept) const;
    /// Where the last plan of the present answer stands.
    [[nodiscard]] std::size_t lastPresent() const;
    [[nodiscard]] const cli::PlanReport& plan(std::size_t plan) const { return m_plans[plan].plan(); }
    [[nodiscard]] const LaneSet& lanes(std::size_t plan) const { return m_plans[plan].lanes(); }
    /// The plan's name with what tells it from the others, in the window's language.
    [[nodiscard]] QString titleOf(std::size_t plan) const;

    [[nodiscard]] const ViewRange& view() const { return m_view; }
    [[nodiscard]] Alignment alignment() const { return m_alignment; }
    void setAlignment(Alignment alignment);
    [[nodiscard]] bool streamsShown() const { return m_streams; }
    void setStreamsShown(bool shown);

    /// Every row on the page, from top to bottom.
    [[nodiscard]] const std::vector<ShownRow>& rows() const { return m_rows; }
    /// Ranks that lane `lane` stands for.
    [[nodiscard]] std::int64_t ranksOf(std::size_t plan, std::size_t lane) const;
    /// Ranks that the row of a piece stands for.
    [[nodiscard]] std::int64_t ranksAt(const PieceId& piece) const;
    [[nodiscard]] Unfolding unfoldingOf(std::size_t plan, std::size_t lane) const;
    /// Of the class that the lane belongs to. A rank that it does not have is taken for its last.
    void unfold(std::size_t plan, std::size_t lane, Unfolding how);
    /// Folds what is not folded, unfolds what is; of the class that is selected, or of all.
    void toggleFolds();
    void toggleFold(std::size_t plan, std::size_t lane);

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
    /// With `reveal` the view goes where the piece is, whatever was selected before (ViewRange::reveal).
    void select(std::optional<PieceId> piece, bool reveal = false);
    /// The next or previous piece of the selected lane; the first one in view where nothing is selected.
    void step(int by);
    /// The piece at the same instant `by` lanes further down.
    void stepLane(int by);
    void focusSelection();

    /// Pieces of one plan that are looked at together; in any order. Goes with the answer.
    void setHighlight(std::vector<PieceId> pieces);
    /// In order of time.
    [[nodiscard]] const std::vector<PieceId>& highlight() const { return m_highlight; }
    /// Those of one lane, as indices of its pieces in order.
    [[nodiscard]] std::span<const std::size_t> highlightOf(std::size_t plan, std::size_t lane) const;
    /// Selects the next or previous piece of the highlight.
    void jump(int by);
    /// Selects what the selected piece waited for longest (-1), or what waits for it first (1); without such, the piece
    /// before or after it on its stream. Of a gap, what it waits for.
    void follow(int by);

    [[nodiscard]] std::optional<formats::RowPiece> pieceOf(const PieceId& id) const;
    /// The piece that shows a span of a plan: on its stream's lane, or on its rank's; of the rank that is selected
    /// where it is one of several.
    [[nodiscard]] std::optional<PieceId> findSpan(std::size_t plan, std::uint32_t span) const;
    /// The same op of the same rank in another plan of the same graph: the span in its timeline.
    [[nodiscard]] std::optional<std::uint32_t> sameOp(const PieceId& of, std::size_t plan) const;
    /// Of a selected op, itself as the other plans of the same graph show it: what was measured, what was predicted.
    [[nodiscard]] const std::vector<PieceId>& twins() const { return m_twins; }
    [[nodiscard]] double toAxis(std::size_t plan, double time) const;
    [[nodiscard]] double toPlan(std::size_t plan, double axisTime) const;
    /// Whether the lane is drawn.
    [[nodiscard]] bool isShown(const Lane& lane) const { return m_streams || lane.kind == Lane::Kind::State; }

signals:
    void answerChanged();     ///< the plans on the page
    void rowsChanged();       ///< lanes shown, ranks unfolded
    void viewChanged();       ///< range or alignment, rows
    void cursorChanged();     ///< cursor, play head
    void selectionChanged();  ///< piece
    void rangeChanged();      ///< the chosen stretch of time
    void highlightChanged();
    void alignmentChanged();

private:
    void collectPlans();
    void collectRows();
    /// The same piece, on a row that is drawn.
    [[nodiscard]] PieceId onRow(PieceId piece) const;
    /// findSpan of the rank `rank` of those that the span's row stands for.
    [[nodiscard]] std::optional<PieceId> findSpan(std::size_t plan, std::uint32_t span, std::int64_t rank) const;
    void findTwins();

    std::shared_ptr<const Answer> m_answer;
    std::vector<ShownPlan> m_kept, m_plans;
    std::vector<std::vector<Distinction>> m_distinctions;          ///< by plan
    std::vector<std::map<std::uint32_t, Unfolding>> m_unfoldings;  ///< by plan and rankIndex; absent: folded
    std::vector<ShownRow> m_rows;
    ViewRange m_view;
    Alignment m_alignment = Alignment::OneClock;
    bool m_streams = true;
    std::optional<double> m_cursor;
    double m_playHead = 0;
    std::optional<TimeRange> m_range;
    std::optional<PieceId> m_selection;
    std::vector<PieceId> m_twins;  ///< of the selection
    std::vector<PieceId> m_highlight;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> m_highlightOf;  ///< by plan and lane
};

}  // namespace shardscope::gui
