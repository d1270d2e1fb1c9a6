// Cluster tables to values: one list of keys per table drives reading, ranges and messages.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/nearest.h"
#include "core/cluster/cluster.h"
#include "core/cluster/preset_files.h"

namespace shardscope::core {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kGibi = 1024.0 * kMebi;
constexpr double kMicro = 1e-6;

// Beyond `most` a number is taken for a slip of the pen (about 100 times what 2026's largest hardware has).
template <class Owner>
struct NumberKey {
    std::string_view key;
    Sourced Owner::*member;
    double scale;
    double most;
    bool whole = false;
};

template <class Owner>
struct TextKey {
    std::string_view key;
    std::string Owner::*member;
};

constexpr std::array<NumberKey<Gpu>, 13> kGpuNumbers{{
    {"bf16_tflops", &Gpu::bf16Flops, kTera, 1e6},
    {"fp16_tflops", &Gpu::fp16Flops, kTera, 1e6},
    {"tf32_tflops", &Gpu::tf32Flops, kTera, 1e6},
    {"fp32_tflops", &Gpu::fp32Flops, kTera, 1e6},
    {"multiprocessors", &Gpu::multiprocessors, 1, 1e5, true},
    {"memory_gib", &Gpu::memory, kGibi, 1e5},
    {"memory_usable_gib", &Gpu::memoryUsable, kGibi, 1e5},
    {"memory_bandwidth_gbs", &Gpu::memoryBandwidth, kGiga, 1e6},
    {"l2_mib", &Gpu::l2, kMebi, 1e5},
    {"pcie_gbs", &Gpu::pcieBandwidth, kGiga, 1e5},
    {"gemm_share", &Gpu::gemmShare, 1, 1},
    {"sustained_share", &Gpu::sustainedShare, 1, 1},
    {"host_launch_us", &Gpu::hostLaunch, kMicro, 1e5},
}};
constexpr std::array<TextKey<Gpu>, 4> kGpuTexts{{{"title", &Gpu::title},
                                                 {"architecture", &Gpu::architecture},
                                                 {"usual_node", &Gpu::usualNode},
                                                 {"notes", &Gpu::notes}}};
constexpr std::array<NumberKey<Node>, 5> kNodeNumbers{{
    {"link_gbs", &Node::linkBandwidth, kGiga, 1e5},
    {"nics", &Node::nics, 1, 1e4, true},
    {"network_gbs", &Node::networkBandwidth, kGiga, 1e6},
    {"network_latency_us", &Node::networkLatency, kMicro, 1e6},
    {"host_optimizer_gbs", &Node::hostOptimizer, kGiga, 1e5},
}};
constexpr std::array<TextKey<Node>, 3> kNodeTexts{
    {{"title", &Node::title}, {"gpu", &Node::gpu}, {"notes", &Node::notes}}};

constexpr std::array kLinks{LinkKind::NvSwitch, LinkKind::NvLinkMesh, LinkKind::NvLinkBridge,
                            LinkKind::PciePeer, LinkKind::PcieHost,   LinkKind::InfinityFabric};
constexpr std::array kTransports{Transport::InfiniBand, Transport::RoCE, Transport::Efa, Transport::GpuDirectTcp,
                                 Transport::Tcp};
constexpr std::array kConfidences{Confidence::High, Confidence::Medium, Confidence::Low};

std::string join(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, ", "));
}

// A table being read: knows its place for messages and the default origin of its numbers.
struct Table {
    const Document& document;
    std::string file;
    std::string section;  ///< "[cluster.gpu]"; empty for a preset's top level
    std::string source;
    Confidence confidence = Confidence::High;

    [[nodiscard]] std::string where(std::string_view key, const Document& at) const {
        std::string text = file;
        if (at.line > 0) text += fmt::format(":{}", at.line);
        for (std::string_view part : {std::string_view(section), key}) {
            if (part.empty()) continue;
            if (!text.empty()) text += ' ';
            text += part;
        }
        return text;
    }

    [[nodiscard]] tl::unexpected<Error> wrong(std::string_view key, const Document& at, std::string message,
                                              std::string hint = {}) const {
        return fail(ErrorCode::Input, std::move(message), where(key, at), std::move(hint));
    }
};

Result<Table> openTable(const Document& document, const std::string& file, std::string section, std::string source) {
    Table table{document, file, std::move(section), std::move(source)};
    if (document.kind != Document::Kind::Table)
        return table.wrong("", document, fmt::format("found {}, expected a table", describeKind(document.kind)));
    return table;
}

