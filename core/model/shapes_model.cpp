#include "core/model/shapes_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/model/model_builder.h"
#include "core/model/safetensors.h"
#include "core/model/shapes_groups.h"
#include "core/model/size_check.h"

namespace shardscope::core {
namespace {

constexpr std::size_t kMostModulesOfLayer = 60'000;  // Kernel::module is a 16-bit index
constexpr std::size_t kLongestName = 512;
constexpr double kLargestProduct = 1e17;  // elements of any tensor here: 8 bytes each stay below 2^62

/// A weight of a layer, by its name relative to the layer's module.
struct Weight {
    std::string name;
    Shape shape;
    bool table = false;

    [[nodiscard]] bool multiplies() const { return shape.size() == 2 && !table; }
    friend auto operator<=>(const Weight&, const Weight&) = default;
};

std::string moduleOf(const std::string& parameter) {
    const std::size_t dot = parameter.rfind('.');
    return dot == std::string::npos ? std::string() : parameter.substr(0, dot);
}

Result<void> checkEntries(const ShapesSpec& spec) {
    if (spec.entries.size() > kMostTensors)
        return fail(ErrorCode::Unsupported,
                    fmt::format("found {} tensors, expected at most {}", spec.entries.size(), kMostTensors), spec.name,
                    "name a config.json or a module-tree file instead");
    std::unordered_set<std::string_view> names;
    for (const ShapesSpec::Entry& entry : spec.entries) {
        const std::string& name = entry.name;
        const auto wrong = [&](const std::string& message) {
            return fail(ErrorCode::Input, fmt::format("tensor '{}': {}", name.substr(0, 120), message), spec.name);
        };
        if (name.empty() || name.size() > kLongestName || name.front() == '.' || name.back() == '.' ||
            name.find("..") != std::string::npos)
            return wrong("expected a dotted name such as \"layers.0.weight\" of at most 512 characters");
        if (!names.insert(name).second) return wrong("the name is there twice");
        double elements = 1;
        for (const std::int64_t size : entry.shape) {
            if (size < 0) return wrong(fmt::format("shape: found {}, expected no negative size", size));
            elements *= static_cast<double>(size);
        }
        if (elements > kLargestProduct) return wrong("shape " + toString(entry.shape) + " is beyond reason");
    }
    return {};
}

/// Width of what the layers hand on.
std::int64_t widthOf(const ShapesSpec& spec, const ShapesGroups& groups) {
    for (const std::size_t i : groups.before)
        if (spec.entries[i].shape.size() == 2 && looksUp(spec.entries[i].name)) return spec.entries[i].shape[1];
    std::map<std::int64_t, std::size_t> counts;
    for (const std::size_t dimensions : {std::size_t{1}, std::size_t{2}}) {
        for (const ShapesSpec::Entry& entry : spec.entries)
            if (entry.shape.size() == dimensions && entry.shape.back() > 0) ++counts[entry.shape.back()];
        if (!counts.empty()) break;
    }
    if (counts.empty()) return 1;
    const auto more = [](const auto& a, const auto& b) { return a.second < b.second; };
    return std::max_element(counts.begin(), counts.end(), more)->first;
}

/// Writes the program of one layer: its GEMMs in the order of its weights.
class LayerProgram {
public:
    LayerProgram(std::string name, DType dtype, std::int64_t rows, std::int64_t width, bool first)
        : m_dtype(dtype), m_rows(rows), m_width(width) {
        m_program.name = std::move(name);
        m_program.modules.push_back({"", "Module"});
        m_modules.emplace("", 0);
        if (first) {
            m_input = tensor("batch", {rows}, DType::I64, TensorRole::Batch);
        } else {
            m_input = tensor("input", {rows, width}, dtype, TensorRole::Input);
        }
        m_first = first;
    }

    Result<Program> finish(const std::vector<Weight>& weights, bool head) {
        std::vector<TensorId> parameters;
        for (std::size_t slot = 0; slot < weights.size(); ++slot)
            parameters.push_back(tensor(weights[slot].name, weights[slot].shape, m_dtype, TensorRole::Parameter, slot));
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (weights[i].multiplies()) SHARDSCOPE_TRY(forwardProduct(weights[i], parameters[i], i));
        endForward(weights, parameters, head);
        for (std::size_t i = m_products.size(); i-- > 0;) backwardProduct(m_products[i]);
        for (std::size_t i = weights.size(); i-- > 0;)
            if (!weights[i].multiplies()) otherGradient(weights[i], i);
        if (!m_first && !m_inputGradient)
            emit(m_program.backward, KernelKind::Elementwise, "pass", 0, {m_outputGradient},
                 {tensor("input_gradient", {m_rows, m_width}, m_dtype, TensorRole::InputGradient)});
        if (m_program.modules.size() > kMostModulesOfLayer)
            return fail(ErrorCode::Unsupported,
                        fmt::format("layer '{}' has {} modules, expected at most {}", m_program.name,
                                    m_program.modules.size(), kMostModulesOfLayer));
        fillTraffic(m_program);
        return std::move(m_program);
    }

private:
    struct Product {
        Weight weight;
        std::size_t slot;
        TensorId parameter, input, output;
        std::uint16_t module;
    };

