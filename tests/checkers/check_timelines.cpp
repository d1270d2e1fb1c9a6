// Replays the stream programs of a schedules.jsonl with the durations of a timelines.json through the event engine and
// compares every timeline exactly: makespan, busy time of the compute stream, exposed time, every listed operation.
//
//     check_timelines schedules.jsonl timelines.json
//
// Prints a line per timeline: equal, or differs (where). Exit status 1 if anything differs or is missing.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "core/base/document.h"
#include "tests/sim/stream_program.h"

namespace {

using namespace shardscope;

std::string contentOf(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: check_timelines schedules.jsonl timelines.json\n");
        return 2;
    }
    std::map<std::string, core::Document> programs;
    std::ifstream lines(argv[1]);
    for (std::string line; std::getline(lines, line);) {
        auto record = core::parseJson(line, argv[1]);
        if (!record) {
            std::fprintf(stderr, "%s\n", core::describe(record.error()).c_str());
            return 1;
        }
        const core::Document *id = record->find("id"), *program = record->find("stream_program");
        if (id != nullptr && program != nullptr) programs[id->text] = *program;
    }
    const auto timelines = core::parseJson(contentOf(argv[2]), argv[2]);
    if (!timelines) {
        std::fprintf(stderr, "%s\n", core::describe(timelines.error()).c_str());
        return 1;
    }
    const core::Document *list = timelines->find("timelines"), *sets = timelines->find("durations"),
                         *defaults = timelines->find("defaults");
    if (list == nullptr || sets == nullptr || defaults == nullptr) {
        std::fprintf(stderr, "%s: expected the keys timelines, durations and defaults\n", argv[2]);
        return 1;
    }
    std::size_t equal = 0, rows = 0;
    for (const core::Document& timeline : list->items) {
        const core::Document *name = timeline.find("case"), *set = timeline.find("durations");
        std::string difference = "no case or no durations named";
        if (name != nullptr && set != nullptr) {
            const auto program = programs.find(name->text);
            const core::Document* durations = sets->find(set->text);
            difference = program == programs.end() ? "no stream program of that name"
                         : durations == nullptr
                             ? "unknown durations"
                             : tests::replayDifference(timeline, program->second, *defaults, *durations);
            std::printf("%-28s %s  ", name->text.c_str(), set->text.c_str());
        }
        std::printf("%s\n", difference.empty() ? "equal" : ("differs: " + difference).c_str());
        if (!difference.empty()) continue;
        ++equal;
        if (const core::Document* ops = timeline.find("ops")) rows += ops->items.size();
    }
    std::printf("%zu of %zu timelines equal, %zu operations to the nanosecond\n", equal, list->items.size(), rows);
    return equal == list->items.size() && equal > 0 ? 0 : 1;
}
