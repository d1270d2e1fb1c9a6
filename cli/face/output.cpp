#include "cli/face/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/face/files.h"
#include "cli/face/opened_run.h"
#include "cli/face/single_ranks.h"
#include "cli/face/words.h"
#include "traces/formats/csv_writer.h"
#include "traces/formats/kineto_writer.h"
#include "traces/formats/picture.h"
#include "traces/formats/render.h"
#include "traces/formats/sink.h"

namespace shardscope::cli {
namespace {

using core::ErrorCode;
using core::fail;
using core::Result;

/// A plan's timeline with each rank on its own where they are few.
class ShownPlans {
public:
    explicit ShownPlans(const Report& report) {
        for (const PlanReport& plan : report.plans) m_single.push_back(rankByRank(plan.timeline));
    }
    [[nodiscard]] const timeline::Timeline& timelineOf(const Report& report, std::size_t plan) const {
        return m_single[plan].of.empty() ? report.plans[plan].timeline : m_single[plan].timeline;
    }
    /// Row of the report's classes that a row shows.
    [[nodiscard]] std::size_t classOf(std::size_t plan, std::size_t row) const {
        return m_single[plan].of.empty() ? row : m_single[plan].of[row];
    }

private:
    std::vector<SingleRanks> m_single;
};

/// A run that was opened: its ranks are no GPUs of the cluster. The window may call its plans otherwise.
bool isOfRun(const Report& report) {
    return !report.plans.empty() && report.plans.front().timeline.title == kMeasured;
}

formats::Picture pictureOf(const Report& report, const ShownPlans& shown, const std::string& language) {
    formats::Picture picture;
    picture.title = !report.title.empty() ? report.title : report.modelName;
    picture.text = language == "ko" ? formats::koreanText() : formats::englishText();
    const bool ofRun = isOfRun(report);
    picture.subtitle = ofRun ? report.modelName : setupInWords(report, language);
    if (ofRun) {
        picture.text.headline = picture.text.runHeadline;
        picture.text.headlineRange = picture.text.runHeadlineRange;
    }
    for (std::size_t p = 0; p < report.plans.size(); ++p) {
        const PlanReport& plan = report.plans[p];
        formats::Panel panel;
        panel.name = plan.name;
        panel.timeline = &shown.timelineOf(report, p);
        const ClassReport& tightest = plan.tightest();
        for (std::uint32_t row = 0; row < panel.timeline->ranks.size(); ++row) {
            const ClassReport& one = plan.classes[shown.classOf(p, row)];
            panel.breakdown.push_back(one.times);
            if (&one == &tightest && !panel.memory && !panel.timeline->counters.empty())
                panel.memory = formats::PanelMemory{row, tightest.memory.reserve.usable.value, ""};
        }
        if (plan.graph || !ofRun) panel.captions.push_back(planInWords(plan.setup, language));
        if (p + 1 == report.plans.size())
            for (const std::string& caveat : report.caveats) panel.captions.push_back(caveatInWords(caveat, language));
        picture.panels.push_back(std::move(panel));
    }
    return picture;
}

tl::unexpected<core::Error> refuseStandardOutput(const std::string& path) {
    return fail(ErrorCode::Usage, "standard output shows the tables; no file is written to it", "-o " + path,
                "name a file, or print the report with --json");
}

/// Whether `path`, through all links, is what standard output goes to.
bool isStandardOutput(const std::string& path) {
    struct stat named {
    }, standard{};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &standard) == 0 &&
           named.st_dev == standard.st_dev && named.st_ino == standard.st_ino;
}

bool sameFile(const std::string& one, const std::string& other) {
    std::error_code error;
    if (std::filesystem::equivalent(one, other, error)) return true;
    const auto a = std::filesystem::weakly_canonical(std::filesystem::absolute(one, error), error);
    const auto b = std::filesystem::weakly_canonical(std::filesystem::absolute(other, error), error);
    return !a.empty() && a == b;
}

}  // namespace