    TensorId tensor(std::string name, Shape shape, DType dtype, TensorRole role, std::size_t slot = 0) {
        const TensorId id(m_program.tensors.size());
        Tensor added;
        added.name = std::move(name);
        added.shape = std::move(shape);
        added.dtype = dtype;
        added.role = role;
        added.slot = static_cast<std::uint32_t>(slot);
        added.storage = id;
        m_program.tensors.push_back(std::move(added));
        return id;
    }

    Kernel& emit(std::vector<Kernel>& list, KernelKind kind, std::string_view op, std::uint16_t module,
                 std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
        Kernel kernel;
        kernel.kind = kind;
        kernel.op = op;
        kernel.module = module;
        kernel.inputs = std::move(inputs);
        kernel.outputs = std::move(outputs);
        list.push_back(std::move(kernel));
        return list.back();
    }

    std::uint16_t module(const std::string& parameter) {
        const std::string name = moduleOf(parameter);
        const auto [place, fresh] = m_modules.emplace(name, static_cast<std::uint16_t>(m_program.modules.size()));
        if (fresh) m_program.modules.push_back({name, "Module"});
        return place->second;
    }

    void multiply(Kernel& kernel, std::int64_t m, std::int64_t n, std::int64_t k) {
        kernel.m = m;
        kernel.n = n;
        kernel.k = k;
        kernel.flops = {2 * m * n * k};
    }

    Result<void> forwardProduct(const Weight& weight, TensorId parameter, std::size_t slot) {
        const std::int64_t out = weight.shape[0], in = weight.shape[1];
        const double rows = static_cast<double>(m_rows);
        if (rows * static_cast<double>(std::max(in, out)) > kLargestProduct ||
            2 * rows * static_cast<double>(in) * static_cast<double>(out) > 4.6e18)
            return fail(
                ErrorCode::Input,
                fmt::format("the product of '{}' with {} rows exceeds 2^62 bytes or FLOPs", weight.name, m_rows),
                m_program.name, "use a smaller batch or sequence");
        // Only the first product is known to read the layer's input: what the others read is a tensor of its own.
        const bool readsInput = !m_first && m_products.empty() && in == m_width;
        Product product{weight, slot, parameter, m_input, {}, module(weight.name)};
        if (!readsInput) product.input = tensor(weight.name + ".x", {m_rows, in}, m_dtype, TensorRole::Intermediate);
        product.output = tensor(weight.name + ".y", {m_rows, out}, m_dtype, TensorRole::Intermediate);
        multiply(emit(m_program.forward, KernelKind::OpaqueGemm, "mm", product.module, {product.input, parameter},
                      {product.output}),
                 m_rows, out, in);
        m_products.push_back(std::move(product));
        return {};
    }

    /// Names the output: the head's last product, a block's if its width is the layers'; otherwise one is made of it.
    void endForward(const std::vector<Weight>& weights, const std::vector<TensorId>& parameters, bool head) {
        const bool last = !m_products.empty() && (head || m_products.back().weight.shape[0] == m_width);
        TensorId output;
        if (last) {
            output = m_products.back().output;
            m_program.tensors[output.index()].role = TensorRole::Output;
            m_program.tensors[output.index()].name = "output";
        } else {
            output = tensor("output", {m_rows, m_width}, m_dtype, TensorRole::Output);
            const auto table = std::find_if(weights.begin(), weights.end(), [this](const Weight& w) {
                return w.table && w.shape.size() == 2 && w.shape[1] == m_width;
            });
            const TensorId from = m_products.empty() ? m_input : m_products.back().output;
            if (m_first && table != weights.end()) {
                const TensorId parameter = parameters[static_cast<std::size_t>(table - weights.begin())];
                emit(m_program.forward, KernelKind::Embedding, "embedding", module(table->name), {m_input, parameter},
                     {output});
            } else {
                emit(m_program.forward, KernelKind::Elementwise, "pass", 0, {from}, {output});
            }
        }
        m_outputGradient =
            tensor("output_gradient", m_program.tensors[output.index()].shape, m_dtype, TensorRole::OutputGradient);
        m_output = output;
    }