Result<std::string> readText(const Table& table, std::string_view key, const Document& value) {
    if (value.kind != Document::Kind::Text)
        return table.wrong(key, value, fmt::format("found {}, expected a text", describeKind(value.kind)));
    return value.text;
}

template <class Enum, std::size_t N>
Result<Enum> readWord(const Table& table, std::string_view key, const Document& value,
                      const std::array<Enum, N>& known) {
    SHARDSCOPE_ASSIGN(const std::string text, readText(table, key, value));
    std::vector<std::string> words;
    for (Enum e : known) {
        if (nameOf(e) == text) return e;
        words.emplace_back(nameOf(e));
    }
    const std::string near = nearest(text, words);
    return table.wrong(key, value, fmt::format("\"{}\" is none of: {}", text, join(words)),
                       near.empty() ? std::string() : fmt::format("did you mean \"{}\"?", near));
}

Result<std::int64_t> readCount(const Table& table, std::string_view key, const Document& value, std::int64_t most) {
    if (value.kind != Document::Kind::Integer)
        return table.wrong(key, value, fmt::format("found {}, expected a whole number", describeKind(value.kind)));
    if (value.integer < 1 || value.integer > most)
        return table.wrong(key, value, fmt::format("found {}, expected 1 to {}", value.integer, most));
    return value.integer;
}

template <class Owner>
Result<double> readAmount(const Table& table, const NumberKey<Owner>& key, const Document& value) {
    if (!value.isNumber())
        return table.wrong(
            key.key, value,
            fmt::format("found {}, expected a number or {{ value, source, confidence }}", describeKind(value.kind)));
    const double number = value.number();
    if (!std::isfinite(number) || number <= 0)
        return table.wrong(key.key, value, fmt::format("found {:g}, expected a number above zero", number));
    if (number > key.most)
        return table.wrong(key.key, value, fmt::format("found {:g}, expected at most {:g}", number, key.most));
    if (number * key.scale < 1e-12)
        return table.wrong(key.key, value, fmt::format("found {:g}, which is too small to mean anything", number));
    if (key.whole && number != std::floor(number))
        return table.wrong(key.key, value, fmt::format("found {:g}, expected a whole number", number));
    return number * key.scale;
}

template <class Owner>
Result<Sourced> readSourced(const Table& table, const NumberKey<Owner>& key, const Document& value) {
    Sourced result{0, table.source, table.confidence, true};
    if (value.kind != Document::Kind::Table) {
        SHARDSCOPE_ASSIGN(result.value, readAmount(table, key, value));
        return result;
    }
    const Document* amount = value.find("value");
    if (amount == nullptr) return table.wrong(key.key, value, "no \"value\" in the table");
    for (const auto& [name, member] : value.members) {
        const std::string path = fmt::format("{}.{}", key.key, name);
        if (name == "value") {
            SHARDSCOPE_ASSIGN(result.value, readAmount(table, key, member));
        } else if (name == "source") {
            SHARDSCOPE_ASSIGN(result.source, readText(table, path, member));
        } else if (name == "confidence") {
            SHARDSCOPE_ASSIGN(result.confidence, readWord(table, path, member, kConfidences));
        } else {
            return table.wrong(path, member, "unknown key", "known: value, source, confidence");
        }
    }
    return result;
}

tl::unexpected<Error> unknownKey(const Table& table, std::string_view key, const Document& value,
                                 const std::vector<std::string>& known) {
    const std::string near = nearest(key, known);
    return table.wrong(
        key, value, "unknown key",
        near.empty() ? fmt::format("known: {}", join(known)) : fmt::format("did you mean \"{}\"?", near));
}

// `source` and `confidence` of a table hold for all its numbers, wherever they stand in it.
Result<void> readDefaults(Table& table) {
    if (const Document* value = table.document.find("source")) {
        SHARDSCOPE_ASSIGN(table.source, readText(table, "source", *value));
    }
    if (const Document* value = table.document.find("confidence")) {
        SHARDSCOPE_ASSIGN(table.confidence, readWord(table, "confidence", *value, kConfidences));
    }
    return {};
}

template <class Owner, std::size_t N, std::size_t T>
Result<bool> readMember(const Table& table, Owner& owner, const std::array<NumberKey<Owner>, N>& numbers,
                        const std::array<TextKey<Owner>, T>& texts, const std::string& key, const Document& value) {
    for (const auto& number : numbers) {
        if (number.key != key) continue;
        SHARDSCOPE_ASSIGN(owner.*number.member, readSourced(table, number, value));
        return true;
    }
    for (const auto& text : texts) {
        if (text.key != key) continue;
        SHARDSCOPE_ASSIGN(owner.*text.member, readText(table, key, value));
        return true;
    }
    return false;
}

