// Every kernel of the reference device and of the CPU's against PyTorch's float64 values. tests/data/vit/ops.json holds
// single operations forward and backward, recorded with PyTorch 2.15.0; tolerance as its authors advise: 8 times what
// float32 PyTorch erred, plus 1e-6.

#include <cstring>

#include "runtime/device/device_kind.h"
#include "runtime/device/elements.h"
#include "runtime/device/reference_device.h"
#include "tests/runtime/tensor_fixture.h"

namespace shardscope::runtime {
namespace {

using core::KernelKind;
using testing::Values;

class Kernels : public ::testing::TestWithParam<DeviceKind> {
protected:
    static const core::Document& file() {
        static const core::Document document = [] {
            auto parsed = core::parseJson(testing::readFile("vit/ops.json"), "ops.json");
            return parsed ? std::move(*parsed) : core::Document{};
        }();
        return document;
    }

    void open(const std::string& name) {
        const core::Document* ops = file().find("ops");
        ASSERT_NE(ops, nullptr);
        m_case = ops->find(name);
        ASSERT_NE(m_case, nullptr) << name;
    }
    Values input(const std::string& name) { return testing::valuesOf(*m_case->find("inputs")->find(name)); }
    Values outputGradient() { return testing::valuesOf(*m_case->find("grad_output")); }
    Values labels() {
        Values none;
        for (const auto& label : m_case->find("attrs")->find("labels")->items) m_labels.push_back(label.integer);
        return none;
    }
    TensorView labelView() {
        return {reinterpret_cast<std::byte*>(m_labels.data()),
                core::DType::I64,
                {static_cast<std::int64_t>(m_labels.size())},
                {}};
    }

    void run(core::Kernel kernel, std::vector<TensorView> inputs, std::vector<TensorView> outputs) {
        const auto done = finished(m_device->launch(m_stream, {kernel, inputs, outputs}));
        ASSERT_TRUE(done) << core::describe(done.error());
    }
    /// The device's first error if the call itself has none.
    core::Result<void> finished(const core::Result<void>& issued) {
        const auto done = m_device->synchronize();
        return issued ? done : issued;
    }
    void run(KernelKind kind, std::vector<TensorView> inputs, std::vector<TensorView> outputs) {
        core::Kernel kernel;
        kernel.kind = kind;
        run(kernel, std::move(inputs), std::move(outputs));
    }
    /// "output", or the gradient of that name.
    void expectEqual(const std::string& name, const Values& actual) {
        const core::Document* expected = name == "output" ? m_case->find("output") : m_case->find("grads")->find(name);
        ASSERT_NE(expected, nullptr);
        const double tolerance = 8 * m_case->find("fp32_maxabs_err")->find(name)->number() + 1e-6;
        EXPECT_LE(testing::largestDifference(actual.data, testing::numbersOf(*expected)), tolerance) << name;
    }

