#include "runtime/train/evaluation.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "core/graph/build.h"
#include "core/model/spec.h"
#include "runtime/communicator/thread_communicator.h"
#include "runtime/device/device.h"

namespace shardscope::runtime {

using core::Result;

namespace {

constexpr std::int64_t kBatch = 50;

/// A forward pass over `batch` images on one rank.
struct ForwardPass {
    core::Model model;
    core::StepGraph graph;
};

Result<ForwardPass> forwardPass(const EvaluationConfig& config, std::int64_t batch) {
    core::Workload workload = config.workload;
    workload.batch = batch;
    workload.dtype = config.precision.compute();
    workload.dropout = core::Workload::Dropout::Off;
    core::Plan plan;
    plan.name = "evaluation";
    plan.policy = core::UnitPolicy::None;
    plan.precision = config.precision;
    plan.optimizer = core::OptimizerKind::None;
    plan.evaluation = plan.afterEvaluation = true;
    ForwardPass pass;
    SHARDSCOPE_ASSIGN(pass.model, core::buildModel(config.model, workload));
    SHARDSCOPE_ASSIGN(pass.graph, core::buildStepGraph(pass.model, plan));
    return pass;
}

/// The images [first, first + count), as many at a time as the pass takes.
Result<void> ask(const EvaluationConfig& config, const ForwardPass& pass, const ParameterValues& parameters,
                 const ImageSet& images, std::int64_t first, std::int64_t count, Evaluation& into) {
    if (count == 0) return {};
    const std::int64_t batch = pass.model.workload.batch;
    const std::unique_ptr<Device> device = deviceOf(config.device);
    ThreadWorld alone(1);
    const auto communicators = [&](const std::string& name, const std::vector<std::int64_t>& members) {
        return alone.communicator(name, members, 0);
    };
    SHARDSCOPE_ASSIGN(const std::unique_ptr<Executor> executor,
                      Executor::create(pass.model, pass.graph, 0, *device, communicators));
    for (std::size_t p = 0; p < parameters.size(); ++p)
        SHARDSCOPE_TRY(executor->loadParameter(core::ParameterId(p), parameters[p]));
    for (std::int64_t at = first; at < first + count; at += batch) {
        const BatchSource source = [&](std::uint16_t) -> Result<Batch> {
            std::vector<std::int64_t> indices(static_cast<std::size_t>(batch));
            std::iota(indices.begin(), indices.end(), at);
            return batchOf(images, indices, config.model.channels);
        };
        SHARDSCOPE_ASSIGN(const StepOutcome outcome, executor->runStep(source));
        into.images += batch;
        into.right += outcome.right;
        into.loss += outcome.losses.at(0) * static_cast<double>(batch);
    }
    return {};
}

}  // namespace

Result<Evaluation> evaluate(const EvaluationConfig& config, const ParameterValues& parameters, const ImageSet& images) {
    SHARDSCOPE_TRY(checkImages(images, config.model));
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t count = config.images > 0 ? std::min(config.images, images.size()) : images.size();
    const std::int64_t batch = std::min(kBatch, count), batches = count / batch, rest = count % batch;
    SHARDSCOPE_ASSIGN(const ForwardPass whole, forwardPass(config, batch));
    const std::int64_t threads = std::clamp<std::int64_t>(config.threads, 1, batches);
    std::vector<Evaluation> parts(static_cast<std::size_t>(threads));
    ThreadWorld world(threads);
    SHARDSCOPE_TRY(world.run([&](std::int64_t thread) {
        const std::int64_t first = batches * thread / threads, end = batches * (thread + 1) / threads;
        return ask(config, whole, parameters, images, first * batch, (end - first) * batch,
                   parts[static_cast<std::size_t>(thread)]);
    }));
    if (rest > 0) {
        SHARDSCOPE_ASSIGN(const ForwardPass last, forwardPass(config, rest));
        SHARDSCOPE_TRY(ask(config, last, parameters, images, batches * batch, rest, parts.front()));
    }
    Evaluation all;
    for (const Evaluation& part : parts) {
        all.images += part.images;
        all.right += part.right;
        all.loss += part.loss / static_cast<double>(count);
    }
    all.ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
    return all;
}

}  // namespace shardscope::runtime
