#include "core/machine/machine_times.h"

#include <gtest/gtest.h>

#include <set>

#include "core/model/spec.h"
#include "core/model/vit.h"

namespace shardscope::core {
namespace {

MachineTimes someTimes() {
    MachineTimes times;
    times.processor = "some processor";
    times.device = "cpu";
    times.transport = "gloo";
    times.link = {5e7, 1e-5};
    times.cores = 2;
    times.host = {1.5e-6, 2e-7, 1e-4, 3e-5, 4e-5, 5e-6, 7e-4};
    times.compute.resize(2);
    times.compute[1].busy = 2;
    times.compute[0].kernels["add float32[2,3] float32[2,3] > float32[2,3]"] = 1.25e-6;
    times.compute[0].copy = {1e-7, 1e-10};
    times.compute[1].optimizer = {2e-7, 3e-10};
    const CallTime call{{{1000, 1e-5, 2e-5, 3e-6}, {2000, 3e-5, 4e-5, 5e-6}}};
    times.transfers.push_back({2, call, {{{512, 1e-6, 1e-6, 0}}}, call, call});
    times.transfers.push_back({4, call, call, call, call});
    return times;
}

TEST(MachineTimes, AreReadBackAsTheyWereWritten) {
    const MachineTimes times = someTimes();
    const auto document = parseJson(writeJson(documentOf(times)), "m.json");
    ASSERT_TRUE(document);
    const auto read = parseMachineTimes(*document, "m.json");
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->processor, times.processor);
    EXPECT_EQ(read->compute.size(), 2u);
    EXPECT_NEAR(read->compute[0].kernels.begin()->second, 1.25e-6, 1e-15);
    // Once more: nothing is lost to rounding from then on.
    const auto again = parseMachineTimes(*parseJson(writeJson(documentOf(*read)), "m.json"), "m.json");
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, *read);
}

TEST(MachineTimes, OfSeveralMeasurementsAreTheirMeans) {
    MachineTimes slow = someTimes();
    slow.host.wakeBusy *= 3;
    slow.compute[0].kernels.begin()->second *= 2;
    slow.compute[1].optimizer.perByte *= 5;
    slow.transfers[1].message.samples[1].processor = 7e-6;
    const auto mean = meanOf({someTimes(), slow});
    ASSERT_TRUE(mean);
    EXPECT_DOUBLE_EQ(mean->host.wakeBusy, 1.4e-3);
    EXPECT_DOUBLE_EQ(mean->host.issueOp, 1.5e-6);
    EXPECT_DOUBLE_EQ(mean->compute[0].kernels.begin()->second, 1.875e-6);
    EXPECT_DOUBLE_EQ(mean->compute[1].optimizer.perByte, 9e-10);
    EXPECT_DOUBLE_EQ(mean->transfers[1].message.samples[1].processor, 6e-6);
    EXPECT_EQ(mean->transfers[1].message.samples[1].bytes, 2000);
    // As many, and not of the same.
    slow.compute[0].kernels = {{"another", 1e-6}};
    EXPECT_FALSE(meanOf({someTimes(), slow}));
    MachineTimes larger = someTimes();
    larger.transfers[0].allGather.samples[0].bytes = 1001;
    EXPECT_FALSE(meanOf({someTimes(), larger}));
}