template <class Owner, std::size_t N, std::size_t T>
std::vector<std::string> keysOf(const std::array<NumberKey<Owner>, N>& numbers,
                                const std::array<TextKey<Owner>, T>& texts, std::vector<std::string> more) {
    for (const auto& number : numbers) more.emplace_back(number.key);
    for (const auto& text : texts) more.emplace_back(text.key);
    return more;
}

void assume(Sourced& value, double amount, std::string_view why, Confidence confidence) {
    if (!value.known) value = {amount, std::string(why), confidence, true};
}

Result<Gpu> readGpu(Table& table, Gpu gpu) {
    SHARDSCOPE_TRY(readDefaults(table));
    for (const auto& [key, value] : table.document.members) {
        if (key == "preset" || key == "source" || key == "confidence") continue;
        SHARDSCOPE_ASSIGN(const bool known, readMember(table, gpu, kGpuNumbers, kGpuTexts, key, value));
        if (!known)
            return unknownKey(table, key, value, keysOf(kGpuNumbers, kGpuTexts, {"preset", "source", "confidence"}));
    }
    const auto missing = [&](std::string_view key) {
        return table.wrong("", table.document, fmt::format("\"{}\" is missing", key),
                           "give it, or start from a preset with preset = \"h100-sxm\"");
    };
    if (!gpu.bf16Flops.known && !gpu.fp16Flops.known && !gpu.fp32Flops.known) return missing("bf16_tflops");
    if (!gpu.multiprocessors.known) return missing("multiprocessors");
    if (!gpu.memory.known) return missing("memory_gib");
    if (!gpu.memoryBandwidth.known) return missing("memory_bandwidth_gbs");
    // The least that any preset's device hides from PyTorch is 0.9 % (H200), the most 8.8 % (T4, A10G).
    assume(gpu.memoryUsable, gpu.memory.value * 0.95, "assumed: 95 % of the memory", Confidence::Low);
    if (gpu.memoryUsable.value > gpu.memory.value)
        return table.wrong("memory_usable_gib", table.document,
                           fmt::format("found {:g} GiB, which is more than the memory of {:g} GiB",
                                       gpu.memoryUsable.value / kGibi, gpu.memory.value / kGibi));
    assume(gpu.gemmShare, 0.8, "assumed: as measured on H100", Confidence::Low);
    assume(gpu.sustainedShare, 0.8, "assumed: between A100 and B200", Confidence::Low);
    assume(gpu.hostLaunch, 20 * kMicro, "as measured beside a B200, eager (cost model facts 4.3)", Confidence::Medium);
    assume(gpu.pcieBandwidth, 31 * kGiga, "assumed: PCIe 4 x16", Confidence::Low);
    if (gpu.title.empty()) gpu.title = gpu.name.empty() ? "own GPU" : gpu.name;
    return gpu;
}

Result<Node> readNode(Table& table, Node node, bool fromPreset) {
    SHARDSCOPE_TRY(readDefaults(table));
    bool hasGpus = fromPreset, hasLink = fromPreset, hasTransport = fromPreset, hasDomain = false;
    for (const auto& [key, value] : table.document.members) {
        if (key == "preset" || key == "source" || key == "confidence") continue;
        if (key == "gpus") {
            SHARDSCOPE_ASSIGN(node.gpus, readCount(table, key, value, 1024));
            hasGpus = true;
        } else if (key == "link_domain") {
            SHARDSCOPE_ASSIGN(node.linkDomain, readCount(table, key, value, 65536));
            hasDomain = true;
        } else if (key == "link") {
            SHARDSCOPE_ASSIGN(node.link, readWord(table, key, value, kLinks));
            hasLink = true;
        } else if (key == "transport") {
            SHARDSCOPE_ASSIGN(node.transport, readWord(table, key, value, kTransports));
            hasTransport = true;
        } else {
            SHARDSCOPE_ASSIGN(const bool known, readMember(table, node, kNodeNumbers, kNodeTexts, key, value));
            if (!known)
                return unknownKey(
                    table, key, value,
                    keysOf(kNodeNumbers, kNodeTexts,
                           {"preset", "source", "confidence", "gpus", "link_domain", "link", "transport"}));
        }
    }
    const auto missing = [&](std::string_view key) {
        return table.wrong("", table.document, fmt::format("\"{}\" is missing", key),
                           "give it, or start from a preset with preset = \"dgx-h100\"");
    };
    if (!hasGpus) return missing("gpus");
    if (!hasLink) return missing("link");
    if (!node.linkBandwidth.known) return missing("link_gbs");
    if (!node.networkBandwidth.known) return missing("network_gbs");
    if (!hasTransport) return missing("transport");
    if (!hasDomain && (!fromPreset || node.linkDomain < node.gpus)) node.linkDomain = node.gpus;
    if (node.linkDomain % node.gpus != 0)
        return table.wrong(
            "link_domain", table.document,
            fmt::format("found {}, expected a multiple of the node's {} GPUs", node.linkDomain, node.gpus));
    assume(node.nics, 1, "assumed: one", Confidence::Low);
    if (node.title.empty()) node.title = node.name.empty() ? "own node" : node.name;
    return node;
}

