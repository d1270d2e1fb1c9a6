// clip_grad_norm_ (framework semantics 1.16).

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/device/elements.h"
#include "runtime/executor/executor.h"

namespace shardscope::runtime {

using core::Result;

// A weight that two stages hold is one parameter: it counts with the first of them.
bool Executor::isOfEarlierStage(core::ParameterId parameter) const {
    return std::any_of(m_tiedTo.begin(), m_tiedTo.end(), [&](const auto& tied) {
        return tied.first < m_class.stage &&
               std::find(tied.second.begin(), tied.second.end(), parameter) != tied.second.end();
    });
}

Result<void> Executor::gradientNorm(const core::Op& op) {
    if (m_hasNorm) return refuse("is worked out twice");
    SHARDSCOPE_TRY(checkWaits(m_running));
    std::vector<TensorView> gradients;
    for (UnitMemory& unit : m_units)
        for (std::size_t p = 0; unit.unit != nullptr && p < unit.layout.places.size(); ++p) {
            const ParameterPlace& place = unit.layout.places[p];
            if (!place.trained || isOfEarlierStage(place.parameter)) continue;
            SHARDSCOPE_ASSIGN(TensorView gradient, gradientForUpdate(unit, p));
            gradients.push_back(std::move(gradient));
        }
    m_hasNorm = true;
    return m_device.enqueue(op.stream, [this, gradients = std::move(gradients)]() -> Result<void> {
        double sum = 0;
        for (const TensorView& gradient : gradients)
            for (const float value : loadFloats(gradient)) sum += static_cast<double>(value) * value;
        m_norm = static_cast<float>(sum);
        return {};
    });
}

Result<void> Executor::sumNorm(const core::Op& op) {
    if (!m_hasNorm) return refuse("comes before the norm");
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    SHARDSCOPE_TRY(checkWaits(m_running));
    return communicate(op, *communicator, [this, communicator, label = labelFor(op, "all-reduce", sizeof(float))] {
        return communicator->allReduce(label, std::as_writable_bytes(std::span(&m_norm, 1)), false);
    });
}

// The first stage adds what comes from the others; they take what comes back.
Result<void> Executor::passNorm(const core::Op& op) {
    if (!m_hasNorm) return refuse("comes before the norm");
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    SHARDSCOPE_TRY(checkWaits(m_running));
    const CallLabel label = labelFor(op, "gradient norm", sizeof(float));
    if (op.kind == core::OpKind::Send)
        return communicate(op, *communicator, [this, communicator, label] {
            return communicator->send(label, std::as_bytes(std::span(&m_norm, 1)), peerOf(*communicator));
        });
    return communicate(op, *communicator, [this, communicator, label]() -> Result<Transfer> {
        SHARDSCOPE_ASSIGN(
            const Transfer transfer,
            communicator->receive(label, std::as_writable_bytes(std::span(&m_normReceived, 1)), peerOf(*communicator)));
        m_norm = m_class.stage == 0 ? m_norm + m_normReceived : m_normReceived;
        return transfer;
    });
}

Result<void> Executor::scaleGradients(const core::Op& op) {
    if (!m_hasNorm) return refuse("comes before the norm");
    SHARDSCOPE_TRY(checkWaits(m_running));
    SHARDSCOPE_TRY(m_device.synchronize());  // the host has to know the factor (PyTorch's stays on the device)
    const double norm = std::sqrt(static_cast<double>(m_norm));
    const double scale = std::min(1.0, m_graph.plan.clipNorm / (norm + 1e-6));
    for (UnitMemory& unit : m_units)
        for (std::size_t p = 0; unit.unit != nullptr && p < unit.layout.places.size(); ++p) {
            if (!unit.layout.places[p].trained) continue;
            SHARDSCOPE_ASSIGN(const TensorView gradient, gradientForUpdate(unit, p));
            SHARDSCOPE_TRY(m_device.divide(op.stream, gradient, 1 / scale));
        }
    return {};
}

}  // namespace shardscope::runtime
