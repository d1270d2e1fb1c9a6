// clusters --describe: what is drawn and told is what the cost model uses.

#include "cli/face/describe_hardware.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/price/collective_price.h"

namespace shardscope::cli {
namespace {

HardwareDescription described(const std::string& name) {
    auto description = describeHardware(name);
    EXPECT_TRUE(description) << (description ? "" : core::describe(description.error()));
    return description ? std::move(*description) : HardwareDescription{};
}

std::string drawn(const std::string& name) {
    std::string text;
    for (const std::string& line : described(name).drawing) text += line + "\n";
    return text;
}

TEST(DescribeHardware, DescribesEveryPresetWithASourceForEachFigure) {
    std::vector<std::string> names = core::gpuPresetNames();
    for (const std::string& name : core::nodePresetNames()) names.push_back(name);
    for (const std::string& name : names) {
        const HardwareDescription description = described(name);
        EXPECT_FALSE(description.drawing.empty()) << name;
        EXPECT_FALSE(description.figures.empty()) << name;
        for (const std::vector<HardwareFigure>& figures : {description.figures, description.constants})
            for (const HardwareFigure& figure : figures) {
                EXPECT_FALSE(figure.value.source.empty()) << name << " " << figure.name;
                EXPECT_TRUE(figure.value.known) << name << " " << figure.name;
                EXPECT_NE(hardwareText(description).find(figure.text), std::string::npos) << name;
            }
        for (const std::string& line : description.drawing) EXPECT_LE(line.size(), 160u) << name;
    }
}

TEST(DescribeHardware, DrawsGpusSwitchNicsAndNetwork) {
    const std::string h100 = drawn("dgx-h100");
    for (const char* part : {"GPU 0", "GPU 7", "450 GB/s a GPU", "NVSwitch", "63 GB/s a GPU", "NIC 7", "50 GB/s a NIC",
                             "400 GB/s a node", "InfiniBand"})
        EXPECT_NE(h100.find(part), std::string::npos) << part << "\n" << h100;
    EXPECT_NE(drawn("p5").find("4 NICs"), std::string::npos) << drawn("p5");  // 32 of them
    const std::string box = drawn("rtx-4090-box");
    EXPECT_EQ(box.find("NVLink"), std::string::npos) << box;
    EXPECT_NE(box.find("through the host's memory"), std::string::npos) << box;
    EXPECT_NE(drawn("gb200-nvl72").find("72 GPUs of 18 nodes together"), std::string::npos) << drawn("gb200-nvl72");
}

TEST(DescribeHardware, TellsTheRatesThatCollectivesArePricedWith) {
    const auto cluster = core::makeCluster("h100-sxm", "dgx-h100", 2);
    ASSERT_TRUE(cluster);
    const HardwareDescription description = described("dgx-h100");
    const auto rate = [&](std::int64_t ranks, std::int64_t nodes) {
        const auto found = std::find_if(description.groups.begin(), description.groups.end(),
                                        [&](const GroupRate& g) { return g.ranks == ranks && g.nodes == nodes; });
        return found == description.groups.end() ? 0.0 : found->bus;
    };
    // A long gather approaches the bus bandwidth of its path.
    constexpr double kBytes = 64e9;
    const auto measured = [&](const sim::Placement& placement) {
        const auto price =
            sim::priceCollective(sim::CollectiveKind::AllGather, kBytes, sim::pathOf(*cluster, placement));
        return price.volume / price.seconds;
    };
    EXPECT_NEAR(measured({8, 1, 8}) / rate(8, 1), 1, 0.01);
    EXPECT_NEAR(measured({16, 2, 8}) / rate(16, 2), 1, 0.02);
    EXPECT_NEAR(measured({2, 2, 1}) / rate(2, 2), 1, 0.02);
    EXPECT_LT(rate(2, 2), rate(16, 2));  // one of eight groups side by side
}

TEST(DescribeHardware, TellsWhereADtypeHasNoUnits) {
    const std::string v100 = drawn("v100-sxm-16gb");
    EXPECT_NE(v100.find("bfloat16  no units of its own"), std::string::npos) << v100;
    EXPECT_NE(v100.find("125 TFLOP/s"), std::string::npos) << v100;
}

TEST(DescribeHardware, RefusesUnknownNamesAndOffersTheNearest) {
    const auto wrong = describeHardware("dgx-h10");
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().hint.find("dgx-h100"), std::string::npos) << core::describe(wrong.error());
}

TEST(DescribeHardware, GivesTheSameAsData) {
    const core::Document document = hardwareDocument(described("dgx-h100"));
    EXPECT_EQ(document.find("schema")->text, "shardscope.node");
    EXPECT_EQ(document.find("figures")->items.at(0).find("value")->real, 450e9);
    EXPECT_FALSE(document.find("collectives")->items.empty());
    EXPECT_FALSE(document.find("constants")->items.empty());
    EXPECT_EQ(hardwareDocument(described("h100-sxm")).find("collectives"), nullptr);
}

}  // namespace
}  // namespace shardscope::cli
