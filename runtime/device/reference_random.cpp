#include <fmt/format.h>

#include "runtime/device/elements.h"
#include "runtime/device/random_draws.h"
#include "runtime/device/reference_kernels.h"

namespace shardscope::runtime::reference {

using core::Result;

Result<Draws> drawsOf(const KernelCall& call, std::int64_t elements) {
    const auto samples = static_cast<std::int64_t>(call.seeds.size());
    if (samples == 0 || elements % samples != 0)
        return shapeError(call, fmt::format("draws for {} elements of {} samples", elements, samples));
    return Draws{call.seeds, elements / samples, static_cast<float>(call.kernel.scalar)};
}

bool Draws::keeps(std::int64_t element) const {
    const std::uint64_t seed = seeds[static_cast<std::size_t>(element / ofSample)];
    return random::uniformAt(seed, static_cast<std::uint64_t>(element % ofSample)) >= dropped;
}

Result<void> dropout(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 2));
    auto x = loadFloats(call.inputs[0]);
    if (call.outputs[0].elements() != call.inputs[0].elements() ||
        call.outputs[1].elements() != call.inputs[0].elements())
        return shapeError(call, "has operands of different sizes");
    SHARDSCOPE_ASSIGN(const Draws draws, drawsOf(call, call.inputs[0].elements()));
    std::vector<float> mask(x.size());
    const double factor = 1 / (1 - call.kernel.scalar);
    for (std::size_t i = 0; i < x.size(); ++i) {
        mask[i] = draws.keeps(static_cast<std::int64_t>(i)) ? 1.0f : 0.0f;
        x[i] = mask[i] > 0 ? static_cast<float>(x[i] * factor) : 0.0f;
    }
    storeFloats(call.outputs[0], x);
    storeFloats(call.outputs[1], mask);
    return {};
}

Result<void> dropoutGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    auto dy = loadFloats(call.inputs[0]);
    const auto mask = loadFloats(call.inputs[1]);
    if (dy.size() != mask.size() || call.outputs[0].elements() != call.inputs[0].elements())
        return shapeError(call, "has operands of different sizes");
    const double factor = 1 / (1 - call.kernel.scalar);
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = mask[i] > 0 ? static_cast<float>(dy[i] * factor) : 0.0f;
    storeFloats(call.outputs[0], dy);
    return {};
}

Result<void> bernoulli(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 0, 1));
    const std::int64_t elements = call.outputs[0].elements();
    SHARDSCOPE_ASSIGN(const Draws draws, drawsOf(call, elements));
    std::vector<float> mask(static_cast<std::size_t>(elements));
    for (std::int64_t i = 0; i < elements; ++i) mask[static_cast<std::size_t>(i)] = draws.keeps(i) ? 1.0f : 0.0f;
    storeFloats(call.outputs[0], mask);
    return {};
}

Result<void> multiply(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    auto a = loadFloats(call.inputs[0]);
    const auto b = loadFloats(call.inputs[1]);
    if (a.size() != b.size() || call.outputs[0].elements() != call.inputs[0].elements())
        return shapeError(call, "has operands of different sizes");
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
    storeFloats(call.outputs[0], a);
    return {};
}

}  // namespace shardscope::runtime::reference