Result<OutputKind> outputKindOf(const std::string& path) {
    const std::pair<std::string_view, OutputKind> endings[] = {
        {".json.gz", OutputKind::TraceGzip}, {".json", OutputKind::Trace}, {".svg", OutputKind::Svg},
        {".png", OutputKind::Png},           {".pdf", OutputKind::Pdf},    {".csv", OutputKind::Csv}};
    for (const auto& [ending, kind] : endings)
        if (hasEnding(path, ending)) return kind;
    if (path == "-" || path == "/dev/stdout" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/"))
        return refuseStandardOutput(path);
    return fail(ErrorCode::Usage, "this ending says nothing about the kind of file", "-o " + path,
                "known are: .svg, .png, .pdf, .json, .json.gz, .csv");
}

Result<void> checkOutputs(std::span<const std::string> paths) {
    for (const std::string& path : paths) {
        SHARDSCOPE_TRY(outputKindOf(path));
        if (isStandardOutput(path)) return refuseStandardOutput(path);
        std::error_code error;
        const std::filesystem::path folder = std::filesystem::path(path).parent_path();
        if (!folder.empty() && !std::filesystem::is_directory(folder, error))
            return fail(ErrorCode::Io, "there is no folder " + folder.string(), path, "make it first");
        // A file is written beside its target first; what is no file (a pipe) is written as it is.
        const bool direct = std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
        if (!direct && ::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
            return fail(ErrorCode::Io, "its folder cannot be written", path, "name a file in a folder that can be");
    }
    return {};
}

Result<void> checkLog(const std::string& log, std::span<const std::string> outputs,
                      std::span<const std::string> inputs) {
    if (log.empty()) return {};
    const std::string where = "--log-json " + log;
    if (log == "-" || log == "/dev/stdout" || isStandardOutput(log))
        return fail(ErrorCode::Usage, "standard output shows the tables; no log is written to it", where,
                    "name a file, or a pipe that something reads");
    for (const std::string& path : outputs)
        if (sameFile(log, path))
            return fail(ErrorCode::Usage, "the same file twice, here and with -o " + path, where, "name two files");
    for (const std::string& path : inputs)
        if (!path.empty() && sameFile(log, path))
            return fail(ErrorCode::Usage, "the same file twice: the run reads " + path, where, "name another file");
    return {};
}

std::string pictureOf(const Report& report, const std::string& language) {
    return formats::svgOf(pictureOf(report, ShownPlans(report), language));
}

Result<void> writeOutput(const Report& report, const std::string& path, const std::string& language) {
    SHARDSCOPE_ASSIGN(const OutputKind kind, outputKindOf(path));
    const ShownPlans shown(report);
    std::vector<formats::NamedTimeline> plans;
    for (std::size_t p = 0; p < report.plans.size(); ++p)
        plans.push_back({report.plans[p].name, &shown.timelineOf(report, p)});
    if (kind == OutputKind::Trace || kind == OutputKind::TraceGzip) {
        std::unique_ptr<formats::Sink> sink = std::make_unique<formats::FileSink>(path);
        if (kind == OutputKind::TraceGzip) sink = std::make_unique<formats::GzipSink>(std::move(sink));
        formats::writeKineto(plans, {}, *sink);
        return sink->finish();
    }
    if (kind != OutputKind::Csv) return writePicture(path, kind, formats::svgOf(pictureOf(report, shown, language)));
    formats::FileSink sink(path);
    formats::writeCsv(plans, sink);
    return sink.finish();
}

Result<void> writePicture(const std::string& path, OutputKind kind, const std::string& svg) {
    formats::FileSink sink(path);
    if (kind == OutputKind::Svg) sink.write(svg);
    if (kind == OutputKind::Png) SHARDSCOPE_TRY(formats::renderPng(svg, 2.0, sink));
    if (kind == OutputKind::Pdf) SHARDSCOPE_TRY(formats::renderPdf(svg, sink));
    return sink.finish();
}

}  // namespace shardscope::cli
