#include "sim/engine/core_engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <string>
#include <tuple>

#include "sim/engine/transfers.h"

namespace shardscope::sim {

using core::ErrorCode;
using core::fail;
using core::StepGraph;

namespace {

// Whatever transfers take, some of the cores is left to the rest; and no transfer is over before it has begun.
constexpr double kLeastShare = 0.05, kLeastLength = 1e-3;

enum class Work : std::uint8_t { Op, Issue };

/// Something that wants cores: done when the common progress has reached `done`.
struct Task {
    double done = 0;
    Work work = Work::Op;
    std::uint32_t index = 0;  // slot or instance
    double cores = 0;
};
struct LaterTask {
    bool operator()(const Task& a, const Task& b) const {
        return std::tie(a.done, a.work, a.index) > std::tie(b.done, b.work, b.index);
    }
};

enum class Moment : std::uint8_t { Start, TransferEnds, Issue };
struct Timed {
    double time = 0;
    Moment what = Moment::Start;
    std::uint32_t index = 0;
};
struct LaterTimed {
    bool operator()(const Timed& a, const Timed& b) const {
        return std::tie(a.time, a.what, a.index) > std::tie(b.time, b.what, b.index);
    }
};

/// Under way; `left` of 1 at the instant of the last change.
struct Moving {
    std::uint32_t transfer = 0;
    double left = 1;
    double alone = 0, busy = 0, processor = 0;  // ns; processor time of all members
};

struct Slot {
    std::uint32_t waits = 0;  // ops that have not ended yet
    std::uint32_t op = 0, instance = 0;
    bool issued = false, ended = false;
};

class Run {
public:
    Run(const StepGraph& graph, const Wiring& wiring, const Prices& prices, std::span<const Instance> instances,
        const TransferMembers& members, EventRun& result)
        : m_graph(graph),
          m_wiring(wiring),
          m_prices(prices),
          m_cores(*prices.shared),
          m_instances(instances),
          m_members(members),
          m_result(result),
          m_missing(members.size()),
          m_begun(members.size()),
          m_lastEnd(instances.size() * graph.streams.size(), -1),
          m_nextIssued(instances.size()) {}

    core::Result<void> go() {
        prepare();
        for (;;) {
            const double share = coresLeft();
            const double never = std::numeric_limits<double>::infinity();
            const double taskAt = m_tasks.empty() ? never : m_now + (m_tasks.top().done - m_progress) / share;
            const double timedAt = m_timed.empty() ? never : m_timed.top().time;
            double movedAt = never;
            std::size_t moved = 0;
            for (std::size_t i = 0; i < m_moving.size(); ++i)
                if (const double at = m_now + m_moving[i].left * lengthOf(m_moving[i]); at < movedAt) {
                    movedAt = at;
                    moved = i;
                }
            const double next = std::min({taskAt, timedAt, movedAt});
            if (next == never) break;
            advance(std::max(next, m_now), share);
            if (next == taskAt) {
                const Task task = m_tasks.top();
                m_tasks.pop();
                m_progress = task.done;
                m_wanted = m_tasks.empty() ? 0 : m_wanted - task.cores;
                task.work == Work::Op ? end(task.index) : issued(task.index);
            } else if (next == movedAt) {
                const std::uint32_t transfer = m_moving[moved].transfer;
                m_moving.erase(m_moving.begin() + static_cast<std::ptrdiff_t>(moved));
                bytesMoved(transfer);
            } else {
                const Timed timed = m_timed.top();
                m_timed.pop();
                happen(timed);
            }
        }
        m_result.end = std::llround(static_cast<double>(m_result.end) + m_cores.finish);
        return finished();
    }

private:
    void prepare() {
        m_slots.resize(m_result.firstOp.back());
        m_result.times.resize(m_slots.size());
        for (std::size_t i = 0; i < m_instances.size(); ++i) {
            const core::RankClass& rankClass = classOf(i);
            for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op) {
                Slot& slot = m_slots[slotOf(i, op)];
                slot.op = op;
                slot.instance = static_cast<std::uint32_t>(i);
                slot.waits = static_cast<std::uint32_t>(m_wiring.waitsOf(op).size());
            }
            m_nextIssued[i] = rankClass.opBegin;
            if (rankClass.opBegin < rankClass.opEnd)
                m_timed.push(
                    {static_cast<double>(m_instances[i].offset), Moment::Issue, static_cast<std::uint32_t>(i)});
        }
        for (std::size_t t = 0; t < m_members.size(); ++t)
            for (const TransferMembers::Member& member : m_members.of(t))
                m_missing[t] += m_wiring.queueBefore[member.op] == kNoOp ? 1 : 2;
    }

