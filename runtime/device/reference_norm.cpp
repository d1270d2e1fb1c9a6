#include <cmath>

#include "runtime/device/elements.h"
#include "runtime/device/reference_kernels.h"

namespace shardscope::runtime::reference {

using core::Result;

Result<void> layerNorm(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 3, 3));
    const auto x = loadFloats(call.inputs[0]), w = loadFloats(call.inputs[1]), b = loadFloats(call.inputs[2]);
    const std::size_t h = w.size();
    if (h == 0 || b.size() != h || x.size() % h != 0) return shapeError(call, "has rows that the weight does not fit");
    const std::size_t rows = x.size() / h;
    std::vector<float> y(x.size()), means(rows), rstds(rows);
    for (std::size_t r = 0; r < rows; ++r) {
        const float* row = &x[r * h];
        double mean = 0, variance = 0;
        for (std::size_t i = 0; i < h; ++i) mean += row[i];
        mean /= static_cast<double>(h);
        for (std::size_t i = 0; i < h; ++i) variance += (row[i] - mean) * (row[i] - mean);
        variance /= static_cast<double>(h);
        const double rstd = 1.0 / std::sqrt(variance + call.kernel.scalar);
        for (std::size_t i = 0; i < h; ++i) y[r * h + i] = static_cast<float>((row[i] - mean) * rstd * w[i] + b[i]);
        means[r] = static_cast<float>(mean);
        rstds[r] = static_cast<float>(rstd);
    }
    if (call.outputs[1].elements() != static_cast<std::int64_t>(rows))
        return shapeError(call, "has statistics of another size");
    storeFloats(call.outputs[0], y);
    storeFloats(call.outputs[1], means);
    storeFloats(call.outputs[2], rstds);
    return {};
}

Result<void> layerNormGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 5, 3));
    const auto dy = loadFloats(call.inputs[0]), x = loadFloats(call.inputs[1]);
    const auto means = loadFloats(call.inputs[2]), rstds = loadFloats(call.inputs[3]), w = loadFloats(call.inputs[4]);
    const std::size_t h = w.size();
    if (h == 0 || x.size() != dy.size() || x.size() != means.size() * h || rstds.size() != means.size())
        return shapeError(call, "has operands of different sizes");
    std::vector<float> dx(x.size());
    std::vector<double> dw(h, 0.0), db(h, 0.0);
    for (std::size_t r = 0; r < means.size(); ++r) {
        const double mean = means[r], rstd = rstds[r];
        double sum = 0, sumNormed = 0;  // of g = dy * w, and of g * normed
        for (std::size_t i = 0; i < h; ++i) {
            const double normed = (x[r * h + i] - mean) * rstd, gradient = dy[r * h + i];
            dw[i] += gradient * normed;
            db[i] += gradient;
            sum += gradient * w[i];
            sumNormed += gradient * w[i] * normed;
        }
        for (std::size_t i = 0; i < h; ++i) {
            const double normed = (x[r * h + i] - mean) * rstd;
            const double g = static_cast<double>(dy[r * h + i]) * w[i];
            dx[r * h + i] = static_cast<float>(rstd * (g - (sum + normed * sumNormed) / static_cast<double>(h)));
        }
    }
    storeFloats(call.outputs[0], dx);
    storeFloats(call.outputs[1], std::vector<float>(dw.begin(), dw.end()));
    storeFloats(call.outputs[2], std::vector<float>(db.begin(), db.end()));
    return {};
}

Result<void> logSoftmax(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 1, 1));
    const auto x = loadFloats(call.inputs[0]);
    const std::size_t classes =
        call.inputs[0].shape.empty() ? 1 : static_cast<std::size_t>(call.inputs[0].shape.back());
    if (classes == 0 || call.outputs[0].elements() != call.inputs[0].elements())
        return shapeError(call, "has operands of different sizes");
    std::vector<float> y(x.size());
    for (std::size_t row = 0; row < x.size(); row += classes) {
        double largest = x[row], sum = 0;
        for (std::size_t i = 0; i < classes; ++i) largest = std::max<double>(largest, x[row + i]);
        for (std::size_t i = 0; i < classes; ++i) sum += std::exp(x[row + i] - largest);
        const double logSum = largest + std::log(sum);
        for (std::size_t i = 0; i < classes; ++i) y[row + i] = static_cast<float>(x[row + i] - logSum);
    }
    storeFloats(call.outputs[0], y);
    return {};
}

