// Compute ops: kernels with their operands looked up in what is in memory now.

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "core/graph/autograd_node.h"
#include "runtime/device/elements.h"
#include "runtime/device/random_draws.h"
#include "runtime/executor/executor.h"

namespace shardscope::runtime {

using core::Result;
using core::TensorRole;

namespace {

bool inBackward(const core::Op& op) {
    return op.kernels.backward || op.phase == core::Phase::Recompute;
}

}  // namespace

Result<void> Executor::compute(const core::Op& op) {
    if (!op.kernels.layer.valid()) return refuse("names no layer");
    if (op.kernels.layer < m_class.layerBegin || !(op.kernels.layer < m_class.layerEnd))
        return refuse("is a layer of another stage");
    const core::Program& program = m_model.programOf(m_model.layers[op.kernels.layer.index()]);
    const auto& kernels = op.kernels.backward ? program.backward : program.forward;
    if (op.kernels.first + op.kernels.count > kernels.size())
        return refuse("names kernels that the layer does not have");

    // The last kernel of this op to whose end a storage stays: what is made inside the op is freed there.
    std::map<core::StorageRef, std::uint32_t> lastTouch;
    const std::uint32_t end = op.kernels.first + op.kernels.count;
    for (std::uint32_t k = op.kernels.first; k < end; ++k)
        for (std::uint32_t of = core::beginOfNodeEndingAt(kernels, k); of <= k; ++of)
            for (const auto* operands : {&kernels[of].inputs, &kernels[of].outputs})
                for (const core::TensorId tensor : *operands)
                    lastTouch[m_activations.locate(op.kernels.layer, tensor, inBackward(op)).storage] = k;
    // What a loss makes are variables of its, which last until it returns.
    const core::Layer& layer = m_model.layers[op.kernels.layer.index()];
    if (layer.kind == core::LayerKind::Loss && !inBackward(op) && end == kernels.size())
        for (std::uint32_t k = op.kernels.first; k < end; ++k)
            for (const core::TensorId tensor : kernels[k].outputs)
                lastTouch[m_activations.locate(op.kernels.layer, tensor, false).storage] = end - 1;
    const auto slot = static_cast<std::size_t>(core::MemoryCategory::Workspace);
    const std::int64_t before = m_device.liveBytes()[slot];
    m_device.resetPeak(core::MemoryCategory::Workspace);
    bool waitsChecked = false;
    for (std::uint32_t k = op.kernels.first; k < end; ++k) {
        SHARDSCOPE_TRY(runKernel(op, k, waitsChecked));
        for (const auto& [storage, last] : lastTouch)
            if (last == k) m_activations.releaseWorkspace(storage, op.microBatch);
    }
    const std::int64_t used = m_device.peakBytes()[slot] - before;
    const std::int64_t granted = m_workspace.valid() ? m_graph.blocks[m_workspace.index()].bytes.value : 0;
    if (used != granted) return refuse(fmt::format("used {} bytes of workspace, its block has {}", used, granted));
    return {};
}

Result<void> Executor::runKernel(const core::Op& op, std::uint32_t index, bool& waitsChecked) {
    const core::Program& program = m_model.programOf(m_model.layers[op.kernels.layer.index()]);
    const core::Kernel& kernel = (op.kernels.backward ? program.backward : program.forward)[index];
    std::vector<TensorView> inputs, outputs;
    for (const core::TensorId tensor : kernel.inputs) {
        SHARDSCOPE_ASSIGN(TensorView view, operand(op, tensor, false));
        inputs.push_back(std::move(view));
    }
    for (const core::TensorId tensor : kernel.outputs) {
        SHARDSCOPE_ASSIGN(TensorView view, operand(op, tensor, true));
        outputs.push_back(std::move(view));
    }
    // Operands first: their absence says more than the edge that was broken.
    if (!waitsChecked) SHARDSCOPE_TRY(checkWaits(m_running));
    waitsChecked = true;
    SHARDSCOPE_ASSIGN(const std::vector<std::uint64_t> seeds, seedsOf(op, kernel));
    SHARDSCOPE_TRY(m_device.launch(op.stream, {kernel, inputs, outputs, seeds}));
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
        const core::Tensor& tensor = program.tensor(kernel.outputs[i]);
        if (tensor.role == TensorRole::ParameterGradient) {
            const UnitPlace where = m_placeOf[m_model.layers[op.kernels.layer.index()].parameters[tensor.slot].index()];
            UnitMemory& unit = m_units[where.unit];
            GradientPlace& added = unit.added[where.place];
            (added.data != nullptr ? added : unit.gradients[where.place]).filled = true;
            continue;
        }
        const LocatedTensor at = m_activations.locate(op.kernels.layer, kernel.outputs[i], inBackward(op));
        if (ActivationMemory::Piece* piece = m_activations.find(at.storage, op.microBatch)) piece->filled = true;
        const bool isLoss = m_model.layers[op.kernels.layer.index()].kind == core::LayerKind::Loss;
        if (isLoss && tensor.role == TensorRole::Output && !op.kernels.backward)
            SHARDSCOPE_TRY(noteLoss(op, outputs[i]));
    }
    if (m_graph.plan.evaluation && kernel.kind == core::KernelKind::NllLoss)
        SHARDSCOPE_TRY(noteRight(op, inputs.front()));
    return {};
}

