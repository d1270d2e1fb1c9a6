#include "runtime/train/rank_training.h"

#include <algorithm>
#include <numeric>

#include "runtime/data/sample_order.h"
#include "runtime/device/random_draws.h"
#include "runtime/device/short_slices.h"
#include "runtime/executor/rank_map.h"
#include "runtime/train/step_times.h"

namespace shardscope::runtime {

using core::Result;

namespace {

/// The samples of one rank, from wherever the configuration takes them.
class RankSamples {
public:
    static Result<RankSamples> create(const Training& training, std::int64_t dataRank) {
        const core::Mesh& mesh = training.graph().plan.mesh;
        const std::int64_t ofStep = training.config().batch * training.graph().plan.microBatches;
        RankSamples samples(training, dataRank);
        if (training.images() != nullptr) {
            SHARDSCOPE_ASSIGN(samples.m_order, SampleOrder::create(training.images()->size(),
                                                                   {mesh.dpReplicate * mesh.dpShard, dataRank, ofStep},
                                                                   training.config().setEpoch));
        }
        return samples;
    }

    Result<Batch> of(std::int64_t step, std::uint16_t microBatch) {
        const TrainConfig& config = m_training->config();
        const auto* vit = std::get_if<core::VitSpec>(&config.model);
        const std::vector<std::int64_t> samples = indicesOf(step, microBatch);
        if (m_order) return batchOf(*m_training->images(), samples, vit->channels);
        if (config.samples) return config.samples(step, samples.front(), config.batch);
        return formulaBatch(*vit, samples.front(), config.batch);
    }

    /// By the sample, not by its place: whatever rank and micro-batch see it drop the same of it.
    std::vector<std::uint64_t> seedsOf(std::int64_t step, std::uint16_t microBatch) {
        const std::uint64_t ofStep = random::seedOf(m_training->config().seed, static_cast<std::uint64_t>(step));
        std::vector<std::uint64_t> seeds;
        for (const std::int64_t sample : indicesOf(step, microBatch))
            seeds.push_back(random::seedOf(ofStep, static_cast<std::uint64_t>(sample)));
        return seeds;
    }

private:
    std::vector<std::int64_t> indicesOf(std::int64_t step, std::uint16_t microBatch) {
        const TrainConfig& config = m_training->config();
        const auto count = static_cast<std::size_t>(config.batch);
        std::vector<std::int64_t> samples(count);
        if (m_order) {
            std::ranges::copy(m_order->indicesOf(step).subspan(microBatch * count, count), samples.begin());
        } else {
            const std::int64_t microBatches = m_training->graph().plan.microBatches;
            std::iota(samples.begin(), samples.end(), (m_dataRank * microBatches + microBatch) * config.batch);
        }
        return samples;
    }

    RankSamples(const Training& training, std::int64_t dataRank) : m_training(&training), m_dataRank(dataRank) {}

    const Training* m_training;
    std::int64_t m_dataRank;
    std::optional<SampleOrder> m_order;
};

RankStep rankStepOf(const StepOutcome& outcome, const timeline::Breakdown& times, std::int64_t rank, std::int64_t step,
                    std::int64_t peakBytes) {
    RankStep done;
    done.rank = rank;
    done.step = step;
    done.beginNs = outcome.begin;
    done.endNs = outcome.end;
    done.exposedNs = times.transfer;
    done.waitingNs = times.waiting;
    done.peakBytes = peakBytes;
    if (!outcome.losses.empty())
        done.loss = std::accumulate(outcome.losses.begin(), outcome.losses.end(), 0.0) /
                    static_cast<double>(outcome.losses.size());
    return done;
}

}  // namespace

Result<RankRecord> trainRank(const Training& training, std::int64_t rank,
                             const Executor::CommunicatorSource& communicators) {
    const TrainConfig& config = training.config();
    const RankMap place{training.graph().plan.mesh, rank};
    const std::unique_ptr<Device> owned = deviceOf(config.device);
    Device& device = *owned;
    const auto overLink = [&](const std::string& name, const std::vector<std::int64_t>& members) {
        return slowedDown(communicators(name, members), config.link);
    };
    SHARDSCOPE_ASSIGN(const std::unique_ptr<Executor> executor,
                      Executor::create(training.model(), training.graph(), rank, device, overLink, config.optimizer));
    SHARDSCOPE_TRY(training.eachInitial(
        [&](core::ParameterId p, std::span<const float> values) { return executor->loadParameter(p, values); }));

    RankRecord record;
    if (config.keepGradients) record.gradients.resize(training.model().parameters.size());
    RankReport& report = record.report;
    report.rank = rank;
    report.rankClass = executor->rankClass().name;
    report.peak = device.liveBytes();
    SHARDSCOPE_ASSIGN(RankSamples samples, RankSamples::create(training, place.dataRank()));
    std::vector<StepTimes> steps;
    const ShortSlices ofHost;  // its streams, which it has started, go before it
    for (std::int64_t step = 0; step < config.steps; ++step) {
        StepObserver observer;
        std::int64_t peak = 0;  // of this step
        observer.launched = [&](core::OpId op, const LiveBytes& live) {
            for (std::size_t c = 0; c < live.size(); ++c) report.peak[c] = std::max(report.peak[c], live[c]);
            peak = std::max(peak, std::accumulate(live.begin(), live.end(), std::int64_t{0}));
            if (config.launched) config.launched(rank, step, op, live);
        };
        if (config.keepGradients && step + 1 == config.steps)
            observer.beforeOptimizer = [&](Executor& running) -> Result<void> {
                ParameterValues& own = record.gradients;
                for (std::size_t p = 0; p < own.size(); ++p) {
                    SHARDSCOPE_ASSIGN(own[p], running.ownGradient(core::ParameterId(p)));
                }
                return {};
            };
        const auto batches = [&](std::uint16_t microBatch) { return samples.of(step, microBatch); };
        const auto seeds = [&](std::uint16_t microBatch) { return samples.seedsOf(step, microBatch); };
        executor->setLearningRate(config.optimizer.learningRate *
                                  learningRateFactor(config.schedule, step, config.steps));
        SHARDSCOPE_ASSIGN(StepOutcome outcome, executor->runStep(batches, seeds, observer));
        report.peakTotal = std::max(report.peakTotal, peak);
        steps.push_back(stepTimesOf(training.graph(), outcome));
        if (config.progress) config.progress(rankStepOf(outcome, steps.back().breakdown, rank, step, peak));
        if (step + 1 < config.steps) outcome.times.clear();
        record.outcomes.push_back(std::move(outcome));
    }
    report.typical = medianTimes(steps);
    report.atEnd = device.liveBytes();
    if (config.keepParameters) {
        record.parameters.resize(training.model().parameters.size());
        for (std::size_t p = 0; p < record.parameters.size(); ++p) {
            SHARDSCOPE_ASSIGN(record.parameters[p], executor->ownParameter(core::ParameterId(p)));
        }
    }
    return record;
}

}  // namespace shardscope::runtime
