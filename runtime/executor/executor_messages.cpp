// Point to point: activations and their gradients between stages, partial gradients of tied parameters.

#include <algorithm>

#include <fmt/format.h>

#include "runtime/executor/executor.h"

namespace shardscope::runtime {

using core::Result;
using core::TensorRole;

Result<TensorView> Executor::messageOperand(const core::Op& op, bool written) {
    // A message is the output of the last layer before the cut, or its gradient. The rank behind the cut knows them as
    // its first layer's input and input gradient.
    core::LayerId layer = op.boundary;
    const bool gradient = op.phase == core::Phase::Backward;
    TensorRole role = gradient ? TensorRole::OutputGradient : TensorRole::Output;
    if (layer < m_class.layerBegin) {
        layer = m_class.layerBegin;
        role = gradient ? TensorRole::InputGradient : TensorRole::Input;
    }
    if (!(layer < m_class.layerEnd)) return refuse("names a layer of another stage");
    const core::TensorId tensor = core::findRole(m_model.programOf(m_model.layers[layer.index()]), role);
    if (!tensor.valid()) return refuse("names a layer without that tensor");
    const LocatedTensor at = m_activations.locate(layer, tensor, gradient);
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
    const std::span<const std::byte> message(view.data, static_cast<std::size_t>(view.bytes()));
    return communicate(op, *communicator, [=, label = labelFor(op, "message", view.bytes())] {
        return communicator->send(label, message, peerOf(*communicator));
    });
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
    const std::span message(view.data, static_cast<std::size_t>(view.bytes()));
    return communicate(op, *communicator, [=, label = labelFor(op, "message", view.bytes())] {
        return communicator->receive(label, message, peerOf(*communicator));
    });
}

std::int64_t Executor::peerOf(const Communicator& pair) {
    return 1 - pair.rank();
}

Result<std::vector<TensorView>> Executor::tiedGradients(std::int64_t stage) {
    std::vector<TensorView> views;
    for (const core::ParameterId parameter : m_tiedTo[stage]) {
        const UnitPlace where = m_placeOf[parameter.index()];
        UnitMemory& unit = m_units[where.unit];
        const ParameterPlace& place = unit.layout.places[where.place];
        SHARDSCOPE_ASSIGN(TensorView view, gradientForUpdate(unit, where.place));
        view.shape = {place.padded / unit.layout.ranks};  // both ends have the same padding
        views.push_back(std::move(view));
    }
    if (views.empty()) return refuse("finds no parameter tied to the other stage");
    return views;
}

// Several gradients travel as one message; they are put together on the host's side.
Result<void> Executor::sendGradient(const core::Op& op) {
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    SHARDSCOPE_ASSIGN(const std::vector<TensorView> views, tiedGradients(m_peerStage[op.match]));
    SHARDSCOPE_TRY(checkWaits(m_running));
    std::int64_t bytes = 0;
    for (const TensorView& view : views) bytes += view.bytes();
    if (op.bytes.value != bytes)
        return refuse(fmt::format("sends {} bytes, the gradients have {}", op.bytes.value, bytes));
    const std::span message(m_messages.emplace_back(static_cast<std::size_t>(bytes)));
    std::size_t at = 0;
    for (const TensorView& view : views) {
        const auto size = static_cast<std::size_t>(view.bytes());
        SHARDSCOPE_TRY(m_device.download(op.stream, view, message.subspan(at, size)));
        at += size;
    }
    return communicate(op, *communicator, [=, label = labelFor(op, "tied gradients", bytes)] {
        return communicator->send(label, message, peerOf(*communicator));
    });
}

Result<void> Executor::receiveGradient(const core::Op& op) {
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    if (!m_received.allocated()) return refuse("has no memory");
    if (m_received.content != Held::Content::Nothing) return refuse("would overwrite gradients that were not added");
    const std::int64_t bytes = m_received.memory.bytes;
    if (op.bytes.value != bytes)
        return refuse(fmt::format("receives {} bytes, its memory has {}", op.bytes.value, bytes));
    SHARDSCOPE_TRY(checkWaits(m_running));
    const std::span message(m_received.memory.data, static_cast<std::size_t>(bytes));
    SHARDSCOPE_TRY(communicate(op, *communicator, [=, label = labelFor(op, "tied gradients", bytes)] {
        return communicator->receive(label, message, peerOf(*communicator));
    }));
    m_received.content = Held::Content::Whole;
    m_received.parts = m_peerStage[op.match];
    return {};
}

Result<void> Executor::addReceived(const core::Op& op) {
    if (m_received.content != Held::Content::Whole)
        return refuse(m_received.content == Held::Content::Used ? "adds the received gradients twice"
                                                                : "comes before what it adds");
    SHARDSCOPE_ASSIGN(const std::vector<TensorView> views, tiedGradients(m_received.parts));
    SHARDSCOPE_TRY(checkWaits(m_running));
    std::byte* next = m_received.memory.data;
    for (const TensorView& view : views) {
        SHARDSCOPE_TRY(m_device.add(op.stream, {next, view.dtype, view.shape, {}}, view));
        next += view.bytes();
    }
    m_received.content = Held::Content::Used;
    return {};
}

// The second contributions of one compute op to a unit's gradients, or what another stage has for tied parameters.
Result<void> Executor::addGradient(const core::Op& op) {
    if (!op.kernels.layer.valid()) return addReceived(op);
    if (!op.unit.valid() || m_units[op.unit.index()].unit == nullptr) return refuse("names no unit of this rank");
    UnitMemory& unit = m_units[op.unit.index()];
    if (!unit.repeated.allocated()) return refuse("finds no contribution");
    const std::vector<std::size_t> made = gradientsMadeBy(m_running, unit);
    for (std::size_t p = 0; p < unit.added.size(); ++p) {
        if (unit.added[p].data == nullptr) continue;
        const std::string& name = m_model.parameters[unit.layout.places[p].parameter.index()].name;
        if (std::find(made.begin(), made.end(), p) == made.end())
            return refuse("finds a contribution to " + name + " instead");
        if (!unit.added[p].filled) return refuse("comes before the contribution to the gradient of " + name);
        const ParameterPlace& place = unit.layout.places[p];
        if (!unit.gradients[p].filled && gradientType(place) == madeGradientType(place))
            return refuse("finds no gradient of " + name + " to add to");
    }
    SHARDSCOPE_TRY(checkWaits(m_running));
    for (std::size_t p = 0; p < unit.added.size(); ++p) {
        GradientPlace& added = unit.added[p];
        if (added.data == nullptr) continue;
        const core::Shape shape{unit.layout.places[p].elements};
        const TensorView from{added.data, madeGradientType(unit.layout.places[p]), shape, {}};
        const TensorView to{unit.gradients[p].data, gradientType(unit.layout.places[p]), shape, {}};
        SHARDSCOPE_TRY(unit.gradients[p].filled ? m_device.add(op.stream, from, to)
                                                : m_device.copy(op.stream, from, to));
        unit.gradients[p].filled = true;
        added = {};
    }
    return {};
}

}  // namespace shardscope::runtime
