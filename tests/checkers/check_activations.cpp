// Holds recorded kernel lists, saved activations, formulas of them and peaks of PyTorch against the programs of our
// models.
//   check_activations FILE... [--left-out-at-most N]
// Prints a line a file: equal, differs (where), not expressible (which knob) or unreadable. Exit 1 if any differs or is
// unreadable, or more than N are not expressible.

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/checkers/support/outcome.h"
#include "tests/recorded_formulas.h"

using namespace shardscope;
using tests::Comparison;

int main(int argc, char** argv) {
    const auto arguments = checkers::argumentsOf(argc, argv, "check_activations");
    if (!arguments) return 2;
    std::map<Comparison::Verdict, int> counts;
    for (const std::string& path : arguments->files) {
        std::ostringstream bytes;
        bytes << std::ifstream(path, std::ios::binary).rdbuf();
        const auto file = core::parseJson(bytes.str(), path);
        Comparison result{Comparison::Verdict::Unreadable, {}};
        if (!file)
            result.lines.push_back(describe(file.error()));
        else if (tests::recorded::text(*file, "kind") == "formulas")
            result = tests::compareWithFormulas(*file);
        else
            result = tests::compareWithRecording(*file, path);
        ++counts[result.verdict];
        static constexpr const char* kWords[] = {"equal", "differs", "not expressible", "unreadable"};
        std::printf("%s: %s", path.c_str(), kWords[static_cast<int>(result.verdict)]);
        const bool oneLine = result.verdict != Comparison::Verdict::Differs;
        for (const std::string& line : result.lines) std::printf("%s%s", oneLine ? ": " : "\n    ", line.c_str());
        if (result.verdict == Comparison::Verdict::Equal && file->find("kind")->text == "peak")
            std::printf(" between the phases; the most in forward %+.1f %% (%+lld), in the step %+.1f %% (%+lld)",
                        100 * result.peak.forward, static_cast<long long>(result.peak.forwardBytes),
                        100 * result.peak.step, static_cast<long long>(result.peak.stepBytes));
        std::printf("\n");
    }
    using enum Comparison::Verdict;
    std::printf("%d equal, %d differ, %d not expressible, %d unreadable\n", counts[Equal], counts[Differs],
                counts[NotExpressible], counts[Unreadable]);
    return checkers::exitCode({counts[Equal], counts[Differs] + counts[Unreadable], counts[NotExpressible]},
                              *arguments);
}
