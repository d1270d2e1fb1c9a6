#include "runtime/calibrate/calibrate.h"

#include <gtest/gtest.h>

#include "core/model/spec.h"
#include "core/model/vit.h"

namespace shardscope::runtime {
namespace {

// What is measured depends on the machine; that all is there, and that no time is nothing, does not.
TEST(Calibrate, MeasuresEveryKernelOfTheModelAndEveryTransferOfThePlan) {
    for (const DeviceKind device : {DeviceKind::Cpu, DeviceKind::Reference}) {
        CalibrateConfig config;
        config.device = device;
        core::VitSpec vit = *core::namedVit("vit_tiny");
        vit.layers = 2;
        config.model = vit;
        config.plan.policy = core::UnitPolicy::Fsdp;
        config.ranks = 4;
        config.groups = {2, 4};
        config.transport = device == DeviceKind::Cpu ? Transport::Gloo : Transport::Threads;
        config.workload.batch = 2;
        config.steps = 2;
        config.cores = 2;
        config.processor = "this one";
        const auto times = calibrate(config);
        ASSERT_TRUE(times) << describe(times.error());
        const core::Model model = *core::buildModel(vit, config.workload);
        ASSERT_EQ(times->compute.size(), 2u);
        EXPECT_EQ(times->compute[1].busy, 2);
        for (const core::ComputeTimes& one : times->compute) {
            for (const core::Program& program : model.programs)
                for (const auto* kernels : {&program.forward, &program.backward})
                    for (const core::Kernel& kernel : *kernels) {
                        const auto found = one.kernels.find(core::kernelSignature(program, kernel));
                        ASSERT_NE(found, one.kernels.end()) << core::kernelSignature(program, kernel);
                        EXPECT_GT(found->second, 0);
                    }
            EXPECT_GT(one.copy.of(1 << 20), 0);
            EXPECT_GT(one.optimizer.of(1 << 20), 0);
        }
        ASSERT_EQ(times->transfers.size(), 2u);
        EXPECT_EQ(times->transfers[0].ranks, 2);
        EXPECT_EQ(times->transfers[1].ranks, 4);
        for (const core::TransferTimes& one : times->transfers)
            for (const core::CallTime* time : {&one.allGather, &one.reduceScatter, &one.allReduce, &one.message}) {
                EXPECT_GT(time->at(1 << 20).alone, 0);
                EXPECT_GE(time->at(1 << 20).busy, time->at(1 << 20).alone);
                EXPECT_GE(time->at(1 << 20).processor, 0);
            }
        if (device == DeviceKind::Cpu) {
            EXPECT_GT(times->host.issueOp + times->host.issueCall, 0);
            EXPECT_GT(times->host.wake, 0);
            EXPECT_GE(times->host.wakeBusy, times->host.wake);
        }
        const auto read = core::parseMachineTimes(core::documentOf(*times), "times");
        EXPECT_TRUE(read) << describe(read.error());
    }
}

}  // namespace
}  // namespace shardscope::runtime
