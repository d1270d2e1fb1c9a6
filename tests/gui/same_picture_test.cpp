// The picture is a function of the scenario and of the instant: however one came there, it is the same, byte for byte.

#include <QScrollBar>
#include <map>
#include <random>

#include "tests/gui/open_window.h"

namespace shardscope::gui {
namespace {

/// What the state says that the picture shows: where one stands, or stood before Esc.
using Instant = std::tuple<std::size_t, std::size_t, std::size_t, std::int64_t, bool>;

QImage pictureOf(MainWindow& window) {
    return window.timeline().viewport()->grab().toImage();
}

class Walk {
public:
    Walk(OpenWindow& window, unsigned seed) : m_window(window), m_random(seed) {}

    /// Steps about; every instant must look as it did the first time. How often one came back.
    int go(int steps) {
        PageState& state = m_window.state();
        int again = 0;
        for (int i = 0; i < steps; ++i) {
            switch (pick(8)) {
                case 0: state.stepLane(1); break;
                case 1: state.stepLane(-1); break;
                case 2: press(m_window.timeline(), Qt::Key_Escape); break;
                case 3:
                    if (m_last) state.select(m_last, true);  // a link, a search
                    break;
                case 4:
                case 5: state.step(-1); break;
                default: state.step(1); break;
            }
            if (state.selection()) m_last = state.selection();
            if (!m_last) continue;
            const Instant here{m_last->plan, m_last->lane, m_last->piece, m_last->rank, state.selection().has_value()};
            const QImage picture = pictureOf(m_window);
            const auto [known, first] = m_seen.emplace(here, picture);
            if (first) continue;
            ++again;
            if (picture != known->second) {
                ADD_FAILURE() << "plan " << m_last->plan << ", lane " << m_last->lane << ", piece " << m_last->piece
                              << (state.selection() ? "" : " after Esc") << " looks otherwise at step " << i;
                return again;
            }
        }
        return again;
    }
    [[nodiscard]] std::size_t instants() const { return m_seen.size(); }
    double share() { return std::uniform_real_distribution<double>(0, 1)(m_random); }

private:
    int pick(int of) { return std::uniform_int_distribution<int>(0, of - 1)(m_random); }

    OpenWindow& m_window;
    std::mt19937 m_random;
    std::map<Instant, QImage> m_seen;
    std::optional<PieceId> m_last;
};

class SamePicture : public testing::TestWithParam<ThemeKind> {};

TEST_P(SamePicture, WhereverOneStepsToAndBackFrom) {
    OpenWindow window;
    window.setThemeKind(GetParam());
    window.resize(900, 420);  // lanes lie below the edge
    window.openLecture();
    PageState& state = window.state();
    for (const double factor : {1.0, 6.0, 40.0, 400.0}) {
        state.fit();
        state.select(std::nullopt);
        Walk walk(window, static_cast<unsigned>(factor));
        state.zoom(factor, walk.share() * state.view().end());
        const int again = walk.go(120);
        EXPECT_GT(again, 20) << "one comes back now and then";
        EXPECT_GT(walk.instants(), 10u);
        if (testing::Test::HasFailure()) return;
    }
}

TEST_P(SamePicture, WhereverThePlayHeadWentMeanwhile) {
    OpenWindow window;
    window.setThemeKind(GetParam());
    window.openLecture();
    PageState& state = window.state();
    state.zoom(20, 0.4 * state.view().end());
    std::mt19937 random(7);
    std::map<int, QImage> seen;
    for (int i = 0; i < 60; ++i) {
        const int at = std::uniform_int_distribution<int>(0, 11)(random);
        state.setPlayHead(at / 11.0 * state.view().end());
        const auto [known, first] = seen.emplace(at, pictureOf(window));
        if (!first) {
            ASSERT_EQ(pictureOf(window), known->second) << at;
        }
    }
}

TEST_P(SamePicture, AfterAClickAndSteps) {
    OpenWindow window;
    window.setThemeKind(GetParam());
    window.openLecture();
    PageState& state = window.state();
    TimelineView& view = window.timeline();
    state.zoom(30, 0.5 * state.view().end());
    // Something that begins before the view: clicking it moves nothing, and neither does coming back to it.
    const auto strip = std::ranges::find_if(view.strips(), [](const Strip& s) { return s.kind == Strip::Kind::Lane; });
    const TimeRange before = state.view().range();
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, QPoint(view.plot().left() + 2, strip->top + 4));
    ASSERT_TRUE(state.selection().has_value());
    EXPECT_EQ(state.view().range(), before);
    state.setCursor(std::nullopt);
    const QImage picture = pictureOf(window);
    for (int i = 0; i < 5; ++i) state.step(1);
    for (int i = 0; i < 5; ++i) state.step(-1);
    EXPECT_EQ(pictureOf(window), picture);
}

INSTANTIATE_TEST_SUITE_P(Themes, SamePicture,
                         testing::Values(ThemeKind::Light, ThemeKind::Dark, ThemeKind::HighContrast),
                         [](const auto& theme) {
                             return theme.param == ThemeKind::Light  ? "Light"
                                    : theme.param == ThemeKind::Dark ? "Dark"
                                                                     : "HighContrast";
                         });

}  // namespace
}  // namespace shardscope::gui
