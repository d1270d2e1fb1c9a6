#include "cli/face/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "cli/face/words.h"
#include "core/scenario/keys.h"
#include "traces/formats/text.h"

namespace shardscope::cli {
namespace {

using core::Document;
using core::ErrorCode;
using core::fail;
using core::Result;

constexpr std::size_t kMostPoints = 1000;

/// "1,2,[3,4],\"a,b\"": commas inside brackets or quotes are part of a value.
std::vector<std::string> splitValues(std::string_view text) {
    std::vector<std::string> values(1);
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == '[' || c == '{')) ++depth;
        if (!quoted && (c == ']' || c == '}')) --depth;
        if (c == ',' && !quoted && depth == 0)
            values.emplace_back();
        else
            values.back() += c;
    }
    return values;
}

Result<Report> evaluatePoint(const Loaded& loaded, const std::string& assignment,
                             std::span<const std::string> strategies) {
    core::Scenario scenario = loaded.scenario;
    SHARDSCOPE_TRY(core::applyOverride(scenario, assignment, "--over"));
    core::ScenarioInputs inputs = loaded.inputs;
    if (scenario.model.name != loaded.scenario.model.name || scenario.model.path != loaded.scenario.model.path ||
        scenario.cluster.path != loaded.scenario.cluster.path) {
        SHARDSCOPE_ASSIGN(inputs, loadInputs(scenario, loaded.folder));
    }
    SHARDSCOPE_ASSIGN(const core::Resolved resolved, core::resolve(scenario, inputs, strategies));
    return evaluate(resolved, loaded.source, {}).map_error([&](core::Error e) {
        return scenario.located(std::move(e));
    });
}

}  // namespace

Result<Sweep> sweep(const Loaded& loaded, const std::string& over, std::span<const std::string> strategies) {
    const std::size_t equals = over.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == over.size())
        return fail(ErrorCode::Usage, "expected section.key=value,value,...", "--over " + over.substr(0, 200),
                    "for example --over parallelism.data_parallel_shard_degree=1,2,4,8");
    Sweep out;
    out.key = over.substr(0, equals);
    const std::vector<std::string> values = splitValues(std::string_view(over).substr(equals + 1));
    if (values.size() > kMostPoints)
        return fail(ErrorCode::Usage, fmt::format("{} values; at most {} are simulated", values.size(), kMostPoints),
                    "--over", "sweep in several parts");
    // A key that does not exist, or that takes none of the values, is a mistake of the command line and no result.
    core::Scenario probe = loaded.scenario;
    if (const auto first = core::applyOverride(probe, out.key + "=" + values.front(), "--over");
        !first && values.size() == 1)
        return tl::unexpected(first.error());
    for (const std::string& value : values) {
        probe = loaded.scenario;
        const std::string assignment = out.key + "=" + value;
        const auto applied = core::applyOverride(probe, assignment, "--over");
        if (!applied && applied.error().message == "no such key") return tl::unexpected(applied.error());
        // A sweep over strategies says itself which one each row is.
        const auto asked = out.key == "parallelism.strategy" ? std::span<const std::string>() : strategies;
        const core::Key* key = core::findKey(out.key);
        const bool isDefault =
            applied && key != nullptr && core::valueOf(probe, *key) == core::valueOf(core::Scenario{}, *key);
        out.points.push_back({value, evaluatePoint(loaded, assignment, asked), isDefault});
    }
    if (std::none_of(out.points.begin(), out.points.end(), [](const SweepPoint& p) { return p.report.has_value(); })) {
        core::Error first = out.points.front().report.error();
        if (out.points.size() > 1)
            first.message = fmt::format("none of the {} values can be; {} gives: {}", out.points.size(),
                                        out.points.front().value, first.message);
        return tl::unexpected(std::move(first));
    }
    return out;
}

Result<void> checkPoints(const Sweep& sweep) {
    const auto bad = [](const SweepPoint& point) { return !point.report.has_value(); };
    const auto first = std::find_if(sweep.points.begin(), sweep.points.end(), bad);
    if (first == sweep.points.end()) return {};
    const auto count = std::count_if(sweep.points.begin(), sweep.points.end(), bad);
    return fail(first->report.error().code, fmt::format("{} of the {} values cannot be", count, sweep.points.size()),
                "--over " + sweep.key, "the answer above says why; leave them out, or change what they disagree with");
}

std::vector<std::string> unusedIn(const Sweep& sweep) {
    const core::Key* swept = core::findKey(sweep.key);
    std::vector<std::string> unused;
    for (const core::Key& key : core::scenarioKeys()) {
        bool any = false, all = true;
        for (const SweepPoint& point : sweep.points) {
            if (!point.report || (&key == swept && point.isDefault)) continue;
            const bool found = std::ranges::find(point.report->unused, key.path) != point.report->unused.end();
            any = any || found;
            all = all && found;
        }
        if (any && all) unused.emplace_back(key.path);
    }
    return unused;
}

