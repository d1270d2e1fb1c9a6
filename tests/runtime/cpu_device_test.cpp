// The CPU's kernels beside the reference loops on shapes that are not round, and whole trainings on it.

#include "runtime/cpu/cpu_device.h"

#include <numeric>
#include <random>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/device/reference_device.h"
#include "runtime/device/reference_kernels.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace testing;
using core::KernelKind;

Values randomValues(core::Shape shape, std::uint32_t seed) {
    Values values = Values::zeros(std::move(shape));
    std::mt19937 engine(seed);
    for (float& value : values.data) value = static_cast<float>(static_cast<double>(engine()) / 4294967296.0 - 0.5);
    return values;
}

/// q, k or v of `heads` heads inside rows of `packed` floats, from column `first` on: [batch, heads, rows, width].
TensorView headsOf(Values& packed, std::int64_t heads, std::int64_t width, std::int64_t first) {
    const std::int64_t batch = packed.shape[0], rows = packed.shape[1], whole = packed.shape[2];
    TensorView view = packed.view();
    view.data += first * static_cast<std::int64_t>(sizeof(float));
    view.shape = {batch, heads, rows, width};
    view.strides = {rows * whole, width, whole, 1};
    return view;
}

void expectClose(const Values& actual, const Values& expected, double tolerance, const char* what) {
    EXPECT_LE(largestDifference(actual.data, {expected.data.begin(), expected.data.end()}), tolerance) << what;
}

TEST(CpuKernels, AttendLikeTheReferenceLoops) {
    struct Case {
        std::int64_t batch, heads, keyHeads, rows, width;
        bool causal;
    };
    for (const Case& c : {Case{2, 2, 2, 17, 64, false}, Case{3, 4, 2, 9, 8, true}, Case{1, 6, 1, 5, 16, false},
                          Case{2, 3, 3, 1, 4, true}}) {
        SCOPED_TRACE(c.rows);
        const std::int64_t whole = (c.heads + 2 * c.keyHeads) * c.width, ofQueries = c.heads * c.width,
                           ofKeys = c.keyHeads * c.width;
        Values packed = randomValues({c.batch, c.rows, whole}, 1);
        Values dout = randomValues({c.batch, c.heads, c.rows, c.width}, 2);
        const TensorView q = headsOf(packed, c.heads, c.width, 0), k = headsOf(packed, c.keyHeads, c.width, ofQueries),
                         v = headsOf(packed, c.keyHeads, c.width, ofQueries + ofKeys);
        core::Kernel kernel;
        kernel.causal = c.causal;
        const auto run = [&](bool fast) {
            std::vector<Values> results{Values::zeros(dout.shape), Values::zeros({c.batch, c.heads, c.rows}),
                                        Values::zeros(dout.shape),
                                        Values::zeros({c.batch, c.keyHeads, c.rows, c.width}),
                                        Values::zeros({c.batch, c.keyHeads, c.rows, c.width})};
            kernel.kind = KernelKind::Attention;
            const std::vector<TensorView> in{q, k, v}, out{results[0].view(), results[1].view()};
            if (fast)
                EXPECT_TRUE(cpu::attention({kernel, in, out}).value());
            else
                EXPECT_TRUE(reference::launch({kernel, in, out}));
            kernel.kind = KernelKind::AttentionGrad;
            const std::vector<TensorView> back{dout.view(), q, k, v, results[0].view(), results[1].view()},
                gradients{results[2].view(), results[3].view(), results[4].view()};
            if (fast)
                EXPECT_TRUE(cpu::attentionGrad({kernel, back, gradients}).value());
            else
                EXPECT_TRUE(reference::launch({kernel, back, gradients}));
            return results;
        };
        const std::vector<Values> fast = run(true), loops = run(false);
        for (std::size_t i = 0; i < fast.size(); ++i) expectClose(fast[i], loops[i], 3e-6, "result");
    }
}

TEST(CpuKernels, TakeFloatsAndLeaveTheRest) {
    Values x = randomValues({6, 40}, 3), w = randomValues({7, 40}, 4), bias = randomValues({7}, 5),
           y = Values::zeros({6, 7}), expected = y;
    core::Kernel kernel;
    kernel.kind = KernelKind::Linear;
    std::vector<TensorView> in{x.view(), w.view(), bias.view()}, out{y.view()}, loops{expected.view()};
    EXPECT_TRUE(cpu::linear({kernel, in, out}).value());
    ASSERT_TRUE(reference::launch({kernel, in, loops}));
    expectClose(y, expected, 1e-6, "linear");
    // Rows that lie apart, another dtype, operands that do not fit: not this kernel's.
    in[0].strides = {80, 2};
    EXPECT_FALSE(cpu::linear({kernel, in, out}).value());
    in[0] = x.view();
    in[0].dtype = core::DType::BF16;
    EXPECT_FALSE(cpu::linear({kernel, in, out}).value());
    in[0] = x.view();
    in[1].shape = {7, 39};
    EXPECT_FALSE(cpu::linear({kernel, in, out}).value());
    CpuDevice device;
    const auto refused = device.launch(0, {kernel, in, out});
    ASSERT_FALSE(refused) << "and the reference says why";
    EXPECT_NE(refused.error().message.find("linear"), std::string::npos);
}

