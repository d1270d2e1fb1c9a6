#include "traces/formats/run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "traces/formats/gunzip.h"
#include "traces/formats/kineto_writer.h"

namespace shardscope::formats {

using core::Document;
using core::ErrorCode;
using core::fail;
using core::Result;
using timeline::Timeline;

namespace {

constexpr const char* kSchema = "shardscope.timeline";
constexpr std::int64_t kVersion = 2;
constexpr const char* kOpenable =
    "open a file of a run (`shardscope run -o FILE.json.gz`); traces of other tools are not read yet";
constexpr auto kMost32 = static_cast<std::int64_t>(std::numeric_limits<std::uint32_t>::max());
/// Of one time or number of bytes: more than a hundred days, and what a double holds exactly.
constexpr std::int64_t kMost = std::int64_t{1} << 53;
/// Of all together: what readers add up stays far from the end of 64 bits.
constexpr std::int64_t kMostSum = std::int64_t{1} << 60;

template <class Numbers>
Document columnOf(const Numbers& numbers) {
    std::string text;
    for (const auto number : numbers) {
        if (!text.empty()) text += ' ';
        fmt::format_to(std::back_inserter(text), "{}", static_cast<std::int64_t>(number));
    }
    return Document::of(std::move(text));
}

template <class Rows, class Member>
Document columnOf(const Rows& rows, Member member) {
    std::vector<std::int64_t> numbers;
    for (const auto& row : rows) numbers.push_back(static_cast<std::int64_t>(row.*member));
    return columnOf(numbers);
}

/// What readers sum over the rows of a file.
class Sum {
public:
    Sum(const char* what, const std::string& where) : m_what(what), m_where(where) {}

    /// Row `row` counts `times` (at least 1) times.
    Result<void> add(std::size_t row, std::int64_t times, std::int64_t amount) {
        if (amount > (kMostSum - m_sum) / times)
            return fail(ErrorCode::Input,
                        fmt::format("up to row {}, {} sum up to more than {}", row + 1, m_what, kMostSum), m_where,
                        kWriteRunAnew);
        m_sum += times * amount;
        return {};
    }

private:
    const char* m_what;
    const std::string& m_where;
    std::int64_t m_sum = 0;
};

/// Reads the columns of one table of the file. The first error stays.
class Table {
public:
    static Result<Table> of(const Document& document, std::string_view key, const std::string& where) {
        const Document* found = document.find(key);
        if (found == nullptr || found->kind != Document::Kind::Table)
            return fail(ErrorCode::Input, fmt::format("'{}' is no table", key), where, kWriteRunAnew);
        return Table(*found, fmt::format("{}, {}", where, key));
    }
    Table(const Document& document, std::string where) : m_document(&document), m_where(std::move(where)) {}

    /// Numbers of [least, most], as many as the first column of the table has.
    template <class Number>
    Result<void> column(std::string_view key, std::vector<Number>& numbers, std::int64_t least, std::int64_t most) {
        const Document* found = m_document->find(key);
        if (found == nullptr || found->kind != Document::Kind::Text)
            return fail(ErrorCode::Input, fmt::format("column '{}' is no text", key), m_where, kWriteRunAnew);
        const std::string_view text = found->text;
        for (std::size_t at = 0; at < text.size();) {
            std::int64_t number = 0;
            const auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), number);
            const auto next = static_cast<std::size_t>(end - text.data());
            if (problem != std::errc() || (next < text.size() && (text[next] != ' ' || next + 1 == text.size())))
                return fail(ErrorCode::Input,
                            fmt::format("number {} of column '{}' is '{}', expected decimals with a space between two",
                                        numbers.size() + 1, key, text.substr(at, 20)),
                            m_where, kWriteRunAnew);
            if (number < least || number > most)
                return fail(ErrorCode::Input,
                            fmt::format("number {} of column '{}' is {}, expected {} to {}", numbers.size() + 1, key,
                                        number, least, most),
                            m_where, kWriteRunAnew);
            numbers.push_back(static_cast<Number>(number));
            at = next + 1;
        }
        if (m_rows < 0) m_rows = static_cast<std::int64_t>(numbers.size());
        if (m_rows == static_cast<std::int64_t>(numbers.size())) return {};
        return fail(ErrorCode::Input,
                    fmt::format("column '{}' has {} numbers, the first one {}", key, numbers.size(), m_rows), m_where,
                    kWriteRunAnew);
    }

