#include "tests/checkers/support/recorded_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "core/model/module_tree.h"

namespace shardscope::checkers {

using namespace core;

namespace {

bool isDefault(const Document& value) {
    switch (value.kind) {
        case Document::Kind::Null: return true;
        case Document::Kind::Boolean: return !value.boolean;
        case Document::Kind::Integer: return value.integer == 0;
        case Document::Kind::List: return value.items.empty();
        case Document::Kind::Table: return value.members.empty();
        default: return false;
    }
}

std::int64_t integerOr(const Document& config, std::string_view key, std::int64_t otherwise) {
    const Document* value = config.find(key);
    return value != nullptr && value->kind == Document::Kind::Integer ? value->integer : otherwise;
}

std::string textOr(const Document& config, std::string_view key, std::string otherwise) {
    const Document* value = config.find(key);
    return value != nullptr && value->kind == Document::Kind::Text ? value->text : otherwise;
}

bool flag(const Document& config, std::string_view key) {
    const Document* value = config.find(key);
    return value != nullptr && value->kind == Document::Kind::Boolean && value->boolean;
}

Reshard reshardOf(const Document& value) {
    if (value.kind == Document::Kind::Boolean) return {value.boolean ? Reshard::Kind::True : Reshard::Kind::False, 0};
    if (value.kind == Document::Kind::Integer) return {Reshard::Kind::Group, value.integer};
    return {Reshard::Kind::Unset, 0};  // null, or "auto": the argument was not given
}

// Switches of which this program has no knob.
constexpr std::array kMissing = {
    "skip_in_forward",  "dead_branch",  "repeat",           "chunked_head",
    "rs_unused_params", "user_unshard", "post_optim_event", "per_param_mesh",
};
constexpr std::array kKnown = {
    "world",
    "mesh",
    "blocks",
    "block_kind",
    "d",
    "h",
    "vocab",
    "seq",
    "batch",
    "units",
    "root",
    "raf",
    "raf_map",
    "root_raf",
    "fwd_prefetch",
    "bwd_prefetch",
    "mp",
    "tied",
    "optimizer",
    "accum",
    "ac_early_stop",
    "ac_reentrant",
    "root_prefetch",
    "no_unshard_in_backward",
    "divide_factor",
    "force_sum",
    "rs_buffers",
    "manual_finalize",
    "unshard_async_op",
    "separate_rs_group",
    "ac",
    "freeze",
    "runtime_raf",
    "share_ctx",
    "offload",
    "eval_mode",
    "eval_then_train",
    "clip",
    "shard_dim1",
};

Result<void> checkKnobs(const Document& config) {
    for (const auto& [key, value] : config.members) {
        if (isDefault(value)) continue;
        if (std::find(kMissing.begin(), kMissing.end(), key) != kMissing.end())
            return fail(ErrorCode::Unsupported, key);
        if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end())
            return fail(ErrorCode::Unsupported, key + " (unknown to this checker)");
    }
    return {};
}

Result<void> setPrecision(const Document& config, Plan& plan) {
    const Document* mp = config.find("mp");
    if (mp == nullptr || mp->kind != Document::Kind::Table) return {};
    for (const auto& [key, value] : mp->members) {
        if (isDefault(value)) continue;
        // Casts of inputs and outputs change neither the order nor the size of anything that is recorded.
        if (key == "cast_inputs" || key == "root_output") continue;
        if (key == "keep_norm_f32") {
            plan.fsdp.originalDtype = {"LayerNorm"};
            continue;
        }
        if (key != "param" && key != "reduce") return fail(ErrorCode::Unsupported, "mp." + key);
        const auto type = dtypeFromName(value.text);
        if (!type) return fail(ErrorCode::Unsupported, "mp dtype " + value.text);
        (key == "param" ? plan.precision.param : plan.precision.reduce) = *type;
    }
    return {};
}

Result<void> setAccumulation(const Document& config, Plan& plan) {
    const Document* accum = config.find("accum");
    if (accum == nullptr || accum->kind != Document::Kind::Table) return {};
    for (const auto& [key, value] : accum->members) {
        if (key == "m")
            plan.microBatches = value.integer;
        else if (key == "mode" && value.text == "no_sync")
            plan.gradientSync = GradientSync::LastMicroBatch;
        else if (key == "mode" && value.text == "rs_only")
            plan.gradientSync = GradientSync::AllReduceLast;
        else if (key == "mode" && value.text != "sync_every")
            return fail(ErrorCode::Unsupported, "accum.mode " + value.text);
        else if (key == "is_last" && value.text == "last_only")
            plan.fsdp.lastBackwardOnly = true;
        else if (key == "keep_params" && value.kind == Document::Kind::Boolean)
            plan.fsdp.keepBetweenMicroBatches = value.boolean;
        else if (key != "mode" && !isDefault(value))
            return fail(ErrorCode::Unsupported, "accum." + key);
    }
    return {};
}

std::vector<std::vector<std::string>> unitsOf(const Document* units, std::int64_t blocks) {
    std::vector<std::vector<std::string>> list;
    const auto addChildren = [&](const char* a, const char* b) {
        for (std::int64_t i = 0; i < blocks; ++i) {
            list.push_back({fmt::format("blocks.{}.{}", i, a)});
            list.push_back({fmt::format("blocks.{}.{}", i, b)});
        }
    };
    const auto addOne = [&](const std::string& name) {
        if (name == "blocks") {
            for (std::int64_t i = 0; i < blocks; ++i) list.push_back({fmt::format("blocks.{}", i)});
        } else if (name == "ab") {
            addChildren("a", "b");
        } else if (name == "attn_mlp") {
            addChildren("attn", "mlp");
        } else {
            std::vector<std::string> modules;
            std::istringstream parts(name);
            for (std::string part; std::getline(parts, part, '+');) modules.push_back(part);
            list.push_back(modules);
        }
    };
    if (units == nullptr || units->kind != Document::Kind::List)
        addOne("blocks");
    else
        for (const Document& unit : units->items) addOne(unit.text);
    return list;
}

}  // namespace

