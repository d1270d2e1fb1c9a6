#include "core/graph/form_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/base/nearest.h"
#include "core/graph/build.h"
#include "core/graph/gradient_order.h"
#include "core/graph/original_dtype.h"
#include "core/plan/sharding.h"

namespace shardscope::core {

namespace {

constexpr const char* kWhere = "[parallelism] fsdp_wrap";
constexpr const char* kUnitReshard = "[parallelism] fsdp_unit_reshard_after_forward";

// Which layers run a module's subtree forward, as a half-open range; empty for a module that no layer runs.
struct LayerRange {
    std::uint32_t begin = 0xffffffffu, end = 0;
    void add(std::uint32_t layer) {
        begin = std::min(begin, layer);
        end = std::max(end, layer + 1);
    }
};

std::vector<LayerRange> layersOfModules(const Model& model) {
    std::vector<std::vector<bool>> runsIn(model.programs.size());  // by program, then by its modules
    std::vector<LayerRange> ranges(model.modules.size());
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
        const Layer& layer = model.layers[l];
        std::vector<bool>& runs = runsIn[layer.program.index()];
        if (runs.empty()) {
            runs.resize(layer.modules.size(), false);
            for (const Kernel& kernel : model.programOf(layer).forward) runs[kernel.module] = true;
        }
        for (std::size_t p = 0; p < layer.modules.size(); ++p) {
            if (!runs[p]) continue;
            for (ModuleId m = layer.modules[p]; m.valid(); m = model.modules[m.index()].parent)
                ranges[m.index()].add(static_cast<std::uint32_t>(l));
        }
    }
    return ranges;
}

std::vector<bool> parametersOfStage(const Model& model, const Stage& stage) {
    std::vector<bool> here(model.parameters.size(), stage.count == 1);
    if (stage.count == 1) return here;
    std::vector<bool> used(model.parameters.size(), false);
    for (std::size_t l = 0; l < model.layers.size(); ++l)
        for (ParameterId p : model.layers[l].parameters) {
            used[p.index()] = true;
            if (l >= stage.begin.index() && l < stage.end.index()) here[p.index()] = true;
        }
    // What no layer uses still takes memory somewhere: it stays with the first stage.
    if (stage.first())
        for (std::size_t p = 0; p < used.size(); ++p)
            if (!used[p]) here[p] = true;
    return here;
}

std::string nameOfUnit(const Model& model, const std::vector<ModuleId>& modules, UnitWrap::Kind kind) {
    const std::string& first = model.modules[modules.front().index()].name;
    if (modules.size() == 1) return first;
    if (kind == UnitWrap::Kind::Blocks) {
        // "blocks.0-2" for blocks.0, blocks.1, blocks.2
        const std::string& last = model.modules[modules.back().index()].name;
        const auto digits = [](const std::string& s) { return s.find_last_not_of("0123456789") + 1; };
        if (first.compare(0, digits(first), last, 0, digits(last)) == 0 && digits(last) < last.size())
            return first + "-" + last.substr(digits(last));
    }
    std::string name;
    for (ModuleId m : modules) name += (name.empty() ? "" : "+") + model.modules[m.index()].name;
    return name;
}

Result<std::vector<std::vector<ModuleId>>> wrappedModules(const Model& model, const UnitWrap& wrap,
                                                          const Stage& stage) {
    std::vector<std::vector<ModuleId>> wrapped;
    if (wrap.kind == UnitWrap::Kind::Blocks) {
        if (wrap.blocksPerUnit < 1)
            return fail(ErrorCode::Input, fmt::format("{} blocks a unit, expected at least 1", wrap.blocksPerUnit),
                        "[parallelism] fsdp_blocks_per_unit");
        std::int64_t inUnit = wrap.blocksPerUnit;
        // Consecutive blocks of the stage: a unit does not reach into the next one.
        for (std::size_t l = stage.begin.index(); l < stage.end.index(); ++l) {
            const Layer& layer = model.layers[l];
            if (layer.kind != LayerKind::Block || !hasModuleToWrap(model, layer)) continue;
            if (inUnit == wrap.blocksPerUnit) {
                wrapped.emplace_back();
                inUnit = 0;
            }
            wrapped.back().push_back(layer.module);
            ++inUnit;
        }
        return wrapped;
    }
    std::unordered_map<std::string_view, ModuleId> known;
    known.reserve(model.modules.size());
    for (std::size_t m = 1; m < model.modules.size(); ++m) known.insert_or_assign(model.modules[m].name, ModuleId(m));
    for (const auto& names : wrap.units) {
        if (names.empty()) return fail(ErrorCode::Input, "a unit without modules", kWhere);
        wrapped.emplace_back();
        for (const std::string& name : names) {
            const auto entry = known.find(name);
            if (entry == known.end()) {
                std::vector<std::string> all;
                for (std::size_t m = 1; m < model.modules.size(); ++m) all.push_back(model.modules[m].name);
                const std::string near = nearest(name, all), like = alikeInWords(name, all);
                return fail(ErrorCode::Input, fmt::format("no module '{}' in {}", name, model.name), kWhere,
                            !near.empty()   ? fmt::format("the nearest name is '{}'", near)
                            : !like.empty() ? like
                                            : "full module names are expected; fsdp_wrap_root wraps the root");
            }
            const ModuleId found = entry->second;
            if (model.modules[found.index()].type == "ModuleList")
                return fail(ErrorCode::Input, fmt::format("'{}' is a ModuleList, which has no forward to wrap", name),
                            kWhere, "name its children");
            wrapped.back().push_back(found);
        }
    }
    return wrapped;
}

Result<Reshard> resolve(const Reshard& asked, bool whenUnset, std::int64_t ranks, const std::string& unit,
                        const std::string& where) {
    Reshard reshard = asked;
    if (reshard.kind == Reshard::Kind::Unset) reshard.kind = whenUnset ? Reshard::Kind::True : Reshard::Kind::False;
    if (reshard.kind != Reshard::Kind::Group) return Reshard{reshard.kind, 0};
    if (reshard.group < 1 || ranks % reshard.group != 0)
        return fail(ErrorCode::Input,
                    fmt::format("unit '{}' reshards to groups of {}, which does not divide the {} shard ranks", unit,
                                reshard.group, ranks),
                    where, "use a divisor of data_parallel_shard_degree");
    // Groups of one keep everything, one group of all ranks keeps its own shard only (framework semantics 1.9).
    if (reshard.group == 1) return Reshard{Reshard::Kind::False, 0};
    if (reshard.group == ranks) return Reshard{Reshard::Kind::True, 0};
    return reshard;
}

// Collects parameters in the order of framework semantics 1.1 and keeps track of who owns what.
class Ownership {
public:
    explicit Ownership(const Model& model)
        : m_model(model), m_wrapped(model.modules.size(), false), m_owner(model.parameters.size(), -1) {}

