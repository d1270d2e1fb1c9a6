#include "core/machine/machine_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace shardscope::core {

namespace {

constexpr const char* kSchema = "shardscope.machine";
constexpr std::int64_t kVersion = 2;

// JSON carries seconds as nanoseconds, which people read more easily.
constexpr double kNanosecond = 1e-9;

constexpr std::pair<const char*, double HostTimes::*> kHostTimes[] = {
    {"issue_op_ns", &HostTimes::issueOp},  {"issue_call_ns", &HostTimes::issueCall}, {"data_ns", &HostTimes::data},
    {"begin_ns", &HostTimes::begin},       {"finish_ns", &HostTimes::finish},        {"wake_ns", &HostTimes::wake},
    {"wake_busy_ns", &HostTimes::wakeBusy}};

Document documentOf(const TimeOfBytes& time) {
    Document out = Document::table();
    out.set("start_ns", Document::of(time.start / kNanosecond));
    out.set("ns_per_byte", Document::of(time.perByte / kNanosecond));
    return out;
}

constexpr std::pair<const char*, double CallSample::*> kCallTimes[] = {
    {"alone_ns", &CallSample::alone}, {"busy_ns", &CallSample::busy}, {"processor_ns", &CallSample::processor}};

Document documentOf(const CallTime& call) {
    Document out = Document::list();
    for (const CallSample& sample : call.samples) {
        Document row = Document::table();
        row.set("bytes", Document::of(static_cast<std::int64_t>(sample.bytes)));
        for (const auto& [key, member] : kCallTimes) row.set(key, Document::of(sample.*member / kNanosecond));
        out.items.push_back(std::move(row));
    }
    return out;
}

/// Reads members of one table, each of which must be there, and refuses what is left.
class Reader {
public:
    Reader(const Document& document, std::string where) : m_document(document), m_where(std::move(where)) {}

    Result<const Document*> member(std::string_view key, Document::Kind kind) {
        if (m_document.kind != Document::Kind::Table)
            return fail(ErrorCode::Input, fmt::format("found {}, expected a table", describeKind(m_document.kind)),
                        m_where, kHint);
        const Document* found = m_document.find(key);
        if (found == nullptr) return fail(ErrorCode::Input, fmt::format("'{}' is missing", key), m_where, kHint);
        const bool number = kind == Document::Kind::Real && found->isNumber();
        if (found->kind != kind && !number)
            return fail(ErrorCode::Input,
                        fmt::format("'{}' is {}, expected {}", key, describeKind(found->kind), describeKind(kind)),
                        m_where, kHint);
        return found;
    }

    Result<double> seconds(std::string_view key) {
        SHARDSCOPE_ASSIGN(const Document* found, member(key, Document::Kind::Real));
        return checked(key, found->number());
    }

    Result<double> checked(std::string_view key, double nanoseconds) const {
        constexpr double kMost = 1e13;  // almost three hours
        if (std::isfinite(nanoseconds) && nanoseconds >= 0 && nanoseconds <= kMost) return nanoseconds * kNanosecond;
        return fail(ErrorCode::Input, fmt::format("'{}' is {}, expected 0 to {:g} ns", key, nanoseconds, kMost),
                    m_where, kHint);
    }

    Result<std::int64_t> count(std::string_view key) {
        SHARDSCOPE_ASSIGN(const Document* found, member(key, Document::Kind::Integer));
        if (found->integer >= 1 && found->integer <= 1'000'000) return found->integer;
        return fail(ErrorCode::Input, fmt::format("'{}' is {}, expected 1 to 1000000", key, found->integer), m_where,
                    kHint);
    }

    Result<TimeOfBytes> time(std::string_view key) {
        SHARDSCOPE_ASSIGN(const Document* found, member(key, Document::Kind::Table));
        Reader inner(*found, fmt::format("{}, {}", m_where, key));
        TimeOfBytes time;
        SHARDSCOPE_ASSIGN(time.start, inner.seconds("start_ns"));
        SHARDSCOPE_ASSIGN(time.perByte, inner.seconds("ns_per_byte"));
        return time;
    }

    Result<std::int64_t> bytes(std::string_view key) {
        SHARDSCOPE_ASSIGN(const Document* found, member(key, Document::Kind::Integer));
        if (found->integer >= 1 && found->integer <= (std::int64_t{1} << 50)) return found->integer;
        return fail(ErrorCode::Input, fmt::format("'{}' is {}, expected 1 to 2^50", key, found->integer), m_where,
                    kHint);
    }

