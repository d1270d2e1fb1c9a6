#include "sim/memory/peak_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace shardscope::sim {
namespace {

using core::Block;
using core::MemoryCategory;
using core::Program;
using core::StepGraph;
using core::TensorId;
using core::TensorRole;

constexpr std::size_t kMostNames = 4;

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > kMostNames) text += fmt::format(" and {} more", names.size() - kMostNames);
    return text;
}

/// "blocks.0 .. 9": what both names begin with stands there once.
std::string rangeOf(const std::string& first, const std::string& last) {
    const auto digits = [](const std::string& name) {
        const std::size_t at = name.find_last_not_of("0123456789");
        return at == std::string::npos ? 0 : at + 1;
    };
    const std::size_t at = digits(first);
    const bool numbered = at < first.size() && at < last.size() && at == digits(last);
    return first + " .. " + (numbered && first.compare(0, at, last, 0, at) == 0 ? last.substr(at) : last);
}

/// The names of a program's storages, split at the last dot: "self_attention", "logsumexp".
class ProgramNames {
public:
    explicit ProgramNames(const Program& program) : m_program(program), m_group(program.tensors.size()) {
        // What attention reads is better known by its place there than by the copy that made it.
        std::map<std::uint32_t, std::string> places;
        for (const core::Kernel& kernel : program.forward) {
            if (kernel.kind != core::KernelKind::Attention) continue;
            const char* letters[] = {"q", "k", "v"};
            for (std::size_t i = 0; i < std::min<std::size_t>(kernel.inputs.size(), 3); ++i) {
                std::string& name = places[ownerOf(kernel.inputs[i]).value];
                name += (name.empty() ? "" : " ") + std::string(letters[i]);
            }
        }
        for (std::uint32_t t = 0; t < program.tensors.size(); ++t) {
            const std::string& name = program.tensors[t].name;
            const std::size_t dot = name.rfind('.');
            const std::string module = dot == std::string::npos ? "" : name.substr(0, dot);
            auto group = std::find(m_modules.begin(), m_modules.end(), module);
            if (group == m_modules.end()) group = m_modules.insert(m_modules.end(), module);
            m_group[t] = static_cast<std::uint32_t>(group - m_modules.begin());
            std::string shown = dot == std::string::npos ? name : name.substr(dot + 1);
            if (const auto place = places.find(t); place != places.end()) shown = place->second;
            if (program.tensors[t].role == TensorRole::Output) shown = "output";
            if (program.tensors[t].role == TensorRole::Input) shown = "input";
            if (program.tensors[t].role == TensorRole::InputGradient) shown = "gradient of the input";
            if (program.tensors[t].role == TensorRole::OutputGradient) shown = "gradient of the output";
            m_shown.push_back(std::move(shown));
        }
    }

    [[nodiscard]] std::uint32_t groupOf(TensorId tensor) const { return m_group[tensor.index()]; }
    [[nodiscard]] std::int64_t bytesOf(TensorId tensor) const { return m_program.tensor(tensor).bytes().value; }
    /// Largest first.
    [[nodiscard]] std::string textOf(std::uint32_t group, std::vector<TensorId> tensors) const {
        std::stable_sort(tensors.begin(), tensors.end(),
                         [&](TensorId a, TensorId b) { return bytesOf(a) > bytesOf(b); });
        std::vector<std::string> names;
        for (const TensorId tensor : tensors) names.push_back(m_shown[tensor.index()]);
        return (m_modules[group].empty() ? "" : m_modules[group] + ": ") + listed(names);
    }

private:
    [[nodiscard]] TensorId ownerOf(TensorId tensor) const {
        const core::Tensor& t = m_program.tensor(tensor);
        return t.storage.valid() ? t.storage : tensor;
    }

    const Program& m_program;
    std::vector<std::uint32_t> m_group;
    std::vector<std::string> m_modules, m_shown;
};

/// Adds up what is alike: the same category, words and size under several owners.
class Lines {
public:
    void add(MemoryCategory category, std::string tensors, const std::string& owner, std::int64_t bytes) {
        Line& line = m_lines[{static_cast<int>(category), std::move(tensors), bytes}];
        if (line.count == 0) line.first = owner;
        line.last = owner;
        ++line.count;
    }

    [[nodiscard]] std::vector<MemoryPart> parts() const {
        std::vector<MemoryPart> parts;
        for (const auto& [key, line] : m_lines) {
            const auto& [category, tensors, each] = key;
            parts.push_back({static_cast<MemoryCategory>(category),
                             tensors,
                             line.count == 1 ? line.first : rangeOf(line.first, line.last),
                             line.count,
                             {each * line.count}});
        }
        std::stable_sort(parts.begin(), parts.end(),
                         [](const MemoryPart& a, const MemoryPart& b) { return a.bytes > b.bytes; });
        return parts;
    }

private:
    struct Line {
        std::string first, last;
        std::int64_t count = 0;
    };
    std::map<std::tuple<int, std::string, std::int64_t>, Line> m_lines;
};

class Explainer {
public:
    Explainer(const StepGraph& graph, const core::Model& model)
        : m_graph(graph), m_model(model), m_names(model.programs.size()) {}