    /// The same into a member of rows that are there.
    template <class Row, class Number>
    Result<void> column(std::string_view key, std::vector<Row>& rows, Number Row::*member, std::int64_t least,
                        std::int64_t most) {
        std::vector<std::int64_t> numbers;
        SHARDSCOPE_TRY(column(key, numbers, least, most));
        rows.resize(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) rows[i].*member = static_cast<Number>(numbers[i]);
        return {};
    }

    [[nodiscard]] const std::string& where() const { return m_where; }

private:
    const Document* m_document;
    std::string m_where;
    std::int64_t m_rows = -1;
};

Document documentOf(const Timeline& t) {
    Document strings = Document::list(), ranks = Document::table(), lanes = Document::table();
    for (timeline::StringId id = 0; id < t.strings.size(); ++id) strings.items.push_back(Document::of(t.strings[id]));
    ranks.set("rank", columnOf(t.ranks, &timeline::RankRow::rank));
    ranks.set("multiplicity", columnOf(t.ranks, &timeline::RankRow::multiplicity));
    ranks.set("stage", columnOf(t.ranks, &timeline::RankRow::stage));
    ranks.set("name", columnOf(t.ranks, &timeline::RankRow::name));
    ranks.set("lane_begin", columnOf(t.ranks, &timeline::RankRow::laneBegin));
    ranks.set("lane_end", columnOf(t.ranks, &timeline::RankRow::laneEnd));
    ranks.set("step_begin", columnOf(t.ranks, &timeline::RankRow::stepBegin));
    ranks.set("step_end", columnOf(t.ranks, &timeline::RankRow::stepEnd));
    lanes.set("rank", columnOf(t.lanes, &timeline::Lane::rank));
    lanes.set("multiplicity", columnOf(t.lanes, &timeline::Lane::multiplicity));
    lanes.set("rank_name", columnOf(t.lanes, &timeline::Lane::rankName));
    lanes.set("stream", columnOf(t.lanes, &timeline::Lane::stream));
    lanes.set("compute", columnOf(t.lanes, &timeline::Lane::computeStream));
    lanes.set("rank_index", columnOf(t.lanes, &timeline::Lane::rankIndex));
    Document spans = Document::table(), groups = Document::table(), flows = Document::table(),
             counters = Document::list();
    spans.set("lane", columnOf(t.spans.lane));
    spans.set("start", columnOf(t.spans.start));
    spans.set("end", columnOf(t.spans.end));
    spans.set("transfer_start", columnOf(t.spans.transferStart));
    spans.set("name", columnOf(t.spans.name));
    spans.set("unit", columnOf(t.spans.unit));
    spans.set("kind", columnOf(t.spans.kind));
    spans.set("phase", columnOf(t.spans.phase));
    spans.set("activity", columnOf(t.spans.activity));
    spans.set("micro_batch", columnOf(t.spans.microBatch));
    spans.set("op", columnOf(t.spans.op));
    spans.set("bytes", columnOf(t.spans.bytes));
    spans.set("dtype", columnOf(t.spans.dtype));
    spans.set("group", columnOf(t.spans.group));
    spans.set("issued", columnOf(t.spans.issued));
    groups.set("name", columnOf(t.groups, &timeline::TransferGroup::name));
    groups.set("size", columnOf(t.groups, &timeline::TransferGroup::size));
    flows.set("from", columnOf(t.flows, &timeline::Flow::from));
    flows.set("to", columnOf(t.flows, &timeline::Flow::to));
    flows.set("reason", columnOf(t.flows, &timeline::Flow::reason));
    for (const timeline::Counter& counter : t.counters) {
        Document row = Document::table();
        row.set("rank_index", Document::of(static_cast<std::int64_t>(counter.rankIndex)));
        row.set("name", Document::of(static_cast<std::int64_t>(counter.name)));
        row.set("time", columnOf(counter.time));
        row.set("value", columnOf(counter.value));
        counters.items.push_back(std::move(row));
    }
    Document out = Document::table();
    out.set("title", Document::of(t.title));
    out.set("end", Document::of(t.end));
    out.set("strings", std::move(strings));
    out.set("ranks", std::move(ranks));
    out.set("lanes", std::move(lanes));
    out.set("groups", std::move(groups));
    out.set("spans", std::move(spans));
    out.set("flows", std::move(flows));
    out.set("counters", std::move(counters));
    return out;
}

