#include "core/graph/recompute.h"

#include <algorithm>

namespace shardscope::core {

namespace {

TensorId ownerOf(const Program& program, TensorId tensor) {
    return program.tensor(tensor).storage.valid() ? program.tensor(tensor).storage : tensor;
}

// Kernels whose backward needs none of their operands.
bool savesNothing(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::Add:
        case KernelKind::AddBroadcast:
        case KernelKind::ConcatToken:
        case KernelKind::Concat:
        case KernelKind::Copy:
        case KernelKind::Scale:
        case KernelKind::CausalMask: return true;
        case KernelKind::Elementwise:
            return kernel.op == "add" || kernel.op == "add_" || kernel.op == "neg" || kernel.op == "cat" ||
                   kernel.op == "clone" || kernel.op == "_to_copy" || kernel.op == "mean" || kernel.op == "sum";
        default: return false;
    }
}

// Outputs that selective checkpointing keeps (torchtitan's list): attention, and of the products without a bias every
// other one; those with a bias are another operation, which is always kept. What is done in place to a kept result
// (an in-projection's bias) is not done to it twice.
std::vector<bool> keptKernels(const Program& program) {
    std::vector<bool> kept(program.forward.size(), false), result(program.tensors.size(), false);
    int products = 0;
    for (std::size_t k = 0; k < kept.size(); ++k) {
        const Kernel& kernel = program.forward[k];
        const bool product = kernel.kind == KernelKind::Linear || kernel.kind == KernelKind::OpaqueGemm;
        if (product)
            kept[k] = kernel.op == "addmm" || ++products % 2 == 1;
        else
            kept[k] = kernel.kind == KernelKind::Attention ||
                      std::any_of(kernel.outputs.begin(), kernel.outputs.end(),
                                  [&](TensorId output) { return result[ownerOf(program, output).index()]; });
        if (!kept[k]) continue;
        for (const TensorId output : kernel.outputs) result[ownerOf(program, output).index()] = true;
    }
    return kept;
}

// Where the last of what the forward pass saves is in place: before the kernel that saves it if it is an operand,
// after it if it is a result.
std::uint32_t endOfSaving(const Program& program, const std::vector<bool>& read) {
    for (std::size_t k = program.forward.size(); k-- > 0;) {
        const Kernel& kernel = program.forward[k];
        if (savesNothing(kernel)) continue;
        for (const TensorId output : kernel.outputs)
            if (read[ownerOf(program, output).index()]) return static_cast<std::uint32_t>(k) + 1;
        for (const TensorId input : kernel.inputs)
            if (read[ownerOf(program, input).index()]) return static_cast<std::uint32_t>(k);
    }
    return 0;
}

}  // namespace

Recompute recomputeOf(const Program& program, const Checkpointing& how) {
    Recompute plan;
    const std::size_t kernels = program.forward.size();
    std::vector<bool> made(program.tensors.size(), false), read(program.tensors.size(), false);
    for (const Kernel& kernel : program.forward)
        for (const TensorId output : kernel.outputs) made[ownerOf(program, output).index()] = true;
    const auto isSaved = [&](TensorId tensor) {
        const TensorId owner = ownerOf(program, tensor);
        const TensorRole role = program.tensor(owner).role;
        return made[owner.index()] || role == TensorRole::Parameter || role == TensorRole::Input ||
               role == TensorRole::Batch || role == TensorRole::Shared;
    };
    plan.trigger = static_cast<std::uint32_t>(program.backward.size());
    for (std::size_t k = program.backward.size(); k-- > 0;)
        for (const TensorId input : program.backward[k].inputs) {
            if (!isSaved(input)) continue;
            read[ownerOf(program, input).index()] = true;
            plan.trigger = static_cast<std::uint32_t>(k);
        }

    std::vector<bool> kept(kernels, false);
    if (how.mode == Checkpointing::Mode::Selective) kept = keptKernels(program);
    plan.end = static_cast<std::uint32_t>(kernels);
    if (how.earlyStop) plan.end = endOfSaving(program, read);
    plan.early = plan.end < kernels;
    plan.again.resize(kernels);
    plan.madeAgain.assign(program.tensors.size(), false);
    for (std::size_t k = 0; k < kernels; ++k) {
        plan.again[k] = !kept[k] && k < plan.end;
        for (const TensorId output : program.forward[k].outputs) {
            const TensorId owner = ownerOf(program, output);
            const TensorRole role = program.tensor(owner).role;
            if (plan.again[k] && (role == TensorRole::Intermediate || role == TensorRole::Output))
                plan.madeAgain[owner.index()] = true;
        }
    }
    return plan;
}

RecomputeTable::RecomputeTable(const Model& model, const Plan& plan) : m_program(model.layers.size(), -1) {
    if (plan.checkpointing.mode == Checkpointing::Mode::None || plan.evaluation) return;
    std::vector<int> known(model.programs.size(), -1);
    std::int64_t block = 0;  // counted from one, as torchtitan does
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
        const Layer& layer = model.layers[l];
        if (layer.kind != LayerKind::Block) continue;
        ++block;
        if (plan.checkpointing.mode == Checkpointing::Mode::EveryNth && block % plan.checkpointing.everyNth != 0)
            continue;
        int& number = known[layer.program.index()];
        if (number < 0) {
            number = static_cast<int>(m_ofProgram.size());
            m_ofProgram.push_back(recomputeOf(model.programOf(layer), plan.checkpointing));
        }
        m_program[l] = number;
    }
}

const Recompute& RecomputeTable::of(LayerId layer) const {
    const int number = m_program[layer.index()];
    return number < 0 ? m_none : m_ofProgram[static_cast<std::size_t>(number)];
}

}  // namespace shardscope::core
