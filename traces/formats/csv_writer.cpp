#include "traces/formats/csv_writer.h"

#include <array>
#include <iterator>

#include "traces/formats/text.h"

namespace shardscope::formats {

void writeCsv(std::span<const NamedTimeline> plans, Sink& sink) {
    static constexpr std::array<std::string_view, 5> kKinds = {"compute", "collective", "point-to-point", "copy",
                                                               "host"};
    constexpr std::size_t kFlushAt = 1 << 16;
    fmt::memory_buffer out;
    const auto field = [&](std::string_view text) {
        appendCsvField(out, text);
        out.push_back(',');
    };
    const auto number = [&](std::int64_t value) { fmt::format_to(std::back_inserter(out), "{},", value); };
    const auto known = [&](bool isKnown, std::int64_t value) { isKnown ? number(value) : out.push_back(','); };

    fmt::format_to(
        std::back_inserter(out),
        "plan,rank,ranks,stage,stream,kind,activity,phase,micro_batch,unit,name,op,start_ns,transfer_start_ns,end_ns,"
        "duration_ns,waiting_ns,bytes,issued_ns\r\n");
    for (const NamedTimeline& plan : plans) {
        const timeline::Timeline& t = *plan.timeline;
        const timeline::Spans& s = t.spans;
        for (std::size_t i = 0; i < s.size(); ++i) {
            const timeline::Lane& lane = t.lanes[s.lane[i]];
            const timeline::RankRow& rank = t.ranks[lane.rankIndex];
            const auto kind = static_cast<timeline::SpanKind>(s.kind[i]);
            const bool isTransfer = kind == timeline::SpanKind::Collective || kind == timeline::SpanKind::PointToPoint;
            field(plan.name);
            number(rank.rank);
            number(rank.multiplicity);
            number(rank.stage);
            field(t.strings[lane.stream]);
            field(kKinds[s.kind[i]]);
            field(timeline::nameOf(static_cast<timeline::Activity>(s.activity[i])));
            field(core::nameOf(static_cast<core::Phase>(s.phase[i])));
            number(s.microBatch[i]);
            field(t.strings[s.unit[i]]);
            field(t.strings[s.name[i]]);
            known(s.op[i] != timeline::kNoIndex, s.op[i]);
            number(s.start[i]);
            known(isTransfer, s.transferStart[i]);
            number(s.end[i]);
            number(s.end[i] - s.start[i]);
            number(isTransfer ? s.transferStart[i] - s.start[i] : 0);
            number(s.bytes[i]);
            if (s.issued[i] != timeline::kNotIssued) fmt::format_to(std::back_inserter(out), "{}", s.issued[i]);
            out.append(std::string_view("\r\n"));
            if (out.size() > kFlushAt) {
                sink.write({out.data(), out.size()});
                out.clear();
            }
        }
    }
    sink.write({out.data(), out.size()});
}

void writeCsv(const timeline::Timeline& timeline, Sink& sink) {
    const NamedTimeline plan{timeline.title, &timeline};
    writeCsv({&plan, 1}, sink);
}

}  // namespace shardscope::formats
