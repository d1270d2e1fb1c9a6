#include "core/graph/pass_script.h"

#include <algorithm>
#include <cassert>

#include "core/graph/activation_plan.h"
#include "core/graph/gradient_order.h"

namespace shardscope::core {

namespace {

constexpr std::uint32_t kNever = 0xffffffffu;

// Positions in the sequence of all kernels of the stage's forward (or backward) pass, half open.
struct Extent {
    std::uint32_t begin = kNever, end = 0;
    [[nodiscard]] bool empty() const { return begin >= end; }
    void add(std::uint32_t from, std::uint32_t to) {
        begin = std::min(begin, from);
        end = std::max(end, to);
    }
};

// A module whose begin and end the passes take note of.
struct Watched {
    ModuleId module;
    std::uint32_t depth = 0;
    int unit = -1;  // local index, -1: only marked
    bool firstOfUnit = false, lastOfUnit = false;
    bool identity = false;  // the unit's post-backward hangs on this module's input (framework semantics 1.5)
    bool inputGradient = false;
    Extent forward, backward;
};

// Kernel positions of each module of a program, in its own lists.
struct ProgramExtents {
    std::vector<Extent> forward, backward;
};

ProgramExtents extentsOf(const Program& program) {
    ProgramExtents extents;
    extents.forward.resize(program.modules.size());
    extents.backward.resize(program.modules.size());
    for (std::uint32_t k = 0; k < program.forward.size(); ++k) extents.forward[program.forward[k].module].add(k, k + 1);
    for (std::uint32_t k = 0; k < program.backward.size(); ++k)
        extents.backward[program.backward[k].module].add(k, k + 1);
    return extents;
}

class ScriptMaker {
public:
    ScriptMaker(const Model& model, const Stage& stage, std::span<const Unit> units, UnitId firstUnit,
                const RecomputeTable& recompute)
        : m_model(model), m_stage(stage), m_units(units), m_firstUnit(firstUnit), m_recompute(recompute) {}

    PassScript make(const Plan& plan) {
        locateKernels();
        watchModules();
        makeForward();
        makeBackward();
        makeLoss();
        orderUnits();
        if (plan.evaluation) {
            m_script.forwardOnly = true;
            m_script.lossBackward.clear();
            m_script.backward.clear();
        }
        m_unitOf.assign(m_model.parameters.size(), -1);
        m_inOriginalDtype.assign(m_model.parameters.size(), false);
        for (std::size_t u = 0; u < m_units.size(); ++u)
            for (std::size_t i = 0; i < m_units[u].parameters.size(); ++i) {
                const std::size_t p = m_units[u].parameters[i].index();
                m_unitOf[p] = static_cast<int>(u);
                m_inOriginalDtype[p] = !m_units[u].inOriginalDtype.empty() && m_units[u].inOriginalDtype[i];
            }
        cutAndTouch(findCuts(plan));
        return std::move(m_script);
    }

private:
    [[nodiscard]] const Layer& layer(std::size_t l) const { return m_model.layers[l]; }
    [[nodiscard]] UnitId idOf(int unit) const { return UnitId(m_firstUnit.index() + static_cast<std::size_t>(unit)); }