Result<void> readStrings(const Document& document, const std::string& where, Timeline& t) {
    const Document* strings = document.find("strings");
    if (strings == nullptr || strings->kind != Document::Kind::List)
        return fail(ErrorCode::Input, "'strings' is no list", where, kWriteRunAnew);
    for (std::size_t i = 0; i < strings->items.size(); ++i) {
        const Document& item = strings->items[i];
        if (item.kind != Document::Kind::Text || (i == 0 && !item.text.empty()) ||
            (i > 0 && t.strings.intern(item.text) != i))
            return fail(ErrorCode::Input, fmt::format("item {} is no text of its own (the first one is empty)", i + 1),
                        where + ", strings", kWriteRunAnew);
    }
    return {};
}

Result<void> readRanks(const Document& document, const std::string& where, Timeline& t) {
    using timeline::Lane;
    using timeline::RankRow;
    const auto names = static_cast<std::int64_t>(t.strings.size()) - 1;
    SHARDSCOPE_ASSIGN(Table ranks, Table::of(document, "ranks", where));
    SHARDSCOPE_TRY(ranks.column("rank", t.ranks, &RankRow::rank, 0, kMost32));
    SHARDSCOPE_TRY(ranks.column("multiplicity", t.ranks, &RankRow::multiplicity, 1, kMost32));
    SHARDSCOPE_TRY(ranks.column("stage", t.ranks, &RankRow::stage, 0, kMost32));
    SHARDSCOPE_TRY(ranks.column("name", t.ranks, &RankRow::name, 0, names));
    SHARDSCOPE_TRY(ranks.column("lane_begin", t.ranks, &RankRow::laneBegin, 0, kMost32));
    SHARDSCOPE_TRY(ranks.column("lane_end", t.ranks, &RankRow::laneEnd, 0, kMost32));
    SHARDSCOPE_TRY(ranks.column("step_begin", t.ranks, &RankRow::stepBegin, 0, kMost));
    SHARDSCOPE_TRY(ranks.column("step_end", t.ranks, &RankRow::stepEnd, 0, kMost));
    SHARDSCOPE_ASSIGN(Table lanes, Table::of(document, "lanes", where));
    SHARDSCOPE_TRY(lanes.column("rank", t.lanes, &Lane::rank, 0, kMost32));
    SHARDSCOPE_TRY(lanes.column("multiplicity", t.lanes, &Lane::multiplicity, 1, kMost32));
    SHARDSCOPE_TRY(lanes.column("rank_name", t.lanes, &Lane::rankName, 0, names));
    SHARDSCOPE_TRY(lanes.column("stream", t.lanes, &Lane::stream, 0, names));
    SHARDSCOPE_TRY(lanes.column("compute", t.lanes, &Lane::computeStream, 0, 1));
    SHARDSCOPE_TRY(
        lanes.column("rank_index", t.lanes, &Lane::rankIndex, 0, static_cast<std::int64_t>(t.ranks.size()) - 1));
    // Lanes of a rank follow one another, rank by rank.
    std::uint32_t next = 0;
    Sum steps("the steps of all ranks", ranks.where());
    for (std::size_t r = 0; r < t.ranks.size(); ++r) {
        const RankRow& row = t.ranks[r];
        bool own = row.laneBegin == next && row.laneEnd >= row.laneBegin && row.laneEnd <= t.lanes.size();
        for (std::uint32_t lane = row.laneBegin; own && lane < row.laneEnd; ++lane) own = t.lanes[lane].rankIndex == r;
        if (!own || row.stepEnd < row.stepBegin)
            return fail(ErrorCode::Input,
                        fmt::format("rank {} has lanes of others, or a step that ends before it begins", r + 1),
                        ranks.where(), kWriteRunAnew);
        SHARDSCOPE_TRY(steps.add(r, row.multiplicity, row.stepEnd - row.stepBegin));
        next = row.laneEnd;
    }
    if (next != t.lanes.size()) return fail(ErrorCode::Input, "lanes of no rank", lanes.where(), kWriteRunAnew);
    return {};
}

