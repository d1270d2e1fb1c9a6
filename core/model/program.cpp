#include "core/model/program.h"

#include <algorithm>

namespace shardscope::core {
namespace {

Bytes touched(const Tensor& tensor) {
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
        if (tensor.strides.empty() || tensor.strides[i] != 0) elements *= tensor.shape[i];
    return {elements * sizeOf(tensor.dtype)};
}

Bytes readBy(const Program& program, const Kernel& kernel) {
    const auto input = [&](std::size_t i) { return touched(program.tensor(kernel.inputs[i])); };
    switch (kernel.kind) {
        case KernelKind::Embedding:  // the rows that are looked up, not the table
            return input(0) + touched(program.tensor(kernel.outputs[0]));
        case KernelKind::NllLoss: {  // one log-probability a row
            const std::int64_t rows = elementsOf(program.tensor(kernel.inputs[1]).shape);
            return input(1) + Bytes{rows * sizeOf(program.tensor(kernel.inputs[0]).dtype)};
        }
        case KernelKind::NllLossGrad:  // the log-probabilities give only their shape
            return input(0) + input(2) + input(3);
        default: {
            Bytes sum;
            for (std::size_t i = 0; i < kernel.inputs.size(); ++i) sum += input(i);
            return sum;
        }
    }
}

Bytes writtenBy(const Program& program, const Kernel& kernel) {
    Bytes sum;
    for (TensorId id : kernel.outputs) {
        const Tensor& tensor = program.tensor(id);
        const bool ownerCounts = tensor.storage != id && std::find(kernel.outputs.begin(), kernel.outputs.end(),
                                                                   tensor.storage) != kernel.outputs.end();
        if (!ownerCounts) sum += touched(tensor);
    }
    return sum;
}

}  // namespace

std::vector<TensorId> savedForBackward(const Program& program) {
    std::vector<char> read(program.tensors.size(), 0);
    for (const Kernel& kernel : program.backward)
        for (TensorId id : kernel.inputs) read[program.tensor(id).storage.index()] = 1;

    std::vector<TensorId> saved;
    const auto visit = [&](TensorId id) {
        const TensorId storage = program.tensor(id).storage;
        if (read[storage.index()] == 0 || program.tensor(storage).role == TensorRole::Parameter) return;
        read[storage.index()] = 0;
        saved.push_back(storage);
    };
    for (const Kernel& kernel : program.forward) {
        for (TensorId id : kernel.inputs) visit(id);
        for (TensorId id : kernel.outputs) visit(id);
    }
    return saved;
}

bool readsBatch(const Program& program, const Kernel& kernel) {
    return std::any_of(kernel.inputs.begin(), kernel.inputs.end(), [&](TensorId input) {
        const TensorId owner = program.tensor(input).storage.valid() ? program.tensor(input).storage : input;
        return program.tensor(owner).role == TensorRole::Batch;
    });
}

void fillTraffic(Program& program) {
    for (std::vector<Kernel>* kernels : {&program.forward, &program.backward}) {
        for (Kernel& kernel : *kernels) {
            kernel.read = readBy(program, kernel);
            kernel.written = writtenBy(program, kernel);
        }
    }
}

}  // namespace shardscope::core
