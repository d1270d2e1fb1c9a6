#include <algorithm>
#include <array>
#include <utility>

#include "core/base/nearest.h"
#include "core/model/module_tree.h"
#include "core/model/size_check.h"

namespace shardscope::core {
namespace {

using Node = ModuleTreeSpec::Node;

constexpr int kDeepest = 64;
constexpr std::size_t kMostNodes = 200'000;

constexpr std::array<ModuleKindRow, 11> kKinds{{
    {ModuleKind::Embedding, "embedding", "Embedding"},
    {ModuleKind::Position, "position", ""},
    {ModuleKind::Linear, "linear", "Linear"},
    {ModuleKind::LayerNorm, "layer_norm", "LayerNorm"},
    {ModuleKind::RmsNorm, "rms_norm", "RMSNorm"},
    {ModuleKind::Attention, "attention", "Attention"},
    {ModuleKind::Gelu, "gelu", "GELU"},
    {ModuleKind::Scale, "scale", ""},
    {ModuleKind::Residual, "residual", "Residual"},
    {ModuleKind::Sequence, "sequence", "Sequential"},
    {ModuleKind::List, "list", "ModuleList"},
}};

std::size_t countOf(const Node& node) {
    std::size_t count = 1;
    for (const Node& child : node.children) count += countOf(child);
    return count;
}

class Reader {
public:
    explicit Reader(std::string file) : m_file(std::move(file)) {}

    Result<ModuleTreeSpec> read(const Document& file) {
        if (file.kind != Document::Kind::Table)
            return wrong(file, "",
                         "found " + std::string(describeKind(file.kind)) + ", expected a table with `modules`");
        ModuleTreeSpec spec;
        spec.name = m_file;
        SHARDSCOPE_TRY(checkKeys(file, "", {"name", "vocab", "sequence", "modules"}));
        if (const Document* name = file.find("name")) {
            if (name->kind != Document::Kind::Text) return wrong(*name, "name", "expected a string");
            spec.name = name->text;
        }
        SHARDSCOPE_TRY(size(file, "vocab", "", spec.vocab));
        SHARDSCOPE_TRY(size(file, "sequence", "", spec.sequence));
        spec.root.kind = "sequence";
        SHARDSCOPE_TRY(modules(file, "", 0, spec.root));
        if (spec.root.children.empty())
            return wrong(file, "modules", "the model has no modules",
                         "list its modules in the order in which they run");
        return spec;
    }

private:
    tl::unexpected<Error> wrong(const Document& at, const std::string& place, std::string message,
                                std::string hint = {}) const {
        std::string where = m_file;
        if (at.line > 0) where += ":" + std::to_string(at.line);
        if (!place.empty()) where += " " + place;
        return fail(ErrorCode::Input, std::move(message), std::move(where), std::move(hint));
    }

    Result<void> checkKeys(const Document& table, const std::string& place,
                           const std::vector<std::string>& known) const {
        for (const auto& [key, value] : table.members) {
            if (std::find(known.begin(), known.end(), key) != known.end()) continue;
            const std::string close = nearest(key, known);
            return wrong(value.line > 0 ? value : table, place, "unknown key `" + key + "`",
                         close.empty() ? std::string() : "did you mean `" + close + "`?");
        }
        return {};
    }

    /// Sets `value` if the key is there: a whole number of at least 1.
    Result<void> size(const Document& table, std::string_view key, const std::string& place,
                      std::int64_t& value) const {
        const Document* found = table.find(key);
        if (found == nullptr) return {};
        if (found->kind != Document::Kind::Integer || found->integer < 1 || found->integer > kLargestSize)
            return wrong(*found, place, std::string(key) + " must be a whole number from 1 to 2^31");
        value = found->integer;
        return {};
    }

    Result<Shape> shape(const Document& table, const std::string& place, std::size_t dimensions,
                        const char* meaning) const {
        const std::string expected = std::string("expected `shape` = ") + meaning;
        const Document* found = table.find("shape");
        if (found == nullptr) return wrong(table, place, "no shape; " + expected);
        if (found->kind != Document::Kind::List || found->items.size() != dimensions)
            return wrong(*found, place,
                         "the shape is not of " + std::to_string(dimensions) + " dimensions; " + expected);
        Shape shape;
        for (const Document& item : found->items) {
            if (item.kind != Document::Kind::Integer || item.integer < 1 || item.integer > kLargestSize)
                return wrong(*found, place, "a dimension is no whole number from 1 to 2^31; " + expected);
            shape.push_back(item.integer);
        }
        return shape;
    }

