#include "core/model/module_tree.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/model/model_builder.h"
#include "core/model/program_builder.h"
#include "core/model/size_check.h"

namespace shardscope::core {
namespace {

using Node = ModuleTreeSpec::Node;

std::string join(const std::string& prefix, const std::string& name) {
    return prefix.empty() || name.empty() ? prefix + name : prefix + "." + name;
}

std::optional<double> numberOf(const Node& node, std::string_view name) {
    for (const auto& [key, value] : node.numbers)
        if (key == name) return value;
    return std::nullopt;
}

bool sameWork(const Node& a, const Node& b) {
    return a.kind == b.kind && a.parameters == b.parameters && a.numbers == b.numbers && a.tiedTo == b.tiedTo &&
           a.children == b.children;
}

// A program looks modules up by name, one after another, and numbers them in 16 bits.
constexpr std::size_t kMostModulesOfLayer = 10'000;

std::size_t countOf(const Node& node) {
    std::size_t count = 1;
    for (const Node& child : node.children) count += countOf(child);
    return count;
}

// How many parameters a kind may have and of how many dimensions the first is; 0: none.
struct ParameterRule {
    std::size_t least, most, dimensions;
};
ParameterRule ruleOf(ModuleKind kind) {
    switch (kind) {
        case ModuleKind::Embedding: return {1, 1, 2};
        case ModuleKind::Position: return {1, 1, 3};
        case ModuleKind::Linear: return {1, 2, 2};
        case ModuleKind::LayerNorm: return {2, 2, 1};
        case ModuleKind::RmsNorm: return {1, 1, 1};
        case ModuleKind::Scale: return {1, 1, 1};
        default: return {0, 0, 0};
    }
}

class TreeBuilder {
public:
    TreeBuilder(const ModuleTreeSpec& spec, const Workload& workload)
        : m_spec(spec),
          m_workload(workload),
          m_model(spec.name, "module tree", "Model", workload),
          m_tokens(workload.sequence > 0 ? workload.sequence : spec.sequence) {}

    Result<Model> build() {
        SHARDSCOPE_TRY(checkWorkload(m_workload));
        if (m_tokens < 1 || m_tokens > kLargestSize)
            return wrong("", "no sequence length", "give `sequence` in the file or with the training");
        if (static_cast<double>(m_workload.batch) * static_cast<double>(m_tokens) > 1e17)
            return wrong("", "batch x sequence exceeds 2^62 bytes", "use a smaller batch");
        for (const Node& child : m_spec.root.children) SHARDSCOPE_TRY(declare(child, "", ModuleId(std::size_t{0})));
        collectStack();
        m_model.model().tokensPerSample = m_tokens;
        m_model.model().sampleWord = "sequence";
        SHARDSCOPE_TRY(embeddingLayer());
        for (std::size_t i = m_next; i < m_stack.size(); ++i) SHARDSCOPE_TRY(stackLayer(i));
        SHARDSCOPE_TRY(lossLayer());
        return m_model.finish();
    }

private:
    struct Entry {
        const Node* node;
        std::string around;  // full name of the module that it stands in
    };

    [[nodiscard]] tl::unexpected<Error> wrong(const std::string& place, std::string message,
                                              std::string hint = {}) const {
        return fail(ErrorCode::Input, std::move(message), place.empty() ? m_spec.name : m_spec.name + ": " + place,
                    std::move(hint));
    }

    // Adds the modules and parameters of a node and of those in it.
    Result<void> declare(const Node& node, const std::string& around, ModuleId aroundId) {
        const std::string full = join(around, node.name);
        const ModuleKindRow* row = moduleKindOf(node.kind);
        if (row == nullptr) return wrong(full, "unknown kind `" + node.kind + "`");
        SHARDSCOPE_TRY(checkParameters(node, full, row->kind));
        if (node.name.find('.') != std::string::npos)
            return wrong(full, "the name `" + node.name + "` has a dot", "nest modules instead");
        if (!node.name.empty() && !m_names.insert(full).second)
            return wrong(full, "two modules have this name", "names must differ within the module around them");
        if (row->type.empty()) {
            addParameter(aroundId, around, node.name, node.parameters.front().second);
            return {};
        }
        if (node.name.empty() && row->kind == ModuleKind::List) return wrong(around, "a list of modules has no name");
        const ModuleId id = node.name.empty() ? aroundId : m_model.module(full, std::string(row->type));
        for (const auto& [name, shape] : node.parameters) {
            if (name != "weight" || node.tiedTo.empty()) {
                addParameter(id, full, name, shape);
                continue;
            }
            const auto other = m_parameters.find(node.tiedTo + ".weight");
            if (other == m_parameters.end())
                return wrong(full, "tied to `" + node.tiedTo + "`, which is no earlier module with a weight",
                             "give the full name of a module that stands before this one");
            if (m_model.model().parameters[other->second.index()].shape != shape)
                return wrong(full,
                             "tied to `" + node.tiedTo + "`, whose weight has another shape than " + toString(shape));
            m_model.tie(id, name, other->second);
            m_parameters.emplace(join(full, name), other->second);
        }
        for (const Node& child : node.children) SHARDSCOPE_TRY(declare(child, full, id));
        return {};
    }

