#include "runtime/executor/unit_memory.h"

#include <algorithm>
#include <cassert>

#include "core/plan/sharding.h"

namespace shardscope::runtime {

std::int64_t UnitLayout::ownElements() const {
    if (flat) return gradientShare();  // the optimizer updates flat parameters, padding included
    std::int64_t sum = 0;
    for (const ParameterPlace& place : places) sum += place.trained ? place.own : 0;
    return sum;
}

std::int64_t UnitLayout::castBytes(core::DType original) const {
    if (flat) return bytes;
    std::int64_t sum = 0;
    for (const ParameterPlace& place : places)
        if (place.type != original) sum += place.padded * core::sizeOf(place.type);
    return sum;
}

UnitLayout layOut(const core::Model& model, const core::Plan& plan, const core::Unit& unit, std::int64_t ranks,
                  std::int64_t rank, const std::vector<bool>& cast) {
    UnitLayout layout;
    layout.ranks = ranks;
    layout.rank = rank;
    layout.flat = ranks > 1 && plan.fsdp.flat;
    const core::DType compute = plan.precision.compute(), original = plan.precision.original;
    for (std::size_t i = 0; i < unit.parameters.size(); ++i) {
        const core::ParameterId id = unit.parameters[i];
        ParameterPlace place;
        place.inMaster = model.workload.autocast && !cast[id.index()];
        place.type = place.inMaster || (!unit.inOriginalDtype.empty() && unit.inOriginalDtype[i]) ? original : compute;
        place.parameter = id;
        place.shape = model.parameters[id.index()].shape;
        place.elements = core::elementsOf(place.shape);
        const std::string& name = model.parameters[id.index()].name;
        place.dim1 = ranks > 1 && core::cutOnDim1(plan, name, place.shape);
        place.padded = ranks > 1 && !layout.flat ? core::paddedElements(plan, name, place.shape) : place.elements;
        place.offset = layout.padded;
        place.own = ranks > 1 ? core::ownElements(plan, name, place.shape, rank) : place.elements;
        place.trained = !model.parameters[id.index()].frozen;
        place.gradientOffset = layout.trainedPadded;
        layout.padded += place.padded;
        place.ownAt = place.offset / ranks;
        place.ownGradientAt = place.gradientOffset / ranks;
        place.ownBegin = std::min(rank * (place.padded / ranks), place.elements);
        if (place.trained) layout.trainedPadded += place.padded;
        layout.places.push_back(std::move(place));
    }
    if (layout.flat) {
        layout.padded = unit.paddedElements;
        layout.trainedPadded = unit.trainedPadded;
        for (ParameterPlace& place : layout.places) {
            const core::FlatPart part = core::flatPart(layout.padded, ranks, rank, place.offset, place.elements);
            place.own = part.elements;
            place.ownBegin = part.begin;
            place.ownAt = place.ownGradientAt = part.at;
        }
    }
    // The wider types come first, so that every parameter is aligned.
    std::vector<core::DType> types{compute};
    if (original != compute) types.push_back(original);
    std::ranges::stable_sort(types, std::ranges::greater{}, core::sizeOf);
    for (const core::DType type : types)
        for (ParameterPlace& place : layout.places) {
            if (place.type != type || place.inMaster) continue;
            place.byteOffset = layout.bytes;
            layout.bytes += place.padded * core::sizeOf(type);
        }
    if (layout.flat) layout.bytes = layout.padded * core::sizeOf(compute);
    return layout;
}

TensorView wholePart(const Memory& memory, const ParameterPlace& place, std::int64_t part, std::int64_t parts) {
    const std::int64_t piece = place.padded / parts, size = core::sizeOf(place.type);
    assert(memory.valid() && place.byteOffset + place.padded * size <= memory.bytes);
    return {memory.data + place.byteOffset + part * piece * size, place.type, {piece}, {}};
}

TensorView cutPart(const Memory& memory, const UnitLayout& layout, const ParameterPlace& place, std::int64_t part,
                   std::int64_t parts) {
    const std::int64_t piece = place.padded / parts;
    assert(memory.valid() && (part + 1) * (layout.bytes / parts) <= memory.bytes);
    return {memory.data + part * (layout.bytes / parts) + place.byteOffset / parts, place.type, {piece}, {}};
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