Result<std::string> readFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return fail(ErrorCode::Io, "cannot be opened", path);
    std::ostringstream text;
    text << file.rdbuf();
    if (file.bad()) return fail(ErrorCode::Io, "cannot be read", path);
    return text.str();
}

Result<std::vector<Document>> readJsonLines(const std::string& path) {
    SHARDSCOPE_ASSIGN(const std::string text, readFile(path));
    std::vector<Document> documents;
    std::istringstream lines(text);
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        SHARDSCOPE_ASSIGN(auto document, parseJson(line, fmt::format("{}:{}", path, number)));
        documents.push_back(std::move(document));
    }
    return documents;
}

Result<Model> toyModel(const ToySizes& sizes, DType compute) {
    const auto spec = tests::toySpec(sizes.model);
    if (!spec) return fail(ErrorCode::Unsupported, "block_kind " + sizes.model.blockKind);
    Workload workload;
    workload.batch = sizes.batch;
    workload.sequence = sizes.model.sequence;
    workload.dtype = compute;
    workload.frozen = sizes.frozen;
    return buildModel(*spec, workload);
}

Result<ExpressedCase> express(const Document& config) {
    SHARDSCOPE_TRY(checkKnobs(config));
    ExpressedCase expressed;
    Plan& plan = expressed.plan;
    ToySizes sizes;
    sizes.model.d = integerOr(config, "d", sizes.model.d);
    sizes.model.h = integerOr(config, "h", sizes.model.h);
    sizes.model.vocab = integerOr(config, "vocab", sizes.model.vocab);
    sizes.model.sequence = integerOr(config, "seq", sizes.model.sequence);
    sizes.batch = integerOr(config, "batch", sizes.batch);
    sizes.model.blocks = integerOr(config, "blocks", sizes.model.blocks);
    sizes.model.blockKind = textOr(config, "block_kind", sizes.model.blockKind);
    const Document* tied = config.find("tied");
    sizes.model.tied = tied != nullptr && tied->boolean;

    if (const Document* frozen = config.find("freeze"))
        for (const Document& module : frozen->items) sizes.frozen.push_back(module.text);

    plan.mesh.dpShard = integerOr(config, "world", 2);
    const Document* mesh = config.find("mesh");
    if (mesh != nullptr && mesh->kind == Document::Kind::List) {
        if (mesh->items.size() != 2) return fail(ErrorCode::Unsupported, "a mesh of other than two dimensions");
        plan.mesh.dpReplicate = mesh->items[0].integer;
        plan.mesh.dpShard = mesh->items[1].integer;
        plan.fsdp.hybridMesh = true;
    }
    plan.fsdp.wrap.kind = UnitWrap::Kind::List;
    plan.fsdp.wrap.units = unitsOf(config.find("units"), sizes.model.blocks);
    plan.fsdp.wrap.root = textOr(config, "root", "present") != "absent";
    plan.fsdp.reshardAfterForward = {Reshard::Kind::True, 0};
    if (const Document* raf = config.find("raf")) plan.fsdp.reshardAfterForward = reshardOf(*raf);
    if (const Document* raf = config.find("root_raf")) plan.fsdp.rootReshardAfterForward = reshardOf(*raf);
    if (const Document* map = config.find("raf_map"))
        for (const auto& [unit, raf] : map->members) plan.fsdp.reshardOf.emplace_back(unit, reshardOf(raf));
    plan.fsdp.forwardPrefetch = integerOr(config, "fwd_prefetch", 0);
    plan.fsdp.backwardPrefetch = integerOr(config, "bwd_prefetch", 0);
    plan.fsdp.rootPrefetch = integerOr(config, "root_prefetch", 0);
    if (const Document* units = config.find("no_unshard_in_backward"))
        for (const Document& unit : units->items) plan.fsdp.notGatheredInBackward.push_back(unit.text);
    // Inside or outside the unit: the schedule is the same (framework semantics 5.1).
    if (!textOr(config, "ac", "").empty()) plan.checkpointing.mode = Checkpointing::Mode::Full;
    if (const Document* early = config.find("ac_early_stop"); early != nullptr)
        plan.checkpointing.earlyStop = early->kind != Document::Kind::Boolean || early->boolean;
    if (flag(config, "ac_reentrant")) plan.checkpointing.earlyStop = false;
    plan.fsdp.reduceInputs = integerOr(config, "rs_buffers", 1);
    if (const Document* factor = config.find("divide_factor"); factor != nullptr && !isDefault(*factor))
        plan.fsdp.divideFactor = factor->number();
    plan.fsdp.forceSum = flag(config, "force_sum");
    plan.fsdp.separateReduceGroup = flag(config, "separate_rs_group");
    plan.fsdp.asyncUnshard = flag(config, "unshard_async_op");
    plan.fsdp.manualFinalize = flag(config, "manual_finalize");
    plan.fsdp.shareContext = flag(config, "share_ctx");
    if (const Document* offload = config.find("offload");
        offload != nullptr && offload->kind == Document::Kind::Table) {
        plan.fsdp.cpuOffload = true;
        plan.fsdp.pinMemory = flag(*offload, "pin");
    }
    if (const Document* clip = config.find("clip"); clip != nullptr && !isDefault(*clip))
        plan.clipNorm = clip->number();
    if (const std::string name = textOr(config, "shard_dim1", ""); !name.empty())
        for (std::int64_t i = 0; i < sizes.model.blocks; ++i)
            plan.fsdp.shardedOnDim1.push_back(fmt::format("blocks.{}.{}.weight", i, name));
    plan.evaluation = flag(config, "eval_mode");
    plan.optimizer = textOr(config, "optimizer", "sgd") == "adamw" ? OptimizerKind::AdamW : OptimizerKind::Sgd;
    SHARDSCOPE_TRY(setPrecision(config, plan));
    SHARDSCOPE_TRY(setAccumulation(config, plan));

    SHARDSCOPE_ASSIGN(expressed.model, toyModel(sizes, plan.precision.compute()));
    expressed.observed = {"emb", "norm", "head"};
    for (const auto& unit : plan.fsdp.wrap.units)
        expressed.observed.insert(expressed.observed.end(), unit.begin(), unit.end());
    return expressed;
}

Plan planOfStep(const ExpressedCase& expressed, const Document& config, std::int64_t step) {
    Plan plan = expressed.plan;
    if (step == 1) plan.firstStep = true;
    // Evaluation in both steps, or in the first alone.
    const bool first = flag(config, "eval_then_train");
    if (first) plan.evaluation = step == 1;
    plan.afterEvaluation = step > 1 && (plan.evaluation || first);
    if (step > 1 && flag(config, "runtime_raf")) plan.fsdp.reshardAfterForward = {Reshard::Kind::False, 0};
    return plan;
}

}  // namespace shardscope::checkers
