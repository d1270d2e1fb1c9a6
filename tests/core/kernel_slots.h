#pragma once

#include <vector>

#include "core/graph/activation_plan.h"
#include "core/graph/recompute.h"

namespace shardscope::core::tests {

/// A slot for each kernel of a micro-batch on one device, in the order in which they run.
inline std::vector<PassSlot> kernelSlots(const Model& model, const RecomputeTable& recompute) {
    std::vector<PassSlot> slots;
    const auto add = [&](std::size_t l, bool backward, bool again, std::uint32_t k) {
        slots.push_back({PassSlot::Kind::Kernels, {LayerId(l), k, 1, backward}, again});
    };
    for (std::size_t l = 0; l < model.layers.size(); ++l)
        for (std::uint32_t k = 0; k < model.programOf(model.layers[l]).forward.size(); ++k) add(l, false, false, k);
    for (std::size_t l = model.layers.size(); l-- > 0;) {
        const Recompute& again = recompute.of(LayerId(l));
        for (std::uint32_t k = 0; k < model.programOf(model.layers[l]).backward.size(); ++k) {
            if (!again.empty() && again.trigger == k)
                for (std::uint32_t f = 0; f < again.end; ++f)
                    if (again.again[f]) add(l, false, true, f);
            add(l, true, false, k);
        }
    }
    return slots;
}

}  // namespace shardscope::core::tests