    Result<void> take(Unit& unit, int index, const std::vector<bool>& here) {
        for (ModuleId module : unit.modules) {
            SHARDSCOPE_TRY(visit(unit, index, module, here));
        }
        for (ModuleId module : unit.modules) m_wrapped[module.index()] = true;
        return {};
    }
    std::vector<std::string> names;

private:
    Result<void> visit(Unit& unit, int index, ModuleId id, const std::vector<bool>& here) {
        if (m_wrapped[id.index()]) return {};
        const Module& module = m_model.modules[id.index()];
        for (ModuleId child : module.children) SHARDSCOPE_TRY(visit(unit, index, child, here));
        for (ParameterId p : module.parameters) {
            if (!here[p.index()]) continue;
            int& owner = m_owner[p.index()];
            if (owner == index) continue;
            if (owner >= 0)
                return fail(ErrorCode::Input,
                            fmt::format("parameter '{}' is shared between the units '{}' and '{}'",
                                        m_model.parameters[p.index()].name, names[static_cast<std::size_t>(owner)],
                                        names[static_cast<std::size_t>(index)]),
                            kWhere, "put both of its modules into one unit, or leave both to the root");
            owner = index;
            unit.parameters.push_back(p);
        }
        return {};
    }

    const Model& m_model;
    std::vector<bool> m_wrapped;
    std::vector<int> m_owner;
};

// Without `sharding` every rank has the whole.
void countElements(const Model& model, Unit& unit, const Plan* sharding) {
    for (ParameterId p : unit.parameters) {
        const Parameter& parameter = model.parameters[p.index()];
        const std::int64_t elements = elementsOf(parameter.shape);
        const std::int64_t padded =
            sharding == nullptr ? elements : paddedElements(*sharding, parameter.name, parameter.shape);
        unit.elements += elements;
        unit.paddedElements += padded;
        if (parameter.frozen) continue;
        unit.trainedElements += elements;
        unit.trainedPadded += padded;
    }
    if (sharding == nullptr) return;
    if (sharding->fsdp.flat) {
        unit.paddedElements = paddedFlat(unit.elements, sharding->mesh.dpShard);
        unit.trainedPadded = unit.trainedElements > 0 ? unit.paddedElements : 0;
    }
    markOriginalDtype(model, *sharding, unit);
}

Result<void> checkNesting(const Model& model, const std::vector<std::vector<ModuleId>>& wrapped) {
    // Marks by module keep both checks linear in the number of modules.
    std::vector<std::size_t> unitOf(model.modules.size(), wrapped.size());
    for (std::size_t u = 0; u < wrapped.size(); ++u) {
        for (ModuleId module : wrapped[u]) unitOf[module.index()] = u;
        for (ModuleId module : wrapped[u])
            for (ModuleId m = model.modules[module.index()].parent; m.valid(); m = model.modules[m.index()].parent)
                if (unitOf[m.index()] == u)
                    return fail(ErrorCode::Input,
                                fmt::format("'{}' lies inside '{}' of the same unit",
                                            model.modules[module.index()].name, model.modules[m.index()].name),
                                kWhere);
    }
    // Wrapping goes from the inside out.
    std::vector<bool> taken(model.modules.size(), false);
    for (const auto& unit : wrapped)
        for (ModuleId module : unit) {
            const std::string& name = model.modules[module.index()].name;
            for (ModuleId m = module; m.valid(); m = model.modules[m.index()].parent)
                if (taken[m.index()])
                    return fail(ErrorCode::Input,
                                m == module ? fmt::format("'{}' is wrapped twice", name)
                                            : fmt::format("'{}' is wrapped after '{}', which contains it", name,
                                                          model.modules[m.index()].name),
                                kWhere, "name inner modules before outer ones");
            taken[module.index()] = true;
        }
    return {};
}

}  // namespace