    void backwardProduct(const Product& product) {
        const std::int64_t out = product.weight.shape[0], in = product.weight.shape[1];
        const TensorId arriving = product.output == m_output ? m_outputGradient
                                                             : tensor("d_" + product.weight.name + ".y", {m_rows, out},
                                                                      m_dtype, TensorRole::Intermediate);
        const TensorId weightGradient = tensor("d_" + product.weight.name, product.weight.shape, m_dtype,
                                               TensorRole::ParameterGradient, product.slot);
        multiply(emit(m_program.backward, KernelKind::OpaqueGemm, "mm", product.module, {arriving, product.input},
                      {weightGradient}),
                 out, in, m_rows);
        if (m_first && m_products.front().parameter == product.parameter) return;  // nobody asks for the ids' gradient
        const bool leaves = product.input == m_input;
        const TensorId inputGradient =
            tensor(leaves ? "input_gradient" : "d_" + product.weight.name + ".x", {m_rows, in}, m_dtype,
                   leaves ? TensorRole::InputGradient : TensorRole::Intermediate);
        m_inputGradient = m_inputGradient || leaves;
        multiply(emit(m_program.backward, KernelKind::OpaqueGemm, "mm", product.module, {arriving, product.parameter},
                      {inputGradient}),
                 m_rows, in, out);
    }

    /// Weights that are no GEMM have gradients too: they are written, their work is not counted.
    void otherGradient(const Weight& weight, std::size_t slot) {
        const TensorId gradient =
            tensor("d_" + weight.name, weight.shape, m_dtype, TensorRole::ParameterGradient, slot);
        if (weight.table && m_first && weight.shape.size() == 2 && weight.shape[1] == m_width)
            emit(m_program.backward, KernelKind::EmbeddingGrad, "embedding_dense_backward", module(weight.name),
                 {m_outputGradient, m_input}, {gradient});
        else
            emit(m_program.backward, KernelKind::Elementwise, "gradient", module(weight.name), {}, {gradient});
    }