TEST(MachineTimes, RefuseWhatIsNotOne) {
    const auto refused = [](const auto& change) {
        Document document = documentOf(someTimes());
        change(document);
        const auto read = parseMachineTimes(document, "m.json");
        EXPECT_FALSE(read);
        return read ? std::string() : describe(read.error());
    };
    EXPECT_NE(refused([](Document& d) { d.set("schema", Document::of("shardscope.run")); }).find("shardscope.run"),
              std::string::npos);
    EXPECT_NE(refused([](Document& d) { d.set("version", Document::of(std::int64_t{1})); }).find("version 1"),
              std::string::npos);
    EXPECT_NE(refused([](Document& d) { d.set("host", Document::table()); }).find("issue_op_ns"), std::string::npos);
    EXPECT_NE(refused([](Document& d) {
                  for (auto& [key, value] : d.members)
                      if (key == "host") value.set("wake_ns", Document::of(-1.0));
              }).find("wake_ns"),
              std::string::npos);
    EXPECT_NE(refused([](Document& d) { d.set("link_bytes_per_s", Document::of(-5.0)); }).find("link_bytes_per_s"),
              std::string::npos);
    EXPECT_NE(refused([](Document& d) { d.set("compute", Document::list()); }).find("empty"), std::string::npos);
    EXPECT_NE(refused([](Document& d) { d.set("transfers", Document::of("x")); }).find("transfers"), std::string::npos);
    EXPECT_NE(refused([](Document& d) {
                  for (auto& [key, value] : d.members)
                      if (key == "transfers") std::swap(value.items[0], value.items[1]);
              }).find("transfers[1], ranks"),
              std::string::npos);
    EXPECT_NE(refused([](Document& d) {
                  for (auto& [key, value] : d.members)
                      if (key == "compute")
                          for (auto& [name, inner] : value.items[0].members)
                              if (name == "kernels_ns") inner.set("add", Document::of("fast"));
              }).find("'add' is"),
              std::string::npos);
    EXPECT_NE(refused([](Document& d) { d = Document::list(); }).find("expected a table"), std::string::npos);
}

TEST(CallTime, LiesOnLinesBetweenItsSamples) {
    const CallTime call{{{1000, 1e-5, 2e-5, 3e-6}, {2000, 3e-5, 4e-5, 5e-6}}};
    EXPECT_EQ(call.at(1000), call.samples[0]);
    EXPECT_EQ(call.at(2000), call.samples[1]);
    EXPECT_NEAR(call.at(1500).alone, 2e-5, 1e-12);
    EXPECT_NEAR(call.at(1500).busy, 3e-5, 1e-12);
    EXPECT_NEAR(call.at(1500).processor, 4e-6, 1e-12);
    EXPECT_NEAR(call.at(10).alone, 1e-5, 1e-12);
    EXPECT_NEAR(call.at(6000).busy, 12e-5, 1e-12);
    EXPECT_EQ(CallTime{}.at(5).alone, 0);
}

TEST(TimeOfBytes, IsTheLineThroughItsSamples) {
    const TimeOfBytes line{2e-6, 5e-10};
    std::vector<BytesSample> samples;
    for (const double bytes : {100.0, 1e4, 1e6}) samples.push_back({bytes, line.of(bytes)});
    const TimeOfBytes fitted = fitTime(samples);
    EXPECT_NEAR(fitted.start, line.start, 1e-12);
    EXPECT_NEAR(fitted.perByte, line.perByte, 1e-15);
    EXPECT_DOUBLE_EQ(line.of(1000, 3), 3 * 2e-6 + 1000 * 5e-10);
}

TEST(TimeOfBytes, IsNeverNegative) {
    // A cache makes small ones faster than any line through the large ones.
    const TimeOfBytes fitted = fitTime({{1e3, 1e-9}, {1e6, 1e-4}, {2e6, 4e-4}});
    EXPECT_GE(fitted.start, 0);
    EXPECT_GE(fitted.perByte, 0);
    EXPECT_EQ(fitTime({}), TimeOfBytes{});
    const TimeOfBytes constant = fitTime({{1e3, 2e-6}, {1e3, 2e-6}});
    EXPECT_DOUBLE_EQ(constant.of(1e3), 2e-6);
}

TEST(KernelSignature, TellsKernelsApartThatTakeDifferentTimes) {
    Workload workload;
    workload.batch = 2;
    const Model model = *buildModel(*namedVit("vit_tiny"), workload);
    std::set<std::string> seen;
    std::size_t kernels = 0;
    for (const Program& program : model.programs)
        for (const Kernel& kernel : program.forward) {
            seen.insert(kernelSignature(program, kernel));
            ++kernels;
        }
    EXPECT_GT(seen.size(), 8u);
    EXPECT_LT(seen.size(), kernels);  // a block has two layer norms of one shape
    workload.batch = 3;
    const Model larger = *buildModel(*namedVit("vit_tiny"), workload);
    for (const Kernel& kernel : larger.programs[0].forward)
        EXPECT_FALSE(seen.contains(kernelSignature(larger.programs[0], kernel)));
}

}  // namespace
}  // namespace shardscope::core
