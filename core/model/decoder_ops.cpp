#include "core/model/decoder_ops.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace shardscope::core {
namespace {

Shape withLast(Shape shape, std::int64_t last) {
    shape.back() = last;
    return shape;
}

/// An element-wise kernel of the shape of `like`.
TensorId run(ProgramBuilder& b, std::string_view op, std::vector<TensorId> inputs, TensorId like, double scalar = 0) {
    const TensorId y = b.tensorLike(op, like, b.at(like).dtype);
    b.emit(KernelKind::Elementwise, op, std::move(inputs), {y}).scalar = scalar;
    return y;
}

TensorId timesNumber(ProgramBuilder& b, TensorId x, double factor) {
    const TensorId y = run(b, "mul", {x}, x, factor);
    b.record({y}, {x}, [&b, x, y, factor] { b.addGradient(x, run(b, "mul", {b.gradientOf(y)}, x, factor)); });
    return y;
}

TensorId plusNumber(ProgramBuilder& b, TensorId x, double summand) {
    const TensorId y = run(b, "add", {x}, x, summand);
    b.record({y}, {x}, [&b, x, y] { b.addGradient(x, b.gradientOf(y)); });
    return y;
}

/// x to a constant power; its gradient, dy * (n * x^(n-1)), takes three kernels.
TensorId power(ProgramBuilder& b, TensorId x, double exponent) {
    const TensorId y = run(b, "pow", {x}, x, exponent);
    b.record({y}, {x}, [&b, x, y, exponent] {
        const TensorId slope = run(b, "mul", {run(b, "pow", {x}, x, exponent - 1)}, x, exponent);
        b.addGradient(x, run(b, "mul", {b.gradientOf(y), slope}, x));
    });
    return y;
}

/// Mean over the last dimension, kept with size 1; the gradient is divided at full size.
TensorId meanOverLast(ProgramBuilder& b, TensorId x) {
    const TensorId y = b.tensor("mean", withLast(b.shapeOf(x), 1), b.at(x).dtype);
    b.emit(KernelKind::Elementwise, "mean", {x}, {y});
    b.record({y}, {x}, [&b, x, y] {
        const auto count = static_cast<double>(b.shapeOf(x).back());
        b.addGradient(x, run(b, "div", {b.gradientOf(y)}, x, count));
    });
    return y;
}

/// 1/sqrt(x); its gradient, -dy/2 * y^3, takes three kernels.
TensorId reciprocalRoot(ProgramBuilder& b, TensorId x) {
    const TensorId y = run(b, "rsqrt", {x}, x);
    b.record({y}, {x}, [&b, x, y] {
        const TensorId half = run(b, "mul", {b.gradientOf(y)}, x, -0.5);
        const TensorId cube = run(b, "pow", {y}, x, 3);
        b.addGradient(x, run(b, "mul", {half, cube}, x));
    });
    return y;
}

/// x times a factor with fewer elements, which is repeated; the factor's gradient is made at full size, then summed.
TensorId timesBroadcast(ProgramBuilder& b, TensorId x, TensorId factor, bool factorFirst) {
    const TensorId y = b.tensorLike("mul", x, b.at(x).dtype);
    const std::vector<TensorId> operands = factorFirst ? std::vector{factor, x} : std::vector{x, factor};
    b.emit(KernelKind::Elementwise, "mul", operands, {y});
    b.record({y}, {x, factor}, [&b, x, factor, y, factorFirst] {
        const auto ofFactor = [&] {
            const TensorId whole = run(b, "mul", {b.gradientOf(y), x}, x);
            const TensorId sum = b.tensor("d_factor", b.shapeOf(factor), b.at(factor).dtype);
            b.emit(KernelKind::Elementwise, "sum", {whole}, {sum});
            b.addGradient(factor, sum);
        };
        if (factorFirst) ofFactor();
        b.addGradient(x, run(b, "mul", {b.gradientOf(y), factor}, x));
        if (!factorFirst) ofFactor();
    });
    return y;
}

}  // namespace

TensorId multiply(ProgramBuilder& b, TensorId a, TensorId other) {
    return b.pointwise("mul", {a, other}, b.widerOf(a, other), {{a, "mul", {other}}, {other, "mul", {a}}});
}

TensorId silu(ProgramBuilder& b, TensorId x) {
    return b.pointwise("silu", {x}, b.at(x).dtype, {{x, "silu_backward", {x}}});
}

TensorId geluNew(ProgramBuilder& b, TensorId x) {
    const TensorId half = timesNumber(b, x, 0.5);
    const TensorId cubic = timesNumber(b, power(b, b.widened(x), 3), 0.044715);
    const TensorId inner = timesNumber(b, b.add(x, cubic), std::sqrt(2 / std::numbers::pi));
    const TensorId tanh = b.pointwise("tanh", {inner}, b.at(inner).dtype, {{inner, "tanh_backward", {TensorId{}}}});
    return multiply(b, half, plusNumber(b, tanh, 1));
}

namespace {

TensorId normalised(ProgramBuilder& b, TensorId x, double epsilon) {
    const TensorId wide = b.cast(x, DType::F32);
    const TensorId variance = meanOverLast(b, power(b, wide, 2));
    return timesBroadcast(b, wide, reciprocalRoot(b, plusNumber(b, variance, epsilon)), false);
}

}  // namespace

