#include "traces/formats/kineto_writer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "core/base/dtype.h"
#include "traces/formats/text.h"

namespace shardscope::formats {

using timeline::Activity;
using timeline::SpanKind;
using timeline::Timeline;

namespace {

/// Kineto's names of element types, which are ATen's.
std::string_view atenName(core::DType type) {
    switch (type) {
        case core::DType::F64: return "Double";
        case core::DType::F32: return "Float";
        case core::DType::BF16: return "BFloat16";
        case core::DType::F16: return "Half";
        case core::DType::I64: return "Long";
        case core::DType::I32: return "Int";
        case core::DType::U64: return "UInt64";
        case core::DType::U8: return "Byte";
        case core::DType::Bool: return "Bool";
    }
    return "";
}

/// NCCL's short names of element types in kernel names.
std::string_view ncclName(std::uint8_t type) {
    switch (static_cast<core::DType>(type)) {
        case core::DType::F64: return "_f64";
        case core::DType::F32: return "_f32";
        case core::DType::BF16: return "_bf16";
        case core::DType::F16: return "_f16";
        default: return "";
    }
}

struct CollectiveNames {
    std::string_view kernel, torch;
    bool reduces = false;
};

/// torch: "Collective name" in the args of Kineto's NCCL kernels.
CollectiveNames collectiveNames(Activity activity) {
    switch (activity) {
        case Activity::AllGather: return {"AllGather", "_allgather_base"};
        case Activity::ReduceScatter: return {"ReduceScatter_Sum", "_reduce_scatter_base", true};
        case Activity::AllReduce: return {"AllReduce_Sum", "allreduce", true};
        case Activity::AllToAll: return {"SendRecv", "all_to_allv"};
        case Activity::Broadcast: return {"Broadcast", "broadcast"};
        case Activity::Send: return {"SendRecv", "send"};
        case Activity::Receive: return {"SendRecv", "recv"};
        default: return {"Generic", ""};
    }
}

class Writer {
public:
    Writer(std::span<const NamedTimeline> plans, const KinetoOptions& options, Sink& sink)
        : m_plans(plans), m_options(options), m_sink(sink) {}

    void write() {
        std::int64_t ranks = 0;
        for (const NamedTimeline& plan : m_plans) {
            for (const timeline::RankRow& rank : plan.timeline->ranks)
                ranks = std::max(ranks, rank.rank + rank.multiplicity);
        }
        std::int64_t shift = 10;
        while (shift < ranks) shift *= 10;
        header();
        for (std::size_t k = 0; k < m_plans.size(); ++k) {
            m_t = m_plans[k].timeline;
            m_pidShift = static_cast<std::int64_t>(k) * shift;
            plan(m_plans.size() > 1 ? m_plans[k].name + ": " : "");
        }
        add("\n]");
        if (!m_options.attached.empty()) print(",\n\"shardscope\": {}", m_options.attached);
        add("}\n");
        flush();
    }

private:
    void plan(const std::string& prefix) {
        placeSpans();
        for (std::uint32_t r = 0; r < m_t->ranks.size(); ++r) {
            if (chosen(r)) metadata(r, prefix);
        }
        for (std::uint32_t i = 0; i < m_t->spans.size(); ++i) {
            if (chosen(rankOf(i))) span(i);
        }
        for (const timeline::Counter& counter : m_t->counters) {
            if (chosen(counter.rankIndex)) this->counter(counter);
        }
        m_nextId += m_t->spans.size() + 1;
        if (m_options.flows) flows();
    }

    template <class... Args>
    void print(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(m_out), format, std::forward<Args>(args)...);
    }
    void add(std::string_view text) { m_out.append(text.data(), text.data() + text.size()); }
    void string(std::string_view text) { appendJsonString(m_out, text); }
    void string(timeline::StringId id) { string(m_t->strings[id]); }
    void flush() {
        m_sink.write({m_out.data(), m_out.size()});
        m_out.clear();
    }
    void event() {
        constexpr std::size_t kFlushAt = 1 << 16;
        if (m_out.size() > kFlushAt) flush();
        add(m_first ? "\n" : ",\n");
        m_first = false;
    }
    void time(std::string_view key, std::int64_t ns) {
        print(",\"{}\":", key);
        appendMicroseconds(m_out, ns);
    }

