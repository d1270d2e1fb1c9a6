#include "runtime/calibrate/measure_transfers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/median.h"
#include "runtime/calibrate/processor_time.h"
#include "runtime/communicator/thread_communicator.h"
#include "runtime/device/clock.h"
#include "runtime/device/short_slices.h"
#include "runtime/gloo/gloo_world.h"
#include "runtime/rendezvous/store_client.h"
#include "runtime/rendezvous/store_server.h"

namespace shardscope::runtime {

using core::medianOf;
using core::Result;

namespace {

constexpr std::int64_t kRepeats = 15, kBusyRepeats = 15;
constexpr std::int64_t kLeastPerRank = 512, kMostPerRank = std::int64_t{1} << 18;  // elements
constexpr std::chrono::seconds kPatience{60};

using Call = std::function<Result<Transfer>(Communicator&, const CallLabel&, std::span<std::byte>)>;

/// All are there, and what the barrier has left to do behind them is done: in a step, ranks come from their kernels.
/// They go on at one instant, but for those that are late then.
Result<void> meet(Communicator& communicator) {
    SHARDSCOPE_ASSIGN(const Transfer met, communicator.barrier({"barrier", "calibration", 0, 0, core::DType::F32}));
    constexpr std::int64_t kSettle = 300'000;  // ns after the last arrival
    while (clockNow() < met.transferStart + kSettle) {
    }
    return {};
}

/// Threads that compute when they are told to. They are started before the thread that moves data asks for short slices
/// (runtime/device/short_slices.h): what it starts has them too, and kernels do not.
class Computing {
public:
    explicit Computing(std::int64_t threads) {
        for (std::int64_t i = 0; i < threads; ++i) m_threads.emplace_back([this] { work(); });
    }
    ~Computing() {
        become(State::Ended);
        for (std::thread& thread : m_threads) thread.join();
    }
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;

    void start() { become(State::Computing); }
    void stop() { become(State::Resting); }

private:
    enum class State : std::uint8_t { Resting, Computing, Ended };

    void become(State state) {
        m_state = state;
        m_state.notify_all();
    }
    void work() {
        for (State state = m_state; state != State::Ended; state = m_state)
            if (state == State::Resting) m_state.wait(State::Resting);
    }

    std::atomic<State> m_state = State::Resting;
    std::vector<std::thread> m_threads;
};

/// Times of a call at some sizes, alone and beside computing threads, as the first rank sees them.
class CallTimer {
public:
    CallTimer(Communicator& communicator, Computing& others, const char* operation, Call call)
        : m_communicator(communicator), m_others(others), m_operation(operation), m_call(std::move(call)) {}

    Result<core::CallTime> measured() {
        SHARDSCOPE_TRY(meet(m_communicator));
        core::CallTime time;
        for (std::int64_t perRank = kLeastPerRank; perRank <= kMostPerRank; perRank *= 8) {
            const std::int64_t bytes = perRank * m_communicator.size() * core::sizeOf(core::DType::F32);
            m_buffer.resize(static_cast<std::size_t>(bytes));
            SHARDSCOPE_TRY(once(bytes));  // memory is touched
            m_seconds.clear();
            m_processor.clear();
            core::CallSample sample;
            sample.bytes = static_cast<double>(bytes);
            for (std::int64_t i = 0; i < kRepeats; ++i) SHARDSCOPE_TRY(once(bytes));
            sample.processor = medianOf(std::move(m_processor)) / static_cast<double>(m_communicator.size());
            sample.alone = medianOf(std::exchange(m_seconds, {}));
            m_others.start();
            for (std::int64_t i = 0; i < kBusyRepeats; ++i) SHARDSCOPE_TRY(once(bytes));
            m_others.stop();
            // What comes once in a while and takes long is as much a part of it as what is short.
            sample.busy = std::max(sample.alone, meanOf(std::exchange(m_seconds, {})));
            time.samples.push_back(sample);
        }
        return time;
    }

private:
    Result<void> once(std::int64_t bytes) {
        SHARDSCOPE_TRY(meet(m_communicator));
        const CallLabel label{m_operation, "calibration", 0, bytes, core::DType::F32};
        const std::int64_t before = processTime();  // of all ranks
        SHARDSCOPE_ASSIGN(const Transfer transfer, m_call(m_communicator, label, m_buffer));
        m_processor.push_back(static_cast<double>(processTime() - before) * 1e-9);
        // Ranks that a message does not concern have none.
        if (transfer.end > 0) m_seconds.push_back(static_cast<double>(clockNow() - transfer.transferStart) * 1e-9);
        return {};
    }
    static double meanOf(const std::vector<double>& values) {
        return values.empty() ? 0
                              : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    }

