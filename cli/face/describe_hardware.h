#pragma once

// A GPU or node preset with every figure that the cost model takes from it, where each comes from, and a drawing of
// what is linked to what.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/cluster/cluster.h"

namespace shardscope::cli {

/// One figure of a preset.
struct HardwareFigure {
    std::string name;  ///< "memory bandwidth"
    std::string text;  ///< "3350 GB/s"
    core::Sourced value;
};

/// Known ones only.
[[nodiscard]] std::vector<HardwareFigure> figuresOf(const core::Gpu& gpu);
[[nodiscard]] std::vector<HardwareFigure> figuresOf(const core::Node& node);
[[nodiscard]] std::string figureTable(const std::vector<HardwareFigure>& figures);
/// `schema` "shardscope.<kind>", `version` 1.
[[nodiscard]] core::Document figureDocument(const std::string& kind, const std::string& name,
                                            const std::vector<HardwareFigure>& figures);

/// What a group of ranks has for its collectives at large sizes (sim/price/collective_price.h).
struct GroupRate {
    std::string group;  ///< "8 GPUs of a node", "one GPU of each of 2 nodes"
    std::int64_t ranks = 0, nodes = 0;
    double bus = 0;     ///< bytes/s: payload x (n-1)/n over the time; twice that for an all-reduce
    double offset = 0;  ///< seconds beyond NCCL's own constants
};

struct HardwareDescription {
    std::string kind;  ///< "gpu", "node"
    std::string name, title;
    std::vector<std::string> drawing;
    std::vector<HardwareFigure> figures;    ///< of the preset
    std::vector<HardwareFigure> constants;  ///< what measured constants make of them, node only
    std::vector<GroupRate> groups;          ///< node only
    std::string notes;
};

/// Errors: no preset of that name; the nearest one is offered.
[[nodiscard]] core::Result<HardwareDescription> describeHardware(const std::string& name);

[[nodiscard]] std::string hardwareText(const HardwareDescription& description);
[[nodiscard]] core::Document hardwareDocument(const HardwareDescription& description);

}  // namespace shardscope::cli