    [[nodiscard]] bool chosen(std::uint32_t rank) const { return !m_options.onlyRank || *m_options.onlyRank == rank; }
    [[nodiscard]] std::uint32_t rankOf(std::uint32_t span) const { return m_t->lanes[m_t->spans.lane[span]].rankIndex; }
    [[nodiscard]] std::int64_t pidOf(std::uint32_t rank) const { return m_t->ranks[rank].rank + m_pidShift; }
    /// CUDA's stream numbers are not known; lanes count from 1 because HTA takes stream 0 for something else.
    [[nodiscard]] std::uint32_t streamOf(std::uint32_t lane) const {
        return lane - m_t->ranks[m_t->lanes[lane].rankIndex].laneBegin + 1;
    }
    static constexpr std::uint32_t kOverflow =
        1000;  ///< tid of the k-th overflow thread of a stream: stream + k * 1000
    static constexpr std::uint32_t kHostThread = 999;

    /// Puts each span on the first thread of its stream where it follows, or nests in, the ones before it.
    void placeSpans() {
        m_overflow.assign(m_t->spans.size(), 0);
        m_threads.assign(m_t->lanes.size(), 1);
        std::vector<std::vector<std::int64_t>> open;  // per thread: ends of the spans around the current instant
        std::uint32_t lane = timeline::kNoIndex;
        for (std::size_t i = 0; i < m_t->spans.size(); ++i) {
            if (m_t->spans.lane[i] != lane) {
                lane = m_t->spans.lane[i];
                open.assign(1, {});
            }
            const std::int64_t start = m_t->spans.start[i], end = m_t->spans.end[i];
            std::uint32_t thread = 0;
            for (;; ++thread) {
                if (thread == open.size()) open.emplace_back();
                auto& ends = open[thread];
                while (!ends.empty() && ends.back() <= start) ends.pop_back();
                if (ends.empty() || end <= ends.back()) break;
            }
            open[thread].push_back(end);
            m_overflow[i] = static_cast<std::uint16_t>(std::min(thread, 0xffffu));
            m_threads[lane] = std::max(m_threads[lane], thread + 1);
        }
    }
    [[nodiscard]] std::uint32_t tidOf(std::uint32_t span) const {
        return streamOf(m_t->spans.lane[span]) + m_overflow[span] * kOverflow;
    }

    void header() {
        static const Timeline kNothing;
        const Timeline& first = m_plans.empty() ? kNothing : *m_plans.front().timeline;
        std::int64_t world = m_options.worldSize;
        if (world == 0) {
            for (const timeline::RankRow& rank : first.ranks) world += rank.multiplicity;
        }
        // HTA finds the rank by the first `"rank":` that is followed by a space.
        print("{{\n\"schemaVersion\": 1,\n\"distributedInfo\": {{\"backend\": \"{}\", \"rank\": {}, \"world_size\": {}",
              m_options.backend, first.ranks.empty() ? 0 : first.ranks[m_options.onlyRank.value_or(0)].rank, world);
        print(", \"pg_count\": {}, \"pg_config\": [", first.groups.size());
        for (std::size_t g = 0; g < first.groups.size(); ++g) {
            print("{}{{\"pg_name\": \"{}\", \"pg_desc\": ", g == 0 ? "" : ", ", g);
            string(first.strings[first.groups[g].name]);
            print(", \"pg_size\": {}}}", first.groups[g].size);
        }
        add("]},\n\"producer\": ");
        string(m_options.source);
        print(",\n\"simulated\": {},\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": 0,\n\"traceName\": ",
              m_options.simulated);
        string(first.title);
        add(",\n\"traceEvents\": [");
    }

    void named(std::string_view kind, std::int64_t pid, std::uint32_t tid, std::string_view name) {
        event();
        print("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":0.000,\"args\":{{\"name\":", kind, pid, tid);
        string(name);
        add("}}");
    }
    void sorted(std::string_view kind, std::int64_t pid, std::uint32_t tid, std::uint32_t index) {
        event();
        print("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":0.000,\"args\":{{\"sort_index\":{}}}}}",
              kind, pid, tid, index);
    }

