// Any bytes are a run whose breakdown sums up and whose rows are described, or refused with a message.

#include <cstdint>
#include <cstdlib>

#include "cli/face/plan_rows.h"
#include "traces/formats/run_file.h"
#include "traces/timeline/breakdown.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace shardscope;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto run = formats::readRunFile(bytes, "run", 1 << 20);
    if (!run) {
        if (run.error().message.empty() || run.error().where.empty()) std::abort();
        return 0;
    }
    for (const timeline::Breakdown& one : timeline::breakdownOf(run->timeline))
        if (one.compute + one.transfer + one.copy + one.waiting + one.idle != one.step) std::abort();
    cli::PlanReport plan;
    plan.timeline = run->timeline;
    if (!cli::describeRows(plan, std::vector<cli::MemoryVerdict>(run->timeline.ranks.size()), 1, {})) std::abort();
    formats::StringSink sink;
    formats::writeRunFile(*run, "gloo", sink);
    if (!formats::readRunFile(sink.text(), "again")) std::abort();
    return 0;
}
