#include "core/graph/activation_plan.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/graph/autograd_node.h"

namespace shardscope::core {

namespace {

constexpr std::uint32_t kUntouched = 0xffffffffu;

struct Life {
    std::uint32_t firstSlot = kUntouched, lastSlot = 0;
    std::uint32_t firstKernel = 0, lastKernel = 0;  // counted over all slots
};

class Planner {
public:
    Planner(const Model& model, const Stage& stage, std::span<const PassSlot> slots, const RecomputeTable& recompute)
        : m_model(model), m_stage(stage), m_slots(slots), m_recompute(recompute) {}

    ActivationPlan plan() {
        mapStorages();
        walk();
        collect();
        return std::move(m_plan);
    }

    std::vector<KernelCut> cuts(const GradientSizes& gradients, PeakLimits limits, LayerId apart) {
        mapStorages();
        walk();
        return findCuts(gradients, limits, apart);
    }

private:
    [[nodiscard]] const Program& programAt(std::size_t l) const { return m_model.programOf(m_model.layers[l]); }

    // One number for every tensor of the stage's layers: that of the storage it lies in. kUntouched: parameters and
    // their gradients, which the unit policy keeps.
    void mapStorages() {
        std::uint32_t next = 0;
        std::map<std::string_view, std::uint32_t> shared;
        for (std::size_t l = m_stage.begin.index(); l < m_stage.end.index(); ++l) {
            m_base.push_back(next);
            next += static_cast<std::uint32_t>(programAt(l).tensors.size());
        }
        m_storageOf.resize(next);
        m_refs.resize(next);
        for (std::size_t l = m_stage.begin.index(); l < m_stage.end.index(); ++l) {
            const Program& program = programAt(l);
            const std::uint32_t base = m_base[l - m_stage.begin.index()];
            for (std::uint32_t t = 0; t < program.tensors.size(); ++t) {
                const TensorId owner = program.tensors[t].storage.valid() ? program.tensors[t].storage : TensorId(t);
                const Tensor& tensor = program.tensor(owner);
                std::uint32_t& number = m_storageOf[base + t];
                number = base + owner.value;
                m_refs[base + t] = {LayerId(l), TensorId(t)};
                switch (tensor.role) {
                    case TensorRole::Parameter:
                    case TensorRole::ParameterGradient: number = kUntouched; break;
                    case TensorRole::Shared: number = shared.emplace(tensor.name, number).first->second; break;
                    case TensorRole::Input:
                    case TensorRole::OutputGradient: {
                        const StorageRef ref = resolveStorage(m_model, m_stage.begin, m_stage.end, LayerId(l), owner);
                        number = m_base[ref.layer.index() - m_stage.begin.index()] + ref.tensor.value;
                        break;
                    }
                    default: break;
                }
            }
        }
        m_lives.resize(2 * std::size_t{next});  // what is made again in backward lives apart
    }

    void touch(std::uint32_t storage, std::uint32_t slot) {
        if (storage == kUntouched) return;
        Life& life = m_lives[storage];
        if (life.firstSlot == kUntouched) {
            life.firstSlot = slot;
            life.firstKernel = m_kernel;
        }
        life.lastSlot = slot;
        life.lastKernel = m_kernel;
    }

    // The tensor of that role in a layer at the stage's border, or none.
    void touchBorder(std::size_t l, TensorRole role, std::uint32_t slot) {
        const TensorId tensor = findRole(programAt(l), role);
        if (tensor.valid()) touch(m_storageOf[m_base[l - m_stage.begin.index()] + tensor.value], slot);
    }

    // The storage of a tensor that a kernel of this slot touches.
    [[nodiscard]] std::uint32_t storageIn(const PassSlot& slot, std::uint32_t base, TensorId tensor) const {
        const std::uint32_t storage = m_storageOf[base + tensor.value];
        if (storage == kUntouched || !(slot.kernels.backward || slot.recompute)) return storage;
        const Recompute& recompute = m_recompute.of(slot.kernels.layer);
        const bool own = storage >= base && storage - base < recompute.madeAgain.size();
        if (!own || !recompute.madeAgain[storage - base]) return storage;
        return storage + static_cast<std::uint32_t>(m_storageOf.size());
    }