    const core::Document* m_case = nullptr;
    std::vector<std::int64_t> m_labels;
    std::unique_ptr<Device> m_device = deviceOf(GetParam());
    StreamIndex m_stream = m_device->openStream("compute", StreamWork::Kernels);
};

TEST_P(Kernels, LayerNormAndItsGradientAreThoseOfPyTorch) {
    for (const char* name : {"layer_norm", "layer_norm_width_5", "layer_norm_small_variance", "layer_norm_constant_row",
                             "layer_norm_large_mean"}) {
        SCOPED_TRACE(name);
        open(name);
        Values x = input("x"), w = input("weight"), b = input("bias"), dy = outputGradient();
        const std::int64_t rows = core::elementsOf(x.shape) / x.shape.back();
        Values y = Values::zeros(x.shape), mean = Values::zeros({rows}), rstd = Values::zeros({rows});
        Values dx = Values::zeros(x.shape), dw = Values::zeros(w.shape), db = Values::zeros(b.shape);
        core::Kernel kernel;
        kernel.kind = KernelKind::LayerNorm;
        kernel.scalar = m_case->find("attrs")->find("eps")->number();
        run(kernel, {x.view(), w.view(), b.view()}, {y.view(), mean.view(), rstd.view()});
        run(KernelKind::LayerNormGrad, {dy.view(), x.view(), mean.view(), rstd.view(), w.view()},
            {dx.view(), dw.view(), db.view()});
        expectEqual("output", y);
        expectEqual("x", dx);
        expectEqual("weight", dw);
        expectEqual("bias", db);
    }
}

TEST_P(Kernels, GeluIsTheErfForm) {
    open("gelu_erf");
    Values x = input("x"), dy = outputGradient(), y = Values::zeros(x.shape), dx = Values::zeros(x.shape);
    run(KernelKind::Gelu, {x.view()}, {y.view()});
    run(KernelKind::GeluGrad, {dy.view(), x.view()}, {dx.view()});
    expectEqual("output", y);
    expectEqual("x", dx);
}

TEST_P(Kernels, SoftmaxSurvivesExtremeScores) {
    for (const char* name : {"softmax", "softmax_extreme"}) {
        SCOPED_TRACE(name);
        open(name);
        Values x = input("x"), dy = outputGradient(), y = Values::zeros(x.shape), dx = Values::zeros(x.shape);
        run(KernelKind::Softmax, {x.view()}, {y.view()});
        run(KernelKind::SoftmaxGrad, {dy.view(), y.view()}, {dx.view()});
        expectEqual("output", y);
        expectEqual("x", dx);
    }
}

TEST_P(Kernels, LogSoftmaxAndItsGradientAreThoseOfPyTorch) {
    open("log_softmax");
    Values x = input("x"), dy = outputGradient(), y = Values::zeros(x.shape), dx = Values::zeros(x.shape);
    run(KernelKind::LogSoftmax, {x.view()}, {y.view()});
    run(KernelKind::LogSoftmaxGrad, {dy.view(), y.view()}, {dx.view()});
    expectEqual("output", y);
    expectEqual("x", dx);
}

TEST_P(Kernels, CrossEntropyAveragesOverTheRowsThatCount) {
    for (const char* name : {"cross_entropy_mean", "cross_entropy_ignore_index", "cross_entropy_extreme",
                             "cross_entropy_zero_logits_10"}) {
        SCOPED_TRACE(name);
        open(name);
        m_labels.clear();
        labels();
        Values x = input("logits"), logp = Values::zeros(x.shape), loss = Values::zeros({}), weight = Values::zeros({});
        Values one{{}, {1.0f}}, dlogp = Values::zeros(x.shape), dx = Values::zeros(x.shape);
        run(KernelKind::LogSoftmax, {x.view()}, {logp.view()});
        run(KernelKind::NllLoss, {logp.view(), labelView()}, {loss.view(), weight.view()});
        run(KernelKind::NllLossGrad, {one.view(), logp.view(), labelView(), weight.view()}, {dlogp.view()});
        run(KernelKind::LogSoftmaxGrad, {dlogp.view(), logp.view()}, {dx.view()});
        expectEqual("output", loss);
        expectEqual("logits", dx);
    }
}

TEST_P(Kernels, LinearLayersTakeWeightsEitherWayRound) {
    open("linear");
    Values x = input("x"), w = input("weight"), b = input("bias"), dy = outputGradient();
    const std::int64_t out = w.shape[0], in = w.shape[1];
    Values transposed = Values::zeros({in, out});
    for (std::int64_t o = 0; o < out; ++o)
        for (std::int64_t i = 0; i < in; ++i)
            transposed.data[static_cast<std::size_t>(i * out + o)] = w.data[static_cast<std::size_t>(o * in + i)];
    for (const bool isTransposed : {false, true}) {
        Values y = Values::zeros(dy.shape), dx = Values::zeros(x.shape), db = Values::zeros(b.shape);
        Values dw = Values::zeros(isTransposed ? transposed.shape : w.shape);
        core::Kernel kernel;
        kernel.weightTransposed = isTransposed;
        Values& weight = isTransposed ? transposed : w;
        kernel.kind = KernelKind::Linear;
        run(kernel, {x.view(), weight.view(), b.view()}, {y.view()});
        kernel.kind = KernelKind::LinearInputGrad;
        run(kernel, {dy.view(), weight.view()}, {dx.view()});
        kernel.kind = KernelKind::LinearWeightGrad;
        run(kernel, {dy.view(), x.view()}, {dw.view()});
        run(KernelKind::BiasGrad, {dy.view()}, {db.view()});
        expectEqual("output", y);
        expectEqual("x", dx);
        expectEqual("bias", db);
        if (isTransposed) {
            Values back = Values::zeros(w.shape);
            for (std::int64_t o = 0; o < out; ++o)
                for (std::int64_t i = 0; i < in; ++i)
                    back.data[static_cast<std::size_t>(o * in + i)] = dw.data[static_cast<std::size_t>(i * out + o)];
            dw = back;
        }
        expectEqual("weight", dw);
    }
}

// Fused attention on strided views into one packed projection, and the same by batched products and a softmax.
TEST_P(Kernels, AttentionWorksOnViewsFusedAndUnfused) {
    open("multi_head_attention_h4");
    Values x = input("x"), wIn = input("in_proj_weight"), bIn = input("in_proj_bias");
    Values wOut = input("out_proj.weight"), bOut = input("out_proj.bias"), dy = outputGradient();
    const std::int64_t B = x.shape[0], S = x.shape[1], h = x.shape[2], heads = 4, d = h / heads;
    for (const bool fused : {true, false}) {
        SCOPED_TRACE(fused);
        Values packed = Values::zeros({B, S, 3 * h}), context = Values::zeros({B, S, h}), y = Values::zeros(x.shape);
        Values logsumexp = Values::zeros({B, heads, S}), probabilities = Values::zeros({B, heads, S, S});
        Values dcontext = Values::zeros({B, S, h}), dpacked = Values::zeros({B, S, 3 * h}), dx = Values::zeros(x.shape);
        const auto part = [&](Values& storage, std::int64_t which, bool swapped = false) {
            TensorView view = storage.view();
            const std::int64_t width = storage.shape.back();
            view.data += which * h * 4;
            view.shape = {B, heads, S, d};
            view.strides = {S * width, d, width, 1};
            if (swapped) {
                std::swap(view.shape[2], view.shape[3]);
                std::swap(view.strides[2], view.strides[3]);
            }
            return view;
        };
        const auto swap = [](TensorView view) {
            if (view.strides.empty())
                view.strides = {view.shape[1] * view.shape[2] * view.shape[3], view.shape[2] * view.shape[3],
                                view.shape[3], 1};
            std::swap(view.shape[2], view.shape[3]);
            std::swap(view.strides[2], view.strides[3]);
            return view;
        };
        run(KernelKind::Linear, {x.view(), wIn.view(), bIn.view()}, {packed.view()});
        const TensorView q = part(packed, 0), k = part(packed, 1), v = part(packed, 2);
        core::Kernel scale;
        scale.kind = KernelKind::Scale;
        scale.scalar = m_case->find("attrs")->find("scale")->number();
        if (fused) {
            run(KernelKind::Attention, {q, k, v}, {part(context, 0), logsumexp.view()});
        } else {
            Values scores = Values::zeros({B, heads, S, S});
            run(KernelKind::BatchedGemm, {q, swap(k)}, {scores.view()});
            run(scale, {scores.view()}, {scores.view()});
            run(KernelKind::Softmax, {scores.view()}, {probabilities.view()});
            run(KernelKind::BatchedGemm, {probabilities.view(), v}, {part(context, 0)});
        }
        run(KernelKind::Linear, {context.view(), wOut.view(), bOut.view()}, {y.view()});
        expectEqual("output", y);

        run(KernelKind::LinearInputGrad, {dy.view(), wOut.view()}, {dcontext.view()});
        const TensorView dq = part(dpacked, 0), dk = part(dpacked, 1), dv = part(dpacked, 2);
        if (fused) {
            run(KernelKind::AttentionGrad, {part(dcontext, 0), q, k, v, part(context, 0), logsumexp.view()},
                {dq, dk, dv});
        } else {
            Values dp = Values::zeros({B, heads, S, S}), ds = Values::zeros({B, heads, S, S});
            run(KernelKind::BatchedGemm, {part(dcontext, 0), swap(v)}, {dp.view()});
            run(KernelKind::BatchedGemm, {swap(probabilities.view()), part(dcontext, 0)}, {dv});
            run(KernelKind::SoftmaxGrad, {dp.view(), probabilities.view()}, {ds.view()});
            run(scale, {ds.view()}, {ds.view()});
            run(KernelKind::BatchedGemm, {ds.view(), k}, {dq});
            run(KernelKind::BatchedGemm, {swap(ds.view()), q}, {dk});
        }
        Values dwIn = Values::zeros(wIn.shape), dbIn = Values::zeros(bIn.shape);
        run(KernelKind::LinearInputGrad, {dpacked.view(), wIn.view()}, {dx.view()});
        run(KernelKind::LinearWeightGrad, {dpacked.view(), x.view()}, {dwIn.view()});
        run(KernelKind::BiasGrad, {dpacked.view()}, {dbIn.view()});
        expectEqual("x", dx);
        expectEqual("in_proj_weight", dwIn);
        expectEqual("in_proj_bias", dbIn);
    }
}

TEST_P(Kernels, PatchesAreRowMajor) {
    open("patch_embedding");
    Values images = input("image"), w = input("weight"), b = input("bias"), dy = outputGradient();
    Values y = Values::zeros(dy.shape), dw = Values::zeros(w.shape), db = Values::zeros(b.shape);
    run(KernelKind::PatchEmbed, {images.view(), w.view(), b.view()}, {y.view()});
    run(KernelKind::PatchEmbedWeightGrad, {dy.view(), images.view()}, {dw.view(), db.view()});
    expectEqual("output", y);
    expectEqual("weight", dw);
    expectEqual("bias", db);
}

TEST_P(Kernels, TheClassTokenStandsFirstAndPositionsAreSummedOverTheBatch) {
    open("class_token_and_positions");
    Values x = input("patch_tokens"), token = input("class_token"), p = input("pos_embedding"), dy = outputGradient();
    Values y = Values::zeros(dy.shape), dp = Values::zeros(p.shape);
    run(KernelKind::ConcatToken, {token.view(), x.view()}, {y.view()});
    run(KernelKind::AddBroadcast, {y.view(), p.view()}, {y.view()});  // in place
    run(KernelKind::AddBroadcastGrad, {dy.view()}, {dp.view()});
    expectEqual("output", y);
    expectEqual("pos_embedding", dp);
}

TEST_P(Kernels, OptimizersFollowPyTorchsUpdateRules) {
    const core::Document* optimizer = file().find("optimizer");
    ASSERT_NE(optimizer, nullptr);
    for (const char* name : {"adam", "adamw", "adam_custom", "adamw_custom"}) {
        const core::Document& entry = *optimizer->find("cases")->find(name);
        const core::Document& args = *entry.find("args");
        const bool decoupled = entry.find("class")->text == "AdamW";
        OptimizerCall call;
        call.kind = decoupled ? core::OptimizerKind::AdamW : core::OptimizerKind::Adam;
        call.weightDecay = decoupled ? 1e-2 : 0;  // defaults: framework semantics 8.2
        if (const auto* value = args.find("lr")) call.learningRate = value->number();
        if (const auto* value = args.find("eps")) call.epsilon = value->number();
        if (const auto* value = args.find("weight_decay")) call.weightDecay = value->number();
        if (const auto* value = args.find("betas")) {
            call.beta1 = value->items[0].number();
            call.beta2 = value->items[1].number();
        }
        std::vector<float> start;
        for (double v : testing::numbersOf(*optimizer->find("p0"))) start.push_back(static_cast<float>(v));
        const core::Shape shape{static_cast<std::int64_t>(start.size())};
        Values p{shape, start}, m = Values::zeros(shape), v = Values::zeros(shape);
        const auto& gradients = optimizer->find("grads")->items;
        for (std::size_t t = 0; t < gradients.size(); ++t) {
            Values g{shape, {}};
            for (double value : testing::numbersOf(gradients[t])) g.data.push_back(static_cast<float>(value));
            call.step = static_cast<std::int64_t>(t) + 1;
            call.parameter = p.view();
            call.gradient = g.view();
            call.firstMoment = m.view();
            call.secondMoment = v.view();
            ASSERT_TRUE(finished(m_device->update(m_stream, call)));
            const core::Document* after = entry.find("after")->find(std::to_string(t + 1));
            if (after == nullptr) continue;
            // Relative to the largest value, 100: float32 keeps 7e-6 of it.
            EXPECT_LE(testing::largestDifference(p.data, testing::numbersOf(*after->find("params_fp64"))), 2e-5)
                << name << t;
        }
    }
}

TEST_P(Kernels, UnknownKernelsAreNamed) {
    core::Kernel kernel;
    kernel.kind = KernelKind::Elementwise;
    kernel.op = "rotary";
    Values x = Values::zeros({2});
    const std::vector<TensorView> operands{x.view()};
    const auto done = finished(m_device->launch(m_stream, {kernel, operands, operands}));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, core::ErrorCode::Unsupported);
    EXPECT_NE(done.error().message.find("rotary"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Devices, Kernels, ::testing::Values(DeviceKind::Reference, DeviceKind::Cpu),
                         [](const auto& one) { return std::string(nameOf(one.param)); });

TEST(ReferenceMemory, IsCountedByCategoryAndPoisoned) {
    ReferenceDevice device(1000);
    const auto category = core::MemoryCategory::GatherBuffers;
    const auto slot = static_cast<std::size_t>(category);
    const auto memory = device.allocate(category, 400, 0);
    ASSERT_TRUE(memory);
    EXPECT_EQ(device.liveBytes()[slot], 400);
    float first = 0;
    std::memcpy(&first, memory->data, sizeof first);
    EXPECT_TRUE(std::isnan(first));
    const auto tooMuch = device.allocate(category, 601, 0);
    ASSERT_FALSE(tooMuch);
    EXPECT_NE(tooMuch.error().message.find("exhausted"), std::string::npos);
    device.release(*memory);
    EXPECT_EQ(device.liveBytes()[slot], 0);
    EXPECT_EQ(device.peakBytes()[slot], 400);
}

TEST(LowPrecision, RoundsToNearestEvenInBothFormats) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const float widened = fromHalf(half);
        if (!std::isnan(widened)) {
            EXPECT_EQ(toHalf(widened), half);
        }
        const float brain = fromBfloat16(half);
        if (!std::isnan(brain)) {
            EXPECT_EQ(toBfloat16(brain), half);
        }
    }
    EXPECT_EQ(toHalf(1.0f + 0x1p-11f), toHalf(1.0f));  // a tie goes to the even mantissa
    EXPECT_EQ(toHalf(1.0f + 3 * 0x1p-11f), toHalf(1.0f + 0x1p-9f));
    EXPECT_EQ(toHalf(65519.0f), 0x7bff);  // largest half
    EXPECT_EQ(toHalf(65520.0f), 0x7c00);  // infinity from half way on
    EXPECT_EQ(toHalf(0x1p-25f), 0);       // half the smallest subnormal, tie to zero
    EXPECT_EQ(toBfloat16(1.0f + 0x1p-8f), toBfloat16(1.0f));
    EXPECT_EQ(toBfloat16(1.0f + 3 * 0x1p-8f), toBfloat16(1.0f + 0x1p-6f));
}

}  // namespace
}  // namespace shardscope::runtime