Result<void> readSpans(const Document& document, const std::string& where, Timeline& t) {
    const auto names = static_cast<std::int64_t>(t.strings.size()) - 1;
    SHARDSCOPE_ASSIGN(Table groups, Table::of(document, "groups", where));
    SHARDSCOPE_TRY(groups.column("name", t.groups, &timeline::TransferGroup::name, 0, names));
    SHARDSCOPE_TRY(groups.column("size", t.groups, &timeline::TransferGroup::size, 1, kMost32));
    SHARDSCOPE_ASSIGN(Table spans, Table::of(document, "spans", where));
    timeline::Spans& s = t.spans;
    constexpr std::int64_t kByte = 255;
    SHARDSCOPE_TRY(spans.column("lane", s.lane, 0, static_cast<std::int64_t>(t.lanes.size()) - 1));
    SHARDSCOPE_TRY(spans.column("start", s.start, 0, kMost));
    SHARDSCOPE_TRY(spans.column("end", s.end, 0, kMost));
    SHARDSCOPE_TRY(spans.column("transfer_start", s.transferStart, 0, kMost));
    SHARDSCOPE_TRY(spans.column("name", s.name, 0, names));
    SHARDSCOPE_TRY(spans.column("unit", s.unit, 0, names));
    SHARDSCOPE_TRY(spans.column("kind", s.kind, 0, static_cast<std::int64_t>(timeline::SpanKind::Host)));
    SHARDSCOPE_TRY(spans.column("phase", s.phase, 0, static_cast<std::int64_t>(core::Phase::Optimizer)));
    SHARDSCOPE_TRY(spans.column("activity", s.activity, 0, static_cast<std::int64_t>(timeline::kActivities) - 1));
    SHARDSCOPE_TRY(spans.column("micro_batch", s.microBatch, 0, std::numeric_limits<std::uint16_t>::max()));
    SHARDSCOPE_TRY(spans.column("op", s.op, 0, kMost32));
    SHARDSCOPE_TRY(spans.column("bytes", s.bytes, 0, kMost));
    SHARDSCOPE_TRY(spans.column("dtype", s.dtype, 0, kByte));
    SHARDSCOPE_TRY(spans.column("group", s.group, 0, kMost32));
    SHARDSCOPE_TRY(spans.column("issued", s.issued, timeline::kNotIssued, kMost));
    Sum times("the times of the spans", spans.where()), bytes("the bytes of the spans", spans.where());
    for (std::size_t i = 0; i < s.size(); ++i) {
        const bool ordered =
            i == 0 || s.lane[i - 1] < s.lane[i] || (s.lane[i - 1] == s.lane[i] && s.start[i - 1] <= s.start[i]);
        const bool forward = s.start[i] <= s.transferStart[i] && s.transferStart[i] <= s.end[i];
        const bool known = (s.dtype[i] == timeline::kNoDType || s.dtype[i] <= static_cast<int>(core::DType::Bool)) &&
                           (s.group[i] == timeline::kNoGroup || s.group[i] < t.groups.size());
        if (!ordered || !forward || !known)
            return fail(ErrorCode::Input,
                        fmt::format("span {} {}", i + 1,
                                    !forward   ? "ends before it begins"
                                    : !ordered ? "stands before one of an earlier lane or time"
                                               : "has a dtype or a group that is not there"),
                        spans.where(), kWriteRunAnew);
        if (s.issued[i] < -kMost && s.issued[i] != timeline::kNotIssued)
            return fail(ErrorCode::Input,
                        fmt::format("number {} of column '{}' is {}, expected {} to {}", i + 1, "issued", s.issued[i],
                                    -kMost, kMost),
                        spans.where(), kWriteRunAnew);
        SHARDSCOPE_TRY(times.add(i, t.lanes[s.lane[i]].multiplicity, s.end[i] - s.start[i]));
        SHARDSCOPE_TRY(bytes.add(i, t.lanes[s.lane[i]].multiplicity, s.bytes[i]));
    }
    SHARDSCOPE_ASSIGN(Table flows, Table::of(document, "flows", where));
    const auto last = static_cast<std::int64_t>(s.size()) - 1;
    SHARDSCOPE_TRY(flows.column("from", t.flows, &timeline::Flow::from, 0, last));
    SHARDSCOPE_TRY(flows.column("to", t.flows, &timeline::Flow::to, 0, last));
    return flows.column("reason", t.flows, &timeline::Flow::reason, 0,
                        static_cast<std::int64_t>(timeline::FlowReason::Peer));
}

