#pragma once

// The commands of the program: one table for --help, the completion scripts and docs/cli.md, and one function each.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/face/text_style.h"
#include "core/base/document.h"
#include "core/base/result.h"

namespace shardscope::cli {

/// What the user wrote; each command looks at its own part.
struct Arguments {
    std::string program;                                          ///< path of the running program
    std::vector<std::string> words;                               ///< all that was written, the program's name first
    std::string input;                                            ///< a scenario, or a model in its place
    std::vector<std::string> set;                                 ///< "section.key=value"
    std::vector<std::string> outputs;                             ///< -o
    std::string strategies;                                       ///< "naive,fsdp"; empty: the command's default
    std::int64_t naiveMicroBatch = 0;                             ///< 0: not given
    std::string over;                                             ///< sweep: "section.key=v1,v2"
    std::string device = "cpu";                                   ///< run
    std::int64_t ranks = 0, steps = 0;                            ///< run; 0: as the scenario says, one pass
    std::int64_t testImages = -1;                                 ///< run; -1: not given
    std::string schedule;                                         ///< run: "constant", "cosine"; empty: not given
    std::string logJson;                                          ///< run: a file; empty: none
    std::string data;                                             ///< run: IDX files; empty: generated images
    bool noSetEpoch = false;                                      ///< run
    std::string ranksAs;                                          ///< run: "threads", "processes"; empty: as usual
    std::string rendezvous;                                       ///< run: HOST:PORT; empty: any port
    std::int64_t rank = -1;                                       ///< run: join as this rank; negative: all ranks
    std::int64_t joinTimeout = 0, timeout = 0;                    ///< run: seconds; 0: not given
    double linkBandwidth = 0, linkLatency = 0;                    ///< run: GB/s (0: no limit), microseconds
    bool compare = false;                                         ///< run: beside a prediction
    std::string machine;                                          ///< run: a file of calibrate's
    std::vector<std::string> runs, collectives, gemm, attention;  ///< backtest: files of measurements
    bool json = false, csv = false, explain = false, dot = false, describe = false;
    bool whyMemory = false, whyIdle = false;  ///< simulate
    std::string language = "en";              ///< of pictures
    std::string word;                         ///< completion: the shell; docs: the page; models, clusters: a name
};

struct Option {
    std::string_view names;    ///< "-o,--output"
    std::string_view operand;  ///< "FILE"; empty for a flag
    std::string_view what;
    std::string_view values;  ///< space-separated values that a shell may offer; "@file": files; empty: nothing
};

struct Command {
    std::string_view name;
    std::string_view summary;
    std::string_view operand;  ///< "SCENARIO", "[NAME]" or empty
    std::string_view operandWhat;
    std::vector<std::string_view> options;  ///< first names of rows of optionTable()
    std::string_view example;  ///< without the program's name; it works as it stands in the repository's root
    core::Result<void> (*run)(const Arguments&, const TextStyle&);
};

[[nodiscard]] const std::vector<Option>& optionTable();
[[nodiscard]] const std::vector<Command>& commandTable();

[[nodiscard]] core::Result<void> runCompare(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runSimulate(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runSweep(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runGraph(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runTraining(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runCalibrate(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runBacktest(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runModels(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runClusters(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runDoctor(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runDocs(const Arguments& arguments, const TextStyle& style);
[[nodiscard]] core::Result<void> runCompletion(const Arguments& arguments, const TextStyle& style);

/// Writes to standard output, the control characters of `text` spelled out; an Io error if that is closed or full.
[[nodiscard]] core::Result<void> print(std::string_view text);
/// The same for a text that has colours of its own (textPicture's): as it is.
[[nodiscard]] core::Result<void> printColoured(std::string_view text);

/// Texts as a JSON list.
[[nodiscard]] core::Document listOf(const std::vector<std::string>& texts);

/// What standard error says about `error`, a line or more; a fault of this program is called one, and what to report.
/// Nothing about an error without a message: it was told when it happened.
[[nodiscard]] std::string complaintOf(const core::Error& error);
/// 1 a fault of this program, 2 usage, 3 input, 4 io, 5 unsupported, 130 interrupted (docs/cli.md).
[[nodiscard]] int exitCodeOf(core::ErrorCode code);

/// A script that teaches "bash", "zsh" or "fish" the command table. Errors: another shell.
[[nodiscard]] core::Result<std::string> completionScript(std::string_view shell);
/// docs/cli.md, from the command table.
[[nodiscard]] std::string cliReference();

}  // namespace shardscope::cli
