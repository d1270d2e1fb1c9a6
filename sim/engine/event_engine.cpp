#include "sim/engine/event_engine.h"

#include <algorithm>
#include <array>
#include <queue>
#include <string>
#include <tuple>

#include "sim/engine/transfers.h"

namespace shardscope::sim {

using core::ErrorCode;
using core::fail;
using core::StepGraph;

namespace {

// Progress of a shared transfer is counted in lcm(1..k) parts of a nanosecond, which can exceed 64 bits.
__extension__ using Wide = __int128;

constexpr std::size_t kLinks = 32;
constexpr std::int64_t kMostShares = 40;  // lcm(1..40) = 5.3e15: products with any duration stay far below 127 bits

std::int64_t gcd(std::int64_t a, std::int64_t b) {
    return b == 0 ? a : gcd(b, a % b);
}

enum class EventKind : std::uint8_t { OpEnds, TransferEnds, OpIssued };

struct Event {
    std::int64_t time = 0;
    EventKind kind = EventKind::OpEnds;
    std::uint32_t index = 0;    // slot, or transfer
    std::uint32_t version = 0;  // of the prediction; an outdated one is ignored
};

struct Later {
    bool operator()(const Event& a, const Event& b) const {
        return std::tie(a.time, a.kind, a.index, a.version) > std::tie(b.time, b.kind, b.index, b.version);
    }
};

struct Slot {
    std::uint32_t waits = 0;  // ops that have not ended yet
    std::uint32_t op = 0;
    std::uint32_t instance = 0;
    std::uint32_t version = 0;
    bool ended = false;
};

struct Transfer {
    std::uint32_t missing = 0;  // members that have not arrived, and queue predecessors that have not ended
    std::uint32_t version = 0;
    std::int64_t share = 1;  // progresses at 1/share
    std::int64_t since = 0;  // `left` held at this instant
    Wide left = 0;
    std::uint32_t links = 0;
    std::uint32_t visited = 0;  // stamp of the last change that looked at it
};

// A compute op that is running.
struct Running {
    std::uint32_t slot = 0;
    std::int64_t left = 0;  // credits: a free nanosecond pays slowNum, one beside a transfer slowDen
    std::int64_t since = 0;
};

struct Rank {
    std::vector<Running> running;          // one per compute stream
    std::vector<std::uint32_t> transfers;  // under way
    std::array<std::uint16_t, kLinks> onLink{};
};

class Run {
public:
    Run(const StepGraph& graph, const Wiring& wiring, const Prices& prices, std::span<const Instance> instances,
        const TransferMembers& members, EventRun& result)
        : m_graph(graph),
          m_wiring(wiring),
          m_prices(prices),
          m_instances(instances),
          m_members(members),
          m_result(result),
          m_ranks(instances.size()),
          m_transfers(members.size()) {
        const std::int64_t common = gcd(prices.slowNum, prices.slowDen);
        m_free = prices.slowNum / common;
        m_slow = prices.slowDen / common;
    }

