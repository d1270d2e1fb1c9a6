#include "cli/face/run_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/face/hardware_names.h"
#include "core/model/named_decoders.h"

namespace shardscope::cli {
namespace {

using core::Document;
using core::Result;

/// The numbers of a row, read before anything is decided, so that a wrong cell is an error wherever it stands.
struct RunNumbers {
    std::optional<std::int64_t> gpus, perNode, memoryGb, layers, hidden, heads, kvHeads, ffn, vocab, seq, shard, tp, pp,
        cp, micro, accumulation, global, stage;
    std::optional<double> parameters;
};

Result<RunNumbers> numbersOf(const CsvRow& row) {
    constexpr std::int64_t kWidest = std::int64_t{1} << 26;
    RunNumbers n;
    const struct {
        std::optional<std::int64_t>* to;
        const char* column;
        std::int64_t most;
    } all[] = {{&n.gpus, "n_gpus", 1'000'000},
               {&n.perNode, "gpus_per_node", 1024},
               {&n.memoryGb, "gpu_mem_gb", 100'000},
               {&n.layers, "layers", 4096},
               {&n.hidden, "hidden", kWidest},
               {&n.heads, "heads", kWidest},
               {&n.kvHeads, "kv_heads", kWidest},
               {&n.ffn, "ffn", kWidest},
               {&n.vocab, "vocab", kWidest},
               {&n.seq, "seq", kWidest},
               {&n.shard, "shard_degree", 1 << 20},
               {&n.tp, "tp", 1 << 20},
               {&n.pp, "pp", 1 << 20},
               {&n.cp, "cp", 1 << 20},
               {&n.micro, "micro_bs", 1 << 30},
               {&n.accumulation, "grad_accum", 1 << 30},
               {&n.global, "global_bs_seqs", 1 << 30}};
    for (const auto& one : all) {
        SHARDSCOPE_ASSIGN(*one.to, row.integer(one.column, 1, one.most));
    }
    SHARDSCOPE_ASSIGN(n.stage, row.integer("zero_stage", 0, 3));
    SHARDSCOPE_ASSIGN(n.parameters, row.number("params_b", 0, 1e6));
    return n;
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool hasTag(std::string_view tags, std::string_view tag) {
    while (!tags.empty()) {
        const std::size_t end = std::min(tags.find(';'), tags.size());
        if (tags.substr(0, end) == tag) return true;
        tags.remove_prefix(std::min(end + 1, tags.size()));
    }
    return false;
}

std::string lowered(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return out;
}

/// Fills one setup; the first reason stays.
class Mapping {
public:
    Mapping(const CsvRow& row, const RunNumbers& numbers) : m_row(row), m_n(numbers) {}

    RunSetup run() {
        setApart();
        unsupported();
        strategy();
        hardware();
        model();
        precision();
        memoryKnobs();
        batch();
        if (m_n.parameters) m_out.statedParameters = *m_n.parameters * 1e9;
        return std::move(m_out);
    }

private:
    void refuse(bool holds, std::string reason) {
        if (holds && m_out.reason.empty()) m_out.reason = std::move(reason);
    }
    void assume(std::string what) { m_out.defaults.push_back(std::move(what)); }
    [[nodiscard]] std::string_view text(std::string_view column) const { return m_row.text(column); }

    void setApart() {
        const std::string_view split = text("split");
        refuse(!split.empty() && split != "calib", fmt::format("set apart by the file (split {})", split));
        refuse(text("quality") == "C", "set apart by the file (quality C: vague or contradictory)");
        refuse(hasTag(text("tags"), "legacy-table"), "set apart by the file (legacy-table: superseded)");
    }

    void unsupported() {
        const std::pair<std::string_view, std::string_view> kTags[] = {
            {"moe", "mixture of experts"},
            {"hybrid-ssm", "state-space blocks"},
            {"encoder", "an encoder"},
            {"vit", "a vision transformer without its image size"},
            {"4bit", "quantised weights"},
            {"lora", "LoRA"},
            {"adapter", "adapters"},
            {"offload", "offload to the host"},
            {"jax", "JAX"},
            {"analytic", "not measured, from a formula"},
        };
        for (const auto& [tag, what] : kTags) refuse(hasTag(text("tags"), tag), std::string(what));
        const std::pair<const std::optional<std::int64_t>&, std::string_view> kDegrees[] = {
            {m_n.tp, "tensor parallelism"}, {m_n.pp, "a pipeline schedule"}, {m_n.cp, "context parallelism"}};
        for (const auto& [degree, what] : kDegrees) refuse(degree.value_or(1) > 1, std::string(what));
        const std::string precision = lowered(text("precision"));
        for (const std::string_view word : {"fp8", "float8", "mxfp8", "fp4"})
            refuse(contains(precision, word), "fp8 or fp4");
        refuse(contains(precision, "nf4"), "quantised weights");
        const std::string_view compile = text("compile");
        refuse(!compile.empty() && compile != "no", "compiled (torch.compile, thunder)");
        const std::string optimizer = lowered(text("optimizer"));
        const bool known = optimizer.empty() || optimizer == "adam" || optimizer == "adamw" ||
                           optimizer == "decoupled_adamw" || optimizer == "pytorch fused adamw" || optimizer == "sgd";
        refuse(!known, fmt::format("optimizer {}", text("optimizer")));
    }

    void strategy() {
        auto& p = m_out.scenario.parallelism;
        const std::string word = lowered(text("strategy"));
        const std::int64_t gpus = m_n.gpus.value_or(0);
        const std::int64_t stage = m_n.stage.value_or(0);
        refuse(gpus == 0, "n_gpus is not given");
        refuse(contains(word, "zero") || contains(word, "deepspeed") || contains(word, "distributed optimizer"),
               "DeepSpeed's or Megatron's ZeRO");
        const bool sharded = word == "fsdp" || word == "fsdp2" || word == "hsdp";
        if (sharded) {
            p.strategy = "fsdp";
            if (word == "hsdp" && !m_n.shard) assume("HSDP without its shard degree: one node");
            if (word != "hsdp" && !m_n.shard) assume("FSDP without its shard degree: over all GPUs");
            const std::int64_t node = m_n.perNode.value_or(8);
            p.shardDegree = m_n.shard.value_or(word == "hsdp" ? std::min(node, gpus) : gpus);
            refuse(p.shardDegree == 0 || gpus % std::max<std::int64_t>(1, p.shardDegree) != 0,
                   "the shard degree does not divide n_gpus");
            p.replicateDegree = gpus / std::max<std::int64_t>(1, p.shardDegree);
            const bool kept = stage == 2 || text("reshard_after_forward").starts_with("no");
            if (kept) p.reshard = {{core::Reshard::Kind::False, 0}, "never"};
            if (contains(text("framework"), "torchtitan")) p.units = "torchtitan";
            if (contains(text("framework"), "FSDP1")) assume("FSDP1: replayed as FSDP2");
            return;
        }
        refuse(stage > 0, "DeepSpeed's or Megatron's ZeRO");
        // Degrees of one are stated beside names such as DP+TP+PP.
        const bool stated = m_n.tp && m_n.pp;
        const bool data = word == "dp" || word == "ddp" || (word.starts_with("dp+") && stated);
        if (word == "single" || (data && gpus == 1)) {
            p.strategy = "single";
            refuse(gpus > 1, "strategy single on several GPUs");
            return;
        }
        p.strategy = "ddp";
        m_out.scenario.training.gradientSync = "last";
        refuse(word.empty(), "strategy is not given");
        refuse(word.starts_with("dp+") && !stated, "tp or pp is not given");
        refuse(!data, fmt::format("strategy {}", text("strategy")));
    }

    void hardware() {
        auto& c = m_out.scenario.cluster;
        const std::int64_t gpus = m_n.gpus.value_or(1);
        const auto preset = gpuPresetCalled(text("gpu"), m_n.memoryGb.value_or(0));
        refuse(!preset,
               text("gpu").empty() ? "the GPU is not given" : fmt::format("no preset for the GPU {}", text("gpu")));
        if (!preset) return;
        c.gpu = Document::of(*preset);
        const bool twoSizes =
            *preset == "a100-sxm-80gb" || *preset == "a100-sxm-40gb" || preset->starts_with("v100-sxm");
        m_out.memoryKnown = m_n.memoryGb.has_value() || !twoSizes;
        if (!m_out.memoryKnown)
            assume("the GPU's memory is not given: the larger of its sizes, and no verdict on memory");
        if (*preset == "h100-sxm" && m_n.memoryGb == 96) {
            // The 96 GB variant reports about 95 GiB. pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md:
            // HBM2e of 2.4 TB/s; its peak lies between those of SXM (989) and NVL (835), not known more exactly.
            c.gpu = Document::table();
            c.gpu.set("preset", Document::of(*preset));
            c.gpu.set("memory_gib", Document::of(std::int64_t{96}));
            c.gpu.set("memory_usable_gib", Document::of(95.0));
            c.gpu.set("memory_bandwidth_gbs", Document::of(2400.0));
            c.gpu.set("bf16_tflops", Document::of((989.0 + 835.0) / 2));
            c.gpu.set("fp16_tflops", Document::of((989.0 + 835.0) / 2));
            assume("H100 of 96 GB (HBM2e, 500 W): 2.4 TB/s, and a peak halfway between SXM and NVL");
        }
        const std::int64_t perNode = std::min(gpus, m_n.perNode.value_or(8));
        if (!m_n.perNode && gpus > 1) assume("GPUs of a node are not given: 8");
        refuse(perNode > 0 && gpus % perNode != 0, "n_gpus does not fill whole nodes");
        c.gpusPerNode = perNode;
        c.nodes = gpus / std::max<std::int64_t>(1, perNode);
        if (c.nodes <= 1) return;
        const std::string_view network = text("internode");
        const auto rate = networkRateCalled(network, perNode);
        const auto cluster = core::makeCluster(*preset);
        if (!rate || !cluster) {
            assume("no rate of the network is given: that of the GPU's usual node");
            return;
        }
        c.node = Document::table();
        c.node.set("preset", Document::of(cluster->node.name));
        c.node.set("network_gbs", Document::of(*rate / 1e9));
        if (contains(network, "RoCE")) c.node.set("transport", Document::of("roce"));
    }

    void model() {
        const std::string name = lowered(text("model"));
        refuse(name.empty(), "the model is not given");
        const auto named = core::namedDecoder(name);
        core::DecoderSpec spec;
        if (named) {
            spec = *named;
        } else if (contains(name, "gpt") || contains(name, "mpt")) {
            spec.modelType = "gpt2";
            spec.tiedEmbeddings = true;
            spec.normEpsilon = 1e-5;
            const std::string_view stack = text("framework");
            if (contains(name, "mpt")) assume("MPT: replayed in GPT-2's form (learned positions, biases)");
            if (contains(stack, "Composer") || contains(stack, "flash-attention")) {
                spec.fusedGelu = spec.fusedLoss = true;
                assume("llm-foundry and flash-attention's training: GELU and the loss as one kernel each");
            } else if (contains(stack, "Megatron")) {
                spec.fusedGelu = true;
                assume("Megatron-LM: GELU as one kernel (its bias_gelu_fusion)");
            }
        } else if (contains(name, "llama")) {
            spec.modelType = "llama";
            spec.normEpsilon = 1e-5;
        } else {
            refuse(true, fmt::format("no form of the model {} is known", text("model")));
        }
        spec.name = name;
        const bool complete = m_n.layers && m_n.hidden && m_n.heads && m_n.ffn;
        refuse(!named && !complete, "the model's shape is not given");
        if (m_n.layers) spec.layers = *m_n.layers;
        if (m_n.hidden) spec.hidden = *m_n.hidden;
        if (m_n.heads) spec.heads = *m_n.heads;
        if (m_n.ffn) spec.intermediate = *m_n.ffn;
        if (m_n.kvHeads || !named) spec.kvHeads = m_n.kvHeads.value_or(spec.heads);
        if (m_n.vocab) spec.vocab = *m_n.vocab;
        if (spec.vocab == 0) {
            spec.vocab = 50257;
            assume("the vocabulary is not given: 50,257");
        }
        if (!named && spec.heads > 0) spec.headDim = spec.hidden / spec.heads;
        refuse(!m_n.seq, "the sequence length is not given");
        const std::int64_t seq = m_n.seq.value_or(1);
        if (spec.modelType == "gpt2" || spec.positions == 0) spec.positions = seq;
        m_out.scenario.training.seqLen = seq;
        m_out.inputs.model = std::move(spec);
    }

    void precision() {
        auto& p = m_out.scenario.precision;
        const std::string word = lowered(text("precision"));
        const bool volta = text("gpu").starts_with("V100");
        const bool half = contains(word, "fp16") && !contains(word, "bf16");
        const core::DType narrow = half || volta ? core::DType::F16 : core::DType::BF16;
        if (word.empty())
            assume(volta ? "precision is not given: fp16 with fp32 weights"
                         : "precision is not given: bf16 with fp32 weights");
        refuse(!word.empty() && !contains(word, "bf16") && !contains(word, "fp16"),
               fmt::format("precision {}", text("precision")));
        p.param = narrow;
        p.reduce = text("reduce_dtype") == "bf16" ? narrow : core::DType::F32;
        if (m_out.scenario.parallelism.strategy == "fsdp" && text("reduce_dtype").empty())
            assume("the dtype of reductions is not given: fp32");
        if (contains(word, "all states") || contains(word, "true") || contains(word, "full bf16")) {
            p.original = narrow;
            p.param.reset();
            p.reduce.reset();
        }
    }

    void memoryKnobs() {
        auto& t = m_out.scenario.training;
        const std::string_view mode = text("ac_mode");
        if (mode.empty()) {
            assume("whether activations are checkpointed is not given: they are not");
        } else if (mode == "none" || mode == "no") {
            t.checkpoint = "none";
        } else if (mode == "full" || mode.starts_with("full (")) {
            t.checkpoint = "full";
        } else if (mode == "selective (op)") {
            t.checkpoint = "selective";
            t.checkpointEarlyStop = !contains(text("framework"), "torchtitan");
        } else {
            refuse(true, fmt::format("activation checkpointing: {}", mode));
        }
        const std::string optimizer = lowered(text("optimizer"));
        t.optimizer = optimizer == "adam" ? "adam" : optimizer == "sgd" ? "sgd" : "adamw";
        if (optimizer.empty()) assume("the optimizer is not given: AdamW");
        const bool fused = contains(optimizer, "fused") || contains(text("framework"), "Megatron");
        t.optimizerImplementation = fused ? "fused" : "foreach";
        if (!fused) assume("the optimizer's implementation is not given: foreach (under Megatron fused)");
        m_out.scenario.model.attention = attention();
    }

    std::string attention() {
        const std::string word = lowered(text("attn"));
        if (contains(word, "flash") && contains(text("framework"), "Composer")) {
            assume("llm-foundry's flash attention: flash-attn 1, which its gpu extra installed");
            return "flash1";
        }
        if (contains(word, "flash") || contains(word, "sdpa")) return "flash";
        if (!word.empty()) return "math";
        // Megatron-LM asks for --use-flash-attn; FlashAttention 2 does not run on V100.
        if (contains(text("framework"), "Megatron") || text("gpu").starts_with("V100")) {
            assume("the attention kernel is not given, under Megatron or on V100: unfused");
            return "eager";
        }
        assume("the attention kernel is not given: flash");
        return "flash";
    }

    void batch() {
        auto& t = m_out.scenario.training;
        const auto& p = m_out.scenario.parallelism;
        refuse(!m_n.micro, "the micro-batch is not given");
        t.localBatchSize = m_n.micro.value_or(1);
        const std::int64_t ranks = p.strategy == "single" ? 1 : m_n.gpus.value_or(1);
        std::int64_t steps = m_n.accumulation.value_or(1);
        if (!m_n.global && !m_n.accumulation) assume("no accumulation and no global batch are given: one micro-batch");
        // 2^30 samples at most, so that the product of three bounded factors is not taken before it is known to fit.
        const std::int64_t most = (std::int64_t{1} << 30) / ranks / std::max<std::int64_t>(1, t.localBatchSize);
        refuse(steps > most, "a global batch of more than 2^30 samples");
        if (steps > most) steps = 1;
        t.globalBatchSize = m_n.global.value_or(t.localBatchSize * ranks * steps);
    }

    const CsvRow& m_row;
    const RunNumbers& m_n;
    RunSetup m_out;
};

}  // namespace

std::optional<double> networkRateCalled(std::string_view text, std::int64_t gpusPerNode) {
    for (const auto& [unit, scale] : {std::pair<std::string_view, double>{"Gb/s", 1e9 / 8}, {"Tb/s", 1e12 / 8}}) {
        const std::size_t at = text.find(unit);
        if (at == std::string_view::npos) continue;
        std::size_t begin = at;
        while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
        double value = 0, count = 1;
        if (std::from_chars(text.data() + begin, text.data() + at, value).ec != std::errc() || value <= 0) continue;
        if (begin > 1 && text[begin - 1] == 'x' && text[begin - 2] >= '1' && text[begin - 2] <= '9')
            count = text[begin - 2] - '0';
        else if (contains(text, "per GPU"))
            count = static_cast<double>(gpusPerNode);
        else if (!contains(text, "per node"))
            continue;
        return value * count * scale;
    }
    return std::nullopt;
}

Result<RunSetup> setupOfRun(const CsvRow& row) {
    SHARDSCOPE_ASSIGN(const RunNumbers numbers, numbersOf(row));
    return Mapping(row, numbers).run();
}

}  // namespace shardscope::cli
