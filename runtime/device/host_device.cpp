#include "runtime/device/host_device.h"

#include <fmt/format.h>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "runtime/device/clock.h"
#include "runtime/device/elements.h"

namespace shardscope::runtime {

using core::Result;

namespace {

/// All ones is a NaN in every float dtype and an invalid label.
constexpr int kPoison = 0xff;

std::size_t slot(core::MemoryCategory category) {
    return static_cast<std::size_t>(category);
}

}  // namespace

HostDevice::HostDevice(Fresh fresh, std::int64_t capacity) : m_fresh(fresh), m_capacity(capacity) {}
HostDevice::~HostDevice() = default;

StreamIndex HostDevice::openStream(std::string_view, StreamWork) {
    return m_streams++;
}

std::int64_t HostDevice::now() const {
    return clockNow();
}

Event HostDevice::record(StreamIndex stream) {
    assert(stream < m_streams);
    (void)stream;
    m_eventTimes.push_back(now());
    return {m_eventTimes.size()};
}

// Calls are done when they return, so whatever was recorded has happened.
void HostDevice::wait(StreamIndex stream, Event event) {
    assert(stream < m_streams && event.valid() && event.id <= m_eventTimes.size());
    (void)stream;
    (void)event;
}

std::int64_t HostDevice::timeOf(Event event) const {
    assert(event.valid() && event.id <= m_eventTimes.size());
    return m_eventTimes[event.id - 1];
}

void HostDevice::forgetEvents() {
    m_eventTimes.clear();
}

Result<Memory> HostDevice::allocate(core::MemoryCategory category, std::int64_t bytes, StreamIndex pool) {
    assert(bytes >= 0);
    if (m_capacity > 0 && bytes > m_capacity - m_total)
        return core::fail(core::ErrorCode::Unsupported,
                          fmt::format("device memory exhausted: {} bytes of {} wanted, {} of {} in use", bytes,
                                      core::nameOf(category), m_total, m_capacity),
                          {}, "use more ranks, smaller micro-batches or resharding");
    StreamPools::Piece storage = m_pools.take(bytes, pool);
    if (!storage.data)
        return core::fail(core::ErrorCode::Unsupported,
                          fmt::format("the host has no {} bytes for {}", bytes, core::nameOf(category)), {},
                          "use a smaller training.local_batch_size, a smaller model or fewer --ranks on this machine");
    if (m_fresh == Fresh::Poisoned) std::memset(storage.data.get(), kPoison, static_cast<std::size_t>(bytes));
    const Memory memory{m_nextMemory++, storage.data.get(), bytes, category};
    m_pieces.emplace(memory.id, Piece{std::move(storage), bytes, category, pool});
    m_total += bytes;
    m_live[slot(category)] += bytes;
    m_peak[slot(category)] = std::max(m_peak[slot(category)], m_live[slot(category)]);
    return memory;
}

void HostDevice::release(const Memory& memory) {
    const auto found = m_pieces.find(memory.id);
    assert(found != m_pieces.end() && "memory released twice");
    if (found == m_pieces.end()) return;
    Piece& piece = found->second;
    m_total -= piece.bytes;
    m_live[slot(piece.category)] -= piece.bytes;
    // Poisoned memory is not used again, so that a sanitizer finds who still reads it.
    if (m_fresh == Fresh::Poisoned)
        std::memset(piece.storage.data.get(), kPoison, static_cast<std::size_t>(piece.bytes));
    else
        m_pools.giveBack(std::move(piece.storage), piece.pool);
    m_pieces.erase(found);
}

void HostDevice::resetPeak(core::MemoryCategory category) {
    m_peak[slot(category)] = m_live[slot(category)];
}

Result<void> HostDevice::copy(StreamIndex, const TensorView& from, const TensorView& to) {
    assert(from.elements() == to.elements());
    if (from.dtype == to.dtype && from.strides.empty() && to.strides.empty())
        std::memcpy(to.data, from.data, static_cast<std::size_t>(from.bytes()));
    else
        storeFloats(to, loadFloats(from));
    return {};
}

Result<void> HostDevice::add(StreamIndex, const TensorView& from, const TensorView& to) {
    assert(from.elements() == to.elements());
    const auto added = loadFloats(from);
    auto sum = loadFloats(to);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
    storeFloats(to, sum);
    return {};
}

Result<void> HostDevice::fill(StreamIndex, const TensorView& to, double value) {
    storeFloats(to, std::vector<float>(static_cast<std::size_t>(to.elements()), static_cast<float>(value)));
    return {};
}

Result<void> HostDevice::divide(StreamIndex, const TensorView& values, double divisor) {
    auto quotient = loadFloats(values);
    for (float& value : quotient) value = static_cast<float>(value / divisor);
    storeFloats(values, quotient);
    return {};
}

Result<void> HostDevice::update(StreamIndex, const OptimizerCall& call) {
    auto p = loadFloats(call.parameter);
    const auto g = loadFloats(call.gradient);
    assert(g.size() == p.size());
    if (call.kind == core::OptimizerKind::None) return {};
    if (call.kind == core::OptimizerKind::Sgd) {
        for (std::size_t i = 0; i < p.size(); ++i)
            p[i] = static_cast<float>(p[i] - call.learningRate * (g[i] + call.weightDecay * p[i]));
        storeFloats(call.parameter, p);
        return {};
    }
    if (call.kind == core::OptimizerKind::SgdMomentum) {
        // PyTorch's SGD without dampening: the buffer begins as the first gradient, which a zero one gives as well.
        auto buffer = loadFloats(call.firstMoment);
        for (std::size_t i = 0; i < p.size(); ++i) {
            buffer[i] = static_cast<float>(call.momentum * buffer[i] + g[i] + call.weightDecay * p[i]);
            p[i] = static_cast<float>(p[i] - call.learningRate * buffer[i]);
        }
        storeFloats(call.parameter, p);
        storeFloats(call.firstMoment, buffer);
        return {};
    }
    auto m = loadFloats(call.firstMoment), v = loadFloats(call.secondMoment);
    assert(m.size() == p.size() && v.size() == p.size());
    const double correction1 = 1.0 - std::pow(call.beta1, static_cast<double>(call.step));
    const double correction2 = std::sqrt(1.0 - std::pow(call.beta2, static_cast<double>(call.step)));
    const bool decoupled = call.kind == core::OptimizerKind::AdamW;
    for (std::size_t i = 0; i < p.size(); ++i) {
        double value = p[i], gradient = g[i];
        if (decoupled)
            value *= 1.0 - call.learningRate * call.weightDecay;
        else
            gradient += call.weightDecay * value;
        m[i] = static_cast<float>(m[i] + (gradient - m[i]) * (1.0 - call.beta1));
        v[i] = static_cast<float>(call.beta2 * v[i] + (1.0 - call.beta2) * gradient * gradient);
        const double denominator = std::sqrt(static_cast<double>(v[i])) / correction2 + call.epsilon;
        p[i] = static_cast<float>(value - call.learningRate / correction1 * m[i] / denominator);
    }
    storeFloats(call.parameter, p);
    storeFloats(call.firstMoment, m);
    storeFloats(call.secondMoment, v);
    return {};
}

Result<void> HostDevice::upload(StreamIndex, std::span<const std::byte> from, const TensorView& to) {
    assert(static_cast<std::int64_t>(from.size()) == to.bytes() && to.strides.empty());
    if (!from.empty()) std::memcpy(to.data, from.data(), from.size());
    return {};
}

Result<void> HostDevice::download(StreamIndex, const TensorView& from, std::span<std::byte> to) {
    assert(static_cast<std::int64_t>(to.size()) == from.bytes() && from.strides.empty());
    if (!to.empty()) std::memcpy(to.data(), from.data, to.size());
    return {};
}

}  // namespace shardscope::runtime
