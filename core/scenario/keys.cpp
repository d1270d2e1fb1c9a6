#include "core/scenario/keys.h"

#include "core/model/size_check.h"

namespace shardscope::core {
namespace {

constexpr std::int64_t kMostRanks = std::int64_t{1} << 20;               // of buildStepGraph
constexpr std::int64_t kMostNodes = 1'000'000, kMostGpusPerNode = 1024;  // of parseCluster
constexpr std::int64_t kMostSamples = std::int64_t{1} << 30;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 26;
constexpr std::int64_t kMostWidth = std::int64_t{1} << 26;
constexpr std::int64_t kMostDepth = 1'000;

using S = Scenario;

// clang-format off
const std::vector<Key>& keys() {
    static const std::vector<Key> kKeys{
        {"title", "", [](S& s) -> std::string& { return s.title; },
         "What pictures and tables are headed with.", {}, 0, 0, ""},

        {"model.name", "", [](S& s) -> std::string& { return s.model.name; },
         "A built-in model; `shardscope models` lists them.", {}, 0, 0, ""},
        {"model.path", "", [](S& s) -> std::string& { return s.model.path; },
         "A Hugging Face folder or config.json, a .safetensors file or a folder with model.safetensors.index.json, or a "
         "module-tree file; relative to the scenario's folder.", {}, 0, 0, ""},
        {"model.layers", "", [](S& s) -> std::int64_t& { return s.model.layers; },
         "Blocks.", {}, 0, kMostLayers, "0: as the model has it"},
        {"model.hidden", "", [](S& s) -> std::int64_t& { return s.model.hidden; },
         "Width of the activations between blocks.", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.heads", "", [](S& s) -> std::int64_t& { return s.model.heads; },
         "Attention heads.", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.kv_heads", "", [](S& s) -> std::int64_t& { return s.model.kvHeads; },
         "Key and value heads of a language model (grouped attention).", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.head_dim", "", [](S& s) -> std::int64_t& { return s.model.headDim; },
         "Width of a head of a language model.", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.mlp", "", [](S& s) -> std::int64_t& { return s.model.mlp; },
         "Inner width of the feed-forward part.", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.vocab", "", [](S& s) -> std::int64_t& { return s.model.vocab; },
         "Vocabulary of a language model.", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.image_size", "", [](S& s) -> std::int64_t& { return s.model.imageSize; },
         "Side of a vision transformer's square images, in pixels.", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.patch_size", "", [](S& s) -> std::int64_t& { return s.model.patchSize; },
         "Side of its patches, in pixels; divides the image size.", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.channels", "", [](S& s) -> std::int64_t& { return s.model.channels; },
         "Channels of its images.", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.classes", "", [](S& s) -> std::int64_t& { return s.model.classes; },
         "Classes that it tells apart.", {}, 0, kMostWidth, "0: as the model has it"},
        {"model.attention", "", [](S& s) -> std::string& { return s.model.attention; },
         "Which attention kernels run: a fused one (FlashAttention 2, memory-efficient, cuDNN, or flash-attn's versions 1 and 3), PyTorch's unfused form in fp32 "
         "(math), or transformers' eager one.", {"flash", "flash1", "flash3", "efficient", "cudnn", "math", "eager"}, 0, 0, ""},
        {"model.rms_norm", "", [](S& s) -> std::string& { return s.model.rmsNorm; },
         "How RMS norms run: kernel by kernel, as transformers writes them, or as one kernel (torch.nn.RMSNorm, torchtitan).",
         {"unfused", "fused"}, 0, 0, ""},
        {"model.dropout", "", [](S& s) -> std::string& { return s.model.dropout; },
         "Dropout of embeddings, attention and residuals, whose masks are kept for backward: config: as the model's config.json says "
         "(built-in models: none); on, off: everywhere, nowhere.", {"config", "on", "off"}, 0, 0, ""},
        {"model.kernel_rules", "", [](S& s) -> std::string& { return s.model.kernelRules; },
         "Whose kernels and number formats PyTorch's operations have: gpu, or cpu, where layer norms keep their statistics and dropout "
         "its masks in the activations' format.", {"gpu", "cpu"}, 0, 0, ""},

        {"cluster.gpu", "", [](S& s) -> Document& { return s.cluster.gpu; },
         "A GPU preset's name (`shardscope clusters` lists them), or a table in the form of docs/clusters.md. "
         "Left out: h100-sxm.", {}, 0, 0, ""},
        {"cluster.node", "", [](S& s) -> Document& { return s.cluster.node; },
         "A node preset's name or a table. Left out: the GPU's usual node.", {}, 0, 0, ""},
        {"cluster.path", "", [](S& s) -> std::string& { return s.cluster.path; },
         "A cluster file of your own; the keys given here count more. Relative to the scenario's folder.", {}, 0, 0, ""},
        {"cluster.nodes", "", [](S& s) -> std::int64_t& { return s.cluster.nodes; },
         "Nodes in use.", {}, 0, kMostNodes, "0: as many as the degrees need"},
        {"cluster.gpus_per_node", "", [](S& s) -> std::int64_t& { return s.cluster.gpusPerNode; },
         "GPUs in use in each node, one rank per GPU.", {}, 0, kMostGpusPerNode, "0: as the degrees need, else all of the node's"},

        {"training.local_batch_size", "", [](S& s) -> std::int64_t& { return s.training.localBatchSize; },
         "Samples (images or sequences) of one micro-batch of one rank under FSDP.", {}, 1, kMostSamples, ""},
        {"training.global_batch_size", "", [](S& s) -> std::int64_t& { return s.training.globalBatchSize; },
         "Samples of one step of the whole job; more than all ranks' local batches means gradient accumulation. It is the "
         "same for every strategy.", {}, -1, kMostSamples, "-1: local_batch_size on every GPU, no accumulation"},
        {"training.seq_len", "", [](S& s) -> std::int64_t& { return s.training.seqLen; },
         "Tokens of a sequence; language models only.", {}, 0, kMostTokens,
         "0: 2,048, or what the model takes if that is less"},
        {"training.naive_micro_batch", "", [](S& s) -> std::int64_t& { return s.training.naiveMicroBatch; },
         "Samples that naive placement passes through its stages at a time.", {}, 0, kMostSamples,
         "0: local_batch_size, the same size as FSDP's"},
        {"training.optimizer", "optimizer.name", [](S& s) -> std::string& { return s.training.optimizer; },
         "The optimizer. sgd_momentum keeps one value an element; adamw_8bit is torchao's.",
         {"adamw", "adamw_8bit", "adam", "sgd", "sgd_momentum", "none"}, 0, 0, ""},
        {"training.optimizer_implementation", "optimizer.implementation",
         [](S& s) -> std::string& { return s.training.optimizerImplementation; },
         "Which of PyTorch's kernels update the parameters.", {"foreach", "fused"}, 0, 0, ""},
        {"training.first_step", "", [](S& s) -> bool& { return s.training.firstStep; },
         "Look at the first step, before which the optimizer's state does not exist, instead of any later one.", {}, 0, 0, ""},

        {"training.step_kind", "", [](S& s) -> std::string& { return s.training.stepKind; },
         "What the step does. train: forward, backward, optimizer. evaluate: forward alone, without gradients, after another such "
         "step, which left the root and all units that are not resharded whole. first_evaluate: after a training step. "
         "train_after_evaluate: train, but with what an evaluation left whole.",
         {"train", "evaluate", "first_evaluate", "train_after_evaluate"}, 0, 0, ""},
        {"training.clip_grad_norm", "", [](S& s) -> bool& { return s.training.clipGradients; },
         "Call clip_grad_norm_ with a max_norm of 1.0 before the optimizer, as torchtitan does; how large it is changes no time.",
         {}, 0, 0, ""},
        {"training.enable_cpu_offload", "", [](S& s) -> bool& { return s.training.cpuOffload; },
         "FSDP's CPUOffloadPolicy: shards, their gradients and the optimizer live in host memory. Every gather copies the own shard "
         "to the GPU, every reduction copies its share back, and the CPUs run the optimizer.", {}, 0, 0, ""},
        {"training.offload_pin_memory", "", [](S& s) -> bool& { return s.training.offloadPinMemory; },
         "Whether that host memory is page-locked (CPUOffloadPolicy's pin_memory).", {}, 0, 0, ""},

        {"training.gradient_sync", "", [](S& s) -> std::string& { return s.training.gradientSync; },
         "When the gradients of a step of several micro-batches are reduced: after every one; once, after the last (no_sync, "
         "set_requires_gradient_sync); or reduce-scattered after every one and all-reduced over the replicas after the last "
         "(set_requires_all_reduce).", {"every", "last", "all_reduce_last"}, 0, 0, ""},

        {"training.frozen", "", [](S& s) -> UnitLists& { return s.training.frozen; },
         "Modules or parameters that are not trained, by full name: no gradients, no optimizer state, no backward below the "
         "first that is trained. Not under ddp.", {}, 0, 0, ""},
        {"training.activation_checkpoint", "activation_checkpoint.mode",
         [](S& s) -> std::string& { return s.training.checkpoint; },
         "Blocks that keep their input alone and run forward again in backward: none; full: all; every: each n-th; selective: all, "
         "but the results of attention and of half the products are kept (torchtitan's list).",
         {"none", "full", "every", "selective"}, 0, 0, ""},
        {"training.checkpoint_every", "", [](S& s) -> std::int64_t& { return s.training.checkpointEvery; },
         "Which blocks are checkpointed under activation_checkpoint = \"every\": the n-th, the 2n-th, ...", {}, 1, kMostLayers, ""},
        {"training.checkpoint_early_stop", "activation_checkpoint.early_stop",
         [](S& s) -> bool& { return s.training.checkpointEarlyStop; },
         "Stop running forward again once everything that backward needs is there (PyTorch's default; torchtitan runs to the end).",
         {}, 0, 0, ""},

        {"training.compile", "compile.enable", [](S& s) -> bool& { return s.training.compile; },
         "torch.compile of the layers, the loss apart: neighbouring memory-bound kernels run as one, and the host launches less. "
         "What is saved for backward stays what it is without.", {}, 0, 0, ""},

        {"parallelism.strategy", "", [](S& s) -> std::string& { return s.parallelism.strategy; },
         "single: everything on one GPU. naive: contiguous layers on each GPU, one micro-batch at a time. ddp: "
         "the whole model on every GPU, gradients averaged in buckets. fsdp: FSDP2.",
         {"single", "naive", "ddp", "fsdp"}, 0, 0, ""},
        {"parallelism.data_parallel_shard_degree", "", [](S& s) -> std::int64_t& { return s.parallelism.shardDegree; },
         "Ranks over which FSDP shards every parameter.", {}, -1, kMostRanks, "-1: all that the other degrees leave"},
        {"parallelism.data_parallel_replicate_degree", "",
         [](S& s) -> std::int64_t& { return s.parallelism.replicateDegree; },
         "Replicas of the sharded model (HSDP): gradients are reduce-scattered inside each, then all-reduced across. DDP has one on "
         "every GPU.", {}, 1, kMostRanks, ""},
        {"parallelism.pipeline_parallel_degree", "", [](S& s) -> std::int64_t& { return s.parallelism.pipelineDegree; },
         "Stages. Naive placement has one on every GPU. FSDP alone shards inside each of them, one micro-batch at a time; beside "
         "naive placement, to compare the two, it has one stage.", {}, -1, kMostRanks,
         "-1: every GPU a stage under naive, 1 otherwise"},
        {"parallelism.tensor_parallel_degree", "", [](S& s) -> std::int64_t& { return s.parallelism.tensorDegree; },
         "Only 1 is simulated so far.", {}, 1, kMostRanks, ""},
        {"parallelism.context_parallel_degree", "", [](S& s) -> std::int64_t& { return s.parallelism.contextDegree; },
         "Only 1 is simulated so far.", {}, 1, kMostRanks, ""},
        {"parallelism.pipeline_parallel_split", "", [](S& s) -> std::string& { return s.parallelism.split; },
         "What naive placement gives every stage an equal share of.", {"layers", "parameters", "time"}, 0, 0, ""},
        {"parallelism.fsdp_reshard_after_forward", "",
         [](S& s) -> ReshardSetting& { return s.parallelism.reshard; },
         "Whether a unit is freed after its forward and gathered again for backward: \"default\" (yes; under fsdp_units = "
         "\"torchtitan\" not the last one; no with several stages), \"always\" or true, \"never\" or false, an integer that divides the shard degree "
         "(keep 1/k, gather among k neighbours), \"unset\" (the argument left out). The root is apart, see below.",
         {}, 0, 0, ""},
        {"parallelism.fsdp_root_reshard_after_forward", "",
         [](S& s) -> ReshardSetting& { return s.parallelism.rootReshard; },
         "The same for the root. \"unset\": kept, as FSDP2 does when the argument is left out.", {}, 0, 0, ""},
        {"parallelism.fsdp_unit_reshard_after_forward", "",
         [](S& s) -> ReshardTable& { return s.parallelism.unitReshard; },
         "The same for single units, by name: { \"blocks.3\" = false }.", {}, 0, 0, ""},
        {"parallelism.fsdp_keep_last_unit", "", [](S& s) -> bool& { return s.parallelism.keepLastUnit; },
         "Do not reshard the last unit that runs forward (backward needs it at once).", {}, 0, 0, ""},
        {"parallelism.fsdp_units", "", [](S& s) -> std::string& { return s.parallelism.units; },
         "What is wrapped: every block (or blocks_per_unit of them), the root taking the rest; or as torchtitan wraps: the "
         "embedding, every block, norm and head together, then the root.", {"blocks", "torchtitan"}, 0, 0, ""},
        {"parallelism.fsdp_blocks_per_unit", "", [](S& s) -> std::int64_t& { return s.parallelism.blocksPerUnit; },
         "Consecutive blocks that form one unit.", {}, 1, kMostLayers, ""},
        {"parallelism.fsdp_wrap", "", [](S& s) -> UnitLists& { return s.parallelism.wrap; },
         "The units themselves, in the order of the fully_shard calls, inner ones first: full module names, or lists of names "
         "for units of several modules. Replaces fsdp_units.", {}, 0, 0, ""},
        {"parallelism.fsdp_wrap_root", "", [](S& s) -> bool& { return s.parallelism.wrapRoot; },
         "Wrap the root too. Without it every unit becomes its own root and nothing is prefetched in backward.", {}, 0, 0, ""},
        {"parallelism.fsdp_forward_prefetch", "", [](S& s) -> std::int64_t& { return s.parallelism.forwardPrefetch; },
         "Units that each unit prefetches explicitly in forward.", {}, 0, kMostDepth, "0: the implicit prefetch"},
        {"parallelism.fsdp_backward_prefetch", "", [](S& s) -> std::int64_t& { return s.parallelism.backwardPrefetch; },
         "Units that each unit prefetches explicitly in backward.", {}, 0, kMostDepth, "0: the implicit prefetch of one"},
        {"parallelism.fsdp_root_prefetch", "", [](S& s) -> std::int64_t& { return s.parallelism.rootPrefetch; },
         "Units that the root prefetches explicitly: the first ones in forward, the last ones in backward.", {}, 0, kMostDepth, "0: none"},
        {"parallelism.fsdp_reshard_after_backward", "",
         [](S& s) -> bool& { return s.parallelism.reshardAfterBackward; },
         "Free a unit's parameters after its backward. Without it they stay whole from one micro-batch to the next, until the "
         "last (set_reshard_after_backward).", {}, 0, 0, ""},
        {"parallelism.fsdp_last_backward_only", "", [](S& s) -> bool& { return s.parallelism.lastBackwardOnly; },
         "Only the last micro-batch's backward waits for its reductions (set_is_last_backward).", {}, 0, 0, ""},
        {"parallelism.fsdp_no_unshard_in_backward", "",
         [](S& s) -> UnitLists& { return s.parallelism.noUnshardInBackward; },
         "Units that are not gathered in backward, because it needs none of their parameters: an embedding "
         "(set_unshard_in_backward).", {}, 0, 0, ""},
        {"parallelism.fsdp_shard_dim1", "", [](S& s) -> UnitLists& { return s.parallelism.shardDim1; },
         "Modules or parameters, by full name, whose tensors of two and more dimensions are cut along dim 1 (shard_placement_fn). "
         "It must divide evenly by the shards.", {}, 0, 0, ""},
        {"parallelism.fsdp_reduce_scatter_inputs", "", [](S& s) -> std::int64_t& { return s.parallelism.reduceInputs; },
         "Reduce-scatter inputs in flight before backward waits for the oldest (set_reduce_scatter_max_input_buffers).", {},
         1, kMostDepth, ""},
        {"parallelism.fsdp_separate_reduce_scatter_group", "",
         [](S& s) -> bool& { return s.parallelism.separateReduceGroup; },
         "Reduce-scatters have a communicator of their own and do not queue with all-gathers "
         "(set_separate_reduce_scatter_group).", {}, 0, 0, ""},
        {"parallelism.fsdp_unshard_async_op", "", [](S& s) -> bool& { return s.parallelism.unshardAsyncOp; },
         "Issue gathers from the compute stream: only explicit prefetches overlap (set_unshard_async_op).", {}, 0, 0, ""},
        {"parallelism.fsdp_share_context", "", [](S& s) -> bool& { return s.parallelism.shareContext; },
         "Units without a root above them share streams and order, so that backward prefetches (share_comm_ctx).", {}, 0, 0, ""},
        {"parallelism.fsdp_hybrid_mesh", "", [](S& s) -> bool& { return s.parallelism.hybridMesh; },
         "The mesh has a replicate dimension even with one replica: all-reduces are issued all the same.", {}, 0, 0, ""},
        {"parallelism.fsdp_divide_factor", "", [](S& s) -> std::int64_t& { return s.parallelism.divideFactor; },
         "By what gradients are divided (set_gradient_divide_factor).", {}, 0, kMostRanks, "0: the data-parallel ranks"},
        {"parallelism.fsdp_force_sum", "", [](S& s) -> bool& { return s.parallelism.forceSum; },
         "Reduce by sums, then divide, instead of averaging (set_force_sum_reduction_for_comms).", {}, 0, 0, ""},
        {"parallelism.fsdp_manual_finalize", "", [](S& s) -> bool& { return s.parallelism.manualFinalize; },
         "The caller ends the backward pass (set_manual_backward_finalization).", {}, 0, 0, ""},
        {"parallelism.fsdp_original_dtype", "", [](S& s) -> UnitLists& { return s.parallelism.originalDtype; },
         "Modules or parameters, by full name, or types of modules (\"LayerNorm\"), that FSDP2 gathers and uses in dtype although "
         "mixed_precision_param is another (param_dtype_override_fn).", {}, 0, 0, ""},
        {"parallelism.fsdp_version", "", [](S& s) -> std::int64_t& { return s.parallelism.fsdpVersion; },
         "2: fully_shard. 1: FullyShardedDataParallel, a flat parameter a unit; \"never\" under fsdp_reshard_after_forward is its "
         "SHARD_GRAD_OP, replicas make it HYBRID_SHARD.", {}, 1, 2, ""},
        {"parallelism.fsdp1_limit_all_gathers", "", [](S& s) -> bool& { return s.parallelism.limitAllGathers; },
         "FSDP1's limit on gathers in flight: the host waits for units that it has freed before it gathers another.", {}, 0, 0, ""},
        {"parallelism.fsdp1_backward_prefetch", "", [](S& s) -> std::string& { return s.parallelism.flatPrefetch; },
         "When FSDP1 gathers the next unit of backward: before the backward of the one before it, after it, or on demand.",
         {"backward_pre", "backward_post", "none"}, 0, 0, ""},
        {"parallelism.ddp_bucket_cap_mb", "", [](S& s) -> std::int64_t& { return s.parallelism.bucketCapMb; },
         "Size at which one of DDP's buckets is full, MiB.", {}, 0, 1 << 20, "0: PyTorch's, 25 and 1 for the first bucket"},
        {"parallelism.ddp_bucket_cap_mb_list", "", [](S& s) -> IntegerList& { return s.parallelism.bucketCapMbList; },
         "A size for each of DDP's buckets in turn, MiB; the last one repeats. In place of ddp_bucket_cap_mb.", {}, 1, 1 << 20, ""},
        {"parallelism.ddp_find_unused_parameters", "",
         [](S& s) -> bool& { return s.parallelism.findUnusedParameters; },
         "DDP looks for parameters without gradients; its buckets are then never rebuilt in the order in which gradients come.",
         {}, 0, 0, ""},
        {"parallelism.ddp_static_graph", "", [](S& s) -> bool& { return s.parallelism.staticGraph; },
         "Promise DDP that every iteration uses the same parameters.", {}, 0, 0, ""},
        {"parallelism.ddp_gradient_as_bucket_view", "",
         [](S& s) -> bool& { return s.parallelism.gradientAsBucketView; },
         "Gradients are views into DDP's buckets: no second copy of them, and none back.", {}, 0, 0, ""},

        {"precision.dtype", "training.dtype", [](S& s) -> DType& { return s.precision.original; },
         "Of the sharded parameters, their gradients and the optimizer's state.", {}, 0, 0, ""},
        {"precision.mixed_precision_param", "training.mixed_precision_param",
         [](S& s) -> std::optional<DType>& { return s.precision.param; },
         "Of gathered parameters, activations and raw gradients; \"none\": dtype.", {}, 0, 0, ""},
        {"precision.mixed_precision_reduce", "training.mixed_precision_reduce",
         [](S& s) -> std::optional<DType>& { return s.precision.reduce; },
         "Of gradient reductions; \"none\": dtype.", {}, 0, 0, ""},
        {"precision.autocast", "", [](S& s) -> bool& { return s.precision.autocast; },
         "torch.autocast: mixed_precision_param holds for matrix products and attention, the rest of the pass and the gradients are float32. "
         "Without FSDP.", {}, 0, 0, ""},
    };
    return kKeys;
}
// clang-format on

}  // namespace

std::string_view Key::section() const {
    const std::size_t dot = path.find('.');
    return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string_view Key::name() const {
    const std::size_t dot = path.find('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::span<const Key> scenarioKeys() {
    return keys();
}

const Key* findKey(std::string_view path) {
    for (const Key& key : keys())
        if (key.path == path || (!key.alias.empty() && key.alias == path)) return &key;
    return nullptr;
}

std::string_view describeSection(std::string_view section) {
    if (section == "model")
        return "What is trained. Either `name` or `path`; the sizes below change single ones of it.";
    if (section == "cluster") return "On what. Sizes that are left out follow the degrees under [parallelism].";
    if (section == "training") return "What one step is.";
    if (section == "parallelism") return "How it is spread over the GPUs.";
    if (section == "precision")
        return "Number formats: float32, bfloat16 or float16. torchtitan has these keys under [training]; both places "
               "work.";
    return "";
}

}  // namespace shardscope::core
