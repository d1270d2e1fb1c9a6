// The CPU's kernels beside the reference loops on shapes that are not round, and whole trainings on it.

#include "runtime/cpu/cpu_device.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/loops.h"
#include "runtime/cpu/primitives.h"
#include "runtime/device/elements.h"
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
                EXPECT_TRUE(cpu::attention({kernel, in, out}));
            else
                EXPECT_TRUE(reference::launch({kernel, in, out}));
            kernel.kind = KernelKind::AttentionGrad;
            const std::vector<TensorView> back{dout.view(), q, k, v, results[0].view(), results[1].view()},
                gradients{results[2].view(), results[3].view(), results[4].view()};
            if (fast)
                EXPECT_TRUE(cpu::attentionGrad({kernel, back, gradients}));
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
    cpu::Primitives primitives;
    core::Kernel kernel;
    kernel.kind = KernelKind::Linear;
    std::vector<TensorView> in{x.view(), w.view(), bias.view()}, out{y.view()}, loops{expected.view()};
    EXPECT_TRUE(cpu::linear(primitives, {kernel, in, out}).value());
    ASSERT_TRUE(reference::launch({kernel, in, loops}));
    expectClose(y, expected, 1e-6, "linear");
    // Rows that lie apart, another dtype, operands that do not fit: not this kernel's.
    in[0].strides = {80, 2};
    EXPECT_FALSE(cpu::linear(primitives, {kernel, in, out}).value());
    in[0] = x.view();
    in[0].dtype = core::DType::BF16;
    EXPECT_FALSE(cpu::linear(primitives, {kernel, in, out}).value());
    in[0] = x.view();
    in[1].shape = {7, 39};
    EXPECT_FALSE(cpu::linear(primitives, {kernel, in, out}).value());
    CpuDevice device;
    const auto refused = device.launch(0, {kernel, in, out});
    ASSERT_FALSE(refused) << "and the reference says why";
    EXPECT_NE(refused.error().message.find("linear"), std::string::npos);
}

// What oneDNN has no kernel for is the next one's to compute; any other failure ends the run and says what to do.
TEST(CpuKernels, LeaveWhatOneDnnRefuses) {
    constexpr int kSuccess = 0, kOutOfMemory = 1, kUnimplemented = 3;  // dnnl_status_t
    EXPECT_TRUE(cpu::outcomeOf(kSuccess, "a product").value());
    EXPECT_FALSE(cpu::outcomeOf(kUnimplemented, "a product").value());
    const auto full = cpu::outcomeOf(kOutOfMemory, "a product");
    ASSERT_FALSE(full);
    EXPECT_NE(full.error().message.find("a product: no memory is left"), std::string::npos);
    EXPECT_NE(full.error().hint.find("fewer ranks"), std::string::npos);
    cpu::Primitives primitives;
    const float none = 0;
    const auto* value = reinterpret_cast<const std::byte*>(&none);
    float product = 0;
    const auto wrong = primitives.multiply({-1, 2, 3}, value, value, nullptr, reinterpret_cast<std::byte*>(&product));
    ASSERT_FALSE(wrong) << "a matrix of -1 rows";
    EXPECT_NE(wrong.error().hint.find("--device reference"), std::string::npos);
}

