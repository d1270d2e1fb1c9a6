#include "runtime/cpu/vectors/rows.h"

namespace shardscope::runtime::cpu::SHARDSCOPE_VECTORS {

namespace {

/// Rows whose values are added up in float before they go to a sum in double: seven roundings at most.
constexpr std::int64_t kRowsInFloat = 8;

}  // namespace

void layerNorm(const NormRows& of, const float* x, const float* __restrict weight, const float* __restrict bias,
               float* __restrict y, float* __restrict means, float* __restrict rstds) {
    const std::int64_t width = of.width;
    for (std::int64_t r = 0; r < of.rows; ++r) {
        const float* row = x + r * width;
        const double all =
            sumOver(width, [&](std::int64_t i, auto kind) { return load<typename decltype(kind)::Type>(row + i); });
        const auto mean = static_cast<float>(all / static_cast<double>(width));
        const double squares = sumOver(width, [&](std::int64_t i, auto kind) {
            const auto off = load<typename decltype(kind)::Type>(row + i) - mean;
            return off * off;
        });
        const auto rstd = static_cast<float>(1 / __builtin_sqrt(squares / static_cast<double>(width) + of.epsilon));
        float* to = y + r * width;
        for (std::int64_t i = 0; i < width; ++i) to[i] = (row[i] - mean) * rstd * weight[i] + bias[i];
        means[r] = mean;
        rstds[r] = rstd;
    }
}

void layerNormGrad(const NormRows& of, const float* dy, const float* x, const float* __restrict means,
                   const float* __restrict rstds, const float* __restrict weight, float* __restrict dx,
                   float* __restrict dweight, float* __restrict dbias, double* __restrict scratch) {
    const std::int64_t width = of.width;
    double *exactWeights = scratch, *exactBiases = scratch + width;
    float *weights = dweight, *biases = dbias;
    for (std::int64_t i = 0; i < width; ++i) weights[i] = biases[i] = 0;
    for (std::int64_t r = 0; r < of.rows; ++r) {
        const float *row = x + r * width, *gradient = dy + r * width;
        const float center = means[r], rstd = rstds[r];
        const double all = sumOver(width, [&](std::int64_t i, auto kind) {
            using T = typename decltype(kind)::Type;
            return load<T>(gradient + i) * load<T>(weight + i);
        });
        const double tilted = sumOver(width, [&](std::int64_t i, auto kind) {
            using T = typename decltype(kind)::Type;
            return load<T>(gradient + i) * load<T>(weight + i) * ((load<T>(row + i) - center) * rstd);
        });
        const auto mean = static_cast<float>(all / static_cast<double>(width));
        const auto tilt = static_cast<float>(tilted / static_cast<double>(width));
        float* __restrict to = dx + r * width;
        for (std::int64_t i = 0; i < width; ++i) {
            const float normed = (row[i] - center) * rstd;
            weights[i] += gradient[i] * normed;
            biases[i] += gradient[i];
            to[i] = rstd * (gradient[i] * weight[i] - mean - normed * tilt);
        }
        if ((r + 1) % kRowsInFloat != 0 && r + 1 < of.rows) continue;
        for (std::int64_t i = 0; i < width; ++i) {
            exactWeights[i] += static_cast<double>(weights[i]);
            exactBiases[i] += static_cast<double>(biases[i]);
            weights[i] = biases[i] = 0;
        }
    }
    for (std::int64_t i = 0; i < width; ++i) {
        dweight[i] = static_cast<float>(exactWeights[i]);
        dbias[i] = static_cast<float>(exactBiases[i]);
    }
}

void add(const float* a, const float* b, float* sum, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

void addToRows(const float* x, const float* added, float* sum, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) sum[r * columns + c] = x[r * columns + c] + added[c];
}

void columnSums(const float* values, std::int64_t rows, std::int64_t columns, double* __restrict into) {
    std::int64_t r = 0;
    for (; r + kRowsInFloat <= rows; r += kRowsInFloat) {
        const float* v = values + r * columns;
        for (std::int64_t c = 0; c < columns; ++c) {
            const float *u = v + c, *w = u + 4 * columns;
            into[c] += static_cast<double>(((u[0] + u[columns]) + (u[2 * columns] + u[3 * columns])) +
                                           ((w[0] + w[columns]) + (w[2 * columns] + w[3 * columns])));
        }
    }
    for (; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) into[c] += static_cast<double>(values[r * columns + c]);
}

void adam(const AdamFactors& by, float* __restrict p, const float* __restrict g, float* __restrict m,
          float* __restrict v, std::int64_t count) {
    const AdamFactors f = by;
    for (std::int64_t i = 0; i < count; ++i) {
        const float gradient = g[i] + f.decay * p[i];
        m[i] += (gradient - m[i]) * f.fresh1;
        v[i] = f.beta2 * v[i] + f.fresh2 * gradient * gradient;
        // What is taken off is small beside what it is taken from: added up first, it costs one rounding.
        p[i] -= f.shrink * p[i] + f.rate * m[i] / (__builtin_sqrtf(v[i]) / f.root + f.epsilon);
    }
}

void widen(const std::uint16_t* bfloats, float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t bits = static_cast<std::uint32_t>(bfloats[i]) << 16;
        __builtin_memcpy(to + i, &bits, sizeof bits);
    }
}

// To the nearest, ties to even; a NaN stays one.
void narrow(const float* from, std::uint16_t* bfloats, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        std::uint32_t bits = 0;
        __builtin_memcpy(&bits, from + i, sizeof bits);
        const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
        bfloats[i] = static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
    }
}

}  // namespace shardscope::runtime::cpu::SHARDSCOPE_VECTORS
