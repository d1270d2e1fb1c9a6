// The backward pass of a program is the derivative of its forward pass: whole models run layer by layer with the
// reference loops, and each parameter's gradient is compared with the difference of losses along a direction.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "core/model/spec.h"
#include "runtime/device/reference_device.h"
#include "tests/toy_models.h"

namespace shardscope::runtime {
namespace {

using core::DType;
using core::TensorId;
using core::TensorRole;

using Buffer = std::vector<std::byte>;

// Runs one training step of a model, keeping every storage. Tensors are doubles, for small differences between weights.
class Step {
public:
    explicit Step(const core::Model& model) : m_model(model) {
        std::mt19937 random(7);
        std::normal_distribution<double> normal(0, 0.5);
        for (const core::Parameter& parameter : model.parameters) {
            std::vector<double> values(static_cast<std::size_t>(core::elementsOf(parameter.shape)));
            for (double& value : values) value = normal(random);
            m_values.push_back(std::move(values));
        }
    }

    std::vector<std::vector<double>>& values() { return m_values; }
    [[nodiscard]] const std::vector<std::vector<double>>& gradients() const { return m_gradients; }

    /// The loss; with `backward` the gradients too.
    double run(bool backward) {
        std::vector<std::vector<Buffer>> storages;
        for (const core::Layer& layer : m_model.layers) {
            storages.push_back(begin(layer));
            if (storages.size() > 1)
                give(storages, storages.size() - 2, TensorRole::Output, storages.size() - 1, TensorRole::Input);
            launch(m_model.programOf(layer), m_model.programOf(layer).forward, storages.back());
        }
        const double loss = toDouble(storages.back()[find(m_model.layers.back(), TensorRole::Output).index()]);
        if (!backward) return loss;
        m_gradients.clear();
        for (const auto& values : m_values) m_gradients.emplace_back(values.size(), 0.0);
        const double one = 1;
        Buffer& seed = storages.back()[find(m_model.layers.back(), TensorRole::OutputGradient).index()];
        std::memcpy(seed.data(), &one, sizeof one);
        for (std::size_t i = m_model.layers.size(); i-- > 0;) {
            const core::Layer& layer = m_model.layers[i];
            if (i + 1 < m_model.layers.size())
                give(storages, i + 1, TensorRole::InputGradient, i, TensorRole::OutputGradient);
            launch(m_model.programOf(layer), m_model.programOf(layer).backward, storages[i]);
            collect(layer, storages[i]);
        }
        return loss;
    }

private:
    static double toDouble(const Buffer& buffer) {
        double value = 0;
        std::memcpy(&value, buffer.data(), sizeof value);
        return value;
    }

    [[nodiscard]] TensorId find(const core::Layer& layer, TensorRole role) const {
        const auto& tensors = m_model.programOf(layer).tensors;
        for (std::size_t i = 0; i < tensors.size(); ++i)
            if (tensors[i].role == role) return TensorId(i);
        ADD_FAILURE() << "a tensor is missing in " << layer.name;
        return TensorId(std::size_t{0});
    }

    void give(std::vector<std::vector<Buffer>>& storages, std::size_t from, TensorRole role, std::size_t to,
              TensorRole as) {
        const Buffer& source = storages[from][find(m_model.layers[from], role).index()];
        Buffer& target = storages[to][find(m_model.layers[to], as).index()];
        ASSERT_EQ(source.size(), target.size());
        target = source;
    }

    std::vector<Buffer> begin(const core::Layer& layer) {
        const core::Program& program = m_model.programOf(layer);
        std::vector<Buffer> storages(program.tensors.size());
        for (std::size_t i = 0; i < storages.size(); ++i) {
            const core::Tensor& tensor = program.tensors[i];
            if (tensor.storage != TensorId(i)) continue;
            storages[i].assign(static_cast<std::size_t>(tensor.bytes().value),
                               std::byte{0xff});  // NaN until it is written
            if (tensor.role == TensorRole::Parameter)
                std::memcpy(storages[i].data(), m_values[layer.parameters[tensor.slot].index()].data(),
                            storages[i].size());
            if (tensor.role != TensorRole::Batch) continue;
            const std::int64_t n = core::elementsOf(tensor.shape);
            for (std::int64_t k = 0; k < n; ++k) {
                const std::int64_t label = (k * 7 + 3) % 10;
                const double pixel = std::sin(static_cast<double>(k));
                if (tensor.dtype == DType::I64)
                    std::memcpy(storages[i].data() + k * 8, &label, 8);
                else
                    std::memcpy(storages[i].data() + k * 8, &pixel, 8);
            }
        }
        return storages;
    }