std::string sweepTable(const Sweep& sweep) {
    TextTable table({sweep.key, "plan", "ranks", "batch", "step", "samples/s", "tokens/s", "MFU", "computes", "exposed",
                     "waits", "memory", "fits"},
                    {Align::Right, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                     Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left});
    const auto percent = [](double share) { return fmt::format("{:.1f} %", share * 100); };
    std::string errors;
    for (const SweepPoint& point : sweep.points) {
        if (!point.report) {
            table.row({point.value, "not possible"});
            errors += fmt::format("  {}: {}\n", point.value, core::describe(point.report.error()));
            continue;
        }
        for (const PlanReport& plan : point.report->plans) {
            const MemoryVerdict& memory = plan.tightest().memory;
            table.row({point.value, plan.name, std::to_string(plan.ranks), groupedDigits(point.report->globalBatch),
                       durationText(plan.stepNs), rateText(plan.samplesPerSecond),
                       point.report->tokensPerSample > 0 ? rateText(plan.tokensPerSecond) : "-", percent(plan.mfu),
                       percent(plan.shareOf(plan.allRanks.compute)),
                       percent(plan.shareOf(plan.allRanks.transfer + plan.allRanks.copy)),
                       percent(plan.shareOf(plan.allRanks.gpuWaits())), bytesText(memory.needed()),
                       memory.fits() ? "yes" : bytesText(-memory.left()) + " short"});
        }
    }
    std::string text = table.text(0) + (errors.empty() ? "" : "\n" + errors);
    std::set<std::string> caveats;
    for (const SweepPoint& point : sweep.points)
        if (point.report) caveats.insert(point.report->caveats.begin(), point.report->caveats.end());
    const std::vector<std::string> unused = unusedIn(sweep);
    if (!caveats.empty() || !unused.empty()) text += "\n";
    for (const std::string& key : unused) text += unusedInWords(key);
    for (const std::string& caveat : caveats) text += "  rests on: " + caveat + "\n";
    return text;
}

Document sweepDocument(const Sweep& sweep) {
    Document out = Document::table(), points = Document::list();
    out.set("schema", Document::of("shardscope.sweep"));
    out.set("version", Document::of(std::int64_t{1}));
    out.set("key", Document::of(sweep.key));
    for (const SweepPoint& point : sweep.points) {
        Document row = Document::table();
        row.set("value", Document::of(point.value));
        if (point.report)
            row.set("report", reportDocument(*point.report));
        else
            row.set("error", Document::of(core::describe(point.report.error())));
        points.items.push_back(std::move(row));
    }
    out.set("points", std::move(points));
    Document unused = Document::list();
    for (const std::string& key : unusedIn(sweep)) unused.items.push_back(Document::of(key));
    out.set("unused", std::move(unused));
    return out;
}

std::string sweepCsv(const Sweep& sweep) {
    fmt::memory_buffer out;
    formats::appendCsvField(out, sweep.key);
    fmt::format_to(std::back_inserter(out),
                   ",plan,ranks,global_batch_size,step_ns,samples_per_second,tokens_per_second,mfu,"
                   "ranks_compute_ns,ranks_exposed_transfer_ns,ranks_exposed_copy_ns,ranks_waiting_ns,ranks_idle_ns,"
                   "most_wire_bytes,needed_bytes,usable_bytes,fits,error\r\n");
    for (const SweepPoint& point : sweep.points) {
        if (!point.report) {
            formats::appendCsvField(out, point.value);
            fmt::format_to(std::back_inserter(out), ",,,,,,,,,,,,,,,,,");
            formats::appendCsvField(out, core::describe(point.report.error()));
            fmt::format_to(std::back_inserter(out), "\r\n");
            continue;
        }
        for (const PlanReport& plan : point.report->plans) {
            const timeline::Breakdown& t = plan.allRanks;
            std::int64_t wire = 0;
            for (const ClassReport& one : plan.classes) wire = std::max(wire, one.transfers.bytes());
            const MemoryVerdict& memory = plan.tightest().memory;
            formats::appendCsvField(out, point.value);
            fmt::format_to(std::back_inserter(out), ",{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},\r\n", plan.name,
                           plan.ranks, point.report->globalBatch, plan.stepNs, plan.samplesPerSecond,
                           plan.tokensPerSecond, plan.mfu, t.compute, t.transfer, t.copy, t.waiting, t.idle, wire,
                           memory.needed(), memory.reserve.usable.value, memory.fits() ? 1 : 0);
        }
    }
    return fmt::to_string(out);
}