    Communicator& m_communicator;
    Computing& m_others;  // for all ranks together
    const char* m_operation;
    Call m_call;
    std::vector<std::byte> m_buffer;
    std::vector<double> m_seconds, m_processor;
};

Result<core::TransferTimes> transferTimes(Communicator& communicator) {
    Computing others(communicator.rank() == 0 ? communicator.size() : 0);
    const ShortSlices ofData;
    const auto timeOf = [&](const char* operation, Call call) {
        return CallTimer(communicator, others, operation, std::move(call)).measured();
    };
    core::TransferTimes times;
    times.ranks = communicator.size();
    SHARDSCOPE_ASSIGN(times.allGather, timeOf("all-gather", [](Communicator& c, const CallLabel& label, auto bytes) {
                          return c.allGather(label, bytes);
                      }));
    std::vector<std::byte> share;
    SHARDSCOPE_ASSIGN(times.reduceScatter,
                      timeOf("reduce-scatter", [&](Communicator& c, const CallLabel& label, auto bytes) {
                          share.resize(bytes.size() / static_cast<std::size_t>(c.size()));
                          return c.reduceScatter(label, bytes, share, true);
                      }));
    SHARDSCOPE_ASSIGN(times.allReduce, timeOf("all-reduce", [](Communicator& c, const CallLabel& label, auto bytes) {
                          return c.allReduce(label, bytes, true);
                      }));
    // Seen by the receiver, which is the first rank: a sender may go on before all has arrived.
    SHARDSCOPE_ASSIGN(times.message,
                      timeOf("message", [](Communicator& c, const CallLabel& label, auto bytes) -> Result<Transfer> {
                          if (c.rank() == 1) return c.send(label, bytes, 0);
                          if (c.rank() == 0) return c.receive(label, bytes, 1);
                          return Transfer{};
                      }));
    return times;
}

Result<core::TransferTimes> overThreads(const std::vector<std::int64_t>& members) {
    ThreadWorld world(static_cast<std::int64_t>(members.size()), kPatience);
    core::TransferTimes times;
    SHARDSCOPE_TRY(world.run([&](std::int64_t rank) -> Result<void> {
        const auto communicator = world.communicator("calibration", members, rank);
        SHARDSCOPE_ASSIGN(const core::TransferTimes seen, transferTimes(*communicator));
        if (rank == 0) times = seen;
        return {};
    }));
    return times;
}

/// Each rank with connections of its own, as in processes.
Result<core::TransferTimes> overGloo(const std::vector<std::int64_t>& members) {
    const auto ranks = static_cast<std::int64_t>(members.size());
    StoreServer::Settings settings;
    settings.ranks = ranks;
    SHARDSCOPE_ASSIGN(const std::unique_ptr<StoreServer> server, StoreServer::start(std::move(settings)));
    std::vector<Result<core::TransferTimes>> times(members.size(), core::TransferTimes{});
    std::vector<std::unique_ptr<GlooWorld>> worlds(members.size());
    const auto runRank = [&](std::int64_t rank) -> Result<core::TransferTimes> {
        const RankAddress address{server->endpoint(), rank, ranks, 0};
        SHARDSCOPE_ASSIGN(const auto client, StoreClient::join(address, ConnectionPurpose::Rank, kPatience));
        std::unique_ptr<GlooWorld>& world = worlds[static_cast<std::size_t>(rank)];
        SHARDSCOPE_ASSIGN(world, GlooWorld::create(address, client.ownAddress(), {kPatience, kPatience}));
        const auto communicator = world->communicator("calibration", members);
        return transferTimes(*communicator);
    };
    std::vector<std::thread> threads;
    for (const std::int64_t rank : members)
        threads.emplace_back([&, rank] {
            auto& own = times[static_cast<std::size_t>(rank)];
            own = runRank(rank);
            // Its peers must not wait for it.
            if (!own) worlds[static_cast<std::size_t>(rank)].reset();
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& own : times)
        if (!own) return tl::unexpected(own.error());
    return times.front();
}

}  // namespace

Result<core::TransferTimes> measureTransfers(std::int64_t ranks, Transport transport) {
    std::vector<std::int64_t> members(static_cast<std::size_t>(ranks));
    std::iota(members.begin(), members.end(), std::int64_t{0});
    return transport == Transport::Threads ? overThreads(members) : overGloo(members);
}

}  // namespace shardscope::runtime
