#include "runtime/executor/unit_memory.h"

#include <algorithm>
#include <cassert>

#include "core/plan/sharding.h"

namespace shardscope::runtime {

std::int64_t UnitLayout::ownElements() const {
    std::int64_t sum = 0;
    for (const ParameterPlace& place : places) sum += place.trained ? place.own : 0;
    return sum;
}

UnitLayout layOut(const core::Model& model, const core::Unit& unit, std::int64_t ranks, std::int64_t rank) {
    UnitLayout layout;
    layout.ranks = ranks;
    layout.rank = rank;
    for (const core::ParameterId id : unit.parameters) {
        ParameterPlace place;
        place.parameter = id;
        place.shape = model.parameters[id.index()].shape;
        place.elements = core::elementsOf(place.shape);
        place.padded = core::paddedElements(place.shape, ranks);
        place.offset = layout.padded;
        place.own = core::elementsOf(core::shardShape(place.shape, ranks, rank));
        place.trained = !model.parameters[id.index()].frozen;
        place.gradientOffset = layout.trainedPadded;
        layout.padded += place.padded;
        if (place.trained) layout.trainedPadded += place.padded;
        layout.places.push_back(std::move(place));
    }
    return layout;
}

TensorView flatView(const Memory& memory, core::DType dtype, std::int64_t offset, std::int64_t elements) {
    assert(memory.valid() && offset >= 0 && (offset + elements) * core::sizeOf(dtype) <= memory.bytes);
    return {memory.data + offset * core::sizeOf(dtype), dtype, {elements}, {}};
}

}  // namespace shardscope::runtime
