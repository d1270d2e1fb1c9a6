#pragma once

// How long one machine takes for what a rank does: what `shardscope calibrate` measures, and what the simulator prices
// a graph with that runs there. All times are seconds of the wall clock.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/machine/artificial_link.h"
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

/// A call of so many bytes among ranks that all reach it at the same time.
struct CallSample {
    double bytes = 0;
    double alone = 0;      ///< from the last member's arrival until a member goes on, with nothing beside it
    double busy = 0;       ///< the same while a thread of each rank computes
    double processor = 0;  ///< processor time of all threads that it takes, divided by the ranks
    friend bool operator==(const CallSample&, const CallSample&) = default;
};
struct CallTime {
    std::vector<CallSample> samples;  ///< by bytes, ascending
    /// Straight lines between the samples; below the first as long as that, beyond the last in proportion to the bytes.
    [[nodiscard]] CallSample at(double bytes) const;
    friend bool operator==(const CallTime&, const CallTime&) = default;
};

/// Among `ranks` ranks, without the artificial link. Bytes as in the graph: the large side of a collective.
struct TransferTimes {
    std::int64_t ranks = 2;
    CallTime allGather, reduceScatter, allReduce, message;
    friend bool operator==(const TransferTimes&, const TransferTimes&) = default;
};

/// What the host of a rank does around its ops, and how long threads sleep on.
struct HostTimes {
    double issueOp = 0;    ///< to issue an op of the graph, without
    double issueCall = 0;  ///< each of its calls of the device: kernels, copies of pieces
    double data = 0;       ///< to make the data of a micro-batch
    double begin = 0;      ///< from the step's begin until the first op is issued, beside that op
    double finish = 0;     ///< from the end of the last op until the step has ended
    double wake = 0;       ///< from an event until a stream that slept until then goes on
    double wakeBusy = 0;   ///< the same while a thread of each rank computes
    friend bool operator==(const HostTimes&, const HostTimes&) = default;
};

struct MachineTimes {
    std::string processor, device;  ///< "AMD EPYC 9654", "cpu"
    std::string transport;          ///< how ranks reached each other: "threads", "gloo"
    std::int64_t cores = 1;
    ArtificialLink link;  ///< between the ranks of the run that is to be priced
    HostTimes host;
    std::vector<ComputeTimes> compute;     ///< by `busy`, ascending; at least one
    std::vector<TransferTimes> transfers;  ///< by `ranks`, ascending
    friend bool operator==(const MachineTimes&, const MachineTimes&) = default;
};

/// The mean of each time, of the same measurements made one after another; not empty. Errors: not the same ones.
[[nodiscard]] Result<MachineTimes> meanOf(std::vector<MachineTimes> all);

/// What a kernel's time depends on: "linear float32[544,128] float32[384,128] float32[384] > float32[544,384]"; strides
/// of operands that are not contiguous are named too.
[[nodiscard]] std::string kernelSignature(const Program& program, const Kernel& kernel);

[[nodiscard]] Document documentOf(const MachineTimes& times);
/// Errors name the place: another schema or version, members that are missing, unknown or of another kind, times that
/// are negative or not finite, lists that do not ascend.
[[nodiscard]] Result<MachineTimes> parseMachineTimes(const Document& document, const std::string& name);

}  // namespace shardscope::core