namespace {

/// Labels, checked against the number of classes: they come from a user's data.
Result<std::vector<std::int64_t>> labelsOf(const KernelCall& call, const TensorView& view, std::size_t rows,
                                           std::int64_t classes) {
    if (view.dtype != core::DType::I64 && view.dtype != core::DType::I32)
        return shapeError(call, "needs integer labels");
    auto labels = loadIntegers(view);
    if (labels.size() < rows) return shapeError(call, "has fewer labels than rows");
    for (std::int64_t label : labels)
        if (label >= classes)
            return core::fail(core::ErrorCode::Input,
                              "a label is " + std::to_string(label) + ", expected less than " +
                                  std::to_string(classes) + " (the model's classes)",
                              {}, "look at the labels, or give the model as many classes: --set model.classes=N");
    return labels;
}

}  // namespace

Result<void> nllLoss(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const auto logp = loadFloats(call.inputs[0]);
    const std::int64_t classes = call.inputs[0].shape.empty() ? 1 : call.inputs[0].shape.back();
    if (classes <= 0) return shapeError(call, "has no classes");
    const std::size_t rows = logp.size() / static_cast<std::size_t>(classes);
    SHARDSCOPE_ASSIGN(const std::vector<std::int64_t> labels, labelsOf(call, call.inputs[1], rows, classes));
    double sum = 0, weight = 0;
    for (std::size_t r = 0; r < rows; ++r) {
        if (labels[r] < 0) continue;  // ignored rows (PyTorch's ignore_index is -100)
        sum -= logp[r * static_cast<std::size_t>(classes) + static_cast<std::size_t>(labels[r])];
        weight += 1;
    }
    storeFloats(call.outputs[0], std::vector<float>{static_cast<float>(sum / weight)});
    if (call.outputs.size() > 1) storeFloats(call.outputs[1], std::vector<float>{static_cast<float>(weight)});
    return {};
}

Result<void> nllLossGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 4, 1));
    const TensorView& logp = call.inputs[1];
    const std::int64_t classes = logp.shape.empty() ? 1 : logp.shape.back();
    if (classes <= 0 || call.outputs[0].elements() != logp.elements())
        return shapeError(call, "has operands of different sizes");
    const auto rows = static_cast<std::size_t>(logp.elements() / classes);
    SHARDSCOPE_ASSIGN(const std::vector<std::int64_t> labels, labelsOf(call, call.inputs[2], rows, classes));
    const auto dloss = loadFloats(call.inputs[0]), weight = loadFloats(call.inputs[3]);
    const float gradient = static_cast<float>(-static_cast<double>(dloss.at(0)) / weight.at(0));
    std::vector<float> dlogp(static_cast<std::size_t>(logp.elements()), 0.0f);
    for (std::size_t r = 0; r < rows; ++r)
        if (labels[r] >= 0)
            dlogp[r * static_cast<std::size_t>(classes) + static_cast<std::size_t>(labels[r])] = gradient;
    storeFloats(call.outputs[0], dlogp);
    return {};
}

Result<void> logSoftmaxGrad(const KernelCall& call) {
    SHARDSCOPE_TRY(expectOperands(call, 2, 1));
    const auto dlogp = loadFloats(call.inputs[0]), logp = loadFloats(call.inputs[1]);
    const std::size_t classes =
        call.inputs[1].shape.empty() ? 1 : static_cast<std::size_t>(call.inputs[1].shape.back());
    if (classes == 0 || dlogp.size() != logp.size() || call.outputs[0].elements() != call.inputs[1].elements())
        return shapeError(call, "has operands of different sizes");
    std::vector<float> dx(logp.size());
    for (std::size_t row = 0; row < logp.size(); row += classes) {
        double sum = 0;
        for (std::size_t i = 0; i < classes; ++i) sum += dlogp[row + i];
        for (std::size_t i = 0; i < classes; ++i)
            dx[row + i] = static_cast<float>(dlogp[row + i] - std::exp(static_cast<double>(logp[row + i])) * sum);
    }
    storeFloats(call.outputs[0], dx);
    return {};
}

}  // namespace shardscope::runtime::reference
