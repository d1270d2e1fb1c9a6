// models, clusters, doctor: what is built in, and what this machine can do.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/command/command.h"
#include "cli/face/describe_hardware.h"
#include "cli/face/load.h"
#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "core/base/printable.h"
#include "core/cluster/cluster.h"
#include "core/model/hf_model.h"
#include "core/scenario/builtin_models.h"
#include "runtime/machine/machine.h"

namespace shardscope::cli {
namespace {

using core::Document;
using core::Result;

std::string sizesOf(const core::ModelSpec& spec) {
    if (const auto* vit = std::get_if<core::VitSpec>(&spec))
        return fmt::format("{} blocks, width {}, {} heads, {} px / {}", vit->layers, vit->hidden, vit->heads,
                           vit->imageSize, vit->patchSize);
    if (const auto* decoder = std::get_if<core::DecoderSpec>(&spec))
        return fmt::format("{} blocks, width {}, {} heads ({} kv), vocab {}", decoder->layers, decoder->hidden,
                           decoder->heads, decoder->kvHeads, decoder->vocab);
    return "";
}

Result<core::Model> modelOf(const core::ModelSpec& spec) {
    core::Workload workload;
    // Parameters do not depend on the workload; a short sequence keeps building cheap and fits every model.
    if (std::holds_alternative<core::DecoderSpec>(spec) || std::holds_alternative<core::ShapesSpec>(spec))
        workload.sequence = 128;
    if (const auto* tree = std::get_if<core::ModuleTreeSpec>(&spec)) workload.sequence = tree->sequence;
    if (const auto* hf = std::get_if<core::HfSpec>(&spec); hf != nullptr && core::inputsOf(*hf).takesSequence)
        workload.sequence = 1;
    return core::buildModel(spec, workload);
}

Result<void> oneModel(const Arguments& arguments) {
    SHARDSCOPE_ASSIGN(const Loaded loaded, load(arguments.word));
    SHARDSCOPE_ASSIGN(const core::Model model, modelOf(loaded.inputs.model));
    const std::int64_t parameters = core::parameterCount(model);
    if (arguments.json) {
        Document out = Document::table(), layers = Document::list();
        out.set("schema", Document::of("shardscope.model"));
        out.set("version", Document::of(std::int64_t{1}));
        out.set("name", Document::of(model.name));
        out.set("family", Document::of(model.family));
        out.set("parameters", Document::of(parameters));
        if (model.experts.count > 0) {
            out.set("active_parameters", Document::of(core::activeParameterCount(model)));
            out.set("experts", Document::of(model.experts.count));
            out.set("experts_per_token", Document::of(model.experts.active));
        }
        for (const core::Layer& layer : model.layers) layers.items.push_back(Document::of(layer.name));
        out.set("layers", std::move(layers));
        Document named = Document::list();
        for (const core::Parameter& parameter : model.parameters) {
            Document row = Document::table(), shape = Document::list();
            for (const std::int64_t d : parameter.shape) shape.items.push_back(Document::of(d));
            row.set("name", Document::of(parameter.name));
            row.set("shape", std::move(shape));
            named.items.push_back(std::move(row));
        }
        out.set("tensors", std::move(named));
        out.set("caveats", listOf(model.caveats));
        return print(core::writeJson(out) + "\n");
    }
    std::string text =
        fmt::format("{} ({})\n  {}\n  {} parameters, {} in float32, {} in bfloat16\n", core::printable(model.name),
                    core::printable(model.family), sizesOf(loaded.inputs.model), groupedDigits(parameters),
                    bytesText(parameters * 4), bytesText(parameters * 2));
    if (model.experts.count > 0)
        text +=
            fmt::format("  {} of them active: a token runs through {} of {} experts\n",
                        groupedDigits(core::activeParameterCount(model)), model.experts.active, model.experts.count);
    TextTable table({"layer", "what", "tensors", "parameters"}, {Align::Left, Align::Left, Align::Right, Align::Right});
    for (std::size_t i = 0; i < model.layers.size();) {
        const core::Layer& first = model.layers[i];
        const auto elements = [&](const core::Layer& layer) {
            std::int64_t n = 0;
            for (const core::ParameterId p : layer.parameters) n += core::elementsOf(model.parameters[p.index()].shape);
            return n;
        };
        std::size_t end = i + 1;
        while (end < model.layers.size() && model.layers[end].program == first.program &&
               elements(model.layers[end]) == elements(first))
            ++end;
        const std::string name =
            end - i > 1 ? fmt::format("{} .. {} ({})", first.name, model.layers[end - 1].name, end - i) : first.name;
        table.row({name, model.programOf(first).name, std::to_string(first.parameters.size()),
                   groupedDigits(elements(first))});
        i = end;
    }
    text += table.text(2);
    for (const std::string& caveat : model.caveats) text += "  rests on: " + core::printable(caveat) + "\n";
    return print(text);
}

std::string sourced(const core::Sourced& value, const char* unit, double scale) {
    if (!value.known) return "unknown";
    return fmt::format("{:.4g} {}", value.value / scale, unit);
}

}  // namespace

Result<void> runModels(const Arguments& arguments, const TextStyle&) {
    if (!arguments.word.empty()) return oneModel(arguments);
    Document list = Document::list();
    TextTable table({"name", "parameters", "sizes"}, {Align::Left, Align::Right, Align::Left});
    for (const std::string& name : core::builtinModelNames()) {
        SHARDSCOPE_ASSIGN(const core::ModelSpec spec, core::builtinModel(name, name));
        SHARDSCOPE_ASSIGN(const core::Model model, modelOf(spec));
        table.row({name, groupedDigits(core::parameterCount(model)), sizesOf(spec)});
        Document row = Document::table();
        row.set("name", Document::of(name));
        row.set("family", Document::of(model.family));
        row.set("parameters", Document::of(core::parameterCount(model)));
        list.items.push_back(std::move(row));
    }
    if (arguments.json) {
        Document out = Document::table();
        out.set("schema", Document::of("shardscope.models"));
        out.set("version", Document::of(std::int64_t{1}));
        out.set("models", std::move(list));
        return print(core::writeJson(out) + "\n");
    }
    return print(table.text(0));
}

Result<void> runClusters(const Arguments& arguments, const TextStyle&) {
    if (arguments.describe) {
        if (arguments.word.empty())
            return core::fail(core::ErrorCode::Usage, "no name to describe", "clusters --describe",
                              "for example clusters --describe dgx-h100; `shardscope clusters` lists them");
        SHARDSCOPE_ASSIGN(const HardwareDescription description, describeHardware(arguments.word));
        return print(arguments.json ? core::writeJson(hardwareDocument(description)) + "\n"
                                    : hardwareText(description));
    }
    if (!arguments.word.empty()) {
        const std::vector<std::string> gpus = core::gpuPresetNames();
        const std::vector<std::string> nodes = core::nodePresetNames();
        if (std::find(nodes.begin(), nodes.end(), arguments.word) != nodes.end()) {
            SHARDSCOPE_ASSIGN(const core::Node node, core::nodePreset(arguments.word));
            if (arguments.json)
                return print(core::writeJson(figureDocument("node", node.name, figuresOf(node))) + "\n");
            return print(fmt::format("{}: {}, {} x {}\n{}{}", node.name, node.title, node.gpus, node.gpu,
                                     figureTable(figuresOf(node)), node.notes.empty() ? "" : "  " + node.notes + "\n"));
        }
        SHARDSCOPE_ASSIGN(const core::Gpu gpu, core::gpuPreset(arguments.word));
        if (arguments.json) return print(core::writeJson(figureDocument("gpu", gpu.name, figuresOf(gpu))) + "\n");
        return print(fmt::format("{}: {} ({}), usually in {}\n{}{}", gpu.name, gpu.title, gpu.architecture,
                                 gpu.usualNode, figureTable(figuresOf(gpu)),
                                 gpu.notes.empty() ? "" : "  " + gpu.notes + "\n"));
    }
    Document gpuList = Document::list(), nodeList = Document::list();
    TextTable gpus({"GPU", "memory", "bandwidth", "bf16", "fp32", "usual node"},
                   {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left});
    for (const std::string& name : core::gpuPresetNames()) {
        SHARDSCOPE_ASSIGN(const core::Gpu gpu, core::gpuPreset(name));
        gpus.row({name, sourced(gpu.memory, "GiB", 1073741824.0), sourced(gpu.memoryBandwidth, "GB/s", 1e9),
                  gpu.bf16Flops.known ? sourced(gpu.bf16Flops, "TFLOP/s", 1e12) : "none",
                  sourced(gpu.fp32Flops, "TFLOP/s", 1e12), gpu.usualNode});
        gpuList.items.push_back(Document::of(name));
    }
    TextTable nodes({"node", "GPUs", "link", "per GPU", "network, per node"},
                    {Align::Left, Align::Left, Align::Left, Align::Right, Align::Right});
    for (const std::string& name : core::nodePresetNames()) {
        SHARDSCOPE_ASSIGN(const core::Node node, core::nodePreset(name));
        nodes.row({name, fmt::format("{} x {}", node.gpus, node.gpu), std::string(core::nameOf(node.link)),
                   sourced(node.linkBandwidth, "GB/s", 1e9), sourced(node.networkBandwidth, "GB/s", 1e9)});
        nodeList.items.push_back(Document::of(name));
    }
    if (arguments.json) {
        Document out = Document::table();
        out.set("schema", Document::of("shardscope.clusters"));
        out.set("version", Document::of(std::int64_t{1}));
        out.set("gpus", std::move(gpuList));
        out.set("nodes", std::move(nodeList));
        return print(core::writeJson(out) + "\n");
    }
    return print(gpus.text(0) + "\n" + nodes.text(0));
}

Result<void> runDoctor(const Arguments& arguments, const TextStyle&) {
    std::error_code ignored;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const runtime::Machine machine = runtime::inspectMachine(program.parent_path().string());
    if (arguments.json) {
        Document out = Document::table(), gpus = Document::list();
        out.set("schema", Document::of("shardscope.doctor"));
        out.set("version", Document::of(std::int64_t{1}));
        out.set("program", Document::of(SHARDSCOPE_VERSION));
        out.set("processor", Document::of(machine.processor));
        out.set("cores", Document::of(std::int64_t{machine.cores}));
        out.set("memory_bytes", Document::of(machine.memory.value));
        out.set("cuda_built", Document::of(machine.cudaBuilt));
        out.set("cuda_library", Document::of(machine.cudaLibrary));
        out.set("cuda_runtime", Document::of(machine.cudaRuntime));
        out.set("cuda_driver", Document::of(machine.cudaDriver));
        out.set("nccl", Document::of(machine.nccl));
        out.set("cupti", Document::of(machine.cupti));
        out.set("cuda_problem", Document::of(machine.cudaProblem));
        for (const runtime::Gpu& gpu : machine.gpus) {
            Document row = Document::table();
            row.set("name", Document::of(gpu.name));
            row.set("capability", Document::of(gpu.capability));
            row.set("multiprocessors", Document::of(std::int64_t{gpu.multiprocessors}));
            row.set("memory_bytes", Document::of(gpu.memory.value));
            row.set("pci", Document::of(gpu.pci));
            gpus.items.push_back(std::move(row));
        }
        out.set("gpus", std::move(gpus));
        return print(core::writeJson(out) + "\n");
    }
    std::string text = fmt::format("shardscope {}\n", SHARDSCOPE_VERSION);
    text += fmt::format("processor   {}, {} cores{}{}, {}\n", machine.processor, machine.cores,
                        machine.avx512 ? ", AVX-512" : "", machine.amx ? ", AMX" : "",
                        machine.memory.value > 0 ? bytesText(machine.memory.value) : "memory unknown");
    text += "simulate    yes (needs nothing more)\n";
    text +=
        "run         --device cpu (oneDNN), --device reference (plain loops); ranks as processes (Gloo) or threads\n";
    text += fmt::format("CUDA        {}\n",
                        machine.cudaProblem.empty()
                            ? fmt::format("runtime {}, driver {}{}{}", machine.cudaRuntime, machine.cudaDriver,
                                          machine.nccl.empty() ? "" : ", NCCL " + machine.nccl,
                                          machine.cupti.empty() ? "" : ", CUPTI " + machine.cupti)
                            : "no: " + machine.cudaProblem);
    for (const runtime::Gpu& gpu : machine.gpus)
        text += fmt::format("GPU         {}, compute capability {}, {} multiprocessors, {}, {}\n", gpu.name,
                            gpu.capability, gpu.multiprocessors, bytesText(gpu.memory.value), gpu.pci);
    return print(text);
}

}  // namespace shardscope::cli