    core::Result<void> go() {
        SHARDSCOPE_TRY(prepare());
        for (std::uint32_t slot = 0; slot < m_slots.size(); ++slot)
            if (m_slots[slot].waits == 0) issue(slot, 0);
        settle(0);
        while (!m_events.empty()) {
            const Event event = m_events.top();
            m_events.pop();
            switch (event.kind) {
                case EventKind::OpEnds:
                    if (event.version == m_slots[event.index].version) endOp(event.index, event.time);
                    break;
                case EventKind::TransferEnds:
                    if (event.version == m_transfers[event.index].version) endTransfer(event.index, event.time);
                    break;
                case EventKind::OpIssued: start(event.index, event.time); break;
            }
            settle(event.time);
        }
        return finished();
    }

private:
    core::Result<void> prepare() {
        m_slots.resize(m_result.firstOp.back());
        m_result.times.resize(m_slots.size());
        for (std::size_t i = 0; i < m_instances.size(); ++i) {
            const core::RankClass& rankClass = m_graph.classes[m_instances[i].rankClass.index()];
            for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op) {
                Slot& slot = m_slots[m_result.firstOp[i] + op - rankClass.opBegin];
                slot.op = op;
                slot.instance = static_cast<std::uint32_t>(i);
                slot.waits = static_cast<std::uint32_t>(m_wiring.waitsOf(op).size());
            }
        }
        std::int64_t most = 1;
        for (const core::RankClass& rankClass : m_graph.classes) most = std::max(most, mostAtOnce(rankClass));
        if (most > kMostShares && !m_prices.links.empty())
            return fail(ErrorCode::Unsupported,
                        "up to " + std::to_string(most) + " transfers of one rank at once, " +
                            std::to_string(kMostShares) + " can share a link",
                        "step graph", "run without contention between transfers");
        m_parts = 1;
        if (!m_prices.links.empty())
            for (std::int64_t k = 2; k <= most; ++k) m_parts = m_parts / gcd(m_parts, k) * k;
        for (std::size_t t = 0; t < m_transfers.size(); ++t) {
            Transfer& transfer = m_transfers[t];
            std::int64_t duration = 0;
            for (const TransferMembers::Member& member : m_members.of(t)) {
                ++transfer.missing;
                if (m_wiring.queueBefore[member.op] != kNoOp) ++transfer.missing;
                // The two ends of a pair are priced alike; should they differ, the slower end decides.
                duration = std::max(duration, m_prices.duration[member.op]);
                if (!m_prices.links.empty()) transfer.links |= m_prices.links[m_graph.ops[member.op].group.index()];
            }
            transfer.left = static_cast<Wide>(duration) * m_parts;
        }
        return {};
    }

    // Only heads of streams and of communicators' queues can be under way.
    [[nodiscard]] std::int64_t mostAtOnce(const core::RankClass& rankClass) const {
        std::int64_t queues = 0;
        std::vector<bool> streams(m_graph.streams.size());
        for (std::uint32_t op = rankClass.opBegin; op < rankClass.opEnd; ++op) {
            if (m_wiring.role[op] != OpRole::Transfer) continue;
            if (m_wiring.queueBefore[op] == kNoOp) ++queues;
            streams[m_graph.ops[op].stream] = true;
        }
        return std::min<std::int64_t>(queues, std::count(streams.begin(), streams.end(), true));
    }

    // All waits of the slot are over at `now`; it starts as soon as the host has issued it.
    void issue(std::uint32_t slot, std::int64_t now) {
        const Slot& s = m_slots[slot];
        const std::int64_t issued = m_instances[s.instance].offset + m_prices.release[s.op];
        if (issued > now)
            m_events.push({issued, EventKind::OpIssued, slot, 0});
        else
            m_ready.push_back(slot);
    }

    void settle(std::int64_t now) {
        while (!m_ready.empty()) {
            const std::uint32_t slot = m_ready.back();
            m_ready.pop_back();
            start(slot, now);
        }
    }

    void start(std::uint32_t slot, std::int64_t now) {
        Slot& s = m_slots[slot];
        m_result.times.start[slot] = now;
        switch (m_wiring.role[s.op]) {
            case OpRole::Transfer: metOne(m_members.transferOf[slot], now); return;
            case OpRole::Compute: {
                const std::int64_t work = workAt(m_prices.duration[s.op], m_instances[s.instance].computePpm);
                Rank& rank = m_ranks[s.instance];
                rank.running.push_back({slot, work * m_free, now});
                predict(rank, rank.running.back());
                return;
            }
            default: m_events.push({now + m_prices.duration[s.op], EventKind::OpEnds, slot, s.version});
        }
    }

    void endOp(std::uint32_t slot, std::int64_t now) {
        Slot& s = m_slots[slot];
        if (m_wiring.role[s.op] == OpRole::Compute)
            std::erase_if(m_ranks[s.instance].running, [slot](const Running& r) { return r.slot == slot; });
        m_result.times.transferStart[slot] = m_result.times.start[slot];
        end(slot, now);
    }

    void end(std::uint32_t slot, std::int64_t now) {
        Slot& s = m_slots[slot];
        s.ended = true;
        m_result.times.end[slot] = now;
        m_result.end = std::max(m_result.end, now);
        const std::uint32_t base = slot - s.op;  // slots and ids of one class run side by side (modulo 2^32)
        for (const std::uint32_t next : m_wiring.nextOf(s.op))
            if (--m_slots[base + next].waits == 0) issue(base + next, now);
    }

