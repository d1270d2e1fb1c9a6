// docs/scenario.md, from the one list of keys.

#include <fmt/format.h>

#include "core/scenario/keys.h"

namespace shardscope::core {
namespace {

std::string defaultOf(const Key& key) {
    const Document value = valueOf(Scenario{}, key);
    const bool nothing = value.kind == Document::Kind::Null ||
                         (value.kind == Document::Kind::Text && value.text.empty()) ||
                         ((value.kind == Document::Kind::List || value.kind == Document::Kind::Table) &&
                          value.items.empty() && value.members.empty());
    return nothing ? "none" : "`" + writeTomlValue(value) + "`";
}

std::string escaped(std::string text) {
    for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
    return text;
}

}  // namespace

std::string scenarioReference() {
    std::string out =
        "# Scenario files\n\n"
        "A scenario says which training step to look at: one TOML file of the sections below. Every key has a default, "
        "so a\n"
        "file names only what differs. Key names and values are torchtitan's where it has them. An unknown key is an "
        "error.\n\n"
        "Every key can be set on the command line as well, after the file is read: `--set section.key=value`, the "
        "value as\n"
        "TOML or as a bare word, for example `--set parallelism.fsdp_reshard_after_forward=never`. A model (its "
        "built-in name,\n"
        "a Hugging Face folder or `config.json`, a `.safetensors` file, a module-tree file) can be given in place of "
        "a\n"
        "scenario; then everything else has its default.\n\n"
        "```toml\n"
        "[model]\n"
        "name = \"llama-3.1-8b\"\n\n"
        "[cluster]\n"
        "gpu = \"h100-sxm\"\n"
        "nodes = 1\n"
        "gpus_per_node = 8\n\n"
        "[training]\n"
        "local_batch_size = 1\n"
        "seq_len = 4096\n\n"
        "[parallelism]\n"
        "data_parallel_shard_degree = 8\n"
        "fsdp_reshard_after_forward = \"default\"\n\n"
        "[precision]\n"
        "mixed_precision_param = \"bfloat16\"\n"
        "mixed_precision_reduce = \"float32\"\n"
        "```\n\n"
        "The number of ranks: `cluster.nodes` x `cluster.gpus_per_node` where they are given, and then the degrees "
        "have to\n"
        "multiply to it; where they are left out, as many GPUs as the degrees need, else one whole node.\n\n"
        "Strategies are compared fairly: every one runs the same global batch in the same precision. Naive placement "
        "and a\n"
        "single GPU run it as micro-batches of FSDP's per-rank size, one after another.\n";
    std::string_view section = "?";
    for (const Key& key : scenarioKeys()) {
        if (key.section() != section) {
            section = key.section();
            out += section.empty() ? "\n## At the top\n"
                                   : fmt::format("\n## [{}]\n\n{}\n", section, describeSection(section));
            out += "\n| key | value | default | what it does |\n|---|---|---|---|\n";
        }
        const std::string alias = key.alias.empty() ? "" : fmt::format(" Also accepted: `{}`.", key.alias);
        out += fmt::format("| `{}` | {} | {} | {}{} |\n", key.name(), escaped(describeType(key)), defaultOf(key),
                           escaped(std::string(key.what)), alias);
    }
    out += "\nThis page is written by `shardscope docs scenario`, from the list that the parser uses.\n";
    return out;
}

}  // namespace shardscope::core
