#pragma once

// What the executor needs from a device: in-order streams with events, memory that is counted by category, and kernels.
// Calls enqueue work on a stream and may return before it is done; `synchronize` waits for everything. Work that fails
// on a stream ends all that follows it there or on other streams; the first error is what the calls from then on and
// `synchronize` return. A device serves one rank and is used by one host thread.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "core/model/kernel.h"
#include "runtime/device/tensor_view.h"

namespace shardscope::runtime {

/// Bytes by core::MemoryCategory.
using LiveBytes = std::array<std::int64_t, core::kMemoryCategories>;

/// A piece of device memory. `id` 0 is none.
struct Memory {
    std::uint64_t id = 0;
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    core::MemoryCategory category = core::MemoryCategory::Workspace;
    [[nodiscard]] bool valid() const { return id != 0; }
};

using StreamIndex = std::uint8_t;

/// What a stream is for. Where streams share cores, one that moves data goes before kernels, which it keeps waiting for
/// a moment and they it for a slice (runtime/device/short_slices.h).
enum class StreamWork : std::uint8_t { Kernels, Data };

/// Work of the host that a stream does in its turn.
using StreamTask = std::function<core::Result<void>()>;

/// A point on a stream: everything enqueued there before it.
struct Event {
    std::uint64_t id = 0;
    [[nodiscard]] bool valid() const { return id != 0; }
};

/// One kernel of a program with its operands in the order of core::KernelKind. The kernel must outlive the work, the
/// lists need not outlive the call.
struct KernelCall {
    const core::Kernel& kernel;
    std::span<const TensorView> inputs, outputs;
    /// Of a kernel that draws by chance (core::Kernel::draw): a seed for each sample of the batch, which is the
    /// outermost dimension, or the outer part of it, of what is drawn for. Element i of a sample is
    /// random::uniformAt(seed, i).
    std::span<const std::uint64_t> seeds = {};
};

/// One parameter's update (framework semantics 8.2). `step` counts from 1.
struct OptimizerCall {
    core::OptimizerKind kind = core::OptimizerKind::AdamW;
    double learningRate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0;
    double momentum = 0.9;  ///< SGD with momentum
    std::int64_t step = 1;
    TensorView parameter, gradient, firstMoment, secondMoment;  ///< equal shapes; moments unused by SGD
};

class Device {
public:
    Device() = default;
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    virtual ~Device() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;

    virtual StreamIndex openStream(std::string_view name, StreamWork work) = 0;
    /// Marks the stream's present end.
    virtual Event record(StreamIndex stream) = 0;
    /// What is enqueued on `stream` from now on starts after `event`.
    virtual void wait(StreamIndex stream, Event event) = 0;
    /// Runs `task` in its turn on the stream, as cudaLaunchHostFunc does; what is enqueued there later waits for its
    /// end.
    virtual core::Result<void> enqueue(StreamIndex stream, StreamTask task) = 0;
    /// Waits until no stream works any more.
    virtual core::Result<void> synchronize() = 0;
    /// `handler` is told the first error of a stream, on the stream's thread, before `synchronize` returns: tasks that
    /// wait for other ranks can then be woken. It must not call the device. Empty: nobody is told.
    virtual void onError(std::function<void(const core::Error&)> handler) = 0;
    /// Whether neither the host thread nor a stream of this device can go on before one of `calls` calls ends that were
    /// made from here and wait for other ranks. For any thread.
    [[nodiscard]] virtual bool waitsOnlyFor(std::size_t calls) const = 0;
    /// When the event's work was done, in nanoseconds of the device's clock; valid after `synchronize`.
    [[nodiscard]] virtual std::int64_t timeOf(Event event) const = 0;
    /// The device's clock now, in nanoseconds. Clocks of all devices of one process agree.
    [[nodiscard]] virtual std::int64_t now() const = 0;
    /// Forgets the events recorded so far (after `synchronize`).
    virtual void forgetEvents() = 0;

    /// What new memory holds is undefined (the reference device fills it with NaN). Memory is given and taken in the
    /// order of the stream `pool`: what was released may be handed out again at once for the same pool, so work of
    /// other streams on it must be ordered by events before the pool's next work, and host code synchronizes before it
    /// touches memory. Errors: no memory is left.
    virtual core::Result<Memory> allocate(core::MemoryCategory category, std::int64_t bytes, StreamIndex pool) = 0;
    virtual void release(const Memory& memory) = 0;
    /// Bytes allocated and not released, by category.
    [[nodiscard]] virtual const LiveBytes& liveBytes() const = 0;
    /// Largest liveBytes() of that category since `resetPeak`.
    [[nodiscard]] virtual const LiveBytes& peakBytes() const = 0;
    virtual void resetPeak(core::MemoryCategory category) = 0;

    /// Errors: Unsupported, naming the kernel; operands whose shapes do not fit the kernel.
    virtual core::Result<void> launch(StreamIndex stream, const KernelCall& call) = 0;
    /// to = from, cast to `to`'s dtype; equal element counts.
    virtual core::Result<void> copy(StreamIndex stream, const TensorView& from, const TensorView& to) = 0;
    /// to += from, in `to`'s dtype.
    virtual core::Result<void> add(StreamIndex stream, const TensorView& from, const TensorView& to) = 0;
    virtual core::Result<void> fill(StreamIndex stream, const TensorView& to, double value) = 0;
    /// values /= divisor
    virtual core::Result<void> divide(StreamIndex stream, const TensorView& values, double divisor) = 0;
    virtual core::Result<void> update(StreamIndex stream, const OptimizerCall& call) = 0;
    /// Plain bytes between host and device. `from` is copied before the call returns; `to` is written before
    /// `synchronize` returns, and must be there until then.
    virtual core::Result<void> upload(StreamIndex stream, std::span<const std::byte> from, const TensorView& to) = 0;
    virtual core::Result<void> download(StreamIndex stream, const TensorView& from, std::span<std::byte> to) = 0;
};

}  // namespace shardscope::runtime
