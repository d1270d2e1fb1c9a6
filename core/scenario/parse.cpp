#include <fmt/format.h>

#include <algorithm>

#include "core/base/nearest.h"
#include "core/scenario/keys.h"

namespace shardscope::core {
namespace {

std::string bracketed(std::string_view path) {
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) return std::string(path);
    return fmt::format("[{}] {}", path.substr(0, dot), path.substr(dot + 1));
}

void remember(Scenario& scenario, std::string_view path, std::string origin) {
    for (auto& [known, where] : scenario.origins)
        if (known == path) {
            where = std::move(origin);
            return;
        }
    scenario.origins.emplace_back(path, std::move(origin));
}

std::vector<std::string> sectionNames() {
    std::vector<std::string> names;
    for (const Key& key : scenarioKeys())
        if (!key.section().empty() && std::find(names.begin(), names.end(), key.section()) == names.end())
            names.emplace_back(key.section());
    return names;
}

tl::unexpected<Error> unknownKey(const std::string& path, const std::string& where) {
    const std::size_t dot = path.find('.');
    const std::string section = path.substr(0, dot);
    const std::string name = dot == std::string::npos ? "" : path.substr(dot + 1);
    for (const Key& key : scenarioKeys())
        if (!name.empty() && key.name() == name)
            return fail(ErrorCode::Input, "no such key", where, fmt::format("it belongs in [{}]", key.section()));
    std::vector<std::string> paths;
    for (const Key& key : scenarioKeys()) {
        if (key.section() == section) paths.emplace_back(key.path);
    }
    if (std::string meant = nearest(path, paths); !meant.empty())
        return fail(ErrorCode::Input, "no such key", where, "did you mean " + meant + "?");
    paths.clear();
    for (const Key& key : scenarioKeys()) paths.emplace_back(key.path);
    if (std::string meant = nearest(path, paths); !meant.empty())
        return fail(ErrorCode::Input, "no such key", where, "did you mean " + meant + "?");
    return fail(ErrorCode::Input, "no such key", where, "docs/scenario.md lists the keys");
}

}  // namespace

bool operator==(const Scenario::ClusterSection& a, const Scenario::ClusterSection& b) {
    return a.path == b.path && a.nodes == b.nodes && a.gpusPerNode == b.gpusPerNode &&
           writeTomlValue(a.gpu) == writeTomlValue(b.gpu) && writeTomlValue(a.node) == writeTomlValue(b.node);
}

std::string Scenario::placeOf(std::string_view path) const {
    for (const auto& [known, where] : origins)
        if (known == path) return where + " " + bracketed(path);
    return bracketed(path);
}

bool Scenario::given(std::string_view path) const {
    return std::any_of(origins.begin(), origins.end(), [&](const auto& origin) { return origin.first == path; });
}

Error Scenario::located(Error error) const {
    for (const auto& [path, where] : origins) {
        const std::string key = bracketed(path);
        if (error.where != key && !error.where.starts_with(key + " ")) continue;
        error.where = where + " " + error.where;
        break;
    }
    return error;
}

Result<Scenario> parseScenario(const Document& document, const std::string& name) {
    if (document.kind != Document::Kind::Table)
        return fail(ErrorCode::Input, fmt::format("found {}, expected a table", describeKind(document.kind)), name);
    Scenario scenario;
    const auto place = [&](const Document& at) { return at.line > 0 ? fmt::format("{}:{}", name, at.line) : name; };
    const auto read = [&](const std::string& path, const Document& value) -> Result<void> {
        const std::string where = place(value) + " " + bracketed(path);
        const Key* key = findKey(path);
        if (key == nullptr) return unknownKey(path, where);
        if (scenario.given(key->path))
            return fail(ErrorCode::Input, fmt::format("given twice: also at {}", scenario.placeOf(key->path)), where,
                        "keep one of the two");
        SHARDSCOPE_TRY(setValue(scenario, *key, value, where));
        remember(scenario, key->path, place(value));
        return {};
    };
    for (const auto& [section, value] : document.members) {
        if (findKey(section) != nullptr) {
            SHARDSCOPE_TRY(read(section, value));
            continue;
        }
        if (value.kind == Document::Kind::Table) {
            for (const auto& [key, member] : value.members) SHARDSCOPE_TRY(read(section + "." + key, member));
            if (!value.members.empty()) continue;
        }
        std::vector<std::string> known = sectionNames();
        if (std::find(known.begin(), known.end(), section) != known.end()) {
            if (value.kind == Document::Kind::Table) continue;
            return fail(ErrorCode::Input, fmt::format("found {}, expected a section", describeKind(value.kind)),
                        place(value) + " " + section);
        }
        const std::string meant = nearest(section, known);
        return fail(
            ErrorCode::Input, "no such section", place(value) + " [" + section + "]",
            meant.empty() ? fmt::format("known are: {}", fmt::join(known, ", ")) : "did you mean [" + meant + "]?");
    }
    return scenario;
}