    Result<CallTime> call(std::string_view key) {
        SHARDSCOPE_ASSIGN(const Document* found, member(key, Document::Kind::List));
        CallTime call;
        for (std::size_t i = 0; i < found->items.size(); ++i) {
            Reader inner(found->items[i], fmt::format("{}, {}[{}]", m_where, key, i));
            CallSample sample;
            SHARDSCOPE_ASSIGN(const std::int64_t size, inner.bytes("bytes"));
            sample.bytes = static_cast<double>(size);
            if (i > 0 && sample.bytes <= call.samples.back().bytes)
                return fail(ErrorCode::Input, "bytes do not ascend", fmt::format("{}, {}[{}]", m_where, key, i), kHint);
            for (const auto& [name, time] : kCallTimes) {
                SHARDSCOPE_ASSIGN(sample.*time, inner.seconds(name));
            }
            call.samples.push_back(sample);
        }
        if (!call.samples.empty()) return call;
        return fail(ErrorCode::Input, fmt::format("'{}' is empty, expected at least one entry", key), m_where, kHint);
    }

    static constexpr const char* kHint = "write the file anew: shardscope calibrate -o FILE";

private:
    const Document& m_document;
    std::string m_where;
};

Result<ComputeTimes> parseCompute(const Document& document, const std::string& where) {
    Reader reader(document, where);
    ComputeTimes times;
    SHARDSCOPE_ASSIGN(times.busy, reader.count("busy_ranks"));
    SHARDSCOPE_ASSIGN(times.copy, reader.time("copy"));
    SHARDSCOPE_ASSIGN(times.optimizer, reader.time("optimizer"));
    SHARDSCOPE_ASSIGN(const Document* kernels, reader.member("kernels_ns", Document::Kind::Table));
    for (const auto& [signature, value] : kernels->members) {
        if (!value.isNumber())
            return fail(ErrorCode::Input,
                        fmt::format("'{}' is {}, expected a number", signature, describeKind(value.kind)),
                        where + ", kernels_ns", Reader::kHint);
        SHARDSCOPE_ASSIGN(times.kernels[signature], reader.checked(signature, value.number()));
    }
    return times;
}

Result<TransferTimes> parseTransfers(const Document& document, const std::string& where) {
    Reader reader(document, where);
    TransferTimes times;
    SHARDSCOPE_ASSIGN(times.ranks, reader.count("ranks"));
    SHARDSCOPE_ASSIGN(times.allGather, reader.call("all_gather"));
    SHARDSCOPE_ASSIGN(times.reduceScatter, reader.call("reduce_scatter"));
    SHARDSCOPE_ASSIGN(times.allReduce, reader.call("all_reduce"));
    SHARDSCOPE_ASSIGN(times.message, reader.call("message"));
    return times;
}

/// Every time of the machine, in one order for measurements that are alike.
std::vector<double*> timesIn(MachineTimes& machine) {
    std::vector<double*> all;
    for (const auto& [key, member] : kHostTimes) all.push_back(&(machine.host.*member));
    for (ComputeTimes& one : machine.compute) {
        for (TimeOfBytes* line : {&one.copy, &one.optimizer}) all.insert(all.end(), {&line->start, &line->perByte});
        for (auto& [signature, seconds] : one.kernels) all.push_back(&seconds);
    }
    for (TransferTimes& one : machine.transfers)
        for (CallTime* call : {&one.allGather, &one.reduceScatter, &one.allReduce, &one.message})
            for (CallSample& sample : call->samples)
                for (const auto& [key, member] : kCallTimes) all.push_back(&(sample.*member));
    return all;
}

Result<void> checkAscending(std::int64_t before, std::int64_t now, const std::string& where) {
    if (now > before) return {};
    return fail(ErrorCode::Input, fmt::format("{} comes after {}, expected more in each entry", now, before), where,
                Reader::kHint);
}

}  // namespace

