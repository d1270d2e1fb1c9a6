#pragma once

// The plans of an answer one above another on one axis. Lanes are image rows, kept until something that they show
// changes; selection, cursor and play head lie on top.

#include <QAbstractScrollArea>
#include <QImage>
#include <optional>
#include <vector>

#include "gui/lane/raster.h"
#include "gui/theme/theme.h"
#include "gui/view/page_state.h"
#include "gui/view/text_cache.h"

namespace shardscope::gui {

/// Where something of a plan is drawn; logical pixels, from the top of everything.
struct Strip {
    enum class Kind : std::uint8_t { Header, Lane, Memory } kind = Kind::Lane;
    std::size_t plan = 0, lane = 0;
    int top = 0, height = 0;
    std::int64_t rank = 0, ranks = 1;  ///< lanes: as ShownRow
};

class TimelineView : public QAbstractScrollArea {
    Q_OBJECT
public:
    TimelineView(PageState& state, QWidget* parent = nullptr);

    void setTheme(const Theme& theme);
    [[nodiscard]] const Theme& theme() const { return m_theme; }
    [[nodiscard]] const std::vector<Strip>& strips() const { return m_strips; }
    /// The part of the viewport in which time runs from left to right.
    [[nodiscard]] QRect plot() const;
    [[nodiscard]] std::optional<PieceId> pieceAt(QPoint position) const;
    /// Where a piece is drawn, in the viewport or beyond it.
    [[nodiscard]] std::optional<QRect> rectOf(const PieceId& id) const;
    [[nodiscard]] const PageState& page() const { return m_state; }
    /// What is under the pointer, in words; empty where nothing is.
    [[nodiscard]] QString wordsAt(QPoint position) const;
    /// What is written on a piece that is at least `room` logical pixels wide: of a gap its cause and its time, as much
    /// of them as fits.
    struct Label {
        QString text, time;  ///< one behind the other
    };
    [[nodiscard]] Label labelOn(const LaneSet& set, const formats::RowPiece& piece, int room);
    /// The lane's name at its left; of identical ranks with their count and whether they can be folded.
    [[nodiscard]] QString labelOf(const Strip& strip) const;
    [[nodiscard]] double timeAt(double x) const;
    [[nodiscard]] double xOf(double axisTime) const;
    /// All of it as a picture, as wide as the view.
    [[nodiscard]] QImage wholePicture();
    [[nodiscard]] QSize sizeHint() const override { return {900, 600}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    /// Heights of strips and of what lies between them; logical pixels.
    struct Spacing {
        int header, aboveState, state, stream, aboveMemory, memory, below;
    };
    void layOut();
    void layOut(const Spacing& spacing);
    void forget();
    void moveLines();
    /// From top to bottom, the parts of the viewport in which time runs: between the plans' headlines.
    [[nodiscard]] std::vector<std::pair<int, int>> bodies() const;
    void renderBase();
    void paintBase(QPainter& painter, QImage& image, int offset, int height);
    void paintHeader(QPainter& painter, const Strip& strip, int y) const;
    void paintMemoryWords(QPainter& painter, const Strip& strip, int y) const;
    [[nodiscard]] std::vector<QRgb> backgroundRow(const QImage& image) const;
    void paintLaneWords(QPainter& painter, const Strip& strip, int y, const std::vector<DrawnPiece>& wide);
    void paintAxis(QPainter& painter);
    void paintOverlay(QPainter& painter) const;
    void paintLinks(QPainter& painter) const;
    void paintHighlight(QPainter& painter) const;
    [[nodiscard]] TimeRange planRange(std::size_t plan) const;
    [[nodiscard]] std::int64_t memoryTop() const;
    [[nodiscard]] const Strip* stripAt(int y) const;
    /// The strip whose label, at this position, folds or unfolds.
    [[nodiscard]] const Strip* foldAt(QPoint position) const;
    void measureLabels();
    [[nodiscard]] int axisHeight() const;
    void ensureVisible(const PieceId& id);

    PageState& m_state;
    Theme m_theme;
    std::vector<Strip> m_strips;
    int m_height = 0;
    int m_percent = 0;  ///< width of the column at the right
    int m_labels = 0;   ///< width of the widest label; shaping words is dear
    QImage m_base;
    bool m_baseValid = false;
    TextCache m_texts;
    std::optional<double> m_shownCursor;  ///< where the cursor and the play head were drawn last
    double m_shownPlayHead = 0;
    enum class Drag : std::uint8_t { None, Pan, Range } m_drag = Drag::None;
    int m_chosenScroll = 0;    ///< where the user scrolled to
    bool m_revealing = false;  ///< scrolling to what is selected
    bool m_clicked = false;    ///< selecting what is under the pointer
    QPoint m_dragFrom;
    double m_rangeFrom = 0;
    bool m_moved = false;
};

}  // namespace shardscope::gui
