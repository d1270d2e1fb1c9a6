#include "traces/formats/picture_rows.h"

#include <algorithm>
#include <array>

namespace shardscope::formats {

using timeline::Activity;
using timeline::SpanKind;
using timeline::State;
using timeline::Timeline;

namespace {

Look lookOfTransfer(Activity activity) {
    switch (activity) {
        case Activity::AllGather: return Look::Gather;
        case Activity::ReduceScatter: return Look::Reduce;
        case Activity::Send:
        case Activity::Receive: return Look::PointToPoint;
        default: return Look::OtherTransfer;
    }
}

Look lookOfCompute(Activity activity, core::Phase phase) {
    if (activity == Activity::OptimizerStep) return Look::Optimizer;
    if (timeline::isCopy(activity)) return Look::OwnCopy;
    switch (phase) {
        case core::Phase::Forward:
        case core::Phase::Loss: return Look::Forward;
        case core::Phase::Optimizer: return Look::Optimizer;
        case core::Phase::Backward:
        case core::Phase::Recompute:
        case core::Phase::Reduction: return Look::Backward;
    }
    return Look::Forward;
}

Look lookOfGap(State state) {
    switch (state) {
        case State::Transfer: return Look::Exposed;
        case State::Copy: return Look::Copy;
        case State::Waiting: return Look::Waiting;
        default: return Look::Idle;
    }
}

}  // namespace

Look lookOfSpan(const Timeline& t, std::uint32_t span, bool computeStream) {
    const auto activity = static_cast<Activity>(t.spans.activity[span]);
    switch (static_cast<SpanKind>(t.spans.kind[span])) {
        case SpanKind::Collective:
        case SpanKind::PointToPoint: return lookOfTransfer(activity);
        case SpanKind::Host: return Look::Idle;
        default: break;
    }
    return computeStream ? lookOfCompute(activity, static_cast<core::Phase>(t.spans.phase[span])) : Look::Copy;
}

std::vector<RowPiece> computeRow(const Timeline& t, const timeline::CauseFinder& causes,
                                 const std::vector<timeline::SpanRange>& lanes, std::uint32_t rankIndex) {
    std::vector<RowPiece> row;
    const std::vector<timeline::Segment> segments = timeline::segmentsOf(t, rankIndex, lanes);
    const std::vector<timeline::CausedInterval> gaps = causes.intervalsOf(rankIndex, segments);
    row.reserve(segments.size() + gaps.size());
    std::size_t nextGap = 0;
    for (const timeline::Segment& segment : segments) {
        if (segment.state == State::Compute) {
            row.push_back({segment.begin, segment.end, lookOfSpan(t, segment.span, true), segment.span});
            continue;
        }
        for (; nextGap < gaps.size() && gaps[nextGap].begin < segment.end; ++nextGap) {
            const timeline::CausedInterval& gap = gaps[nextGap];
            row.push_back({gap.begin, gap.end, lookOfGap(gap.state), gap.span, gap.cause, gap.unit});
        }
    }
    return row;
}

std::vector<RowPiece> communicationRow(const Timeline& t, const std::vector<timeline::SpanRange>& lanes,
                                       std::uint32_t rankIndex) {
    const timeline::Spans& spans = t.spans;
    const timeline::RankRow& rank = t.ranks[rankIndex];
    std::array<std::vector<RowPiece>, 3> layers;  // transfers cover copies, copies cover waits
    const auto add = [&](std::size_t layer, std::int64_t begin, std::int64_t end, Look look, std::uint32_t span) {
        begin = std::max(begin, rank.stepBegin);
        end = std::min(end, rank.stepEnd);
        if (begin < end) layers[layer].push_back({begin, end, look, span});
    };
    for (std::uint32_t lane = rank.laneBegin; lane < rank.laneEnd; ++lane) {
        for (std::uint32_t i = lanes[lane].begin; i < lanes[lane].end; ++i) {
            const SpanKind kind = static_cast<SpanKind>(spans.kind[i]);
            if (kind == SpanKind::Collective || kind == SpanKind::PointToPoint) {
                add(0, spans.transferStart[i], spans.end[i], lookOfTransfer(static_cast<Activity>(spans.activity[i])),
                    i);
                add(2, spans.start[i], spans.transferStart[i], Look::Waiting, i);
            } else if (kind != SpanKind::Host && !t.lanes[lane].computeStream) {
                add(1, spans.start[i], spans.end[i], Look::Copy, i);
            }
        }
    }
    for (auto& layer : layers) {
        std::stable_sort(layer.begin(), layer.end(),
                         [](const RowPiece& a, const RowPiece& b) { return a.begin < b.begin; });
        std::int64_t covered = rank.stepBegin;
        std::size_t kept = 0;
        for (RowPiece piece : layer) {
            piece.begin = std::max(piece.begin, covered);
            if (piece.begin >= piece.end) continue;
            covered = piece.end;
            layer[kept++] = piece;
        }
        layer.resize(kept);
    }
    std::vector<RowPiece> row;
    std::array<std::size_t, 3> next{};
    for (std::int64_t now = rank.stepBegin; now < rank.stepEnd;) {
        RowPiece piece{now, rank.stepEnd, Look::None};
        for (std::size_t l = 0; l < layers.size(); ++l) {
            while (next[l] < layers[l].size() && layers[l][next[l]].end <= now) ++next[l];
            if (next[l] == layers[l].size()) continue;
            const RowPiece& top = layers[l][next[l]];
            if (top.begin > now) {
                piece.end = std::min(piece.end, top.begin);
                continue;
            }
            piece.end = std::min(piece.end, top.end);
            piece.look = top.look;
            piece.span = top.span;
            break;
        }
        if (!row.empty() && row.back().look == piece.look && row.back().span == piece.span) {
            row.back().end = piece.end;
        } else {
            row.push_back(piece);
        }
        now = piece.end;
    }
    return row;
}

std::vector<RowPiece> fold(const std::vector<RowPiece>& pieces, std::int64_t resolution) {
    std::vector<RowPiece> folded;
    std::array<std::int64_t, kLooks> time{};
    RowPiece cluster;
    std::size_t members = 0;
    const auto finish = [&] {
        if (members == 0) return;
        if (members > 1) {
            cluster.look = static_cast<Look>(std::max_element(time.begin(), time.end()) - time.begin());
            cluster.span = timeline::kNoIndex;
            cluster.cause = timeline::Cause::Unknown;
            cluster.causeUnit = 0;
        }
        RowPiece* last = folded.empty() ? nullptr : &folded.back();
        const bool joins = last != nullptr && last->end == cluster.begin && last->look == cluster.look &&
                           last->span == timeline::kNoIndex && cluster.span == timeline::kNoIndex &&
                           last->cause == cluster.cause;
        if (joins) {
            last->end = cluster.end;
        } else {
            folded.push_back(cluster);
        }
        time.fill(0);
        members = 0;
    };
    for (const RowPiece& piece : pieces) {
        const bool isLong = piece.end - piece.begin >= resolution;
        // A long piece stands alone; short ones gather until they are long together. What is left over before a long
        // piece is given to it, so that nothing shorter than the resolution remains.
        if (isLong && members > 0 && cluster.end - cluster.begin < resolution) {
            RowPiece joined = piece;
            joined.begin = cluster.begin;
            time.fill(0);
            members = 0;
            cluster = joined;
        } else {
            if (isLong) finish();
            if (members == 0) cluster = piece;
            cluster.end = piece.end;
        }
        ++members;
        time[static_cast<std::size_t>(piece.look)] += piece.end - piece.begin;
        if (cluster.end - cluster.begin >= resolution) finish();
    }
    finish();
    return folded;
}

}  // namespace shardscope::formats