bool hasModuleToWrap(const Model& model, const Layer& layer) {
    return layer.module.index() != 0 && model.modules[layer.module.index()].type != "ModuleList";
}

Unit wholeStageUnit(const Model& model, const Stage& stage) {
    Unit unit;
    unit.name = stage.count == 1 ? "model" : fmt::format("stage {}", stage.index);
    unit.modules = {ModuleId(0)};
    unit.isRoot = true;
    unit.reshard = {Reshard::Kind::False, 0};
    Ownership ownership(model);
    ownership.names = {unit.name};
    const auto taken = ownership.take(unit, 0, parametersOfStage(model, stage));
    static_cast<void>(taken);  // one owner: nothing can be shared
    countElements(model, unit, nullptr);
    return unit;
}

namespace {

constexpr const char* kDim1 = "[parallelism] fsdp_shard_dim1";

// FSDP2 cuts a dimension other than 0 only where it divides evenly.
Result<void> checkDim1(const Model& model, const Plan& plan) {
    for (const std::string& asked : plan.fsdp.shardedOnDim1) {
        Plan alone = plan;
        alone.fsdp.shardedOnDim1 = {asked};
        bool found = false;
        for (const Parameter& parameter : model.parameters) {
            if (!cutOnDim1(alone, parameter.name, parameter.shape)) continue;
            found = true;
            if (parameter.shape[1] % plan.mesh.dpShard != 0)
                return fail(ErrorCode::Input,
                            fmt::format("dim 1 of '{}' {} does not divide evenly by {} shards", parameter.name,
                                        toString(parameter.shape), plan.mesh.dpShard),
                            kDim1, "leave it on dim 0, which is padded where it does not divide");
        }
        if (found) continue;
        std::vector<std::string> known;
        for (const Parameter& parameter : model.parameters)
            if (parameter.shape.size() > 1) known.push_back(parameter.name);
        const std::string near = nearest(asked, known);
        return fail(ErrorCode::Input, fmt::format("no parameter of two dimensions is '{}' or lies in it", asked), kDim1,
                    near.empty() ? "" : fmt::format("the nearest name is '{}'", near));
    }
    return {};
}

}  // namespace