    // What selective checkpointing keeps is looked up when the recomputation comes by.
    void touchKept(const PassSlot& slot, std::uint32_t base, std::uint32_t s) {
        const Recompute& recompute = m_recompute.of(slot.kernels.layer);
        const auto& kernels = programAt(slot.kernels.layer.index()).forward;
        for (std::size_t k = 0; k < recompute.end; ++k)
            if (!recompute.again[k])
                for (TensorId t : kernels[k].outputs) touch(m_storageOf[base + t.value], s);
    }

    // What Python's frames hold beside autograd: the caller of a module has its input until the module returns. That
    // matters where a module spans several layers (an encoder, whose input is otherwise gone after its first kernel).
    void findHeld() {
        const std::size_t first = m_stage.begin.index(), end = m_stage.end.index();
        m_held.resize(end - first);
        std::vector<std::size_t> lastLayer(m_model.modules.size(), 0), firstLayer(m_model.modules.size(), end);
        const auto eachModuleOf = [&](ModuleId id, const auto& visit) {
            for (; id.valid() && id.index() != 0; id = m_model.modules[id.index()].parent) visit(id.index());
        };
        for (std::size_t l = first; l < end; ++l)
            for (const ModuleId id : m_model.layers[l].modules)
                eachModuleOf(id, [&](std::size_t m) {
                    firstLayer[m] = std::min(firstLayer[m], l);
                    lastLayer[m] = std::max(lastLayer[m], l);
                });
        for (std::size_t m = 1; m < m_model.modules.size(); ++m) {
            if (firstLayer[m] >= lastLayer[m] || m_model.modules[m].type == "ModuleList") continue;
            const Layer& layer = m_model.layers[firstLayer[m]];
            const Program& program = m_model.programOf(layer);
            const std::uint32_t base = m_base[firstLayer[m] - first];
            std::vector<char> inside(program.modules.size(), 0), madeInside(program.tensors.size(), 0);
            for (std::size_t p = 0; p < inside.size(); ++p)
                eachModuleOf(layer.modules[p], [&](std::size_t of) { inside[p] |= of == m ? 1 : 0; });
            for (const Kernel& kernel : program.forward) {
                if (inside[kernel.module] == 0) continue;
                for (const TensorId t : kernel.inputs) {
                    const Tensor& seen = program.tensor(t);
                    const TensorId owner = seen.storage.valid() ? seen.storage : t;
                    const TensorRole role = program.tensor(owner).role;
                    if (madeInside[owner.index()] == 0 &&
                        (role == TensorRole::Intermediate || role == TensorRole::Input))
                        m_held[lastLayer[m] - first].push_back(m_storageOf[base + t.value]);
                }
                for (const TensorId t : kernel.outputs) {
                    const Tensor& seen = program.tensor(t);
                    madeInside[(seen.storage.valid() ? seen.storage : t).index()] = 1;
                }
            }
        }
    }

    // At the end of a layer's forward pass: its input, inputs of modules that end here, the variables of a loss.
    void touchHeld(std::size_t l, std::uint32_t s) {
        touchBorder(l, TensorRole::Input, s);
        if (m_model.layers[l].kind == LayerKind::Loss)
            for (const Kernel& kernel : programAt(l).forward)
                for (const TensorId t : kernel.outputs)
                    touch(m_storageOf[m_base[l - m_stage.begin.index()] + t.value], s);
        for (const std::uint32_t storage : m_held[l - m_stage.begin.index()]) touch(storage, s);
    }

