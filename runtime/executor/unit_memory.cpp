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

UnitLayout layOut(const core::Model& model, const core::Plan& plan, const core::Unit& unit, std::int64_t ranks,
                  std::int64_t rank) {
    UnitLayout layout;
    layout.ranks = ranks;
    layout.rank = rank;
    for (const core::ParameterId id : unit.parameters) {
        ParameterPlace place;
        place.parameter = id;
        place.shape = model.parameters[id.index()].shape;
        place.elements = core::elementsOf(place.shape);
        const std::string& name = model.parameters[id.index()].name;
        place.dim1 = ranks > 1 && core::cutOnDim1(plan, name, place.shape);
        place.padded = ranks > 1 ? core::paddedElements(plan, name, place.shape) : place.elements;
        place.offset = layout.padded;
        place.own = ranks > 1 ? core::ownElements(plan, name, place.shape, rank) : place.elements;
        place.trained = !model.parameters[id.index()].frozen;
        place.gradientOffset = layout.trainedPadded;
        layout.padded += place.padded;
        if (place.trained) layout.trainedPadded += place.padded;
        layout.places.push_back(std::move(place));
    }
    return layout;
}

TensorView partOnDim1(std::byte* whole, core::DType dtype, const ParameterPlace& place, std::int64_t part,
                      std::int64_t parts) {
    const std::int64_t rows = place.shape.front(), row = place.elements / rows, width = row / parts;
    return {whole + part * width * core::sizeOf(dtype), dtype, {rows, width}, {row, 1}};
}

TensorView flatView(const Memory& memory, core::DType dtype, std::int64_t offset, std::int64_t elements) {
    assert(memory.valid() && offset >= 0 && (offset + elements) * core::sizeOf(dtype) <= memory.bytes);
    return {memory.data + offset * core::sizeOf(dtype), dtype, {elements}, {}};
}

}  // namespace shardscope::runtime