Result<std::vector<Unit>> formStageUnits(const Model& model, const Plan& plan, const Stage& stage) {
    const FsdpKnobs& knobs = plan.fsdp;
    const std::int64_t ranks = plan.mesh.dpShard;
    SHARDSCOPE_ASSIGN(const auto wrapped, wrappedModules(model, knobs.wrap, stage));
    SHARDSCOPE_TRY(checkNesting(model, wrapped));
    SHARDSCOPE_TRY(checkDim1(model, plan));
    SHARDSCOPE_TRY(checkOriginalDtype(model, plan));
    const std::vector<LayerRange> layersOf = layersOfModules(model);

    std::vector<Unit> units;
    for (const auto& modules : wrapped) {
        Unit unit;
        unit.name = nameOfUnit(model, modules, knobs.wrap.kind);
        unit.modules = modules;
        std::size_t inside = 0;
        for (ModuleId module : modules) {
            const LayerRange range = layersOf[module.index()];
            if (range.end == 0)
                return fail(ErrorCode::Unsupported,
                            fmt::format("module '{}' of unit '{}' runs no kernel in {}",
                                        model.modules[module.index()].name, unit.name, model.name),
                            kWhere, "wrap the module that contains it");
            if (range.begin >= stage.begin.index() && range.end <= stage.end.index())
                ++inside;
            else if (range.begin < stage.end.index() && range.end > stage.begin.index())
                return fail(ErrorCode::Input, fmt::format("unit '{}' lies in more than one stage", unit.name), kWhere);
        }
        if (inside != 0 && inside != modules.size())
            return fail(ErrorCode::Input, fmt::format("unit '{}' lies in more than one stage", unit.name), kWhere);
        if (inside != 0) units.push_back(std::move(unit));
    }
    if (knobs.wrap.root) {
        Unit root;
        root.name = stage.count == 1 ? "root" : fmt::format("root (stage {})", stage.index);
        root.modules = {ModuleId(0)};
        root.isRoot = true;
        units.push_back(std::move(root));
    }
    Ownership ownership(model);
    const std::vector<bool> here = parametersOfStage(model, stage);
    for (const Unit& unit : units) ownership.names.push_back(unit.name);
    std::size_t lastToRun = units.size();
    std::uint32_t lastEnd = 0;
    for (std::size_t u = 0; u < units.size(); ++u) {
        SHARDSCOPE_TRY(ownership.take(units[u], static_cast<int>(u), here));
        countElements(model, units[u], &plan);
        for (ParameterId p : units[u].parameters)
            if (model.parameters[p.index()].shape.empty())
                return fail(ErrorCode::Unsupported,
                            fmt::format("parameter '{}' is a scalar, which cannot be sharded",
                                        model.parameters[p.index()].name),
                            kWhere);
        if (units[u].isRoot) continue;
        for (ModuleId module : units[u].modules)
            if (layersOf[module.index()].end >= lastEnd) {
                lastEnd = layersOf[module.index()].end;
                lastToRun = u;
            }
    }
    if (!knobs.wrap.root) {
        // Modules that stay outside must not use a unit's weight: it would be sharded under their hands.
        Unit rest;
        rest.modules = {ModuleId(0)};
        ownership.names.emplace_back("(not wrapped)");
        SHARDSCOPE_TRY(ownership.take(rest, static_cast<int>(units.size()), here));
    }
    std::vector<bool> isWrapped(model.modules.size(), false);
    for (const Unit& unit : units)
        for (ModuleId module : unit.modules) isWrapped[module.index()] = true;
    for (std::size_t u = 0; u < units.size(); ++u) {
        Unit& unit = units[u];
        Reshard asked = unit.isRoot ? knobs.rootReshardAfterForward : knobs.reshardAfterForward;
        std::string where =
            unit.isRoot ? "[parallelism] fsdp_root_reshard_after_forward" : "[parallelism] fsdp_reshard_after_forward";
        if (knobs.keepLastUnit && u == lastToRun && stage.last()) asked = {Reshard::Kind::False, 0};
        for (const auto& [name, reshard] : knobs.reshardOf)
            if (name == unit.name || (unit.isRoot && name == "root")) {
                asked = reshard;
                where = kUnitReshard;
            }
        // Without a root call every outermost unit is a root itself, and an unset root is not resharded (1.2).
        bool isOwnRoot = unit.isRoot;
        if (!knobs.wrap.root) {
            isOwnRoot = true;
            for (ModuleId m = model.modules[unit.modules.front().index()].parent; m.valid();
                 m = model.modules[m.index()].parent)
                if (isWrapped[m.index()]) isOwnRoot = false;
        }
        SHARDSCOPE_ASSIGN(unit.reshard, resolve(asked, !isOwnRoot, ranks, unit.name, where));
        if (unit.reshard.kind == Reshard::Kind::Group)
            for (ParameterId p : unit.parameters) {
                const Parameter& parameter = model.parameters[p.index()];
                if (cutOnDim1(plan, parameter.name, parameter.shape))
                    return fail(ErrorCode::Unsupported,
                                fmt::format("'{}' is cut along dim 1, and its unit keeps 1/{} after forward",
                                            parameter.name, unit.reshard.group),
                                kDim1, "reshard this unit wholly or not at all");
                if (paddedElements(parameter.shape, ranks) % unit.reshard.group != 0)
                    return fail(ErrorCode::Unsupported,
                                fmt::format("the padded elements of '{}' are not divisible by {}", parameter.name,
                                            unit.reshard.group),
                                where);
            }
    }
    return units;
}