    void walk() {
        findHeld();
        const std::size_t first = m_stage.begin.index(), last = m_stage.end.index() - 1;
        for (std::uint32_t s = 0; s < m_slots.size(); ++s) {
            m_firstKernelOf.push_back(m_kernel);
            const PassSlot& slot = m_slots[s];
            switch (slot.kind) {
                case PassSlot::Kind::ReceiveInput: touchBorder(first, TensorRole::Input, s); break;
                case PassSlot::Kind::SendOutput: touchBorder(last, TensorRole::Output, s); break;
                case PassSlot::Kind::ReceiveGradient: touchBorder(last, TensorRole::OutputGradient, s); break;
                case PassSlot::Kind::SendGradient: touchBorder(first, TensorRole::InputGradient, s); break;
                case PassSlot::Kind::Kernels: {
                    const Program& program = programAt(slot.kernels.layer.index());
                    const std::uint32_t base = m_base[slot.kernels.layer.index() - first];
                    const auto& kernels = slot.kernels.backward ? program.backward : program.forward;
                    for (std::uint32_t k = slot.kernels.first; k < slot.kernels.first + slot.kernels.count; ++k) {
                        if (slot.recompute && k == slot.kernels.first) touchKept(slot, base, s);
                        for (std::uint32_t of = beginOfNodeEndingAt(kernels, k); of <= k; ++of) {
                            for (TensorId t : kernels[of].inputs) touch(storageIn(slot, base, t), s);
                            for (TensorId t : kernels[of].outputs) touch(storageIn(slot, base, t), s);
                        }
                        if (!slot.kernels.backward && !slot.recompute && k + 1 == kernels.size())
                            touchHeld(slot.kernels.layer.index(), s);
                        ++m_kernel;
                    }
                    break;
                }
            }
        }
        m_firstKernelOf.push_back(m_kernel);
        if (!m_stage.first()) message(first, TensorRole::Input, m_plan.input, m_plan.inputType);
        if (!m_stage.last()) message(last, TensorRole::Output, m_plan.output, m_plan.outputType);
    }

    void message(std::size_t l, TensorRole role, Bytes& bytes, DType& type) const {
        const TensorId tensor = findRole(programAt(l), role);
        if (!tensor.valid()) return;
        bytes = programAt(l).tensor(tensor).bytes();
        type = programAt(l).tensor(tensor).dtype;
    }

    [[nodiscard]] StorageRef refOf(std::uint32_t storage) const {
        const bool again = storage >= m_refs.size();
        StorageRef ref = m_refs[again ? storage - m_refs.size() : storage];
        ref.again = again;
        return ref;
    }

    [[nodiscard]] Bytes bytesOf(std::uint32_t storage) const {
        const StorageRef ref = refOf(storage);
        return programAt(ref.layer.index()).tensor(ref.tensor).bytes();
    }

    void collect() {
        std::vector<std::uint32_t> lasting;
        // Inside an op: what appears at a kernel, and what is gone after it.
        std::vector<std::int64_t> made(m_kernel + 1, 0), gone(m_kernel + 1, 0);
        for (std::uint32_t i = 0; i < m_lives.size(); ++i) {
            const Life& life = m_lives[i];
            if (life.firstSlot == kUntouched) continue;
            if (life.firstSlot != life.lastSlot) {
                lasting.push_back(i);
                continue;
            }
            made[life.firstKernel] += bytesOf(i).value;
            gone[life.lastKernel] += bytesOf(i).value;
        }
        for (std::size_t s = 0; s < m_slots.size(); ++s) {
            std::int64_t live = 0, peak = 0;
            for (std::uint32_t k = m_firstKernelOf[s]; k < m_firstKernelOf[s + 1]; ++k) {
                live += made[k];
                peak = std::max(peak, live);
                live -= gone[k];
            }
            m_plan.workspace.push_back({peak});
        }
        std::sort(lasting.begin(), lasting.end(), [&](std::uint32_t a, std::uint32_t b) {
            const Life &x = m_lives[a], &y = m_lives[b];
            if (x.firstSlot != y.firstSlot) return x.firstSlot < y.firstSlot;
            return x.lastSlot != y.lastSlot ? x.lastSlot < y.lastSlot : a < b;
        });
        for (std::uint32_t i : lasting) {
            const Life& life = m_lives[i];
            if (m_plan.pieces.empty() || m_plan.pieces.back().firstSlot != life.firstSlot ||
                m_plan.pieces.back().lastSlot != life.lastSlot) {
                const auto begin = static_cast<std::uint32_t>(m_plan.storages.size());
                m_plan.pieces.push_back({life.firstSlot, life.lastSlot, refOf(i).layer, {0}, begin, begin});
            }
            m_plan.pieces.back().bytes += bytesOf(i);
            m_plan.pieces.back().end = static_cast<std::uint32_t>(m_plan.storages.size()) + 1;
            m_plan.storages.push_back(refOf(i));
        }
    }

