#pragma once

// The stretch of time that is in view, and how it moves: pure arithmetic, so that every view of a page agrees.

#include <cstdint>
#include <vector>

namespace shardscope::gui {

struct TimeRange {
    double begin = 0, end = 1;  ///< ns
    [[nodiscard]] double length() const { return end - begin; }
    friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

/// How the plans of a page share the axis.
enum class Alignment : std::uint8_t {
    OneClock,    ///< every step begins at 0
    StepEnd,     ///< every step ends where the longest does
    Normalised,  ///< every step fills the axis
};

class ViewRange {
public:
    /// Everything from 0 to `end` ns; the view starts with all of it.
    explicit ViewRange(double end = 1);

    [[nodiscard]] const TimeRange& range() const { return m_range; }
    [[nodiscard]] double end() const { return m_end; }
    /// A new length of everything; a view of all stays one of all.
    void setEnd(double end);
    /// Zooms so that the instant under `at` stays; factor > 1 shows less. Not closer than 20 ns, not wider than
    /// everything and a tenth of it on both sides.
    void zoom(double factor, double at);
    /// Moves by a share of the view's length.
    void pan(double share);
    void show(TimeRange range);
    void fit();
    /// Makes [begin, end) visible, or its beginning where it is longer than the view. The way there does not count:
    /// what lies in the view that was last chosen (zoom, pan, show, fit, back, forward, keep) is shown in that one,
    /// anything else in a page beside it.
    void reveal(double begin, double end);
    /// Chooses the present view for [begin, end), however little of it is in sight.
    void keep(double begin, double end);

    /// Remembers the present range as one to come back to.
    void remember();
    [[nodiscard]] bool back();
    [[nodiscard]] bool forward();

private:
    void clamp();
    void choose();

    double m_end;
    TimeRange m_range;
    TimeRange m_chosen;        ///< where reveal starts from
    TimeRange m_kept{-1, -1};  ///< what was chosen to be seen in it
    std::vector<TimeRange> m_history;
    std::size_t m_place = 0;  ///< in m_history
};

/// From an instant of the axis to one of a plan with a step of `planEnd` ns, and back.
[[nodiscard]] double toPlan(Alignment alignment, double time, double planEnd, double end);
[[nodiscard]] double toAxis(Alignment alignment, double time, double planEnd, double end);

/// A round distance of ticks, 1, 2 or 5 times a power of ten ns, of which about `count` fit into `length`.
[[nodiscard]] double tickOf(double length, int count);

}  // namespace shardscope::gui
