#include "runtime/train/initial_values.h"

#include <cmath>
#include <numbers>
#include <random>

namespace shardscope::runtime {

namespace {

/// Distributions of the standard library differ between platforms; these do not.
class Random {
public:
    explicit Random(std::uint32_t seed) : m_engine(seed) {}
    /// [0, 1)
    double uniform() { return static_cast<double>(m_engine()) / 4294967296.0; }
    std::vector<float> uniform(std::size_t count, double bound) {
        std::vector<float> values(count);
        for (float& value : values) value = static_cast<float>((2 * uniform() - 1) * bound);
        return values;
    }
    std::vector<float> normal(std::size_t count, double deviation) {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; i += 2) {  // Box-Muller, two at a time
            const double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = 2 * std::numbers::pi * uniform();
            values[i] = static_cast<float>(deviation * radius * std::cos(angle));
            if (i + 1 < count) values[i + 1] = static_cast<float>(deviation * radius * std::sin(angle));
        }
        return values;
    }

private:
    std::mt19937 m_engine;
};

bool endsWith(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool isNorm(const core::Model& model, const core::Parameter& parameter) {
    return model.modules[parameter.module.index()].type.find("Norm") != std::string::npos;
}

// Framework semantics 8.1.
std::vector<float> vitValues(const core::Parameter& p, std::size_t count, Random& random) {
    const std::string_view name = p.name;
    const double rows = static_cast<double>(p.shape[0]);
    const double fanIn = static_cast<double>(count) / rows;
    std::vector<float> zeros(count, 0.0f);
    if (name == "class_token") return zeros;
    // The cut of the truncated normal at +-2 lies many deviations away for any usual patch.
    if (name == "conv_proj.weight") return random.normal(count, std::sqrt(1 / fanIn));
    if (endsWith(name, "pos_embedding")) return random.normal(count, 0.02);
    if (endsWith(name, "in_proj_weight")) return random.uniform(count, std::sqrt(6 / (rows + fanIn)));
    if (endsWith(name, "out_proj.weight")) return random.uniform(count, 1 / std::sqrt(fanIn));
    if (endsWith(name, "mlp.0.weight") || endsWith(name, "mlp.3.weight"))
        return random.uniform(count, std::sqrt(6 / (rows + fanIn)));
    if (endsWith(name, "mlp.0.bias") || endsWith(name, "mlp.3.bias")) return random.normal(count, 1e-6);
    return zeros;  // head, other biases
}

std::vector<float> plainValues(const core::Model& model, const core::Parameter& p, std::size_t count, Random& random) {
    if (p.shape.size() < 2) return std::vector<float>(count, 0.0f);
    if (model.modules[p.module.index()].type == "Embedding" || p.name.find("pos") != std::string::npos)
        return random.normal(count, 0.02);
    return random.uniform(count, 1 / std::sqrt(static_cast<double>(count) / static_cast<double>(p.shape[0])));
}

void visit(const core::Model& model, core::ModuleId module, std::vector<core::ParameterId>& order,
           std::vector<bool>& seen) {
    const core::Module& m = model.modules[module.index()];
    for (const core::ParameterId p : m.parameters) {
        if (seen[p.index()]) continue;
        seen[p.index()] = true;
        order.push_back(p);
    }
    for (const core::ModuleId child : m.children) visit(model, child, order, seen);
}

}  // namespace

std::vector<core::ParameterId> stateDictOrder(const core::Model& model) {
    std::vector<core::ParameterId> order;
    std::vector<bool> seen(model.parameters.size(), false);
    if (!model.modules.empty()) visit(model, core::ModuleId(std::size_t{0}), order, seen);
    return order;
}

core::Result<void> eachInitialParameter(
    const core::Model& model, std::uint32_t seed,
    const std::function<core::Result<void>(core::ParameterId, std::vector<float>)>& visit) {
    Random random(seed);
    for (const core::ParameterId id : stateDictOrder(model)) {
        const core::Parameter& p = model.parameters[id.index()];
        const auto count = static_cast<std::size_t>(core::elementsOf(p.shape));
        if (isNorm(model, p))
            SHARDSCOPE_TRY(visit(id, std::vector<float>(count, endsWith(p.name, "weight") ? 1.0f : 0.0f)));
        else
            SHARDSCOPE_TRY(
                visit(id, model.family == "vit" ? vitValues(p, count, random) : plainValues(model, p, count, random)));
    }
    return {};
}

ParameterValues initialParameters(const core::Model& model, std::uint32_t seed) {
    ParameterValues values(model.parameters.size());
    (void)eachInitialParameter(model, seed, [&](core::ParameterId id, std::vector<float> filled) {
        values[id.index()] = std::move(filled);
        return core::Result<void>();
    });
    return values;
}

std::vector<float> formulaFill(std::uint32_t stream, std::uint32_t first, std::size_t count, int log2Scale) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t h = (first + static_cast<std::uint32_t>(i)) * 2654435761u + (stream * 2246822519u + 374761393u);
        h ^= h >> 15;
        h *= 2246822519u;
        h ^= h >> 13;
        h *= 3266489917u;
        h ^= h >> 16;
        values[i] = std::ldexp(static_cast<float>(h >> 16) / 65536.0f - 0.5f, log2Scale);
    }
    return values;
}

ParameterValues formulaParameters(const core::Model& model, int log2Scale) {
    ParameterValues values(model.parameters.size());
    std::uint32_t position = 0;
    for (const core::ParameterId id : stateDictOrder(model)) {
        const core::Parameter& p = model.parameters[id.index()];
        auto& filled = values[id.index()];
        filled = formulaFill(position++, 0, static_cast<std::size_t>(core::elementsOf(p.shape)), log2Scale);
        if (isNorm(model, p) && endsWith(p.name, "weight"))
            for (float& value : filled) value += 1.0f;
    }
    return values;
}

Batch formulaBatch(const core::VitSpec& spec, std::int64_t first, std::int64_t count) {
    const std::int64_t pixels = spec.channels * spec.imageSize * spec.imageSize;
    Batch batch;
    batch.values =
        formulaFill(100000, static_cast<std::uint32_t>(first * pixels), static_cast<std::size_t>(count * pixels), 1);
    for (std::int64_t i = 0; i < count; ++i) batch.labels.push_back((first + i) % spec.classes);
    return batch;
}

}  // namespace shardscope::runtime