    // A member has arrived or a predecessor in its queue has ended.
    void metOne(std::uint32_t transfer, std::int64_t now) {
        if (--m_transfers[transfer].missing == 0) begin(transfer, now);
    }

    void begin(std::uint32_t index, std::int64_t now) {
        Transfer& transfer = m_transfers[index];
        transfer.since = now;
        for (const TransferMembers::Member& member : m_members.of(index))
            m_result.times.transferStart[member.slot] = now;
        if (transfer.left > 0) {
            for (const TransferMembers::Member& member : m_members.of(index)) {
                Rank& rank = m_ranks[member.instance];
                if (rank.transfers.empty()) advance(rank, now, m_free);
                rank.transfers.push_back(index);
                countLinks(rank, transfer.links, 1);
                if (rank.transfers.size() == 1) predictAll(rank);
            }
            reshare(index, now);
        }
        predict(index);
    }

    void endTransfer(std::uint32_t index, std::int64_t now) {
        Transfer& transfer = m_transfers[index];
        const bool tookTime = now > m_result.times.transferStart[m_members.of(index).front().slot];
        if (tookTime) {
            for (const TransferMembers::Member& member : m_members.of(index)) {
                Rank& rank = m_ranks[member.instance];
                if (rank.transfers.size() == 1) advance(rank, now, m_slow);
                std::erase(rank.transfers, index);
                countLinks(rank, transfer.links, -1);
                if (rank.transfers.empty()) predictAll(rank);
            }
            reshare(index, now);
        }
        for (const TransferMembers::Member& member : m_members.of(index)) {
            end(member.slot, now);
            const std::uint32_t after = m_wiring.queueAfter[member.op];
            if (after != kNoOp) metOne(m_members.transferOf[member.slot - member.op + after], now);
        }
    }

    // Transfers that share a link with `index` at one of its members get their new shares. (`index` itself, too.)
    void reshare(std::uint32_t index, std::int64_t now) {
        const std::uint32_t links = m_transfers[index].links;
        if (links == 0) return;
        ++m_stamp;
        for (const TransferMembers::Member& member : m_members.of(index)) {
            for (const std::uint32_t other : m_ranks[member.instance].transfers) {
                Transfer& transfer = m_transfers[other];
                if (transfer.visited == m_stamp || (transfer.links & links) == 0) continue;
                transfer.visited = m_stamp;
                const std::int64_t share = shareOf(other);
                if (share == transfer.share) continue;
                transfer.left -= static_cast<Wide>(now - transfer.since) * (m_parts / transfer.share);
                transfer.since = now;
                transfer.share = share;
                predict(other);
            }
        }
    }

    [[nodiscard]] std::int64_t shareOf(std::uint32_t index) const {
        std::int64_t share = 1;
        for (const TransferMembers::Member& member : m_members.of(index))
            for (std::size_t link = 0; link < kLinks; ++link)
                if (m_transfers[index].links >> link & 1u)
                    share = std::max<std::int64_t>(share, m_ranks[member.instance].onLink[link]);
        return share;
    }

    static void countLinks(Rank& rank, std::uint32_t links, int change) {
        for (std::size_t link = 0; link < kLinks; ++link)
            if (links >> link & 1u) rank.onLink[link] = static_cast<std::uint16_t>(rank.onLink[link] + change);
    }

    void advance(Rank& rank, std::int64_t now, std::int64_t rate) {
        for (Running& running : rank.running) {
            running.left -= (now - running.since) * rate;
            running.since = now;
        }
    }

    void predictAll(Rank& rank) {
        for (const Running& running : rank.running) predict(rank, running);
    }

    void predict(const Rank& rank, const Running& running) {
        const std::int64_t rate = rank.transfers.empty() ? m_free : m_slow;
        const std::int64_t left = std::max<std::int64_t>(running.left, 0);
        m_events.push({running.since + (left + rate - 1) / rate, EventKind::OpEnds, running.slot,
                       ++m_slots[running.slot].version});
    }

