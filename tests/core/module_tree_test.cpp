// Models written as a tree of modules: the toy models of the recordings come out of files as out of code, and what
// makes no model is refused with its place.

#include "core/model/module_tree.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/toy_models.h"

namespace shardscope::core {
namespace {

std::string contentOf(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
}

Result<ModuleTreeSpec> read(const std::string& toml) {
    const auto document = parseToml(toml, "m.toml");
    if (!document) return tl::unexpected(document.error());
    return readModuleTree(*document, "m.toml");
}

Model built(const ModuleTreeSpec& spec) {
    Workload workload;
    workload.batch = 2;
    auto model = buildModel(spec, workload);
    EXPECT_TRUE(model.has_value()) << (model ? "" : describe(model.error()));
    return model ? std::move(*model) : Model{};
}

void collect(const Model& model, ModuleId module, std::vector<std::string>& names) {
    for (ModuleId child : model.modules[module.index()].children) collect(model, child, names);
    for (ParameterId p : model.modules[module.index()].parameters)
        names.push_back(model.parameters[p.index()].name + toString(model.parameters[p.index()].shape));
}

std::vector<std::string> parametersUnder(const Model& model, std::string_view module) {
    std::vector<std::string> names;
    collect(model, findModule(model, module), names);
    return names;
}

TEST(ModuleTree, FilesGiveTheToyModelsOfTheRecordings) {
    struct Case {
        const char* file;
        tests::ToyModel toy;
    };
    for (const Case& c : {Case{"toy_mlp", {.blocks = 4, .blockKind = "mlp"}},
                          Case{"toy_attn_mlp", {.blocks = 2, .blockKind = "attn_mlp"}},
                          Case{"toy_stage", {.blocks = 2, .blockKind = "stage"}},
                          Case{"toy_stage_bare", {.blocks = 2, .blockKind = "stage_bare"}},
                          Case{"toy_tied", {.blocks = 2, .blockKind = "mlp", .tied = true}}}) {
        auto fromFile = read(contentOf(std::string(SHARDSCOPE_SOURCE_DIR) + "/examples/models/" + c.file + ".toml"));
        ASSERT_TRUE(fromFile.has_value()) << c.file << ": " << describe(fromFile.error());
        ModuleTreeSpec expected = *tests::toySpec(c.toy);
        expected.name = c.file;
        EXPECT_EQ(*fromFile, expected) << c.file;
        built(expected);
    }
}

// Units of the cases blocks3_root_only and attn_mlp_nested of the recordings of FSDP2 (torch 2.15, `units` in
// schedules.jsonl).
TEST(ModuleTree, RegistersParametersInTheOrderOfUnits) {
    const Model mlp = built(*tests::toySpec({.blocks = 1}));
    EXPECT_EQ(parametersUnder(mlp, ""),
              (std::vector<std::string>{"emb.weight[11, 6]", "blocks.0.norm.weight[6]", "blocks.0.norm.bias[6]",
                                        "blocks.0.fc1.weight[10, 6]", "blocks.0.fc1.bias[10]",
                                        "blocks.0.fc2.weight[6, 10]", "blocks.0.fc2.bias[6]", "norm.weight[6]",
                                        "norm.bias[6]", "head.weight[11, 6]", "head.bias[11]", "pos[1, 5, 6]"}));
    const Model attention = built(*tests::toySpec({.blocks = 1, .blockKind = "attn_mlp"}));
    EXPECT_EQ(parametersUnder(attention, "blocks.0"),
              (std::vector<std::string>{
                  "blocks.0.norm1.weight[6]", "blocks.0.norm1.bias[6]", "blocks.0.attn.qkv.weight[18, 6]",
                  "blocks.0.attn.qkv.bias[18]", "blocks.0.attn.proj.weight[6, 6]", "blocks.0.attn.proj.bias[6]",
                  "blocks.0.norm2.weight[6]", "blocks.0.norm2.bias[6]", "blocks.0.mlp.fc1.weight[10, 6]",
                  "blocks.0.mlp.fc1.bias[10]", "blocks.0.mlp.fc2.weight[6, 10]", "blocks.0.mlp.fc2.bias[6]"}));
    const Model stage = built(*tests::toySpec({.blocks = 1, .blockKind = "stage"}));
    EXPECT_EQ(parametersUnder(stage, "blocks.0").back(), "blocks.0.scale[6]");
}

// Case blocks3_w1 and its siblings: 148 elements a block of kind mlp, 185 in the root; attn_mlp 168 + 136 + 24.
TEST(ModuleTree, HasTheRecordedNumberOfParameters) {
    EXPECT_EQ(parameterCount(built(*tests::toySpec({.blocks = 3}))), 3 * 148 + 185);
    EXPECT_EQ(parameterCount(built(*tests::toySpec({.blocks = 2, .blockKind = "attn_mlp"}))),
              2 * (168 + 136 + 24) + 185);
    EXPECT_EQ(parameterCount(built(*tests::toySpec({.blocks = 2, .blockKind = "stage"}))), 2 * (2 * 148 + 6) + 185);
    EXPECT_EQ(parameterCount(built(*tests::toySpec({.blocks = 2, .tied = true}))), 2 * 148 + 66 + 12 + 30);
}

TEST(ModuleTree, LayersAreTheEmbeddingTheBlocksNormHeadAndLoss) {
    const Model model = built(*tests::toySpec({.blocks = 3}));
    std::vector<std::string> names;
    for (const Layer& layer : model.layers) names.push_back(layer.name);
    EXPECT_EQ(names, (std::vector<std::string>{"emb", "blocks.0", "blocks.1", "blocks.2", "norm", "head", "loss"}));
    EXPECT_EQ(model.layers[1].program, model.layers[3].program);
    EXPECT_EQ(model.layers[0].parameters.size(), 2u);  // emb.weight and pos
    EXPECT_EQ(model.layers[4].kind, LayerKind::Norm);
    EXPECT_EQ(model.layers[5].kind, LayerKind::Head);
    EXPECT_EQ(model.tokensPerSample, 5);
}

TEST(ModuleTree, ATiedHeadUsesTheEmbeddingsParameter) {
    const Model model = built(*tests::toySpec({.blocks = 1, .tied = true}));
    const Layer& head = model.layers[3];
    ASSERT_EQ(head.parameters.size(), 1u);
    EXPECT_EQ(head.parameters[0], model.layers[0].parameters[0]);
    EXPECT_TRUE(model.parameters[head.parameters[0].index()].tied);
}

TEST(ModuleTree, ReadsJsonAsWell) {
    const auto json = parseJson(R"({"name": "tiny", "sequence": 3, "modules": [
        {"kind": "embedding", "name": "emb", "shape": [7, 4]},
        {"kind": "rms_norm", "name": "norm", "shape": [4], "eps": 1e-6},
        {"kind": "linear", "name": "head", "shape": [7, 4], "bias": false}]})",
                                "m.json");
    ASSERT_TRUE(json.has_value());
    const auto spec = readModuleTree(*json, "m.json");
    ASSERT_TRUE(spec.has_value()) << describe(spec.error());
    EXPECT_EQ(parameterCount(built(*spec)), 28 + 4 + 28);
}

