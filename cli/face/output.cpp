#include "cli/face/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "cli/face/join_timelines.h"
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

/// All plans in one timeline, every rank's name saying its plan.
Timeline joined(const Report& report) {
    std::vector<JoinedPart> parts;
    for (const PlanReport& plan : report.plans)
        parts.push_back({&plan.timeline, report.plans.size() > 1 ? plan.name + " " : ""});
    return joinTimelines(parts, kRanksShownSingly);
}

/// The spans of every plan, with the plan's name as the first column.
void writeTable(const Report& report, formats::Sink& sink) {
    std::vector<formats::NamedTimeline> plans;
    for (const PlanReport& plan : report.plans) plans.push_back({plan.name, &plan.timeline});
    formats::writeCsv(plans, sink);
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
    std::vector<SingleRanks> single(report.plans.size());
    for (std::size_t p = 0; p < report.plans.size(); ++p) {
        const PlanReport& plan = report.plans[p];
        single[p] = rankByRank(plan.timeline);
        const std::vector<std::uint32_t>& of = single[p].of;
        formats::Panel panel;
        panel.name = plan.name;
        panel.timeline = of.empty() ? &plan.timeline : &single[p].timeline;
        for (std::size_t row = 0; row < panel.timeline->ranks.size(); ++row)
            panel.breakdown.push_back(plan.classes[of.empty() ? row : of[row]].times);
        const ClassReport& tightest = plan.tightest();
        const auto index = static_cast<std::uint32_t>(&tightest - plan.classes.data());
        const auto shown =
            of.empty() ? index : static_cast<std::uint32_t>(std::find(of.begin(), of.end(), index) - of.begin());
        panel.memory = formats::PanelMemory{shown, tightest.memory.reserve.usable.value, ""};
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
                writeTable(report, sink);
                return {};
            });
    }
    return {};
}

}  // namespace shardscope::cli
