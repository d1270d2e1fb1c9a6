// What whyIdle found, in sentences and as JSON.

#include <fmt/format.h>

#include <algorithm>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "cli/face/why_idle.h"
#include "cli/face/words.h"

namespace shardscope::cli {
namespace {

using core::Document;
using timeline::CauseTotal;
using timeline::FlowReason;
using timeline::kNoIndex;

std::string timeAndShare(std::int64_t time, std::int64_t step) {
    return fmt::format("{} ({})", durationText(time),
                       percentText(step > 0 ? static_cast<double>(time) / static_cast<double>(step) : 0));
}

/// A place in the step, which differences are read off from: "312.07 ms".
std::string instantText(std::int64_t ns) {
    return fmt::format("{:.2f} ms", static_cast<double>(ns) * 1e-6);
}

const std::string& nameOf(const PlanReport& plan, std::uint32_t span) {
    return plan.timeline.strings[plan.timeline.spans.name[span]];
}

std::uint32_t rowOf(const PlanReport& plan, std::uint32_t span) {
    return plan.timeline.lanes[plan.timeline.spans.lane[span]].rankIndex;
}

/// "reduce-scatter of root (7.1 ms), copy (12 us)".
std::string causesText(const PlanReport& plan, const std::vector<CauseTotal>& causes, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(most, causes.size()); ++i)
        text += fmt::format("{}{} ({})", i > 0 ? ", " : "",
                            timeline::describe(causes[i].cause, plan.timeline.strings[causes[i].unit]),
                            durationText(causes[i].time));
    if (causes.size() > most) text += fmt::format(" and {} more", causes.size() - most);
    return text;
}

/// Why `what` could not be earlier, as a sentence about what held it back. `waits` is the row whose wait is told.
std::string linkText(const PlanReport& plan, const std::string& what, const WaitLink& link, std::uint32_t waits) {
    const std::string until = instantText(link.untilNs);
    if (link.span == kNoIndex) return fmt::format("The host enqueued {} only at {}.", what, until);
    const timeline::Spans& spans = plan.timeline.spans;
    const std::uint32_t row = rowOf(plan, link.span);
    const std::string whose = row == waits ? std::string() : fmt::format(" of {}", plan.classes[row].name);
    const std::string held = nameOf(plan, link.span) + whose;
    switch (link.reason) {
        case FlowReason::Peer:
            return fmt::format("{} could not move before its other side, {}, was ready at {}.", what, held, until);
        case FlowReason::Communicator:
            return fmt::format("{} stood behind {} on the same communicator, until {}.", what, held, until);
        case FlowReason::MemoryLimit:
            return fmt::format("{} needed the buffer that {} still read, until {}.", what, held, until);
        case FlowReason::StreamOrder:
            return fmt::format("{} stood behind {} on the same stream, until {}.", what, held, until);
        case FlowReason::EventWait:
            return fmt::format("{} had to wait for {}, which took from {} to {}.", what, held,
                               instantText(spans.transferStart[link.span]), until);
        default:
            return fmt::format("{} needs what {} makes, which took from {} to {}.", what, held,
                               instantText(spans.transferStart[link.span]), until);
    }
}

std::string waitText(const PlanReport& plan, const LongWait& wait, std::uint32_t row) {
    const auto& step = plan.stepNs;
    std::string text =
        fmt::format("  - {}, from {} to {}: {}.\n", timeAndShare(wait.endNs - wait.beginNs, step),
                    instantText(wait.beginNs), instantText(wait.endNs), causesText(plan, wait.causes, 3));
    std::string what = wait.next == kNoIndex ? std::string("the end of the step") : nameOf(plan, wait.next);
    std::string sentences;
    for (const WaitLink& link : wait.chain) {
        const std::string sentence = linkText(plan, what, link, row);
        sentences += "    " + sentence + "\n";
        if (link.span == kNoIndex) break;
        what = nameOf(plan, link.span);
        if (const std::uint32_t other = rowOf(plan, link.span); other != row) what += " of " + plan.classes[other].name;
    }
    if (wait.next == kNoIndex && wait.chain.empty())
        sentences = "    Nothing is left to do here until the step ends.\n";
    text += sentences;
    if (!wait.meanwhile.empty()) {
        text += "    Meanwhile ";
        for (std::size_t i = 0; i < wait.meanwhile.size(); ++i)
            text += fmt::format("{}{} computes {}", i > 0 ? ", " : "", plan.classes[wait.meanwhile[i].first].name,
                                durationText(wait.meanwhile[i].second));
        text += ".\n";
    }
    if (wait.alike > 1)
        text += fmt::format("    {} of this kind take {} together.\n", wait.alike, timeAndShare(wait.alikeNs, step));
    return text;
}

std::string classText(const PlanReport& plan, const IdleClass& one) {
    constexpr std::ptrdiff_t kMostWaits = 3;
    const ClassReport& rank = plan.classes[one.row];
    const timeline::Breakdown& t = rank.times;
    std::string text = fmt::format("\n{}: computes {} of {}\n",
                                   rank.ranks > 1 ? fmt::format("{}, each of {}", rank.name, rank.ranks)
                                                  : fmt::format("{}, rank {}", rank.name, rank.firstRank),
                                   timeAndShare(t.compute, plan.stepNs), durationText(plan.stepNs));
    if (t.compute == plan.stepNs) return text + "  It computes all the time.\n";
    const std::pair<const char*, std::int64_t> states[] = {{"waits for peers", t.waiting},
                                                           {"has nothing to do", t.idle},
                                                           {"transfers with no compute beside it", t.transfer},
                                                           {"copies with no compute beside it", t.copy}};
    std::string sentence;
    for (const auto& [words, time] : states)
        if (time > 0)
            sentence +=
                fmt::format("{}{} {}", sentence.empty() ? "  It " : ", ", words, timeAndShare(time, plan.stepNs));
    text += sentence + ".\n";
    TextTable table({"cause", "time", "of the step"}, {Align::Left, Align::Right, Align::Right});
    for (const CauseTotal& cause : one.causes)
        table.row({std::string(timeline::nameOf(cause.cause)), durationText(cause.time),
                   percentText(static_cast<double>(cause.time) / static_cast<double>(plan.stepNs))});
    text += table.text(2) + "  Stretches without compute, the longest of each kind\n";
    const auto length = [](const LongWait& wait) { return wait.endNs - wait.beginNs; };
    const auto longest = std::max_element(one.waits.begin(), one.waits.end(),
                                          [&](const LongWait& a, const LongWait& b) { return length(a) < length(b); });
    for (auto wait = one.waits.begin(); wait != one.waits.end(); ++wait) {
        // A thousandth of the step is not worth sentences, unless there is nothing longer.
        const bool isMain = wait - one.waits.begin() < kMostWaits && wait->alikeNs * 1000 >= plan.stepNs;
        if (isMain || wait == longest || wait == one.waits.begin())
            text += waitText(plan, *wait, static_cast<std::uint32_t>(one.row));
    }
    return text;
}

Document causesDocument(const PlanReport& plan, const std::vector<CauseTotal>& causes) {
    Document list = Document::list();
    for (const CauseTotal& cause : causes) {
        Document& row = list.items.emplace_back(Document::table());
        row.set("cause", Document::of(std::string(timeline::nameOf(cause.cause))));
        row.set("unit", Document::of(plan.timeline.strings[cause.unit]));
        row.set("time_ns", Document::of(cause.time));
    }
    return list;
}

Document spanDocument(const PlanReport& plan, std::uint32_t span) {
    if (span == kNoIndex) return {};
    const timeline::Spans& spans = plan.timeline.spans;
    Document out = Document::table();
    out.set("class", Document::of(plan.classes[rowOf(plan, span)].name));
    out.set("stream", Document::of(plan.timeline.strings[plan.timeline.lanes[spans.lane[span]].stream]));
    out.set("name", Document::of(nameOf(plan, span)));
    out.set("unit", Document::of(plan.timeline.strings[spans.unit[span]]));
    out.set("phase", Document::of(std::string(core::nameOf(static_cast<core::Phase>(spans.phase[span])))));
    out.set("micro_batch", Document::of(std::int64_t{spans.microBatch[span]}));
    out.set("start_ns", Document::of(spans.start[span]));
    out.set("transfer_start_ns", Document::of(spans.transferStart[span]));
    out.set("end_ns", Document::of(spans.end[span]));
    return out;
}

Document waitDocument(const PlanReport& plan, const LongWait& wait) {
    Document out = Document::table();
    out.set("begin_ns", Document::of(wait.beginNs));
    out.set("end_ns", Document::of(wait.endNs));
    out.set("before", spanDocument(plan, wait.next));
    out.set("causes", causesDocument(plan, wait.causes));
    Document chain = Document::list(), meanwhile = Document::list();
    for (const WaitLink& link : wait.chain) {
        Document& row = chain.items.emplace_back(Document::table());
        row.set("reason", Document::of(std::string(timeline::nameOf(link.reason))));
        row.set("until_ns", Document::of(link.untilNs));
        row.set("held_back_by", link.span == kNoIndex ? Document::of("host") : spanDocument(plan, link.span));
    }
    for (const auto& [other, time] : wait.meanwhile) {
        Document& row = meanwhile.items.emplace_back(Document::table());
        row.set("class", Document::of(plan.classes[other].name));
        row.set("computes_ns", Document::of(time));
    }
    out.set("chain", std::move(chain));
    out.set("meanwhile", std::move(meanwhile));
    out.set("alike", Document::of(wait.alike));
    out.set("alike_ns", Document::of(wait.alikeNs));
    return out;
}

}  // namespace