Result<TensorView> Executor::operand(const core::Op& op, core::TensorId id, bool written) {
    const core::Tensor& tensor = m_model.programOf(m_model.layers[op.kernels.layer.index()]).tensor(id);
    if (tensor.role == TensorRole::Parameter) return parameterOperand(op, tensor);
    if (tensor.role == TensorRole::ParameterGradient) return gradientOperand(op, tensor);
    const LocatedTensor at = m_activations.locate(op.kernels.layer, id, inBackward(op));
    const core::Tensor& owner = m_activations.tensorOf(at.storage);
    if (owner.role == TensorRole::Parameter) return parameterOperand(op, owner);
    ActivationMemory::Piece* piece = m_activations.find(at.storage, op.microBatch);
    const bool comesFromOutside =
        owner.role == TensorRole::Batch || (owner.role == TensorRole::OutputGradient &&
                                            m_model.layers[at.storage.layer.index()].kind == core::LayerKind::Loss);
    if (piece == nullptr) {
        if (!written && !comesFromOutside)
            return refuse(fmt::format("needs {}, which is not in memory", m_activations.describe(at.storage)));
        SHARDSCOPE_ASSIGN(piece, m_activations.allocateWorkspace(at.storage, op.microBatch, op.stream));
    }
    if (!written && !piece->filled) {
        if (!comesFromOutside)
            return refuse(fmt::format("needs {}, which was not computed", m_activations.describe(at.storage)));
        SHARDSCOPE_TRY(fillFromOutside(op, at.storage, *piece));
    }
    return m_activations.view(op.kernels.layer, id, at, *piece);
}

Result<TensorView> Executor::parameterOperand(const core::Op& op, const core::Tensor& tensor) {
    const core::ParameterId parameter = m_model.layers[op.kernels.layer.index()].parameters[tensor.slot];
    const UnitPlace where = m_placeOf[parameter.index()];
    UnitMemory& unit = m_units[where.unit];
    const ParameterPlace& place = unit.layout.places[where.place];
    const Held& held = place.inMaster ? unit.master() : unit.unsharded;
    const std::string& name = m_model.parameters[parameter.index()].name;
    if (!held.allocated()) return refuse(fmt::format("reads {} while unit {} is not unsharded", name, unit.unit->name));
    if (held.content != Held::Content::Whole)
        return refuse(fmt::format("reads {} before unit {} was copied out", name, unit.unit->name));
    if (held.version != unit.version) return refuse(fmt::format("reads {} as it was before the optimizer step", name));
    TensorView view = place.inMaster ? flatView(held.memory, place.type, place.offset, place.elements)
                                     : wholePart(held.memory, place, 0, 1);
    view.shape = tensor.shape;
    view.strides = tensor.strides;
    return view;
}

Result<TensorView> Executor::gradientOperand(const core::Op& op, const core::Tensor& tensor) {
    const core::ParameterId parameter = m_model.layers[op.kernels.layer.index()].parameters[tensor.slot];
    const UnitPlace where = m_placeOf[parameter.index()];
    const GradientPlace& gradient = m_units[where.unit].gradients[where.place];
    const std::string& name = m_model.parameters[parameter.index()].name;
    if (gradient.data == nullptr) return refuse(fmt::format("has no memory for the gradient of {}", name));
    // A second contribution (another micro-batch, or a tied parameter's other use) is computed apart, an op adds it.
    const GradientPlace& added = m_units[where.unit].added[where.place];
    if (gradient.filled && added.data == nullptr)
        return refuse(fmt::format("would overwrite the gradient of {}", name));
    if (added.filled) return refuse(fmt::format("would overwrite a contribution to the gradient of {}", name));
    return TensorView{added.data != nullptr ? added.data : gradient.data,
                      madeGradientType(m_units[where.unit].layout.places[where.place]), tensor.shape, tensor.strides};
}

