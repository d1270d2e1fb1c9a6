// The operations of ProgramBuilder: forward kernels, and backward ones in the order in which autograd's nodes emit
// them.

#include <cassert>
#include <utility>

#include "core/model/program_builder.h"

namespace shardscope::core {
namespace {

constexpr double kLargestFlops = 4.6e18;  // 2^62

std::int64_t rowsOf(const Shape& shape) {
    return shape.empty() ? 1 : elementsOf(shape) / shape.back();
}

Shape withLast(Shape shape, std::int64_t last) {
    shape.back() = last;
    return shape;
}

}  // namespace

void ProgramBuilder::multiply(Kernel& kernel, std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t k,
                              double products) {
    kernel.b = b;
    kernel.m = m;
    kernel.n = n;
    kernel.k = k;
    const double flops = 2.0 * products * static_cast<double>(b) * static_cast<double>(m) * static_cast<double>(n) *
                         static_cast<double>(k);
    if (m_tooLarge || flops > kLargestFlops) {
        m_tooLarge = true;
        return;
    }
    kernel.flops = {2 * b * m * n * k * static_cast<std::int64_t>(products)};
}

TensorId ProgramBuilder::copyOf(TensorId x, std::string_view op, DType dtype, bool keepOrder) {
    const TensorId y = keepOrder ? tensorLike(op, x, dtype) : tensor(op, shapeOf(x), dtype);
    emit(KernelKind::Copy, op, {x}, {y});
    record({y}, {x}, [this, x, y] { addGradient(x, cast(gradientOf(y), at(x).dtype)); });
    return y;
}

TensorId ProgramBuilder::contiguous(TensorId x) {
    return at(x).strides.empty() ? x : clone(x);
}

TensorId ProgramBuilder::clone(TensorId x) {
    return copyOf(x, "clone", at(x).dtype, false);
}

TensorId ProgramBuilder::cast(TensorId x, DType to) {
    return at(x).dtype == to ? x : copyOf(x, "_to_copy", to, true);
}

TensorId ProgramBuilder::add(TensorId a, TensorId b) {
    assert(m_tooLarge || shapeOf(a) == shapeOf(b));
    const TensorId y = tensorLike("add", a, widerOf(a, b));
    emit(KernelKind::Add, "add", {a, b}, {y});
    record({y}, {a, b}, [this, a, b, y] {
        addGradient(a, cast(gradientOf(y), at(a).dtype));
        addGradient(b, cast(gradientOf(y), at(b).dtype));
    });
    return y;
}

TensorId ProgramBuilder::factor(TensorId x) {
    if (m_product == m_dtype || !x.valid()) return x;
    // Autocast casts a weight once and keeps the copy until the end of the pass (framework semantics 6): the copies are
    // the plan's business.
    if (at(x).role == TensorRole::Parameter) {
        m_program.tensors[x.index()].dtype = m_product;
        return x;
    }
    return cast(x, m_product);
}

TensorId ProgramBuilder::dropout(TensorId x) {
    const DType dtype = at(x).dtype;
    const bool cpu = m_cpuRules;
    const TensorId mask = tensorLike("mask", x, cpu ? dtype : DType::Bool);
    const TensorId y = tensorLike(cpu ? "mul" : "native_dropout", x, dtype);
    if (cpu) {
        drawn(emit(KernelKind::Bernoulli, "bernoulli_", {}, {mask}), ++m_draws);
        emit(KernelKind::Scale, "div_", {mask}, {mask}).scalar = 1 / (1 - kDropped);
        emit(KernelKind::Multiply, "mul", {x, mask}, {y});
    } else {
        drawn(emit(KernelKind::Dropout, "native_dropout", {x}, {y, mask}), ++m_draws);
    }
    record({y}, {x}, [this, x, y, mask, dtype, cpu] {
        const TensorId dx = tensorLike("d_input", x, dtype);
        if (cpu)
            emit(KernelKind::Multiply, "mul", {gradientOf(y), mask}, {dx});
        else
            emit(KernelKind::DropoutGrad, "native_dropout_backward", {gradientOf(y), mask}, {dx}).scalar = kDropped;
        addGradient(x, dx);
    });
    return y;
}

TensorId ProgramBuilder::scale(TensorId x, double factor) {
    const auto scaled = [this, factor](TensorId of) {
        const TensorId y = tensorLike("mul", of, at(of).dtype);
        emit(KernelKind::Scale, "mul", {of}, {y}).scalar = factor;
        return y;
    };
    const TensorId y = scaled(x);
    record({y}, {x}, [this, x, y, scaled] { addGradient(x, scaled(gradientOf(y))); });
    return y;
}

TensorId ProgramBuilder::gemm(TensorId x, TensorId weight, TensorId bias, bool weightTransposed) {
    x = factor(x);
    factor(weight);
    factor(bias);
    const std::int64_t in = shapeOf(x).back();
    const std::int64_t out = shapeOf(weight)[weightTransposed ? 1 : 0];
    const std::int64_t rows = rowsOf(shapeOf(x));
    assert(m_tooLarge || shapeOf(weight)[weightTransposed ? 0 : 1] == in);
    const TensorId y = tensor(bias.valid() ? "addmm" : "mm", withLast(shapeOf(x), out), at(x).dtype);
    std::vector<TensorId> inputs{x, weight};
    if (bias.valid()) inputs.push_back(bias);
    Kernel& kernel = emit(KernelKind::Linear, bias.valid() ? "addmm" : "mm", inputs, {y});
    kernel.weightTransposed = weightTransposed;
    multiply(kernel, 1, rows, out, in);

    record({y}, inputs, [this, x, weight, bias, y, rows, in, out, weightTransposed] {
        const TensorId dy = contiguous(gradientOf(y));
        const auto inputGradient = [&] {
            if (!needsGradient(x)) return;
            const TensorId dx = tensor("d_input", shapeOf(x), at(x).dtype);
            Kernel& k = emit(KernelKind::LinearInputGrad, "mm", {dy, weight}, {dx});
            k.weightTransposed = weightTransposed;
            multiply(k, 1, rows, in, out);
            addGradient(x, dx);
        };
        const auto weightGradient = [&] {
            const TensorId dw = tensor("d_weight", shapeOf(weight), at(weight).dtype);
            Kernel& k = emit(KernelKind::LinearWeightGrad, "mm", {dy, x}, {dw});
            k.weightTransposed = weightTransposed;
            multiply(k, 1, weightTransposed ? in : out, weightTransposed ? out : in, rows);
            addGradient(weight, dw);
        };
        // Framework semantics 5.3: addmm gives input, weight, bias; mm gives weight, input.
        if (!bias.valid()) {
            weightGradient();
            inputGradient();
            return;
        }
        inputGradient();
        weightGradient();
        const TensorId db = tensor("d_bias", shapeOf(bias), at(bias).dtype);
        emit(KernelKind::BiasGrad, "sum", {dy}, {db});
        addGradient(bias, db);
    });
    return y;
}

TensorId ProgramBuilder::linear(TensorId x, TensorId weight, TensorId bias) {
    x = factor(x);
    if (at(x).strides.empty() || (bias.valid() && shapeOf(x).size() == 2)) return gemm(x, weight, bias, false);
    // matmul folds leading dimensions, which copies where they do not fold, and the bias is added in place.
    const Shape shape = shapeOf(x);
    const TensorId y = gemm(reshape(x, {rowsOf(shape), shape.back()}), weight, {}, false);
    const TensorId unfolded = reshape(y, withLast(shape, shapeOf(y).back()));
    return bias.valid() ? addBroadcast(unfolded, factor(bias), true) : unfolded;
}

TensorId ProgramBuilder::conv1d(TensorId x, TensorId weight, TensorId bias) {
    return gemm(contiguous(x), weight, bias, true);
}

TensorId ProgramBuilder::patchEmbed(TensorId images, TensorId weight, TensorId bias) {
    images = factor(images);
    factor(weight);
    factor(bias);
    const Shape image = shapeOf(images);
    const Shape kernelShape = shapeOf(weight);
    const std::int64_t batchSize = image[0], hidden = kernelShape[0], patch = kernelShape[2];
    const std::int64_t patches = (image[2] / patch) * (image[3] / patch);
    const std::int64_t inner = kernelShape[1] * patch * patch;
    const TensorId y = tensor("convolution", {batchSize, patches, hidden}, m_product);
    multiply(emit(KernelKind::PatchEmbed, "convolution", {images, weight, bias}, {y}), 1, batchSize * patches, hidden,
             inner);
    record({y}, {weight, bias}, [=, this] {
        const TensorId dw = tensor("d_weight", shapeOf(weight), at(weight).dtype);
        const TensorId db = tensor("d_bias", shapeOf(bias), at(bias).dtype);
        multiply(emit(KernelKind::PatchEmbedWeightGrad, "convolution_backward", {gradientOf(y), images}, {dw, db}), 1,
                 hidden, inner, batchSize * patches);
        addGradient(weight, dw);
        addGradient(bias, db);
    });
    return y;
}

TensorId ProgramBuilder::embedding(TensorId ids, TensorId weight) {
    Shape shape = shapeOf(ids);
    shape.push_back(shapeOf(weight)[1]);
    const TensorId y = tensor("embedding", std::move(shape), m_dtype);
    emit(KernelKind::Embedding, "embedding", {ids, weight}, {y});
    record({y}, {weight}, [this, ids, weight, y] {
        const TensorId dw = tensor("d_weight", shapeOf(weight), at(weight).dtype);
        emit(KernelKind::EmbeddingGrad, "embedding_dense_backward", {gradientOf(y), ids}, {dw});
        addGradient(weight, dw);
    });
    return y;
}

TensorId ProgramBuilder::concatToken(TensorId token, TensorId x) {
    x = cast(x, widerOf(x, token));
    Shape shape = shapeOf(x);
    ++shape[1];
    const TensorId y = tensor("cat", shape, at(x).dtype);
    emit(KernelKind::ConcatToken, "cat", {token, x}, {y});
    record({y}, {token, x}, [this, token, x, y] {
        // The two gradients are slices of dy; the token's, which was repeated over the batch, is summed.
        const TensorId dy = gradientOf(y);
        const TensorId dtoken = tensor("d_token", shapeOf(token), at(token).dtype);
        emit(KernelKind::AddBroadcastGrad, "sum", {narrow(dy, 1, 0, 1)}, {dtoken});
        addGradient(token, dtoken);
        addGradient(x, narrow(dy, 1, 1, shapeOf(x)[1]));
    });
    return y;
}

TensorId ProgramBuilder::addBroadcast(TensorId x, TensorId p, bool inPlace) {
    const TensorId y = inPlace ? x : tensorLike("add", x, at(x).dtype);
    emit(KernelKind::AddBroadcast, inPlace ? "add_" : "add", {x, p}, {y});
    record({y}, {x, p}, [this, x, p, y] {
        const TensorId dp = tensor("d_added", shapeOf(p), at(p).dtype);
        emit(KernelKind::AddBroadcastGrad, "sum", {gradientOf(y)}, {dp});
        addGradient(p, dp);
        if (x != y) addGradient(x, gradientOf(y));
    });
    return y;
}

TensorId ProgramBuilder::layerNorm(TensorId x, TensorId weight, TensorId bias, double epsilon) {
    x = contiguous(widened(x));
    const std::int64_t rows = rowsOf(shapeOf(x));
    const DType statistics = m_cpuRules ? at(x).dtype : DType::F32;
    const TensorId y = tensor("native_layer_norm", shapeOf(x), at(x).dtype);
    const TensorId mean = tensor("mean", {rows}, statistics);
    const TensorId rstd = tensor("rstd", {rows}, statistics);
    emit(KernelKind::LayerNorm, "native_layer_norm", {x, weight, bias}, {y, mean, rstd}).scalar = epsilon;
    record({y}, {x, weight, bias}, [this, x, weight, bias, y, mean, rstd] {
        const TensorId dy = contiguous(gradientOf(y));
        const TensorId dx = tensor("d_input", shapeOf(x), at(x).dtype);
        const TensorId dw = tensor("d_weight", shapeOf(weight), at(weight).dtype);
        const TensorId db = tensor("d_bias", shapeOf(bias), at(bias).dtype);
        emit(KernelKind::LayerNormGrad, "native_layer_norm_backward", {dy, x, mean, rstd, weight}, {dx, dw, db});
        addGradient(x, dx);
        addGradient(weight, dw);
        addGradient(bias, db);
    });
    return y;
}

TensorId ProgramBuilder::rmsNorm(TensorId x, TensorId weight, double epsilon) {
    x = contiguous(x);
    const TensorId y = tensor("_fused_rms_norm", shapeOf(x), at(x).dtype);
    const TensorId rstd = tensor("rstd", {rowsOf(shapeOf(x))}, DType::F32);
    emit(KernelKind::Elementwise, "_fused_rms_norm", {x, weight}, {y, rstd}).scalar = epsilon;
    record({y}, {x, weight}, [this, x, weight, y, rstd] {
        const TensorId dy = contiguous(gradientOf(y));
        const TensorId dx = tensor("d_input", shapeOf(x), at(x).dtype);
        const TensorId dw = tensor("d_weight", shapeOf(weight), at(weight).dtype);
        emit(KernelKind::Elementwise, "_fused_rms_norm_backward", {dy, x, rstd, weight}, {dx, dw});
        addGradient(x, dx);
        addGradient(weight, dw);
    });
    return y;
}

TensorId ProgramBuilder::gelu(TensorId x) {
    const TensorId y = tensorLike("gelu", x, at(x).dtype);
    emit(KernelKind::Gelu, "gelu", {x}, {y});
    record({y}, {x}, [this, x, y] {
        const TensorId dx = tensorLike("d_input", x, at(x).dtype);
        emit(KernelKind::GeluGrad, "gelu_backward", {gradientOf(y), x}, {dx});
        addGradient(x, dx);
    });
    return y;
}

TensorId ProgramBuilder::scaleVector(TensorId x, TensorId vector) {
    const TensorId y = tensorLike("mul", x, at(x).dtype);
    emit(KernelKind::ScaleVector, "mul", {x, vector}, {y});
    record({y}, {x, vector}, [this, x, vector, y] {
        const TensorId dx = tensorLike("d_input", x, at(x).dtype);
        const TensorId dv = tensor("d_vector", shapeOf(vector), at(vector).dtype);
        emit(KernelKind::ScaleVectorGrad, "mul", {gradientOf(y), x, vector}, {dx, dv});
        addGradient(x, dx);
        addGradient(vector, dv);
    });
    return y;
}

TensorId ProgramBuilder::pointwise(std::string_view op, const std::vector<TensorId>& inputs, DType dtype,
                                   std::vector<PointwiseGradient> gradients) {
    const TensorId y = tensorLike(op, inputs.front(), dtype);
    emit(KernelKind::Elementwise, op, inputs, {y});
    record({y}, inputs, [this, y, gradients = std::move(gradients)] {
        for (const PointwiseGradient& gradient : gradients) {
            if (!needsGradient(gradient.of)) continue;
            const TensorId dy = gradientOf(y);
            if (gradient.op.empty()) {
                addGradient(gradient.of, dy);
                continue;
            }
            std::vector<TensorId> operands{dy};
            for (TensorId id : gradient.reads) operands.push_back(id.valid() ? id : y);
            const TensorId dx = tensorLike(gradient.op, gradient.of, at(gradient.of).dtype);
            emit(KernelKind::Elementwise, gradient.op, std::move(operands), {dx});
            addGradient(gradient.of, dx);
        }
    });
    return y;
}

TensorId ProgramBuilder::crossEntropy(TensorId logits, TensorId labels) {
    TensorId logProbabilities = tensor("_log_softmax", shapeOf(logits), at(logits).dtype);
    emit(KernelKind::LogSoftmax, "_log_softmax", {logits}, {logProbabilities});
    record({logProbabilities}, {logits}, [this, logits, logProbabilities] {
        const TensorId dx = tensor("d_logits", shapeOf(logits), at(logits).dtype);
        emit(KernelKind::LogSoftmaxGrad, "_log_softmax_backward_data", {gradientOf(logProbabilities), logProbabilities},
             {dx});
        addGradient(logits, dx);
    });
    logProbabilities = widened(logProbabilities);
    const TensorId loss = tensor("loss", {}, at(logProbabilities).dtype);
    const TensorId totalWeight = tensor("total_weight", {}, at(logProbabilities).dtype);
    emit(KernelKind::NllLoss, "nll_loss_forward", {logProbabilities, labels}, {loss, totalWeight});
    record({loss}, {logProbabilities}, [this, logProbabilities, labels, loss, totalWeight] {
        const TensorId dx = tensor("d_log_probabilities", shapeOf(logProbabilities), at(logProbabilities).dtype);
        emit(KernelKind::NllLossGrad, "nll_loss_backward", {gradientOf(loss), logProbabilities, labels, totalWeight},
             {dx});
        addGradient(logProbabilities, dx);
    });
    return loss;
}

}  // namespace shardscope::core
