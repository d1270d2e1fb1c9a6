#pragma once

// Typed 32-bit indices: mixing a unit with an op does not compile. An id is an index into the table that its
// comment names; a default-constructed id is "none".

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace shardscope::core {

template <class Tag>
struct Id {
    static constexpr std::uint32_t kNone = 0xffffffffu;
    std::uint32_t value = kNone;

    constexpr Id() = default;
    constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}
    [[nodiscard]] constexpr bool valid() const { return value != kNone; }
    [[nodiscard]] constexpr std::size_t index() const { return value; }
    friend constexpr auto operator<=>(Id, Id) = default;
};

using ModuleId = Id<struct ModuleTag>;        ///< Model::modules
using ParameterId = Id<struct ParameterTag>;  ///< Model::parameters
using LayerId = Id<struct LayerTag>;          ///< Model::layers
using ProgramId = Id<struct ProgramTag>;      ///< Model::programs
using TensorId = Id<struct TensorTag>;        ///< Program::tensors of one program
using UnitId = Id<struct UnitTag>;            ///< StepGraph::units
using OpId = Id<struct OpTag>;                ///< the ops of a StepGraph, all classes together
using BlockId = Id<struct BlockTag>;          ///< StepGraph::blocks
using GroupId = Id<struct GroupTag>;          ///< StepGraph::groups
using ClassId = Id<struct ClassTag>;          ///< StepGraph::classes

}  // namespace shardscope::core

template <class Tag>
struct std::hash<shardscope::core::Id<Tag>> {
    std::size_t operator()(shardscope::core::Id<Tag> id) const noexcept { return id.value; }
};