std::string sweepSvg(const Sweep& sweep) {
    struct Bar {
        std::string label;
        const PlanReport* plan = nullptr;
        std::string error;
    };
    std::vector<Bar> bars;
    std::int64_t longest = 1;
    for (const SweepPoint& point : sweep.points) {
        if (!point.report) {
            bars.push_back({point.value, nullptr, point.report.error().message});
            continue;
        }
        for (const PlanReport& plan : point.report->plans) {
            bars.push_back({point.report->plans.size() > 1 ? point.value + " " + plan.name : point.value, &plan, ""});
            longest = std::max(longest, plan.stepNs);
        }
    }
    constexpr int kLeft = 220, kWide = 760, kRow = 34, kTop = 92;
    const int height = kTop + static_cast<int>(bars.size()) * kRow + 40;
    fmt::memory_buffer out;
    const auto text = [&](double x, double y, std::string_view anchor, std::string_view words,
                          std::string_view more = "") {
        fmt::format_to(std::back_inserter(out), "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>", x, y, anchor,
                       more);
        formats::appendXml(out, words);
        fmt::format_to(std::back_inserter(out), "</text>\n");
    };
    struct Part {
        const char* name;
        const char* fill;
        std::int64_t timeline::Breakdown::*time;
    };
    const Part parts[] = {{"compute", "#2f6db3", &timeline::Breakdown::compute},
                          {"exposed transfer", "url(#transfer)", &timeline::Breakdown::transfer},
                          {"exposed copy", "url(#copy)", &timeline::Breakdown::copy},
                          {"waiting", "url(#waiting)", &timeline::Breakdown::waiting},
                          {"idle", "#ffffff", &timeline::Breakdown::idle}};
    fmt::format_to(
        std::back_inserter(out),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" height=\"{0}\" viewBox=\"0 0 1200 {0}\" "
        "font-family=\"Noto Sans, Noto Sans KR, DejaVu Sans, sans-serif\" font-size=\"14\" fill=\"#222222\">\n"
        "<defs>\n"
        "<pattern id=\"transfer\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" "
        "height=\"6\" fill=\"#f2b134\"/><path d=\"M0 6L6 0\" stroke=\"#8a5a00\"/></pattern>\n"
        "<pattern id=\"copy\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><rect width=\"5\" "
        "height=\"5\" fill=\"#9fd3a8\"/><path d=\"M0 2H5\" stroke=\"#2c6b38\"/></pattern>\n"
        "<pattern id=\"waiting\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><rect width=\"5\" "
        "height=\"5\" fill=\"#fbe3df\"/><circle cx=\"2.5\" cy=\"2.5\" r=\"1\" fill=\"#b03a2e\"/></pattern>\n"
        "</defs>\n<rect width=\"1200\" height=\"{0}\" fill=\"#ffffff\"/>\n",
        height);
    text(24, 34, "start", "Step time over " + sweep.key, " font-size=\"20\" font-weight=\"bold\"");
    double x = 24;
    for (const Part& part : parts) {
        fmt::format_to(std::back_inserter(out),
                       "<rect x=\"{:.1f}\" y=\"52\" width=\"18\" height=\"14\" fill=\"{}\" stroke=\"#555555\"/>\n", x,
                       part.fill);
        text(x + 24, 64, "start", part.name);
        x += 44 + 8.0 * static_cast<double>(std::string_view(part.name).size());
    }
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const double y = kTop + static_cast<double>(i) * kRow;
        text(kLeft - 12, y + 18, "end", bars[i].label);
        if (bars[i].plan == nullptr) {
            text(kLeft, y + 18, "start", "not possible: " + bars[i].error, " font-size=\"12\"");
            continue;
        }
        const PlanReport& plan = *bars[i].plan;
        double left = kLeft;
        for (const Part& part : parts) {
            const double width = kWide * plan.shareOf(plan.allRanks.*part.time) * static_cast<double>(plan.stepNs) /
                                 static_cast<double>(longest);
            if (width <= 0) continue;
            fmt::format_to(
                std::back_inserter(out),
                "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"24\" fill=\"{}\" stroke=\"#555555\" "
                "stroke-width=\"0.5\"/>\n",
                left, y, width, part.fill);
            left += width;
        }
        const MemoryVerdict& memory = plan.tightest().memory;
        text(left + 8, y + 17, "start",
             fmt::format("{}{}", durationText(plan.stepNs), memory.fits() ? "" : ", does not fit"),
             " font-size=\"13\"");
    }
    fmt::format_to(std::back_inserter(out), "</svg>\n");
    return fmt::to_string(out);
}

}  // namespace shardscope::cli
