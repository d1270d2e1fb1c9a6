#include "runtime/executor/executor.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "core/graph/graph_checks.h"
#include "runtime/device/elements.h"

namespace shardscope::runtime {

using core::BlockId;
using core::OpId;
using core::OpKind;
using core::Result;

namespace {

const core::RankClass& classOfRank(const core::StepGraph& graph, const RankMap& ranks) {
    for (const core::RankClass& rankClass : graph.classes)
        if (rankClass.stage == ranks.stage()) return rankClass;
    assert(false && "every stage has a class");
    return graph.classes.front();
}

}  // namespace

Executor::Executor(const core::Model& model, const core::StepGraph& graph, std::int64_t rank, Device& device,
                   const OptimizerSettings& settings)
    : m_model(model),
      m_graph(graph),
      m_rank(rank),
      m_ranks{graph.plan.mesh, rank},
      m_class(classOfRank(graph, m_ranks)),
      m_classId(static_cast<std::size_t>(&m_class - graph.classes.data())),
      m_device(device),
      m_settings(settings),
      m_activations(model, graph, m_class, device) {
    if (m_settings.weightDecay < 0)
        m_settings.weightDecay = graph.plan.optimizer == core::OptimizerKind::AdamW ? 0.01 : 0;
}

Executor::~Executor() {
    // Streams may be at work still if a step was left by an exception.
    if (m_batches != nullptr)
        abandon({core::ErrorCode::Unsupported, fmt::format("rank {} has left its step", m_rank), {}, {}});
    (void)m_device.synchronize();
    m_device.onError({});
    if (m_world) m_world->watch({});
    m_activations.clear();
    for (UnitMemory& unit : m_units) {
        if (!unit.host.empty()) unit.shard = {};  // no memory of the device
        for (Held* held : {&unit.shard, &unit.unsharded, &unit.slice, &unit.cast, &unit.staged, &unit.scratch,
                           &unit.gather, &unit.reduceInput, &unit.reduceShare, &unit.shardedGradient, &unit.repeated})
            if (held->allocated()) m_device.release(held->memory);
    }
    for (auto& [id, memory] : m_gradientBlocks) m_device.release(memory);
    for (auto& [id, memory] : m_stateBlocks) m_device.release(memory);
    if (m_received.allocated()) m_device.release(m_received.memory);
}

Result<std::unique_ptr<Executor>> Executor::create(const core::Model& model, const core::StepGraph& graph,
                                                   std::int64_t rank, Device& device,
                                                   const CommunicatorSource& communicators,
                                                   const OptimizerSettings& settings) {
    std::unique_ptr<Executor> executor(new Executor(model, graph, rank, device, settings));
    SHARDSCOPE_TRY(executor->prepare(communicators));
    return executor;
}

Result<void> Executor::prepare(const CommunicatorSource& communicators) {
    SHARDSCOPE_TRY(m_activations.checkBorders());
    for (const core::Stream& stream : m_graph.streams) {
        const bool works = stream.kind == core::StreamKind::Compute || stream.kind == core::StreamKind::Host;
        m_device.openStream(stream.name, works ? StreamWork::Kernels : StreamWork::Data);
    }
    findUnits();
    findPeers();
    SHARDSCOPE_TRY(checkModel());
    for (std::size_t i = 0; i < m_graph.blocks.size(); ++i) {
        const core::Block& block = m_graph.blocks[i];
        if ((block.persistent || block.found) && block.rankClass == m_classId) SHARDSCOPE_TRY(allocate(BlockId(i)));
    }
    if (m_graph.plan.fsdp.cpuOffload) allocateOnHost();
    openCommunicators(communicators);
    m_device.onError([this](const core::Error& why) { abandon(why); });
    m_world->watch([this](std::size_t calls) { return m_device.waitsOnlyFor(calls); });
    return m_device.synchronize();
}

void Executor::findUnits() {
    m_units.resize(m_graph.units.size());
    m_placeOf.resize(m_model.parameters.size());
    m_hasParameter.assign(m_model.parameters.size(), false);
    m_makers = core::gradientMakers(m_model, m_class.layerBegin, m_class.layerEnd);
    const std::vector<bool> cast = core::castByAutocast(m_model, m_class.layerBegin, m_class.layerEnd);
    for (const core::Block& block : m_graph.blocks) {
        if (!block.unit.valid() || block.rankClass != m_classId) continue;
        UnitMemory& unit = m_units[block.unit.index()];
        if (unit.unit != nullptr) continue;
        unit.unit = &m_graph.units[block.unit.index()];
        const std::int64_t ranks = m_graph.plan.policy == core::UnitPolicy::Fsdp ? m_graph.plan.mesh.dpShard : 1;
        unit.layout = layOut(m_model, m_graph.plan, *unit.unit, ranks, ranks == 1 ? 0 : m_ranks.shard(), cast);
        unit.gradients.resize(unit.layout.places.size());
        unit.added.resize(unit.layout.places.size());
        for (std::size_t p = 0; p < unit.layout.places.size(); ++p) {
            const std::size_t parameter = unit.layout.places[p].parameter.index();
            m_placeOf[parameter] = {block.unit.index(), p};
            m_hasParameter[parameter] = true;
        }
    }
}

void Executor::findPeers() {
    constexpr auto kNone = core::Op{}.match;
    std::map<std::uint32_t, bool> own;
    for (const core::Op& op : m_graph.opsOf(m_class))
        if (op.match != kNone) own[op.match] = true;
    for (const core::Op& op : m_graph.ops)
        if (op.match != kNone && op.rankClass != m_classId && own.contains(op.match))
            m_peerStage[op.match] = m_graph.classes[op.rankClass.index()].stage;
    std::map<std::int64_t, std::vector<bool>> heldBy;
    for (const core::Block& block : m_graph.blocks) {
        if (!block.unit.valid() || block.rankClass == m_classId) continue;
        std::vector<bool>& held = heldBy[m_graph.classes[block.rankClass.index()].stage];
        held.resize(m_model.parameters.size());
        for (const core::ParameterId p : m_graph.units[block.unit.index()].parameters) held[p.index()] = true;
    }
    for (const auto& [stage, held] : heldBy)
        for (std::size_t p = 0; p < held.size(); ++p)
            if (held[p] && m_hasParameter[p] && !m_model.parameters[p].frozen)
                m_tiedTo[stage].push_back(core::ParameterId(p));
}

void Executor::openCommunicators(const CommunicatorSource& communicators) {
    std::vector<std::int64_t> everyone;
    for (std::int64_t r = 0; r < m_graph.plan.mesh.size(); ++r) everyone.push_back(r);
    m_world = communicators("world", everyone);
    m_communicatorOfGroup.assign(m_graph.groups.size(), nullptr);
    std::map<std::pair<std::uint32_t, std::vector<std::int64_t>>, Communicator*> known;
    for (const core::Op& op : m_graph.opsOf(m_class)) {
        if (!op.group.valid() || m_communicatorOfGroup[op.group.index()] != nullptr) continue;
        const core::Group& group = m_graph.groups[op.group.index()];
        std::vector<std::int64_t> members;
        if (group.kind == core::Group::Kind::Pair) {
            const auto peer = m_peerStage.find(op.match);
            if (peer == m_peerStage.end()) continue;  // refused when the op is issued
            members = {m_rank, m_ranks.peerIn(peer->second)};
            std::sort(members.begin(), members.end());
        } else {
            members = m_ranks.membersOf(group);
        }
        Communicator*& communicator = known[{group.communicator, members}];
        if (communicator == nullptr) {
            m_communicators.push_back(communicators(fmt::format("{}#{}", group.name, group.communicator), members));
            communicator = m_communicators.back().get();
        }
        m_communicatorOfGroup[op.group.index()] = communicator;
    }
}

Result<void> Executor::checkModel() const {
    const core::DType dtype = m_graph.plan.precision.compute();
    for (std::size_t i = m_class.layerBegin.index(); i < m_class.layerEnd.index(); ++i) {
        const core::Layer& layer = m_model.layers[i];
        for (const core::Tensor& tensor : m_model.programOf(layer).tensors) {
            if (tensor.role != core::TensorRole::Parameter && tensor.role != core::TensorRole::ParameterGradient)
                continue;
            const core::ParameterId parameter = layer.parameters[tensor.slot];
            if (!m_hasParameter[parameter.index()])
                return core::fail(core::ErrorCode::Input, fmt::format("no unit of {} holds {}", m_class.name,
                                                                      m_model.parameters[parameter.index()].name));
            const UnitPlace where = m_placeOf[parameter.index()];
            const core::DType expected =
                m_model.workload.autocast ? m_units[where.unit].layout.places[where.place].type : dtype;
            if (tensor.role == core::TensorRole::Parameter && tensor.dtype != expected)
                return core::fail(core::ErrorCode::Input,
                                  fmt::format("the model computes with {} parameters, the plan gathers {}",
                                              core::nameOf(tensor.dtype), core::nameOf(expected)),
                                  layer.name, "build the model for the plan's param_dtype");
        }
    }
    return {};
}

Result<void> Executor::loadParameter(core::ParameterId parameter, std::span<const float> whole) {
    if (!m_hasParameter[parameter.index()]) return {};
    const UnitPlace where = m_placeOf[parameter.index()];
    UnitMemory& unit = m_units[where.unit];
    const ParameterPlace& place = unit.layout.places[where.place];
    if (static_cast<std::int64_t>(whole.size()) != place.elements)
        return core::fail(core::ErrorCode::Input,
                          fmt::format("{} has {} values, expected {} ({})", m_model.parameters[parameter.index()].name,
                                      whole.size(), place.elements, core::toString(place.shape)));
    Held& master = unit.master();
    const core::DType dtype = m_graph.plan.precision.original;
    if (unit.layout.flat) {
        if (master.content == Held::Content::Nothing)
            storeFloats(flatView(master.memory, dtype, 0, unit.layout.share()),
                        std::vector<float>(static_cast<std::size_t>(unit.layout.share()), 0.0f));
        storeFloats(flatView(master.memory, dtype, place.ownAt, place.own),
                    whole.subspan(static_cast<std::size_t>(place.ownBegin), static_cast<std::size_t>(place.own)));
        master.content = Held::Content::Whole;
        master.version = unit.version;
        loadLeft(unit, place, whole);
        return {};
    }
    const std::int64_t share = place.padded / unit.layout.ranks;
    std::vector<float> own(static_cast<std::size_t>(share), 0.0f);  // padding is zero (framework semantics 1.7)
    if (place.dim1) {
        const std::int64_t rows = place.shape.front(), row = place.elements / rows, width = row / unit.layout.ranks;
        for (std::int64_t r = 0; r < rows; ++r)
            std::copy_n(whole.begin() + r * row + unit.layout.rank * width, width, own.begin() + r * width);
    } else {
        const auto first = whole.begin() + place.ownBegin;
        std::copy(first, first + place.own, own.begin());
    }
    storeFloats(flatView(master.memory, dtype, place.ownAt, share), own);
    master.content = Held::Content::Whole;
    master.version = unit.version;
    if (m_graph.plan.policy == core::UnitPolicy::Fsdp) loadLeft(unit, place, whole);
    return {};
}

// What an evaluation before the step has left gathered.
void Executor::loadLeft(UnitMemory& unit, const ParameterPlace& place, std::span<const float> whole) {
    std::vector<float> padded(static_cast<std::size_t>(place.padded), 0.0f);
    std::copy(whole.begin(), whole.end(), padded.begin());
    if (unit.unsharded.allocated()) {
        storeFloats(wholePart(unit.unsharded.memory, place, 0, 1), padded);
        unit.unsharded.content = Held::Content::Whole;
        unit.unsharded.version = unit.version;
    }
    if (!unit.slice.allocated()) return;
    const std::int64_t parts = unit.layout.bytes / unit.slice.memory.bytes;
    const std::int64_t piece = place.padded / parts;
    storeFloats(cutPart(unit.slice.memory, unit.layout, place, 0, parts),
                std::span(padded).subspan(static_cast<std::size_t>(m_ranks.shard() % parts * piece),
                                          static_cast<std::size_t>(piece)));
    unit.slice.parts = parts;
    unit.slice.content = Held::Content::Whole;
    unit.slice.version = unit.version;
}

Result<std::vector<float>> Executor::ownParameter(core::ParameterId parameter) {
    if (!m_hasParameter[parameter.index()]) return std::vector<float>{};
    const UnitPlace where = m_placeOf[parameter.index()];
    UnitMemory& unit = m_units[where.unit];
    const ParameterPlace& place = unit.layout.places[where.place];
    return loadFloats(flatView(unit.master().memory, m_graph.plan.precision.original, place.ownAt, place.own));
}

Result<std::vector<float>> Executor::ownGradient(core::ParameterId parameter) {
    if (!m_hasParameter[parameter.index()]) return std::vector<float>{};
    const UnitPlace where = m_placeOf[parameter.index()];
    UnitMemory& unit = m_units[where.unit];
    if (!unit.layout.places[where.place].trained) return std::vector<float>{};
    SHARDSCOPE_ASSIGN(const TensorView view, gradientForUpdate(unit, where.place));
    SHARDSCOPE_TRY(m_device.synchronize());
    return loadFloats(view);
}

void Executor::abandon(const core::Error& why) {
    m_world->abandon(why);
    for (const std::unique_ptr<Communicator>& communicator : m_communicators) communicator->abandon(why);
}

// On a stream, like every other call: the device then knows that this rank waits.
Result<void> Executor::agreeOnGraph() {
    if (m_agreed) return {};
    SHARDSCOPE_TRY(m_device.enqueue(0, [this] { return m_world->agree("the graph's hash", core::hashOf(m_graph)); }));
    SHARDSCOPE_TRY(m_device.synchronize());
    m_agreed = true;
    return {};
}

Result<StepOutcome> Executor::runStep(const BatchSource& batches, const SeedSource& seeds,
                                      const StepObserver& observer) {
    m_batches = &batches;
    m_seeds = &seeds;
    Result<void> done = runProgram(observer);
    if (!done) {
        // Streams may wait for ranks that wait for what this one will never issue.
        abandon(done.error());
        (void)m_device.synchronize();
    }
    m_batches = nullptr;
    m_seeds = nullptr;
    if (!done) return tl::unexpected(std::move(done).error());
    return std::move(m_outcome);
}

Result<void> Executor::runProgram(const StepObserver& observer) {
    SHARDSCOPE_TRY(agreeOnGraph());
    m_batch.assign(static_cast<std::size_t>(m_graph.plan.microBatches), std::nullopt);
    for (UnitMemory& unit : m_units) {
        // Gradients that were views into a bucket are gone with the step before.
        for (GradientPlace& gradient : unit.gradients)
            if (unit.bucket.allocated() && gradient.block == unit.bucket.block) gradient = {};
        unit.bucket.content = Held::Content::Nothing;
        unit.hostGradient.content = Held::Content::Nothing;
    }
    m_norm = m_normReceived = 0;
    m_hasNorm = false;
    takeOverLeft();
    const std::size_t ops = m_class.opEnd - m_class.opBegin;
    m_start.assign(ops, Event{});
    m_done.assign(ops, Event{});
    m_transfers.assign(ops, Transfer{});
    m_lastCall.clear();
    m_messages.clear();
    m_losses.clear();
    m_outcome = {};
    m_outcome.begin = m_device.now();
    for (const core::HostAction& action : m_graph.actionsOf(m_class)) {
        switch (action.kind) {
            case core::HostActionKind::Allocate: SHARDSCOPE_TRY(allocate(action.block)); break;
            case core::HostActionKind::Release: SHARDSCOPE_TRY(release(action.block)); break;
            case core::HostActionKind::Mark: break;
            case core::HostActionKind::Launch: SHARDSCOPE_TRY(launchAction(action.op, observer)); break;
        }
    }
    for (std::size_t i = 0; i < m_done.size(); ++i)
        if (!m_done[i].valid()) {
            m_running = OpId(m_class.opBegin + i);
            return refuse("was never issued");
        }
    SHARDSCOPE_TRY(m_device.synchronize());
    for (OpTimes& times : m_outcome.times) {
        const std::size_t own = times.op.index() - m_class.opBegin;
        times.start = m_device.timeOf(m_start[own]);
        times.end = m_device.timeOf(m_done[own]);
        times.transferStart = std::max(times.start, m_transfers[own].transferStart);
    }
    m_device.forgetEvents();
    m_outcome.end = m_device.now();
    for (std::vector<std::byte>& loss : m_losses)
        m_outcome.losses.push_back(loadFloats({loss.data(), m_lossType, {1}, {}}).at(0));
    return {};
}

Result<void> Executor::launchAction(OpId id, const StepObserver& observer) {
    const core::Op& op = m_graph.ops[id.index()];
    if (op.kind == OpKind::OptimizerStep && observer.beforeOptimizer) SHARDSCOPE_TRY(observer.beforeOptimizer(*this));
    SHARDSCOPE_TRY(launch(id));
    m_outcome.times.push_back({id, 0, 0, 0});
    if (!observer.launched) return {};
    LiveBytes live = m_device.liveBytes();
    const auto workspace = static_cast<std::size_t>(core::MemoryCategory::Workspace);
    // Ops that follow a compute op before its workspace is released count it with what they have.
    if (m_workspace.valid() && op.kind == OpKind::Compute)
        m_workspaceBytes = m_device.peakBytes()[workspace] - live[workspace];
    if (m_workspace.valid()) live[workspace] += m_workspaceBytes;
    observer.launched(id, live);
    return {};
}

// What the step before has left is what this one finds.
void Executor::takeOverLeft() {
    for (std::size_t i = 0; i < m_graph.blocks.size(); ++i) {
        const core::Block& block = m_graph.blocks[i];
        if (!block.found || block.rankClass != m_classId) continue;
        std::int64_t bytes = 0;
        if (Held* held = heldFor(block, m_units[block.unit.index()], bytes); held != nullptr) held->block = BlockId(i);
    }
}

Result<void> Executor::launch(OpId id) {
    m_running = id;
    const core::Op& op = m_graph.ops[id.index()];
    if (id.index() < m_class.opBegin || id.index() >= m_class.opEnd) return refuse("belongs to another class");
    const std::size_t own = id.index() - m_class.opBegin;
    if (m_done[own].valid()) return refuse("is issued twice");
    SHARDSCOPE_TRY(loadBatch(op));
    waitForOthers(id, false);
    m_start[own] = m_device.record(op.stream);
    SHARDSCOPE_TRY(execute(op));
    m_done[own] = m_device.record(op.stream);
    return {};
}

void Executor::waitForOthers(OpId id, bool transfer) {
    const core::Op& op = m_graph.ops[id.index()];
    for (const core::Edge& edge : m_graph.waitsOf(id)) {
        const std::size_t from = edge.from.index();
        if (from < m_class.opBegin || from >= m_class.opEnd || m_graph.ops[from].stream == op.stream) continue;
        const Event done = m_done[from - m_class.opBegin];
        if (done.valid() && (edge.reason == core::EdgeReason::Communicator) == transfer) m_device.wait(op.stream, done);
    }
}

Result<void> Executor::checkWaits(OpId id) const {
    for (const core::Edge& edge : m_graph.waitsOf(id)) {
        const std::size_t from = edge.from.index();
        if (from < m_class.opBegin || from >= m_class.opEnd) continue;
        if (!m_done[from - m_class.opBegin].valid())
            return refuse(fmt::format("waits for {} ({}), which was not issued",
                                      core::labelOf(m_graph, m_model, edge.from), core::nameOf(edge.reason)));
    }
    return {};
}

Result<void> Executor::communicate(const core::Op& op, Communicator& communicator,
                                   std::function<Result<Transfer>()> call) {
    // The calls of a communicator run in the order of issue, whatever their streams.
    waitForOthers(m_running, true);
    if (const auto last = m_lastCall.find(&communicator); last != m_lastCall.end())
        m_device.wait(op.stream, last->second);
    Transfer& transfer = m_transfers[m_running.index() - m_class.opBegin];
    SHARDSCOPE_TRY(m_device.enqueue(op.stream, [&transfer, call = std::move(call)]() -> Result<void> {
        SHARDSCOPE_ASSIGN(transfer, call());
        return {};
    }));
    m_lastCall[&communicator] = m_device.record(op.stream);
    return {};
}

Result<void> Executor::execute(const core::Op& op) {
    UnitMemory* unit = op.unit.valid() ? &m_units[op.unit.index()] : nullptr;
    const auto withUnit = [&](Result<void> (Executor::*run)(const core::Op&, UnitMemory&)) -> Result<void> {
        if (unit == nullptr || unit->unit == nullptr) return refuse("names no unit of this rank");
        return (this->*run)(op, *unit);
    };
    switch (op.kind) {
        case OpKind::Compute: return compute(op);
        case OpKind::GatherCopyIn: return withUnit(&Executor::gatherCopyIn);
        case OpKind::AllGather: return withUnit(&Executor::allGather);
        case OpKind::CopyOut:
        case OpKind::CastParameters: return withUnit(&Executor::copyOut);
        case OpKind::KeepSlice: return withUnit(&Executor::keepSlice);
        case OpKind::ReduceCopyIn: return withUnit(&Executor::reduceCopyIn);
        case OpKind::PreDivide: return withUnit(&Executor::preDivide);
        case OpKind::ReduceScatter: return withUnit(&Executor::reduceScatter);
        case OpKind::PostDivide: return withUnit(&Executor::postDivide);
        case OpKind::AddPartial: return withUnit(&Executor::addPartial);
        case OpKind::KeepGradients: return withUnit(&Executor::keepGradients);
        case OpKind::ReduceCopyOut: return withUnit(&Executor::reduceCopyOut);
        case OpKind::Send:
        case OpKind::Receive:
            if (op.phase == core::Phase::Optimizer) return passNorm(op);
            return op.kind == OpKind::Send ? send(op) : receive(op);
        case OpKind::AddGradient: return addGradient(op);
        case OpKind::OptimizerStep: return optimizerStep(op);
        case OpKind::BucketCopyIn: return withUnit(&Executor::bucketCopyIn);
        case OpKind::AllReduce: return op.unit.valid() ? withUnit(&Executor::allReduce) : sumNorm(op);
        case OpKind::BucketCopyOut: return withUnit(&Executor::bucketCopyOut);
        case OpKind::CopyToDevice: return withUnit(&Executor::copyToDevice);
        case OpKind::CopyToHost: return withUnit(&Executor::copyToHost);
        case OpKind::GradientNorm: return gradientNorm(op);
        case OpKind::ScaleGradients: return scaleGradients(op);
    }
    return refuse("is of an unknown kind");
}

Communicator* Executor::communicatorOf(const core::Op& op) const {
    return op.group.valid() ? m_communicatorOfGroup[op.group.index()] : nullptr;
}

CallLabel Executor::labelFor(const core::Op& op, const char* operation, std::int64_t bytes) const {
    std::string unit;
    if (op.unit.valid()) unit = m_graph.units[op.unit.index()].name;
    if (op.boundary.valid()) unit = m_model.layers[op.boundary.index()].name;
    return {operation, std::move(unit), op.microBatch, bytes, op.dtype};
}

tl::unexpected<core::Error> Executor::refuse(const std::string& why) const {
    return core::fail(core::ErrorCode::Input, fmt::format("{} {}", core::labelOf(m_graph, m_model, m_running), why),
                      fmt::format("op {} of {}, micro-batch {}", m_running.index(), m_class.name,
                                  m_graph.ops[m_running.index()].microBatch));
}

}  // namespace shardscope::runtime