    void locateKernels() {
        m_begin = m_stage.begin.index();
        m_end = m_stage.end.index();
        if (layer(m_end - 1).kind == LayerKind::Loss) --m_end;
        m_forward.resize(m_model.modules.size());
        m_backward.resize(m_model.modules.size());
        std::vector<ProgramExtents> cache(m_model.programs.size());
        std::uint32_t forward = 0, backward = 0;
        for (std::size_t l = m_begin; l < m_end; ++l) {
            m_forwardBase.push_back(forward);
            forward += static_cast<std::uint32_t>(m_model.programOf(layer(l)).forward.size());
        }
        m_forwardBase.push_back(forward);
        m_backwardBase.assign(m_end - m_begin + 1, 0);
        for (std::size_t l = m_end; l-- > m_begin;) {
            m_backwardBase[l - m_begin] = backward;
            backward += static_cast<std::uint32_t>(m_model.programOf(layer(l)).backward.size());
        }
        m_backwardCount = backward;
        for (std::size_t l = m_begin; l < m_end; ++l) {
            ProgramExtents& extents = cache[layer(l).program.index()];
            if (extents.forward.empty()) extents = extentsOf(m_model.programOf(layer(l)));
            for (std::size_t p = 0; p < extents.forward.size(); ++p) {
                const Extent f = extents.forward[p], b = extents.backward[p];
                for (ModuleId m = layer(l).modules[p]; m.valid(); m = m_model.modules[m.index()].parent) {
                    if (!f.empty())
                        m_forward[m.index()].add(m_forwardBase[l - m_begin] + f.begin,
                                                 m_forwardBase[l - m_begin] + f.end);
                    if (!b.empty())
                        m_backward[m.index()].add(m_backwardBase[l - m_begin] + b.begin,
                                                  m_backwardBase[l - m_begin] + b.end);
                }
            }
        }
        m_makers = gradientMakers(m_model, m_stage.begin, LayerId(m_end));
        m_forward[0] = {0, m_forwardBase.back()};
        m_backward[0] = {0, m_backwardCount};
    }

    void watch(ModuleId module, int unit) {
        m_watchIndex[module.index()] = static_cast<int>(m_watched.size());
        Watched watched;
        watched.module = module;
        for (ModuleId m = m_model.modules[module.index()].parent; m.valid(); m = m_model.modules[m.index()].parent)
            ++watched.depth;
        watched.unit = unit;
        watched.forward = m_forward[module.index()];
        watched.backward = m_backward[module.index()];
        m_watched.push_back(watched);
    }

    void watchModules() {
        m_watchIndex.assign(m_model.modules.size(), -1);
        for (std::size_t u = 0; u < m_units.size(); ++u) {
            if (m_units[u].modules.empty()) continue;
            std::size_t firstOne = m_watched.size();
            for (ModuleId module : m_units[u].modules) watch(module, static_cast<int>(u));
            std::size_t first = firstOne, last = firstOne;
            for (std::size_t w = firstOne; w < m_watched.size(); ++w) {
                if (m_watched[w].forward.begin < m_watched[first].forward.begin) first = w;
                if (m_watched[w].forward.end > m_watched[last].forward.end) last = w;
            }
            m_watched[first].firstOfUnit = true;
            m_watched[last].lastOfUnit = true;
            for (std::size_t w = firstOne; w < m_watched.size(); ++w)
                m_watched[w].inputGradient = inputNeedsGradient(m_watched[w]);
            m_watched[first].identity = m_watched[first].inputGradient && !m_units[u].parameters.empty();
        }
        // Beside the units' modules: the outermost modules that lie within one layer.
        for (std::size_t l = m_begin; l < m_end; ++l)
            for (ModuleId module : layer(l).modules) {
                ModuleId top;
                for (ModuleId m = module; m.valid() && m.index() != 0; m = m_model.modules[m.index()].parent) {
                    const Extent e = m_forward[m.index()];
                    if (e.empty() || e.begin < m_forwardBase[l - m_begin] || e.end > m_forwardBase[l - m_begin + 1])
                        break;
                    top = m;
                }
                if (top.valid() && m_watchIndex[top.index()] < 0) watch(top, -1);
            }
    }

