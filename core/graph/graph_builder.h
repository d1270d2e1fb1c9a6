#pragma once

// Records the steps of a policy in the order in which the framework's host takes them, then checks and freezes the
// result. A policy never lists edges: it says "this stream waits for that op" as the framework does, and the next op
// enqueued on the stream gets the edge. Ops, actions and blocks belong to the class that was begun last.

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/graph/step_graph.h"

namespace shardscope::core {

class GraphBuilder {
public:
    /// Everything that is enqueued on a stream at some instant: what an event recorded there stands for.
    struct Moment {
        std::vector<OpId> ops;
    };

    explicit GraphBuilder(Plan plan = {});

    /// A stream's number for Op::stream. Without a name it gets its kind's. At most 255 streams.
    std::uint8_t addStream(StreamKind kind, std::string name = {});
    /// The stream of that name, added if there is none yet: classes of one graph share the list of streams.
    std::uint8_t streamNamed(StreamKind kind, std::string name);
    GroupId addGroup(Group group);
    [[nodiscard]] std::size_t groupCount() const { return m_graph.groups.size(); }
    UnitId addUnit(Unit unit);
    /// Starts the next class; everything until the next call belongs to it. The op and action ranges are filled in
    /// here.
    ClassId beginClass(RankClass rankClass);

    /// Enqueues an op on its stream: appends the Launch action, and the op waits for whatever its stream was told to
    /// wait for since its previous op. `rankClass` is filled in.
    OpId addOp(Op op);
    /// The next op on `stream` waits for `op`. An op that the stream already waits for, through this or a later op of
    /// the same stream, adds nothing.
    void waitOp(std::uint8_t stream, OpId op, EdgeReason reason = EdgeReason::EventWait);
    /// The next op on `stream` waits for all that is enqueued on `other` so far.
    void waitStream(std::uint8_t stream, std::uint8_t other, EdgeReason reason = EdgeReason::EventWait);
    /// What is enqueued on `stream` now, and waiting for it from another stream.
    [[nodiscard]] Moment record(std::uint8_t stream) const;
    void waitMoment(std::uint8_t stream, const Moment& moment, EdgeReason reason = EdgeReason::EventWait);
    /// An edge given directly (graphs made by hand; ops of one class).
    void addEdge(OpId from, OpId to, EdgeReason reason);

    /// The block's memory is allocated now, in host order. `rankClass` is filled in.
    BlockId allocate(Block block);
    /// A block that is there before and after the step.
    BlockId addPersistent(Block block);
    /// A block that the step before has left.
    BlockId addFound(Block block);
    /// A block of activations with what lies in it.
    BlockId allocate(Block block, std::span<const StorageRef> storages);
    void release(BlockId block);
    /// It stays after the step.
    void leave(BlockId block) { m_graph.blocks[block.index()].left = true; }
    /// `op` touches the block: first and last use in device time.
    void use(BlockId block, OpId op);

    void mark(HostAction action);
    void mark(Mark mark, UnitId unit = {});
    void markModule(Mark mark, ModuleId module);

    [[nodiscard]] const Op& op(OpId id) const { return m_graph.ops[id.index()]; }
    [[nodiscard]] Block& block(BlockId id) { return m_graph.blocks[id.index()]; }
    [[nodiscard]] Unit& unit(UnitId id) { return m_graph.units[id.index()]; }

    /// Adds the StreamOrder and Communicator edges, checks the graph and gives it away; the builder is empty
    /// afterwards. Errors: a cycle (over edges, stream order, communicator order and transfers between classes),
    /// classes that issue different collectives on one communicator, a Send without its Receive or of another size, a
    /// block released twice, never, or before its first use, an operand that does not exist.
    [[nodiscard]] Result<StepGraph> freeze();

private:
    struct PendingEdge {
        OpId from, to;
        EdgeReason reason;
    };
    struct StreamState {
        OpId last;
        std::vector<Edge> pending;    ///< edges of the next op
        std::vector<OpId> waitedFor;  ///< by stream: the latest op of it that this stream waits for
    };

    void closeClass();
    void assembleEdges();

    StepGraph m_graph;
    std::vector<StreamState> m_streams;
    std::vector<PendingEdge> m_edges;
};

}  // namespace shardscope::core
