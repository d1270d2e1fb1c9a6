#include "cli/command/command.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/base/printable.h"

namespace shardscope::cli {

// clang-format off
const std::vector<Option>& optionTable() {
    static const std::vector<Option> kOptions{
        {"--set", "KEY=VALUE", "Set a key of the scenario (docs/scenario.md); may be repeated.", "@key"},
        {"--strategy", "WORDS", "single, naive, ddp or fsdp; only the commands compare and sweep take several, separated by commas.", "single naive ddp fsdp naive,fsdp ddp,fsdp single,naive,ddp,fsdp"},
        {"--naive-micro-batch", "N", "Samples that naive placement passes through its stages at a time.", ""},
        {"-o,--output", "FILE", "Write a file of the kind that its ending names: .svg, .png, .pdf (picture), .json, .json.gz "
                                "(trace for Perfetto), .csv (spans, or rows of a sweep or back-test); may be repeated. calibrate writes its times, as .json.", "@file"},
        {"--json", "", "Print the report as JSON instead of tables.", ""},
        {"--explain", "", "Add mesh, units, dtypes, memory at the peak and the PyTorch calls that do the same.", ""},
        {"--why-memory", "", "Say why the fullest GPU needs its memory: when, for what, and which settings would take it down.", ""},
        {"--why-idle", "", "Say why GPUs do not compute: causes, the longest waits, and what was late before each.", ""},
        {"--describe", "", "Draw the links, with every figure that the cost model uses and its source.", ""},
        {"--over", "KEY=V1,V2", "The knob to turn and its values.", "@key"},
        {"--dot", "", "Print the graph for Graphviz.", ""},
        {"--language", "LANG", "Language of pictures.", "en ko"},
        {"--device", "NAME", "What executes: cpu (oneDNN) or reference (plain loops, the oracle).", "cpu reference"},
        {"--ranks", "N", "Ranks, 1 to 64, in place of the scenario's sizes; degrees that --set gives must make as many. Left out: as many as the "
                          "scenario says, or 4.", ""},
        {"--ranks-as", "WORD", "What a rank is: a process (transport: Gloo over TCP) or a thread of one process. Left out: processes, "
                               "and threads for the reference device.", "processes threads"},
        {"--rendezvous", "HOST:PORT", "Where ranks meet. Left out: a free port of this machine.", ""},
        {"--rank", "R", "Run this rank alone and meet the others, started by hand, at --rendezvous; rank 0 serves there.", ""},
        {"--join-timeout", "SECONDS", "How long a rank waits for all others to join (180).", ""},
        {"--timeout", "SECONDS", "How long a call waits for the other ranks (1800).", ""},
        {"--runs", "FILE", "Training runs that were measured, as CSV (columns below); may be repeated.", "@file"},
        {"--collectives", "FILE", "Collectives that were measured, as CSV; may be repeated.", "@file"},
        {"--gemm", "FILE", "Matrix products that were measured, as CSV; may be repeated.", "@file"},
        {"--attention", "FILE", "Attention kernels that were measured, as CSV; may be repeated.", "@file"},
        {"--csv", "", "Print a line a row of the measurements: measured, predicted, ln(predicted / measured), or why not.", ""},
        {"--data", "PATH", "Images to train on: a folder with the IDX files of MNIST or Fashion-MNIST, or such a file of images, plain or "
                           ".gz. Left out: generated grey shapes.", "@file"},
        {"--no-set-epoch", "", "Leave out the call that tells the sampler each epoch: every epoch has the order of the first.", ""},
        {"--link-bandwidth", "GB/S", "Slow down every transfer to this many gigabytes a second on the wire (ring bytes of a collective), "
                                     "so that overlap shows on one machine; --device cpu only.", ""},
        {"--link-latency", "US", "Microseconds that every transfer takes beside that; --device cpu only.", ""},
        {"--compare", "", "Predict the step with this machine's measured times, and print it beside what was measured.", ""},
        {"--machine", "FILE", "Times of `shardscope calibrate -o FILE` for --compare. Left out: measured before and after the run, with --rendezvous only after it.", "@file"},
        {"--steps", "N", "Steps. Left out: one pass over the images, or 5 steps where that would take more than ten minutes.", ""},
        {"--test-images", "N", "Ask the trained model about N images that it was not trained on: generated ones, or t10k-images of --data. "
                               "Left out: 2,000 after a whole pass, none with --steps.", ""},
        {"--lr-schedule", "NAME", "Learning rate: constant, or cosine (up over the first sixteenth of the steps, down to 0 over the others). "
                                  "Left out: cosine for a whole pass, constant with --steps.", "constant cosine"},
        {"--log-json", "FILE", "Write one JSON object a line and step while it runs: step, loss, step_ns, samples_per_second (of that step), "
                               "waiting_ns (of all ranks), peak_bytes (of the fullest).", "@file"},
    };
    return kOptions;
}

const std::vector<Command>& commandTable() {
    static constexpr std::string_view kScenario =
        "A scenario file, or a model in its place: a built-in name, a Hugging Face folder, a config.json, a .safetensors "
        "file, a module-tree file.";
    static const std::vector<Command> kCommands{
        {"compare", "Two or more strategies side by side: times, memory, where the time goes, who works when.", "SCENARIO", kScenario,
         {"--set", "--strategy", "--naive-micro-batch", "-o,--output", "--language", "--json"},
         "compare examples/lecture.toml -o lecture.svg", runCompare},
        {"simulate", "One strategy in detail.", "SCENARIO", kScenario,
         {"--set", "--strategy", "--explain", "--why-memory", "--why-idle", "-o,--output", "--language", "--json"},
         "simulate examples/lecture.toml --explain", runSimulate},
        {"sweep", "One knob over values, each point a full simulation.", "SCENARIO", kScenario,
         {"--over", "--set", "--strategy", "-o,--output", "--json"},
         "sweep llama-3.2-1b --over parallelism.data_parallel_shard_degree=1,2,4,8", runSweep},
        {"graph", "The graph of one step: operations, what each waits for and why.", "SCENARIO", kScenario,
         {"--set", "--strategy", "--dot", "--json"},
         "graph vit_tiny --set parallelism.data_parallel_shard_degree=2 --dot", runGraph},
        {"run", "Train the model for real, by walking the same graph; in float32 unless the scenario gives other dtypes.", "[SCENARIO]", kScenario,
         {"--device", "--ranks", "--strategy", "--steps", "--test-images", "--lr-schedule", "--data", "--no-set-epoch",
          "--link-bandwidth", "--link-latency", "--ranks-as", "--rendezvous", "--rank", "--join-timeout", "--timeout",
          "--compare", "--machine", "--set", "-o,--output", "--log-json", "--json"},
         "run --ranks 4 --strategy fsdp --steps 5", runTraining},
        {"calibrate", "Measure how long this machine takes for a model's kernels and for transfers between ranks.", "[SCENARIO]",
         kScenario,
         {"--device", "--ranks", "--strategy", "--link-bandwidth", "--link-latency", "--ranks-as", "--set", "-o,--output", "--json"},
         "calibrate vit_tiny --ranks 2 --strategy fsdp", runCalibrate},
        {"backtest", "Published measurements beside what the simulator says of them.", "", "",
         {"--runs", "--collectives", "--gemm", "--attention", "-o,--output", "--json", "--csv"},
         "backtest --collectives examples/measured/all_reduce_8xa100.csv", runBacktest},
        {"models", "The built-in models, or one of them in detail.", "[NAME]", "A built-in model, or a file or folder.", {"--json"},
         "models llama-3.1-8b", runModels},
        {"clusters", "The built-in GPUs and nodes, or one of them with the sources of its figures.", "[NAME]",
         "A GPU or node preset.", {"--describe", "--json"}, "clusters --describe dgx-h100", runClusters},
        {"doctor", "What this build and this machine can do.", "", "", {"--json"}, "doctor", runDoctor},
        {"docs", "Print a reference page: scenario or cli.", "PAGE", "scenario or cli.", {}, "docs scenario", runDocs},
        {"completion", "Print a completion script for bash, zsh or fish.", "SHELL", "bash, zsh or fish.", {}, "completion bash",
         runCompletion},
    };
    return kCommands;
}
// clang-format on

core::Result<void> print(std::string_view text) {
    return printColoured(core::printableLines(text));
}

core::Result<void> printColoured(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        return core::fail(core::ErrorCode::Io,
                          "cannot write: " + std::error_code(errno, std::generic_category()).message(),
                          "standard output", "free some space, or keep what reads it open");
    return {};
}

core::Document listOf(const std::vector<std::string>& texts) {
    core::Document list = core::Document::list();
    for (const std::string& text : texts) list.items.push_back(core::Document::of(text));
    return list;
}

std::string complaintOf(const core::Error& error) {
    if (error.message.empty()) return "";
    if (error.code != core::ErrorCode::Internal) return "shardscope: " + core::describe(error) + "\n";
    return "shardscope: a fault of this program: " + core::describe(error) +
           "\n  please report it, with the command, the files that it names and what `shardscope doctor` prints\n";
}

int exitCodeOf(core::ErrorCode code) {
    switch (code) {
        case core::ErrorCode::Usage: return 2;
        case core::ErrorCode::Input: return 3;
        case core::ErrorCode::Io: return 4;
        case core::ErrorCode::Unsupported: return 5;
        case core::ErrorCode::Cancelled: return 130;
        case core::ErrorCode::Internal: return 1;
    }
    return 1;
}

}  // namespace shardscope::cli