    // Data (ids, images, labels) and integers made beside it (positions) need no gradient; whatever else comes in from
    // outside the module does.
    [[nodiscard]] bool inputNeedsGradient(const Watched& watched) const {
        if (!m_stage.first() || watched.forward.empty()) return !watched.forward.empty();
        if (watched.forward.begin >= m_forwardBase[1]) return true;
        const Program& program = m_model.programOf(layer(m_begin));
        std::vector<bool> made(program.tensors.size(), false);
        const auto ownerOf = [&](TensorId t) {
            return program.tensor(t).storage.valid() ? program.tensor(t).storage : t;
        };
        const std::uint32_t end = std::min(watched.forward.end, m_forwardBase[1]);
        for (std::uint32_t k = watched.forward.begin; k < end; ++k) {
            for (TensorId input : program.forward[k].inputs) {
                const TensorId owner = ownerOf(input);
                const TensorRole role = program.tensor(owner).role;
                if (!made[owner.index()] && role != TensorRole::Batch && role != TensorRole::Parameter &&
                    role != TensorRole::Shared && isFloat(program.tensor(owner).dtype))
                    return true;
            }
            for (TensorId output : program.forward[k].outputs) made[ownerOf(output).index()] = true;
        }
        return false;
    }

    static std::uint32_t floorCut(const std::vector<std::uint32_t>& cuts, std::uint32_t p) {
        return *(std::upper_bound(cuts.begin(), cuts.end(), p) - 1);
    }
    static std::uint32_t ceilCut(const std::vector<std::uint32_t>& cuts, std::uint32_t p) {
        return *std::lower_bound(cuts.begin(), cuts.end(), p);
    }

    // Layers begin and end ops, and so does every module at which a unit acts.
    std::vector<std::uint32_t> cutsOf(Extent Watched::*pass, std::vector<std::uint32_t> cuts) const {
        for (const Watched& w : m_watched)
            if (w.unit >= 0 && !(w.*pass).empty()) {
                cuts.push_back((w.*pass).begin);
                cuts.push_back((w.*pass).end);
            }
        std::sort(cuts.begin(), cuts.end());
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        return cuts;
    }

    static void push(std::vector<PassStep>& steps, PassStep::Kind kind, ModuleId module, UnitId unit,
                     bool first = false) {
        PassStep step;
        step.kind = kind;
        step.module = module;
        step.unit = unit;
        step.first = first;
        steps.push_back(step);
    }

    void makeForward() {
        const std::vector<std::uint32_t> cuts = cutsOf(&Watched::forward, m_forwardBase);
        std::vector<const Watched*> enters, leaves;
        for (const Watched& w : m_watched)
            if (!w.forward.empty()) enters.push_back(&w);
        leaves = enters;
        std::stable_sort(enters.begin(), enters.end(), [](const Watched* a, const Watched* b) {
            return a->forward.begin != b->forward.begin ? a->forward.begin < b->forward.begin : a->depth < b->depth;
        });
        std::stable_sort(leaves.begin(), leaves.end(), [](const Watched* a, const Watched* b) {
            return a->forward.end != b->forward.end ? a->forward.end < b->forward.end : a->depth > b->depth;
        });
        std::size_t enter = 0, leave = 0, l = m_begin;
        std::vector<PassStep>& steps = m_script.forward;
        for (std::size_t c = 0; c < cuts.size(); ++c) {
            for (; leave < leaves.size() && ceilCut(cuts, leaves[leave]->forward.end) <= cuts[c]; ++leave) {
                const Watched& w = *leaves[leave];
                push(steps, PassStep::Kind::ForwardEnd, w.module, {});
                if (w.unit >= 0 && w.lastOfUnit) push(steps, PassStep::Kind::LeaveUnit, w.module, idOf(w.unit));
            }
            for (; enter < enters.size() && floorCut(cuts, enters[enter]->forward.begin) <= cuts[c]; ++enter) {
                const Watched& w = *enters[enter];
                if (w.unit >= 0) push(steps, PassStep::Kind::EnterUnit, w.module, idOf(w.unit), w.firstOfUnit);
                if (w.unit >= 0 && w.firstOfUnit) m_script.forwardOrder.push_back(idOf(w.unit));
                push(steps, PassStep::Kind::ForwardBegin, w.module, {});
            }
            if (c + 1 == cuts.size()) break;
            while (m_forwardBase[l - m_begin + 1] <= cuts[c]) ++l;
            pushKernels(steps, l, cuts[c] - m_forwardBase[l - m_begin], cuts[c + 1] - cuts[c], false);
        }
    }

