// The tables of a report.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/face/report.h"
#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "cli/face/words.h"
#include "core/base/printable.h"

namespace shardscope::cli {
namespace {

using timeline::Cause;

/// Mean over all ranks, with its share of the step.
std::string meanAndShare(const PlanReport& plan, std::int64_t sum) {
    return fmt::format("{} ({})", durationText(plan.ranks > 0 ? sum / plan.ranks : 0), percentText(plan.shareOf(sum)));
}

std::vector<Align> columnsFor(const Report& report) {
    std::vector<Align> align(report.plans.size() + 1, Align::Right);
    align.front() = Align::Left;
    return align;
}

template <class Cell>
void addRow(TextTable& table, const Report& report, std::string name, Cell cell) {
    std::vector<std::string> cells{std::move(name)};
    for (const PlanReport& plan : report.plans) cells.push_back(cell(plan));
    table.row(std::move(cells));
}

std::string header(const Report& report) {
    std::string text;
    if (!report.title.empty()) text += core::printable(report.title) + "\n";
    text += fmt::format("  model     {} ({}), {} parameters\n", core::printable(report.modelName),
                        core::printable(report.modelFamily), groupedDigits(report.parameters));
    text += fmt::format("  hardware  {}\n", report.cluster.name);
    text += fmt::format("  batch     {} {}s a step", groupedDigits(report.globalBatch), report.sampleWord);
    if (report.tokensPerSample > 0) text += fmt::format(" of {} tokens", groupedDigits(report.tokensPerSample));
    text += "\n";
    if (!report.plans.empty()) {
        const core::Precision& p = report.plans.front().setup.plan.precision;
        text += fmt::format("  precision {} parameters and optimizer, {} compute, {} reduction\n",
                            core::nameOf(p.original), core::nameOf(p.compute()), core::nameOf(p.reduction()));
    }
    return text + "\n";
}

/// What a GPU computes, the model's own passes apart from what the strategy adds.
constexpr std::pair<const char*, std::int64_t timeline::ComputeWork::*> kWorkRows[] = {
    {"  forward", &timeline::ComputeWork::forward},
    {"  backward", &timeline::ComputeWork::backward},
    {"  recomputation", &timeline::ComputeWork::recompute},
    {"  gradient accumulation", &timeline::ComputeWork::accumulation},
    {"  copies and casts", &timeline::ComputeWork::copies},
    {"  optimizer", &timeline::ComputeWork::optimizer},
    {"  other", &timeline::ComputeWork::other}};

std::string mainTable(const Report& report) {
    std::vector<std::string> names{""};
    for (const PlanReport& plan : report.plans) names.push_back(plan.name);
    TextTable table(names, columnsFor(report));
    addRow(table, report, "step", [](const PlanReport& p) { return durationText(p.stepNs); });
    addRow(table, report, report.sampleWord + "s/s", [](const PlanReport& p) { return rateText(p.samplesPerSecond); });
    if (report.tokensPerSample > 0)
        addRow(table, report, "tokens/s", [](const PlanReport& p) { return rateText(p.tokensPerSecond); });
    addRow(table, report, "MFU", [](const PlanReport& p) { return percentText(p.mfu); });
    table.rule();
    addRow(table, report, "each GPU computes", [](const PlanReport& p) { return meanAndShare(p, p.allRanks.compute); });
    for (const auto& [name, part] : kWorkRows) {
        const auto time = [part = part](const PlanReport& p) { return p.allRanksWork.*part; };
        if (std::any_of(report.plans.begin(), report.plans.end(), [&](const PlanReport& p) { return time(p) != 0; }))
            addRow(table, report, name,
                   [&](const PlanReport& p) { return time(p) == 0 ? std::string("-") : meanAndShare(p, time(p)); });
    }
    addRow(table, report, "exposed transfer", [](const PlanReport& p) { return meanAndShare(p, p.allRanks.transfer); });
    addRow(table, report, "exposed copy", [](const PlanReport& p) { return meanAndShare(p, p.allRanks.copy); });
    addRow(table, report, "GPU waits", [](const PlanReport& p) { return meanAndShare(p, p.allRanks.gpuWaits()); });
    addRow(table, report, "transfers hidden", [](const PlanReport& p) {
        return p.allRanks.totalTransfer == 0 ? std::string("none to hide") : percentText(p.allRanks.hiddenShare());
    });
    addRow(table, report, "on the wire, a GPU", [](const PlanReport& p) {
        std::int64_t most = 0;
        for (const ClassReport& one : p.classes) most = std::max(most, one.transfers.bytes());
        return bytesText(most);
    });
    table.rule();
    addRow(table, report, "memory needed", [](const PlanReport& p) { return bytesText(p.tightest().memory.needed()); });
    addRow(table, report, "of usable",
           [](const PlanReport& p) { return bytesText(p.tightest().memory.reserve.usable.value); });
    addRow(table, report, "fits", [](const PlanReport& p) {
        const std::int64_t left = p.tightest().memory.left();
        return left >= 0 ? fmt::format("yes, {} left", bytesText(left)) : fmt::format("NO, {} short", bytesText(-left));
    });
    return table.text(2);
}

/// The five times of every class; one class a plan says nothing new when all ranks are alike.
std::string classTable(const Report& report) {
    TextTable table({"plan", "ranks", "compute", "transfer", "copy", "waiting", "idle", "hidden", "on the wire"},
                    {Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                     Align::Right, Align::Right});
    constexpr std::size_t kMostRows = 16;
    for (const PlanReport& plan : report.plans) {
        for (std::size_t i = 0; i < plan.classes.size(); ++i) {
            const ClassReport& one = plan.classes[i];
            if (plan.classes.size() > kMostRows && i == kMostRows / 2)
                table.row({"", fmt::format("... {} more", plan.classes.size() - kMostRows)});
            if (plan.classes.size() > kMostRows && i >= kMostRows / 2 && i < plan.classes.size() - kMostRows / 2)
                continue;
            const timeline::Breakdown& t = one.times;
            table.row({i == 0 ? plan.name : "", one.ranks > 1 ? fmt::format("{} x{}", one.name, one.ranks) : one.name,
                       durationText(t.compute), durationText(t.transfer), durationText(t.copy), durationText(t.waiting),
                       durationText(t.idle), t.totalTransfer == 0 ? "-" : percentText(t.hiddenShare()),
                       bytesText(one.transfers.bytes())});
        }
    }
    return table.text(2);
}

std::string causeTable(const Report& report) {
    // By cause, units summed up; then what part of it the worst unit has.
    struct Row {
        std::vector<std::int64_t> time;
        std::int64_t total = 0;
    };
    std::map<Cause, Row> rows;
    for (std::size_t p = 0; p < report.plans.size(); ++p)
        for (const timeline::CauseTotal& cause : report.plans[p].causes) {
            Row& row = rows[cause.cause];
            row.time.resize(report.plans.size());
            row.time[p] += cause.time;
            row.total += report.plans[p].ranks > 0 ? cause.time / report.plans[p].ranks : 0;
        }
    std::vector<std::pair<Cause, Row>> ordered(rows.begin(), rows.end());
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
    std::vector<std::string> names{"mean over the GPUs"};
    for (const PlanReport& plan : report.plans) names.push_back(plan.name);
    TextTable table(names, columnsFor(report));
    addRow(table, report, "computing", [](const PlanReport& p) { return meanAndShare(p, p.allRanks.compute); });
    for (const auto& [cause, row] : ordered) {
        std::vector<std::string> cells{std::string(timeline::nameOf(cause))};
        for (std::size_t p = 0; p < report.plans.size(); ++p)
            cells.push_back(row.time[p] == 0 ? "-" : meanAndShare(report.plans[p], row.time[p]));
        table.row(std::move(cells));
    }
    table.rule();
    addRow(table, report, "step", [](const PlanReport& p) { return durationText(p.stepNs); });
    std::string text = table.text(2);
    for (const PlanReport& plan : report.plans) {
        if (plan.causes.empty()) continue;
        const timeline::CauseTotal& worst = plan.causes.front();
        text += fmt::format("  most in {}: {}, {} a GPU\n", plan.name,
                            timeline::describe(worst.cause, plan.timeline.strings[worst.unit]),
                            durationText(worst.time / std::max<std::int64_t>(plan.ranks, 1)));
    }
    return text;
}

std::string memoryTable(const Report& report) {
    std::vector<std::string> names{"fullest rank, at its peak"};
    for (const PlanReport& plan : report.plans) names.push_back(fmt::format("{}: {}", plan.name, plan.tightest().name));
    TextTable table(names, columnsFor(report));
    for (std::size_t c = 0; c < core::kMemoryCategories; ++c) {
        const auto category = static_cast<core::MemoryCategory>(c);
        const auto bytes = [&](const PlanReport& p) { return p.tightest().memory.step.hostOrder.byCategory[category]; };
        if (std::all_of(report.plans.begin(), report.plans.end(), [&](const auto& p) { return bytes(p) == 0; }))
            continue;
        addRow(table, report, std::string(core::nameOf(category)),
               [&](const PlanReport& p) { return bytes(p) == 0 ? std::string("-") : bytesText(bytes(p)); });
    }
    table.rule();
    addRow(table, report, "allocated",
           [](const PlanReport& p) { return bytesText(p.tightest().memory.step.hostOrder.total.value); });
    addRow(table, report, "reserved by the allocator",
           [](const PlanReport& p) { return bytesText(p.tightest().memory.step.reserved.value); });
    addRow(table, report, "CUDA context",
           [](const PlanReport& p) { return bytesText(p.tightest().memory.reserve.context.value); });
    addRow(table, report, "NCCL buffers",
           [](const PlanReport& p) { return bytesText(p.tightest().memory.reserve.communication.value); });
    addRow(table, report, "needed", [](const PlanReport& p) { return bytesText(p.tightest().memory.needed()); });
    if (std::any_of(report.plans.begin(), report.plans.end(), [](const auto& p) { return p.hostMemory.value > 0; }))
        addRow(table, report, "on the host, for a GPU", [](const PlanReport& p) {
            return p.hostMemory.value == 0 ? std::string("-") : bytesText(p.hostMemory.value);
        });
    std::string text = table.text(2);
    for (const PlanReport& plan : report.plans)
        text += fmt::format("  peak of {}: {}\n", plan.name, plan.tightest().memory.step.hostOrder.moment);
    return text;
}

/// Counts and bytes on the wire; a kind of transfer that no plan has is left out.
std::string transferTable(const Report& report) {
    struct Column {
        const char* title;
        std::int64_t (*value)(const TransferCounts& counts);
        bool bytes = false;
    };
    static constexpr Column kColumns[] = {
        {"all-gathers", [](const TransferCounts& c) { return c.allGathers; }},
        {"reduce-scatters", [](const TransferCounts& c) { return c.reduceScatters; }},
        {"all-reduces", [](const TransferCounts& c) { return c.allReduces; }},
        {"sends", [](const TransferCounts& c) { return c.sends; }},
        {"receives", [](const TransferCounts& c) { return c.receives; }},
        {"gathered", [](const TransferCounts& c) { return c.gatherBytes; }, true},
        {"reduced", [](const TransferCounts& c) { return c.reduceBytes + c.allReduceBytes; }, true},
        {"sent", [](const TransferCounts& c) { return c.sendBytes; }, true},
    };
    constexpr std::size_t kMostClasses = 8;
    std::vector<std::vector<std::string>> rows;
    std::vector<bool> used(std::size(kColumns), false);
    for (const PlanReport& plan : report.plans)
        for (std::size_t i = 0; i < std::min(plan.classes.size(), kMostClasses); ++i) {
            std::vector<std::string> row{i == 0 ? plan.name : "", plan.classes[i].name};
            bool any = false;
            for (std::size_t k = 0; k < std::size(kColumns); ++k) {
                const std::int64_t value = kColumns[k].value(plan.classes[i].transfers);
                row.push_back(value == 0 ? "-" : kColumns[k].bytes ? bytesText(value) : std::to_string(value));
                if (value != 0) used[k] = any = true;
            }
            if (any) rows.push_back(std::move(row));
        }
    if (rows.empty()) return "";
    std::vector<std::string> head{"plan", "ranks"};
    std::vector<Align> alignment{Align::Left, Align::Left};
    for (std::size_t k = 0; k < std::size(kColumns); ++k)
        if (used[k]) {
            head.emplace_back(kColumns[k].title);
            alignment.push_back(Align::Right);
        }
    TextTable table(head, alignment);
    for (std::vector<std::string>& row : rows) {
        std::vector<std::string> shown{std::move(row[0]), std::move(row[1])};
        for (std::size_t k = 0; k < std::size(kColumns); ++k)
            if (used[k]) shown.push_back(std::move(row[k + 2]));
        table.row(std::move(shown));
    }
    return "\nTransfers of one GPU in one step\n" + table.text(2);
}

}  // namespace

std::string textReport(const Report& report) {
    std::string text = header(report);
    for (const PlanReport& plan : report.plans) text += fmt::format("  {}: {}\n", plan.name, plan.what);
    for (const core::RefusedCase& one : report.refused)
        text += fmt::format("  {}: left out, {}{} ({})\n", one.strategy, one.error.message,
                            one.error.hint.empty() ? "" : "; " + one.error.hint, one.error.where);
    text += "\n" + mainTable(report);
    text += "\nWhere the time goes\n" + causeTable(report);
    text += "\nEvery GPU's step: compute + exposed transfer + exposed copy + waiting + idle\n" + classTable(report);
    text += transferTable(report);
    text += "\nMemory\n" + memoryTable(report);
    if (!report.notes.empty() || !report.caveats.empty() || !report.unused.empty()) text += "\n";
    for (const std::string& key : report.unused) text += unusedInWords(key);
    for (const std::string& note : report.notes) text += "  fair: " + note + "\n";
    const bool evaluates = report.plans.front().setup.plan.evaluation;
    text += fmt::format(
        "  MFU: FLOPs of matrix products and attention, forward{}, over step x GPUs x\n"
        "  dense peak of the compute dtype.\n",
        evaluates ? " alone" : " and backward, without recomputation");
    for (const std::string& caveat : report.caveats) text += "  rests on: " + caveat + "\n";
    return text;
}

}  // namespace shardscope::cli