TensorId rmsNorm(ProgramBuilder& b, TensorId x, TensorId weight, double epsilon) {
    return timesBroadcast(b, b.cast(normalised(b, x, epsilon), b.at(x).dtype), weight, true);
}

TensorId composedRmsNorm(ProgramBuilder& b, TensorId x, TensorId weight, double epsilon) {
    return b.cast(timesBroadcast(b, normalised(b, x, epsilon), weight, false), b.at(x).dtype);
}

RotaryTables rotaryTables(ProgramBuilder& b, std::int64_t sequence, std::int64_t headDim) {
    const Shape shape{1, sequence, headDim};
    return {b.shared("rotary.cos", shape, b.dtype()), b.shared("rotary.sin", shape, b.dtype())};
}

RotaryTables makeRotaryTables(ProgramBuilder& b, std::int64_t sequence, std::int64_t headDim) {
    const RotaryTables tables = rotaryTables(b, sequence, headDim);
    const Shape shape{1, sequence, headDim};
    const auto fill = [&b](std::string_view op, std::vector<TensorId> inputs, Shape of) {
        const TensorId y = b.tensor(op, std::move(of), DType::F32);
        b.emit(KernelKind::Elementwise, op, std::move(inputs), {y});
        return y;
    };
    const TensorId angles = fill("mul", {}, {1, sequence, headDim / 2});  // positions times inverse frequencies
    const TensorId both = fill("cat", {angles, angles}, shape);
    for (const auto& [function, table] : {std::pair{"cos", tables.cosine}, std::pair{"sin", tables.sine}}) {
        const TensorId raw = fill(function, {both}, shape);
        if (b.dtype() == DType::F32) {
            b.emit(KernelKind::Elementwise, "mul", {raw}, {table});
        } else {
            b.emit(KernelKind::Copy, "_to_copy", {fill("mul", {raw}, shape)}, {table});
        }
    }
    return tables;
}

TensorId rotary(ProgramBuilder& b, TensorId x, const RotaryTables& tables) {
    const DType dtype = b.widerOf(x, tables.cosine);
    const std::int64_t half = b.shapeOf(x)[3] / 2;
    const Shape& table = b.shapeOf(tables.cosine);
    const Shape perHead{1, 1, table[1], table[2]};
    const TensorId cosine = b.reshape(tables.cosine, perHead);
    const TensorId sine = b.reshape(tables.sine, perHead);
    const TensorId straight = b.pointwise("mul", {x, cosine}, dtype, {{x, "mul", {cosine}}});
    const TensorId first = b.slice(x, 3, 0, half);
    const TensorId second = b.slice(x, 3, half, half);
    const TensorId turned = b.concat({b.pointwise("neg", {second}, b.at(x).dtype, {{second, "neg", {}}}), first}, 3);
    return b.add(straight, b.pointwise("mul", {turned, sine}, dtype, {{turned, "mul", {sine}}}));
}

TensorId causalLoss(ProgramBuilder& b, TensorId logits, TensorId labels) {
    const Shape shape = b.shapeOf(logits);
    const TensorId wide = b.cast(logits, DType::F32);
    const TensorId padded = b.tensor("constant_pad_nd", {shape[0], shape[1] + 1}, DType::I64);
    b.emit(KernelKind::Elementwise, "constant_pad_nd", {labels}, {padded});
    const TensorId shifted = b.contiguous(b.slice(padded, 1, 1, shape[1]));
    const std::int64_t rows = shape[0] * shape[1];
    return b.crossEntropy(b.reshape(wide, {rows, shape[2]}), b.reshape(shifted, {rows}));
}

TensorId fusedCausalLoss(ProgramBuilder& b, TensorId logits, TensorId labels) {
    const Shape shape = b.shapeOf(logits);
    const std::int64_t rows = shape[0] * shape[1];
    const TensorId flat = b.reshape(logits, {rows, shape[2]});
    const TensorId rolled = b.tensor("roll", {rows}, DType::I64);
    b.emit(KernelKind::Elementwise, "roll", {labels}, {rolled});
    const TensorId losses = b.tensor("cross_entropy", {rows}, DType::F32);
    const TensorId logSumExp = b.tensor("logsumexp", {rows}, DType::F32);
    b.emit(KernelKind::Elementwise, "cross_entropy_forward", {flat, rolled}, {losses, logSumExp});
    b.record({losses}, {flat}, [&b, flat, rolled, losses, logSumExp] {
        const TensorId dx = b.tensorLike("d_logits", flat, b.at(flat).dtype);
        b.emit(KernelKind::Elementwise, "cross_entropy_backward", {b.gradientOf(losses), flat, logSumExp, rolled},
               {dx});
        b.addGradient(flat, dx);
    });
    const TensorId loss = b.tensor("mean", {}, DType::F32);
    b.emit(KernelKind::Elementwise, "mean", {losses}, {loss});
    b.record({loss}, {losses}, [&b, losses, loss] {
        const TensorId each = b.tensorLike("d_losses", losses, DType::F32);
        b.emit(KernelKind::Elementwise, "div", {b.gradientOf(loss)}, {each});
        b.addGradient(losses, each);
    });
    return loss;
}

}  // namespace shardscope::core
