#pragma once

// Writes one layer's forward pass in terms of its modules: what a module computes and how large it is follow from the
// Architecture. Names are relative to the layer's module; "" is that module itself.

#include <string>
#include <string_view>
#include <vector>

#include "core/model/hf/architecture.h"
#include "core/model/program_builder.h"

namespace shardscope::core {

class LayerWriter {
public:
    LayerWriter(ProgramBuilder& builder, const Architecture& architecture, std::string layer, const Workload& given)
        : b(builder), workload(given), m_architecture(architecture), m_layer(std::move(layer)) {}

    ProgramBuilder& b;
    const Workload& workload;

    [[nodiscard]] const ModuleEntry& at(const std::string& module) const;
    [[nodiscard]] bool has(const std::string& module) const;
    /// Kernels belong to that module while the scope lives.
    [[nodiscard]] ProgramBuilder::Scope in(const std::string& module);
    /// A module's own parameter.
    TensorId parameter(const std::string& module, std::string_view name);
    /// Runs a module that computes one thing. A module without work hands x on.
    TensorId apply(const std::string& module, TensorId x);

    /// The word of a config (ConfigKeys::activation), and "sigmoid", in the scope of `module` if that is there.
    TensorId activation(std::string_view word, TensorId x, const std::string& module = {});
    /// Dropout as that module does it.
    TensorId drop(const std::string& module, TensorId x);
    /// x [rows.., c] over [B, S, c]: the first or the last token of each sample, [B, c].
    TensorId tokenOf(TensorId x, std::int64_t index);

    /// A convolution over the last dimension(s) of x as one GEMM: [B, positions, out].
    TensorId convolve(const std::string& module, TensorId x, std::int64_t positions);
    /// A kernel that is bound by memory; its gradient, for the inputs that need one, is one kernel of the same traffic.
    TensorId pass(std::string_view op, const std::vector<TensorId>& inputs, Shape shape);

private:
    TensorId layerNorm(const std::string& module, const ModuleEntry& entry, TensorId x);

    const Architecture& m_architecture;
    std::string m_layer;
};

}  // namespace shardscope::core