    Result<void> modules(const Document& table, const std::string& place, int depth, Node& parent) {
        const Document* list = table.find("modules");
        if (list == nullptr) return {};
        if (list->kind != Document::Kind::List) return wrong(*list, place, "`modules` must be a list of tables");
        for (const Document& item : list->items) {
            SHARDSCOPE_ASSIGN(Node child, node(item, place, depth + 1));
            parent.children.push_back(std::move(child));
        }
        return {};
    }

    Result<Node> node(const Document& table, const std::string& around, int depth) {
        if (table.kind != Document::Kind::Table) return wrong(table, around, "a module must be a table with `kind`");
        if (depth > kDeepest) return wrong(table, around, "modules are nested deeper than " + std::to_string(kDeepest));
        if (++m_nodes > kMostNodes) return wrong(table, around, "more than " + std::to_string(kMostNodes) + " modules");
        Node node;
        const Document* name = table.find("name");
        if (name != nullptr && name->kind != Document::Kind::Text)
            return wrong(*name, around, "a name must be a string");
        if (name != nullptr) node.name = name->text;
        const std::string place = around.empty() || node.name.empty() ? around + node.name : around + "." + node.name;

        const Document* word = table.find("kind");
        if (word == nullptr || word->kind != Document::Kind::Text)
            return wrong(table, place, "a module has no `kind`", "give one of " + words());
        node.kind = word->text;
        const ModuleKindRow* row = moduleKindOf(node.kind);
        if (row == nullptr) {
            const std::string close = nearest(node.kind, moduleKindWords());
            return wrong(*word, place, "unknown kind `" + node.kind + "`, expected one of " + words(),
                         close.empty() ? std::string() : "did you mean `" + close + "`?");
        }
        SHARDSCOPE_TRY(fill(table, place, depth, row->kind, node));
        return node;
    }

    Result<void> fill(const Document& table, const std::string& place, int depth, ModuleKind kind, Node& node) {
        std::vector<std::string> keys{"kind", "name"};
        const auto allow = [&](std::initializer_list<const char*> more) {
            keys.insert(keys.end(), more.begin(), more.end());
        };
        switch (kind) {
            case ModuleKind::Embedding: allow({"shape"}); break;
            case ModuleKind::Position:
            case ModuleKind::Scale: allow({"shape"}); break;
            case ModuleKind::Linear: allow({"shape", "bias", "tied"}); break;
            case ModuleKind::LayerNorm:
            case ModuleKind::RmsNorm: allow({"shape", "eps"}); break;
            case ModuleKind::Attention: allow({"heads", "causal", "modules"}); break;
            case ModuleKind::Gelu: break;
            case ModuleKind::Residual:
            case ModuleKind::Sequence: allow({"modules"}); break;
            case ModuleKind::List: allow({"modules", "repeat"}); break;
        }
        SHARDSCOPE_TRY(checkKeys(table, place, keys));
        SHARDSCOPE_TRY(modules(table, place, depth, node));
        switch (kind) {
            case ModuleKind::Embedding: return weight(table, place, 2, "[rows, width]", "weight", node);
            case ModuleKind::Position: return weight(table, place, 3, "[1, tokens, width]", node.name, node);
            case ModuleKind::Scale: return weight(table, place, 1, "[width]", node.name, node);
            case ModuleKind::Linear: return linear(table, place, node);
            case ModuleKind::LayerNorm:
            case ModuleKind::RmsNorm: {
                SHARDSCOPE_TRY(weight(table, place, 1, "[width]", "weight", node));
                if (kind == ModuleKind::LayerNorm) node.parameters.emplace_back("bias", node.parameters.front().second);
                return epsilon(table, place, node);
            }
            case ModuleKind::Attention: return attention(table, place, node);
            case ModuleKind::List: return repeat(table, place, node);
            default: return {};
        }
    }

