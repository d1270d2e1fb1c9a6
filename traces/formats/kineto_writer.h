#pragma once

// A timeline as the Chrome trace JSON that PyTorch's profiler (Kineto) writes, which Perfetto, chrome://tracing and
// Holistic Trace Analysis read (trace formats C.1, C.2).
//
// - One process a rank (pid = rank), one thread a stream (tid = 1, 2, ... in the order of the rank's lanes); a span
//   that would overlap another one without nesting goes to a thread of its own, because viewers drop it otherwise.
// - Times are microseconds with three decimals, exactly the timeline's nanoseconds; `baseTimeNanoseconds` is 0.
// - Collectives and point-to-point are kernels whose name begins with `ncclDevKernel_`, by which tools recognise
//   communication; in place of NCCL's argument type they name the unit (or the span). The algorithm is left out: a
//   timeline does not know it. A span covers its wait, as NCCL's kernels do; args "waiting (us)" tells the two apart.
// - Copies on other streams than compute are `gpu_memcpy` named "Memcpy DtoD (Device -> Device)"; everything else on a
//   device is a kernel with its own name. Runs on CPUs keep these names, by which tools know them; their backend is
//   told.
// - Where `Spans::issued` is known, a `cudaLaunchKernel` of one nanosecond on the thread "host launches" stands at that
//   instant, tied to the span by `correlation` and an `ac2g` flow.
// - Counters: ph C, one track a category, in bytes. Flows: ph s and f with the reason as their name.
// - One `ProfilerStep#0` annotation a rank spans its step.
// Several plans in one file: the processes of each follow one another, named "plan: rank"; pids of plan k are shifted
// by k times a power of ten above every rank. HTA takes one rank of one plan a file: choose it with `onlyRank`.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "traces/formats/named_timeline.h"
#include "traces/formats/sink.h"

namespace shardscope::formats {

struct KinetoOptions {
    std::int64_t worldSize = 0;             ///< 0: the ranks of the timeline, classes counted with their multiplicity
    std::optional<std::uint32_t> onlyRank;  ///< index into Timeline::ranks
    bool launches = true;                   ///< the host's launches
    bool flows = true;
    std::string source = "shardscope";  ///< written as metadata "producer"
    std::string backend = "nccl";       ///< what moves the bytes, as torch.distributed calls it
    bool simulated = true;              ///< metadata, so that nobody takes a forecast for a measurement
    std::string attached;               ///< JSON that viewers pass over: the member "shardscope"; empty: none
};

/// Writes and leaves `finish` to the caller, who also learns of errors there.
void writeKineto(std::span<const NamedTimeline> plans, const KinetoOptions& options, Sink& sink);
void writeKineto(const timeline::Timeline& timeline, const KinetoOptions& options, Sink& sink);

}  // namespace shardscope::formats
