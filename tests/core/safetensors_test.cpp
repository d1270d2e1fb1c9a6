#include "core/model/safetensors.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/base/document.h"

namespace shardscope::core {
namespace {

std::string contentOf(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::string fromHex(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

std::string fileOf(const std::string& header, const std::string& data = {}) {
    std::string bytes;
    for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
    return bytes + header + data;
}

Result<SafetensorsHeader> read(const std::string& bytes) {
    return parseSafetensorsHeader(bytes, static_cast<std::int64_t>(bytes.size()), "x.safetensors");
}

TEST(Safetensors, everyVerdictOfTheOfficialReaderHolds) {
    const auto cases =
        parseJson(contentOf(std::string(SHARDSCOPE_TEST_DATA) + "/safetensors_reader_cases.json"), "cases");
    ASSERT_TRUE(cases.has_value());
    const Document& list = *cases->find("cases");
    ASSERT_EQ(list.members.size(), 42u);
    for (const auto& [name, value] : list.members) {
        const auto header = read(fromHex(value.find("bytes_hex")->text));
        std::string verdict = "refused";
        if (header) {
            verdict = "accepted [";
            for (const SafetensorsEntry& entry : header->entries)
                verdict += (verdict.back() == '[' ? "'" : ", '") + entry.name + "'";
            verdict += "]";
        }
        const std::string& expected = value.find("result")->text;
        if (expected.starts_with("accepted"))
            EXPECT_EQ(verdict, expected) << name << ": " << (header ? "" : describe(header.error()));
        else
            EXPECT_EQ(verdict, "refused") << name << ": " << expected;
    }
}

TEST(Safetensors, theHeaderAloneIsEnough) {
    const std::string bytes =
        fileOf(R"({"__metadata__":{"format":"pt"},"w":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]}})");
    const auto length = safetensorsHeaderBytes(std::string_view(bytes).substr(0, 8), 12 + std::ssize(bytes), "x");
    ASSERT_TRUE(length.has_value());
    EXPECT_EQ(*length, std::ssize(bytes));
    const auto header = parseSafetensorsHeader(bytes, 12 + std::ssize(bytes), "x");
    ASSERT_TRUE(header.has_value()) << describe(header.error());
    EXPECT_EQ(header->entries.at(0).shape, (Shape{2, 3}));
    EXPECT_EQ(header->entries.at(0).type, DType::BF16);
    EXPECT_EQ(header->metadata.at(0).second, "pt");
    EXPECT_FALSE(tensorBytes(*header, bytes, "w").has_value()) << "the data is not there";
}

TEST(Safetensors, valuesAreReadLittleEndian) {
    const auto header = read(fileOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                                    R"("i":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})",
                                    std::string(16, '\0')));
    ASSERT_TRUE(header.has_value()) << describe(header.error());
    // 1.0f is 3f800000, -2.5f is c0200000 (IEEE 754).
    std::string file(static_cast<std::size_t>(header->dataStart), ' ');
    file += fromHex("feffffffffffffff0000803f000020c0");
    EXPECT_EQ(readF32(*header, file, "a").value(), (std::vector<float>{1.0f, -2.5f}));
    EXPECT_EQ(readI64(*header, file, "i").value(), (std::vector<std::int64_t>{-2}));
    EXPECT_FALSE(readF32(*header, file, "i").has_value());
    EXPECT_FALSE(readF32(*header, file, "b").has_value());
}

TEST(Safetensors, messagesNameFileTensorAndNumbers) {
    const auto header = read(fileOf(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "01234567"));
    ASSERT_FALSE(header.has_value());
    EXPECT_EQ(header.error().where, "x.safetensors 'w'");
    EXPECT_NE(header.error().message.find("found 8 bytes, expected 12"), std::string::npos) << header.error().message;
    EXPECT_FALSE(read(fileOf("\xef\xbb\xbf{}")).has_value()) << "a byte order mark is no '{'";
}

TEST(SafetensorsIndex, namesFilesOnceAndNeverPaths) {
    const auto index = parseSafetensorsIndex(
        R"({"metadata":{"total_size":8},"weight_map":{"b":"2.safetensors","a":"1.safetensors","c":"2.safetensors"}})",
        "index");
    ASSERT_TRUE(index.has_value()) << describe(index.error());
    EXPECT_EQ(index->shards, (std::vector<std::string>{"1.safetensors", "2.safetensors"}));
    EXPECT_EQ(index->weightMap.size(), 3u);
    for (const char* name : {"../x", "/etc/passwd", "a\\\\b", "", "..", "x\\u0000y"})
        EXPECT_FALSE(parseSafetensorsIndex(std::string(R"({"weight_map":{"a":")") + name + "\"}}", "index").has_value())
            << name;
    EXPECT_FALSE(parseSafetensorsIndex("{}", "index").has_value());
    EXPECT_FALSE(parseSafetensorsIndex(R"({"weight_map":{"a":3}})", "index").has_value());
    const Error error = missingShards(*index, {"2.safetensors"});
    EXPECT_NE(error.message.find("2.safetensors"), std::string::npos);
    EXPECT_NE(error.hint.find("not shapes"), std::string::npos);
}

TEST(SafetensorsIndex, shardsAreJoinedAndChecked) {
    const auto one = read(fileOf(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "0123"));
    const auto two = read(fileOf(R"({"b":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]}})", "0123"));
    ASSERT_TRUE(one.has_value() && two.has_value());
    const auto index = parseSafetensorsIndex(R"({"weight_map":{"a":"1","b":"2"}})", "index");
    const auto spec = shapesFromSafetensors("m", {*one, *two}, &*index);
    ASSERT_TRUE(spec.has_value()) << describe(spec.error());
    ASSERT_EQ(spec->entries.size(), 2u);
    EXPECT_EQ(spec->entries[1].shape, (Shape{2, 2}));
    EXPECT_FALSE(shapesFromSafetensors("m", {*one}, &*index).has_value()) << "b is promised";
    EXPECT_FALSE(shapesFromSafetensors("m", {*one, *one}).has_value()) << "a is twice";
    EXPECT_FALSE(shapesFromSafetensors("m", {}).has_value());
}

}  // namespace
}  // namespace shardscope::core
