// check_shapes FILE... [--left-out-at-most N]: holds shard shapes, paddings and collective sizes against recordings of
// FSDP2 (shapes.json). Prints a line a list: how many entries are equal, the first that differs, or why it is not
// expressible. Exit 1 if any differs, or more than N entries are not expressible.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/graph/build.h"
#include "core/model/shapes_model.h"
#include "core/model/vit.h"
#include "core/plan/sharding.h"
#include "tests/checkers/support/outcome.h"
#include "tests/checkers/support/recorded_case.h"

using namespace shardscope;
using namespace shardscope::core;
using namespace shardscope::checkers;

namespace {

Shape shapeOf(const Document& list) {
    Shape shape;
    for (const Document& item : list.items) shape.push_back(item.integer);
    return shape;
}

const Document& member(const Document& table, std::string_view key) {
    static const Document kNull;
    const Document* found = table.find(key);
    return found != nullptr ? *found : kNull;
}

std::string compare(std::string_view what, const std::string& ours, const std::string& recorded) {
    return ours == recorded ? "" : fmt::format("{} {}, recorded {}", what, ours, recorded);
}

// Gather (twice: forward and backward) and reduce-scatter of one unit that is resharded; none in a world of one.
std::string collectives(const Document& recorded, std::int64_t world, std::int64_t padded, std::int64_t subgroup) {
    std::string ours;
    const auto add = [&](const char* op, std::int64_t n, std::int64_t in, std::int64_t out, bool sub) {
        ours += fmt::format("{} n={} {}->{}{};", op, n, in, out, sub ? " sub" : "");
    };
    if (world > 1) {
        add("ag", world, padded / world, padded, false);
        if (subgroup > 0 && subgroup < world)
            add("ag", subgroup, padded / subgroup, padded, true);
        else
            add("ag", world, padded / world, padded, false);
        add("rs", world, padded, padded / world, false);
    }
    std::string theirs;
    for (const Document& c : recorded.items)
        theirs += fmt::format("{} n={} {}->{}{};", member(c, "op").text, member(c, "n").integer,
                              member(c, "in_numel").integer, member(c, "out_numel").integer,
                              member(c, "sub_group").boolean ? " sub" : "");
    return compare("collectives", ours, theirs);
}

std::string checkSingle(const Document& entry) {
    const Shape shape = shapeOf(member(entry, "shape"));
    const std::int64_t world = member(entry, "world").integer;
    if (member(entry, "numel").integer != elementsOf(shape)) return "elements";
    for (std::int64_t r = 0; r < world; ++r) {
        std::string text = compare(fmt::format("shard of rank {}", r), toString(shardShape(shape, world, r)),
                                   toString(shapeOf(member(entry, "local").items.at(static_cast<std::size_t>(r)))));
        if (!text.empty()) return text;
    }
    std::string text = compare("padded shard", toString(paddedShardShape(shape, world)),
                               toString(shapeOf(member(entry, "padded_shard"))));
    return text.empty() ? collectives(member(entry, "collectives"), world, paddedElements(shape, world), 0) : text;
}

std::string checkMulti(const Document& entry) {
    const std::int64_t world = member(entry, "world").integer;
    std::int64_t elements = 0, padded = 0;
    const auto& shapes = member(entry, "shapes").items;
    for (std::size_t p = 0; p < shapes.size(); ++p) {
        const Shape shape = shapeOf(shapes[p]);
        elements += elementsOf(shape);
        padded += paddedElements(shape, world);
        for (std::int64_t r = 0; r < world; ++r) {
            std::string text =
                compare(fmt::format("shard {} of rank {}", p, r), toString(shardShape(shape, world, r)),
                        toString(shapeOf(member(entry, "local").items.at(static_cast<std::size_t>(r)).items.at(p))));
            if (!text.empty()) return text;
        }
        std::string text = compare(fmt::format("padded shard {}", p), toString(paddedShardShape(shape, world)),
                                   toString(shapeOf(member(entry, "padded_shards").items.at(p))));
        if (!text.empty()) return text;
    }
    if (elements != member(entry, "numel").integer) return "elements";
    if (padded / world != member(entry, "shard_numel_padded").integer)
        return fmt::format("padded shard {}", padded / world);
    return collectives(member(entry, "collectives"), world, padded, 0);
}

std::string checkIntReshard(const Document& entry) {
    const Shape shape = shapeOf(member(entry, "shape"));
    const std::int64_t world = member(entry, "world").integer, group = member(entry, "k").integer;
    const std::int64_t padded = paddedElements(shape, world);
    for (std::int64_t r = 0; r < world; ++r) {
        const auto index = static_cast<std::size_t>(r);
        std::string text = compare(fmt::format("shard of rank {}", r), toString(shardShape(shape, world, r)),
                                   toString(shapeOf(member(entry, "local").items.at(index))));
        // After forward a rank's view is its chunk among the group's ranks.
        if (text.empty() && index < member(entry, "post_forward_local").items.size())
            text = compare(fmt::format("view of rank {}", r), toString(shardShape(shape, group, r % group)),
                           toString(shapeOf(member(entry, "post_forward_local").items[index])));
        if (!text.empty()) return text;
    }
    if (padded / group != member(entry, "kept_numel").integer)
        return fmt::format("kept {}, recorded {}", padded / group, member(entry, "kept_numel").integer);
    return collectives(member(entry, "collectives"), world, padded, group);
}

// One weight that is cut along dim 1: not padded, refused where that does not divide evenly.
std::string checkDim1(const Document& entry) {
    const Shape shape = shapeOf(member(entry, "shape"));
    const std::int64_t world = member(entry, "world").integer;
    ShapesSpec spec;
    spec.entries.push_back({"linear.weight", shape, DType::F32});
    const auto model = buildFromShapes(spec, Workload{});
    if (!model) return describe(model.error());
    Plan plan;
    plan.mesh.dpShard = world;
    plan.fsdp.shardedOnDim1 = {"linear.weight"};
    const auto units = formUnits(*model, plan);
    if (entry.find("error") != nullptr) return units ? "accepted, recorded an error" : "";
    if (!units) return describe(units.error());
    for (std::int64_t r = 0; r < world; ++r) {
        const Shape local = shapeOf(member(entry, "local").items.at(static_cast<std::size_t>(r)));
        if (ownElements(plan, "linear.weight", shape, r) != elementsOf(local))
            return fmt::format("rank {} owns {} elements, recorded {}", r, ownElements(plan, "linear.weight", shape, r),
                               toString(local));
    }
    const std::int64_t padded = units->front().paddedElements;
    if (padded / world != elementsOf(shapeOf(member(entry, "padded_shard"))))
        return fmt::format("padded shard of {} elements", padded / world);
    return collectives(member(entry, "collectives"), world, padded, 0);
}

std::string checkVit(const Document& entry) {
    auto spec = namedVit("vit_b_16");
    if (!spec) return "no vit_b_16";
    spec->channels = 1;
    spec->classes = member(entry, "num_classes").integer;
    const auto model = buildModel(*spec, Workload{});
    if (!model) return describe(model.error());
    Plan plan;
    plan.mesh.dpShard = member(entry, "world").integer;
    const auto units = formUnits(*model, plan);
    if (!units) return describe(units.error());
    std::int64_t total = 0, padded = 0;
    for (const Unit& unit : *units) {
        total += unit.elements;
        padded += unit.paddedElements / plan.mesh.dpShard;
    }
    if (total != member(entry, "total_numel").integer) return fmt::format("{} elements", total);
    if (padded != member(entry, "total_shard_numel_padded").integer) return fmt::format("{} padded", padded);
    for (const Document& recorded : member(entry, "units").items) {
        const std::string& name = member(recorded, "unit").text;
        const auto unit = std::find_if(units->begin(), units->end(), [&](const Unit& u) {
            return u.name == name ||
                   (u.name.size() > name.size() && u.name.substr(u.name.size() - name.size()) == name);
        });
        if (unit == units->end()) return fmt::format("no unit '{}'", name);
        if (unit->elements != member(recorded, "numel").integer ||
            unit->paddedElements != member(recorded, "gathered_numel_padded").integer)
            return fmt::format("unit '{}' has {} elements, {} padded", name, unit->elements, unit->paddedElements);
        const auto& parameters = member(recorded, "params").items;
        if (parameters.size() != unit->parameters.size()) return fmt::format("parameters of unit '{}'", name);
        for (std::size_t p = 0; p < parameters.size(); ++p) {
            const Parameter& ours = model->parameters[unit->parameters[p].index()];
            std::string text = compare("parameter", ours.name, parameters[p].items.at(0).text);
            if (text.empty())
                text = compare(ours.name, toString(ours.shape), toString(shapeOf(parameters[p].items.at(1))));
            if (text.empty())
                text = compare(ours.name + " padded", toString(paddedShardShape(ours.shape, plan.mesh.dpShard)),
                               toString(shapeOf(parameters[p].items.at(2))));
            if (!text.empty()) return text;
        }
    }
    return {};
}

std::string checkDivisors(const Document& table) {
    for (const auto& [ranks, pair] : table.members) {
        const ReductionDivisors ours = fp16Divisors(std::stod(ranks));
        if (ours.pre != pair.items.at(0).number() || ours.post != pair.items.at(1).number())
            return fmt::format("{} ranks: {} and {}", ranks, ours.pre, ours.post);
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = argumentsOf(argc, argv, "check_shapes");
    if (!arguments) return 2;
    Outcome counts;
    for (const std::string& path : arguments->files) {
        const auto text = readFile(path);
        const auto file = text ? parseJson(*text, path) : Result<Document>(tl::unexpected(text.error()));
        if (!file) {
            fmt::print(stderr, "{}\n", describe(file.error()));
            return 2;
        }
        for (const auto& [name, list] : file->members) {
            std::string (*check)(const Document&) = name == "single"         ? checkSingle
                                                    : name == "multi"        ? checkMulti
                                                    : name == "int_reshard"  ? checkIntReshard
                                                    : name == "dim1"         ? checkDim1
                                                    : name == "vit_b_16_1ch" ? checkVit
                                                                             : nullptr;
            if (name == "fp16_pre_post_divisors") {
                const std::string why = checkDivisors(list);
                fmt::print("{:<24} {}\n", name, why.empty() ? "equal" : "differs (" + why + ")");
                ++(why.empty() ? counts.equal : counts.different);
            } else if (check == nullptr) {
                fmt::print("{:<24} {} not expressible ({})\n", name, list.items.size(),
                           name == "errors" ? "PyTorch's exceptions, which have no counterpart here"
                                            : "unknown to this checker");
                counts.leftOut += static_cast<int>(list.items.size());
            } else {
                int equal = 0;
                std::string first;
                for (std::size_t e = 0; e < list.items.size(); ++e) {
                    const std::string why = check(list.items[e]);
                    if (why.empty())
                        ++equal;
                    else if (first.empty())
                        first = fmt::format("entry {}: {}", e, why);
                }
                fmt::print("{:<24} {} of {} equal{}\n", name, equal, list.items.size(),
                           first.empty() ? "" : ", differs (" + first + ")");
                counts.equal += equal;
                counts.different += static_cast<int>(list.items.size()) - equal;
            }
        }
    }
    return exitCode(counts, *arguments);
}