TimeOfBytes fitTime(const std::vector<BytesSample>& samples) {
    // Least squares of (start + perByte b - t) / t.
    double s0 = 0, s1 = 0, s2 = 0, r0 = 0, r1 = 0;
    for (const BytesSample& sample : samples) {
        if (!(sample.seconds > 0)) continue;
        const double w = 1 / (sample.seconds * sample.seconds), b = sample.bytes;
        s0 += w;
        s1 += w * b;
        s2 += w * b * b;
        r0 += w * sample.seconds;
        r1 += w * b * sample.seconds;
    }
    if (s0 == 0) return {};
    const double determinant = s0 * s2 - s1 * s1;
    if (determinant > 1e-12 * s0 * s2) {
        const TimeOfBytes line{(r0 * s2 - r1 * s1) / determinant, (s0 * r1 - s1 * r0) / determinant};
        if (line.start >= 0 && line.perByte >= 0) return line;
        if (line.start < 0) return {0, r1 / s2};
    }
    return {r0 / s0, 0};
}

CallSample CallTime::at(double bytes) const {
    if (samples.empty()) return {};
    const auto after =
        std::find_if(samples.begin(), samples.end(), [&](const CallSample& sample) { return sample.bytes >= bytes; });
    const auto mixed = [&](const CallSample& a, double partOfA, const CallSample& b, double partOfB) {
        CallSample mix{bytes, 0, 0, 0};
        for (const auto& [key, member] : kCallTimes) mix.*member = partOfA * a.*member + partOfB * b.*member;
        return mix;
    };
    if (after == samples.begin()) return mixed(samples.front(), 1, samples.front(), 0);
    const CallSample& before = *std::prev(after);
    if (after == samples.end()) return mixed(before, bytes / before.bytes, before, 0);
    const double part = (bytes - before.bytes) / (after->bytes - before.bytes);
    return mixed(before, 1 - part, *after, part);
}

Result<MachineTimes> meanOf(std::vector<MachineTimes> all) {
    const auto withoutTimes = [](MachineTimes one) {
        for (double* time : timesIn(one)) *time = 0;
        return one;
    };
    MachineTimes mean = all.front();
    const MachineTimes measured = withoutTimes(mean);
    const std::vector<double*> sums = timesIn(mean);
    for (std::size_t i = 1; i < all.size(); ++i) {
        if (!(withoutTimes(all[i]) == measured))
            return fail(ErrorCode::Internal, "measurements of different things have no mean", "machine times");
        const std::vector<double*> times = timesIn(all[i]);
        for (std::size_t t = 0; t < times.size(); ++t) *sums[t] += *times[t];
    }
    for (double* sum : sums) *sum /= static_cast<double>(all.size());
    return mean;
}

std::string kernelSignature(const Program& program, const Kernel& kernel) {
    std::string text(nameOf(kernel.kind));
    if (kernel.kind == KernelKind::Elementwise) text += fmt::format(":{}", kernel.op);
    if (kernel.draw != 0) text += " drawn";
    if (kernel.causal) text += " causal";
    if (kernel.weightTransposed) text += " transposed";
    const auto add = [&](TensorId id) {
        const Tensor& tensor = program.tensor(id);
        text += fmt::format(" {}{}", nameOf(tensor.dtype), toString(tensor.shape));
        std::int64_t dense = 1;
        bool contiguous = true;
        for (std::size_t i = tensor.shape.size(); i-- > 0 && !tensor.strides.empty();) {
            contiguous &= tensor.shape[i] == 1 || tensor.strides[i] == dense;
            dense *= tensor.shape[i];
        }
        if (!contiguous) text += fmt::format("@({})", fmt::join(tensor.strides, ","));
    };
    for (const TensorId id : kernel.inputs) add(id);
    text += " >";
    for (const TensorId id : kernel.outputs) add(id);
    return text;
}