std::string whyIdleText(const PlanReport& plan, const WhyIdle& why) {
    constexpr std::size_t kMostClasses = 8;
    std::string text = fmt::format(
        "Why GPUs of {} do not compute\n  Over all {} {}: {} of every step computes, {} "
        "transfers or copies with nothing beside it, {} waits.\n",
        plan.name, plan.ranks, plan.ranks == 1 ? "GPU" : "GPUs", percentText(plan.shareOf(plan.allRanks.compute)),
        percentText(plan.shareOf(plan.allRanks.transfer + plan.allRanks.copy)),
        percentText(plan.shareOf(plan.allRanks.gpuWaits())));
    std::vector<const IdleClass*> classes;
    for (const IdleClass& one : why.classes) classes.push_back(&one);
    if (classes.size() > kMostClasses) {
        std::stable_sort(classes.begin(), classes.end(), [&](const IdleClass* a, const IdleClass* b) {
            return plan.classes[a->row].times.compute < plan.classes[b->row].times.compute;
        });
        classes.resize(kMostClasses);
    }
    for (const IdleClass* one : classes) text += classText(plan, *one);
    if (why.classes.size() > classes.size())
        text += fmt::format("\n{} others compute more than these; --json has them all.\n",
                            why.classes.size() - classes.size());
    return text;
}

Document whyIdleDocument(const PlanReport& plan, const WhyIdle& why) {
    Document classes = Document::list();
    for (const IdleClass& one : why.classes) {
        const ClassReport& rank = plan.classes[one.row];
        Document& row = classes.items.emplace_back(Document::table());
        row.set("class", Document::of(rank.name));
        row.set("first_rank", Document::of(rank.firstRank));
        row.set("ranks", Document::of(rank.ranks));
        row.set("compute_ns", Document::of(rank.times.compute));
        row.set("waiting_ns", Document::of(rank.times.waiting));
        row.set("idle_ns", Document::of(rank.times.idle));
        row.set("causes", causesDocument(plan, one.causes));
        Document waits = Document::list();
        for (const LongWait& wait : one.waits) waits.items.push_back(waitDocument(plan, wait));
        row.set("longest_waits", std::move(waits));
    }
    Document out = Document::table();
    out.set("classes", std::move(classes));
    return out;
}

}  // namespace shardscope::cli