    void metadata(std::uint32_t r, const std::string& prefix) {
        const timeline::RankRow& rank = m_t->ranks[r];
        std::string name = prefix + m_t->strings[rank.name];
        if (rank.multiplicity > 1) name += fmt::format(" x {}", rank.multiplicity);
        named("process_name", pidOf(r), 0, name);
        sorted("process_sort_index", pidOf(r), 0, m_sortIndex++);
        for (std::uint32_t lane = rank.laneBegin; lane < rank.laneEnd; ++lane) {
            for (std::uint32_t k = 0; k < m_threads[lane]; ++k) {
                const std::uint32_t tid = streamOf(lane) + k * kOverflow;
                std::string stream = m_t->strings[m_t->lanes[lane].stream];
                if (k > 0) stream += fmt::format(" ({})", k + 1);
                named("thread_name", pidOf(r), tid, stream);
                sorted("thread_sort_index", pidOf(r), tid, 16 * streamOf(lane) + std::min(k, 15u));
            }
        }
        named("thread_name", pidOf(r), kHostThread, "host launches");
        sorted("thread_sort_index", pidOf(r), kHostThread, 0);
        event();
        print("{{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#0\",\"pid\":{},\"tid\":{}", pidOf(r),
              kHostThread);
        time("ts", rank.stepBegin);
        time("dur", rank.stepEnd - rank.stepBegin);
        add(",\"args\":{}}");
    }