Document documentOf(const MachineTimes& times) {
    Document out = Document::table(), compute = Document::list(), transfers = Document::list();
    out.set("schema", Document::of(kSchema));
    out.set("version", Document::of(kVersion));
    out.set("processor", Document::of(times.processor));
    out.set("device", Document::of(times.device));
    out.set("transport", Document::of(times.transport));
    out.set("link_bytes_per_s", Document::of(times.link.bandwidth));
    out.set("link_latency_ns", Document::of(times.link.latency / kNanosecond));
    out.set("cores", Document::of(times.cores));
    Document& host = out.set("host", Document::table());
    for (const auto& [key, member] : kHostTimes) host.set(key, Document::of(times.host.*member / kNanosecond));
    for (const ComputeTimes& one : times.compute) {
        Document row = Document::table(), kernels = Document::table();
        row.set("busy_ranks", Document::of(one.busy));
        row.set("copy", documentOf(one.copy));
        row.set("optimizer", documentOf(one.optimizer));
        for (const auto& [signature, seconds] : one.kernels)
            kernels.members.emplace_back(signature, Document::of(seconds / kNanosecond));
        row.set("kernels_ns", std::move(kernels));
        compute.items.push_back(std::move(row));
    }
    for (const TransferTimes& one : times.transfers) {
        Document row = Document::table();
        row.set("ranks", Document::of(one.ranks));
        row.set("all_gather", documentOf(one.allGather));
        row.set("reduce_scatter", documentOf(one.reduceScatter));
        row.set("all_reduce", documentOf(one.allReduce));
        row.set("message", documentOf(one.message));
        transfers.items.push_back(std::move(row));
    }
    out.set("compute", std::move(compute));
    out.set("transfers", std::move(transfers));
    return out;
}

Result<MachineTimes> parseMachineTimes(const Document& document, const std::string& name) {
    Reader reader(document, name);
    SHARDSCOPE_ASSIGN(const Document* schema, reader.member("schema", Document::Kind::Text));
    if (schema->text != kSchema)
        return fail(ErrorCode::Input, fmt::format("schema '{}', expected '{}'", schema->text.substr(0, 60), kSchema),
                    name, Reader::kHint);
    SHARDSCOPE_ASSIGN(const std::int64_t version, reader.count("version"));
    if (version != kVersion)
        return fail(ErrorCode::Input, fmt::format("version {}, expected {}", version, kVersion), name, Reader::kHint);
    MachineTimes times;
    SHARDSCOPE_ASSIGN(const Document* processor, reader.member("processor", Document::Kind::Text));
    SHARDSCOPE_ASSIGN(const Document* device, reader.member("device", Document::Kind::Text));
    SHARDSCOPE_ASSIGN(const Document* transport, reader.member("transport", Document::Kind::Text));
    SHARDSCOPE_ASSIGN(const Document* bandwidth, reader.member("link_bytes_per_s", Document::Kind::Real));
    times.processor = processor->text;
    times.device = device->text;
    times.transport = transport->text;
    times.link.bandwidth = bandwidth->number();
    if (!(times.link.bandwidth >= 0 && times.link.bandwidth <= 1e18))
        return fail(ErrorCode::Input, fmt::format("'link_bytes_per_s' is {}, expected 0 to 1e18", times.link.bandwidth),
                    name, Reader::kHint);
    SHARDSCOPE_ASSIGN(times.link.latency, reader.seconds("link_latency_ns"));
    SHARDSCOPE_ASSIGN(times.cores, reader.count("cores"));
    SHARDSCOPE_ASSIGN(const Document* host, reader.member("host", Document::Kind::Table));
    Reader hostReader(*host, name + ", host");
    for (const auto& [key, member] : kHostTimes) {
        SHARDSCOPE_ASSIGN(times.host.*member, hostReader.seconds(key));
    }
    SHARDSCOPE_ASSIGN(const Document* compute, reader.member("compute", Document::Kind::List));
    SHARDSCOPE_ASSIGN(const Document* transfers, reader.member("transfers", Document::Kind::List));
    if (compute->items.empty())
        return fail(ErrorCode::Input, "'compute' is empty, expected at least one entry", name, Reader::kHint);
    for (std::size_t i = 0; i < compute->items.size(); ++i) {
        const std::string where = fmt::format("{}, compute[{}]", name, i);
        SHARDSCOPE_ASSIGN(ComputeTimes one, parseCompute(compute->items[i], where));
        SHARDSCOPE_TRY(checkAscending(i == 0 ? 0 : times.compute.back().busy, one.busy, where + ", busy_ranks"));
        times.compute.push_back(std::move(one));
    }
    for (std::size_t i = 0; i < transfers->items.size(); ++i) {
        const std::string where = fmt::format("{}, transfers[{}]", name, i);
        SHARDSCOPE_ASSIGN(const TransferTimes one, parseTransfers(transfers->items[i], where));
        SHARDSCOPE_TRY(checkAscending(i == 0 ? 0 : times.transfers.back().ranks, one.ranks, where + ", ranks"));
        times.transfers.push_back(one);
    }
    return times;
}

}  // namespace shardscope::core
