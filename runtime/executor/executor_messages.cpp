// Point to point: activations and their gradients between stages, partial gradients of tied parameters.

#include <fmt/format.h>

#include "runtime/executor/executor.h"

namespace shardscope::runtime {

using core::Result;
using core::TensorRole;

Result<TensorView> Executor::messageOperand(const core::Op& op, bool written) {
    // A message is the output of the last layer before the cut, or the input gradient of the first one behind it. The
    // rank on the other side knows it as its first layer's input, or its last layer's output gradient.
    core::LayerId layer = op.boundary;
    TensorRole role = op.phase == core::Phase::Backward ? TensorRole::InputGradient : TensorRole::Output;
    if (!layer.valid() || layer.index() >= m_model.layers.size()) return refuse("names no layer");
    if (!(layer < m_class.layerEnd)) {
        layer = core::LayerId(m_class.layerEnd.index() - 1);
        role = TensorRole::OutputGradient;
    } else if (layer < m_class.layerBegin) {
        layer = m_class.layerBegin;
        role = TensorRole::Input;
    }
    const core::TensorId tensor = core::findRole(m_model.programOf(m_model.layers[layer.index()]), role);
    if (!tensor.valid()) return refuse("names a layer without that tensor");
    const LocatedTensor at = m_activations.locate(layer, tensor);
    ActivationMemory::Piece* piece = m_activations.find(at.storage, op.microBatch);
    if (piece == nullptr)
        return refuse(fmt::format("needs {}, which is not in memory", m_activations.describe(at.storage)));
    if (written && piece->filled) return refuse(fmt::format("would overwrite {}", m_activations.describe(at.storage)));
    if (!written && !piece->filled)
        return refuse(fmt::format("needs {}, which was not computed", m_activations.describe(at.storage)));
    if (written) piece->filled = true;
    return m_activations.view(layer, tensor, at, *piece);
}

namespace {

/// Messages are contiguous: a tensor of another layout goes through a buffer on the host's side.
bool isContiguousView(const TensorView& view) {
    std::int64_t step = 1;
    for (std::size_t i = view.shape.size(); i-- > 0;) {
        if (!view.strides.empty() && view.shape[i] != 1 && view.strides[i] != step) return false;
        step *= view.shape[i];
    }
    return true;
}

}  // namespace

Result<void> Executor::send(const core::Op& op) {
    if (!op.boundary.valid()) return sendGradient(op);
    SHARDSCOPE_ASSIGN(const TensorView view, messageOperand(op, false));
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    if (op.bytes.value != view.bytes())
        return refuse(fmt::format("sends {} bytes, the tensor has {}", op.bytes.value, view.bytes()));
    if (!isContiguousView(view)) return refuse("sends a tensor that is not contiguous");
    SHARDSCOPE_TRY(checkWaits(m_running));
    SHARDSCOPE_TRY(m_device.synchronize());
    SHARDSCOPE_ASSIGN(m_transfer,
                      communicator->send(labelFor(op, "message", view.bytes()),
                                         {view.data, static_cast<std::size_t>(view.bytes())}, peerOf(*communicator)));
    return {};
}

Result<void> Executor::receive(const core::Op& op) {
    if (!op.boundary.valid()) return receiveGradient(op);
    SHARDSCOPE_ASSIGN(const TensorView view, messageOperand(op, true));
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    if (op.bytes.value != view.bytes())
        return refuse(fmt::format("receives {} bytes, the tensor has {}", op.bytes.value, view.bytes()));
    if (!isContiguousView(view)) return refuse("receives a tensor that is not contiguous");
    SHARDSCOPE_TRY(checkWaits(m_running));
    SHARDSCOPE_TRY(m_device.synchronize());
    SHARDSCOPE_ASSIGN(
        m_transfer, communicator->receive(labelFor(op, "message", view.bytes()),
                                          {view.data, static_cast<std::size_t>(view.bytes())}, peerOf(*communicator)));
    return {};
}

std::int64_t Executor::peerOf(const Communicator& pair) {
    return 1 - pair.rank();
}

Result<void> Executor::sendGradient(const core::Op&) {
    return core::fail(core::ErrorCode::Unsupported, "the executor does not exchange gradients of tied parameters yet");
}
Result<void> Executor::receiveGradient(const core::Op&) {
    return core::fail(core::ErrorCode::Unsupported, "the executor does not exchange gradients of tied parameters yet");
}
// The second contributions of one compute op to a unit's gradients.
Result<void> Executor::addGradient(const core::Op& op) {
    if (!op.unit.valid() || m_units[op.unit.index()].unit == nullptr) return refuse("names no unit of this rank");
    UnitMemory& unit = m_units[op.unit.index()];
    if (!unit.repeated.allocated()) return refuse("finds no contribution");
    for (std::size_t p = 0; p < unit.added.size(); ++p) {
        if (unit.added[p].data == nullptr) continue;
        const std::string& name = m_model.parameters[unit.layout.places[p].parameter.index()].name;
        if (!unit.added[p].filled) return refuse("comes before the contribution to the gradient of " + name);
        if (!unit.gradients[p].filled) return refuse("finds no gradient of " + name + " to add to");
    }
    SHARDSCOPE_TRY(checkWaits(m_running));
    for (std::size_t p = 0; p < unit.added.size(); ++p) {
        GradientPlace& added = unit.added[p];
        if (added.data == nullptr) continue;
        const core::Shape shape{unit.layout.places[p].elements};
        SHARDSCOPE_TRY(m_device.add(op.stream, {added.data, gradientType(), shape, {}},
                                    {unit.gradients[p].data, gradientType(), shape, {}}));
        added = {};
    }
    return {};
}

}  // namespace shardscope::runtime