    void addParameter(ModuleId module, const std::string& around, const std::string& name, const Shape& shape) {
        m_parameters.emplace(join(around, name), m_model.parameter(module, name, shape));
    }

    [[nodiscard]] Result<void> checkParameters(const Node& node, const std::string& full, ModuleKind kind) const {
        const ParameterRule rule = ruleOf(kind);
        if (node.parameters.size() < rule.least || node.parameters.size() > rule.most)
            return wrong(full, node.kind + " has " + std::to_string(node.parameters.size()) + " parameters");
        if (rule.least > 0 && node.name.empty()) return wrong(full, node.kind + " with parameters has no name");
        for (std::size_t i = 0; i < node.parameters.size(); ++i) {
            const Shape& shape = node.parameters[i].second;
            double elements = 1;
            for (std::int64_t d : shape) {
                if (d < 1 || d > kLargestSize) return wrong(full, "shape " + toString(shape) + " is out of range");
                elements *= static_cast<double>(d);
            }
            if (elements > 4e17) return wrong(full, "shape " + toString(shape) + " exceeds 2^62 bytes");
            const bool biasFits = i == 0 || (shape.size() == 1 && shape[0] == node.parameters[0].second[0]);
            if ((i == 0 && shape.size() != rule.dimensions) || !biasFits)
                return wrong(full, "shape " + toString(shape) + " does not fit a " + node.kind);
        }
        const bool leaf = kind != ModuleKind::Attention && kind != ModuleKind::Residual &&
                          kind != ModuleKind::Sequence && kind != ModuleKind::List;
        if (leaf && !node.children.empty()) return wrong(full, node.kind + " cannot contain modules");
        return {};
    }

    void collectStack() {
        for (const Node& child : m_spec.root.children) {
            if (moduleKindOf(child.kind)->kind != ModuleKind::List) {
                m_stack.push_back({&child, ""});
                continue;
            }
            for (const Node& inner : child.children) m_stack.push_back({&inner, child.name});
        }
    }

    Result<void> embeddingLayer() {
        if (m_stack.empty() || m_stack.front().node->kind != "embedding")
            return wrong("", "the first module is no embedding",
                         "the model is read as a stack: embedding, blocks, norm, linear");
        if (!m_stack.front().around.empty()) return wrong(m_stack.front().around, "the embedding stands in a list");
        ProgramBuilder b("embedding", "Model", m_workload);
        const Node& node = *m_stack.front().node;
        TensorId x;
        {
            auto scope = b.in(node.name, "Embedding");
            x = b.embedding(b.batch(0, {m_workload.batch, m_tokens}, DType::I64),
                            b.parameter(join(node.name, "weight"), node.parameters.front().second));
        }
        for (m_next = 1; m_next < m_stack.size(); ++m_next) {
            const Entry& entry = m_stack[m_next];
            if (entry.node->kind != "position" || !entry.around.empty()) break;
            SHARDSCOPE_ASSIGN(x, apply(b, *entry.node, "", "", x));
        }
        return finishLayer(b, x, node.name, LayerKind::Embedding, "");
    }

