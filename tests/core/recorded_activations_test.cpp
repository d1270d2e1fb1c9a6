// Kernel lists and saved activations equal PyTorch's recordings; what is not modelled is said, and a change is noticed.

#include "tests/recorded_formulas.h"

#include "core/model/named_decoders.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace shardscope {
namespace {

using Verdict = tests::Comparison::Verdict;

core::Document recording(const std::string& name) {
    std::ostringstream bytes;
    bytes << std::ifstream(std::string(SHARDSCOPE_TEST_DATA) + "/activations/" + name + ".json", std::ios::binary)
                 .rdbuf();
    auto document = core::parseJson(bytes.str(), name);
    EXPECT_TRUE(document.has_value()) << name;
    return document ? std::move(*document) : core::Document{};
}

class RecordedActivations : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedActivations, ComeOutOfTheProgramsExactly) {
    const auto result = tests::compareWithRecording(recording(GetParam()));
    EXPECT_EQ(result.verdict, Verdict::Equal);
    for (const std::string& line : result.lines) ADD_FAILURE() << line;
}

INSTANTIATE_TEST_SUITE_P(
    Files, RecordedActivations,
    ::testing::Values("kernels_vit_small_b64", "kernels_vit_small_b64_math", "saved_vit_small_b64_bf16_flash",
                      "saved_vit_b_16_c1_b4_fp32_math", "kernels_gpt2_b8_s1024_math",
                      "saved_gpt2_b8_s1024_bf16_flash_drop0", "kernels_llama3_8b_b1_s2048",
                      "kernels_vit_b_16_c1_b4_ckpt", "saved_llama3_8b_b1_s2048_bf16_math",
                      "kernels_mixtral_small_b2_s1024_grouped", "saved_mixtral_small_b2_s1024_bf16_flash",
                      "saved_vit_b_16_c1_b4_fp32_efficient", "saved_vit_b_16_c1_b4_bf16_cudnn",
                      "saved_llama3_8b_b1_s2048_bf16_eager", "saved_llama3_8b_b1_s2048_bf16_flash_nnrmsnorm",
                      "kernels_gpt2_b8_s1024_eager", "saved_vit_small_b64_fp32_cpu_rules",
                      "saved_gpt2_b8_s1024_bf16_eager_drop0.1", "kernels_gpt2_b8_s1024_drop0.1_ckpt",
                      "saved_gpt2_b8_s1024_autocast_flash_drop0", "saved_vit_b_16_c1_b4_autocast_flash"));

TEST(RecordedPeaks, AreMet) {
    for (const char* name : {"peak_llama_small_b2_s1024_bf16", "peak_vit_small_b64_fp32", "peak_vit_b_16_c1_b8_fp32",
                             "peak_gpt2_b2_s512_bf16", "peak_llama_small_b8_s2048_bf16_nnrmsnorm_ckpt"}) {
        SCOPED_TRACE(name);
        const auto result = tests::compareWithRecording(recording(name), name);
        EXPECT_EQ(result.verdict, Verdict::Equal);
        for (const std::string& line : result.lines) ADD_FAILURE() << line;
    }
}

TEST(RecordedActivationsComparison, NoticesAChangedKernel) {
    core::Document file = recording("kernels_vit_small_b64");
    core::Document kernels = *file.find("block_kernels");
    kernels.items[3].set("n", core::Document::of(std::int64_t{129}));
    file.set("block_kernels", kernels);
    EXPECT_EQ(tests::compareWithRecording(file).verdict, Verdict::Differs);
}

TEST(RecordedActivationsComparison, NoticesAnotherOrder) {
    core::Document file = recording("kernels_vit_small_b64");
    core::Document kernels = *file.find("block_kernels");
    std::swap(kernels.items[5], kernels.items[6]);
    file.set("block_kernels", kernels);
    EXPECT_EQ(tests::compareWithRecording(file).verdict, Verdict::Differs);
}

TEST(RecordedActivationsComparison, NoticesAnotherBatch) {
    core::Document file = recording("saved_vit_small_b64_bf16_flash");
    file.set("batch", core::Document::of(std::int64_t{63}));
    EXPECT_EQ(tests::compareWithRecording(file).verdict, Verdict::Differs);
}

TEST(RecordedActivationsComparison, NamesTheKnobThatIsMissing) {
    core::Document file = recording("saved_vit_small_b64_bf16_flash");
    file.set("checkpoint", core::Document::of("per_layer_pair"));
    EXPECT_EQ(tests::compareWithRecording(file).lines, std::vector<std::string>{"checkpoint per_layer_pair"});
    file = recording("saved_vit_small_b64_fp32_cpu_rules");
    file.set("dtype", core::Document::of("float32+autocast_int4"));
    EXPECT_EQ(tests::compareWithRecording(file).lines, std::vector<std::string>{"dtype float32+autocast_int4"});
}

// Coefficients fitted to 16 random shapes each: no error at any size.
TEST(SavedActivations, FollowTheRecordedFormulasAtAnySize) {
    const core::Document file = recording("formulas");
    EXPECT_EQ(file.find("formulas")->items.size(), 47u);
    const auto result = tests::compareWithFormulas(file);
    EXPECT_EQ(result.verdict, Verdict::Equal);
    for (const std::string& line : result.lines) ADD_FAILURE() << line;
}

TEST(SavedActivations, NoticeAnotherFormula) {
    core::Document file = recording("formulas");
    core::Document list = *file.find("formulas");
    core::Document first = list.items.at(0), terms = *first.find("bytes");
    terms.set("s*b*h", core::Document::of(std::int64_t{17}));
    first.set("bytes", terms);
    list.items = {first};
    file.set("formulas", list);
    EXPECT_EQ(tests::compareWithFormulas(file).verdict, Verdict::Differs);
}

}  // namespace
}  // namespace shardscope
