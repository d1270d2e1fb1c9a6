#include "core/graph/step_graph.h"

#include <fmt/format.h>

namespace shardscope::core {

std::string_view nameOf(StreamKind kind) {
    switch (kind) {
        case StreamKind::Compute: return "compute";
        case StreamKind::AllGatherCopyIn: return "all_gather_copy_in";
        case StreamKind::AllGather: return "all_gather";
        case StreamKind::ReduceScatter: return "reduce_scatter";
        case StreamKind::AllReduce: return "all_reduce";
        case StreamKind::PointToPoint: return "p2p";
        case StreamKind::Host: return "host";
    }
    return "?";
}

std::string_view nameOf(OpKind kind) {
    switch (kind) {
        case OpKind::Compute: return "compute";
        case OpKind::GatherCopyIn: return "all-gather copy-in";
        case OpKind::AllGather: return "all-gather";
        case OpKind::CopyOut: return "all-gather copy-out";
        case OpKind::KeepSlice: return "keep slice";
        case OpKind::ReduceCopyIn: return "reduce-scatter copy-in";
        case OpKind::PreDivide: return "pre-divide";
        case OpKind::ReduceScatter: return "reduce-scatter";
        case OpKind::PostDivide: return "post-divide";
        case OpKind::AddPartial: return "add partial sum";
        case OpKind::KeepGradients: return "keep gradients";
        case OpKind::ReduceCopyOut: return "reduce-scatter copy-out";
        case OpKind::BucketCopyIn: return "bucket copy-in";
        case OpKind::AllReduce: return "all-reduce";
        case OpKind::BucketCopyOut: return "bucket copy-out";
        case OpKind::Send: return "send";
        case OpKind::Receive: return "receive";
        case OpKind::AddGradient: return "add gradient";
        case OpKind::CastParameters: return "cast parameters";
        case OpKind::OptimizerStep: return "optimizer step";
        case OpKind::CopyToDevice: return "copy to device";
        case OpKind::CopyToHost: return "copy to host";
        case OpKind::GradientNorm: return "gradient norm";
        case OpKind::ScaleGradients: return "scale gradients";
    }
    return "?";
}

std::string_view nameOf(Phase phase) {
    switch (phase) {
        case Phase::Forward: return "forward";
        case Phase::Loss: return "loss";
        case Phase::Backward: return "backward";
        case Phase::Recompute: return "recompute";
        case Phase::Reduction: return "reduction";
        case Phase::Optimizer: return "optimizer";
    }
    return "?";
}

std::string_view nameOf(EdgeReason reason) {
    switch (reason) {
        case EdgeReason::Data: return "data";
        case EdgeReason::StreamOrder: return "stream order";
        case EdgeReason::EventWait: return "event wait";
        case EdgeReason::MemoryLimit: return "memory limit";
        case EdgeReason::Communicator: return "communicator";
    }
    return "?";
}

std::string_view nameOf(MemoryCategory category) {
    switch (category) {
        case MemoryCategory::ShardedParameters: return "sharded parameters";
        case MemoryCategory::UnshardedParameters: return "unsharded parameters";
        case MemoryCategory::ShardedGradients: return "sharded gradients";
        case MemoryCategory::UnshardedGradients: return "unsharded gradients";
        case MemoryCategory::GatherBuffers: return "gather buffers";
        case MemoryCategory::ReduceBuffers: return "reduce buffers";
        case MemoryCategory::OptimizerState: return "optimizer state";
        case MemoryCategory::Activations: return "activations";
        case MemoryCategory::Workspace: return "workspace";
    }
    return "?";
}

std::string labelOf(const StepGraph& graph, const Model& model, OpId id) {
    const Op& op = graph.ops[id.index()];
    if (op.kind == OpKind::Compute && op.kernels.layer.valid()) {
        const std::string& layer = model.layers[op.kernels.layer.index()].name;
        return fmt::format("{} {}",
                           op.phase == Phase::Recompute ? "recompute"
                           : op.kernels.backward        ? "backward"
                                                        : "forward",
                           layer);
    }
    if ((op.kind == OpKind::Send || op.kind == OpKind::Receive) && op.boundary.valid())
        return fmt::format("{} {} {}", nameOf(op.kind), op.phase == Phase::Backward ? "gradient of" : "output of",
                           model.layers[op.boundary.index()].name);
    const bool norm = (op.kind == OpKind::AllReduce || op.kind == OpKind::Send || op.kind == OpKind::Receive) &&
                      op.phase == Phase::Optimizer;
    if (norm) return fmt::format("{} gradient norm", nameOf(op.kind));
    if (op.unit.valid()) return fmt::format("{} {}", nameOf(op.kind), graph.units[op.unit.index()].name);
    return std::string(nameOf(op.kind));
}

}  // namespace shardscope::core