    void add(const Block& block, std::int64_t bytes) {
        if (bytes <= 0) return;
        if (block.category == MemoryCategory::Activations && block.storageCount > 0) {
            addStorages(block, bytes);
        } else if (block.category == MemoryCategory::UnshardedGradients && isCompute(block.firstUse)) {
            addGradients(block, bytes);
        } else {
            m_pieces.push_back({&block, bytes});
        }
    }

    [[nodiscard]] std::vector<MemoryPart> parts() {
        Lines lines;
        addPieces(lines);
        addGroups(lines);
        for (const auto& [layer, gradients] : m_gradients)
            lines.add(MemoryCategory::UnshardedGradients, listed(gradients.names), m_model.layers[layer].name,
                      gradients.bytes);
        return lines.parts();
    }

private:
    struct Piece {
        const Block* block = nullptr;
        std::int64_t bytes = 0;
    };
    struct Storage {
        std::uint32_t layer = 0, group = 0;
        TensorId tensor;
        auto operator<=>(const Storage&) const = default;
    };
    struct Group {  // the same tensors of layers that share a program
        std::uint32_t program = 0, group = 0;
        std::span<const Storage> tensors;
        std::vector<std::uint32_t> layers;
        std::int64_t bytes = 0;  // of one layer
    };
    struct Gradients {
        std::vector<std::string> names;
        std::int64_t bytes = 0;
    };

    [[nodiscard]] bool isCompute(core::OpId op) const {
        return op.valid() && m_graph.ops[op.index()].kind == core::OpKind::Compute;
    }

    [[nodiscard]] const ProgramNames& namesOf(core::ProgramId program) {
        std::optional<ProgramNames>& names = m_names[program.index()];
        if (!names) names.emplace(m_model.programs[program.index()]);
        return *names;
    }

    void addStorages(const Block& block, std::int64_t bytes) {
        for (std::uint32_t i = 0; i < block.storageCount; ++i) {
            const core::StorageRef& ref = m_graph.blockStorages[block.storageBegin + i];
            const ProgramNames& names = namesOf(m_model.layers[ref.layer.index()].program);
            m_storages.push_back({ref.layer.value, names.groupOf(ref.tensor), ref.tensor});
            bytes -= names.bytesOf(ref.tensor);
        }
        if (bytes != 0) m_pieces.push_back({&block, bytes});
    }

