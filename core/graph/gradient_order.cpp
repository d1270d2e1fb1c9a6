#include "core/graph/gradient_order.h"

#include <fmt/format.h>

#include "core/plan/ddp_buckets.h"

namespace shardscope::core {

namespace {

const Tensor& ownerOf(const Program& program, TensorId id) {
    const Tensor& tensor = program.tensor(id);
    return tensor.storage.valid() ? program.tensor(tensor.storage) : tensor;
}

// The stage's parameters as Module.parameters() lists them: a module's own before those of its children.
std::vector<ParameterId> definitionOrder(const Model& model, const Stage& stage) {
    std::vector<bool> left(model.parameters.size(), false);
    for (const ParameterId p : wholeStageUnit(model, stage).parameters) left[p.index()] = true;
    std::vector<ParameterId> order;
    std::vector<ModuleId> stack{ModuleId(0)};
    while (!stack.empty()) {
        const Module& module = model.modules[stack.back().index()];
        stack.pop_back();
        for (const ParameterId p : module.parameters) {
            if (left[p.index()]) order.push_back(p);
            left[p.index()] = false;
        }
        stack.insert(stack.end(), module.children.rbegin(), module.children.rend());
    }
    return order;
}

}  // namespace

std::vector<GradientMaker> gradientMakers(const Model& model, LayerId begin, LayerId end) {
    std::vector<GradientMaker> makers(model.parameters.size());
    for (std::size_t l = end.index(); l-- > begin.index();) {
        const Layer& layer = model.layers[l];
        const Program& program = model.programOf(layer);
        for (std::uint32_t k = 0; k < program.backward.size(); ++k)
            for (const TensorId output : program.backward[k].outputs) {
                const Tensor& tensor = ownerOf(program, output);
                if (tensor.role == TensorRole::ParameterGradient)
                    makers[layer.parameters[tensor.slot].index()] = {LayerId(l), k};
            }
    }
    return makers;
}

std::vector<ParameterId> gradientOrder(const Model& model, const Stage& stage) {
    const std::vector<GradientMaker> makers = gradientMakers(model, stage.begin, stage.end);
    std::vector<ParameterId> order;
    for (std::size_t l = stage.end.index(); l-- > stage.begin.index();) {
        const Layer& layer = model.layers[l];
        const Program& program = model.programOf(layer);
        std::uint16_t weightModule = 0;
        bool afterWeight = false;
        for (std::uint32_t k = 0; k < program.backward.size(); ++k) {
            const Kernel& kernel = program.backward[k];
            bool made = false;
            for (const TensorId output : kernel.outputs) {
                const Tensor& tensor = ownerOf(program, output);
                if (tensor.role != TensorRole::ParameterGradient) continue;
                const ParameterId p = layer.parameters[tensor.slot];
                const GradientMaker& maker = makers[p.index()];
                if (maker.layer != LayerId(l) || maker.kernel != k) continue;
                const bool overtakes =
                    afterWeight && kernel.kind == KernelKind::BiasGrad && kernel.module == weightModule;
                order.insert(overtakes ? order.end() - 1 : order.end(), p);
                made = true;
            }
            afterWeight = made && kernel.kind == KernelKind::LinearWeightGrad;
            weightModule = kernel.module;
        }
    }
    const std::vector<ParameterId> defined = definitionOrder(model, stage);
    for (auto p = defined.rbegin(); p != defined.rend(); ++p)
        if (!makers[p->index()].layer.valid()) order.push_back(*p);
    return order;
}

std::vector<Unit> bucketUnits(const Model& model, const Plan& plan, const Stage& stage) {
    const std::vector<ParameterId> defined = definitionOrder(model, stage);
    std::vector<std::uint32_t> place(model.parameters.size());
    std::vector<DdpGradient> gradients;
    for (const ParameterId p : defined) {
        place[p.index()] = static_cast<std::uint32_t>(gradients.size());
        const DType dtype = plan.precision.original;
        gradients.push_back({{elementsOf(model.parameters[p.index()].shape) * sizeOf(dtype)}, dtype});
    }
    std::vector<std::uint32_t> arrival;
    for (const ParameterId p : gradientOrder(model, stage)) arrival.push_back(place[p.index()]);
    const std::vector<DdpBucket> buckets =
        plan.firstStep ? initialBuckets(gradients, plan.ddp) : rebuiltBuckets(gradients, plan.ddp, arrival);
    std::vector<Unit> units;
    for (const DdpBucket& bucket : buckets) {
        Unit unit;
        unit.name = fmt::format("bucket {}", units.size());
        for (const std::uint32_t g : bucket.gradients) unit.parameters.push_back(defined[g]);
        unit.reshard = {Reshard::Kind::False, 0};
        unit.trainedElements = unit.trainedPadded = unit.elements = unit.paddedElements =
            bucket.bytes.value / sizeOf(bucket.dtype);
        units.push_back(std::move(unit));
    }
    return units;
}

}  // namespace shardscope::core