    // Bytes of gradients that are there while a kernel runs, by kernel. `made`: those that it makes.
    std::vector<std::int64_t> gradientsBy(const GradientSizes& sizes, std::vector<std::int64_t>& made) const {
        const auto bytes = [](std::int64_t elements, double size) {
            return static_cast<std::int64_t>(static_cast<double>(elements) * size);
        };
        std::vector<std::int64_t> live(m_kernel, 0);
        made.assign(m_kernel, 0);
        std::vector<std::size_t> madeBy(m_model.parameters.size(), m_model.layers.size());
        std::int64_t kept = 0, goes = 0;
        for (std::size_t s = 0; s < m_slots.size(); ++s) {
            const KernelRange& range = m_slots[s].kernels;
            const bool backward = m_slots[s].kind == PassSlot::Kind::Kernels && range.backward;
            const std::uint32_t begin = m_firstKernelOf[s], end = m_firstKernelOf[s + 1];
            for (std::uint32_t k = begin; k < end; ++k) {
                std::int64_t elements = 0, again = 0, wide = 0;
                if (backward) {
                    const Layer& layer = m_model.layers[range.layer.index()];
                    const Program& program = m_model.programOf(layer);
                    for (const TensorId t : program.backward[range.first + (k - begin)].outputs) {
                        const Tensor& seen = program.tensor(t);
                        const Tensor& owner = program.tensor(seen.storage.valid() ? seen.storage : t);
                        if (owner.role != TensorRole::ParameterGradient) continue;
                        std::size_t& by = madeBy[layer.parameters[owner.slot].index()];
                        if (by == range.layer.index()) continue;
                        (by == m_model.layers.size() ? elements : again) += elementsOf(owner.shape);
                        if (m_model.workload.autocast && owner.dtype != m_model.workload.dtype)
                            wide += elementsOf(owner.shape);
                        by = range.layer.index();
                    }
                }
                made[k] = bytes(elements + again - wide, sizes.made) + bytes(wide, sizes.madeWide);
                live[k] = kept + goes + made[k];
                kept += bytes(elements, sizes.kept);
                if (sizes.ofLayer) goes += made[k] - bytes(elements, sizes.kept);
            }
            if (s + 1 == m_slots.size() || m_slots[s + 1].kernels.layer != range.layer) goes = 0;
        }
        return live;
    }

    std::vector<KernelCut> findCuts(const GradientSizes& sizes, PeakLimits limits, LayerId apart) const {
        // What lives, as intervals by the kernel that makes it, and the sum kernel by kernel. Messages count with the
        // ops around them.
        std::vector<const Life*> lives;
        std::vector<std::int64_t> live(m_kernel + 1, 0), bytes;
        std::vector<std::uint32_t> bornAt(m_kernel + 2, 0);
        for (const Life& life : m_lives)
            if (life.firstSlot != kUntouched && life.firstKernel < m_kernel) ++bornAt[life.firstKernel + 1];
        for (std::size_t k = 0; k + 1 < bornAt.size(); ++k) bornAt[k + 1] += bornAt[k];
        std::vector<std::uint32_t> next(bornAt.begin(), bornAt.end() - 1);
        lives.resize(bornAt.back());
        bytes.resize(bornAt.back());
        for (std::uint32_t i = 0; i < m_lives.size(); ++i) {
            const Life& life = m_lives[i];
            if (life.firstSlot == kUntouched || life.firstKernel >= m_kernel) continue;
            const std::uint32_t place = next[life.firstKernel]++;
            lives[place] = &life;
            bytes[place] = bytesOf(i).value;
            live[life.firstKernel] += bytes[place];
            live[std::min(life.lastKernel, m_kernel - 1) + 1] -= bytes[place];
        }
        for (std::size_t k = 1; k < live.size(); ++k) live[k] += live[k - 1];
        std::vector<std::int64_t> made;
        const std::vector<std::int64_t> gradients = gradientsBy(sizes, made);

        // Each with a limit of its own: forward, backward (down to the layer `apart`), and below it.
        enum Part : std::uint8_t { Forward, Backward, Below };
        std::vector<Part> partOf(m_slots.size(), Forward);
        std::int64_t most[3] = {0, 0, 0};
        Part part = Forward;
        for (std::size_t s = 0; s < m_slots.size(); ++s) {
            const PassSlot& slot = m_slots[s];
            if (slot.kind == PassSlot::Kind::Kernels && limits != PeakLimits::OfStep) {
                if (slot.kernels.backward && part == Forward) part = Backward;
                if (limits == PeakLimits::OfReduction && part == Backward && slot.kernels.layer < apart) part = Below;
            }
            partOf[s] = part;
            for (std::uint32_t k = m_firstKernelOf[s]; k < m_firstKernelOf[s + 1]; ++k)
                most[part] = std::max(most[part], live[k] + gradients[k]);
        }

        // What an op of kernels [begin, end) holds at once.
        std::vector<std::int64_t> gone;
        const auto held = [&](std::uint32_t begin, std::uint32_t end) {
            gone.assign(end - begin, 0);
            std::int64_t sum = live[begin] + gradients[begin], inside = 0, peak = 0;
            for (std::uint32_t k = begin + 1; k < end; ++k) sum += made[k];
            for (std::uint32_t k = begin; k < end; ++k) {
                for (std::uint32_t i = bornAt[k]; i < bornAt[k + 1]; ++i) {
                    if (lives[i]->lastKernel < end) {
                        inside += bytes[i];
                        gone[lives[i]->lastKernel - begin] += bytes[i];
                        if (k == begin) sum -= bytes[i];
                    } else if (k > begin) {
                        sum += bytes[i];
                    }
                }
                peak = std::max(peak, inside);
                inside -= gone[k - begin];
            }
            return sum + peak;
        };
        std::vector<KernelCut> cuts;
        for (std::size_t s = 0; s < m_slots.size(); ++s) {
            if (m_slots[s].kind != PassSlot::Kind::Kernels) continue;
            const KernelRange& range = m_slots[s].kernels;
            const std::int64_t limit = most[partOf[s]];
            std::uint32_t begin = m_firstKernelOf[s];
            const std::uint32_t first = begin, end = m_firstKernelOf[s + 1];
            while (held(begin, end) > limit) {
                std::uint32_t until = begin + 1;
                while (until + 1 < end && held(begin, until + 1) <= limit) ++until;
                if (until >= end) break;
                cuts.push_back({range.layer, range.backward, m_slots[s].recompute, range.first + (until - first)});
                begin = until;
            }
        }
        return cuts;
    }