const PresetFile* findPreset(std::span<const PresetFile> files, std::string_view name) {
    for (const PresetFile& file : files)
        if (file.name == name) return &file;
    return nullptr;
}

std::vector<std::string> namesOf(std::span<const PresetFile> files) {
    std::vector<std::string> names;
    for (const PresetFile& file : files) names.emplace_back(file.name);
    return names;
}

tl::unexpected<Error> unknownPreset(std::string_view what, std::string_view name, std::span<const PresetFile> files) {
    const std::vector<std::string> names = namesOf(files);
    const std::string near = nearest(name, names), like = alikeInWords(name, names);
    return fail(ErrorCode::Input, fmt::format("unknown {} preset \"{}\"", what, name), {},
                !near.empty()   ? fmt::format("did you mean \"{}\"?", near)
                : !like.empty() ? like
                                : fmt::format("known: {}", join(names)));
}

Error placed(Error error, std::string where) {
    if (error.where.empty()) error.where = std::move(where);
    return error;
}

Result<Gpu> gpuFrom(const Document& value, const Table& parent) {
    if (value.kind == Document::Kind::Text)
        return gpuPreset(value.text).map_error([&](Error e) {
            return placed(std::move(e), parent.where("gpu", value));
        });
    if (value.kind != Document::Kind::Table)
        return parent.wrong(
            "gpu", value,
            fmt::format("found {}, expected the name of a GPU preset or a table", describeKind(value.kind)));
    SHARDSCOPE_ASSIGN(Table table, openTable(value, parent.file, "[cluster.gpu]", parent.source));
    Gpu gpu;
    if (const Document* preset = value.find("preset")) {
        SHARDSCOPE_ASSIGN(const std::string start, readText(table, "preset", *preset));
        SHARDSCOPE_ASSIGN(gpu, gpuPreset(start).map_error(
                                   [&](Error e) { return placed(std::move(e), table.where("preset", *preset)); }));
    }
    return readGpu(table, std::move(gpu));
}

Result<Node> nodeFrom(const Document& value, const Table& parent) {
    if (value.kind == Document::Kind::Text)
        return nodePreset(value.text).map_error([&](Error e) {
            return placed(std::move(e), parent.where("node", value));
        });
    if (value.kind != Document::Kind::Table)
        return parent.wrong(
            "node", value,
            fmt::format("found {}, expected the name of a node preset or a table", describeKind(value.kind)));
    SHARDSCOPE_ASSIGN(Table table, openTable(value, parent.file, "[cluster.node]", parent.source));
    Node node;
    const Document* preset = value.find("preset");
    if (preset != nullptr) {
        SHARDSCOPE_ASSIGN(const std::string start, readText(table, "preset", *preset));
        SHARDSCOPE_ASSIGN(node, nodePreset(start).map_error(
                                    [&](Error e) { return placed(std::move(e), table.where("preset", *preset)); }));
    }
    return readNode(table, std::move(node), preset != nullptr);
}

/// What the files of presets say does not change: a window asks for it with every change of a knob.
template <class T>
class ReadOnce {
public:
    template <class Read>
    Result<T> of(std::string_view name, const Read& read) {
        const std::scoped_lock lock(m_mutex);
        auto known = m_known.find(name);
        if (known == m_known.end()) known = m_known.emplace(std::string(name), read()).first;
        return known->second;
    }

private:
    std::mutex m_mutex;
    std::map<std::string, Result<T>, std::less<>> m_known;  // guarded by m_mutex
};

}  // namespace

std::vector<std::string> gpuPresetNames() {
    return namesOf(gpuPresetFiles());
}

std::vector<std::string> nodePresetNames() {
    return namesOf(nodePresetFiles());
}