    // A bucket can be reduced as soon as its last gradient is there.
    void cutAtBuckets(std::vector<std::uint32_t>& cuts) const {
        for (const Unit& unit : m_units) {
            if (!unit.modules.empty()) continue;
            std::uint32_t end = 0;
            for (const ParameterId p : unit.parameters)
                if (const GradientMaker& maker = m_makers[p.index()]; maker.layer.valid())
                    end = std::max(end, m_backwardBase[maker.layer.index() - m_begin] + maker.kernel + 1);
            cuts.push_back(end);
        }
    }

    void makeBackward() {
        std::vector<std::uint32_t> bases = m_backwardBase;
        bases.back() = m_backwardCount;
        cutAtBuckets(bases);
        for (std::size_t l = m_begin; l < m_end; ++l)
            if (const Recompute& recompute = m_recompute.of(LayerId(l)); !recompute.empty())
                bases.push_back(m_backwardBase[l - m_begin] + recompute.trigger);
        const std::vector<std::uint32_t> cuts = cutsOf(&Watched::backward, bases);
        std::vector<const Watched*> begins, ends;
        for (const Watched& w : m_watched) {
            if (w.backward.empty()) continue;
            begins.push_back(&w);
            if (w.unit >= 0 && w.inputGradient) ends.push_back(&w);
        }
        std::stable_sort(begins.begin(), begins.end(), [](const Watched* a, const Watched* b) {
            return a->backward.begin != b->backward.begin ? a->backward.begin < b->backward.begin : a->depth < b->depth;
        });
        std::stable_sort(ends.begin(), ends.end(), [](const Watched* a, const Watched* b) {
            return a->backward.end != b->backward.end ? a->backward.end < b->backward.end : a->depth > b->depth;
        });
        std::size_t begin = 0, end = 0, l = m_end - 1;
        std::vector<PassStep>& steps = m_script.backward;
        std::vector<ModuleId> deferred;
        for (std::size_t c = 0; c < cuts.size(); ++c) {
            for (; end < ends.size() && ends[end]->backward.end <= cuts[c]; ++end) {
                const Watched& w = *ends[end];
                // Without a node of its unit on the input, the module shares the tensor with whoever made it, whose
                // hooks were registered before.
                if (!w.identity) {
                    if (!isRoot(w)) deferred.push_back(w.module);
                    continue;
                }
                if (!isRoot(w)) push(steps, PassStep::Kind::BackwardEnd, w.module, {});
                push(steps, PassStep::Kind::PostBackward, w.module, idOf(w.unit));
            }
            while (begin < begins.size() && floorCut(cuts, begins[begin]->backward.begin) <= cuts[c]) {
                // Modules that return one and the same tensor, outer ones first: their hooks fire inner ones first,
                // all pre-backward hooks before the tensor is used.
                std::size_t chain = begin + 1;
                while (chain < begins.size() && begins[chain]->backward.begin == begins[begin]->backward.begin &&
                       begins[chain]->forward.end == begins[chain - 1]->forward.end &&
                       begins[chain]->depth > begins[chain - 1]->depth)
                    ++chain;
                for (std::size_t i = chain; i-- > begin;)
                    if (begins[i]->unit >= 0 && begins[i]->lastOfUnit)
                        push(steps, PassStep::Kind::PreBackward, begins[i]->module, idOf(begins[i]->unit));
                flush(deferred);
                for (std::size_t i = chain; i-- > begin;)
                    push(steps, PassStep::Kind::BackwardBegin, begins[i]->module, {});
                begin = chain;
            }
            flush(deferred);
            if (c + 1 == cuts.size()) break;
            while (m_backwardBase[l - m_begin] + m_model.programOf(layer(l)).backward.size() <= cuts[c]) --l;
            const std::uint32_t first = cuts[c] - m_backwardBase[l - m_begin];
            const Recompute& recompute = m_recompute.of(LayerId(l));
            if (!recompute.empty() && recompute.trigger == first) pushRecompute(l, recompute);
            pushKernels(steps, l, first, cuts[c + 1] - cuts[c], true);
        }
    }