    void span(std::uint32_t i) {
        const timeline::Spans& s = m_t->spans;
        const SpanKind kind = static_cast<SpanKind>(s.kind[i]);
        const Activity activity = static_cast<Activity>(s.activity[i]);
        const std::int64_t pid = pidOf(rankOf(i));
        const bool isTransfer = kind == SpanKind::Collective || kind == SpanKind::PointToPoint;
        const bool isHost = kind == SpanKind::Host;
        const bool isCopy = !isHost && !isTransfer && !m_t->lanes[s.lane[i]].computeStream;
        event();
        print("{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":", isHost ? "cpu_op" : isCopy ? "gpu_memcpy" : "kernel");
        if (isTransfer) {
            std::string name = "ncclDevKernel_";
            const CollectiveNames names = collectiveNames(activity);
            name += names.kernel;
            if (names.reduces) name += ncclName(s.dtype[i]);
            string(name + "(" + m_t->strings[s.unit[i] != 0 ? s.unit[i] : s.name[i]] + ")");
        } else if (isCopy) {
            add("\"Memcpy DtoD (Device -> Device)\"");
        } else {
            string(s.name[i]);
        }
        print(",\"pid\":{},\"tid\":{}", pid, tidOf(i));
        time("ts", s.start[i]);
        time("dur", s.end[i] - s.start[i]);
        add(",\"args\":{");
        if (!isHost) {
            print("\"device\":{},\"stream\":{},\"correlation\":{},", pid, streamOf(s.lane[i]), m_nextId + i);
        }
        add("\"op\":");
        string(s.name[i]);
        add(",\"activity\":");
        string(timeline::nameOf(activity));
        if (s.unit[i] != 0) {
            add(",\"unit\":");
            string(s.unit[i]);
        }
        add(",\"phase\":");
        string(core::nameOf(static_cast<core::Phase>(s.phase[i])));
        print(",\"micro-batch\":{}", s.microBatch[i]);
        if (s.op[i] != timeline::kNoIndex) print(",\"op id\":{}", s.op[i]);
        if (isTransfer) {
            transferArgs(i, activity);
        } else if (s.bytes[i] != 0) {
            print(",\"bytes\":{}", s.bytes[i]);
        }
        add("}}");
        if (!isHost && m_options.launches && s.issued[i] != timeline::kNotIssued) launch(i, pid);
    }

    void transferArgs(std::uint32_t i, Activity activity) {
        const timeline::Spans& s = m_t->spans;
        time("waiting (us)", s.transferStart[i] - s.start[i]);
        print(",\"bytes\":{}", s.bytes[i]);
        if (const std::string_view name = collectiveNames(activity).torch; !name.empty()) {
            print(",\"Collective name\":\"{}\"", name);
        }
        std::int64_t size = 0;
        if (s.group[i] != timeline::kNoGroup && s.group[i] < m_t->groups.size()) {
            size = m_t->groups[s.group[i]].size;
            print(",\"Group size\":{},\"Process Group Name\":\"{}\",\"Process Group Description\":", size, s.group[i]);
            string(m_t->groups[s.group[i]].name);
        }
        if (s.dtype[i] == timeline::kNoDType) return;
        const core::DType type = static_cast<core::DType>(s.dtype[i]);
        print(",\"dtype\":\"{}\"", atenName(type));
        // `bytes` is the large side: what a gather puts out and what a reduce-scatter takes in.
        const std::int64_t elements = s.bytes[i] / std::max<std::int64_t>(core::sizeOf(type), 1);
        if (activity == Activity::AllGather || activity == Activity::ReduceScatter) {
            if (size == 0) return;
            const bool gathers = activity == Activity::AllGather;
            print(",\"In msg nelems\":{},\"Out msg nelems\":{}", gathers ? elements / size : elements,
                  gathers ? elements : elements / size);
        } else {
            print(",\"In msg nelems\":{0},\"Out msg nelems\":{0}", elements);
        }
    }

    void launch(std::uint32_t i, std::int64_t pid) {
        const timeline::Spans& s = m_t->spans;
        event();
        print("{{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":{},\"tid\":{}", pid,
              kHostThread);
        time("ts", s.issued[i]);
        print(",\"dur\":0.001,\"args\":{{\"correlation\":{}}}}}", m_nextId + i);
        if (!m_options.flows) return;
        flowEnd('s', "ac2g", "ac2g", m_nextId + i, pid, kHostThread, s.issued[i]);
        flowEnd('f', "ac2g", "ac2g", m_nextId + i, pid, tidOf(i), s.start[i]);
    }

    void flowEnd(char phase, std::string_view category, std::string_view name, std::uint64_t id, std::int64_t pid,
                 std::uint32_t tid, std::int64_t at) {
        event();
        print("{{\"ph\":\"{}\",\"cat\":\"{}\",\"name\":\"{}\",\"id\":{},\"pid\":{},\"tid\":{}", phase, category, name,
              id, pid, tid);
        time("ts", at);
        add(phase == 'f' ? ",\"bp\":\"e\"}" : "}");
    }

    void counter(const timeline::Counter& counter) {
        for (std::size_t k = 0; k < counter.time.size(); ++k) {
            event();
            add("{\"ph\":\"C\",\"name\":");
            string("memory: " + m_t->strings[counter.name]);
            print(",\"pid\":{}", pidOf(counter.rankIndex));
            time("ts", counter.time[k]);
            print(",\"args\":{{\"bytes\":{}}}}}", counter.value[k]);
        }
    }

    /// A flow binds to the slice that encloses its instant, and a slice does not enclose its own end: arrows leave one
    /// nanosecond before it. Spans without length enclose nothing.
    void flows() {
        const timeline::Spans& s = m_t->spans;
        for (const timeline::Flow& flow : m_t->flows) {
            if (!chosen(rankOf(flow.from)) || !chosen(rankOf(flow.to))) continue;
            if (s.start[flow.from] == s.end[flow.from] || s.start[flow.to] == s.end[flow.to]) continue;
            const std::string_view reason = timeline::nameOf(flow.reason);
            flowEnd('s', "dependency", reason, m_nextId, pidOf(rankOf(flow.from)), tidOf(flow.from),
                    s.end[flow.from] - 1);
            flowEnd('f', "dependency", reason, m_nextId, pidOf(rankOf(flow.to)), tidOf(flow.to), s.start[flow.to]);
            ++m_nextId;
        }
    }

    std::span<const NamedTimeline> m_plans;
    const Timeline* m_t = nullptr;  ///< the plan being written
    std::int64_t m_pidShift = 0;
    std::uint64_t m_nextId = 1;  ///< of correlations and flows, unique in the file
    const KinetoOptions& m_options;
    Sink& m_sink;
    fmt::memory_buffer m_out;
    bool m_first = true;
    std::uint32_t m_sortIndex = 0;
    std::vector<std::uint16_t> m_overflow;  ///< per span
    std::vector<std::uint32_t> m_threads;   ///< per lane
};

}  // namespace

void writeKineto(std::span<const NamedTimeline> plans, const KinetoOptions& options, Sink& sink) {
    Writer(plans, options, sink).write();
}

void writeKineto(const Timeline& timeline, const KinetoOptions& options, Sink& sink) {
    const NamedTimeline plan{timeline.title, &timeline};
    writeKineto({&plan, 1}, options, sink);
}

}  // namespace shardscope::formats