    void happen(const Timed& timed) {
        switch (timed.what) {
            case Moment::Start: start(timed.index); return;
            case Moment::TransferEnds: endTransfer(timed.index); return;
            case Moment::Issue: issueNext(timed.index); return;
        }
    }

    void run(Work work, std::uint32_t index, double duration, double cores) {
        m_tasks.push({m_progress + duration, work, index, cores});
        m_wanted += cores;
    }

    void advance(double time, double share) {
        for (Moving& one : m_moving)
            one.left = std::max(0.0, one.left - (time - m_now) / std::max(lengthOf(one), kLeastLength));
        m_progress += (time - m_now) * share;
        m_now = time;
    }

    /// Of the ranks, how many compute.
    [[nodiscard]] double busyShare() const { return std::min(1.0, m_wanted / m_cores.ranks); }
    /// How long a transfer takes in all as things are.
    [[nodiscard]] double lengthOf(const Moving& one) const { return one.alone + busyShare() * (one.busy - one.alone); }
    /// Speed of all that wants a core.
    [[nodiscard]] double coresLeft() const {
        double cores = m_cores.cores;
        for (const Moving& one : m_moving) cores -= one.processor / std::max(lengthOf(one), kLeastLength);
        cores = std::max(cores, kLeastShare * m_cores.cores);
        return m_wanted > cores ? cores / m_wanted : 1.0;
    }
    [[nodiscard]] double wakeTime() const { return m_cores.wake + busyShare() * (m_cores.wakeBusy - m_cores.wake); }

    // The host's work for an op is what lies between its release and that of the op before it.
    void issueNext(std::uint32_t instance) {
        const core::RankClass& rankClass = classOf(instance);
        const std::uint32_t op = m_nextIssued[instance];
        if (op == rankClass.opEnd) return;
        const std::int64_t before = op == rankClass.opBegin ? 0 : m_prices.release[op - 1];
        run(Work::Issue, instance, static_cast<double>(std::max<std::int64_t>(m_prices.release[op] - before, 0)),
            ranksOf(instance));
    }

    void issued(std::uint32_t instance) {
        const auto slot = static_cast<std::uint32_t>(slotOf(instance, m_nextIssued[instance]++));
        m_slots[slot].issued = true;
        startIfReady(slot);
        issueNext(instance);
    }

    void startIfReady(std::uint32_t slot) {
        const Slot& s = m_slots[slot];
        if (s.waits > 0 || !s.issued) return;
        // A stream that has just ended an op goes on; another one sleeps.
        if (m_lastEnd[streamOf(s)] == m_now)
            start(slot);
        else
            m_timed.push({m_now + wakeTime(), Moment::Start, slot});
    }

    void start(std::uint32_t slot) {
        const Slot& s = m_slots[slot];
        m_result.times.start[slot] = std::llround(m_now);
        if (m_wiring.role[s.op] == OpRole::Transfer) return metOne(m_members.transferOf[slot]);
        m_result.times.transferStart[slot] = m_result.times.start[slot];
        const std::int64_t work = workAt(m_prices.duration[s.op], m_instances[s.instance].computePpm);
        run(Work::Op, slot, static_cast<double>(work), ranksOf(s.instance));
    }

    // A member has arrived or a predecessor in its queue has ended.
    void metOne(std::uint32_t transfer) {
        if (--m_missing[transfer] > 0) return;
        m_begun[transfer] = m_now;
        Moving moving;
        moving.transfer = transfer;
        for (const TransferMembers::Member& member : m_members.of(transfer)) {
            const TransferLoad& load = m_cores.transfers[member.op];
            m_result.times.transferStart[member.slot] = std::llround(m_now);
            moving.alone = std::max(moving.alone, static_cast<double>(m_prices.duration[member.op]));
            moving.busy = std::max(moving.busy, load.busy);
            moving.processor += load.processor * ranksOf(member.instance);
        }
        m_moving.push_back(moving);
    }

    void bytesMoved(std::uint32_t transfer) {
        double least = 0;
        for (const TransferMembers::Member& member : m_members.of(transfer))
            least = std::max(least, m_cores.transfers[member.op].atLeast);
        const double until = m_begun[transfer] + least;
        if (until <= m_now) return endTransfer(transfer);
        m_timed.push({until + wakeTime(), Moment::TransferEnds, transfer});
    }

