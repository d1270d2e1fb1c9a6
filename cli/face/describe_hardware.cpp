#include "cli/face/describe_hardware.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/face/draw_hardware.h"
#include "cli/face/text_table.h"
#include "core/base/nearest.h"
#include "sim/price/collective_price.h"

namespace shardscope::cli {
namespace {

using core::Document;
using core::Result;

std::string amountText(const core::Sourced& value, const char* unit, double scale) {
    if (!value.known) return "unknown";
    return fmt::format("{:.4g}{}{}", value.value / scale, *unit == '\0' ? "" : " ", unit);
}

HardwareFigure share(std::string name, double value, std::string_view source, core::Confidence confidence) {
    return {std::move(name), fmt::format("{:.3g}", value), {value, std::string(source), confidence, true}};
}

HardwareFigure microseconds(std::string name, double seconds, std::string_view source, core::Confidence confidence) {
    return {std::move(name), fmt::format("{:.3g} us", seconds * 1e6), {seconds, std::string(source), confidence, true}};
}

HardwareFigure mebibytes(std::string name, double bytes, std::string_view source, core::Confidence confidence) {
    return {
        std::move(name), fmt::format("{:.3g} MiB", bytes / 1048576), {bytes, std::string(source), confidence, true}};
}

/// `pairSource`: where the share between two GPUs was measured; empty: nowhere.
void addConstants(std::vector<HardwareFigure>& all, const std::string& of, const sim::LinkConstants& constants,
                  std::string_view pairSource) {
    const auto name = [&](const char* what) { return of + ": " + what; };
    all.push_back(
        share(name("share of the rate in collectives"), constants.share, constants.source, constants.confidence));
    if (constants.lead > 0)
        all.push_back(
            share(name("x, for n ranks times 1 - x / n"), constants.lead, constants.source, constants.confidence));
    all.push_back(share(name("share of the rate between two GPUs"), constants.pairShare,
                        pairSource.empty() ? "assumed" : pairSource,
                        pairSource.empty() ? core::Confidence::Low : core::Confidence::Medium));
    all.push_back(mebibytes(name("size at which half of the rate is reached"), constants.halfSize, constants.source,
                            constants.confidence));
    if (constants.offset > 0)
        all.push_back(microseconds(name("time beyond NCCL's own constants"), constants.offset, constants.source,
                                   constants.confidence));
}

GroupRate rateOf(std::string group, const core::Cluster& cluster, sim::Placement placement) {
    const sim::CollectivePath path = sim::pathOf(cluster, placement);
    return {std::move(group), placement.ranks, placement.domains, path.bus, path.offset};
}

/// Groups that plans have: of one node (FSDP), over two nodes, one GPU of each (the replicas of HSDP).
Result<std::vector<GroupRate>> groupsOf(const core::Node& node) {
    std::vector<GroupRate> groups;
    SHARDSCOPE_ASSIGN(const core::Cluster one, core::makeCluster(node.gpu, node.name, 1));
    if (node.gpus > 2) groups.push_back(rateOf("2 GPUs of a node", one, {2, 1, 2}));
    if (node.gpus > 1)
        groups.push_back(rateOf(fmt::format("{} GPUs of a node", node.gpus), one, {node.gpus, 1, node.gpus}));
    if (one.domainRanks() > node.gpus)
        groups.push_back(
            rateOf(fmt::format("{} GPUs of a rack's {} nodes", one.domainRanks(), one.domainRanks() / node.gpus), one,
                   {one.domainRanks(), 1, one.domainRanks()}));
    const std::int64_t domain = one.domainRanks();
    SHARDSCOPE_ASSIGN(const core::Cluster two, core::makeCluster(node.gpu, node.name, 2 * domain / node.gpus));
    const std::string of = domain > node.gpus ? "racks" : "nodes";
    if (domain > 1)
        groups.push_back(rateOf(fmt::format("all {} GPUs of 2 {}", 2 * domain, of), two, {2 * domain, 2, domain}));
    groups.push_back(rateOf(fmt::format("one GPU of each of 2 {}, beside the others' groups", of), two, {2, 2, 1}));
    return groups;
}

Result<HardwareDescription> describeNode(const core::Node& node) {
    HardwareDescription out{"node", node.name, fmt::format("{}, {} x {}", node.title, node.gpus, node.gpu)};
    SHARDSCOPE_ASSIGN(const core::Gpu gpu, core::gpuPreset(node.gpu));
    out.drawing = drawNode(node, gpu);
    out.figures = figuresOf(node);
    out.figures.push_back(
        {"PCIe, per GPU and direction", amountText(gpu.pcieBandwidth, "GB/s", 1e9), gpu.pcieBandwidth});
    const sim::GpuFamily family = sim::familyOf(gpu);
    if (node.gpus > 1)
        addConstants(out.constants, "link", sim::linkConstantsOf(node.link, family, node.gpus),
                     node.link == core::LinkKind::NvSwitch
                         ? "nvbandwidth copies of A100, H100 and GB200 (cost model facts 2.3)"
                         : "");
    const sim::LinkConstants network = sim::networkConstantsOf(node.transport);
    addConstants(out.constants, "network", network, "");
    if (node.networkLatency.known) {
        std::erase_if(out.constants, [](const HardwareFigure& figure) {
            return figure.name == "network: time beyond NCCL's own constants";
        });
        out.constants.push_back({"network: time beyond NCCL's own constants",
                                 amountText(node.networkLatency, "us", 1e-6), node.networkLatency});
    }
    SHARDSCOPE_ASSIGN(out.groups, groupsOf(node));
    out.notes = node.notes;
    return out;
}

Result<HardwareDescription> describeGpu(const core::Gpu& gpu) {
    HardwareDescription out{"gpu", gpu.name,
                            fmt::format("{} ({}), usually in {}", gpu.title, gpu.architecture, gpu.usualNode)};
    SHARDSCOPE_ASSIGN(const core::Node node, core::nodePreset(gpu.usualNode));
    out.drawing = drawGpu(gpu, node);
    out.figures = figuresOf(gpu);
    out.notes = gpu.notes;
    return out;
}

Document documentOf(const HardwareFigure& figure) {
    Document row = Document::table();
    row.set("figure", Document::of(figure.name));
    row.set("text", Document::of(figure.text));
    row.set("value", Document::of(figure.value.value));
    row.set("confidence", Document::of(std::string(core::nameOf(figure.value.confidence))));
    row.set("source", Document::of(figure.value.source));
    return row;
}

}  // namespace

std::vector<HardwareFigure> figuresOf(const core::Gpu& gpu) {
    std::vector<HardwareFigure> all{
        {"bf16 peak, dense", amountText(gpu.bf16Flops, "TFLOP/s", 1e12), gpu.bf16Flops},
        {"fp16 peak, dense", amountText(gpu.fp16Flops, "TFLOP/s", 1e12), gpu.fp16Flops},
        {"tf32 peak, dense", amountText(gpu.tf32Flops, "TFLOP/s", 1e12), gpu.tf32Flops},
        {"fp32 peak", amountText(gpu.fp32Flops, "TFLOP/s", 1e12), gpu.fp32Flops},
        {"multiprocessors", amountText(gpu.multiprocessors, "", 1), gpu.multiprocessors},
        {"memory", amountText(gpu.memory, "GiB", 1073741824.0), gpu.memory},
        {"memory, usable", amountText(gpu.memoryUsable, "GiB", 1073741824.0), gpu.memoryUsable},
        {"memory bandwidth", amountText(gpu.memoryBandwidth, "GB/s", 1e9), gpu.memoryBandwidth},
        {"L2", amountText(gpu.l2, "MiB", 1048576.0), gpu.l2},
        {"PCIe, per direction", amountText(gpu.pcieBandwidth, "GB/s", 1e9), gpu.pcieBandwidth},
        {"best GEMM / peak", amountText(gpu.gemmShare, "", 1), gpu.gemmShare},
        {"sustained / burst", amountText(gpu.sustainedShare, "", 1), gpu.sustainedShare},
        {"host time per launch", amountText(gpu.hostLaunch, "us", 1e-6), gpu.hostLaunch},
    };
    std::erase_if(all, [](const HardwareFigure& figure) { return !figure.value.known; });
    return all;
}

std::vector<HardwareFigure> figuresOf(const core::Node& node) {
    std::vector<HardwareFigure> all{
        {"link, per GPU and direction", amountText(node.linkBandwidth, "GB/s", 1e9), node.linkBandwidth},
        {"NICs", amountText(node.nics, "", 1), node.nics},
        {"network, per node and direction", amountText(node.networkBandwidth, "GB/s", 1e9), node.networkBandwidth}};
    if (node.hostOptimizer.known)
        all.push_back(
            {"optimizer on the CPUs, per node", amountText(node.hostOptimizer, "GB/s", 1e9), node.hostOptimizer});
    return all;
}

std::string figureTable(const std::vector<HardwareFigure>& figures) {
    TextTable table({"figure", "value", "confidence", "source"}, {Align::Left, Align::Right, Align::Left, Align::Left});
    for (const HardwareFigure& figure : figures)
        table.row({figure.name, figure.text, std::string(core::nameOf(figure.value.confidence)), figure.value.source});
    return table.text(2);
}

Document figureDocument(const std::string& kind, const std::string& name, const std::vector<HardwareFigure>& figures) {
    Document out = Document::table(), list = Document::list();
    out.set("schema", Document::of("shardscope." + kind));
    out.set("version", Document::of(std::int64_t{1}));
    out.set("name", Document::of(name));
    for (const HardwareFigure& figure : figures) list.items.push_back(documentOf(figure));
    out.set("figures", std::move(list));
    return out;
}

Result<HardwareDescription> describeHardware(const std::string& name) {
    const std::vector<std::string> nodes = core::nodePresetNames();
    std::vector<std::string> all = core::gpuPresetNames();
    if (std::find(nodes.begin(), nodes.end(), name) != nodes.end()) {
        SHARDSCOPE_ASSIGN(const core::Node node, core::nodePreset(name));
        return describeNode(node);
    }
    if (std::find(all.begin(), all.end(), name) != all.end()) {
        SHARDSCOPE_ASSIGN(const core::Gpu gpu, core::gpuPreset(name));
        return describeGpu(gpu);
    }
    all.insert(all.end(), nodes.begin(), nodes.end());
    const std::string near = core::nearest(name, all);
    return core::fail(core::ErrorCode::Input, fmt::format("no GPU or node preset \"{}\"", name.substr(0, 60)),
                      "clusters", near.empty() ? "`shardscope clusters` lists them" : "did you mean " + near + "?");
}

std::string hardwareText(const HardwareDescription& description) {
    std::string text = description.name + ": " + description.title + "\n\n";
    for (const std::string& line : description.drawing) text += "  " + line + "\n";
    text += "\n" + figureTable(description.figures);
    if (!description.constants.empty())
        text += "\nWhat measured constants make of it (docs/model.md)\n" + figureTable(description.constants);
    if (!description.groups.empty()) {
        text += "\nRate of large collectives: payload x (n - 1) / n over the time, twice that for an all-reduce\n";
        TextTable table({"group", "rate", "beyond NCCL's constants"}, {Align::Left, Align::Right, Align::Right});
        for (const GroupRate& group : description.groups)
            table.row({group.group, fmt::format("{:.4g} GB/s", group.bus / 1e9),
                       fmt::format("{:.3g} us", group.offset * 1e6)});
        text += table.text(2);
    }
    if (!description.notes.empty()) text += "\n  " + description.notes + "\n";
    return text;
}

Document hardwareDocument(const HardwareDescription& description) {
    Document out = figureDocument(description.kind, description.name, description.figures);
    out.set("title", Document::of(description.title));
    out.set("notes", Document::of(description.notes));
    Document drawing = Document::list();
    for (const std::string& line : description.drawing) drawing.items.push_back(Document::of(line));
    out.set("drawing", std::move(drawing));
    if (description.kind != "node") return out;
    Document constants = Document::list(), groups = Document::list();
    for (const HardwareFigure& figure : description.constants) constants.items.push_back(documentOf(figure));
    for (const GroupRate& group : description.groups) {
        Document& row = groups.items.emplace_back(Document::table());
        row.set("group", Document::of(group.group));
        row.set("ranks", Document::of(group.ranks));
        row.set("domains", Document::of(group.nodes));
        row.set("bytes_per_second", Document::of(group.bus));
        row.set("offset_s", Document::of(group.offset));
    }
    out.set("constants", std::move(constants));
    out.set("collectives", std::move(groups));
    return out;
}

}  // namespace shardscope::cli