TEST(ModuleTree, DifferentBlocksGetProgramsOfTheirOwn) {
    const auto spec = read(R"(
sequence = 4
modules = [
  { kind = "embedding", name = "emb", shape = [9, 4] },
  { kind = "list", name = "blocks", modules = [
    { kind = "linear", shape = [8, 4], name = "up" },
    { kind = "gelu" },
    { kind = "linear", shape = [4, 8], name = "down" },
  ] },
  { kind = "linear", name = "head", shape = [9, 4] },
])");
    ASSERT_TRUE(spec.has_value()) << describe(spec.error());
    const Model model = built(*spec);
    ASSERT_EQ(model.layers.size(), 6u);
    EXPECT_EQ(model.layers[2].name, "blocks.1");
    EXPECT_EQ(model.programs.size(), 6u);
}

std::string refusal(const std::string& toml) {
    const auto spec = read(toml);
    if (!spec) return spec.error().where + ": " + spec.error().message;
    const auto model = buildModel(*spec, Workload{});
    return model ? std::string("built") : model.error().where + ": " + model.error().message;
}

TEST(ModuleTree, RefusesWhatMakesNoModelAndNamesThePlace) {
    const std::string emb = "sequence = 3\n[[modules]]\nkind = 'embedding'\nname = 'emb'\nshape = [7, 4]\n";
    const std::string head = "[[modules]]\nkind = 'linear'\nname = 'head'\nshape = [7, 4]\n";
    EXPECT_EQ(refusal(emb + head), "built");
    EXPECT_NE(refusal(""), "built");
    EXPECT_EQ(refusal(head), "m.toml: no sequence length");
    EXPECT_EQ(refusal("sequence = 3\n" + head), "m.toml: the first module is no embedding");
    EXPECT_EQ(refusal(emb), "m.toml: the last module is no linear");
    EXPECT_EQ(refusal(emb + "[[modules]]\nkind = 'linera'\n").substr(0, 32), "m.toml:7: unknown kind `linera`,");
    EXPECT_EQ(refusal(emb + head + "shap = 1\n"), "m.toml:10 head: unknown key `shap`");
    EXPECT_EQ(refusal(emb + "[[modules]]\nkind = 'linear'\nname = 'head'\nshape = [7, 5]\n"),
              "m.toml: head: expects 5 channels, its input has shape [1, 3, 4]");
    EXPECT_EQ(refusal(emb + "[[modules]]\nkind = 'position'\nname = 'pos'\nshape = [1, 9, 4]\n" + head),
              "m.toml: pos: position of shape [1, 9, 4] does not fit a sequence of 3 tokens");
    EXPECT_EQ(refusal(emb + "[[modules]]\nkind = 'linear'\nname = 'emb'\nshape = [7, 4]\n"),
              "m.toml: emb: two modules have this name");
    EXPECT_EQ(refusal(emb + head + "tied = 'emd'\n"),
              "m.toml: head: tied to `emd`, which is no earlier module with a weight");
    EXPECT_EQ(refusal("vocab = 9\n" + emb + head), "m.toml: head: gives 7 outputs, but `vocab` is 9");
    EXPECT_EQ(refusal(emb +
                      "[[modules]]\nkind = 'residual'\nname = 'r'\nmodules = [{kind = 'linear', name = 'l', shape = "
                      "[6, 4]}]\n" +
                      head),
              "m.toml: r: a residual's modules give shape [1, 3, 6], but its input has [1, 3, 4]");
    EXPECT_EQ(
        refusal(emb +
                "[[modules]]\nkind = 'attention'\nname = 'a'\nheads = 3\nmodules = [{kind = 'linear', name = 'qkv', "
                "shape = [12, 4]}, {kind = 'linear', name = 'proj', shape = [4, 4]}]\n" +
                head),
        "m.toml: a: 3 heads do not divide 4 channels");
    EXPECT_NE(refusal(emb +
                      "[[modules]]\nkind = 'residual'\nname = 'r'\nmodules = [{kind = 'list', name = 'l', repeat = "
                      "120, modules = [{kind = 'list', repeat = 100, modules = [{kind = 'gelu'}]}]}]\n" +
                      head)
                  .find("10000 modules in one layer"),
              std::string::npos);
    EXPECT_NE(refusal(emb + "[[modules]]\nkind = 'embedding'\nname = 'more'\nshape = [7, 4]\n" + head), "built");
    EXPECT_NE(
        refusal(emb + "[[modules]]\nkind = 'list'\nname = 'l'\nrepeat = 1000000\nmodules = [{kind = 'gelu'}]\n" + head),
        "built");
    std::string lists;  // each within its bound, together beyond it
    for (const char* name : {"k", "l", "m"})
        lists += std::string("[[modules]]\nkind = 'list'\nname = '") + name +
                 "'\nrepeat = 2000\nmodules = [{kind = 'gelu'}]\n";
    EXPECT_NE(refusal(emb + lists + head).find("is 6000, expected at most 4096"), std::string::npos);
    EXPECT_NE(refusal(emb +
                      "[[modules]]\nkind = 'linear'\nname = 'w'\nshape = [1099511627776, 4]\n[[modules]]\nkind = "
                      "'linear'\nname = 'v'\nshape = [1099511627776, 1099511627776]\n" +
                      head),
              "built");
    EXPECT_NE(refusal(emb + "[[modules]]\nkind = 'linear'\nname = 'a.b'\nshape = [4, 4]\n" + head), "built");
}

TEST(ModuleTree, RefusesASequenceThatFitsNoMemory) {
    auto spec = *tests::toySpec({.blocks = 1});
    Workload workload;
    workload.batch = std::int64_t{1} << 32;
    workload.sequence = std::int64_t{1} << 32;
    EXPECT_FALSE(buildModel(spec, workload).has_value());
    workload.batch = std::int64_t{1} << 31;
    workload.sequence = 5;
    EXPECT_TRUE(buildModel(spec, workload).has_value());
    spec.root.children.erase(spec.root.children.begin() + 1);  // no position: any sequence
    workload.batch = std::int64_t{1} << 30;
    workload.sequence = std::int64_t{1} << 26;
    const auto model = buildModel(spec, workload);
    ASSERT_FALSE(model.has_value());
    EXPECT_NE(model.error().message.find("2^62"), std::string::npos);
}

}  // namespace
}  // namespace shardscope::core
