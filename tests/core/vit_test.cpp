// torchvision's vision transformer: totals, names, order of parameters in a unit, layers, and refusals.

#include "core/model/vit.h"

#include <gtest/gtest.h>

namespace shardscope::core {
namespace {

constexpr std::int64_t kLargestTested = std::int64_t{1} << 31;

Model built(const VitSpec& spec) {
    auto model = buildModel(spec, Workload{});
    EXPECT_TRUE(model.has_value()) << (model ? "" : describe(model.error()));
    return model ? std::move(*model) : Model{};
}

// Post-order over registration order, children before direct parameters (framework semantics 1.1).
void collect(const Model& model, ModuleId module, const std::string& skip, std::vector<std::string>& names) {
    for (ModuleId child : model.modules[module.index()].children)
        if (skip.empty() || !model.modules[child.index()].name.starts_with(skip)) collect(model, child, skip, names);
    for (ParameterId p : model.modules[module.index()].parameters) names.push_back(model.parameters[p.index()].name);
}

// Framework semantics 8.1, 8.3 and 9.3.
TEST(Vit, HasTorchvisionsTotals) {
    const auto count = [](const char* name) { return parameterCount(built(*namedVit(name))); };
    EXPECT_EQ(count("vit_b_16"), 86'567'656);
    EXPECT_EQ(count("vit_b_32"), 88'224'232);
    EXPECT_EQ(count("vit_l_16"), 304'326'632);
    EXPECT_EQ(count("vit_l_32"), 306'535'400);
    EXPECT_EQ(count("vit_h_14"), 632'045'800);
    EXPECT_EQ(count("vit_b_16_1ch10"), 85'413'130);
    EXPECT_EQ(count("vit_tutorial"), 1'006'090);
    EXPECT_EQ(count("vit_tutorial_12"), 1'006'090 + 2 * 99'584) << "two blocks more";
    VitSpec spec = *namedVit("vit_h_14");
    spec.imageSize = 518;
    EXPECT_EQ(parameterCount(built(spec)), 633'470'440);
    spec = *namedVit("vit_b_16");
    spec.classes = 10;
    EXPECT_EQ(parameterCount(built(spec)), 85'806'346);
    spec.imageSize = 28;
    spec.channels = 1;
    for (std::int64_t patch : {4, 7}) {
        spec.patchSize = patch;
        EXPECT_EQ(parameterCount(built(spec)), 85'115'914) << patch;
    }
}

// torchvision's `_ops` and framework semantics 5.3: 17,563,828,224 multiply-adds an image.
TEST(Vit, CountsTwoFlopsForEachMultiplyAdd) {
    EXPECT_EQ(forwardFlops(built(*namedVit("vit_b_16"))).value, 2 * 17'563'828'224);
}

TEST(Vit, EveryListedNameBuilds) {
    EXPECT_EQ(vitNames().size(), 9u);
    for (std::string_view name : vitNames()) {
        const Model model = built(*namedVit(name));
        EXPECT_EQ(model.name, name);
        EXPECT_EQ(model.layers.back().kind, LayerKind::Loss);
    }
    EXPECT_FALSE(namedVit("vit_b_17").has_value());
}

// Framework semantics 1.1 states both orders.
TEST(Vit, RegistersParametersInTheOrderOfUnits) {
    const Model model = built(*namedVit("vit_tiny"));
    std::vector<std::string> block, root;
    const std::string prefix = "encoder.layers.encoder_layer_1.";
    collect(model, findModule(model, "encoder.layers.encoder_layer_1"), "", block);
    std::vector<std::string> expected;
    for (const char* name :
         {"ln_1.weight", "ln_1.bias", "self_attention.out_proj.weight", "self_attention.out_proj.bias",
          "self_attention.in_proj_weight", "self_attention.in_proj_bias", "ln_2.weight", "ln_2.bias", "mlp.0.weight",
          "mlp.0.bias", "mlp.3.weight", "mlp.3.bias"})
        expected.push_back(prefix + name);
    EXPECT_EQ(block, expected);
    collect(model, ModuleId(std::size_t{0}), "encoder.layers", root);
    EXPECT_EQ(root, (std::vector<std::string>{"conv_proj.weight", "conv_proj.bias", "encoder.ln.weight",
                                              "encoder.ln.bias", "encoder.pos_embedding", "heads.head.weight",
                                              "heads.head.bias", "class_token"}));
}

TEST(Vit, BlocksShareOneProgramAndOwnTheirParameters) {
    const Model model = built(*namedVit("vit_tutorial"));
    ASSERT_EQ(model.layers.size(), 14u);
    EXPECT_EQ(model.programs.size(), 5u);
    EXPECT_EQ(model.layers[0].kind, LayerKind::Embedding);
    EXPECT_EQ(model.layers[11].kind, LayerKind::Norm);
    EXPECT_EQ(model.layers[12].kind, LayerKind::Head);
    for (std::size_t i = 1; i <= 10; ++i) {
        const Layer& layer = model.layers[i];
        EXPECT_EQ(layer.program, model.layers[1].program);
        for (ParameterId p : layer.parameters)
            EXPECT_TRUE(model.parameters[p.index()].name.starts_with(layer.name + "."));
        ASSERT_EQ(layer.modules.size(), model.programOf(layer).modules.size());
    }
}

TEST(Vit, EveryParameterGetsAGradientOfItsShape) {
    const Model model = built(*namedVit("vit_tiny"));
    std::vector<int> seen(model.parameters.size(), 0);
    for (const Layer& layer : model.layers)
        for (const Tensor& tensor : model.programOf(layer).tensors) {
            if (tensor.role != TensorRole::ParameterGradient) continue;
            const ParameterId p = layer.parameters[tensor.slot];
            EXPECT_EQ(tensor.shape, model.parameters[p.index()].shape);
            ++seen[p.index()];
        }
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], 1) << model.parameters[i].name;
}

TEST(Vit, RefusesSizesThatMakeNoModel) {
    const auto message = [](auto change) {
        VitSpec spec;
        Workload workload;
        change(spec, workload);
        const auto model = buildModel(spec, workload);
        return model ? std::string("built") : model.error().message;
    };
    EXPECT_EQ(message([](VitSpec& s, Workload&) { s.patchSize = 15; }),
              "image size 224 is no multiple of the patch size 15");
    EXPECT_EQ(message([](VitSpec& s, Workload&) { s.heads = 7; }), "7 heads do not divide the hidden size 768");
    EXPECT_EQ(message([](VitSpec& s, Workload&) { s.layers = 0; }),
              "layers is 0, expected a whole number from 1 to 2^31");
    EXPECT_EQ(message([](VitSpec& s, Workload&) { s.classes = -3; }),
              "classes is -3, expected a whole number from 1 to 2^31");
    EXPECT_EQ(message([](VitSpec& s, Workload&) { s.layers = 1'000'000; }), "layers is 1000000, expected at most 4096");
    EXPECT_EQ(message([](VitSpec&, Workload& w) { w.batch = 0; }),
              "batch size is 0, expected a whole number from 1 to 2^31");
    const auto large = [&](auto change) { return message(change).find("2^62") != std::string::npos; };
    EXPECT_TRUE(large([](VitSpec&, Workload& w) { w.batch = kLargestTested; }));
    EXPECT_TRUE(large([](VitSpec& s, Workload& w) {
        s.mlp = kLargestTested;
        w.batch = 1 << 20;
    }));
    EXPECT_TRUE(large([](VitSpec& s, Workload&) {
        s.hidden = kLargestTested;
        s.heads = 1;
    }));
    EXPECT_TRUE(large([](VitSpec& s, Workload&) {
        s.classes = kLargestTested;
        s.hidden = kLargestTested / 2;
        s.heads = 1;
    }));
    EXPECT_TRUE(large([](VitSpec& s, Workload& w) {
        s.imageSize = s.patchSize = 1 << 16;  // images beyond all memory, of one patch each
        w.batch = 1 << 30;
    }));
    EXPECT_TRUE(large([](VitSpec& s, Workload& w) {
        s.imageSize = 1 << 16;
        s.patchSize = 1;
        w.attention = Workload::AttentionKind::Math;
    }));
}

}  // namespace
}  // namespace shardscope::core
