#include "sim/price/fused_kernels.h"

#include <algorithm>
#include <map>
#include <set>

namespace shardscope::sim {
namespace {

using core::Kernel;
using core::KernelKind;
using core::Program;
using core::TensorId;

bool joinsChain(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::Embedding:
        case KernelKind::EmbeddingGrad:
        case KernelKind::BiasGrad:
        case KernelKind::AddBroadcastGrad:
        case KernelKind::LayerNormGrad:
        case KernelKind::ScaleVectorGrad:
        case KernelKind::NllLoss:
        case KernelKind::NllLossGrad: return false;
        case KernelKind::Elementwise: return kernel.op != "sum";  // of a weight's gradient, over rows
        default: return core::classOf(kernel.kind) == core::KernelClass::Memory;
    }
}

TensorId ownerOf(const Program& program, TensorId tensor) {
    return program.tensor(tensor).storage.valid() ? program.tensor(tensor).storage : tensor;
}

bool leavesProgram(core::TensorRole role) {
    using enum core::TensorRole;
    return role == Output || role == InputGradient || role == ParameterGradient || role == Shared;
}

/// Bytes of the operands on each storage: every view once, no more than the storage has.
using Touched = std::map<TensorId, std::set<TensorId>>;

double bytesOf(const Program& program, const Touched& touched) {
    double sum = 0;
    for (const auto& [owner, views] : touched) {
        double bytes = 0;
        for (const TensorId view : views) bytes += static_cast<double>(program.tensor(view).bytes().value);
        sum += std::min(bytes, static_cast<double>(program.tensor(owner).bytes().value));
    }
    return sum;
}

double trafficOf(const Program& program, bool backward, const FusedKernel& chain) {
    const std::vector<Kernel>& own = backward ? program.backward : program.forward;
    Touched read, written;
    for (std::uint32_t k = chain.first; k < chain.first + chain.count; ++k) {
        for (const TensorId input : own[k].inputs)
            if (const TensorId owner = ownerOf(program, input); !written.contains(owner)) read[owner].insert(input);
        for (const TensorId output : own[k].outputs) written[ownerOf(program, output)].insert(output);
    }
    // What nothing else reads stays in registers.
    std::set<TensorId> neededOutside;
    for (const auto* list : {&program.forward, &program.backward})
        for (std::uint32_t k = 0; k < list->size(); ++k) {
            if (list == &own && k >= chain.first && k < chain.first + chain.count) continue;
            for (const TensorId input : (*list)[k].inputs) neededOutside.insert(ownerOf(program, input));
        }
    std::erase_if(written, [&](const auto& one) {
        return !neededOutside.contains(one.first) && !leavesProgram(program.tensor(one.first).role);
    });
    return bytesOf(program, read) + bytesOf(program, written);
}

}  // namespace

std::vector<FusedKernel> fuseMemoryBound(const Program& program, bool backward, std::uint32_t first,
                                         std::uint32_t count) {
    const std::vector<Kernel>& kernels = backward ? program.backward : program.forward;
    std::vector<FusedKernel> fused;
    for (std::uint32_t k = first; k < first + count;) {
        FusedKernel chain{k, 1, 0};
        if (joinsChain(kernels[k]))
            while (k + chain.count < first + count && joinsChain(kernels[k + chain.count])) ++chain.count;
        if (chain.count > 1) chain.traffic = trafficOf(program, backward, chain);
        fused.push_back(chain);
        k += chain.count;
    }
    return fused;
}

}  // namespace shardscope::sim