// In a process of its own, where oneDNN has not looked at the processor yet.
TEST(CpuKernelsDeathTest, LeaveBfloat16WithoutAvx512) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto refused = [] {
        setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
        std::vector<std::uint16_t> a(4), b(4), c(4);
        const auto bytes = [](std::vector<std::uint16_t>& values) {
            return reinterpret_cast<std::byte*>(values.data());
        };
        cpu::Primitives primitives;
        const auto multiplied = primitives.multiply({2, 2, 2, false, false, false, core::DType::BF16}, bytes(a),
                                                    bytes(b), nullptr, bytes(c));
        return multiplied && !*multiplied;
    };
    EXPECT_EXIT(std::_Exit(refused() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

// Rows that lie apart are copied together first; the reference loops would take a hundred times as long.
TEST(CpuKernels, TakeRowsThatLieApart) {
    constexpr std::int64_t kBatch = 3, kSequence = 5, kHidden = 12;
    Values all = randomValues({kBatch, kSequence, kHidden}, 1), images = randomValues({kBatch, 1, 4, 4}, 2);
    TensorView patches = all.view();  // without the class token
    patches.data += kHidden * static_cast<std::int64_t>(sizeof(float));
    patches.shape = {kBatch, kSequence - 1, kHidden};
    patches.strides = {kSequence * kHidden, kHidden, 1};
    core::Kernel kernel;
    kernel.kind = KernelKind::PatchEmbedWeightGrad;
    const auto run = [&](Device& device) {
        std::vector<Values> out{Values::zeros({kHidden, 1, 2, 2}), Values::zeros({kHidden})};
        const std::vector<TensorView> in{patches, images.view()}, gradients{out[0].view(), out[1].view()};
        EXPECT_TRUE(device.launch(0, {kernel, in, gradients}));
        return out;
    };
    CpuDevice cpu;
    ReferenceDevice reference;
    const std::vector<Values> fast = run(cpu), loops = run(reference);
    for (std::size_t i = 0; i < fast.size(); ++i) expectClose(fast[i], loops[i], 1e-6, "gradient");

    kernel.kind = KernelKind::SliceGrad;
    const auto slice = [&](auto launch) {
        Values dx = randomValues({kBatch, kSequence, kHidden}, 3), dy = randomValues({kBatch, 4, kHidden}, 4);
        TensorView view = patches;
        view.data = dx.view().data + kHidden * static_cast<std::int64_t>(sizeof(float));
        const std::vector<TensorView> in{dy.view()}, out{dx.view(), view};
        EXPECT_TRUE(launch(KernelCall{kernel, in, out}));
        return dx.data;
    };
    EXPECT_EQ(slice([](const KernelCall& call) { return cpu::sliceGrad(call); }),
              slice([](const KernelCall& call) { return reference::launch(call).has_value(); }));

    // What it does not take, it leaves as it is.
    Values dx = randomValues({kBatch, kSequence, kHidden}, 3), dy = randomValues({kBatch, 4, kHidden}, 4);
    const std::vector<float> before = dx.data;
    TensorView apart = patches;
    apart.data = dx.view().data;
    apart.strides = {kSequence * kHidden, 1, 4};
    const std::vector<TensorView> in{dy.view()}, out{dx.view(), apart};
    EXPECT_FALSE(cpu::sliceGrad({kernel, in, out}));
    EXPECT_EQ(dx.data, before);
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

/// bfloat16 operands: the values of `from`, rounded.
struct LowValues {
    core::Shape shape;
    std::vector<std::uint16_t> data;

    explicit LowValues(const Values& from) : shape(from.shape) {
        for (const float value : from.data) data.push_back(toBfloat16(value));
    }
    TensorView view() { return {reinterpret_cast<std::byte*>(data.data()), core::DType::BF16, shape, {}}; }
    [[nodiscard]] std::vector<float> floats() const {
        std::vector<float> values;
        for (const std::uint16_t bits : data) values.push_back(fromBfloat16(bits));
        return values;
    }
};

// The same sums, rounded once; where a sum lies between two bfloat16 numbers, its own rounding decides, so they may be
// one unit of the last place (2^-8 of the value) apart.
TEST(CpuKernels, ComputeBfloat16LikeTheReferenceLoops) {
    constexpr std::int64_t kRows = 37, kIn = 96, kOut = 48;
    const Values x = randomValues({kRows, kIn}, 1), w = randomValues({kOut, kIn}, 2), bias = randomValues({kOut}, 3),
                 dy = randomValues({kRows, kOut}, 4), norm = randomValues({kIn}, 5), other = randomValues({kIn}, 6);
    Values mean = Values::zeros({kRows}), rstd = Values::zeros({kRows});
    struct Case {
        KernelKind kind;
        std::vector<Values> inputs;
        std::vector<core::Shape> outputs;
        bool statistics = false;  ///< of a norm, float32
    };
    const std::vector<Case> cases{{KernelKind::Linear, {x, w, bias}, {{kRows, kOut}}},
                                  {KernelKind::LinearInputGrad, {dy, w}, {{kRows, kIn}}},
                                  {KernelKind::LinearWeightGrad, {dy, x}, {{kOut, kIn}}},
                                  {KernelKind::BiasGrad, {dy}, {{kOut}}},
                                  {KernelKind::Gelu, {x}, {{kRows, kIn}}},
                                  {KernelKind::GeluGrad, {x, x}, {{kRows, kIn}}},
                                  {KernelKind::Add, {x, x}, {{kRows, kIn}}},
                                  {KernelKind::LayerNorm, {x, norm, other}, {{kRows, kIn}}, true}};
    for (const Case& c : cases) {
        SCOPED_TRACE(core::nameOf(c.kind));
        core::Kernel kernel;
        kernel.kind = c.kind;
        kernel.scalar = 1e-6;
        const auto run = [&](Device& device) {
            std::vector<LowValues> in(c.inputs.begin(), c.inputs.end()), out;
            for (const core::Shape& shape : c.outputs) out.emplace_back(Values::zeros(shape));
            std::vector<TensorView> inputs, outputs;
            for (LowValues& values : in) inputs.push_back(values.view());
            for (LowValues& values : out) outputs.push_back(values.view());
            if (c.statistics) outputs.insert(outputs.end(), {mean.view(), rstd.view()});
            EXPECT_TRUE(device.launch(0, {kernel, inputs, outputs}));
            return out;
        };
        CpuDevice cpu;
        ReferenceDevice reference;
        const std::vector<LowValues> fast = run(cpu), loops = run(reference);
        for (std::size_t i = 0; i < fast.size(); ++i) {
            const std::vector<float> actual = fast[i].floats(), expected = loops[i].floats();
            for (std::size_t at = 0; at < actual.size(); ++at)
                ASSERT_NEAR(actual[at], expected[at], std::fabs(expected[at]) / 128 + 1e-6) << i << ", " << at;
        }
    }
}

TEST(CpuLoops, AreTheSameOnEveryKindOfRegister) {
    const std::vector<const cpu::Loops*> compiled = cpu::runnableLoops();
    EXPECT_EQ(&cpu::loops(), compiled.back());
    constexpr std::int64_t kRows = 21, kWidth = 37, kHead = 10;
    const Values x = randomValues({kRows, kWidth}, 1), dy = randomValues({kRows, kWidth}, 2),
                 w = randomValues({kWidth}, 3), bias = randomValues({kWidth}, 4),
                 packed = randomValues({kRows, 4 * kHead}, 5);
    std::vector<std::vector<Values>> results;
    for (const cpu::Loops* loops : compiled) {
        Values y = Values::zeros(x.shape), mean = Values::zeros({kRows}), rstd = mean, dx = y, dw = w, db = w, sum = y,
               rows = y, p = x, m = dy, v = y, out = Values::zeros({kRows, kHead}), logsumexp = mean,
               gradients = Values::zeros({kRows, 3 * kHead});
        std::vector<double> scratch(2 * kWidth, 0.0), columns(kWidth, 0.0);
        loops->layerNorm({kRows, kWidth, 1e-6}, x.data.data(), w.data.data(), bias.data.data(), y.data.data(),
                         mean.data.data(), rstd.data.data());
        loops->layerNormGrad({kRows, kWidth, 1e-6}, dy.data.data(), x.data.data(), mean.data.data(), rstd.data.data(),
                             w.data.data(), dx.data.data(), dw.data.data(), db.data.data(), scratch.data());
        loops->add(x.data.data(), dy.data.data(), sum.data.data(), kRows * kWidth);
        loops->addToRows(x.data.data(), bias.data.data(), rows.data.data(), kRows, kWidth);
        loops->columnSums(x.data.data(), kRows, kWidth, columns.data());
        cpu::AdamFactors by;
        by.shrink = 1e-5f;
        by.fresh1 = 0.1f;
        by.beta2 = 0.999f;
        by.fresh2 = 0.001f;
        by.rate = 1e-3f;
        by.epsilon = 1e-8f;
        loops->adam(by, p.data.data(), dy.data.data(), m.data.data(), v.data.data(), kRows * kWidth);
        const cpu::HeadShape shape{kRows, kRows, kHead, true, 0.3f};
        // Scratch memory begins at every fourth byte of a line, and values behind it must stay.
        const auto withScratch = [&](std::int64_t floats, const std::function<void(float*)>& work) {
            constexpr float kGuard = 7;
            for (std::int64_t first = 0; first < 16; ++first) {
                std::vector<float> memory(static_cast<std::size_t>(first + floats) + 16, kGuard);
                work(memory.data() + first);
                EXPECT_TRUE(std::all_of(memory.end() - 16, memory.end(), [](float value) { return value == kGuard; }));
            }
        };
        const std::int64_t needed = loops->headScratch(shape);
        const auto part = [&](std::int64_t i) { return cpu::HeadRows{packed.data.data() + i * kHead, 4 * kHead}; };
        const auto target = [&](std::int64_t i) {
            return cpu::HeadTarget{gradients.data.data() + i * kHead, 3 * kHead};
        };
        withScratch(needed, [&](float* memory) {
            loops->head(shape, part(0), part(1), part(2), {out.data.data(), kHead}, logsumexp.data.data(), memory);
        });
        const cpu::HeadGradients asked{
            part(3), {out.data.data(), kHead}, logsumexp.data.data(), target(0), target(1), target(2), false};
        withScratch(2 * needed,
                    [&](float* memory) { loops->headGrad(shape, part(0), part(1), part(2), asked, memory); });
        Values columnSums = w;
        std::transform(columns.begin(), columns.end(), columnSums.data.begin(),
                       [](double value) { return static_cast<float>(value); });
        results.push_back({y, mean, rstd, dx, dw, db, sum, rows, columnSums, p, m, v, out, logsumexp, gradients});
    }
    for (const std::vector<Values>& others : results)
        for (std::size_t i = 0; i < others.size(); ++i)
            for (std::size_t at = 0; at < others[i].data.size(); ++at)
                ASSERT_NEAR(others[i].data[at], results.front()[i].data[at],
                            2e-6 * (1 + std::fabs(results.front()[i].data[at])))
                    << "result " << i << " at " << at;
}

// Ties, zeros, subnormals, the largest numbers, what rounds to infinity, infinities and NaNs, at every place of a
// register and behind its end.
TEST(CpuLoops, RoundToBfloat16LikeTheReference) {
    std::vector<std::uint32_t> bits{
        0x00000001, 0x00007fff, 0x00008000, 0x00008001, 0x007fffff, 0x00800000,  // subnormal
        0x3f807fff, 0x3f808000, 0x3f808001, 0x3f817fff, 0x3f818000, 0x3f818001,  // ties
        0x3fff7fff, 0x3fff8000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff,              // carries
        0x7f800000, 0x7f800001, 0x7fc00000, 0x7fc12345, 0x7fffffff,              // infinity, NaNs
        0x00000000, 0x3dcccccd, 0x42f6e979};
    for (std::size_t i = 0, count = bits.size(); i < count; ++i) bits.push_back(bits[i] | 0x80000000u);
    std::mt19937 engine(1);
    while (bits.size() < 200) bits.push_back(static_cast<std::uint32_t>(engine()));
    constexpr std::uint16_t kGuard = 0x1234;
    const auto bitsOf = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    for (const cpu::Loops* loops : cpu::runnableLoops())
        for (std::size_t length = 1; length <= 40; ++length)
            for (std::size_t first = 0; first + length <= bits.size(); ++first) {
                std::vector<float> from(length), wide(length + 1, 7.0f);
                for (std::size_t i = 0; i < length; ++i) from[i] = std::bit_cast<float>(bits[first + i]);
                std::vector<std::uint16_t> low(length + 1, kGuard);
                loops->narrow(from.data(), low.data(), static_cast<std::int64_t>(length));
                loops->widen(low.data(), wide.data(), static_cast<std::int64_t>(length));
                for (std::size_t i = 0; i < length; ++i) {
                    ASSERT_EQ(low[i], toBfloat16(from[i])) << std::hex << bits[first + i] << " at " << i;
                    ASSERT_EQ(bitsOf(wide[i]), bitsOf(fromBfloat16(low[i]))) << std::hex << low[i] << " at " << i;
                }
                ASSERT_EQ(low[length], kGuard);
                ASSERT_EQ(wide[length], 7.0f);
            }
}

// As in the reference loops, a NaN among the keys is one in everything that the softmax makes of them: it does not drop
// out of the sum as a key that counts nothing.
TEST(CpuLoops, KeepNotANumberInAttention) {
    constexpr std::int64_t kKeys = 19, kWidth = 5;
    const cpu::HeadShape shape{2, kKeys, kWidth, false, 0.5f};
    const Values q = randomValues({2, kWidth}, 1), v = randomValues({kKeys, kWidth}, 2),
                 dout = randomValues({2, kWidth}, 3);
    for (const cpu::Loops* loops : cpu::runnableLoops())
        for (std::int64_t bad = 0; bad <= kKeys; ++bad)
            for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fc00001u, 0xffc00155u}) {
                Values k = randomValues({kKeys, kWidth}, 4);
                if (bad < kKeys) k.data[static_cast<std::size_t>(bad * kWidth)] = std::bit_cast<float>(bits);
                std::vector<float> out(2 * kWidth), logsumexp(2),
                    dq = out, dk(kKeys * kWidth), dv = dk,
                    scratch(static_cast<std::size_t>(2 * loops->headScratch(shape)));
                const auto rows = [](const std::vector<float>& values) { return cpu::HeadRows{values.data(), kWidth}; };
                const auto target = [](std::vector<float>& values) { return cpu::HeadTarget{values.data(), kWidth}; };
                loops->head(shape, rows(q.data), rows(k.data), rows(v.data), target(out), logsumexp.data(),
                            scratch.data());
                loops->headGrad(
                    shape, rows(q.data), rows(k.data), rows(v.data),
                    {rows(dout.data), rows(out), logsumexp.data(), target(dq), target(dk), target(dv), false},
                    scratch.data());
                for (const std::vector<float>* values : {&out, &logsumexp, &dq, &dk, &dv})
                    ASSERT_TRUE(std::all_of(values->begin(), values->end(),
                                            [&](float value) { return std::isnan(value) == (bad < kKeys); }))
                        << "key " << bad;
            }
}

// A shard's end falls anywhere: what an element becomes must not depend on its place.
TEST(CpuLoops, UpdateAnElementTheSameWhereverItLies) {
    constexpr std::size_t kCount = 75;
    const Values p = randomValues({kCount}, 1), g = randomValues({kCount}, 2), m = randomValues({kCount}, 3);
    OptimizerCall call;
    call.weightDecay = 0.01;
    call.step = 3;
    CpuDevice device;
    const auto updated = [&](std::size_t begin, std::size_t end) {
        const auto part = [&](const Values& all) {
            Values some = Values::zeros({static_cast<std::int64_t>(end - begin)});
            std::copy(all.data.begin() + static_cast<std::ptrdiff_t>(begin),
                      all.data.begin() + static_cast<std::ptrdiff_t>(end), some.data.begin());
            return some;
        };
        Values parameter = part(p), gradient = part(g), first = part(m), second = part(m);
        for (float& value : second.data) value = std::fabs(value);
        call.parameter = parameter.view();
        call.gradient = gradient.view();
        call.firstMoment = first.view();
        call.secondMoment = second.view();
        EXPECT_TRUE(device.update(0, call));
        return parameter.data;
    };
    const std::vector<float> whole = updated(0, kCount);
    for (const std::size_t cut : {1U, 16U, 30U, 37U}) {
        std::vector<float> parts = updated(0, cut);
        const std::vector<float> rest = updated(cut, kCount);
        parts.insert(parts.end(), rest.begin(), rest.end());
        EXPECT_EQ(parts, whole) << cut;
    }
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

// A bound of 1 %: bfloat16 keeps 8 bits, and the loss is a mean over samples; what differs is the order of float32
// sums, which decides how some results are rounded.
TEST(CpuTraining, HasTheReferencesLossesInBfloat16) {
    TrainConfig loops = onCpu(fsdp(12, 2), 20);
    loops.plan.precision.param = core::DType::BF16;
    loops.plan.precision.reduce = core::DType::F32;
    TrainConfig fast = loops;
    loops.device = DeviceKind::Reference;
    const TrainReport expected = train(loops), actual = train(fast);
    ASSERT_EQ(actual.losses.size(), expected.losses.size());
    for (std::size_t step = 0; step < actual.losses.size(); ++step)
        EXPECT_NEAR(actual.losses[step] / expected.losses[step], 1.0, 1e-2) << "step " << step;
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
