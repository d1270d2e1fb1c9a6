#include "runtime/train/train.h"

#include <cstddef>

#include "runtime/communicator/thread_communicator.h"
#include "runtime/train/rank_training.h"
#include "runtime/train/training.h"

namespace shardscope::runtime {

using core::Result;

Result<TrainReport> trainSteps(const TrainConfig& config) {
    SHARDSCOPE_ASSIGN(const std::unique_ptr<Training> training, Training::create(config));
    SHARDSCOPE_TRY(training->loadValues());
    std::vector<RankRecord> records(static_cast<std::size_t>(training->ranks()));
    ThreadWorld world(training->ranks());
    SHARDSCOPE_TRY(world.run([&](std::int64_t rank) -> Result<void> {
        const auto communicators = [&](const std::string& name, const std::vector<std::int64_t>& members) {
            return world.communicator(name, members, rank);
        };
        SHARDSCOPE_ASSIGN(records[static_cast<std::size_t>(rank)], trainRank(*training, rank, communicators));
        return {};
    }));
    return reportOf(*training, std::move(records));
}

}  // namespace shardscope::runtime
