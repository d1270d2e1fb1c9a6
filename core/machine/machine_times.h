#pragma once

// How long one machine takes for what a rank does: what `shardscope calibrate` measures, and what the simulator prices
// a graph with that runs there. All times are seconds of the wall clock.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/model/program.h"

namespace shardscope::core {

/// A time that grows with bytes: calls x start + bytes x perByte.
struct TimeOfBytes {
    double start = 0, perByte = 0;
    [[nodiscard]] double of(double bytes, double calls = 1) const { return calls * start + bytes * perByte; }
    friend bool operator==(const TimeOfBytes&, const TimeOfBytes&) = default;
};

/// One measured pair for a TimeOfBytes.
struct BytesSample {
    double bytes = 0, seconds = 0;
};
/// The line with the least sum of squared relative errors; neither part is negative. No samples: all zero.
[[nodiscard]] TimeOfBytes fitTime(const std::vector<BytesSample>& samples);

/// With `busy` ranks at work at once, which share caches, memory bandwidth and clocks.
struct ComputeTimes {
    std::int64_t busy = 1;
    std::map<std::string, double> kernels;  ///< of one launch, by kernelSignature
    TimeOfBytes copy;                       ///< of bytes read and written: copies, casts, sums, divisions
    TimeOfBytes optimizer;                  ///< of bytes read and written, a call for each parameter
    friend bool operator==(const ComputeTimes&, const ComputeTimes&) = default;
};

/// Among `ranks` ranks that reach the call at the same time. Bytes as in the graph: the large side of a collective.
struct TransferTimes {
    std::int64_t ranks = 2;
    TimeOfBytes allGather, reduceScatter, allReduce, message;
    friend bool operator==(const TransferTimes&, const TransferTimes&) = default;
};

struct MachineTimes {
    std::string processor, device;  ///< "AMD EPYC 9654", "cpu"
    std::string transport;          ///< how ranks reached each other: "threads", "gloo"
    std::int64_t cores = 1;
    double linkBandwidth = 0, linkLatency = 0;  ///< of an artificial link, bytes/s and seconds; 0: none
    double issue = 0;                           ///< of the host, for one op of the graph
    std::vector<ComputeTimes> compute;          ///< by `busy`, ascending; at least one
    std::vector<TransferTimes> transfers;       ///< by `ranks`, ascending
    friend bool operator==(const MachineTimes&, const MachineTimes&) = default;
};

/// What a kernel's time depends on: "linear float32[544,128] float32[384,128] float32[384] > float32[544,384]"; strides
/// of operands that are not contiguous are named too.
[[nodiscard]] std::string kernelSignature(const Program& program, const Kernel& kernel);

[[nodiscard]] Document documentOf(const MachineTimes& times);
/// Errors name the place: another schema or version, members that are missing, unknown or of another kind, times that
/// are negative or not finite, lists that do not ascend.
[[nodiscard]] Result<MachineTimes> parseMachineTimes(const Document& document, const std::string& name);

}  // namespace shardscope::core
