#include "core/model/model_builder.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/model/program_builder.h"

namespace shardscope::core {
namespace {

/// Adds a block of nested modules.
void addBlock(ModelBuilder& builder, const std::string& at, bool wide) {
    builder.module(at, "Block");
    builder.parameter(builder.module(at + ".mlp", "Sequential"), "scale", {4});
    const ModuleId up = builder.module(at + ".mlp.up", "Linear");
    builder.parameter(up, "weight", {wide ? 8 : 6, 4});
    builder.parameter(up, "bias", {wide ? 8 : 6});
    builder.parameter(builder.module(at + ".norm", "LayerNorm"), "weight", {4});
}

/// Of two kinds of blocks in turns, with a norm behind them; each block of its own, or a copy of the first of its kind.
Model blocks(bool copied) {
    ModelBuilder builder("case", "blocks", "Model", {});
    builder.module("layers", "ModuleList");
    constexpr int kBlocks = 12;  // "layers.1" and "layers.10"
    for (int i = 0; i < kBlocks; ++i) {
        const std::string at = "layers." + std::to_string(i);
        if (copied && i >= 2)
            builder.copy("layers." + std::to_string(i % 2), at);
        else
            addBlock(builder, at, i % 2 == 1);
    }
    builder.parameter(builder.module("norm", "LayerNorm"), "weight", {4});

    std::vector<ProgramId> programs;
    for (const bool wide : {false, true}) {
        Program program;
        program.modules = {{"", "Block"}, {"mlp.up", "Linear"}, {"norm", "LayerNorm"}};
        std::uint32_t slot = 0;
        for (const auto& [name, shape] : {std::pair<const char*, Shape>{"norm.weight", {4}},
                                          std::pair<const char*, Shape>{"mlp.up.weight", {wide ? 8 : 6, 4}}}) {
            Tensor tensor;
            tensor.name = name;
            tensor.shape = shape;
            tensor.role = TensorRole::Parameter;
            tensor.slot = slot++;
            program.tensors.push_back(tensor);
        }
        programs.push_back(builder.program(std::move(program)));
    }
    for (std::size_t i = 0; i < kBlocks; ++i) {
        const std::string at = "layers." + std::to_string(i);
        builder.layer(at, LayerKind::Block, at, programs[i % 2]);
    }
    auto model = builder.finish();
    EXPECT_TRUE(model.has_value());
    return model.value_or(Model{});
}

TEST(ModelBuilder, CopiesAModuleAsIfItWereAddedByItself) {
    const Model own = blocks(false), copied = blocks(true);
    ASSERT_EQ(own.modules.size(), 2U + 12 * 4 + 1);
    ASSERT_EQ(copied.modules.size(), own.modules.size());
    for (std::size_t m = 0; m < own.modules.size(); ++m) {
        const Module &a = own.modules[m], &b = copied.modules[m];
        EXPECT_EQ(a.name, b.name);
        EXPECT_EQ(a.type, b.type) << a.name;
        EXPECT_EQ(a.parent, b.parent) << a.name;
        EXPECT_EQ(a.children, b.children) << a.name;
        EXPECT_EQ(a.parameters, b.parameters) << a.name;
    }
    ASSERT_EQ(copied.parameters.size(), own.parameters.size());
    for (std::size_t p = 0; p < own.parameters.size(); ++p) {
        const Parameter &a = own.parameters[p], &b = copied.parameters[p];
        EXPECT_EQ(a.name, b.name);
        EXPECT_EQ(a.shape, b.shape) << a.name;
        EXPECT_EQ(a.module, b.module) << a.name;
    }
    ASSERT_EQ(copied.layers.size(), own.layers.size());
    for (std::size_t l = 0; l < own.layers.size(); ++l) {
        const Layer &a = own.layers[l], &b = copied.layers[l];
        EXPECT_EQ(a.module, b.module) << a.name;
        EXPECT_EQ(a.modules, b.modules) << a.name;
        EXPECT_EQ(a.parameters, b.parameters) << a.name;
    }
    EXPECT_EQ(copied.parameters[copied.layers[11].parameters[1].index()].name, "layers.11.mlp.up.weight");
}

}  // namespace
}  // namespace shardscope::core
