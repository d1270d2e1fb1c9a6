// What is made from the tables of commands and keys: completion scripts and reference pages.

#include <fmt/format.h>

#include "cli/command/command.h"
#include "core/scenario/builtin_models.h"
#include "core/scenario/keys.h"

namespace shardscope::cli {
namespace {

const Option* optionOf(std::string_view names) {
    for (const Option& option : optionTable())
        if (option.names == names) return &option;
    return nullptr;
}

/// "--output" of "-o,--output".
std::vector<std::string> spellings(const Option& option) {
    std::vector<std::string> all;
    std::string_view rest = option.names;
    while (!rest.empty()) {
        all.emplace_back(rest.substr(0, rest.find(',')));
        rest.remove_prefix(std::min(rest.size(), all.back().size() + 1));
    }
    return all;
}

std::string commandNames() {
    std::string names;
    for (const Command& command : commandTable()) names += (names.empty() ? "" : " ") + std::string(command.name);
    return names;
}

std::string keyWords() {
    std::string words;
    for (const core::Key& key : core::scenarioKeys()) words += (words.empty() ? "" : " ") + std::string(key.path) + "=";
    return words;
}

std::string modelWords() {
    return fmt::format("{}", fmt::join(core::builtinModelNames(), " "));
}

std::string bash() {
    std::string cases, values;
    for (const Command& command : commandTable()) {
        std::string options = "--help";
        for (const std::string_view names : command.options)
            for (const std::string& spelling : spellings(*optionOf(names))) options += " " + spelling;
        cases += fmt::format("    {}) options=\"{}\" ;;\n", command.name, options);
    }
    for (const Option& option : optionTable()) {
        if (option.operand.empty()) continue;
        const std::string pattern = fmt::format("{}", fmt::join(spellings(option), "|"));
        if (option.values == "@file")
            values += fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;\n", pattern);
        else if (option.values == "@key")
            values += fmt::format(
                "    {}) compopt -o nospace; mapfile -t COMPREPLY < <(compgen -W \"$keys\" -- \"$current\"); return "
                ";;\n",
                pattern);
        else
            values += fmt::format("    {}) mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$current\"); return ;;\n",
                                  pattern, option.values);
    }
    return fmt::format(R"(# bash completion of shardscope: source <(shardscope completion bash)
_shardscope() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]-}} options=""
  local keys="{keys}"
  local models="{models}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "{commands} --help --version" -- "$current")
    return
  fi
  case "$previous" in
{values}  esac
  case "$command" in
    completion) mapfile -t COMPREPLY < <(compgen -W "bash zsh fish" -- "$current"); return ;;
    docs) mapfile -t COMPREPLY < <(compgen -W "scenario cli" -- "$current"); return ;;
{cases}  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$models" -- "$current"; compgen -f -- "$current")
  fi
}}
complete -o filenames -F _shardscope shardscope
)",
                       fmt::arg("keys", keyWords()), fmt::arg("models", modelWords()),
                       fmt::arg("commands", commandNames()), fmt::arg("values", values), fmt::arg("cases", cases));
}

std::string zsh() {
    // zsh runs the bash script through its own compatibility layer: one table, one script.
    return "# zsh completion of shardscope: source <(shardscope completion zsh)\n"
           "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n"
           "mapfile() {\n"
           "  local line; COMPREPLY=()\n"
           "  while IFS= read -r line; do COMPREPLY+=(\"$line\"); done\n"
           "}\n"
           "compopt() { :; }\n" +
           bash();
}

std::string fish() {
    std::string out = "# fish completion of shardscope: shardscope completion fish | source\n";
    const auto quoted = [](std::string_view text) {
        std::string safe;
        for (const char c : text) {
            if (c == '\'' || c == '\\') safe += '\\';
            safe += c;
        }
        return "'" + safe + "'";
    };
    out += fmt::format("set -l commands {}\n", commandNames());
    for (const Command& command : commandTable()) {
        out += fmt::format("complete -c shardscope -f -n \"not __fish_seen_subcommand_from $commands\" -a {} -d {}\n",
                           command.name, quoted(command.summary));
        for (const std::string_view names : command.options) {
            const Option& option = *optionOf(names);
            std::string line =
                fmt::format("complete -c shardscope -n \"__fish_seen_subcommand_from {}\"", command.name);
            for (const std::string& spelling : spellings(option))
                line += spelling.rfind("--", 0) == 0 ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
            if (!option.operand.empty()) line += option.values == "@file" ? " -r" : " -x";
            if (option.values == "@key")
                line += " -a " + quoted(keyWords());
            else if (!option.values.empty() && option.values[0] != '@')
                line += " -a " + quoted(option.values);
            out += line + " -d " + quoted(option.what) + "\n";
        }
        if (command.operand.find("SCENARIO") != std::string_view::npos || command.operand == "[NAME]")
            out += fmt::format("complete -c shardscope -n \"__fish_seen_subcommand_from {}\" -a {}\n", command.name,
                               quoted(modelWords()));
    }
    out += "complete -c shardscope -f -n \"__fish_seen_subcommand_from completion\" -a 'bash zsh fish'\n";
    out += "complete -c shardscope -f -n \"__fish_seen_subcommand_from docs\" -a 'scenario cli'\n";
    return out;
}

}  // namespace

