#include "cli/face/output.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>

#include "cli/face/text_picture.h"
#include "traces/formats/csv_writer.h"
#include "traces/formats/kineto_writer.h"
#include "traces/formats/picture.h"
#include "traces/formats/render.h"
#include "traces/formats/sink.h"
#include "traces/formats/text.h"

namespace shardscope::cli {
namespace {

using core::ErrorCode;
using core::fail;
using core::Result;
using timeline::Timeline;

bool endsWith(const std::string& text, std::string_view end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// All plans in one timeline: the ranks of later plans get the numbers after those of earlier ones, and every rank's
/// name says its plan.
Timeline joined(const Report& report) {
    Timeline all;
    std::int64_t firstRank = 0;
    for (const PlanReport& plan : report.plans) {
        const Timeline& t = plan.timeline;
        const auto text = [&](timeline::StringId id) { return all.strings.intern(t.strings[id]); };
        const auto named = [&](timeline::StringId id) {
            return all.strings.intern(report.plans.size() > 1 ? plan.name + " " + t.strings[id] : t.strings[id]);
        };
        const auto ranks = static_cast<std::uint32_t>(all.ranks.size());
        const auto lanes = static_cast<std::uint32_t>(all.lanes.size());
        const auto spans = static_cast<std::uint32_t>(all.spans.size());
        const auto groups = static_cast<std::uint16_t>(all.groups.size());
        for (timeline::RankRow row : t.ranks) {
            row.rank += firstRank;
            row.name = named(row.name);
            row.laneBegin += lanes;
            row.laneEnd += lanes;
            all.ranks.push_back(row);
        }
        for (timeline::Lane lane : t.lanes) {
            lane.rank += firstRank;
            lane.rankName = named(lane.rankName);
            lane.stream = text(lane.stream);
            lane.rankIndex += ranks;
            all.lanes.push_back(lane);
        }
        for (const timeline::TransferGroup& group : t.groups) all.groups.push_back({text(group.name), group.size});
        for (std::size_t s = 0; s < t.spans.size(); ++s) {
            timeline::SpanRow row;
            row.lane = t.spans.lane[s] + lanes;
            row.start = t.spans.start[s];
            row.end = t.spans.end[s];
            row.transferStart = t.spans.transferStart[s];
            row.name = text(t.spans.name[s]);
            row.unit = text(t.spans.unit[s]);
            row.kind = static_cast<timeline::SpanKind>(t.spans.kind[s]);
            row.phase = static_cast<core::Phase>(t.spans.phase[s]);
            row.activity = static_cast<timeline::Activity>(t.spans.activity[s]);
            row.microBatch = t.spans.microBatch[s];
            row.op = t.spans.op[s];
            row.bytes = t.spans.bytes[s];
            row.dtype = t.spans.dtype[s];
            row.group = t.spans.group[s] == timeline::kNoGroup ? timeline::kNoGroup
                                                               : static_cast<std::uint16_t>(t.spans.group[s] + groups);
            row.issued = t.spans.issued[s];
            timeline::append(all, row);
        }
        for (timeline::Counter counter : t.counters) {
            counter.rankIndex += ranks;
            counter.name = text(counter.name);
            all.counters.push_back(std::move(counter));
        }
        for (const timeline::Flow& flow : t.flows)
            all.flows.push_back({flow.from + spans, flow.to + spans, flow.reason});
        firstRank += plan.ranks;
    }
    timeline::arrange(all);
    return all;
}

/// The spans of every plan, with the plan's name as the first column.
std::string csvOf(const Report& report) {
    std::string out;
    for (const PlanReport& plan : report.plans) {
        formats::StringSink sink;
        formats::writeCsv(plan.timeline, sink);
        fmt::memory_buffer name;
        formats::appendCsvField(name, plan.name);
        const std::string first = fmt::to_string(name) + ",";
        bool quoted = false, atStart = true, header = true;
        for (const char c : sink.text()) {
            if (header) {
                if (&plan == &report.plans.front()) out += atStart ? std::string("plan,") + c : std::string(1, c);
                atStart = false;
                if (c == '\n') header = false, atStart = true;
                continue;
            }
            if (atStart) out += first;
            atStart = false;
            out += c;
            if (c == '"') quoted = !quoted;
            if (c == '\n' && !quoted) atStart = true;
        }
    }
    return out;
}

/// Opens the file only once there is something to write.
Result<void> toFile(const std::string& path, bool gzip, const std::function<Result<void>(formats::Sink&)>& write) {
    std::unique_ptr<formats::Sink> sink = std::make_unique<formats::FileSink>(path);
    if (gzip) sink = std::make_unique<formats::GzipSink>(std::move(sink));
    SHARDSCOPE_TRY(write(*sink));
    return sink->finish();
}

}  // namespace

Result<OutputKind> outputKindOf(const std::string& path) {
    const std::pair<std::string_view, OutputKind> endings[] = {
        {".json.gz", OutputKind::TraceGzip}, {".json", OutputKind::Trace}, {".svg", OutputKind::Svg},
        {".png", OutputKind::Png},           {".pdf", OutputKind::Pdf},    {".csv", OutputKind::Csv}};
    for (const auto& [ending, kind] : endings)
        if (endsWith(path, ending)) return kind;
    return fail(ErrorCode::Usage, "this ending says nothing about the kind of file", "-o " + path,
                "known are: .svg, .png, .pdf, .json, .json.gz, .csv");
}

Result<void> checkOutputs(std::span<const std::string> paths) {
    for (const std::string& path : paths) {
        SHARDSCOPE_TRY(outputKindOf(path));
        std::error_code error;
        const std::filesystem::path folder = std::filesystem::path(path).parent_path();
        if (!folder.empty() && !std::filesystem::is_directory(folder, error))
            return fail(ErrorCode::Io, "there is no folder " + folder.string(), path, "make it first");
    }
    return {};
}

std::string pictureOf(const Report& report, const std::string& language) {
    formats::Picture picture;
    picture.title = !report.title.empty() ? report.title : report.modelName;
    picture.subtitle = fmt::format("{}, {}, {} {}s a step", report.modelName, report.cluster.name, report.globalBatch,
                                   report.sampleWord);
    picture.text = language == "ko" ? formats::koreanText() : formats::englishText();
    for (const PlanReport& plan : report.plans) {
        formats::Panel panel;
        panel.name = plan.name;
        panel.timeline = &plan.timeline;
        for (const ClassReport& one : plan.classes) panel.breakdown.push_back(one.times);
        const ClassReport& tightest = plan.tightest();
        const auto index = static_cast<std::uint32_t>(&tightest - plan.classes.data());
        panel.memory = formats::PanelMemory{index, tightest.memory.reserve.usable.value, ""};
        panel.captions.push_back(plan.what);
        picture.panels.push_back(std::move(panel));
    }
    return formats::svgOf(picture);
}

Result<void> writeOutput(const Report& report, const std::string& path, const std::string& language) {
    SHARDSCOPE_ASSIGN(const OutputKind kind, outputKindOf(path));
    switch (kind) {
        case OutputKind::Trace:
        case OutputKind::TraceGzip: {
            const Timeline all = joined(report);
            return toFile(path, kind == OutputKind::TraceGzip, [&](formats::Sink& sink) -> Result<void> {
                formats::writeKineto(all, {}, sink);
                return {};
            });
        }
        case OutputKind::Svg:
            return toFile(path, false, [&](formats::Sink& sink) -> Result<void> {
                sink.write(pictureOf(report, language));
                return {};
            });
        case OutputKind::Png:
            return toFile(path, false, [&](formats::Sink& sink) {
                return formats::renderPng(pictureOf(report, language), 2.0, sink);
            });
        case OutputKind::Pdf:
            return toFile(path, false,
                          [&](formats::Sink& sink) { return formats::renderPdf(pictureOf(report, language), sink); });
        case OutputKind::Csv:
            return toFile(path, false, [&](formats::Sink& sink) -> Result<void> {
                sink.write(csvOf(report));
                return {};
            });
    }
    return {};
}

}  // namespace shardscope::cli
