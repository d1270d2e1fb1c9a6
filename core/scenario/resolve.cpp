#include "core/scenario/resolve.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/graph/form_units.h"
#include "core/model/hf_model.h"
#include "core/plan/autocast.h"
#include "core/scenario/keys.h"
#include "core/scenario/unused_settings.h"

namespace shardscope::core {
namespace {

constexpr std::int64_t kMostMicroBatches = 4096;
constexpr std::int64_t kUsualSequence = 2048;

struct Ranks {
    std::int64_t world = 1, shard = 1, replicate = 1;
    std::int64_t stages = 1;  // of the strategy fsdp
};

tl::unexpected<Error> refuse(const Scenario& scenario, std::string_view key, std::string message,
                             std::string hint = {}) {
    return fail(ErrorCode::Input, std::move(message), scenario.placeOf(key), std::move(hint));
}

Result<void> refuseUnsupported(const Scenario& scenario) {
    const auto& p = scenario.parallelism;
    const std::pair<std::string_view, std::int64_t> degrees[] = {
        {"parallelism.tensor_parallel_degree", p.tensorDegree},
        {"parallelism.context_parallel_degree", p.contextDegree},
    };
    for (const auto& [key, degree] : degrees)
        if (degree > 1)
            return fail(ErrorCode::Unsupported, fmt::format("found {}; only 1 is simulated so far", degree),
                        scenario.placeOf(key), "set it to 1, or leave it out");
    return {};
}

/// Stages inside which the strategy fsdp shards. Beside naive placement, which has a stage on every GPU, it has none.
std::int64_t stagesOfFsdp(const Scenario& scenario, std::span<const std::string> strategies) {
    const auto asked = [&](std::string_view word) { return std::ranges::find(strategies, word) != strategies.end(); };
    return asked("fsdp") && !asked("naive") ? std::max<std::int64_t>(scenario.parallelism.pipelineDegree, 1) : 1;
}

/// The file, or the option, in which a key was given; empty: it was not.
std::string fileOf(const Scenario& scenario, std::string_view key) {
    for (const auto& [path, where] : scenario.origins)
        if (path == key) return where.substr(0, where.rfind(':'));
    return "";
}

/// An error of parseCluster, which takes all its tables for those of the file `name`, where its own table was given.
Error atItsKey(Error error, const Scenario& scenario, const std::string& name, const std::string& clusterFile) {
    const std::size_t bracket = error.where.find("[cluster");
    if (!error.where.starts_with(name) || bracket == std::string::npos) return error;
    const std::string place = error.where.substr(bracket);
    std::string key;
    for (const std::string_view word : {"node", "gpu", "nodes", "gpus_per_node"})
        if (place == fmt::format("[cluster] {}", word) || place.starts_with(fmt::format("[cluster.{}]", word)))
            key = fmt::format("cluster.{}", word);
    if (key.empty()) return error;
    if (!scenario.given(key))
        error.where = clusterFile == name ? error.where : clusterFile + (clusterFile.empty() ? "" : " ") + place;
    else if (place.starts_with("[cluster] "))
        error.where = scenario.placeOf(key);
    else if (const std::string file = fileOf(scenario, key); file != name || file.starts_with("--"))
        error.where = file + " " + place;
    return error;
}

/// The places of the keys that change the model's sizes; empty: none does.
std::string placesOfSizes(const Scenario& scenario) {
    std::string places;
    for (const auto& [path, where] : scenario.origins)
        if (path.starts_with("model.") && path != "model.name" && path != "model.path" && path != "model.attention" &&
            path != "model.rms_norm" && path != "model.dropout" && path != "model.kernel_rules")
            places += (places.empty() ? "" : ", ") + scenario.placeOf(path);
    return places;
}

/// The hardware with as many GPUs as the cluster's keys say, or else as the degrees need.
/// `shards`: what the degree of replicas leaves of a node is for shards.
Result<Cluster> sizeCluster(const Scenario& scenario, const ScenarioInputs& inputs, std::int64_t stages, bool shards) {
    Document table = inputs.clusterFile.value_or(Document::table());
    if (table.kind != Document::Kind::Table)
        return fail(ErrorCode::Input, fmt::format("found {}, expected a table", describeKind(table.kind)),
                    inputs.clusterFileName);
    // A file of its own may hold its table under [cluster].
    if (const Document* inner = table.find("cluster"); inner != nullptr && inner->kind == Document::Kind::Table)
        table = Document(*inner);
    const auto& c = scenario.cluster;
    if (c.gpu.kind != Document::Kind::Null) table.set("gpu", c.gpu);
    if (c.node.kind != Document::Kind::Null) table.set("node", c.node);
    if (table.find("gpu") == nullptr && table.find("node") == nullptr) table.set("gpu", Document::of("h100-sxm"));
    std::string name = inputs.clusterFileName;
    for (const std::string_view key : {"cluster.node", "cluster.gpu"})
        if (const std::string file = fileOf(scenario, key); !file.empty()) name = file;

    const auto sizeOfFile = [&](std::string_view key, std::int64_t own) {
        const Document* given = table.find(key);
        return own > 0 ? own : given != nullptr && given->kind == Document::Kind::Integer ? given->integer : 0;
    };
    std::int64_t nodes = sizeOfFile("nodes", c.nodes);
    std::int64_t perNode = sizeOfFile("gpus_per_node", c.gpusPerNode);
    if (c.nodes > 0) table.set("nodes", Document::of(c.nodes));
    if (c.gpusPerNode > 0) table.set("gpus_per_node", Document::of(c.gpusPerNode));
    SHARDSCOPE_ASSIGN(Cluster cluster, parseCluster(table, name).map_error([&](Error e) {
        return atItsKey(std::move(e), scenario, name, inputs.clusterFileName);
    }));
    if (nodes > 0 && perNode > 0) return cluster;

    const auto& p = scenario.parallelism;
    const std::int64_t needed = p.shardDegree > 0                     ? p.shardDegree * p.replicateDegree * stages
                                : p.replicateDegree > 1 && !shards    ? p.replicateDegree * stages
                                : stages == 1 && p.pipelineDegree > 1 ? p.pipelineDegree
                                                                      : 0;
    const std::string_view key = p.shardDegree > 0                  ? "parallelism.data_parallel_shard_degree"
                                 : p.replicateDegree > 1 && !shards ? "parallelism.data_parallel_replicate_degree"
                                                                    : "parallelism.pipeline_parallel_degree";
    if (needed == 0) return cluster;
    if (nodes > 0) {
        if (needed % nodes != 0)
            return refuse(scenario, key, fmt::format("{} ranks do not spread evenly over {} nodes", needed, nodes),
                          "give another cluster.nodes, or another degree");
        perNode = needed / nodes;
    } else {
        if (perNode == 0) perNode = std::min(needed, cluster.node.gpus);
        if (needed % perNode != 0)
            return refuse(scenario, key, fmt::format("{} ranks do not fill whole nodes of {} GPUs", needed, perNode),
                          "give cluster.nodes and cluster.gpus_per_node, or another degree");
        nodes = needed / perNode;
    }
    table.set("nodes", Document::of(nodes));
    table.set("gpus_per_node", Document::of(perNode));
    return parseCluster(table, name).map_error([&](Error e) {
        // The sizes are correct as they were given; what they became follows from the degree.
        e.where = scenario.placeOf(key);
        return e;
    });
}

Result<Ranks> countRanks(const Scenario& scenario, const Cluster& cluster, std::int64_t stages) {
    const auto& p = scenario.parallelism;
    Ranks ranks;
    ranks.world = cluster.ranks();
    ranks.replicate = p.replicateDegree;
    ranks.stages = stages;
    if (ranks.world % stages != 0)
        return refuse(scenario, "parallelism.pipeline_parallel_degree",
                      fmt::format("{} stages do not share {} GPUs evenly", stages, ranks.world),
                      "choose a divisor, or change cluster.nodes and cluster.gpus_per_node");
    ranks.shard = p.shardDegree > 0 ? p.shardDegree : ranks.world / stages / ranks.replicate;
    if (stages > 1 && ranks.shard * ranks.replicate * stages != ranks.world)
        return refuse(scenario, "parallelism.pipeline_parallel_degree",
                      fmt::format("{} stages of {} ranks make {}, but the cluster has {} ({} nodes x {} GPUs)", stages,
                                  ranks.shard * ranks.replicate, ranks.shard * ranks.replicate * stages, ranks.world,
                                  cluster.nodes, cluster.gpusPerNode),
                      fmt::format("set data_parallel_shard_degree = {} or -1, or change cluster.nodes and "
                                  "cluster.gpus_per_node",
                                  std::max<std::int64_t>(1, ranks.world / stages / ranks.replicate)));
    if (stages == 1 && ranks.shard * ranks.replicate != ranks.world)
        return refuse(
            scenario, "parallelism.data_parallel_shard_degree",
            fmt::format("degrees {} (shard) x {} (replicate) make {} ranks, but the cluster has {} ({} nodes x {} "
                        "GPUs)",
                        ranks.shard, ranks.replicate, ranks.shard * ranks.replicate, ranks.world, cluster.nodes,
                        cluster.gpusPerNode),
            fmt::format("set data_parallel_shard_degree = {} or -1, or change cluster.nodes and "
                        "cluster.gpus_per_node",
                        ranks.world / ranks.replicate));
    return ranks;
}

/// Whether a sample's length follows from the model itself.
bool knowsItsLength(const ModelSpec& model) {
    const auto* hf = std::get_if<HfSpec>(&model);
    return std::holds_alternative<VitSpec>(model) || (hf != nullptr && !inputsOf(*hf).takesSequence);
}

std::int64_t sequenceOf(const ModelSpec& model, std::int64_t asked) {
    if (knowsItsLength(model)) return 0;
    if (asked > 0) return asked;
    if (const auto* decoder = std::get_if<DecoderSpec>(&model); decoder != nullptr && decoder->positions > 0)
        return std::min(kUsualSequence, decoder->positions);
    if (const auto* tree = std::get_if<ModuleTreeSpec>(&model)) return tree->sequence;
    if (const auto* hf = std::get_if<HfSpec>(&model))
        if (const std::int64_t most = inputsOf(*hf).mostTokens; most > 0) return std::min(kUsualSequence, most);
    return kUsualSequence;
}

Result<Workload> workloadOf(const Scenario& scenario, const ModelSpec& model, const Precision& precision) {
    Workload workload;
    workload.batch = scenario.training.localBatchSize;
    workload.sequence = sequenceOf(model, scenario.training.seqLen);
    workload.dtype = precision.compute();
    for (const auto& names : scenario.training.frozen)
        workload.frozen.insert(workload.frozen.end(), names.begin(), names.end());
    using Kind = Workload::AttentionKind;
    const std::pair<std::string_view, Kind> kinds[] = {{"efficient", Kind::Efficient}, {"cudnn", Kind::Cudnn},
                                                       {"math", Kind::Math},           {"eager", Kind::Eager},
                                                       {"flash1", Kind::Flash1},       {"flash3", Kind::Flash3}};
    for (const auto& [word, kind] : kinds)
        if (scenario.model.attention == word) workload.attention = kind;
    if (workload.attention == Kind::Eager && std::holds_alternative<VitSpec>(model))
        return refuse(scenario, "model.attention", "found \"eager\", which torchvision's transformers do not have",
                      "choose flash, flash1, flash3, efficient, cudnn or math");
    workload.fusedRmsNorm = scenario.model.rmsNorm == "fused";
    workload.cpuRules = scenario.model.kernelRules == "cpu";
    if (workload.cpuRules && workload.attention != Kind::Flash && workload.attention != Kind::Math &&
        workload.attention != Kind::Eager)
        return refuse(scenario, "model.attention",
                      fmt::format("found \"{}\", which runs on GPUs only", scenario.model.attention),
                      "choose flash, math or eager");
    if (workload.cpuRules && workload.attention == Kind::Flash) workload.attention = Kind::Cpu;
    if (scenario.model.dropout == "on") workload.dropout = Workload::Dropout::On;
    if (scenario.model.dropout == "off") workload.dropout = Workload::Dropout::Off;
    workload.autocast = scenario.precision.autocast;
    for (const std::string_view key : {"model.dropout", "precision.autocast"}) {
        const bool asked =
            key == "model.dropout" ? workload.dropout == Workload::Dropout::On : scenario.precision.autocast;
        if (asked && !isRecorded(model))
            return refuse(scenario, std::string(key), "this model's kernels are not known for it",
                          "choose a vision transformer of torchvision, a model of llama's family or GPT-2");
    }
    const std::string& step = scenario.training.stepKind;
    if (step == "evaluate" || step == "first_evaluate") workload.dropout = Workload::Dropout::Off;
    if (workload.autocast)
        SHARDSCOPE_TRY(checkAutocast(precision).map_error([&](Error e) { return scenario.located(std::move(e)); }));
    if (scenario.training.seqLen > 0 && std::holds_alternative<VitSpec>(model))
        return refuse(scenario, "training.seq_len", "a vision transformer's sequence follows from its image",
                      "leave seq_len out, or change model.image_size and model.patch_size");
    if (scenario.training.seqLen > 0 && knowsItsLength(model))
        return refuse(scenario, "training.seq_len", "this model's sequence follows from its images or sounds",
                      "leave seq_len out");
    const auto* decoder = std::get_if<DecoderSpec>(&model);
    if (decoder != nullptr && decoder->modelType == "gpt2" && workload.sequence > decoder->positions)
        return refuse(
            scenario, "training.seq_len",
            fmt::format("found {}, but this model has {} learned positions", workload.sequence, decoder->positions),
            fmt::format("use at most {}", decoder->positions));
    return workload;
}

OptimizerKind optimizerOf(const std::string& word) {
    return word == "adamw"          ? OptimizerKind::AdamW
           : word == "adamw_8bit"   ? OptimizerKind::AdamW8bit
           : word == "adam"         ? OptimizerKind::Adam
           : word == "sgd_momentum" ? OptimizerKind::SgdMomentum
           : word == "sgd"          ? OptimizerKind::Sgd
                                    : OptimizerKind::None;
}

Result<FsdpKnobs> knobsOf(const Scenario& scenario, const ModelSpec& spec, const Workload& workload) {
    const auto& p = scenario.parallelism;
    FsdpKnobs knobs;
    knobs.wrap.root = p.wrapRoot;
    knobs.keepLastUnit = p.keepLastUnit;
    if (!p.wrap.empty()) {
        knobs.wrap.kind = UnitWrap::Kind::List;
        knobs.wrap.units = p.wrap;
    } else if (p.units == "torchtitan") {
        SHARDSCOPE_ASSIGN(const Model model, buildModel(spec, workload));
        knobs.wrap = torchtitanUnits(model, p.blocksPerUnit, p.wrapRoot);
        if (p.reshard.word == "default" && !scenario.given("parallelism.fsdp_keep_last_unit"))
            knobs.keepLastUnit = true;
    } else {
        knobs.wrap.blocksPerUnit = p.blocksPerUnit;
    }
    knobs.reshardAfterForward = p.reshard.value;
    knobs.rootReshardAfterForward = p.rootReshard.value;
    for (const auto& [unit, setting] : p.unitReshard) knobs.reshardOf.emplace_back(unit, setting.value);
    knobs.forwardPrefetch = p.forwardPrefetch;
    knobs.backwardPrefetch = p.backwardPrefetch;
    knobs.rootPrefetch = p.rootPrefetch;
    for (const auto& unit : p.noUnshardInBackward)
        for (const std::string& name : unit) knobs.notGatheredInBackward.push_back(name);
    for (const auto& names : p.shardDim1)
        knobs.shardedOnDim1.insert(knobs.shardedOnDim1.end(), names.begin(), names.end());
    for (const auto& names : p.originalDtype)
        knobs.originalDtype.insert(knobs.originalDtype.end(), names.begin(), names.end());
    knobs.flat = p.fsdpVersion == 1;
    knobs.limitAllGathers = p.limitAllGathers;
    if (p.flatPrefetch == "backward_post") knobs.flatPrefetch = FsdpKnobs::FlatPrefetch::After;
    if (p.flatPrefetch == "none") knobs.flatPrefetch = FsdpKnobs::FlatPrefetch::None;
    knobs.asyncUnshard = p.unshardAsyncOp;
    knobs.shareContext = p.shareContext;
    knobs.keepBetweenMicroBatches = !p.reshardAfterBackward;
    knobs.lastBackwardOnly = p.lastBackwardOnly;
    knobs.reduceInputs = p.reduceInputs;
    knobs.separateReduceGroup = p.separateReduceGroup;
    knobs.hybridMesh = p.hybridMesh;
    if (p.divideFactor > 0) knobs.divideFactor = static_cast<double>(p.divideFactor);
    knobs.forceSum = p.forceSum;
    knobs.manualFinalize = p.manualFinalize;
    return knobs;
}

Result<std::int64_t> microBatches(const Scenario& scenario, std::string_view who, std::int64_t globalBatch,
                                  std::int64_t together, std::string_view sizeKey) {
    if (globalBatch % together != 0)
        return refuse(
            scenario, scenario.given("training.global_batch_size") ? "training.global_batch_size" : sizeKey,
            fmt::format("a global batch of {} is no multiple of the {} samples that {} runs at a time", globalBatch,
                        together, who),
            fmt::format("set training.global_batch_size to a multiple of {}, or change {}", together, sizeKey));
    const std::int64_t count = globalBatch / together;
    if (count > kMostMicroBatches)
        return refuse(scenario, sizeKey,
                      fmt::format("{} would run {} micro-batches one after another; at most {} are simulated", who,
                                  count, kMostMicroBatches),
                      "use larger micro-batches or a smaller global batch");
    return count;
}

}  // namespace

UnitWrap torchtitanUnits(const Model& model, std::int64_t blocksPerUnit, bool root) {
    UnitWrap wrap;
    wrap.kind = UnitWrap::Kind::List;
    wrap.root = root;
    std::vector<std::string> blocks, ends;
    // The modules that own a layer's parameters; what the root or a container of the blocks owns itself stays with the
    // root, and so do both ends of a model that shares a weight between them: a unit cannot split it.
    const bool tied = std::ranges::any_of(model.parameters, &Parameter::tied);
    const auto ownersOf = [&](const Layer& layer) {
        std::vector<std::string> names;
        for (const ParameterId id : layer.parameters) {
            const Module& owner = model.modules[model.parameters[id.index()].module.index()];
            if (owner.children.empty() && !owner.name.empty() && std::ranges::find(names, owner.name) == names.end())
                names.push_back(owner.name);
        }
        return names;
    };
    const auto flush = [&](std::vector<std::string>& names) {
        if (!names.empty()) wrap.units.push_back(std::move(names));
        names.clear();
    };
    for (const Layer& layer : model.layers) {
        if (layer.kind == LayerKind::Block) {
            if (!hasModuleToWrap(model, layer)) continue;
            blocks.push_back(model.modules[layer.module.index()].name);
            if (static_cast<std::int64_t>(blocks.size()) == blocksPerUnit) flush(blocks);
        } else if (!tied && layer.kind != LayerKind::Loss) {
            std::vector<std::string> owners = ownersOf(layer);
            if (layer.kind == LayerKind::Embedding)
                flush(owners);
            else
                ends.insert(ends.end(), owners.begin(), owners.end());
        }
    }
    flush(blocks);
    flush(ends);
    return wrap;
}

Result<Resolved> resolve(const Scenario& scenario, const ScenarioInputs& inputs,
                         std::span<const std::string> strategies) {
    std::vector<std::string> words(strategies.begin(), strategies.end());
    if (words.empty()) words.push_back(scenario.parallelism.strategy);
    const std::vector<std::string_view>& known = findKey("parallelism.strategy")->words;
    for (const std::string& word : words)
        if (std::ranges::find(known, word) == known.end())
            return fail(ErrorCode::Usage, fmt::format("no strategy \"{}\"", word.substr(0, 60)), "--strategy",
                        fmt::format("known are: {}", fmt::join(known, ", ")));
    SHARDSCOPE_TRY(refuseUnsupported(scenario));

    Resolved resolved;
    resolved.title = scenario.title;
    SHARDSCOPE_ASSIGN(resolved.model, withOverrides(inputs.model, scenario));
    const std::int64_t stages = stagesOfFsdp(scenario, words);
    const bool shards = std::ranges::find(words, "fsdp") != words.end();
    SHARDSCOPE_ASSIGN(resolved.cluster, sizeCluster(scenario, inputs, stages, shards));
    SHARDSCOPE_ASSIGN(const Ranks ranks, countRanks(scenario, resolved.cluster, stages));
    const auto& t = scenario.training;
    const auto& p = scenario.parallelism;
    // Ranks with data of their own; the ranks of one pipeline work on the same samples.
    const std::int64_t dataRanks = ranks.world / stages;
    // Products of two bounded factors: 2^30 samples x 2^30 ranks at most.
    resolved.globalBatch = t.globalBatchSize > 0 ? t.globalBatchSize : t.localBatchSize * dataRanks;
    if (words.size() == 1 && words.front() == "single" && p.pipelineDegree > 1)
        return refuse(scenario, "parallelism.pipeline_parallel_degree",
                      fmt::format("found {}, but the strategy \"single\" has one stage", p.pipelineDegree),
                      "choose the strategy naive or fsdp, or leave it out");

    Plan common;
    common.precision = {scenario.precision.original, scenario.precision.param, scenario.precision.reduce};
    common.optimizer = optimizerOf(t.optimizer);
    common.fusedOptimizer = t.optimizerImplementation == "fused";
    common.firstStep = t.firstStep;
    common.evaluation = t.stepKind == "evaluate" || t.stepKind == "first_evaluate";
    common.afterEvaluation = t.stepKind == "evaluate" || t.stepKind == "train_after_evaluate";
    common.compiled = t.compile;
    common.clipNorm = t.clipGradients ? 1.0 : 0.0;
    if (t.gradientSync == "last") common.gradientSync = GradientSync::LastMicroBatch;
    if (t.gradientSync == "all_reduce_last") common.gradientSync = GradientSync::AllReduceLast;
    using Mode = Checkpointing::Mode;
    common.checkpointing.mode = t.checkpoint == "full"        ? Mode::Full
                                : t.checkpoint == "every"     ? Mode::EveryNth
                                : t.checkpoint == "selective" ? Mode::Selective
                                                              : Mode::None;
    common.checkpointing.everyNth = t.checkpointEvery;
    common.checkpointing.earlyStop = t.checkpointEarlyStop;
    common.split = p.split == "parameters" ? StageSplit::ByParameters
                   : p.split == "time"     ? StageSplit::ByTime
                                           : StageSplit::ByLayers;
    SHARDSCOPE_ASSIGN(const Workload workload, workloadOf(scenario, resolved.model, common.precision));

    if (const std::string sizes = placesOfSizes(scenario); !sizes.empty())
        if (auto model = buildModel(resolved.model, workload); !model) {
            model.error().where = sizes;
            return tl::unexpected(std::move(model).error());
        }

    for (const std::string& word : words) {
        Case one{common, workload};
        one.plan.name = word;
        if (word == "fsdp") {
            one.plan.schedule = stages > 1 ? StageSchedule::Naive : StageSchedule::Single;
            one.plan.policy = UnitPolicy::Fsdp;
            one.plan.mesh = {stages, ranks.replicate, ranks.shard};
            SHARDSCOPE_ASSIGN(one.plan.fsdp, knobsOf(scenario, resolved.model, workload));
            // FSDP1 reduces in the param dtype where no reduce dtype is given (framework semantics 1.18).
            if (one.plan.fsdp.flat && !one.plan.precision.reduce)
                one.plan.precision.reduce = one.plan.precision.compute();
            one.plan.fsdp.cpuOffload = t.cpuOffload;
            one.plan.fsdp.pinMemory = t.offloadPinMemory;
            // torchtitan's default: with several stages units stay whole between forward and backward.
            if (stages > 1 && p.reshard.word == "default")
                one.plan.fsdp.reshardAfterForward = {Reshard::Kind::False, 0};
            SHARDSCOPE_ASSIGN(one.plan.microBatches,
                              microBatches(scenario, word, resolved.globalBatch, t.localBatchSize * dataRanks,
                                           "training.local_batch_size"));
        } else if (word == "ddp") {
            one.plan.schedule = StageSchedule::Single;
            one.plan.policy = UnitPolicy::Ddp;
            one.plan.mesh = {1, dataRanks, 1};
            if (p.bucketCapMb > 0) one.plan.ddp.bucketCap = static_cast<double>(p.bucketCapMb);
            if (p.bucketCapMb > 0 && !p.bucketCapMbList.empty())
                return refuse(scenario, "parallelism.ddp_bucket_cap_mb_list",
                              "found beside ddp_bucket_cap_mb, expected one of the two", "leave one of the two out");
            one.plan.ddp.bucketCapList.assign(p.bucketCapMbList.begin(), p.bucketCapMbList.end());
            one.plan.ddp.findUnusedParameters = p.findUnusedParameters;
            one.plan.ddp.staticGraph = p.staticGraph;
            one.plan.ddp.gradientAsBucketView = p.gradientAsBucketView;
            SHARDSCOPE_ASSIGN(one.plan.microBatches,
                              microBatches(scenario, word, resolved.globalBatch, t.localBatchSize * dataRanks,
                                           "training.local_batch_size"));
        } else {
            const bool naive = word == "naive";
            one.plan.schedule = naive ? StageSchedule::Naive : StageSchedule::Single;
            one.plan.policy = UnitPolicy::None;
            one.plan.mesh = {naive ? ranks.world : 1, 1, 1};
            if (naive && p.pipelineDegree > 0 && p.pipelineDegree != ranks.world)
                return refuse(
                    scenario, "parallelism.pipeline_parallel_degree",
                    fmt::format("{} stages on {} GPUs; naive placement has one stage on each", p.pipelineDegree,
                                ranks.world),
                    fmt::format("leave it out, or set it to {}{}", ranks.world,
                                words.size() > 1 ? "; FSDP inside of stages is no part of a comparison with naive "
                                                   "placement, `shardscope simulate --strategy fsdp` takes it"
                                                 : ", or change cluster.nodes and cluster.gpus_per_node"));
            const bool own = naive && t.naiveMicroBatch > 0;
            if (own) one.workload.batch = t.naiveMicroBatch;
            SHARDSCOPE_ASSIGN(one.plan.microBatches,
                              microBatches(scenario, word, resolved.globalBatch, one.workload.batch,
                                           own ? "training.naive_micro_batch" : "training.local_batch_size"));
        }
        resolved.cases.push_back(std::move(one));
    }
    resolved.stepKind = t.stepKind;
    resolved.unused = unusedSettings(scenario, resolved.model, resolved.cases);
    if (words.size() > 1) {
        if (p.pipelineDegree > 1)
            for (const Case& one : resolved.cases)
                if (one.plan.mesh.pp != p.pipelineDegree)
                    resolved.notes.push_back(
                        fmt::format("pipeline_parallel_degree = {} is not {}'s, which has one stage.", p.pipelineDegree,
                                    one.plan.name));
        resolved.notes.push_back(
            fmt::format("Every plan runs the same global batch of {} in the same precision.", resolved.globalBatch));
        for (const Case& one : resolved.cases)
            if (t.cpuOffload && one.plan.policy != UnitPolicy::Fsdp)
                resolved.notes.push_back(
                    fmt::format("enable_cpu_offload is FSDP's: {} keeps everything on its GPUs.", one.plan.name));
        for (const Case& one : resolved.cases)
            if (one.plan.microBatches > 1)
                resolved.notes.push_back(fmt::format("{} runs it as {} micro-batches of {}{}, one after another.",
                                                     one.plan.name, one.plan.microBatches, one.workload.batch,
                                                     one.plan.policy == UnitPolicy::None ? "" : " per rank"));
    }
    return resolved;
}

Result<Resolved> resolveSome(const Scenario& scenario, const ScenarioInputs& inputs,
                             std::span<const std::string> strategies) {
    Result<Resolved> all = resolve(scenario, inputs, strategies);
    if (all || strategies.size() < 3) return all;
    std::vector<std::string> left;
    std::vector<RefusedCase> refused;
    for (const std::string& strategy : strategies) {
        const Result<Resolved> alone = resolve(scenario, inputs, std::span(&strategy, 1));
        if (alone)
            left.push_back(strategy);
        else
            refused.push_back({strategy, alone.error()});
    }
    if (left.size() < 2 || refused.empty()) return all;
    Result<Resolved> some = resolve(scenario, inputs, left);
    if (!some) return all;
    some->refused = std::move(refused);
    return some;
}

}  // namespace shardscope::core