    Result<void> stackLayer(std::size_t i) {
        const Node& node = *m_stack[i].node;
        const ModuleKindRow& row = *moduleKindOf(node.kind);
        const std::string full = join(m_stack[i].around, node.name);
        const std::string module = node.name.empty() || row.type.empty() ? m_stack[i].around : full;
        const std::string name = node.name.empty() ? node.kind + " " + std::to_string(i) : full;
        LayerKind kind = LayerKind::Block;
        if (row.kind == ModuleKind::LayerNorm || row.kind == ModuleKind::RmsNorm) kind = LayerKind::Norm;
        if (row.kind == ModuleKind::Linear && i + 1 == m_stack.size()) kind = LayerKind::Head;

        const bool nested = module == full && !node.name.empty();
        if (nested && m_shared != nullptr && m_sharedShape == m_shape && sameWork(*m_shared, node)) {
            m_model.layer(name, kind, module, m_sharedProgram);
            return {};
        }
        if (countOf(node) > kMostModulesOfLayer)
            return wrong(full, "more than " + std::to_string(kMostModulesOfLayer) + " modules in one layer",
                         "put them into a list at the top level, where each is a layer");
        const Shape before = m_shape;
        ProgramBuilder b(kind == LayerKind::Block ? "block" : node.kind, nested ? std::string(row.type) : "Model",
                         m_workload);
        SHARDSCOPE_ASSIGN(const TensorId y, apply(b, node, "", module, b.input(m_shape)));
        SHARDSCOPE_TRY(finishLayer(b, y, name, kind, module));
        if (nested && m_shape == before) {
            m_shared = &node;
            m_sharedShape = m_shape;
            m_sharedProgram = m_model.model().layers.back().program;
        }
        return {};
    }

    Result<void> lossLayer() {
        if (m_model.model().layers.back().kind != LayerKind::Head)
            return wrong("", "the last module is no linear", "end the model with a linear to the classes of the loss");
        if (m_spec.vocab > 0 && m_shape.back() != m_spec.vocab)
            return wrong(
                m_model.model().layers.back().name,
                "gives " + std::to_string(m_shape.back()) + " outputs, but `vocab` is " + std::to_string(m_spec.vocab));
        ProgramBuilder b("loss", "", m_workload);
        const TensorId logits = b.input(m_shape);
        const TensorId labels = b.batch(1, {m_workload.batch, m_tokens}, DType::I64);
        return finishLayer(b, b.crossEntropy(logits, labels), "loss", LayerKind::Loss, "");
    }

    Result<void> finishLayer(ProgramBuilder& b, TensorId output, const std::string& name, LayerKind kind,
                             const std::string& module) {
        m_shape = b.shapeOf(output);
        auto program = b.finish(output);
        if (!program) {
            Error error = std::move(program).error();
            error.where = m_spec.name + ": " + name;
            return tl::unexpected(std::move(error));
        }
        m_model.layer(name, kind, module, m_model.program(std::move(*program)));
        return {};
    }

    // Runs a node on x. `own` is the module that its kernels belong to, relative to the layer's; `layer` is the
    // latter's name.
    Result<TensorId> apply(ProgramBuilder& b, const Node& node, const std::string& own, const std::string& layer,
                           TensorId x) {
        if (b.tooLarge()) return x;  // finish says so
        const ModuleKind kind = moduleKindOf(node.kind)->kind;
        const Shape shape = b.shapeOf(x);
        const auto parameter = [&](std::size_t i) {
            const auto& [name, size] = node.parameters[i];
            return b.parameter(join(own, name), size);
        };
        const auto misfit = [&](std::int64_t expected, const char* what) {
            return wrong(
                join(join(layer, own), kind == ModuleKind::Position || kind == ModuleKind::Scale ? node.name : ""),
                "expects " + std::to_string(expected) + " " + what + ", its input has shape " + toString(shape));
        };
        switch (kind) {
            case ModuleKind::Embedding: return wrong(join(layer, own), "an embedding must be the first module");
            case ModuleKind::Position: {
                const Shape& p = node.parameters[0].second;
                if (p[0] != 1 || p[1] != shape[1])
                    return wrong(node.name, "position of shape " + toString(p) + " does not fit a sequence of " +
                                                std::to_string(shape[1]) + " tokens");
                if (p[2] != shape[2]) return misfit(p[2], "channels");
                return b.addBroadcast(x, parameter(0));
            }
            case ModuleKind::Scale:
                if (node.parameters[0].second[0] != shape.back())
                    return misfit(node.parameters[0].second[0], "channels");
                return b.scaleVector(x, parameter(0));
            case ModuleKind::Linear:
                if (node.parameters[0].second[1] != shape.back())
                    return misfit(node.parameters[0].second[1], "channels");
                return b.linear(x, parameter(0), node.parameters.size() > 1 ? parameter(1) : TensorId{});
            case ModuleKind::LayerNorm:
            case ModuleKind::RmsNorm: {
                if (node.parameters[0].second[0] != shape.back())
                    return misfit(node.parameters[0].second[0], "channels");
                const double epsilon = numberOf(node, "eps").value_or(1e-5);  // torch.nn.LayerNorm's default
                return kind == ModuleKind::LayerNorm ? b.layerNorm(x, parameter(0), parameter(1), epsilon)
                                                     : b.rmsNorm(x, parameter(0), epsilon);
            }
            case ModuleKind::Gelu: return b.gelu(x);
            case ModuleKind::Attention: return attention(b, node, own, layer, x);
            case ModuleKind::Residual: {
                SHARDSCOPE_ASSIGN(const TensorId y, children(b, node, own, layer, x));
                if (b.shapeOf(y) != shape && !b.tooLarge())
                    return wrong(join(layer, own), "a residual's modules give shape " + toString(b.shapeOf(y)) +
                                                       ", but its input has " + toString(shape));
                return b.add(x, y);
            }
            case ModuleKind::Sequence:
            case ModuleKind::List: return children(b, node, own, layer, x);
        }
        return x;
    }

