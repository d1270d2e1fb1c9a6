#pragma once

// Hand-made timelines of four ranks that the writers and the picture are shown: naive placement, and FSDP over three
// units.

#include "tests/timeline/hand_made.h"

namespace shardscope::formats {

/// Four stages, one micro-batch: forward 6 ms, backward 12 ms a stage, messages of 0.5 ms, optimizer 1 ms.
[[nodiscard]] inline timeline::Timeline naiveOfFour() {
    using timeline::Activity;
    constexpr std::int64_t kMs = 1'000'000;
    constexpr std::int64_t kForward = 6 * kMs, kBackward = 12 * kMs, kMessage = kMs / 2, kOptimizer = kMs;
    constexpr std::int64_t kStages = 4;
    timeline::HandMade t;
    const std::int64_t turn = kStages * kForward + (kStages - 1) * kMessage;
    const std::int64_t stepEnd = turn + kStages * kBackward + (kStages - 1) * kMessage + kOptimizer;
    for (std::int64_t stage = 0; stage < kStages; ++stage) {
        t.rank("compute p2p", stepEnd, stage);
        const std::string unit = "stage " + std::to_string(stage);
        const std::int64_t forward = stage * (kForward + kMessage);
        const std::int64_t backward = turn + (kStages - 1 - stage) * (kBackward + kMessage);
        if (stage > 0) {
            const auto receive = t.span("p2p", Activity::Receive, 0, forward, unit, forward - kMessage);
            const auto run = t.span("compute", Activity::Kernels, forward, forward + kForward, unit);
            t.flow(receive, run, timeline::FlowReason::Data);
        } else {
            t.span("compute", Activity::Kernels, forward, forward + kForward, unit);
        }
        if (stage + 1 < kStages) {
            t.span("p2p", Activity::Send, forward + kForward, forward + kForward + kMessage, unit);
            const auto receive = t.span("p2p", Activity::Receive, forward + kForward + kMessage, backward, unit,
                                        backward - kMessage, core::Phase::Backward);
            const auto run = t.span("compute", Activity::Kernels, backward, backward + kBackward, unit,
                                    timeline::kNotIssued, core::Phase::Backward);
            t.flow(receive, run, timeline::FlowReason::Data);
        } else {
            t.span("compute", Activity::Kernels, backward, backward + kBackward, unit, timeline::kNotIssued,
                   core::Phase::Backward);
        }
        if (stage > 0) {
            t.span("p2p", Activity::Send, backward + kBackward, backward + kBackward + kMessage, unit,
                   timeline::kNotIssued, core::Phase::Backward);
        }
        t.span("compute", Activity::OptimizerStep, backward + kBackward, backward + kBackward + kOptimizer, unit,
               timeline::kNotIssued, core::Phase::Optimizer);
    }
    return t.finish();
}

/// Four ranks with one program each: three units gathered ahead, freed, gathered again, reduced; rank 2 comes 1 ms
/// late.
[[nodiscard]] inline timeline::Timeline fsdpOfFour() {
    using timeline::Activity;
    constexpr std::int64_t kMs = 1'000'000;
    timeline::HandMade t;
    const std::uint8_t bf16 = static_cast<std::uint8_t>(core::DType::BF16);
    t.made.groups.push_back({t.made.strings.intern("dp_shard"), 4});
    for (std::int64_t rank = 0; rank < 4; ++rank) {
        t.rank("compute all_gather_copy_in all_gather reduce_scatter host", 44 * kMs);
        const std::int64_t late = rank == 2 ? kMs : 0;
        const auto transfer = [&](Activity activity, std::string_view stream, std::int64_t begin, std::int64_t arrived,
                                  std::int64_t end, std::string_view unit) {
            const std::uint32_t span = t.span(stream, activity, begin, end, unit, arrived);
            t.made.spans.bytes[span] = 64'000'000;
            t.made.spans.dtype[span] = bf16;
            t.made.spans.group[span] = 0;
            return span;
        };
        t.span("host", Activity::HostWork, 0, 20 * kMs);
        t.span("all_gather_copy_in", Activity::GatherCopyIn, late, late + kMs, "blocks.0");
        std::uint32_t last = transfer(Activity::AllGather, "all_gather", late + kMs, 2 * kMs, 4 * kMs, "blocks.0");
        std::int64_t now = 4 * kMs;
        for (int k = 0; k < 3; ++k) {
            const std::string unit = "blocks." + std::to_string(k);
            const auto copy = t.span("compute", Activity::CopyOut, now, now + kMs / 4, unit);
            t.flow(last, copy, timeline::FlowReason::EventWait);
            t.span("compute", Activity::Kernels, now + kMs / 4, now + 4 * kMs, unit, timeline::kNotIssued,
                   core::Phase::Forward, now - kMs);
            if (k < 2) {
                last = transfer(Activity::AllGather, "all_gather", now, now, now + 2 * kMs,
                                "blocks." + std::to_string(k + 1));
            }
            now += 4 * kMs;
        }
        for (int k = 2; k >= 0; --k) {
            const std::string unit = "blocks." + std::to_string(k);
            if (k > 0) {
                transfer(Activity::AllGather, "all_gather", now, now + kMs / 2, now + 5 * kMs / 2,
                         "blocks." + std::to_string(k - 1));
            }
            t.span("compute", Activity::Kernels, now, now + 7 * kMs, unit, timeline::kNotIssued, core::Phase::Backward);
            const auto copy = t.span("compute", Activity::ReduceCopyIn, now + 7 * kMs, now + 7 * kMs + kMs / 2, unit,
                                     timeline::kNotIssued, core::Phase::Reduction);
            const auto reduce = transfer(Activity::ReduceScatter, "reduce_scatter", now + 15 * kMs / 2,
                                         now + 15 * kMs / 2, now + 10 * kMs, unit);
            t.flow(copy, reduce, timeline::FlowReason::Data);
            now += 15 * kMs / 2;
        }
        const std::int64_t optimizer = now + 5 * kMs / 2;
        t.span("compute", Activity::OptimizerStep, optimizer, optimizer + kMs, "", timeline::kNotIssued,
               core::Phase::Optimizer);
        t.made.ranks.back().stepEnd = optimizer + kMs;
        timeline::Counter counter;
        counter.rankIndex = static_cast<std::uint32_t>(rank);
        counter.name = t.made.strings.intern("activations");
        for (std::int64_t k = 0; k <= 6; ++k) {
            counter.time.push_back(4 * kMs + k * 4 * kMs);
            counter.value.push_back((k <= 3 ? k : 6 - k) * 900'000'000);
        }
        t.made.counters.push_back(counter);
    }
    return t.finish();
}

}  // namespace shardscope::formats