    void predict(std::uint32_t index) {
        Transfer& transfer = m_transfers[index];
        const std::int64_t rate = m_parts / transfer.share;
        const Wide left = std::max<Wide>(transfer.left, 0);
        const auto time = static_cast<std::int64_t>((left + rate - 1) / rate);
        m_events.push({transfer.since + time, EventKind::TransferEnds, index, ++transfer.version});
    }

    core::Result<void> finished() const {
        std::size_t open = 0;
        const Slot* first = nullptr;
        for (const Slot& slot : m_slots) {
            if (slot.ended) continue;
            ++open;
            if (first == nullptr || slot.waits < first->waits) first = &slot;
        }
        if (open == 0) return {};
        const core::Op& op = m_graph.ops[first->op];
        const std::string rest = first->waits == 0 ? "has started and waits for a peer or its queue"
                                                   : "waits for " + std::to_string(first->waits) + " others";
        return fail(ErrorCode::Internal,
                    "the step cannot finish: " + std::to_string(open) + " of " + std::to_string(m_slots.size()) +
                        " ops wait for each other; op " + std::to_string(first->op) + " (" +
                        std::string(core::nameOf(op.kind)) + " on stream " + m_graph.streams[op.stream].name + ") " +
                        rest,
                    m_graph.classes[op.rankClass.index()].name,
                    "members of a communicator must issue its transfers in one order");
    }

    const StepGraph& m_graph;
    const Wiring& m_wiring;
    const Prices& m_prices;
    std::span<const Instance> m_instances;
    const TransferMembers& m_members;
    EventRun& m_result;
    std::vector<Rank> m_ranks;
    std::vector<Transfer> m_transfers;
    std::vector<Slot> m_slots;
    std::priority_queue<Event, std::vector<Event>, Later> m_events;
    std::vector<std::uint32_t> m_ready;
    std::int64_t m_free = 1, m_slow = 1;  // credits of a nanosecond
    std::int64_t m_parts = 1;
    std::uint32_t m_stamp = 0;
};

}  // namespace

OpInstants EventRun::timesOf(std::size_t instance) const {
    const auto cut = [&](const std::vector<std::int64_t>& all) {
        return std::vector<std::int64_t>(all.begin() + static_cast<std::ptrdiff_t>(firstOp[instance]),
                                         all.begin() + static_cast<std::ptrdiff_t>(firstOp[instance + 1]));
    };
    return {cut(times.start), cut(times.transferStart), cut(times.end)};
}

core::Result<EventRun> emptyRun(const StepGraph& graph, const Prices& prices, std::span<const Instance> instances) {
    std::int64_t offset = 0, ppm = kNominalPpm;
    EventRun run;
    run.firstOp.push_back(0);
    for (const Instance& instance : instances) {
        if (!instance.rankClass.valid() || instance.rankClass.index() >= graph.classes.size() || instance.offset < 0 ||
            instance.computePpm < 1)
            return fail(ErrorCode::Input, "an instance of an unknown class, or with a negative offset or speed",
                        "clocks");
        offset = std::max(offset, instance.offset);
        ppm = std::max(ppm, instance.computePpm);
        const core::RankClass& rankClass = graph.classes[instance.rankClass.index()];
        run.firstOp.push_back(run.firstOp.back() + rankClass.opEnd - rankClass.opBegin);
    }
    if (run.firstOp.back() >= kNoOp)
        return fail(ErrorCode::Unsupported, "more than 2^32 ops of all ranks together", "step graph",
                    "fold ranks with identical clocks");
    SHARDSCOPE_TRY(checkClocks(graph, prices, offset, ppm));
    return run;
}

core::Result<EventRun> runEvents(const StepGraph& graph, const Wiring& wiring, const Prices& prices,
                                 std::span<const Instance> instances) {
    SHARDSCOPE_ASSIGN(EventRun run, emptyRun(graph, prices, instances));
    SHARDSCOPE_ASSIGN(const TransferMembers members, findMembers(graph, instances, run.firstOp));
    SHARDSCOPE_TRY(Run(graph, wiring, prices, instances, members, run).go());
    return run;
}

}  // namespace shardscope::sim
