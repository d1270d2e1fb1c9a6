#include "cli/face/run_output.h"

#include <memory>
#include <utility>

#include "cli/face/output.h"
#include "traces/formats/csv_writer.h"
#include "traces/formats/picture.h"
#include "traces/formats/picture_style.h"
#include "traces/formats/sink.h"

namespace shardscope::cli {

core::Result<void> writeRun(const runtime::TrainReport& report, const std::string& planName, formats::RunFile run,
                            const std::string& path) {
    SHARDSCOPE_ASSIGN(const OutputKind kind, outputKindOf(path));
    if (kind == OutputKind::Trace || kind == OutputKind::TraceGzip) {
        std::unique_ptr<formats::Sink> sink = std::make_unique<formats::FileSink>(path);
        if (kind == OutputKind::TraceGzip) sink = std::make_unique<formats::GzipSink>(std::move(sink));
        run.timeline = report.timeline;
        formats::writeRunFile(run, report.clocks.empty() ? "threads" : "gloo", *sink);
        return sink->finish();
    }
    if (kind == OutputKind::Csv) {
        formats::FileSink sink(path);
        const formats::NamedTimeline plan{planName, &report.timeline};
        formats::writeCsv({&plan, 1}, sink);
        return sink.finish();
    }
    formats::Picture picture;
    picture.title = report.timeline.title;
    picture.text = formats::englishText();
    // Ranks of this machine's cores.
    picture.text.headline = picture.text.runHeadline;
    picture.text.headlineRange = picture.text.runHeadlineRange;
    picture.text.looks[static_cast<std::size_t>(formats::Look::Exposed)] = "a rank waits for a transfer";
    formats::Panel panel;
    panel.name = planName;
    panel.timeline = &report.timeline;
    panel.breakdown = report.breakdown;
    picture.panels.push_back(std::move(panel));
    return writePicture(path, kind, formats::svgOf(picture));
}

}  // namespace shardscope::cli
