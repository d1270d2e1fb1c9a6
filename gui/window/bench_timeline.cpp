#include "gui/window/bench_timeline.h"

#include <fmt/format.h>

#include <QApplication>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "gui/view/timeline_view.h"
#include "gui/window/bench_times.h"

namespace shardscope::gui {

namespace {

using timeline::Activity;

constexpr std::uint32_t kLanes = 64;

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

std::shared_ptr<const Answer> answerWith(std::shared_ptr<const timeline::Timeline> timeline) {
    auto answer = std::make_shared<Answer>();
    cli::PlanReport plan;
    plan.name = "bench";
    plan.ranks = kLanes;
    plan.stepNs = timeline->end;
    plan.classes.emplace_back();
    answer->report.plans.push_back(std::move(plan));
    answer->end = timeline->end;
    answer->lanes.push_back(lanesOf(std::move(timeline)));
    return answer;
}

struct Figures {
    Elapsed firstPaint;
    Times pan, zoom, hover;
    double bytes = 0;  ///< of lanes and pyramids, a span
    std::size_t lanesInView = 0;
};

/// A window's view of 1920 x 1080; everything as events, until the picture is painted.
Figures measure(std::size_t spans) {
    Figures figures;
    const auto timeline = randomTimeline(spans);
    PageState state;
    TimelineView view(state);
    view.resize(1920, 1080);
    view.show();
    QApplication::processEvents();
    const auto timed = [](Times& times, auto&& act) {
        const Stopwatch watch;
        act();
        QApplication::processEvents();
        times.add(watch.elapsed());
    };

    const Stopwatch watch;
    const auto answer = answerWith(timeline);
    state.setAnswer(answer);
    QApplication::processEvents();
    figures.firstPaint = watch.elapsed();

    std::size_t bytes = 0;
    for (const Lane& lane : answer->lanes[0].lanes) bytes += lane.pyramid.bytes() + lane.pieces.bytes();
    figures.bytes = static_cast<double>(bytes) / static_cast<double>(timeline->spans.size());
    figures.lanesInView = static_cast<std::size_t>(std::ranges::count_if(view.strips(), [&](const Strip& strip) {
        return strip.kind == Strip::Kind::Lane && strip.top + strip.height <= view.plot().height();
    }));

    const auto end = static_cast<double>(timeline->end);
    state.select(PieceId{0, 5, answer->lanes[0].lanes[5].pieces.size() / 3});
    // From everything to about ten spans a lane and back.
    constexpr int kZoomFrames = 300;
    const double factor = std::pow(end / 3000, 1.0 / kZoomFrames);
    for (int frame = 0; frame < 2 * kZoomFrames; ++frame)
        timed(figures.zoom, [&] { state.zoom(frame < kZoomFrames ? factor : 1 / factor, end * 0.37); });
    std::mt19937_64 random(2);
    for (const double length : {end, end / 10, end / 1000, 30'000.0, 3000.0}) {
        state.show({end * 0.2, end * 0.2 + length});
        state.select(PieceId{0, 5, answer->lanes[0].lanes[5].pieces.size() / 5});
        QApplication::processEvents();
        for (int frame = 0; frame < 60; ++frame) timed(figures.pan, [&] { state.pan(0.01); });
        for (int i = 0; i < 60; ++i)
            timed(figures.hover, [&] {
                const QPoint at(static_cast<int>(random() % 1900), static_cast<int>(random() % 1000));
                QMouseEvent move(QEvent::MouseMove, at, view.viewport()->mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                                 Qt::NoModifier);
                QApplication::sendEvent(view.viewport(), &move);
                static_cast<void>(view.wordsAt(at));
            });
    }
    return figures;
}

constexpr double kMostFirstPaint = 2000, kMostFrame = 16.7, kMostHover = 5;  // ms, by the wall
constexpr double kMostBytes = 64;                                            // a span

bool isMet(const Figures& figures) {
    return figures.pan.at(0.99).wall <= kMostFrame && figures.zoom.at(0.99).wall <= kMostFrame &&
           figures.hover.at(0.99).wall <= kMostHover && figures.firstPaint.wall <= kMostFirstPaint &&
           figures.bytes <= kMostBytes && figures.lanesInView == kLanes;
}

void print(const char* clock, std::size_t spans, const Figures& figures, double Elapsed::*by, const char* verdict) {
    std::printf("%10zu  %-6s  %9.0f ms  %7.2f ms  %7.2f ms  %7.2f ms  %7.2f ms  %7.2f ms  %8.1f  %5zu  %s\n", spans,
                clock, figures.firstPaint.*by, figures.pan.at(0.5).*by, figures.pan.at(0.99).*by,
                figures.zoom.at(0.5).*by, figures.zoom.at(0.99).*by, figures.hover.at(0.99).*by, figures.bytes,
                figures.lanesInView, verdict);
}

}  // namespace

bool benchTimeline() {
    std::printf("%10s  %-6s  %12s  %10s  %10s  %10s  %10s  %10s  %8s  %5s\n", "spans", "by", "first paint", "pan p50",
                "pan p99", "zoom p50", "zoom p99", "hover p99", "B/span", "lanes");
    std::printf("%10s  %-6s  %9.0f ms  %10s  %7.2f ms  %10s  %7.2f ms  %7.2f ms  %8.1f  %5u\n", "", "target",
                kMostFirstPaint, "", kMostFrame, "", kMostFrame, kMostHover, kMostBytes, kLanes);
    bool good = true;
    for (const std::size_t spans : {std::size_t{100'000}, std::size_t{1'000'000}, std::size_t{10'000'000}}) {
        const Figures figures = measure(spans);
        print("wall", spans, figures, &Elapsed::wall, isMet(figures) ? "met" : "NOT met");
        print("cpu", spans, figures, &Elapsed::cpu, "");
        std::fflush(stdout);
        good &= isMet(figures);
    }
    std::printf(
        "first paint: from spans in memory to a painted picture, lanes and all levels of their pyramids built;\n"
        "pan, zoom, hover: an event and what is painted after it. Targets are judged by the wall; cpu: time "
        "on the processors\n\n");
    return good;
}

}  // namespace shardscope::gui