    const Model& m_model;
    const Stage& m_stage;
    std::span<const PassSlot> m_slots;
    const RecomputeTable& m_recompute;
    ActivationPlan m_plan;
    std::vector<std::uint32_t> m_base;               // by layer of the stage: its first tensor's number
    std::vector<std::uint32_t> m_storageOf;          // by tensor
    std::vector<StorageRef> m_refs;                  // by tensor
    std::vector<Life> m_lives;                       // by storage
    std::vector<std::vector<std::uint32_t>> m_held;  // by layer of the stage: storages that are held until it ends
    std::vector<std::uint32_t> m_firstKernelOf;
    std::uint32_t m_kernel = 0;
};

}  // namespace

std::vector<PassSlot> slotsOf(const PassScript& script, const Stage& stage) {
    std::vector<PassSlot> slots;
    const auto addKernels = [&](const std::vector<PassStep>& steps) {
        for (const PassStep& step : steps)
            if (step.kind == PassStep::Kind::Kernels)
                slots.push_back({PassSlot::Kind::Kernels, step.kernels, step.recompute});
    };
    if (!stage.first()) slots.push_back({PassSlot::Kind::ReceiveInput, {}, false});
    addKernels(script.forward);
    if (!stage.last()) slots.push_back({PassSlot::Kind::SendOutput, {}, false});
    addKernels(script.loss);
    if (script.forwardOnly) return slots;
    addKernels(script.lossBackward);
    if (!stage.last()) slots.push_back({PassSlot::Kind::ReceiveGradient, {}, false});
    addKernels(script.backward);
    if (!stage.first()) slots.push_back({PassSlot::Kind::SendGradient, {}, false});
    return slots;
}

std::vector<KernelCut> peakCuts(const Model& model, const Stage& stage, std::span<const PassSlot> slots,
                                const RecomputeTable& recompute, const GradientSizes& gradients, PeakLimits limits,
                                LayerId apart) {
    return Planner(model, stage, slots, recompute).cuts(gradients, limits, apart);
}

ActivationPlan planActivations(const Model& model, const Stage& stage, std::span<const PassSlot> slots,
                               const RecomputeTable& recompute) {
    return Planner(model, stage, slots, recompute).plan();
}

}  // namespace shardscope::core