    // The layer's forward kernels again, as far as they are needed, with what its modules and inner units see of it.
    void pushRecompute(std::size_t l, const Recompute& recompute) {
        const std::uint32_t base = m_forwardBase[l - m_begin], end = m_forwardBase[l - m_begin + 1];
        std::vector<const Watched*> inside;
        for (const Watched& w : m_watched)
            if (!isRoot(w) && !w.forward.empty() && w.forward.begin >= base && w.forward.end <= end)
                inside.push_back(&w);
        std::stable_sort(inside.begin(), inside.end(), [](const Watched* a, const Watched* b) {
            return a->forward.begin != b->forward.begin ? a->forward.begin < b->forward.begin : a->depth < b->depth;
        });
        std::vector<PassStep>& steps = m_script.backward;
        std::vector<const Watched*> open;
        std::size_t next = 0;
        std::uint32_t begin = 0;  // of the kernels not pushed yet
        const auto flush = [&](std::uint32_t until) {
            for (std::uint32_t k = begin; k < until;) {
                std::uint32_t last = k;
                while (last < until && recompute.again[last]) ++last;
                if (last > k) {
                    pushKernels(steps, l, k, last - k, false);
                    steps.back().recompute = true;
                }
                k = std::max(last, k + 1);
            }
            begin = until;
        };
        const auto leave = [&](PassStep::Kind kind) {
            const Watched& w = *open.back();
            open.pop_back();
            push(steps, kind, w.module, {});
            if (w.unit >= 0) push(steps, PassStep::Kind::LeaveRecompute, w.module, idOf(w.unit));
        };
        for (std::uint32_t k = 0; k <= recompute.end; ++k) {
            while (!open.empty() && open.back()->forward.end <= base + k) {
                flush(k);
                leave(PassStep::Kind::RecomputeEnd);
            }
            while (next < inside.size() && inside[next]->forward.begin <= base + k && base + k < end) {
                const Watched& w = *inside[next++];
                flush(k);
                if (w.unit >= 0) push(steps, PassStep::Kind::EnterRecompute, w.module, idOf(w.unit));
                push(steps, PassStep::Kind::RecomputeBegin, w.module, {});
                open.push_back(&w);
            }
        }
        flush(recompute.end);
        while (!open.empty()) leave(PassStep::Kind::RecomputeStopped);
    }

    [[nodiscard]] bool isRoot(const Watched& w) const { return w.module.index() == 0; }

    void flush(std::vector<ModuleId>& deferred) {
        for (ModuleId module : deferred) push(m_script.backward, PassStep::Kind::BackwardEnd, module, {});
        deferred.clear();
    }

    void makeLoss() {
        if (m_end == m_stage.end.index()) return;
        const Program& program = m_model.programOf(layer(m_end));
        pushKernels(m_script.loss, m_end, 0, static_cast<std::uint32_t>(program.forward.size()), false);
        // Kernel by kernel: with large vocabularies this is where a step's memory peaks, and what one of them leaves
        // behind is not there yet while the one before runs.
        for (std::uint32_t k = 0; k < program.backward.size(); ++k)
            pushKernels(m_script.lossBackward, m_end, k, 1, true);
    }