    Program m_program;
    DType m_dtype;
    std::int64_t m_rows, m_width;
    bool m_first = false;
    bool m_inputGradient = false;
    TensorId m_input, m_output, m_outputGradient;
    std::vector<Product> m_products;
    std::unordered_map<std::string, std::uint16_t> m_modules;
};

Program lossProgram(DType dtype, std::int64_t rows, std::int64_t width) {
    Program program;
    program.name = "loss";
    program.modules.push_back({"", ""});
    const auto tensor = [&](const char* name, Shape shape, TensorRole role) {
        const TensorId id(program.tensors.size());
        Tensor added;
        added.name = name;
        added.shape = std::move(shape);
        added.dtype = dtype;
        added.role = role;
        added.storage = id;
        program.tensors.push_back(std::move(added));
        return id;
    };
    const TensorId input = tensor("input", {rows, width}, TensorRole::Input);
    const TensorId loss = tensor("loss", {}, TensorRole::Output);
    const TensorId gradient = tensor("loss_gradient", {}, TensorRole::OutputGradient);
    const TensorId inputGradient = tensor("input_gradient", {rows, width}, TensorRole::InputGradient);
    Kernel forward;
    forward.op = "loss";
    forward.inputs = {input};
    forward.outputs = {loss};
    Kernel backward;
    backward.op = "loss_backward";
    backward.inputs = {gradient, input};
    backward.outputs = {inputGradient};
    program.forward.push_back(std::move(forward));
    program.backward.push_back(std::move(backward));
    fillTraffic(program);
    return program;
}

/// Adds the modules on the way to a parameter, then the parameter.
void addParameter(ModelBuilder& builder, std::unordered_map<std::string, ModuleId>& modules,
                  const ShapesSpec::Entry& entry) {
    const std::string owner = moduleOf(entry.name);
    const bool known = modules.contains(owner);
    std::size_t end = 0;
    while (!known && end < owner.size()) {
        end = std::min(owner.find('.', end + 1), owner.size());
        std::string prefix = owner.substr(0, end);
        if (!modules.contains(prefix)) {
            const ModuleId id = builder.module(prefix, "Module");
            modules.emplace(std::move(prefix), id);
        }
    }
    builder.parameter(modules.at(owner), std::string_view(entry.name).substr(owner.empty() ? 0 : owner.size() + 1),
                      entry.shape);
}

void addCaveats(Model& model, const ShapesSpec& spec, const ShapesGroups& groups, bool headMultiplies) {
    std::vector<std::string>& caveats = model.caveats;
    caveats.push_back(
        "only the shapes of the weights are known: one matrix product for each 2-D weight, no attention, norms or "
        "activations; times and activation memory are rough");
    std::size_t deep = 0;
    for (const ShapesSpec::Entry& entry : spec.entries) deep += entry.shape.size() > 2 ? 1 : 0;
    for (const std::size_t i : groups.buffers) deep -= spec.entries[i].shape.size() > 2 ? 1 : 0;
    if (deep > 0)
        caveats.push_back(fmt::format(
            "{} weights of more than two dimensions (experts, convolutions) are stored and communicated, their work is "
            "not counted",
            deep));
    if (!groups.buffers.empty())
        caveats.push_back(fmt::format("{} tensors are taken for buffers, not parameters ('{}', ...)",
                                      groups.buffers.size(), spec.entries[groups.buffers.front()].name));
    if (groups.blocks.empty())
        caveats.push_back("no repeated blocks were found in the names: all weights are one layer");
    if (groups.stacks > 1)
        caveats.push_back(fmt::format("{} stacks of blocks were found; they are run one after another", groups.stacks));
    if (!headMultiplies)
        caveats.push_back(
            "no output projection is among the weights (it may be tied to the embedding): its product is "
            "not counted");
}

}  // namespace

Result<Model> buildFromShapes(const ShapesSpec& spec, const Workload& workload) {
    SHARDSCOPE_TRY(checkWorkload(workload));
    SHARDSCOPE_TRY(checkEntries(spec));
    const ShapesGroups groups = groupByBlocks(spec);
    SHARDSCOPE_TRY(checkLayers(spec.name, "the number of blocks in the tensors' names",
                               static_cast<std::int64_t>(groups.blocks.size())));
    if (groups.buffers.size() == spec.entries.size())
        return fail(ErrorCode::Input, "found no weights, only integer tensors and buffers", spec.name,
                    "name a file with the model's weights");
    std::int64_t rows = 0;
    if (__builtin_mul_overflow(workload.batch, std::max<std::int64_t>(workload.sequence, 1), &rows))
        return fail(ErrorCode::Input, "batch times sequence length exceeds 2^63", spec.name);
    const std::int64_t width = widthOf(spec, groups);
    if (static_cast<double>(rows) * static_cast<double>(width) > kLargestProduct)
        return fail(ErrorCode::Input, fmt::format("{} rows of {} exceed 2^62 bytes", rows, width), spec.name);

    ModelBuilder builder(spec.name, "safetensors", "Module", workload);
    std::unordered_map<std::string, ModuleId> modules{{"", ModuleId(std::size_t{0})}};
    const auto addAll = [&](const std::vector<std::size_t>& entries) {
        for (const std::size_t i : entries) addParameter(builder, modules, spec.entries[i]);
    };
    addAll(groups.before);
    for (const ShapesBlock& block : groups.blocks) addAll(block.entries);
    addAll(groups.after);

    // Blocks that are alike share a program; none stands before the first layer, which reads the batch.
    std::map<std::vector<Weight>, ProgramId> programs;
    bool first = true;
    std::int64_t outWidth = width;
    const auto addLayer = [&](const std::string& name, LayerKind kind, const std::string& module,
                              const std::vector<std::size_t>& entries) -> Result<void> {
        std::vector<Weight> weights;
        for (const std::size_t i : entries) {
            const ShapesSpec::Entry& entry = spec.entries[i];
            weights.push_back(
                {entry.name.substr(module.empty() ? 0 : module.size() + 1), entry.shape, looksUp(entry.name)});
        }
        const bool shareable = !first && kind == LayerKind::Block;
        ProgramId id;
        if (const auto known = programs.find(weights); shareable && known != programs.end()) {
            id = known->second;
        } else {
            LayerProgram layer(kind == LayerKind::Block ? "block" : name, workload.dtype, rows, width, first);
            SHARDSCOPE_ASSIGN(Program program, layer.finish(weights, kind == LayerKind::Head));
            for (const Tensor& tensor : program.tensors)
                if (tensor.role == TensorRole::Output) outWidth = tensor.shape.back();
            id = builder.program(std::move(program));
            if (shareable) programs.emplace(std::move(weights), id);
        }
        builder.layer(name, kind, module, id);
        first = false;
        return {};
    };
    if (!groups.before.empty()) SHARDSCOPE_TRY(addLayer("embedding", LayerKind::Embedding, "", groups.before));
    for (const ShapesBlock& block : groups.blocks)
        SHARDSCOPE_TRY(addLayer(block.module, LayerKind::Block, block.module, block.entries));
    if (!groups.after.empty()) SHARDSCOPE_TRY(addLayer("head", LayerKind::Head, "", groups.after));
    const bool headMultiplies = std::any_of(groups.after.begin(), groups.after.end(), [&](std::size_t i) {
        return spec.entries[i].shape.size() == 2 && !looksUp(spec.entries[i].name);
    });
    builder.layer("loss", LayerKind::Loss, "", builder.program(lossProgram(workload.dtype, rows, outWidth)));
    builder.model().tokensPerSample = workload.sequence;
    if (workload.sequence > 0) builder.model().sampleWord = "sequence";
    addCaveats(builder.model(), spec, groups, headMultiplies);
    return builder.finish();
}

}  // namespace shardscope::core
