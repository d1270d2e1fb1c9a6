#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/graph/build.h"
#include "core/graph/form_units.h"

namespace shardscope::core {

namespace {

using Cuts = std::vector<std::size_t>;  // stages + 1 layer numbers

constexpr double kMostBalancing = 2e9;  // steps of balance() below: about two seconds

// Contiguous parts whose heaviest is as light as possible, each of at least one layer. Takes stages x layers^2 steps.
Cuts balance(const std::vector<double>& weights, std::size_t stages) {
    const std::size_t n = weights.size();
    std::vector<double> prefix(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) prefix[i + 1] = prefix[i] + weights[i];
    // best[s][i]: heaviest part when layers [0, i) form s parts
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> best(stages + 1, std::vector<double>(n + 1, kNever));
    std::vector<std::vector<std::size_t>> cut(stages + 1, std::vector<std::size_t>(n + 1, 0));
    best[0][0] = 0;
    for (std::size_t s = 1; s <= stages; ++s)
        for (std::size_t i = s; i <= n; ++i)
            for (std::size_t j = s - 1; j < i; ++j) {
                const double heaviest = std::max(best[s - 1][j], prefix[i] - prefix[j]);
                if (heaviest < best[s][i]) {
                    best[s][i] = heaviest;
                    cut[s][i] = j;
                }
            }
    Cuts cuts(stages + 1, n);
    for (std::size_t s = stages; s > 0; --s) cuts[s - 1] = cut[s][cuts[s]];
    return cuts;
}

// The same number of blocks for everyone; what comes before the first block stays with it, what follows the last too.
Cuts byLayers(const Model& model, std::size_t layers, std::size_t stages) {
    std::vector<std::size_t> blocks;
    for (std::size_t l = 0; l < layers; ++l)
        if (model.layers[l].kind == LayerKind::Block) blocks.push_back(l);
    Cuts cuts(stages + 1, layers);
    cuts[0] = 0;
    const bool byBlocks = blocks.size() >= stages;
    const std::size_t count = byBlocks ? blocks.size() : layers;
    for (std::size_t s = 1; s < stages; ++s) cuts[s] = byBlocks ? blocks[s * count / stages] : s * count / stages;
    return cuts;
}

Error tooManyStages(const Model& model, const Plan& plan, std::size_t layers) {
    const std::int64_t stages = plan.mesh.pp;
    const auto blocks = std::count_if(model.layers.begin(), model.layers.end(),
                                      [](const Layer& layer) { return layer.kind == LayerKind::Block; });
    const std::string parts =
        fmt::format("{} has {} blocks, {} parts with what stands before and after them", model.name, blocks, layers);
    if (plan.policy != UnitPolicy::None)
        return {ErrorCode::Input, fmt::format("{} stages; {}", stages, parts), "[parallelism] pipeline_parallel_degree",
                fmt::format("use at most {0} stages: --set parallelism.pipeline_parallel_degree={0}", layers)};
    // Few enough for the nodes of any preset, and a number that batches are usually divisible by.
    const std::int64_t example = layers >= 4 ? 4 : layers >= 2 ? 2 : 1;
    return {ErrorCode::Input, fmt::format("naive placement on {0} ranks makes {0} stages; {1}", stages, parts),
            "strategy " + plan.name,
            fmt::format("use at most {} GPUs, for example --set cluster.nodes=1 --set cluster.gpus_per_node={} --set "
                        "parallelism.data_parallel_shard_degree=-1, or a deeper model",
                        layers, example)};
}

}  // namespace

Result<std::vector<std::pair<LayerId, LayerId>>> splitStages(const Model& model, const Plan& plan) {
    const std::int64_t stages = plan.mesh.pp;
    if (stages < 1)
        return fail(ErrorCode::Input, fmt::format("{} stages, expected at least 1", stages),
                    "[parallelism] pipeline_parallel_degree");
    if (model.layers.empty()) return fail(ErrorCode::Input, "the model has no layers", model.name);
    const bool hasLoss = model.layers.back().kind == LayerKind::Loss;
    const std::size_t layers = model.layers.size() - (hasLoss ? 1 : 0);
    if (static_cast<std::uint64_t>(stages) > layers) return tl::unexpected(tooManyStages(model, plan, layers));
    const auto count = static_cast<std::size_t>(stages);

    Cuts cuts;
    if (count == 1) {
        cuts = {0, layers};
    } else if (plan.split == StageSplit::ByLayers) {
        cuts = byLayers(model, layers, count);
    } else if (static_cast<double>(count) * static_cast<double>(layers) * static_cast<double>(layers) >
               kMostBalancing) {
        return fail(ErrorCode::Unsupported, fmt::format("{} layers to balance over {} stages", layers, count),
                    "[parallelism] pipeline_parallel_split", "use \"layers\", or fewer stages");
    } else {
        std::vector<double> weights(layers, 0);
        if (plan.split == StageSplit::ByTime) {
            if (plan.layerWeights.size() < layers)
                return fail(ErrorCode::Input,
                            fmt::format("{} layer times for {} layers", plan.layerWeights.size(), layers),
                            "[parallelism] pipeline_parallel_split", "a split by time needs prices of all layers");
            weights.assign(plan.layerWeights.begin(), plan.layerWeights.begin() + static_cast<std::ptrdiff_t>(layers));
        } else {
            for (std::size_t l = 0; l < layers; ++l)
                for (ParameterId p : model.layers[l].parameters)
                    weights[l] += static_cast<double>(elementsOf(model.parameters[p.index()].shape));
        }
        cuts = balance(weights, count);
    }
    cuts.back() = model.layers.size();
    std::vector<std::pair<LayerId, LayerId>> ranges;
    for (std::size_t s = 0; s < count; ++s) ranges.emplace_back(LayerId(cuts[s]), LayerId(cuts[s + 1]));
    return ranges;
}

Result<std::vector<Stage>> stagesOf(const Model& model, const Plan& plan) {
    SHARDSCOPE_ASSIGN(const auto ranges, splitStages(model, plan));
    std::vector<Stage> stages;
    for (std::size_t s = 0; s < ranges.size(); ++s)
        stages.push_back({static_cast<std::int64_t>(s), static_cast<std::int64_t>(ranges.size()), ranges[s].first,
                          ranges[s].second});
    return stages;
}

}  // namespace shardscope::core