Result<void> applyOverride(Scenario& scenario, const std::string& assignment, const std::string& option) {
    const std::string place = option + " " + assignment.substr(0, 200);
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0)
        return fail(ErrorCode::Usage, "expected section.key=value", place,
                    "for example " + option + " parallelism.data_parallel_shard_degree=8");
    if (!parseToml("value = " + writeTomlValue(Document::of(assignment)), place))
        return fail(ErrorCode::Usage, "this is no UTF-8 text", option);
    const auto trimmed = [](std::string_view text) {
        const std::size_t first = text.find_first_not_of(" \t");
        if (first == std::string_view::npos) return std::string();
        return std::string(text.substr(first, text.find_last_not_of(" \t") + 1 - first));
    };
    const std::string path = trimmed(std::string_view(assignment).substr(0, equals));
    const std::string text = trimmed(std::string_view(assignment).substr(equals + 1));

    const Key* key = findKey(path);
    std::vector<std::string> below;  // parts of a path that leads into a table-valued key
    std::string head = path;
    constexpr std::size_t kDeepest = 4;  // tables that a user writes are less deep: cluster.gpu.memory_gib.value
    while (key == nullptr) {
        const std::size_t dot = head.rfind('.');
        if (dot == std::string::npos || below.size() == kDeepest) return unknownKey(path, place);
        below.insert(below.begin(), head.substr(dot + 1));
        head.resize(dot);
        key = findKey(head);
        if (key != nullptr && !std::holds_alternative<Document& (*)(Scenario&)>(key->binding))
            return unknownKey(path, place);
    }

    Document value = Document::of(text);
    const bool wantsText = below.empty() && std::holds_alternative<std::string& (*)(Scenario&)>(key->binding);
    const auto parsed = parseToml("value = " + text, place);
    const Document* typed = parsed && parsed->members.size() == 1 ? parsed->find("value") : nullptr;
    if (typed != nullptr && (!wantsText || typed->kind == Document::Kind::Text)) value = *typed;
    if (!below.empty()) {
        Document table = valueOf(scenario, *key);
        if (table.kind == Document::Kind::Text) {
            Document preset = Document::table();
            preset.set("preset", std::move(table));
            table = std::move(preset);
        } else if (table.kind != Document::Kind::Table) {
            table = Document::table();
        }
        Document* inner = &table;
        for (std::size_t i = 0; i + 1 < below.size(); ++i) {
            const Document* next = inner->find(below[i]);
            inner = &inner->set(below[i], next != nullptr ? Document(*next) : Document::table());
        }
        inner->set(below.back(), std::move(value));
        value = std::move(table);
    }
    SHARDSCOPE_TRY(setValue(scenario, *key, value, place));
    remember(scenario, key->path, option);
    return {};
}

std::string writeScenario(const Scenario& scenario) {
    const Scenario defaults;
    std::string out, section;
    for (const Key& key : scenarioKeys()) {
        const Document value = valueOf(scenario, key);
        if (value == valueOf(defaults, key) && !scenario.given(key.path)) continue;
        if (key.section() != section) {
            section = key.section();
            out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section);
        }
        out += fmt::format("{} = {}\n", key.name(), writeTomlValue(value));
    }
    return out;
}

}  // namespace shardscope::core