    void endTransfer(std::uint32_t transfer) {
        for (const TransferMembers::Member& member : m_members.of(transfer)) {
            end(member.slot);
            const std::uint32_t after = m_wiring.queueAfter[member.op];
            if (after != kNoOp) metOne(m_members.transferOf[member.slot - member.op + after]);
        }
    }

    void end(std::uint32_t slot) {
        Slot& s = m_slots[slot];
        s.ended = true;
        m_lastEnd[streamOf(s)] = m_now;
        m_result.times.end[slot] = std::llround(m_now);
        m_result.end = std::max(m_result.end, m_result.times.end[slot]);
        const std::uint32_t base = slot - s.op;  // slots and ids of one class run side by side (modulo 2^32)
        for (const std::uint32_t next : m_wiring.nextOf(s.op)) {
            --m_slots[base + next].waits;
            startIfReady(base + next);
        }
    }

    core::Result<void> finished() const {
        const auto open = std::find_if(m_slots.begin(), m_slots.end(), [](const Slot& slot) { return !slot.ended; });
        if (open == m_slots.end()) return {};
        const core::Op& op = m_graph.ops[open->op];
        return fail(ErrorCode::Internal,
                    "the step cannot finish: op " + std::to_string(open->op) + " (" +
                        std::string(core::nameOf(op.kind)) + " on stream " + m_graph.streams[op.stream].name +
                        ") waits for what never ends",
                    m_graph.classes[op.rankClass.index()].name,
                    "members of a communicator must issue its transfers in one order");
    }

    [[nodiscard]] const core::RankClass& classOf(std::size_t instance) const {
        return m_graph.classes[m_instances[instance].rankClass.index()];
    }
    [[nodiscard]] std::size_t slotOf(std::size_t instance, std::uint32_t op) const {
        return m_result.firstOp[instance] + op - classOf(instance).opBegin;
    }
    [[nodiscard]] std::size_t streamOf(const Slot& s) const {
        return s.instance * m_graph.streams.size() + m_graph.ops[s.op].stream;
    }
    [[nodiscard]] double ranksOf(std::uint32_t instance) const {
        return static_cast<double>(m_instances[instance].multiplicity);
    }

    const StepGraph& m_graph;
    const Wiring& m_wiring;
    const Prices& m_prices;
    const SharedCores& m_cores;
    std::span<const Instance> m_instances;
    const TransferMembers& m_members;
    EventRun& m_result;
    std::vector<std::uint32_t> m_missing;  // by transfer: members not arrived, predecessors in queues not ended
    std::vector<double> m_begun;           // by transfer
    std::vector<double> m_lastEnd;         // by instance and stream
    std::vector<std::uint32_t> m_nextIssued;
    std::vector<Slot> m_slots;
    std::priority_queue<Task, std::vector<Task>, LaterTask> m_tasks;
    std::priority_queue<Timed, std::vector<Timed>, LaterTimed> m_timed;
    std::vector<Moving> m_moving;
    double m_now = 0, m_progress = 0, m_wanted = 0;
};

}  // namespace

core::Result<EventRun> runOnCores(const StepGraph& graph, const Wiring& wiring, const Prices& prices,
                                  std::span<const Instance> instances) {
    const std::size_t ops = graph.ops.size();
    if (!prices.shared || prices.shared->cores <= 0 || prices.shared->ranks < 1 ||
        prices.shared->transfers.size() != ops)
        return fail(ErrorCode::Input, "no shared cores for these ops", "price table");
    // Worst case: everything one after another on the least share of the cores. checkClocks looks at the rest.
    const SharedCores& shared = *prices.shared;
    double most = shared.finish + static_cast<double>(ops) * (shared.wake + shared.wakeBusy);
    for (const TransferLoad& load : shared.transfers) most += load.busy + load.processor + load.atLeast;
    if (!(most * static_cast<double>(instances.size()) / kLeastShare < 4e18))
        return fail(ErrorCode::Input, "transfers that add up to more than 64-bit nanoseconds hold", "price table",
                    "an op of more than an hour is a mistake in the machine's times or in its link");
    SHARDSCOPE_ASSIGN(EventRun run, emptyRun(graph, prices, instances));
    SHARDSCOPE_ASSIGN(const TransferMembers members, findMembers(graph, instances, run.firstOp));
    SHARDSCOPE_TRY(Run(graph, wiring, prices, instances, members, run).go());
    return run;
}

}  // namespace shardscope::sim