TEST(CpuKernels, CopyBetweenLayouts) {
    Values packed = randomValues({3, 5, 12}, 6), tight = Values::zeros({3, 2, 5, 4}), expected = tight;
    const TensorView heads = headsOf(packed, 2, 4, 4);
    ASSERT_TRUE(cpu::copyRows(heads, tight.view()));
    core::Kernel kernel;
    kernel.kind = KernelKind::Copy;
    const std::vector<TensorView> in{heads}, out{expected.view()};
    ASSERT_TRUE(reference::launch({kernel, in, out}));
    EXPECT_EQ(tight.data, expected.data);
    // And back, the columns beside it left alone.
    Values target = Values::zeros(packed.shape);
    ASSERT_TRUE(cpu::copyRows(tight.view(), headsOf(target, 2, 4, 4)));
    for (std::size_t i = 0; i < target.data.size(); ++i)
        EXPECT_EQ(target.data[i], i % 12 >= 4 ? packed.data[i] : 0.0f) << i;
    EXPECT_FALSE(cpu::copyRows(heads, packed.view())) << "another shape";
}

TrainConfig onCpu(TrainConfig config, std::int64_t steps) {
    config.device = DeviceKind::Cpu;
    config.steps = steps;
    config.data = TrainingData::Formula;
    config.parameters = formulaParameters(modelFor(config), -2);
    config.keepParameters = true;
    return config;
}

TEST(CpuTraining, HasTheReferencesLosses) {
    TrainConfig loops = onCpu(single(12), 20);
    loops.device = DeviceKind::Reference;
    const TrainReport expected = train(loops), actual = train(onCpu(single(12), 20));
    ASSERT_EQ(actual.losses.size(), expected.losses.size());
    for (std::size_t step = 0; step < actual.losses.size(); ++step)
        EXPECT_NEAR(actual.losses[step] / expected.losses[step], 1.0, 1e-5) << "step " << step;
}

// The tolerances are those that float32 leaves to Adam over 50 steps; the key third of every in_proj_bias is left out,
// whose exact gradient is zero (framework semantics 8.2).
TEST(CpuTraining, IsTheSameUnderEveryStrategy) {
    constexpr std::int64_t kSteps = 50, kBatch = 24;
    const TrainReport alone = train(onCpu(single(kBatch), kSteps));
    const core::Model model = modelFor(single(kBatch));
    TrainConfig hybrid = fsdp(kBatch, 4), checkpointed = fsdp(kBatch, 2);
    hybrid.plan.mesh = {1, 2, 2};
    checkpointed.plan.checkpointing.mode = core::Checkpointing::Mode::Full;
    for (const TrainConfig& config :
         {fsdp(kBatch, 2), fsdp(kBatch, 3), fsdp(kBatch, 4), fsdp(kBatch, 8), fsdp(kBatch, 2, 3), ddp(kBatch, 3),
          naive(kBatch, 3), naive(kBatch, 4, 3), hybrid, checkpointed}) {
        SCOPED_TRACE(config.plan.name + " on " + std::to_string(config.plan.mesh.size()));
        const TrainReport report = train(onCpu(config, kSteps));
        ASSERT_EQ(report.losses.size(), alone.losses.size());
        for (std::size_t step = 0; step < report.losses.size(); ++step)
            EXPECT_NEAR(report.losses[step] / alone.losses[step], 1.0, 1e-5) << "step " << step;
        for (std::size_t p = 0; p < model.parameters.size(); ++p)
            EXPECT_LE(relativeDistance(withoutKeyBias(model.parameters[p], report.parameters[p]),
                                       withoutKeyBias(model.parameters[p], alone.parameters[p])),
                      1e-4)
                << model.parameters[p].name;
    }
}

// DDP divides before it adds up, FSDP after; of two or four ranks either is exact.
TEST(CpuTraining, IsTheSameToTheBitWhereGradientsAreSummedInTheSameOrder) {
    for (const std::int64_t ranks : {2, 4}) {
        const TrainReport sharded = train(onCpu(fsdp(12, ranks), 10)), replicated = train(onCpu(ddp(12, ranks), 10));
        EXPECT_EQ(sharded.losses, replicated.losses);
        EXPECT_TRUE(sharded.parameters == replicated.parameters) << ranks << " ranks";
    }
}

TEST(CpuTraining, HoldsWhatTheReferenceHoldsInMemory) {
    TrainConfig config = onCpu(fsdp(12, 2), 2);
    const TrainReport fast = train(config);
    config.device = DeviceKind::Reference;
    const TrainReport loops = train(config);
    ASSERT_EQ(fast.ranks.size(), loops.ranks.size());
    for (std::size_t rank = 0; rank < fast.ranks.size(); ++rank) {
        EXPECT_EQ(fast.ranks[rank].peak, loops.ranks[rank].peak);
        EXPECT_EQ(fast.ranks[rank].peakTotal, loops.ranks[rank].peakTotal);
        EXPECT_EQ(fast.ranks[rank].atEnd, loops.ranks[rank].atEnd);
    }
}

}  // namespace
}  // namespace shardscope::runtime
