#include "gui/view/shown_plan.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>

#include "core/scenario/keys.h"
#include "gui/view/words.h"

namespace shardscope::gui {

namespace {

class Plans {
    Q_DECLARE_TR_FUNCTIONS(Plans)
};

constexpr std::size_t kMostKeysNamed = 2;
constexpr int kLongestValue = 24;

/// Keys that only say how many GPUs there are.
bool countsGpus(std::string_view path) {
    return path == "cluster.nodes" || path == "cluster.gpus_per_node" ||
           path == "parallelism.data_parallel_shard_degree" || path == "parallelism.pipeline_parallel_degree";
}

std::string textOf(const core::Scenario& scenario, const core::Key& key) {
    const core::Document value = core::valueOf(scenario, key);
    return value.kind == core::Document::Kind::Text ? value.text : core::writeTomlValue(value);
}

bool differ(std::span<const ShownPlan> plans, const auto& valueOfPlan) {
    return std::ranges::any_of(plans,
                               [&](const ShownPlan& plan) { return valueOfPlan(plan) != valueOfPlan(plans.front()); });
}

}  // namespace

std::vector<ShownPlan> pageOrder(const std::vector<ShownPlan>& kept, const std::shared_ptr<const Answer>& present) {
    std::vector<ShownPlan> rest, page;
    for (std::size_t p = 0; present && p < present->plans(); ++p) rest.push_back({present, p, false});
    const auto take = [&](std::vector<ShownPlan> from, const std::string& name) {
        std::ranges::copy_if(from, std::back_inserter(page),
                             [&](const ShownPlan& one) { return one.plan().name == name; });
    };
    for (const ShownPlan& first : kept) {
        const std::string& name = first.plan().name;
        if (std::ranges::any_of(page, [&](const ShownPlan& one) { return one.plan().name == name; })) continue;
        take(kept, name);
        take(rest, name);
        std::erase_if(rest, [&](const ShownPlan& one) { return one.plan().name == name; });
    }
    page.insert(page.end(), rest.begin(), rest.end());
    return page;
}

std::vector<std::optional<std::size_t>> basesOf(std::span<const ShownPlan> plans) {
    std::vector<std::optional<std::size_t>> bases(plans.size());
    const auto firstWhere = [&](const auto& isWanted) {
        return static_cast<std::size_t>(std::ranges::find_if(plans, isWanted) - plans.begin());
    };
    const std::size_t present = firstWhere([](const ShownPlan& plan) { return !plan.kept; });
    for (std::size_t p = 0; p < plans.size(); ++p) {
        const std::size_t own =
            firstWhere([&](const ShownPlan& plan) { return plan.plan().name == plans[p].plan().name; });
        std::size_t base = own;
        if (!plans[own].kept) base = p == present ? 0 : present;
        if (base != p) bases[p] = base;
    }
    return bases;
}

bool isSamePlan(const ShownPlan& a, const ShownPlan& b) {
    const auto given = [](const ShownPlan& plan) {
        std::vector<std::string> paths;
        for (const auto& [path, where] : plan.scenario().origins) paths.push_back(path);
        std::ranges::sort(paths);
        return paths;
    };
    return a.plan().name == b.plan().name && a.scenario() == b.scenario() && given(a) == given(b) &&
           a.answer->strategies == b.answer->strategies && a.answer->loaded.source == b.answer->loaded.source;
}

std::vector<std::vector<Distinction>> distinctionsOf(std::span<const ShownPlan> plans) {
    using Kind = Distinction::Kind;
    std::vector<std::vector<Distinction>> all(plans.size());
    const auto add = [&](Kind kind, const std::string& name, const auto& valueOfPlan) {
        for (std::size_t p = 0; p < plans.size(); ++p) all[p].push_back({kind, name, valueOfPlan(plans[p])});
    };
    const auto model = [](const ShownPlan& plan) { return plan.report().modelName; };
    const bool models = differ(plans, model);
    if (models) add(Kind::Model, "", model);
    const auto gpus = [](const ShownPlan& plan) { return std::to_string(plan.report().cluster.ranks()); };
    const bool sizes = differ(plans, gpus);
    if (sizes) add(Kind::Gpus, "", gpus);
    std::size_t named = 0;
    for (const core::Key& key : core::scenarioKeys()) {
        // What the model's name or the number of GPUs tells already, and what only names.
        if (key.path == "title" || (models && key.section() == "model") || (sizes && countsGpus(key.path))) continue;
        const auto value = [&](const ShownPlan& plan) { return textOf(plan.scenario(), key); };
        if (!differ(plans, value)) continue;
        if (++named <= kMostKeysNamed) add(Kind::Key, std::string(key.name()), value);
    }
    if (named > kMostKeysNamed) add(Kind::More, "", [](const ShownPlan&) { return std::string(); });
    for (std::size_t p = 0; p < plans.size(); ++p)
        if (plans[p].kept && std::ranges::any_of(plans, [&](const ShownPlan& other) {
                const auto q = static_cast<std::size_t>(&other - plans.data());
                return q != p && other.plan().name == plans[p].plan().name && all[q] == all[p];
            }))
            all[p].push_back({Kind::Kept, "", ""});
    return all;
}

QString titleOf(const cli::PlanReport& plan, std::span<const Distinction> distinctions) {
    QString name = toQString(plan.name);
    if (plan.name == cli::kMeasured) name = Plans::tr("measured");
    if (plan.name == cli::kPredicted) name = Plans::tr("predicted");
    if (plan.name == cli::kWhatIf) name = Plans::tr("what if");
    QStringList parts{name};
    for (const Distinction& one : distinctions) {
        QString value = toQString(one.value);
        if (value.size() > kLongestValue) value = value.left(kLongestValue) + QStringLiteral("\u2026");
        switch (one.kind) {
            case Distinction::Kind::Model: parts << value; break;
            case Distinction::Kind::Gpus:
                parts << (value == QStringLiteral("1") ? Plans::tr("1 GPU") : Plans::tr("%1 GPUs").arg(value));
                break;
            case Distinction::Kind::Key: parts << QStringLiteral("%1 %2").arg(toQString(one.name), value); break;
            case Distinction::Kind::More: parts << QStringLiteral("\u2026"); break;
            case Distinction::Kind::Kept: parts << Plans::tr("kept"); break;
        }
    }
    return parts.join(QStringLiteral(" \u00b7 "));
}

}  // namespace shardscope::gui