core::Result<std::string> completionScript(std::string_view shell) {
    if (shell == "bash") return bash();
    if (shell == "zsh") return zsh();
    if (shell == "fish") return fish();
    return core::fail(core::ErrorCode::Usage, fmt::format("no completion for \"{}\"", shell.substr(0, 60)),
                      "completion", "known are: bash, zsh, fish");
}

std::string cliReference() {
    std::string out =
        "# The command line\n\n"
        "`shardscope COMMAND [SCENARIO] [options]`. A scenario is a file (docs/scenario.md) or, in its place, a "
        "model.\n"
        "Tables and pictures go to standard output, errors to standard error. Colours only where standard output is a\n"
        "terminal and `NO_COLOR` is not set.\n\n"
        "## Exit codes\n\n"
        "| code | meaning |\n|---|---|\n"
        "| 0 | done |\n"
        "| 1 | a fault of this program; please report it |\n"
        "| 2 | the command line is wrong: an unknown command or option, a malformed `--set` |\n"
        "| 3 | the input is wrong: a file's content, a value, a model or plan that cannot be |\n"
        "| 4 | a file cannot be opened, read or written |\n"
        "| 5 | understood, but nothing that this program can do |\n"
        "| 130 | interrupted (SIGINT, SIGTERM, SIGHUP); nothing half-written stays behind |\n\n"
        "Every error is one message: where it is (file, line and key), what was found and what was expected, and on a "
        "second\n"
        "line what to do. A plan that does not fit into memory is an answer, not an error. A sweep with values that "
        "cannot be\n"
        "answers for the others, and ends with the code of the first of them. `compare` leaves out a strategy that "
        "cannot be and\n"
        "lists it with the reason (`refused` in the JSON) as long as two remain, and then ends with 0; otherwise the "
        "first reason is\n"
        "its error. Keys that were given and change nothing, because no plan of the answer uses them, are named as "
        "\"not used\"\n"
        "(`unused` in the JSON; of [model] attention, rms_norm, dropout and kernel_rules, of [precision] "
        "mixed_precision_reduce),\n"
        "never an error. A sweep names those that no point uses.\n\n"
        "Control characters in names and texts that come from files or from the command line are spelled out (`\\x1b`) "
        "where a\n"
        "terminal may see them.\n\n"
        "Files that are read must be regular ones: a pipe, a device or standard input is refused.\n\n"
        "Files named with `-o` are written beside their target and renamed: what was there before stays until the new "
        "file is\n"
        "whole. A link stays a link: what it points to is written, also if that does not exist yet. A pipe is written "
        "directly if\n"
        "someone reads it, and refused otherwise. Standard output is no target of `-o`; `--json` prints to it.\n\n"
        "## Rows of a sweep (.csv)\n\n"
        "A row a value and plan: the value, plan, ranks, samples of a step, `step_ns`, samples and tokens a second, "
        "MFU; "
        "then\n"
        "`ranks_compute_ns`, `ranks_exposed_transfer_ns`, `ranks_exposed_copy_ns`, `ranks_waiting_ns` and "
        "`ranks_idle_ns`, which are\n"
        "sums over all ranks (together `ranks` x `step_ns`; divide by `ranks` for the mean of one); bytes on the wire "
        "of "
        "the rank\n"
        "with most, bytes needed and usable of the fullest rank, whether it fits (1 or 0), and the error of a value "
        "that "
        "cannot be.\n\n"
        "## Measurements of a back-test (.csv)\n\n"
        "RFC 4180, UTF-8 with or without a byte-order mark, at most 64 MiB and 4 million cells; the first line names "
        "the\n"
        "columns, in any order, others are not looked at. A blank cell is unknown; a cell that should be a number and "
        "is\n"
        "none, or is absurd, ends the command with its file, line and column.\n\n"
        "| file | columns it must have | columns it may have |\n|---|---|---|\n"
        "| `--runs` | `model`, `gpu`, `n_gpus`, `strategy` | `layers`, `hidden`, `heads`, `kv_heads`, `ffn`, `vocab`, "
        "`seq`, `params_b`, `gpu_mem_gb`, `gpus_per_node`, `internode`, `framework`, `zero_stage`, `shard_degree`, "
        "`tp`, `pp`, `cp`, `reshard_after_forward`, `precision`, `reduce_dtype`, `optimizer`, `ac_mode`, `compile`, "
        "`attn`, `micro_bs`, `grad_accum`, `global_bs_seqs`; `step_time_s`, `tokens_s_gpu`, `tokens_s_total` or "
        "`samples_s_total`; `peak_mem_gib` and `mem_metric`; `fits` (Y, OOM); `quality`, `tags`, `split`, `source_id` "
        "|\n"
        "| `--collectives` | `gpu`, `nodes`, `gpus_per_node`, `network`, `collective`, `bytes` (large side), `time_us` "
        "| `in_place`, `split`, `flags`, `source` |\n"
        "| `--gemm` | `gpu`, `dtype`, `kind`, `m`, `n`, `k`, and `time_us` or `tflops` | `batch`, `layout`, `split`, "
        "`flags`, `source` |\n"
        "| `--attention` | `gpu`, `impl`, `dtype`, `pass` (fwd, bwd, fwd+bwd), `causal` (0, 1), `head_dim_qk`, "
        "`head_dim_v`, `seq`, `batch`, `heads`, and `time_us` or `tflops` (a causal mask counts half) | `split`, "
        "`flags`, `source` |\n\n"
        "Rows with a `split` other than calib, and those flagged outlier, dispatch bound, coarse or exclude, are "
        "counted and not\n"
        "replayed; so is all that a price does not cover, each with its reason. What blank cells were taken for is "
        "listed below\n"
        "the tables: one product where `batch` is blank, a short burst (no loss to the power limit) where a product is "
        "not\n"
        "flagged as sustained, the GPU's usual node where one node's network is not named, the larger memory where a "
        "GPU comes\n"
        "in two.\n\n"
        "A row of a run becomes a scenario, and the whole step is simulated. A model is one of ours by its name, with "
        "the sizes\n"
        "that the row gives, or GPT-2's form (GPT, MPT) or llama's with the row's sizes; the parameters must come "
        "within 10 % of\n"
        "those that the row states. GPT-2's form has the kernels that the row's `framework` fuses by default (GELU "
        "under "
        "Megatron; GELU\n"
        "and the loss under Composer, which is llm-foundry's, and in flash-attention's own training). Blank cells are "
        "taken for:\n"
        "`vocab` 50,257; `precision` bf16 (fp16 on V100) with fp32 weights; `reduce_dtype` fp32; `ac_mode` none; "
        "`optimizer` AdamW,\n"
        "foreach (fused under Megatron); `attn` flash (unfused under Megatron and on V100; flash under Composer is "
        "FlashAttention 1);\n"
        "`shard_degree` all GPUs, or one node under HSDP; `gpus_per_node` 8; the larger memory of a GPU that comes in "
        "two (and then no\n"
        "verdict on whether it fits); the network of the GPU's usual node; without `global_bs_seqs` and `grad_accum` "
        "one micro-batch. DDP\n"
        "reduces gradients with the last micro-batch; FSDP1 is replayed as FSDP2. Sequence, micro-batch, shape, GPU "
        "and "
        "strategy\n"
        "are never guessed; GPUs go by their usual names or a preset's, strategies are single, DP, DDP, FSDP, FSDP2 "
        "and HSDP in\n"
        "any case. What was measured is the first that is given of step time, tokens/s/GPU, tokens/s, "
        "samples/s; peak\n"
        "memory counts where `mem_metric` says reserved, or allocated or active. The constant predictor of runs is one "
        "MFU, the\n"
        "median of all rows.\n\n"
        "The constant predictor beside the simulator is fitted on the very rows: one share of the peak for products, "
        "one "
        "for\n"
        "attention, one bandwidth for each kind of link and rate; each is the median. Nothing of the simulator is "
        "fitted by this\n"
        "command; which public tables its constants were fitted to says docs/model.md, and what came out of them "
        "docs/backtest.md.\n\n"
        "A picture (`-o FILE.svg`, .png, .pdf) shows predicted against measured time, by source. `--csv`, or `-o "
        "FILE.csv`, gives\n"
        "a line a row of the input: kind, line in the file, source, GPU, scale, strategy, quantity, "
        "measured and\n"
        "predicted (seconds, or a rate in 1/s), the constant predictor's, ln(predicted / measured); of runs peak "
        "memory "
        "and\n"
        "whether it fits; the reason of a row that is not replayed.\n\n"
        "## What a run does by itself\n\n"
        "`run` without a scenario trains vit_tutorial_12 (a vision transformer of 12 blocks, 1.2 million parameters; "
        "`--device\n"
        "reference` takes vit_tiny), 64 images a step, once over 40,000 generated images with AdamW at 0.001, a rate "
        "that warms up\n"
        "and falls, and asks it about 2,000 other images. On two free cores that takes one to two minutes. A step's "
        "line (loss:\n"
        "the mean over its samples, before the update; waiting: the share of the ranks' time in which only a late peer "
        "held them up;\n"
        "images/s: those of that step by its time, as `samples_per_second` in `--log-json`; memory: the fullest "
        "rank's; a narrow\n"
        "terminal shows fewer of these) comes when all ranks have done it: on a terminal in one line that is written "
        "over, "
        "else every\n"
        "five seconds, and for each of 20 steps and fewer. `--json` prints the report alone; its `evaluation` has "
        "`images`, `right`,\n"
        "`accuracy`, `loss` and `ns`.\n\n"
        "## The ranks of a run\n\n"
        "On the CPU device `run` starts one process a rank; they meet at a free port of this machine and talk over "
        "Gloo. A rank that\n"
        "ends before its time ends all others, and the one error names it; an interruption ends all, with 130. Lines "
        "of ranks begin\n"
        "with `[rank 1]`. To run ranks on several machines start each with the same words, another `--rank` and the "
        "address of rank\n"
        "0's machine; rank 0 reports:\n\n"
        "```\nshardscope run --ranks 2 --rank 0 --rendezvous 10.0.0.1:29500     # on 10.0.0.1\n"
        "shardscope run --ranks 2 --rank 1 --rendezvous 10.0.0.1:29500     # on another one\n```\n\n"
        "Whoever does not join within `--join-timeout`, or does not come to a call within `--timeout`, is named. "
        "Nothing is\n"
        "encrypted, and nobody is asked for a password: the port belongs into a network that is trusted.\n\n"
        "A rank whose model, plan, data, device or options differ from rank 0's is refused (of the images their number "
        "and size\n"
        "count, and the first 16). A host name that is a loopback address on rank 0's own machine (Debian's 127.0.1.1) "
        "is refused\n"
        "there, since no other machine would find it.\n\n"
        "## Commands\n";
    for (const Command& command : commandTable()) {
        out += fmt::format("\n### {}{}{}\n\n{}\n", command.name, command.operand.empty() ? "" : " ", command.operand,
                           command.summary);
        if (!command.options.empty()) {
            out += "\n| option | what it does |\n|---|---|\n";
            for (const std::string_view names : command.options) {
                const Option& option = *optionOf(names);
                const std::string operand = option.operand.empty() ? "" : " " + std::string(option.operand);
                out += fmt::format("| `{}{}` | {} |\n", fmt::join(spellings(option), "`, `"), operand, option.what);
            }
        }
        out += fmt::format("\n```\nshardscope {}\n```\n", command.example);
    }
    out += "\nThis page is written by `shardscope docs cli`, from the table that the program uses.\n";
    return out;
}

core::Result<void> runCompletion(const Arguments& arguments, const TextStyle&) {
    SHARDSCOPE_ASSIGN(const std::string script, completionScript(arguments.word));
    return print(script);
}

core::Result<void> runDocs(const Arguments& arguments, const TextStyle&) {
    if (arguments.word == "scenario") return print(core::scenarioReference());
    if (arguments.word == "cli") return print(cliReference());
    return core::fail(core::ErrorCode::Usage, fmt::format("no page \"{}\"", arguments.word.substr(0, 60)), "docs",
                      "known are: scenario, cli");
}

}  // namespace shardscope::cli