Result<void> readCounters(const Document& document, const std::string& where, Timeline& t) {
    const Document* counters = document.find("counters");
    if (counters == nullptr || counters->kind != Document::Kind::List)
        return fail(ErrorCode::Input, "'counters' is no list", where, kWriteRunAnew);
    const std::string of = where + ", counters";
    Sum bytes("the largest values of the counters", of);
    for (std::size_t i = 0; i < counters->items.size(); ++i) {
        const Document& item = counters->items[i];
        Table table(item, fmt::format("{}, counters[{}]", where, i));
        const Document* rank = item.find("rank_index");
        const Document* name = item.find("name");
        const auto names = [](const Document* found, std::size_t count) {
            return found != nullptr && found->kind == Document::Kind::Integer && found->integer >= 0 &&
                   found->integer < static_cast<std::int64_t>(count);
        };
        if (!names(rank, t.ranks.size()) || !names(name, t.strings.size()))
            return fail(ErrorCode::Input, "'rank_index' or 'name' names nothing that is there", table.where(),
                        kWriteRunAnew);
        timeline::Counter counter;
        counter.rankIndex = static_cast<std::uint32_t>(rank->integer);
        counter.name = static_cast<timeline::StringId>(name->integer);
        SHARDSCOPE_TRY(table.column("time", counter.time, 0, kMost));
        SHARDSCOPE_TRY(table.column("value", counter.value, 0, kMost));
        for (std::size_t k = 1; k < counter.time.size(); ++k)
            if (counter.time[k] < counter.time[k - 1])
                return fail(ErrorCode::Input, fmt::format("number {} of column 'time' is before the one before", k + 1),
                            table.where(), kWriteRunAnew);
        if (!counter.value.empty()) SHARDSCOPE_TRY(bytes.add(i, 1, std::ranges::max(counter.value)));
        t.counters.push_back(std::move(counter));
    }
    return {};
}

Result<Timeline> timelineFrom(const Document& document, const std::string& where) {
    Timeline t;
    const Document* title = document.find("title");
    const Document* end = document.find("end");
    if (title == nullptr || title->kind != Document::Kind::Text || end == nullptr ||
        end->kind != Document::Kind::Integer || end->integer < 0 || end->integer > kMost)
        return fail(ErrorCode::Input, "'title' is no text, or 'end' no time", where, kWriteRunAnew);
    t.title = title->text;
    t.end = end->integer;
    SHARDSCOPE_TRY(readStrings(document, where, t));
    SHARDSCOPE_TRY(readRanks(document, where, t));
    SHARDSCOPE_TRY(readSpans(document, where, t));
    SHARDSCOPE_TRY(readCounters(document, where, t));
    return t;
}