    Result<void> weight(const Document& table, const std::string& place, std::size_t dimensions, const char* meaning,
                        const std::string& name, Node& node) const {
        SHARDSCOPE_ASSIGN(Shape found, shape(table, place, dimensions, meaning));
        node.parameters.emplace_back(name, std::move(found));
        return {};
    }

    Result<bool> flag(const Document& table, std::string_view key, const std::string& place, bool otherwise) const {
        const Document* found = table.find(key);
        if (found == nullptr) return otherwise;
        if (found->kind != Document::Kind::Boolean)
            return wrong(*found, place, std::string(key) + " must be true or false");
        return found->boolean;
    }

    Result<void> linear(const Document& table, const std::string& place, Node& node) const {
        if (const Document* tied = table.find("tied")) {
            if (tied->kind != Document::Kind::Text || tied->text.empty())
                return wrong(*tied, place, "`tied` must be the full name of the module whose weight this one uses");
            node.tiedTo = tied->text;
        }
        SHARDSCOPE_ASSIGN(const Shape found, shape(table, place, 2, "[out, in]"));
        node.parameters.emplace_back("weight", found);
        SHARDSCOPE_ASSIGN(const bool bias, flag(table, "bias", place, node.tiedTo.empty()));
        if (bias) node.parameters.emplace_back("bias", Shape{found[0]});
        return {};
    }

    Result<void> epsilon(const Document& table, const std::string& place, Node& node) const {
        const Document* found = table.find("eps");
        if (found == nullptr) return {};
        if (!found->isNumber() || !(found->number() >= 0) || !(found->number() < 1))
            return wrong(*found, place, "eps must be a number from 0 to 1");
        node.numbers.emplace_back("eps", found->number());
        return {};
    }

    Result<void> attention(const Document& table, const std::string& place, Node& node) const {
        std::int64_t heads = 1;
        SHARDSCOPE_TRY(size(table, "heads", place, heads));
        SHARDSCOPE_ASSIGN(const bool causal, flag(table, "causal", place, true));
        node.numbers.emplace_back("heads", static_cast<double>(heads));
        node.numbers.emplace_back("causal", causal ? 1 : 0);
        return {};
    }

    Result<void> repeat(const Document& table, const std::string& place, Node& node) {
        std::int64_t times = 0;
        SHARDSCOPE_TRY(size(table, "repeat", place, times));
        if (times == 0) {
            for (std::size_t i = 0; i < node.children.size(); ++i)
                if (node.children[i].name.empty()) node.children[i].name = std::to_string(i);
            return {};
        }
        if (node.children.size() != 1 || !node.children.front().name.empty())
            return wrong(table, place, "a repeated list must have exactly one module, without a name");
        const std::size_t size = countOf(node.children.front());
        if (times > kMostLayers || size * static_cast<std::size_t>(times) > kMostNodes - m_nodes)
            return wrong(table, place,
                         "repeat " + std::to_string(times) + " gives more than " + std::to_string(kMostLayers) +
                             " layers or " + std::to_string(kMostNodes) + " modules");
        m_nodes += size * static_cast<std::size_t>(times);
        const Node body = std::move(node.children.front());
        node.children.assign(static_cast<std::size_t>(times), body);
        for (std::size_t i = 0; i < node.children.size(); ++i) node.children[i].name = std::to_string(i);
        return {};
    }

    static std::string words() {
        std::string all;
        for (const ModuleKindRow& row : kKinds) all += (all.empty() ? "" : ", ") + std::string(row.word);
        return all;
    }

    std::string m_file;
    std::size_t m_nodes = 0;
};

}  // namespace

const ModuleKindRow* moduleKindOf(std::string_view word) {
    const auto* row = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& known) { return known.word == word; });
    return row == kKinds.end() ? nullptr : row;
}

std::vector<std::string> moduleKindWords() {
    std::vector<std::string> words;
    for (const ModuleKindRow& row : kKinds) words.emplace_back(row.word);
    return words;
}

Result<ModuleTreeSpec> readModuleTree(const Document& file, const std::string& name) {
    return Reader(name).read(file);
}

}  // namespace shardscope::core