    Result<TensorId> child(ProgramBuilder& b, const Node& node, const std::string& own, const std::string& layer,
                           TensorId x) {
        const std::string_view type = moduleKindOf(node.kind)->type;
        if (node.name.empty() || type.empty()) return apply(b, node, own, layer, x);
        const std::string inner = join(own, node.name);
        auto scope = b.in(inner, type);
        return apply(b, node, inner, layer, x);
    }

    Result<TensorId> children(ProgramBuilder& b, const Node& node, const std::string& own, const std::string& layer,
                              TensorId x) {
        for (const Node& inner : node.children) {
            SHARDSCOPE_ASSIGN(x, child(b, inner, own, layer, x));
        }
        return x;
    }

    // Packed projection to q, k and v, scaled dot-product attention, output projection.
    Result<TensorId> attention(ProgramBuilder& b, const Node& node, const std::string& own, const std::string& layer,
                               TensorId x) {
        const std::string place = join(layer, own);
        const double numbers = numberOf(node, "heads").value_or(1);
        const auto heads =
            numbers >= 1 && numbers <= static_cast<double>(kLargestSize) ? static_cast<std::int64_t>(numbers) : 0;
        const Shape shape = b.shapeOf(x);
        const std::int64_t hidden = shape.back();
        if (node.children.size() != 2 || node.children[0].kind != "linear" || node.children[1].kind != "linear")
            return wrong(
                place,
                "an attention must contain two linears: the packed q, k, v projection and the output projection");
        if (node.children[0].parameters[0].second[0] != 3 * hidden)
            return wrong(place, "the first linear must give 3 x " + std::to_string(hidden) + " channels");
        if (heads < 1 || hidden % heads != 0)
            return wrong(place, std::to_string(heads) + " heads do not divide " + std::to_string(hidden) + " channels");
        SHARDSCOPE_ASSIGN(const TensorId packed, child(b, node.children[0], own, layer, x));
        std::vector<TensorId> qkv = b.split(packed, 2, {hidden, hidden, hidden});
        for (TensorId& part : qkv)
            part = b.transpose(b.reshape(part, {shape[0], shape[1], heads, hidden / heads}), 1, 2);
        const bool causal = numberOf(node, "causal").value_or(1) != 0;
        const TensorId context = b.attention(qkv[0], qkv[1], qkv[2], causal, m_workload.attention);
        return child(b, node.children[1], own, layer, b.reshape(b.transpose(context, 1, 2), shape));
    }

    const ModuleTreeSpec& m_spec;
    const Workload& m_workload;
    ModelBuilder m_model;
    std::int64_t m_tokens;
    std::unordered_set<std::string> m_names;
    std::unordered_map<std::string, ParameterId> m_parameters;
    std::vector<Entry> m_stack;
    std::size_t m_next = 1;
    Shape m_shape;                   // of the activations between two layers
    const Node* m_shared = nullptr;  // the last block that later ones may share a program with
    Shape m_sharedShape;
    ProgramId m_sharedProgram;
};

}  // namespace

Result<Model> buildModuleTree(const ModuleTreeSpec& spec, const Workload& workload) {
    return TreeBuilder(spec, workload).build();
}

}  // namespace shardscope::core