    [[nodiscard]] std::vector<KernelCut> findCuts(const Plan& plan) const {
        const auto original = static_cast<double>(sizeOf(plan.precision.original)),
                   compute = static_cast<double>(sizeOf(plan.precision.compute()));
        // Every gradient is there from the second micro-batch on, which is then what the step peaks in.
        const bool there = plan.microBatches > 1;
        GradientSizes sizes;
        if (plan.policy == UnitPolicy::Fsdp) {
            const double share = original / static_cast<double>(plan.mesh.dpShard);
            // Without a reduction after each micro-batch, what a kernel makes is added to what is there at once.
            const bool added = there && plan.gradientSync == GradientSync::LastMicroBatch && !plan.fsdp.flat &&
                               plan.precision.reduction() == plan.precision.compute();
            sizes = {compute, there || plan.fsdp.cpuOffload ? 0 : share, !added};
            return peakCuts(m_model, m_stage, slotsOf(m_script, m_stage), m_recompute, sizes, PeakLimits::OfReduction,
                            firstUnitsLayer());
        }
        // As in WholeRules::beforeCompute: what is made in another dtype than it is kept in lies beside it first. DDP's
        // views drop it for what their bucket holds already.
        const bool ddp = plan.policy == UnitPolicy::Ddp;
        const double type = ddp || m_model.workload.autocast ? original : compute;
        sizes.made = there ? compute : type + (type == compute ? 0 : compute);
        sizes.madeWide = type;
        sizes.kept = there || (ddp && plan.ddp.gradientAsBucketView) ? 0 : type;
        return peakCuts(m_model, m_stage, slotsOf(m_script, m_stage), m_recompute, sizes,
                        plan.mesh.pp > 1 ? PeakLimits::OfStep : PeakLimits::OfPasses);
    }

    // The lowest block of the unit whose backward comes first among the blocks'.
    [[nodiscard]] LayerId firstUnitsLayer() const {
        const auto unitOf = [this](std::size_t l) {
            return layer(l).parameters.empty() ? -1 : m_unitOf[layer(l).parameters.front().index()];
        };
        std::size_t l = m_end;
        while (l > m_begin && layer(l - 1).kind != LayerKind::Block) --l;
        if (l == m_begin) return LayerId(m_begin);
        const int unit = unitOf(--l);
        while (l > m_begin && layer(l - 1).kind == LayerKind::Block && unitOf(l - 1) == unit) --l;
        return LayerId(l);
    }

    // Steps of kernels in the order in which they run, cut in pieces, each with the units that it touches.
    void cutAndTouch(const std::vector<KernelCut>& cuts) {
        for (std::vector<PassStep>* steps :
             {&m_script.forward, &m_script.backward, &m_script.loss, &m_script.lossBackward}) {
            std::vector<PassStep> pieces;
            pieces.reserve(steps->size() + cuts.size());
            for (const PassStep& step : *steps) {
                if (step.kind != PassStep::Kind::Kernels) {
                    pieces.push_back(step);
                    continue;
                }
                PassStep piece = step;
                const std::uint32_t end = step.kernels.first + step.kernels.count;
                for (const KernelCut& cut : cuts) {
                    if (cut.layer != step.kernels.layer || cut.backward != step.kernels.backward ||
                        cut.recompute != step.recompute || cut.kernel <= piece.kernels.first || cut.kernel >= end)
                        continue;
                    piece.kernels.count = cut.kernel - piece.kernels.first;
                    pieces.push_back(touched(piece));
                    piece.kernels.first = cut.kernel;
                }
                piece.kernels.count = end - piece.kernels.first;
                pieces.push_back(touched(piece));
            }
            *steps = std::move(pieces);
        }
    }

    PassStep touched(PassStep step) {
        step.begin = static_cast<std::uint32_t>(m_script.touched.size());
        const std::size_t l = step.kernels.layer.index();
        const Program& program = m_model.programOf(layer(l));
        const std::vector<Kernel>& kernels = step.kernels.backward ? program.backward : program.forward;
        for (std::uint32_t k = step.kernels.first; k < step.kernels.first + step.kernels.count; ++k) {
            for (TensorId t : kernels[k].inputs) touch(step, program, l, t, false);
            for (TensorId t : kernels[k].outputs) touch(step, program, l, t, true, k);
        }
        step.end = static_cast<std::uint32_t>(m_script.touched.size());
        return step;
    }

