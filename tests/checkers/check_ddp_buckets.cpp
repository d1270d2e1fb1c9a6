// check_ddp_buckets FILE...: holds DDP's buckets against recordings of DistributedDataParallel (ddp_buckets.json): what
// lies in each bucket of every iteration, and at which gradient it is launched. Prints one line a case; exit 1 if any
// differs.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/plan/ddp_buckets.h"
#include "tests/checkers/support/recorded_case.h"

using namespace shardscope;
using namespace shardscope::core;
using namespace shardscope::checkers;

namespace {

std::string textOf(const DdpBucket& bucket, std::size_t index, bool last) {
    return fmt::format("allreduce {} [{}] {} bytes {}{}", index, fmt::join(bucket.gradients, " "), bucket.bytes.value,
                       nameOf(bucket.dtype), last ? " last" : "");
}

std::vector<std::string> recordedLog(const Document& iteration) {
    std::vector<std::string> log;
    const Document* entries = iteration.find("log");
    for (const Document& entry : entries == nullptr ? std::vector<Document>{} : entries->items) {
        if (entry.items.at(0).text == "grad") {
            log.push_back(fmt::format("grad {}", entry.items.at(1).integer));
            continue;
        }
        std::vector<std::int64_t> members;
        for (const Document& member : entry.items.at(2).items) members.push_back(member.integer);
        log.push_back(fmt::format("allreduce {} [{}] {} bytes {}{}", entry.items.at(1).integer, fmt::join(members, " "),
                                  entry.items.at(3).integer, entry.items.at(4).text,
                                  entry.items.at(5).boolean ? " last" : ""));
    }
    return log;
}

std::vector<std::uint32_t> arrivalIn(const std::vector<std::string>& log) {
    std::vector<std::uint32_t> arrival;
    for (const std::string& line : log)
        if (line.starts_with("grad ")) arrival.push_back(static_cast<std::uint32_t>(std::stoul(line.substr(5))));
    return arrival;
}

// What an iteration logs: buckets are launched in their order, each when the last of its gradients is there. Those of
// unused parameters count as there from the start.
std::vector<std::string> replay(const std::vector<DdpBucket>& buckets, const std::vector<std::uint32_t>& arrival,
                                std::size_t gradients) {
    std::vector<bool> there(gradients, true);
    for (const std::uint32_t gradient : arrival) there[gradient] = false;
    std::vector<std::string> log;
    std::size_t next = 0;
    for (const std::uint32_t gradient : arrival) {
        log.push_back(fmt::format("grad {}", gradient));
        there[gradient] = true;
        for (; next < buckets.size() && std::ranges::all_of(buckets[next].gradients, [&](auto g) { return there[g]; });
             ++next)
            log.push_back(textOf(buckets[next], next, next + 1 == buckets.size()));
    }
    return log;
}

std::string difference(const Document& record, std::string& note) {
    const Document *parameters = record.find("params"), *iterations = record.find("iterations"),
                   *arguments = record.find("ddp_args");
    if (parameters == nullptr || iterations == nullptr || arguments == nullptr) return "a case without its parts";
    std::vector<DdpGradient> gradients;
    for (const Document& p : parameters->items) {
        std::int64_t elements = 1;
        for (const Document& d : p.items.at(1).items) elements *= d.integer;
        const std::int64_t bytes = p.items.at(2).integer;
        if (elements == 0 || bytes % elements != 0 || (bytes / elements != 4 && bytes / elements != 2))
            return "a parameter of another size than 2 or 4 bytes an element";
        gradients.push_back({{bytes}, bytes / elements == 4 ? DType::F32 : DType::BF16});
    }
    DdpKnobs knobs;
    for (const auto& [name, value] : arguments->members) {
        const auto number = [](const Document& d) {
            return d.kind == Document::Kind::Real ? d.real : static_cast<double>(d.integer);
        };
        if (name == "bucket_cap_mb")
            knobs.bucketCap = number(value);
        else if (name == "bucket_cap_mb_list")
            for (const Document& cap : value.items) knobs.bucketCapList.push_back(number(cap));
        else if (name == "find_unused_parameters")
            knobs.findUnusedParameters = value.boolean;
        else if (name == "static_graph")
            knobs.staticGraph = value.boolean;
        else if (name == "gradient_as_bucket_view")
            knobs.gradientAsBucketView = value.boolean;
        else
            return "an unknown argument " + name;
    }
    std::vector<std::vector<std::string>> logs;
    std::int64_t synchronised = 0;
    std::vector<std::uint32_t> rebuildOrder;
    const Document* error = record.find("error");
    for (const Document& iteration : iterations->items) {
        if (const Document* same = iteration.find("same_as"); same != nullptr) {
            if (same->integer < 1 || same->integer > static_cast<std::int64_t>(logs.size()))
                return "a same_as of nothing";
            logs.push_back(logs[static_cast<std::size_t>(same->integer) - 1]);
        } else {
            logs.push_back(recordedLog(iteration));
        }
        const std::vector<std::string>& recorded = logs.back();
        const std::vector<std::uint32_t> arrival = arrivalIn(recorded);
        const Document* unsynchronised = iteration.find("no_sync");
        std::vector<std::string> ours;
        if (unsynchronised != nullptr && unsynchronised->boolean) {
            ours = replay({}, arrival, gradients.size());
        } else if (error != nullptr && arrival.size() < gradients.size()) {
            note = "stops as recorded: a parameter without a gradient";
            ours = replay({}, arrival, gradients.size());
        } else {
            ++synchronised;
            const bool initial = synchronised <= lastIterationOfInitialBuckets(knobs);
            ours = replay(initial ? initialBuckets(gradients, knobs) : rebuiltBuckets(gradients, knobs, rebuildOrder),
                          arrival, gradients.size());
            if (initial) rebuildOrder = arrival;
        }
        for (std::size_t i = 0; i < std::max(ours.size(), recorded.size()); ++i) {
            const std::string a = i < ours.size() ? ours[i] : "(end)", b = i < recorded.size() ? recorded[i] : "(end)";
            if (a != b) return fmt::format("iteration {}, entry {}: '{}', recorded '{}'", logs.size(), i, a, b);
        }
    }
    if (iterations->items.empty()) note = "refused, by the plan's check, as recorded";
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(stderr, "usage: check_ddp_buckets FILE...\n");
        return 2;
    }
    int equal = 0, different = 0;
    for (int i = 1; i < argc; ++i) {
        const auto text = readFile(argv[i]);
        const auto file = text ? parseJson(*text, argv[i]) : Result<Document>(tl::unexpected(text.error()));
        if (!file) {
            fmt::print(stderr, "{}\n", describe(file.error()));
            return 2;
        }
        for (const Document& record : file->items) {
            std::string note;
            const std::string why = difference(record, note);
            const Document* id = record.find("id");
            ++(why.empty() ? equal : different);
            fmt::print("{:<8} {}{}\n", id != nullptr ? id->text : "?", why.empty() ? "equal" : "differs: " + why,
                       note.empty() ? "" : " (" + note + ")");
        }
    }
    fmt::print("{} equal, {} differ\n", equal, different);
    return different == 0 && equal > 0 ? 0 : 1;
}
