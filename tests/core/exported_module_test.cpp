// What examples/export_module.py wrote of a small module under PyTorch 2.6 (two blocks of a norm and two linears
// between an embedding and a head that is tied to it).

#include "core/model/exported_module.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace shardscope::core {
namespace {

std::string written() {
    std::ostringstream text;
    text << std::ifstream(SHARDSCOPE_TEST_DATA "/modules/toy.json", std::ios::binary).rdbuf();
    return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(ExportedModule, ReadsNamesShapesAndDtypesWithTiedTensorsOnce) {
    const Document file = parseJson(written(), "toy.json").value();
    ASSERT_TRUE(isExportedModule(file));
    const auto spec = readExportedModule(file, "toy.json");
    ASSERT_TRUE(spec) << describe(spec.error());
    EXPECT_EQ(spec->name, "Toy");
    ASSERT_EQ(spec->entries.size(), 11u);
    EXPECT_EQ(spec->entries[0], (ShapesSpec::Entry{"words.weight", {20, 8}, DType::F32}));
    EXPECT_EQ(spec->entries[3], (ShapesSpec::Entry{"blocks.0.up.weight", {16, 8}, DType::F32}));
    const auto model = buildModel(*spec, Workload{});
    ASSERT_TRUE(model) << describe(model.error());
    EXPECT_EQ(parameterCount(*model), 160 + 2 * (16 + 128 + 16 + 128));
}

TEST(ExportedModule, WrongFilesAreRefusedByTheParametersName) {
    const auto refused = [](const std::string& text) {
        const auto document = parseJson(text, "toy.json");
        EXPECT_TRUE(document);
        const auto spec = readExportedModule(document.value_or(Document{}), "toy.json");
        EXPECT_FALSE(spec);
        return spec ? std::string() : spec.error().message;
    };
    EXPECT_NE(refused(replaced(written(), "\"version\": 1", "\"version\": 2")).find("version"), std::string::npos);
    EXPECT_NE(refused(replaced(written(), "\"parameters\"", "\"other\"")).find("parameters"), std::string::npos);
    EXPECT_NE(refused(replaced(written(), "    20,\n    8", "    -20,\n    8")).find("words.weight"),
              std::string::npos);
    EXPECT_NE(refused(replaced(written(), "    20,\n    8", "    1e30,\n    8")).find("shape"), std::string::npos);
    EXPECT_NE(refused(replaced(written(), "\"dtype\": \"float32\"", "\"dtype\": \"quint4\"")).find("quint4"),
              std::string::npos);
    EXPECT_FALSE(isExportedModule(parseJson("{\"modules\": []}", "x").value()));
}

}  // namespace
}  // namespace shardscope::core