/// Before megabytes of somebody else's events are read: the file's own member stands at its end.
Result<void> checkOrigin(std::string_view bytes, const std::string& name) {
    if (bytes.find(kSchema) != std::string_view::npos) return {};
    const std::size_t last = bytes.find_last_not_of(" \t\r\n");
    const bool whole = last != std::string_view::npos && (bytes[last] == '}' || bytes[last] == ']');
    if (bytes.find("\"traceEvents\"") == std::string_view::npos || !whole) return {};
    return fail(ErrorCode::Unsupported,
                "a trace that is no run of Shardscope's: another tool, or a simulation, wrote it", name, kOpenable);
}

}  // namespace

bool looksLikeTrace(std::string_view begin) {
    if (isGzip(begin)) return true;
    const std::size_t first = begin.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    const auto has = [&](std::string_view key) { return begin.find(key) != std::string_view::npos; };
    if (begin[first] == '[') return has("\"ph\"");
    return begin[first] == '{' && (has("\"traceEvents\"") || has("\"schemaVersion\"") || has("\"displayTimeUnit\"") ||
                                   has("\"deviceProperties\""));
}

void writeRunFile(const RunFile& run, const std::string& backend, Sink& sink) {
    Document out = Document::table();
    out.set("schema", Document::of(kSchema));
    out.set("version", Document::of(kVersion));
    out.set("about", run.about);
    out.set("scenario", Document::of(run.scenario));
    out.set("folder", Document::of(run.folder));
    out.set("machine", run.machine);
    out.set("timeline", documentOf(run.timeline));
    KinetoOptions options;
    options.simulated = false;
    options.backend = backend;
    options.attached = core::writeJson(out, false);
    writeKineto(run.timeline, options, sink);
}

Result<RunFile> readRunFile(std::string_view bytes, const std::string& name, std::int64_t limit) {
    std::string unpacked;
    if (isGzip(bytes)) {
        SHARDSCOPE_ASSIGN(unpacked, gunzip(bytes, name, limit));
        bytes = unpacked;
    }
    if (static_cast<std::int64_t>(bytes.size()) > limit)
        return fail(ErrorCode::Unsupported, fmt::format("{} bytes, expected at most {}", bytes.size(), limit), name,
                    kWriteRunAnew);
    SHARDSCOPE_TRY(checkOrigin(bytes, name));
    SHARDSCOPE_ASSIGN(const Document file, core::parseJson(bytes, name).map_error([](core::Error error) {
        if (error.hint.empty()) error.hint = kWriteRunAnew;
        return error;
    }));
    const Document* own = file.find("shardscope");
    const Document* schema = own == nullptr ? nullptr : own->find("schema");
    const Document* version = own == nullptr ? nullptr : own->find("version");
    if (schema == nullptr || schema->kind != Document::Kind::Text || schema->text != kSchema)
        return fail(ErrorCode::Input, "this is no run that Shardscope wrote", name, kOpenable);
    if (version == nullptr || version->kind != Document::Kind::Integer || version->integer != kVersion)
        return fail(ErrorCode::Unsupported,
                    fmt::format("a run in version {}, expected {}",
                                version == nullptr ? "unknown" : core::writeJson(*version, false), kVersion),
                    name, kWriteRunAnew);
    RunFile run;
    const Document* about = own->find("about");
    const Document* timeline = own->find("timeline");
    if (about == nullptr || about->kind != Document::Kind::Table || timeline == nullptr)
        return fail(ErrorCode::Input, "'about' is no table, or 'timeline' is missing", name, kWriteRunAnew);
    run.about = *about;
    for (const auto& [key, text] : {std::pair{"scenario", &run.scenario}, std::pair{"folder", &run.folder}}) {
        const Document* found = own->find(key);
        if (found == nullptr || found->kind != Document::Kind::Text)
            return fail(ErrorCode::Input, fmt::format("'{}' is no text", key), name, kWriteRunAnew);
        *text = found->text;
    }
    if (const Document* machine = own->find("machine")) run.machine = *machine;
    SHARDSCOPE_ASSIGN(run.timeline, timelineFrom(*timeline, name + ", shardscope, timeline"));
    return run;
}

}  // namespace shardscope::formats