    void launch(const core::Program& program, const std::vector<core::Kernel>& kernels, std::vector<Buffer>& storages) {
        const auto viewsOf = [&](const std::vector<TensorId>& ids) {
            std::vector<TensorView> views;
            for (TensorId id : ids) {
                const core::Tensor& tensor = program.tensor(id);
                views.push_back({storages[tensor.storage.index()].data() + tensor.offset * core::sizeOf(tensor.dtype),
                                 tensor.dtype, tensor.shape, tensor.strides});
            }
            return views;
        };
        for (const core::Kernel& kernel : kernels) {
            const auto inputs = viewsOf(kernel.inputs), outputs = viewsOf(kernel.outputs);
            // The same in every pass: what dropout makes of the model is a function that has a derivative.
            std::vector<std::uint64_t> seeds(static_cast<std::size_t>(m_model.workload.batch));
            std::iota(seeds.begin(), seeds.end(), kernel.draw * 1000u);
            const auto done = m_device.launch(0, {kernel, inputs, outputs, seeds});
            ASSERT_TRUE(done.has_value()) << describe(done.error());
        }
    }

    void collect(const core::Layer& layer, const std::vector<Buffer>& storages) {
        const core::Program& program = m_model.programOf(layer);
        for (std::size_t i = 0; i < storages.size(); ++i) {
            const core::Tensor& tensor = program.tensors[i];
            if (tensor.role != TensorRole::ParameterGradient) continue;
            std::vector<double>& sum = m_gradients[layer.parameters[tensor.slot].index()];
            for (std::size_t k = 0; k < sum.size(); ++k) {
                double value = 0;
                std::memcpy(&value, storages[i].data() + k * sizeof value, sizeof value);
                sum[k] += value;
            }
        }
    }

    const core::Model& m_model;
    ReferenceDevice m_device;
    std::vector<std::vector<double>> m_values, m_gradients;
};

void expectGradientsToBeDerivatives(const core::ModelSpec& spec, core::Workload workload) {
    workload.dtype = DType::F64;
    const auto model = core::buildModel(spec, workload);
    ASSERT_TRUE(model.has_value()) << describe(model.error());
    Step step(*model);
    step.run(true);
    std::mt19937 random(11);
    std::normal_distribution<double> normal(0, 1);
    for (std::size_t i = 0; i < model->parameters.size(); ++i) {
        std::vector<double>& values = step.values()[i];
        const std::vector<double> kept = values;
        std::vector<double> direction(values.size());
        double slope = 0, size = 0;
        for (std::size_t k = 0; k < values.size(); ++k) {
            direction[k] = normal(random);
            slope += direction[k] * step.gradients()[i][k];
            size += std::fabs(direction[k] * step.gradients()[i][k]);
        }
        const double width = 3e-3;
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = kept[k] + width * direction[k];
        const double above = step.run(false);
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = kept[k] - width * direction[k];
        const double below = step.run(false);
        values = kept;
        // The loops compute in floats, which limits what a difference of losses can tell.
        EXPECT_NEAR((above - below) / (2 * width), slope, 1e-2 * size + 1e-3) << model->parameters[i].name;
    }
}

core::Workload workloadOf(core::Workload::AttentionKind attention) {
    core::Workload workload;
    workload.batch = 3;
    workload.attention = attention;
    return workload;
}

using enum core::Workload::AttentionKind;

TEST(ProgramsGradient, OfAVisionTransformerIsItsDerivative) {
    const core::VitSpec spec{"vit", 8, 4, 2, 10, 2, 2, 8, 12};
    for (const auto kind : {Flash, Efficient, Cudnn, Cpu, Math}) expectGradientsToBeDerivatives(spec, workloadOf(kind));
}

TEST(ProgramsGradient, OfAVisionTransformerThatDropsByChanceIsItsDerivative) {
    const core::VitSpec spec{"vit", 8, 4, 2, 10, 2, 2, 8, 12};
    for (const auto& [kind, cpuRules] : {std::pair{Flash, false}, {Efficient, false}, {Math, false}, {Cpu, true}}) {
        core::Workload workload = workloadOf(kind);
        workload.dropout = core::Workload::Dropout::On;
        workload.cpuRules = cpuRules;
        expectGradientsToBeDerivatives(spec, workload);
    }
}

TEST(ProgramsGradient, OfAttentionUnderACausalMaskIsItsDerivative) {
    auto spec = *tests::toySpec({.blocks = 2, .blockKind = "attn_mlp", .d = 8});
    for (auto& block : spec.root.children[2].children)
        block.children[0].children[1].numbers = {{"heads", 2}, {"causal", 1}};
    for (const auto kind : {Flash, Efficient, Math, Eager}) expectGradientsToBeDerivatives(spec, workloadOf(kind));
}

TEST(ProgramsGradient, OfTheToyModelsIsTheirDerivative) {
    for (const char* kind : {"mlp", "attn_mlp", "stage", "stage_bare"})
        for (bool tied : {false, true})
            expectGradientsToBeDerivatives(*tests::toySpec({.blocks = 2, .blockKind = kind, .tied = tied}),
                                           workloadOf(Flash));
}

}  // namespace
}  // namespace shardscope::runtime