Result<Gpu> gpuPreset(std::string_view name) {
    const PresetFile* file = findPreset(gpuPresetFiles(), name);
    if (file == nullptr) return unknownPreset("GPU", name, gpuPresetFiles());
    static ReadOnce<Gpu> read;
    return read.of(name, [&]() -> Result<Gpu> {
        const std::string label = fmt::format("{}.toml", name);
        SHARDSCOPE_ASSIGN(const Document document, parseToml(file->text, label));
        SHARDSCOPE_ASSIGN(Table table, openTable(document, label, "", label));
        Gpu gpu;
        gpu.name = std::string(name);
        return readGpu(table, std::move(gpu));
    });
}

Result<Node> nodePreset(std::string_view name) {
    const PresetFile* file = findPreset(nodePresetFiles(), name);
    if (file == nullptr) return unknownPreset("node", name, nodePresetFiles());
    static ReadOnce<Node> read;
    return read.of(name, [&]() -> Result<Node> {
        const std::string label = fmt::format("{}.toml", name);
        SHARDSCOPE_ASSIGN(const Document document, parseToml(file->text, label));
        SHARDSCOPE_ASSIGN(Table table, openTable(document, label, "", label));
        Node node;
        node.name = std::string(name);
        return readNode(table, std::move(node), false);
    });
}

Result<Cluster> parseCluster(const Document& document, const std::string& name) {
    SHARDSCOPE_ASSIGN(const Table table, openTable(document, name, "[cluster]",
                                                   name.empty() ? "given" : fmt::format("given in {}", name)));
    static const std::vector<std::string> kKnown{"gpu", "node", "nodes", "gpus_per_node"};
    for (const auto& [key, value] : document.members) {
        bool known = false;
        for (const std::string& candidate : kKnown) known |= candidate == key;
        if (!known) return unknownKey(table, key, value, kKnown);
    }
    const Document* gpu = document.find("gpu");
    const Document* node = document.find("node");
    if (gpu == nullptr && node == nullptr)
        return table.wrong("", document, "neither \"gpu\" nor \"node\" is given", "for example gpu = \"h100-sxm\"");

    Cluster cluster;
    if (node != nullptr) {
        SHARDSCOPE_ASSIGN(cluster.node, nodeFrom(*node, table));
    }
    if (gpu != nullptr) {
        SHARDSCOPE_ASSIGN(cluster.gpu, gpuFrom(*gpu, table));
    } else {
        if (cluster.node.gpu.empty())
            return table.wrong("", document, "the node does not say which GPUs it holds", "give gpu as well");
        SHARDSCOPE_ASSIGN(cluster.gpu, gpuPreset(cluster.node.gpu).map_error([&](Error e) {
            return placed(std::move(e), table.where("node", *node));
        }));
    }
    if (node == nullptr) {
        if (cluster.gpu.usualNode.empty())
            return table.wrong("", document, "the GPU does not say in which node it usually sits", "give node as well");
        SHARDSCOPE_ASSIGN(cluster.node, nodePreset(cluster.gpu.usualNode).map_error([&](Error e) {
            return placed(std::move(e), table.where("gpu", *gpu));
        }));
    }
    if (const Document* value = document.find("nodes")) {
        SHARDSCOPE_ASSIGN(cluster.nodes, readCount(table, "nodes", *value, 1'000'000));
    }
    cluster.gpusPerNode = cluster.node.gpus;
    if (const Document* value = document.find("gpus_per_node")) {
        SHARDSCOPE_ASSIGN(cluster.gpusPerNode, readCount(table, "gpus_per_node", *value, 1024));
        if (cluster.gpusPerNode > cluster.node.gpus)
            return table.wrong(
                "gpus_per_node", *value,
                fmt::format("found {}, but {} has {} GPUs", cluster.gpusPerNode, cluster.node.title, cluster.node.gpus),
                "use more nodes, or describe a node of your own");
    }
    cluster.name = cluster.nodes == 1
                       ? fmt::format("{} x {}", cluster.gpusPerNode, cluster.gpu.title)
                       : fmt::format("{} x {} {}", cluster.nodes, cluster.gpusPerNode, cluster.gpu.title);
    return cluster;
}

Result<Cluster> makeCluster(std::string_view gpu, std::string_view node, std::int64_t nodes, std::int64_t gpusPerNode) {
    Document document = Document::table();
    if (!gpu.empty()) document.set("gpu", Document::of(std::string(gpu)));
    if (!node.empty()) document.set("node", Document::of(std::string(node)));
    document.set("nodes", Document::of(nodes));
    if (gpusPerNode != 0) document.set("gpus_per_node", Document::of(gpusPerNode));
    return parseCluster(document, "");
}

}  // namespace shardscope::core
