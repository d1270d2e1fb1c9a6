#include "traces/formats/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "traces/formats/csv_writer.h"
#include "traces/formats/render.h"

namespace shardscope::formats {

core::Result<OutputFormat> outputFormatOf(std::string_view path) {
    struct Ending {
        std::string_view text;
        OutputFormat format;
    };
    static constexpr std::array<Ending, 6> kEndings = {{{".json.gz", OutputFormat::KinetoGzip},
                                                        {".json", OutputFormat::Kineto},
                                                        {".csv", OutputFormat::Csv},
                                                        {".svg", OutputFormat::Svg},
                                                        {".png", OutputFormat::Png},
                                                        {".pdf", OutputFormat::Pdf}}};
    std::string lower(path);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const Ending& ending : kEndings) {
        if (lower.ends_with(ending.text)) return ending.format;
    }
    return core::fail(core::ErrorCode::Usage,
                      "the ending of the output file names no format; expected .json or .json.gz (Chrome trace), .csv "
                      "(table), .svg, .png or .pdf (picture)",
                      std::string(path), "add one of these endings");
}

core::Result<void> writeOutput(const std::string& path, std::span<const NamedTimeline> plans, const Picture& picture,
                               const KinetoOptions& options) {
    SHARDSCOPE_ASSIGN(const OutputFormat format, outputFormatOf(path));
    std::unique_ptr<Sink> sink = std::make_unique<FileSink>(path);
    if (format == OutputFormat::KinetoGzip) sink = std::make_unique<GzipSink>(std::move(sink));
    constexpr double kPngScale = 2;  // sharp on a projector and in print
    switch (format) {
        case OutputFormat::Kineto:
        case OutputFormat::KinetoGzip: writeKineto(plans, options, *sink); break;
        case OutputFormat::Csv: writeCsv(plans, *sink); break;
        case OutputFormat::Svg: writeSvg(picture, *sink); break;
        case OutputFormat::Png: SHARDSCOPE_TRY(renderPng(svgOf(picture), kPngScale, *sink)); break;
        case OutputFormat::Pdf: SHARDSCOPE_TRY(renderPdf(svgOf(picture), *sink)); break;
    }
    return sink->finish();
}

}  // namespace shardscope::formats