Result<void> checkUnitNames(const Plan& plan, const std::vector<std::vector<Unit>>& units) {
    std::vector<std::string> names{"root"};
    for (const auto& ofStage : units)
        for (const Unit& unit : ofStage)
            if (!unit.isRoot) names.push_back(unit.name);
    const auto check = [&](const std::string& name, const char* key) -> Result<void> {
        if (std::find(names.begin(), names.end(), name) != names.end()) return {};
        const std::string near = nearest(name, names);
        return fail(ErrorCode::Input, fmt::format("no unit '{}'", name), key,
                    near.empty() ? alikeInWords(name, names) : fmt::format("the nearest name is '{}'", near));
    };
    for (const auto& [name, reshard] : plan.fsdp.reshardOf) SHARDSCOPE_TRY(check(name, kUnitReshard));
    for (const std::string& name : plan.fsdp.notGatheredInBackward)
        SHARDSCOPE_TRY(check(name, "[parallelism] fsdp_no_unshard_in_backward"));
    return {};
}

Result<std::vector<Unit>> unitsOfStage(const Model& model, const Plan& plan, const Stage& stage) {
    switch (plan.policy) {
        case UnitPolicy::None: return std::vector<Unit>{wholeStageUnit(model, stage)};
        case UnitPolicy::Ddp: return bucketUnits(model, plan, stage);
        case UnitPolicy::Fsdp: break;
    }
    return formStageUnits(model, plan, stage);
}

Result<std::vector<Unit>> formUnits(const Model& model, const Plan& plan) {
    SHARDSCOPE_ASSIGN(const auto stages, stagesOf(model, plan));
    std::vector<std::vector<Unit>> ofStages;
    for (const Stage& stage : stages) {
        SHARDSCOPE_ASSIGN(auto ofStage, unitsOfStage(model, plan, stage));
        ofStages.push_back(std::move(ofStage));
    }
    if (plan.policy == UnitPolicy::Fsdp) SHARDSCOPE_TRY(checkUnitNames(plan, ofStages));
    std::vector<Unit> units;
    for (auto& ofStage : ofStages)
        units.insert(units.end(), std::make_move_iterator(ofStage.begin()), std::make_move_iterator(ofStage.end()));
    return units;
}

}  // namespace shardscope::core
