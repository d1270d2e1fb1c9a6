#include "gui/window/bench_timeline.h"

#include <fmt/format.h>

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "gui/view/timeline_view.h"

namespace shardscope::gui {

namespace {

using Clock = std::chrono::steady_clock;
using timeline::Activity;

constexpr std::uint32_t kLanes = 64;

double milliseconds(Clock::time_point from) {
    return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

/// Ranks with a compute stream each: kernels of 50 to 450 ns with gaps of up to half of that, in three phases.
std::shared_ptr<const timeline::Timeline> randomTimeline(std::size_t spans) {
    auto made = std::make_shared<timeline::Timeline>();
    std::mt19937_64 random(1);
    std::vector<timeline::StringId> names, units;
    for (int i = 0; i < 40; ++i) {
        names.push_back(made->strings.intern(fmt::format("forward blocks.{}", i)));
        units.push_back(made->strings.intern(fmt::format("blocks.{}", i)));
    }
    const timeline::StringId stream = made->strings.intern("compute");
    const std::size_t each = spans / kLanes;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        timeline::RankRow rank;
        rank.rank = lane;
        rank.name = made->strings.intern(fmt::format("rank {}", lane));
        rank.laneBegin = lane;
        rank.laneEnd = lane + 1;
        made->lanes.push_back({static_cast<std::int64_t>(lane), 1, rank.name, stream, true, lane});
        std::int64_t at = 0;
        for (std::size_t i = 0; i < each; ++i) {
            timeline::SpanRow span;
            span.lane = lane;
            at += static_cast<std::int64_t>(random() % 200);
            span.start = at;
            at += 50 + static_cast<std::int64_t>(random() % 400);
            span.end = at;
            span.name = names[i % names.size()];
            span.unit = units[i % units.size()];
            span.activity = Activity::Kernels;
            const std::uint64_t phase = random() % 10;
            span.phase = phase < 4 ? core::Phase::Forward : phase < 9 ? core::Phase::Backward : core::Phase::Optimizer;
            timeline::append(*made, span);
        }
        rank.stepEnd = at;
        made->ranks.push_back(rank);
    }
    timeline::arrange(*made);
    return made;
}

struct Times {
    std::vector<double> all;
    void add(double ms) { all.push_back(ms); }
    double at(double share) {
        std::ranges::sort(all);
        return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    }
};

}  // namespace

int benchTimeline() {
    std::printf("%10s  %12s  %10s  %10s  %10s  %10s  %10s  %8s\n", "spans", "first paint", "pan p50", "pan p99",
                "zoom p50", "zoom p99", "hover p99", "B/span");
    bool good = true;
    for (const std::size_t spans : {std::size_t{100'000}, std::size_t{1'000'000}, std::size_t{10'000'000}}) {
        const auto timeline = randomTimeline(spans);
        PageState state;
        TimelineView view(state);
        view.resize(1920, 1080);
        view.show();
        QApplication::processEvents();

        const auto begin = Clock::now();
        auto answer = std::make_shared<Answer>();
        cli::PlanReport plan;
        plan.name = "bench";
        plan.ranks = kLanes;
        plan.stepNs = timeline->end;
        plan.classes.emplace_back();
        answer->report.plans.push_back(std::move(plan));
        answer->end = timeline->end;
        answer->lanes.push_back(lanesOf(timeline));
        std::size_t bytes = 0;
        for (const Lane& lane : answer->lanes[0].lanes)
            bytes += lane.pyramid.bytes() + lane.pieces.bytes();
        state.setAnswer(answer);
        view.viewport()->repaint();
        const double firstPaint = milliseconds(begin);

        Times pan, zoom, hover;
        const double end = static_cast<double>(timeline->end);
        // From everything to about ten spans a lane and back.
        constexpr int kZoomFrames = 300;
        const double factor = std::pow(end / 3000, 1.0 / kZoomFrames);
        for (int frame = 0; frame < 2 * kZoomFrames; ++frame) {
            state.zoom(frame < kZoomFrames ? factor : 1 / factor, end * 0.37);
            const auto from = Clock::now();
            view.viewport()->repaint();
            zoom.add(milliseconds(from));
        }
        std::mt19937_64 random(2);
        for (const double length : {end, end / 10, end / 1000, 30'000.0, 3000.0}) {
            state.show({end * 0.2, end * 0.2 + length});
            state.select(PieceId{0, 5, answer->lanes[0].lanes[5].pieces.size() / 5});
            for (int frame = 0; frame < 60; ++frame) {
                state.pan(0.01);
                const auto from = Clock::now();
                view.viewport()->repaint();
                pan.add(milliseconds(from));
            }
            for (int i = 0; i < 60; ++i) {
                const QPoint at(static_cast<int>(random() % 1900), static_cast<int>(random() % 1000));
                const auto from = Clock::now();
                const QString words = view.wordsAt(at);
                state.setCursor(view.timeAt(at.x()));
                view.viewport()->repaint();
                hover.add(milliseconds(from));
            }
        }
        std::printf("%10zu  %9.0f ms  %7.2f ms  %7.2f ms  %7.2f ms  %7.2f ms  %7.2f ms  %8.1f\n", spans, firstPaint,
                    pan.at(0.5), pan.at(0.99), zoom.at(0.5), zoom.at(0.99), hover.at(0.99),
                    static_cast<double>(bytes) / static_cast<double>(spans));
        std::fflush(stdout);
        good &= pan.at(0.99) <= 16.7 && zoom.at(0.99) <= 16.7 && hover.at(0.99) <= 5 && firstPaint <= 2000;
    }
    std::printf("targets: first paint <= 2000 ms, pan and zoom p99 <= 16.7 ms, hover <= 5 ms: %s\n",
                good ? "met" : "NOT met");
    return 0;
}

}  // namespace shardscope::gui
