#include "gui/lane/view_range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace shardscope::gui {
namespace {

TEST(ViewRange, StartsWithEverything) {
    const ViewRange view(1000);
    EXPECT_EQ(view.range(), (TimeRange{0, 1000}));
}

TEST(ViewRange, ZoomKeepsTheInstantUnderThePointer) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> share(0.05, 0.95), factor(1.01, 3);
    for (int i = 0; i < 200; ++i) {
        ViewRange view(1e9);
        view.zoom(8, 5e8);
        const TimeRange before = view.range();
        const double at = before.begin + share(random) * before.length(), by = factor(random);
        view.zoom(by, at);
        const TimeRange after = view.range();
        EXPECT_NEAR((at - after.begin) / after.length(), (at - before.begin) / before.length(), 1e-9);
        EXPECT_NEAR(after.length(), before.length() / by, 1);
        view.zoom(1 / by, at);
        EXPECT_NEAR(view.range().begin, before.begin, 1);
        EXPECT_NEAR(view.range().end, before.end, 1);
    }
}

TEST(ViewRange, IsNeverCloserThanTwentyNanosecondsNorWiderThanEverythingAndItsMargins) {
    ViewRange view(1e6);
    for (int i = 0; i < 200; ++i) view.zoom(2, 3e5);
    EXPECT_NEAR(view.range().length(), 20, 1e-6);
    EXPECT_LE(view.range().begin, 3e5);
    EXPECT_GE(view.range().end, 3e5);
    for (int i = 0; i < 200; ++i) view.zoom(0.5, 3e5);
    EXPECT_NEAR(view.range().length(), 1.2e6, 1);
    EXPECT_NEAR(view.range().begin, -1e5, 1);
    view.zoom(0, 0);
    view.zoom(-3, 0);
    EXPECT_NEAR(view.range().length(), 1.2e6, 1) << "a factor that is none changes nothing";
}

TEST(ViewRange, PanStopsATenthBeyondTheEnds) {
    ViewRange view(1000);
    view.zoom(4, 500);
    for (int i = 0; i < 100; ++i) view.pan(0.5);
    EXPECT_NEAR(view.range().end, 1100, 1e-6);
    EXPECT_NEAR(view.range().length(), 250, 1e-6);
    for (int i = 0; i < 100; ++i) view.pan(-0.5);
    EXPECT_NEAR(view.range().begin, -100, 1e-6);
}

TEST(ViewRange, AViewOfAllStaysOneWhenTheStepGetsLonger) {
    ViewRange view(1000);
    view.setEnd(3000);
    EXPECT_EQ(view.range(), (TimeRange{0, 3000}));
    view.zoom(3, 1500);
    const TimeRange part = view.range();
    view.setEnd(6000);
    EXPECT_EQ(view.range(), part);
    view.setEnd(10);
    EXPECT_LE(view.range().end, 11 + 1e-9) << "what lies beyond the end is not shown";
}

TEST(ViewRange, RevealsWhateverWasRevealedBefore) {
    ViewRange view(1000);
    view.show({200, 300});
    view.reveal(210, 250);
    EXPECT_EQ(view.range(), (TimeRange{200, 300})) << "what is in view needs no movement";
    view.reveal(290, 320);
    EXPECT_EQ(view.range(), (TimeRange{275, 375})) << "a page of three quarters further on";
    view.reveal(100, 120);
    EXPECT_EQ(view.range(), (TimeRange{50, 150}));
    view.reveal(400, 800);
    EXPECT_EQ(view.range(), (TimeRange{350, 450})) << "of what is too long, its beginning";
    view.reveal(330, 425);
    EXPECT_EQ(view.range(), (TimeRange{327.5, 427.5})) << "what fits into no page is in the middle";
    view.reveal(290, 320);
    EXPECT_EQ(view.range(), (TimeRange{275, 375})) << "the same as from elsewhere";
    view.reveal(210, 250);
    EXPECT_EQ(view.range(), (TimeRange{200, 300})) << "back in the view that was chosen";
    view.reveal(0, 10);
    EXPECT_LE(view.range().begin, 0);
    view.reveal(990, 1000);
    EXPECT_GE(view.range().end, 1000);
    EXPECT_EQ(view.range().length(), 100);
    view.keep(150, 2000);
    const TimeRange chosen = view.range();
    view.reveal(10, 20);
    view.reveal(150, 2000);
    EXPECT_EQ(view.range(), chosen) << "what was taken there is shown there";
}

TEST(ViewRange, GoesBackThroughViewsAndForwardAgain) {
    ViewRange view(1000);
    EXPECT_FALSE(view.back());
    EXPECT_FALSE(view.forward());
    const TimeRange first = view.range(), second{100, 200}, third{150, 160 + 20};
    view.remember();
    view.show(second);
    view.remember();
    view.show(third);
    EXPECT_TRUE(view.back());
    EXPECT_EQ(view.range(), second) << "what was in view is left though nothing remembered it";
    EXPECT_TRUE(view.back());
    EXPECT_EQ(view.range(), first);
    EXPECT_FALSE(view.back());
    EXPECT_TRUE(view.forward());
    EXPECT_EQ(view.range(), second);
    EXPECT_TRUE(view.forward());
    EXPECT_EQ(view.range(), third);
    EXPECT_FALSE(view.forward());
    EXPECT_TRUE(view.back());
    view.show({500, 600});
    view.remember();
    EXPECT_FALSE(view.forward()) << "another way was taken";
    EXPECT_TRUE(view.back());
    EXPECT_EQ(view.range(), second);
}

TEST(Alignment, MapsAreInverseToEachOther) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> time(-1e9, 1e9), length(1, 1e9);
    for (const Alignment alignment : {Alignment::OneClock, Alignment::StepEnd, Alignment::Normalised})
        for (int i = 0; i < 300; ++i) {
            const double t = time(random), planEnd = length(random), end = planEnd + length(random);
            EXPECT_NEAR(toPlan(alignment, toAxis(alignment, t, planEnd, end), planEnd, end), t, 1e-3);
            EXPECT_NEAR(toAxis(alignment, toPlan(alignment, t, planEnd, end), planEnd, end), t, 1e-3);
        }
}

TEST(Alignment, PutsStepsWhereItsNameSays) {
    EXPECT_EQ(toAxis(Alignment::OneClock, 0, 30, 100), 0);
    EXPECT_EQ(toAxis(Alignment::OneClock, 30, 30, 100), 30);
    EXPECT_EQ(toAxis(Alignment::StepEnd, 0, 30, 100), 70);
    EXPECT_EQ(toAxis(Alignment::StepEnd, 30, 30, 100), 100);
    EXPECT_EQ(toAxis(Alignment::Normalised, 0, 30, 100), 0);
    EXPECT_EQ(toAxis(Alignment::Normalised, 30, 30, 100), 100);
}

TEST(Ticks, AreRoundAndNoMoreThanAsked) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> exponent(0, 11);
    for (int i = 0; i < 200; ++i) {
        const double length = std::pow(10.0, exponent(random));
        const double tick = tickOf(length, 10);
        EXPECT_LE(length / tick, 10.0 + 1e-9);
        EXPECT_GE(tick, 1);
        const double leading = tick / std::pow(10.0, std::floor(std::log10(tick) + 1e-9));
        EXPECT_TRUE(std::abs(leading - 1) < 1e-6 || std::abs(leading - 2) < 1e-6 || std::abs(leading - 5) < 1e-6)
            << tick;
    }
}

}  // namespace
}  // namespace shardscope::gui