    void pushKernels(std::vector<PassStep>& steps, std::size_t l, std::uint32_t first, std::uint32_t count,
                     bool backward) {
        if (count == 0) return;
        PassStep step;
        step.kernels = {LayerId(l), first, count, backward};
        steps.push_back(step);
    }

    void touch(const PassStep& step, const Program& program, std::size_t l, TensorId t, bool written,
               std::uint32_t kernel = 0) {
        const Tensor* tensor = &program.tensor(t);
        if (tensor->storage.valid()) tensor = &program.tensor(tensor->storage);
        const bool gradient = tensor->role == TensorRole::ParameterGradient;
        if (!gradient && tensor->role != TensorRole::Parameter) return;
        const ParameterId p = layer(l).parameters[tensor->slot];
        const int unit = m_unitOf[p.index()];
        const UnitId id = unit < 0 ? UnitId() : idOf(unit);
        TouchedUnit* found = nullptr;
        for (std::size_t i = step.begin; i < m_script.touched.size(); ++i)
            if (m_script.touched[i].unit == id) found = &m_script.touched[i];
        if (found == nullptr) {
            m_script.touched.push_back({});
            found = &m_script.touched.back();
            found->unit = id;
        }
        found->reads |= !gradient;
        if (!gradient || !written) return;
        const std::int64_t elements = elementsOf(m_model.parameters[p.index()].shape);
        const GradientMaker& maker = m_makers[p.index()];
        if (maker.layer == LayerId(l) && maker.kernel == kernel) {
            found->finishedElements += elements;
            ++found->finished;
        }
        if (m_gradientLayer.empty()) m_gradientLayer.assign(m_model.parameters.size(), kNever);
        std::uint32_t& madeBy = m_gradientLayer[p.index()];
        if (madeBy == l) return;  // added to in place
        (madeBy == kNever ? found->gradientElements : found->repeatedElements) += elements;
        if (m_inOriginalDtype[p.index()] || (m_model.workload.autocast && tensor->dtype != m_model.workload.dtype))
            (madeBy == kNever ? found->gradientOriginal : found->repeatedOriginal) += elements;
        madeBy = static_cast<std::uint32_t>(l);
    }

    void orderUnits() {
        // Pre-order over the tree; a unit of several modules stands where its first one does.
        std::vector<bool> seen(m_units.size(), false);
        std::vector<ModuleId> stack{ModuleId(0)};
        while (!stack.empty()) {
            const ModuleId module = stack.back();
            stack.pop_back();
            const int watched = m_watchIndex[module.index()];
            const int unit = watched < 0 ? -1 : m_watched[static_cast<std::size_t>(watched)].unit;
            if (unit >= 0 && !seen[static_cast<std::size_t>(unit)]) {
                seen[static_cast<std::size_t>(unit)] = true;
                m_script.moduleOrder.push_back(idOf(unit));
            }
            const auto& children = m_model.modules[module.index()].children;
            stack.insert(stack.end(), children.rbegin(), children.rend());
        }
    }

    const Model& m_model;
    const Stage& m_stage;
    std::span<const Unit> m_units;
    UnitId m_firstUnit;
    const RecomputeTable& m_recompute;
    PassScript m_script;
    std::size_t m_begin = 0, m_end = 0;  // layers without the loss
    std::vector<std::uint32_t> m_forwardBase, m_backwardBase;
    std::uint32_t m_backwardCount = 0;
    std::vector<Extent> m_forward, m_backward;  // by module
    std::vector<Watched> m_watched;
    std::vector<int> m_watchIndex;
    std::vector<int> m_unitOf;
    std::vector<bool> m_inOriginalDtype;  // by parameter
    std::vector<std::uint32_t> m_gradientLayer;
    std::vector<GradientMaker> m_makers;
};

}  // namespace

PassScript makePassScript(const Model& model, const Stage& stage, std::span<const Unit> units, UnitId firstUnit,
                          const RecomputeTable& recompute, const Plan& plan) {
    return ScriptMaker(model, stage, units, firstUnit, recompute).make(plan);
}

}  // namespace shardscope::core
