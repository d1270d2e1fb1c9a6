// check_memory FILE... [--left-out-at-most N]: holds the memory of graphs against recordings of PyTorch, to the byte:
// `host_order_bytes` of schedules.jsonl (files that end in .jsonl) and the categories of memory_tracker.json (the
// others). Prints one line a case: equal, differs (where first), or not expressible (the knob that is missing); after a
// tracker's case the difference of its Activation, Temp and Total, which depend on CPU kernels and are not held. Exit 1
// if any differs, or more than N are not expressible.

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "core/graph/build.h"
#include "core/graph/optimizer_state.h"
#include "core/plan/sharding.h"
#include "tests/checkers/support/outcome.h"
#include "tests/checkers/support/recorded_case.h"
#include "tests/checkers/support/recorded_memory.h"

using namespace shardscope;
using namespace shardscope::core;
using namespace shardscope::checkers;

namespace {

void say(Outcome& counts, const std::string& id, const std::string& difference, const std::string& missing) {
    if (!missing.empty()) {
        ++counts.leftOut;
        fmt::print("{}: not expressible: {}\n", id, missing);
    } else if (!difference.empty()) {
        ++counts.different;
        fmt::print("{}: differs: {}\n", id, difference);
    } else {
        ++counts.equal;
        fmt::print("{}: equal\n", id);
    }
}

std::int64_t integerAt(const Document& table, std::string_view key) {
    const Document* value = table.find(key);
    return value != nullptr && value->kind == Document::Kind::Integer ? value->integer : 0;
}

std::string textAt(const Document& table, std::string_view key) {
    const Document* value = table.find(key);
    return value != nullptr ? value->text : std::string();
}

// --- host_order_bytes -----------------------------------------------------------------------------------------------

void checkSchedule(Outcome& counts, const Document& record) {
    const std::string id = textAt(record, "id");
    const Document *config = record.find("config"), *steps = record.find("steps");
    if (config == nullptr || steps == nullptr || steps->items.empty()) return say(counts, id, {}, "no recorded step");
    const auto expressed = express(*config);
    if (!expressed) {
        const bool missing = expressed.error().code == ErrorCode::Unsupported;
        return say(counts, id, describe(expressed.error()), missing ? expressed.error().message : std::string());
    }
    const auto graph = buildStepGraph(expressed->model, planOfStep(*expressed, *config, 2));
    if (!graph) return say(counts, id, describe(graph.error()), {});
    const Document* recorded = steps->items.back().find("host_order_bytes");
    if (recorded == nullptr) return say(counts, id, {}, "no host_order_bytes");
    const HostOrderBytes ours = hostOrderBytes(*graph, graph->classes.front());
    const std::pair<const char*, std::int64_t> fields[] = {{"gather_buffers", ours.gatherBuffers},
                                                           {"unsharded", ours.unsharded},
                                                           {"gather_plus_unsharded", ours.gatherPlusUnsharded},
                                                           {"rs_inputs", ours.reduceInputs},
                                                           {"total", ours.total}};
    for (const auto& [name, value] : fields)
        if (const std::int64_t theirs = integerAt(*recorded, name); theirs != value)
            return say(counts, id, fmt::format("{} {}, recorded {}", name, value, theirs), {});
    say(counts, id, {}, {});
}

// --- memory_tracker.json --------------------------------------------------------------------------------------------

struct TrackedRun {
    Model model;
    Plan plan;
    std::int64_t rank = 0;
    bool sharded = false;
    std::string blockPrefix;  // "block3" of the recording is this + "3"
};

Result<TrackedRun> readRun(const Document& record) {
    TrackedRun run;
    const std::string id = textAt(record, "id");
    run.sharded = record.find("reshard_after_forward") != nullptr;
    run.rank = integerAt(record, "rank");
    Plan& plan = run.plan;
    if (const Document* ac = record.find("activation_checkpointing"); ac != nullptr && ac->boolean)
        plan.checkpointing.mode = Checkpointing::Mode::Full;
    plan.mesh.dpShard = integerAt(record, "world");
    plan.policy = run.sharded ? UnitPolicy::Fsdp : UnitPolicy::None;
    plan.optimizer = OptimizerKind::AdamW;
    if (textAt(record, "mixed_precision") != "fp32") {
        plan.precision.param = DType::BF16;
        plan.precision.reduce = DType::F32;
    }
    const auto reshard = [](const Document* value) -> Reshard {
        if (value == nullptr || value->kind == Document::Kind::Null) return {};
        if (value->kind == Document::Kind::Integer) return {Reshard::Kind::Group, value->integer};
        return {value->boolean ? Reshard::Kind::True : Reshard::Kind::False, 0};
    };
    plan.fsdp.reshardAfterForward = reshard(record.find("reshard_after_forward"));
    plan.fsdp.rootReshardAfterForward = reshard(record.find("root_reshard_after_forward"));
    // Sizes: README of the recordings, section 4.
    if (id.starts_with("toy4")) {
        ToySizes sizes;
        sizes.model = {.blocks = 4, .d = 64, .h = 256, .vocab = 1000, .sequence = 32};
        sizes.batch = 4;
        SHARDSCOPE_ASSIGN(run.model, toyModel(sizes, plan.precision.compute()));
        run.blockPrefix = "blocks.";
    } else if (id.starts_with("vitb16_1ch_b4")) {
        VitSpec spec;
        spec.channels = 1;
        Workload workload;
        workload.batch = 4;
        workload.dtype = plan.precision.compute();
        SHARDSCOPE_ASSIGN(run.model, buildModel(spec, workload));
        run.blockPrefix = "encoder.layers.encoder_layer_";
    } else {
        return fail(ErrorCode::Unsupported, "a model other than the toy and ViT-B/16");
    }
    return run;
}

/// Padded shards of which the rank owns nothing: the tracker books them under Activation.
std::int64_t emptyShardBytes(const TrackedRun& run, const StepGraph& graph) {
    std::int64_t bytes = 0;
    const std::int64_t ranks = run.plan.mesh.dpShard;
    for (const Unit& unit : graph.units)
        for (const ParameterId p : unit.parameters) {
            const Shape& shape = run.model.parameters[p.index()].shape;
            if (elementsOf(shardShape(shape, ranks, run.rank)) == 0)
                bytes += paddedElements(shape, ranks) / ranks * sizeOf(run.plan.precision.original);
        }
    return bytes;
}

struct Comparison {
    std::string difference;                            // the first one
    std::int64_t activation = 0, temp = 0, total = 0;  // largest differences, ours - theirs
};

void compare(Comparison& out, const std::string& where, const char* category, std::int64_t ours, std::int64_t theirs) {
    if (ours != theirs && out.difference.empty())
        out.difference = fmt::format("{}: {} {}, recorded {}", where, category, ours, theirs);
}

void keepLargest(std::int64_t& kept, std::int64_t candidate) {
    if (std::abs(candidate) > std::abs(kept)) kept = candidate;
}

void compareMoment(Comparison& out, const std::string& where, const Moment& m, const Document& recorded,
                   const TrackedRun& run, std::int64_t emptyShards, bool heldGradients) {
    using enum MemoryCategory;
    const std::int64_t stepCounters = 4 * static_cast<std::int64_t>(run.model.parameters.size());
    const std::int64_t state = m.live[OptimizerState] > 0 ? m.live[OptimizerState] + stepCounters : 0;
    if (!run.sharded) {
        compare(out, where, "Parameter", m.live[UnshardedParameters], integerAt(recorded, "Parameter"));
        compare(out, where, "Gradient", m.live[UnshardedGradients], integerAt(recorded, "Gradient"));
        compare(out, where, "Optstate", state, integerAt(recorded, "Optstate"));
        return;
    }
    compare(out, where, "Sharded Param", m.live[ShardedParameters] - emptyShards, integerAt(recorded, "Sharded Param"));
    compare(out, where, "Unsharded Param", m.live[UnshardedParameters] - m.keptSlices,
            integerAt(recorded, "Unsharded Param"));
    compare(out, where, "All Gather", m.live[GatherBuffers], integerAt(recorded, "All Gather"));
    // On one rank the tracker books the copy that stands for a reduce-scatter's input under Temp.
    if (run.plan.mesh.dpShard > 1)
        compare(out, where, "Reduce Scatter", m.live[ReduceBuffers] - m.reduceOutputs,
                integerAt(recorded, "Reduce Scatter"));
    compare(out, where, "Sharded Grad", m.live[ShardedGradients], integerAt(recorded, "Sharded Grad"));
    compare(out, where, "OptState", state, integerAt(recorded, "OptState"));
    if (heldGradients) compare(out, where, "Unsharded Grad", m.unitGradients, integerAt(recorded, "Unsharded Grad"));
    keepLargest(out.activation, m.live[Activations] + m.keptSlices + emptyShards - integerAt(recorded, "Activation") -
                                    integerAt(recorded, "Inputs"));
    keepLargest(out.temp, m.live[Workspace] - integerAt(recorded, "Temp"));
    keepLargest(out.total, m.live.total().value - integerAt(recorded, "Total"));
}

Result<Comparison> compareStep(TrackedRun& run, const Document& step) {
    Comparison out;
    run.plan.firstStep = integerAt(step, "step") == 1;
    SHARDSCOPE_ASSIGN(const StepGraph graph, buildStepGraph(run.model, run.plan));
    const std::int64_t state = optimizerStateBytes(run.model, graph.units, run.plan, run.rank).value;
    const StepMoments moments = momentsOf(graph, graph.classes.front(), state);
    const std::int64_t emptyShards = emptyShardBytes(run, graph);
    for (const auto& [phase, moment] : moments.step) {
        const Document* recorded = step.find(phase);
        if (recorded == nullptr) return fail(ErrorCode::Input, "no phase " + phase);
        // The tracker moves empty shards to Activation in the first forward.
        const bool fresh = run.plan.firstStep && phase == "before_forward";
        compareMoment(out, fmt::format("step {} {}", integerAt(step, "step"), phase), moment, *recorded, run,
                      fresh ? 0 : emptyShards, false);
    }
    const Document* modules = step.find("modules");
    if (modules == nullptr) return out;
    for (const auto& [name, phases] : modules->members) {
        const std::string unit = name == "root" ? name : run.blockPrefix + name.substr(std::string("block").size());
        const auto found = moments.units.find(unit);
        if (found == moments.units.end()) return fail(ErrorCode::Input, "no unit " + unit);
        for (const auto& [phase, recorded] : phases.members) {
            if (phase.starts_with("Peak")) continue;  // of Total: depends on the kernels' temporaries
            const auto moment = found->second.find(phase);
            if (moment == found->second.end())
                compare(out, name + " " + phase, "moments", 0, 1);
            else
                compareMoment(out, name + " " + phase, moment->second, recorded, run, emptyShards,
                              phase == "Before Post-Backward");
        }
    }
    return out;
}

void checkTracked(Outcome& counts, const Document& record) {
    const std::string id = textAt(record, "id");
    auto run = readRun(record);
    if (!run) {
        const bool missing = run.error().code == ErrorCode::Unsupported;
        return say(counts, id, describe(run.error()), missing ? run.error().message : std::string());
    }
    const Document* steps = record.find("steps");
    if (steps == nullptr) return say(counts, id, "no steps", {});
    Comparison last;
    for (const Document& step : steps->items) {
        const auto comparison = compareStep(*run, step);
        if (!comparison) return say(counts, id, describe(comparison.error()), {});
        last = *comparison;
        if (!last.difference.empty()) return say(counts, id, last.difference, {});
    }
    say(counts, id, {}, {});
    if (run->sharded)
        fmt::print("    largest difference, ours - recorded: Activation {}, Temp {}, Total {}\n", last.activation,
                   last.temp, last.total);
}

int checkFile(const std::string& path, Outcome& counts) {
    const bool schedules = path.ends_with(".jsonl");
    if (schedules) {
        const auto records = readJsonLines(path);
        if (!records) {
            fmt::print(stderr, "{}\n", describe(records.error()));
            return 1;
        }
        for (const Document& record : *records) checkSchedule(counts, record);
        return 0;
    }
    const auto bytes = readFile(path);
    const auto document = bytes ? parseJson(*bytes, path) : Result<Document>(tl::unexpected(bytes.error()));
    if (!document) {
        fmt::print(stderr, "{}\n", describe(document.error()));
        return 1;
    }
    for (const Document& record : document->items) checkTracked(counts, record);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = argumentsOf(argc, argv, "check_memory");
    if (!arguments) return 2;
    Outcome counts;
    int status = 0;
    for (const std::string& path : arguments->files) status |= checkFile(path, counts);
    fmt::print("{} equal, {} differ, {} not expressible\n", counts.equal, counts.different, counts.leftOut);
    return status | exitCode(counts, *arguments);
}
