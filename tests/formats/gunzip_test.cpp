// Packed files: whole, joined, cut off, damaged, too large.

#include "traces/formats/gunzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace shardscope::formats {
namespace {

std::string packed(const std::string& bytes) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string text() {
    std::string all;
    for (int i = 0; i < 40000; ++i) all += std::to_string(i * 7919);
    return all;
}

TEST(Gunzip, GivesBackWhatWasPacked) {
    EXPECT_EQ(gunzip(packed(text()), "f", 1 << 20).value(), text());
    EXPECT_EQ(gunzip(packed(""), "f", 0).value(), "");
    EXPECT_EQ(gunzip(packed("one ") + packed("two"), "f", 100).value(), "one two") << "joined files";
    EXPECT_EQ(gunzip(packed("one") + std::string(512, '\0'), "f", 100).value(), "one") << "padded with zeros";
}

TEST(Gunzip, RefusesWhatItCannotUnpackWhole) {
    const std::string whole = packed(text());
    std::string damaged = whole;
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
    std::string wrongSum = whole;
    wrongSum[wrongSum.size() - 6] = static_cast<char>(wrongSum[wrongSum.size() - 6] ^ 1);
    const struct {
        std::string bytes, message;
    } cases[] = {
        {"", "this is no gzip file"},
        {"plain text", "this is no gzip file"},
        {whole.substr(0, whole.size() / 2), "cut off"},
        {whole.substr(0, whole.size() - 1), "cut off"},
        {whole.substr(0, 5), "cut off"},
        {damaged, "damaged"},
        {wrongSum, "damaged"},
        {whole + "rest", "damaged"},
    };
    for (const auto& one : cases) {
        const auto result = gunzip(one.bytes, "f", 1 << 20);
        ASSERT_FALSE(result) << one.message;
        EXPECT_NE(result.error().message.find(one.message), std::string::npos) << result.error().message;
        EXPECT_EQ(result.error().where, "f");
    }
    EXPECT_NE(gunzip(whole, "f", 1000).error().message.find("more than 1000 bytes"), std::string::npos);
}

}  // namespace
}  // namespace shardscope::formats
