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

Result<void> Executor::gradientNorm(const core::Op&) {
    if (m_norm) return refuse("is worked out twice");
    SHARDSCOPE_TRY(checkWaits(m_running));
    SHARDSCOPE_TRY(m_device.synchronize());
    double sum = 0;
    for (UnitMemory& unit : m_units)
        for (std::size_t p = 0; unit.unit != nullptr && p < unit.layout.places.size(); ++p) {
            const ParameterPlace& place = unit.layout.places[p];
            if (!place.trained || isOfEarlierStage(place.parameter)) continue;
            SHARDSCOPE_ASSIGN(const TensorView gradient, gradientForUpdate(unit, p));
            for (const float value : loadFloats(gradient)) sum += static_cast<double>(value) * value;
        }
    m_norm = static_cast<float>(sum);
    return {};
}

Result<void> Executor::sumNorm(const core::Op& op) {
    if (!m_norm) return refuse("comes before the norm");
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    SHARDSCOPE_TRY(checkWaits(m_running));
    SHARDSCOPE_ASSIGN(m_transfer, communicator->allReduce(labelFor(op, "all-reduce", sizeof(float)),
                                                          std::as_writable_bytes(std::span(&*m_norm, 1)), false));
    return {};
}

// The first stage adds what comes from the others; they take what comes back.
Result<void> Executor::passNorm(const core::Op& op) {
    if (!m_norm) return refuse("comes before the norm");
    Communicator* communicator = communicatorOf(op);
    if (communicator == nullptr) return refuse("has no group");
    SHARDSCOPE_TRY(checkWaits(m_running));
    const CallLabel label = labelFor(op, "gradient norm", sizeof(float));
    if (op.kind == core::OpKind::Send) {
        SHARDSCOPE_ASSIGN(m_transfer,
                          communicator->send(label, std::as_bytes(std::span(&*m_norm, 1)), peerOf(*communicator)));
        return {};
    }
    float received = 0;
    SHARDSCOPE_ASSIGN(m_transfer, communicator->receive(label, std::as_writable_bytes(std::span(&received, 1)),
                                                        peerOf(*communicator)));
    m_norm = m_class.stage == 0 ? *m_norm + received : received;
    return {};
}

Result<void> Executor::scaleGradients(const core::Op& op) {
    if (!m_norm) return refuse("comes before the norm");
    SHARDSCOPE_TRY(checkWaits(m_running));
    const double norm = std::sqrt(static_cast<double>(*m_norm));
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