    // Layers of one program of which the same tensors are alive become one line. Texts are made once a line: there are
    // hundreds of layers with a score of tensors each.
    void addGroups(Lines& lines) {
        std::sort(m_storages.begin(), m_storages.end());
        std::vector<Group> groups;
        const std::span<const Storage> all(m_storages);
        for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
            // No structured binding: clang 14 lets no lambda capture one.
            const auto layer = all[begin].layer;
            const auto group = all[begin].group;
            while (end < all.size() && all[end].layer == layer && all[end].group == group) ++end;
            const std::span<const Storage> tensors = all.subspan(begin, end - begin);
            const core::ProgramId program = m_model.layers[layer].program;
            auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& known) {
                return known.program == program.value && known.group == group &&
                       std::equal(tensors.begin(), tensors.end(), known.tensors.begin(), known.tensors.end(),
                                  [](const Storage& x, const Storage& y) { return x.tensor == y.tensor; });
            });
            if (same == groups.end()) {
                same = groups.insert(groups.end(), {program.value, group, tensors, {}, 0});
                for (const Storage& storage : tensors) same->bytes += namesOf(program).bytesOf(storage.tensor);
            }
            same->layers.push_back(layer);
        }
        for (const Group& group : groups) {
            std::vector<TensorId> tensors;
            for (const Storage& storage : group.tensors) tensors.push_back(storage.tensor);
            const std::string text = namesOf(core::ProgramId(group.program)).textOf(group.group, std::move(tensors));
            for (const std::uint32_t layer : group.layers)
                lines.add(MemoryCategory::Activations, text, m_model.layers[layer].name, group.bytes);
        }
    }

    // Pieces of one unit that are alike (a gradient apiece) are one.
    void addPieces(Lines& lines) {
        std::map<std::tuple<int, std::uint32_t, std::uint32_t, std::string>, std::int64_t> sums;
        for (const auto& [block, bytes] : m_pieces) {
            core::LayerId layer = block->layer;
            if (!block->unit.valid() && isCompute(block->firstUse))
                layer = m_graph.ops[block->firstUse.index()].kernels.layer;
            sums[{static_cast<int>(block->category), block->unit.value, layer.value, wordsOf(*block)}] += bytes;
        }
        for (const auto& [key, bytes] : sums) {
            const auto& [category, unit, layer, words] = key;
            lines.add(static_cast<MemoryCategory>(category), words, ownerOf(unit, layer), bytes);
        }
    }

    // The gradients that a compute op has just made: the parameters of its layer whose gradients its kernels write.
    void addGradients(const Block& block, std::int64_t bytes) {
        const core::KernelRange& range = m_graph.ops[block.firstUse.index()].kernels;
        const core::Layer& layer = m_model.layers[range.layer.index()];
        const Program& program = m_model.programOf(layer);
        Gradients& gradients = m_gradients[range.layer.index()];
        gradients.bytes += bytes;
        const std::vector<core::Kernel>& kernels = range.backward ? program.backward : program.forward;
        for (std::uint32_t k = range.first; k < range.first + range.count; ++k)
            for (const TensorId output : kernels[k].outputs) {
                const core::Tensor& tensor = program.tensor(output);
                if (tensor.role != TensorRole::ParameterGradient) continue;
                const core::Parameter& parameter = m_model.parameters[layer.parameters[tensor.slot].index()];
                if (block.unit.valid() && !holds(m_graph.units[block.unit.index()], layer.parameters[tensor.slot]))
                    continue;
                const std::string prefix = layer.name + ".";
                std::string name =
                    parameter.name.starts_with(prefix) ? parameter.name.substr(prefix.size()) : parameter.name;
                if (std::find(gradients.names.begin(), gradients.names.end(), name) == gradients.names.end())
                    gradients.names.push_back(std::move(name));
            }
    }

    [[nodiscard]] static bool holds(const core::Unit& unit, core::ParameterId parameter) {
        return std::find(unit.parameters.begin(), unit.parameters.end(), parameter) != unit.parameters.end();
    }

    [[nodiscard]] std::string ownerOf(std::uint32_t unit, std::uint32_t layer) const {
        if (unit != core::UnitId::kNone) return m_graph.units[unit].name;
        if (layer != core::LayerId::kNone) return m_model.layers[layer].name;
        return "all units";
    }

    [[nodiscard]] bool isCopyIn(core::OpId op) const {
        return op.valid() && m_graph.ops[op.index()].kind == core::OpKind::ReduceCopyIn;
    }

    [[nodiscard]] std::string wordsOf(const Block& block) const {
        const core::Precision& precision = m_graph.plan.precision;
        const bool sharding = m_graph.plan.policy == core::UnitPolicy::Fsdp;
        switch (block.category) {
            case MemoryCategory::ShardedParameters: return tensorsOf(block) + ", the own shard";
            case MemoryCategory::UnshardedParameters: {
                if (!block.unit.valid()) return "parameters of no unit";
                if (block.persistent) return tensorsOf(block);
                if (!sharding) return tensorsOf(block) + fmt::format(" in {}", core::nameOf(precision.compute()));
                const core::Unit& unit = m_graph.units[block.unit.index()];
                const std::int64_t whole = (unit.paddedElements - unit.originalPadded) * sizeOf(precision.compute()) +
                                           unit.originalPadded * sizeOf(precision.original);
                return tensorsOf(block) + (block.bytes.value < whole ? ", the slice kept after forward" : ", gathered");
            }
            case MemoryCategory::ShardedGradients: return "reduced gradients, the own shard";
            case MemoryCategory::UnshardedGradients: return block.persistent ? "gradients, in the bucket" : "gradients";
            case MemoryCategory::GatherBuffers: return "all-gather output";
            case MemoryCategory::ReduceBuffers:
                if (block.persistent) return "bucket of gradients";
                return m_graph.streams[block.pool].kind == core::StreamKind::Compute || isCopyIn(block.firstUse)
                           ? "reduce-scatter input"
                           : "reduce-scatter output";
            case MemoryCategory::OptimizerState:
                switch (m_graph.plan.optimizer) {
                    case core::OptimizerKind::SgdMomentum: return "momentum_buffer";
                    case core::OptimizerKind::AdamW8bit: return "exp_avg, exp_avg_sq in 8 bits";
                    default: return "exp_avg, exp_avg_sq";
                }
            case MemoryCategory::Activations: return "activations";
            case MemoryCategory::Workspace:
                if (!isCompute(block.firstUse))
                    return block.firstUse.valid() ? "for " + labelOf(m_graph, m_model, block.firstUse) : "workspace";
                if (block.unit.valid()) return "gradients to be added";
                return m_graph.ops[block.firstUse.index()].kernels.backward ? "temporaries of its backward"
                                                                            : "temporaries of its forward";
        }
        return "";
    }

    [[nodiscard]] std::string tensorsOf(const Block& block) const {
        if (!block.unit.valid()) return "parameters";
        const std::size_t count = m_graph.units[block.unit.index()].parameters.size();
        return fmt::format("{} {}", count, count == 1 ? "parameter" : "parameters");
    }

    const StepGraph& m_graph;
    const core::Model& m_model;
    std::vector<std::optional<ProgramNames>> m_names;  // by program
    std::vector<Piece> m_pieces;
    std::vector<Storage> m_storages;
    std::map<std::size_t, Gradients> m_gradients;  // by layer
};

}  // namespace

std::vector<MemoryPart> partsOf(const StepGraph& graph, const core::Model& model, std::span<const std::uint8_t> live,
                                std::span<const std::int64_t> bytes, std::size_t first) {
    Explainer explainer(graph, model);
    for (std::size_t i = 0; i < live.size(); ++i)
        if (live[i] != 0) explainer.add(graph.blocks[first + i], bytes[i]);
    return explainer.parts();
}

}  // namespace shardscope::sim
