#pragma once

// The recorded tiny vision transformer and plans to run it with.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/base/document.h"
#include "core/model/safetensors.h"
#include "core/model/vit.h"
#include "runtime/train/train.h"
#include "tests/runtime/tensor_fixture.h"

namespace shardscope::runtime::testing {

inline core::VitSpec tinyVit() {
    return *core::namedVit("vit_tiny");
}

/// The tensors of a safetensors file of tests/data, by parameter of the model.
inline ParameterValues readParameters(const std::string& name, const core::Model& model) {
    const std::string bytes = readFile(name);
    const auto header = core::parseSafetensorsHeader(bytes, static_cast<std::int64_t>(bytes.size()), name);
    EXPECT_TRUE(header) << (header ? "" : core::describe(header.error()));
    ParameterValues values;
    if (!header) return values;
    for (const core::Parameter& parameter : model.parameters) {
        auto data = core::readF32(*header, bytes, parameter.name);
        EXPECT_TRUE(data) << parameter.name;
        values.push_back(data ? std::move(*data) : std::vector<float>{});
    }
    return values;
}

/// The recorded batch of 8, in any part.
inline std::function<core::Result<Batch>(std::int64_t, std::int64_t, std::int64_t)> recordedBatch() {
    const std::string name = "vit/tiny_batch.safetensors", bytes = readFile(name);
    const auto header = core::parseSafetensorsHeader(bytes, static_cast<std::int64_t>(bytes.size()), name);
    EXPECT_TRUE(header);
    Batch all;
    all.values = *core::readF32(*header, bytes, "images");
    all.labels = *core::readI64(*header, bytes, "labels");
    return [all](std::int64_t, std::int64_t first, std::int64_t count) -> core::Result<Batch> {
        Batch part;
        const std::size_t pixels = all.values.size() / all.labels.size();
        for (std::int64_t i = first; i < first + count; ++i) {
            const auto at = static_cast<std::size_t>(i) % all.labels.size();
            part.labels.push_back(all.labels[at]);
            part.values.insert(part.values.end(), all.values.begin() + static_cast<std::ptrdiff_t>(at * pixels),
                               all.values.begin() + static_cast<std::ptrdiff_t>((at + 1) * pixels));
        }
        return part;
    };
}

inline core::Model modelFor(const TrainConfig& config) {
    auto model = core::buildModel(config.model, workloadOf(config));
    EXPECT_TRUE(model) << (model ? "" : core::describe(model.error()));
    return model ? std::move(*model) : core::Model{};
}

/// The global batch split as the strategy does it.
inline TrainConfig single(std::int64_t globalBatch, std::int64_t microBatches = 1) {
    TrainConfig config;
    config.model = tinyVit();
    config.plan.name = "single";
    config.plan.policy = core::UnitPolicy::None;
    config.plan.microBatches = microBatches;
    config.batch = globalBatch / microBatches;
    config.steps = 1;
    return config;
}
inline TrainConfig naive(std::int64_t globalBatch, std::int64_t stages, std::int64_t microBatches = 1) {
    TrainConfig config = single(globalBatch, microBatches);
    config.plan.name = "naive";
    config.plan.schedule = core::StageSchedule::Naive;
    config.plan.mesh.pp = stages;
    return config;
}
inline TrainConfig fsdp(std::int64_t globalBatch, std::int64_t ranks, std::int64_t microBatches = 1) {
    TrainConfig config = single(globalBatch / ranks, microBatches);
    config.plan.name = "fsdp";
    config.plan.policy = core::UnitPolicy::Fsdp;
    config.plan.mesh.dpShard = ranks;
    return config;
}
inline TrainConfig ddp(std::int64_t globalBatch, std::int64_t ranks, std::int64_t microBatches = 1) {
    TrainConfig config = single(globalBatch / ranks, microBatches);
    config.plan.name = "ddp";
    config.plan.policy = core::UnitPolicy::Ddp;
    config.plan.mesh.dpReplicate = ranks;
    config.plan.ddp.bucketCap = 0.01;  // MiB: several buckets of the tiny model
    return config;
}

/// FSDP2's switches and checkpointing, each in a run that differs from the plain one in nothing else; a global batch of
/// 12.
inline std::vector<std::pair<std::string, TrainConfig>> switchedRuns() {
    std::vector<std::pair<std::string, TrainConfig>> runs;
    const auto add = [&](std::string name, core::Mesh mesh, std::int64_t microBatches, auto change) {
        TrainConfig config = fsdp(12, mesh.dpReplicate * mesh.dpShard, microBatches);
        config.plan.mesh = mesh;
        change(config.plan);
        runs.emplace_back(std::move(name), std::move(config));
    };
    using core::GradientSync;
    using core::Plan;
    const core::Reshard whole{core::Reshard::Kind::False, 0}, pairs{core::Reshard::Kind::Group, 2};
    const core::Mesh two{1, 1, 2}, four{1, 1, 4}, hybrid{1, 2, 2};
    const auto last = [](Plan& p) { p.gradientSync = GradientSync::LastMicroBatch; };
    const auto keep = [](Plan& p) { p.fsdp.keepBetweenMicroBatches = true; };
    add("every micro-batch", two, 3, [](Plan&) {});
    add("no_sync", two, 3, last);
    add("no_sync, one shard", {1, 1, 1}, 3, last);
    add("no_sync, kept whole", two, 3, [&](Plan& p) { last(p), keep(p); });
    add("no_sync, not resharded", two, 3, [&](Plan& p) { last(p), p.fsdp.reshardAfterForward = whole; });
    add("kept whole, int reshard", four, 3, [&](Plan& p) { keep(p), p.fsdp.reshardAfterForward = pairs; });
    add("last backward only", two, 3, [&](Plan& p) { keep(p), p.fsdp.lastBackwardOnly = true; });
    add("hsdp, no_sync", hybrid, 3, last);
    add("hsdp, all-reduce last", hybrid, 3, [](Plan& p) { p.gradientSync = GradientSync::AllReduceLast; });
    add("hsdp of one replica", two, 1, [](Plan& p) { p.fsdp.hybridMesh = true; });
    add("two reduce-scatter inputs", two, 1, [](Plan& p) { p.fsdp.reduceInputs = 2; });
    add("reduce-scatter communicator", two, 1, [](Plan& p) { p.fsdp.separateReduceGroup = true; });
    add("async unshard", two, 1, [](Plan& p) { p.fsdp.asyncUnshard = true, p.fsdp.forwardPrefetch = 1; });
    add("force sum", hybrid, 1, [](Plan& p) { p.fsdp.forceSum = true; });
    add("divide factor of the shards", two, 1, [](Plan& p) { p.fsdp.divideFactor = 2; });
    add("divide factor of all ranks", hybrid, 1, [](Plan& p) { p.fsdp.divideFactor = 4; });
    add("divide factor, one shard", {1, 2, 1}, 1, [](Plan& p) { p.fsdp.divideFactor = 2; });
    add("manual finalize", two, 1, [](Plan& p) { p.fsdp.manualFinalize = true; });
    const auto offload = [](Plan& p) { p.fsdp.cpuOffload = true; };
    add("cpu offload", two, 1, offload);
    add("cpu offload, one shard", {1, 1, 1}, 1, offload);
    add("cpu offload, every micro-batch", two, 3, offload);
    add("cpu offload, no_sync", two, 3, [&](Plan& p) { offload(p), last(p); });
    add("cpu offload, hsdp, int reshard", {1, 2, 2}, 1,
        [&](Plan& p) { offload(p), p.fsdp.reshardAfterForward = pairs; });
    add("cut along dim 1", two, 1, [](Plan& p) {
        p.fsdp.shardedOnDim1 = {"encoder.layers.encoder_layer_0", "encoder.layers.encoder_layer_1.mlp.0.weight"};
    });
    add("cut along dim 1, no_sync", two, 3, [&](Plan& p) { last(p), p.fsdp.shardedOnDim1 = {"encoder.layers"}; });
    const auto norms = [](Plan& p) { p.fsdp.originalDtype = {"LayerNorm"}; };
    add("norms in the original dtype", two, 1, norms);
    add("norms in the original dtype, three ranks", {1, 1, 3}, 1, norms);
    add("norms in the original dtype, one shard", {1, 1, 1}, 3, norms);
    add("norms in the original dtype, int reshard", four, 1,
        [&](Plan& p) { norms(p), p.fsdp.reshardAfterForward = pairs; });
    add("norms in the original dtype, no_sync", two, 3, [&](Plan& p) { norms(p), last(p); });
    add("norms and more in the original dtype, offloaded", two, 1, [&](Plan& p) {
        p.fsdp.cpuOffload = true;
        p.fsdp.originalDtype = {"LayerNorm", "encoder.layers.encoder_layer_0", "heads.head.bias"};
    });
    const auto flat = [](Plan& p) { p.fsdp.flat = true; };
    add("fsdp1", two, 1, flat);
    add("fsdp1, three ranks", {1, 1, 3}, 1, flat);
    add("fsdp1, hybrid", hybrid, 1, flat);
    add("fsdp1, every micro-batch", two, 3, flat);
    add("fsdp1, no_sync", two, 3, [&](Plan& p) { flat(p), last(p); });
    add("fsdp1, shard_grad_op, no_sync", two, 3,
        [&](Plan& p) { flat(p), last(p), p.fsdp.reshardAfterForward = whole; });
    add("fsdp1, next gather after backward", two, 1,
        [&](Plan& p) { flat(p), p.fsdp.flatPrefetch = core::FsdpKnobs::FlatPrefetch::After; });
    add("fsdp1, no limit", two, 1, [&](Plan& p) { flat(p), p.fsdp.limitAllGathers = false; });
    using Mode = core::Checkpointing::Mode;
    add("fsdp1, checkpointed", two, 2, [&](Plan& p) { flat(p), p.checkpointing.mode = Mode::Full; });
    for (const auto& checkpointed : {std::pair{"checkpointed", core::Checkpointing{Mode::Full, 2, true}},
                                     {"checkpointed to the end", core::Checkpointing{Mode::Full, 2, false}},
                                     {"every second block checkpointed", core::Checkpointing{Mode::EveryNth, 2, true}},
                                     {"checkpointed selectively", core::Checkpointing{Mode::Selective, 2, false}}})
        add(checkpointed.first, two, 2, [&](Plan& p) { p.checkpointing = checkpointed.second; });
    add("inner units of a checkpointed block", two, 1, [](Plan& p) {
        p.checkpointing.mode = Mode::Full;
        p.fsdp.wrap.kind = core::UnitWrap::Kind::List;
        p.fsdp.wrap.units = {{"encoder.layers.encoder_layer_0.self_attention"},
                             {"encoder.layers.encoder_layer_0.mlp"},
                             {"encoder.layers.encoder_layer_0"},
                             {"encoder.layers.encoder_layer_1"}};
    });
    TrainConfig stages = naive(12, 2, 3), replicas = ddp(12, 2), alone = single(12);
    for (auto* config : {&stages, &replicas, &alone}) {
        config->plan.checkpointing.mode = Mode::Full;
        runs.emplace_back(config->plan.name + ", checkpointed", *config);
    }
    return runs;
}

inline TrainReport train(const TrainConfig& config) {
    auto report = trainSteps(config);
    EXPECT_TRUE(report) << (report ? "" : core::describe(report.error()));
    return report ? std::move(*report) : TrainReport{};
}

/// ||a - b|| / ||b||
inline double relativeDistance(const std::vector<float>& a, const std::vector<float>& b) {
    if (a.size() != b.size()) return HUGE_VAL;
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
        norm += static_cast<double>(b[i]) * b[i];
    }
    return std::sqrt(difference / norm);
}

/// Leaves out the key third of a packed projection's bias: its exact gradient is zero (softmax ignores what is added to
/// all scores of a query), so only rounding noise stands there.
inline std::vector<float> withoutKeyBias(const core::Parameter& parameter, const std::vector<float>& values) {
    if (parameter.name.find("in_proj_bias") == std::string::npos) return values;
    std::vector<float> kept(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 3));
    kept.insert(kept.end(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 3 * 2), values.end());
    return kept;
}

}  // namespace shardscope::runtime::testing
