#include "core/graph/storage.h"

#include <cassert>

namespace shardscope::core {

TensorId findRole(const Program& program, TensorRole role) {
    for (std::size_t i = 0; i < program.tensors.size(); ++i)
        if (program.tensors[i].role == role) return TensorId(i);
    return {};
}

StorageRef resolveStorage(const Model& model, LayerId begin, LayerId end, LayerId layer, TensorId tensor) {
    for (;;) {
        const Program& program = model.programOf(model.layers[layer.index()]);
        const Tensor& seen = program.tensor(tensor);
        if (seen.storage.valid() && seen.storage != tensor) {
            tensor = seen.storage;
            continue;
        }
        if (seen.role == TensorRole::Input && layer != begin) {
            const LayerId previous(layer.index() - 1);
            const TensorId output = findRole(model.programOf(model.layers[previous.index()]), TensorRole::Output);
            assert(output.valid() && "a layer with a successor has an output");
            layer = previous;
            tensor = output;
            continue;
        }
        if (seen.role == TensorRole::OutputGradient && layer.index() + 1 < end.index()) {
            const LayerId next(layer.index() + 1);
            const TensorId gradient = findRole(model.programOf(model.layers[next.index()]), TensorRole::InputGradient);
            if (!gradient.valid()) return {layer, tensor};
            layer = next;
            tensor = gradient;
            continue;
        }
        return {layer, tensor};
    }
}

}  // namespace shardscope::core
