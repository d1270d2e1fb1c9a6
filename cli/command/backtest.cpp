// backtest: published measurements, replayed.

#include "cli/face/backtest.h"
#include "cli/command/command.h"
#include "cli/face/files.h"
#include "cli/face/output.h"
#include "traces/formats/sink.h"

namespace shardscope::cli {
namespace {

using core::ErrorCode;
using core::fail;
using core::Result;

Result<void> checkKinds(const std::vector<std::string>& paths) {
    SHARDSCOPE_TRY(checkOutputs(paths));
    for (const std::string& path : paths) {
        SHARDSCOPE_ASSIGN(const OutputKind kind, outputKindOf(path));
        if (kind == OutputKind::Trace || kind == OutputKind::TraceGzip)
            return fail(ErrorCode::Usage, "a back-test has no trace", "-o " + path,
                        "use .csv, .svg, .png or .pdf, or --json for the tables");
    }
    return {};
}

Result<void> write(const std::vector<Backtest>& backtests, const std::string& path) {
    SHARDSCOPE_ASSIGN(const OutputKind kind, outputKindOf(path));
    if (kind != OutputKind::Csv) return writePicture(path, kind, scatterSvg(backtests));
    formats::FileSink sink(path);
    sink.write(backtestCsv(backtests));
    return sink.finish();
}

}  // namespace

Result<void> runBacktest(const Arguments& arguments, const TextStyle&) {
    struct Input {
        const std::vector<std::string>* files;
        Result<Backtest> (*replay)(const CsvTable&, const core::Work&);
    };
    const Input inputs[] = {{&arguments.runs, replayRuns},
                            {&arguments.collectives, replayCollectives},
                            {&arguments.gemm, replayGemm},
                            {&arguments.attention, replayAttention}};
    if (arguments.json && arguments.csv)
        return fail(ErrorCode::Usage, "--json and --csv cannot both be printed", "", "keep one of the two");
    SHARDSCOPE_TRY(checkKinds(arguments.outputs));
    std::vector<Backtest> backtests;
    for (const Input& input : inputs) {
        for (const std::string& file : *input.files) {
            SHARDSCOPE_ASSIGN(const std::string bytes, readFile(file));
            SHARDSCOPE_ASSIGN(const CsvTable table, parseCsv(bytes, file));
            SHARDSCOPE_ASSIGN(Backtest backtest, input.replay(table, {}));
            backtests.push_back(std::move(backtest));
        }
    }
    if (backtests.empty())
        return fail(ErrorCode::Usage, "no measurements are named", "backtest",
                    "name a file: --runs, --collectives, --gemm or --attention FILE.csv");
    for (const std::string& path : arguments.outputs) SHARDSCOPE_TRY(write(backtests, path));
    if (arguments.json) return print(core::writeJson(backtestDocument(backtests)) + "\n");
    if (arguments.csv) return print(backtestCsv(backtests));
    std::string text;
    for (const Backtest& backtest : backtests) text += (text.empty() ? "" : "\n") + backtestText(backtest);
    return print(text);
}

}  // namespace shardscope::cli