Result<void> Executor::loadBatch(const core::Op& op) {
    if (op.kind != core::OpKind::Compute || !op.kernels.layer.valid() || op.microBatch >= m_batch.size() ||
        m_batch[op.microBatch])
        return {};
    const core::Program& program = m_model.programOf(m_model.layers[op.kernels.layer.index()]);
    const auto& kernels = op.kernels.backward ? program.backward : program.forward;
    const std::size_t end = std::min<std::size_t>(op.kernels.first + op.kernels.count, kernels.size());
    for (std::size_t k = op.kernels.first; k < end; ++k)
        if (core::readsBatch(program, kernels[k])) {
            SHARDSCOPE_TRY(batchOf(op));
            return {};
        }
    return {};
}

Result<void> Executor::fillFromOutside(const core::Op& op, const core::StorageRef& storage,
                                       ActivationMemory::Piece& piece) {
    const core::Tensor& tensor = m_activations.tensorOf(storage);
    const TensorView view{piece.data, tensor.dtype, tensor.shape, {}};
    if (tensor.role == TensorRole::OutputGradient) {
        // The step's objective is the mean over micro-batches of their mean losses.
        SHARDSCOPE_TRY(m_device.fill(op.stream, view, 1.0 / static_cast<double>(m_graph.plan.microBatches)));
        piece.filled = true;
        return {};
    }
    SHARDSCOPE_ASSIGN(const Batch* batch, batchOf(op));
    const bool labels = tensor.slot == 1;
    const auto expect = [&](std::size_t found) -> Result<void> {
        if (static_cast<std::int64_t>(found) == view.elements()) return {};
        return core::fail(core::ErrorCode::Input,
                          fmt::format("a micro-batch has {} {}, expected {}", found, labels ? "labels" : "input values",
                                      core::toString(tensor.shape)));
    };
    if (labels || tensor.dtype == core::DType::I64) {
        const std::vector<std::int64_t>& values = labels ? batch->labels : batch->ids;
        SHARDSCOPE_TRY(expect(values.size()));
        if (tensor.dtype != core::DType::I64) return refuse("needs labels of another dtype than int64");
        SHARDSCOPE_TRY(m_device.upload(op.stream, std::as_bytes(std::span(values)), view));
    } else {
        SHARDSCOPE_TRY(expect(batch->values.size()));
        std::vector<std::byte> converted(static_cast<std::size_t>(view.bytes()));
        storeFloats({converted.data(), view.dtype, view.shape, {}}, batch->values);
        SHARDSCOPE_TRY(m_device.upload(op.stream, converted, view));
    }
    piece.filled = true;
    return {};
}

Result<const Batch*> Executor::batchOf(const core::Op& op) {
    if (op.microBatch >= m_batch.size()) return refuse("is of a micro-batch that the plan does not have");
    std::optional<Batch>& batch = m_batch[op.microBatch];
    if (!batch) {
        SHARDSCOPE_ASSIGN(batch, (*m_batches)(op.microBatch));
    }
    return &*batch;
}

Result<std::vector<std::uint64_t>> Executor::seedsOf(const core::Op& op, const core::Kernel& kernel) {
    std::vector<std::uint64_t> seeds;
    if (kernel.draw == 0) return seeds;
    if (op.microBatch >= m_batch.size()) return refuse("is of a micro-batch that the plan does not have");
    if (*m_seeds) seeds = (*m_seeds)(op.microBatch);
    if (static_cast<std::int64_t>(seeds.size()) != m_model.workload.batch)
        return refuse(
            fmt::format("draws by chance for {} samples and finds seeds of {}", m_model.workload.batch, seeds.size()));
    for (std::uint64_t& seed : seeds)
        seed = random::seedOf(random::seedOf(seed, op.kernels.layer.index()), kernel.draw);
    return seeds;
}

Result<void> Executor::noteLoss(const core::Op& op, const TensorView& loss) {
    if (loss.elements() != 1) return refuse("makes a loss that is no single value");
    m_lossType = loss.dtype;
    std::vector<std::byte>& bytes = m_losses.emplace_back(static_cast<std::size_t>(loss.bytes()));
    return m_device.download(op.stream, {loss.data, loss.dtype, loss.shape, {}}, bytes);
}

Result<void> Executor::noteRight(const core::Op& op, const TensorView& scores) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(scores.bytes()));
    TensorView flat = scores;
    flat.strides.clear();
    SHARDSCOPE_TRY(m_device.download(op.stream, flat, bytes));
    SHARDSCOPE_TRY(m_device.synchronize());
    flat.data = bytes.data();
    const std::vector<float> values = loadFloats(flat);
    const std::vector<std::int64_t>& labels = m_batch[op.microBatch]->labels;
    const auto classes = static_cast<std::ptrdiff_t>(values.size() / labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(i) * classes;
        m_outcome.right += std::max_element(first, first + classes) - first == labels[i] ? 1 : 0;
    }
    return {};
}

}  // namespace shardscope::runtime
