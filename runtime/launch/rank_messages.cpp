#include "runtime/launch/rank_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "runtime/executor/rank_map.h"
#include "runtime/rendezvous/wire.h"

namespace shardscope::runtime {

using core::Result;

namespace {

// An empty vector takes three times the memory that it takes in a message, so these are not as many as fit in.
constexpr std::size_t kMostParameters = std::size_t{1} << 20;

// Far more than any clock shows or any step lasts (36 years, 13 days), and little enough that instants moved to another
// clock, and sums over all ranks, fit in 64 bits.
constexpr std::int64_t kFarthest = std::int64_t{1} << 60, kLongest = std::int64_t{1} << 50;

constexpr const char* kSameProgram = "start every rank with the same program";

bool isTime(std::int64_t ns) {
    return ns >= 0 && ns <= kLongest;
}

bool near(std::int64_t instant) {
    return instant >= -kFarthest && instant <= kFarthest;
}

/// begin <= end, both near, and not too far apart.
bool lasts(std::int64_t begin, std::int64_t end) {
    return near(begin) && near(end) && begin <= end && end - begin <= kLongest;
}

enum class Kind : std::uint8_t { Progress = 1, Failure = 2, Result = 3 };

void put(WireWriter& out, const RankStep& step) {
    out.put(Kind::Progress);
    out.put(step.step);
    out.put(static_cast<std::uint8_t>(step.loss.has_value()));
    out.put(step.loss.value_or(0));
    out.put(step.beginNs);
    out.put(step.endNs);
    out.put(step.exposedNs);
    out.put(step.waitingNs);
    out.put(step.peakBytes);
}

void put(WireWriter& out, const RankFailure& failure) {
    out.put(Kind::Failure);
    out.put(static_cast<std::uint8_t>(failure.error.code));
    out.put(failure.error.message);
    out.put(failure.error.where);
    out.put(failure.error.hint);
    out.put(static_cast<std::uint8_t>(failure.lostPeer));
}

void put(WireWriter& out, const LiveBytes& bytes) {
    for (const std::int64_t ofCategory : bytes) out.put(ofCategory);
}

void put(WireWriter& out, const StepTimes& times) {
    for (const auto member : timeline::kBreakdownTimes) out.put(times.breakdown.*member);
    for (const std::int64_t time : times.activities) out.put(time);
}

void put(WireWriter& out, const StepOutcome& outcome) {
    out.put(std::span<const double>(outcome.losses));
    out.put(outcome.begin);
    out.put(outcome.end);
    out.put(static_cast<std::uint64_t>(outcome.times.size()));
    for (const OpTimes& times : outcome.times) {
        out.put(times.op.value);
        out.put(times.start);
        out.put(times.transferStart);
        out.put(times.end);
    }
}

void put(WireWriter& out, const ParameterValues& values) {
    out.put(static_cast<std::uint64_t>(values.size()));
    for (const auto& ofParameter : values) out.put(std::span<const float>(ofParameter));
}

void put(WireWriter& out, const std::vector<ClockSample>& samples) {
    out.put(static_cast<std::uint64_t>(samples.size()));
    for (const ClockSample& sample : samples) {
        out.put(sample.local);
        out.put(sample.offset);
        out.put(sample.roundTrip);
    }
}

void put(WireWriter& out, const RankResult& result) {
    const RankRecord& record = result.record;
    out.put(Kind::Result);
    out.put(record.report.rank);
    out.put(record.report.rankClass);
    put(out, record.report.peak);
    out.put(record.report.peakTotal);
    put(out, record.report.atEnd);
    put(out, record.report.typical);
    out.put(static_cast<std::uint64_t>(record.outcomes.size()));
    for (const StepOutcome& outcome : record.outcomes) put(out, outcome);
    put(out, record.gradients);
    put(out, record.parameters);
    put(out, result.clockAtStart);
    put(out, result.clockAtEnd);
}

void get(WireReader& in, LiveBytes& bytes) {
    for (std::int64_t& ofCategory : bytes) ofCategory = in.get<std::int64_t>();
}

void get(WireReader& in, StepTimes& times) {
    for (const auto member : timeline::kBreakdownTimes) times.breakdown.*member = in.get<std::int64_t>();
    for (std::int64_t& time : times.activities) time = in.get<std::int64_t>();
}

StepOutcome getOutcome(WireReader& in) {
    StepOutcome outcome;
    outcome.losses = in.values<double>();
    outcome.begin = in.get<std::int64_t>();
    outcome.end = in.get<std::int64_t>();
    outcome.times.resize(in.count(sizeof(std::uint32_t) + 3 * sizeof(std::int64_t)));
    for (OpTimes& times : outcome.times) {
        times.op.value = in.get<decltype(times.op.value)>();
        times.start = in.get<std::int64_t>();
        times.transferStart = in.get<std::int64_t>();
        times.end = in.get<std::int64_t>();
    }
    return outcome;
}

ParameterValues getValues(WireReader& in) {
    ParameterValues values(in.count(sizeof(std::uint64_t), kMostParameters));
    for (auto& ofParameter : values) ofParameter = in.values<float>();
    return values;
}

std::vector<ClockSample> getSamples(WireReader& in) {
    std::vector<ClockSample> samples(in.count(3 * sizeof(std::int64_t)));
    for (ClockSample& sample : samples) {
        sample.local = in.get<std::int64_t>();
        sample.offset = in.get<std::int64_t>();
        sample.roundTrip = in.get<std::int64_t>();
    }
    return samples;
}

RankResult getResult(WireReader& in) {
    RankResult result;
    RankRecord& record = result.record;
    record.report.rank = in.get<std::int64_t>();
    record.report.rankClass = in.text();
    get(in, record.report.peak);
    record.report.peakTotal = in.get<std::int64_t>();
    get(in, record.report.atEnd);
    get(in, record.report.typical);
    record.outcomes.resize(in.count(4 * sizeof(std::uint64_t)));
    for (StepOutcome& outcome : record.outcomes) outcome = getOutcome(in);
    record.gradients = getValues(in);
    record.parameters = getValues(in);
    result.clockAtStart = getSamples(in);
    result.clockAtEnd = getSamples(in);
    return result;
}

}  // namespace

std::vector<std::byte> encode(const RankMessage& message) {
    WireWriter out;
    std::visit([&](const auto& one) { put(out, one); }, message);
    return out.take();
}

Result<RankMessage> decode(std::span<const std::byte> bytes) {
    WireReader in(bytes);
    RankMessage message;
    switch (static_cast<Kind>(in.get<std::uint8_t>())) {
        case Kind::Progress: {
            RankStep step;
            step.step = in.get<std::int64_t>();
            const bool hasLoss = in.get<std::uint8_t>() != 0;
            const double loss = in.get<double>();
            if (hasLoss) step.loss = loss;
            step.beginNs = in.get<std::int64_t>();
            step.endNs = in.get<std::int64_t>();
            step.exposedNs = in.get<std::int64_t>();
            step.waitingNs = in.get<std::int64_t>();
            step.peakBytes = in.get<std::int64_t>();
            message = step;
            break;
        }
        case Kind::Failure: {
            RankFailure failure;
            const auto code = in.get<std::uint8_t>();
            failure.error.code = code <= static_cast<std::uint8_t>(core::ErrorCode::Internal)
                                     ? static_cast<core::ErrorCode>(code)
                                     : core::ErrorCode::Internal;
            failure.error.message = in.text();
            failure.error.where = in.text();
            failure.error.hint = in.text();
            failure.lostPeer = in.get<std::uint8_t>() != 0;
            message = std::move(failure);
            break;
        }
        case Kind::Result: message = getResult(in); break;
        default: return core::fail(core::ErrorCode::Io, "a message of an unknown kind", {}, kSameProgram);
    }
    if (!in.whole())
        return core::fail(core::ErrorCode::Io, fmt::format("a message of {} bytes is cut or too long", bytes.size()),
                          {}, kSameProgram);
    return message;
}

bool canHaveBeen(const RankStep& step, std::int64_t steps) {
    return step.step >= 0 && step.step < steps && lasts(step.beginNs, step.endNs) && isTime(step.exposedNs) &&
           isTime(step.waitingNs) && step.peakBytes >= 0 && step.peakBytes <= kFarthest;
}

Result<void> checkResult(const RankResult& result, const Training& training, std::int64_t rank) {
    const auto refuse = [&](const std::string& what) {
        return core::fail(core::ErrorCode::Io, fmt::format("the result of rank {} {}", rank, what), {}, kSameProgram);
    };
    const RankRecord& record = result.record;
    const TrainConfig& config = training.config();
    const core::StepGraph& graph = training.graph();
    if (record.report.rank != rank) return refuse("is that of another rank");
    const std::int64_t stage = RankMap{graph.plan.mesh, rank}.stage();
    const auto own = std::find_if(graph.classes.begin(), graph.classes.end(),
                                  [&](const core::RankClass& one) { return one.stage == stage; });
    if (own == graph.classes.end() || record.report.rankClass != own->name) return refuse("is that of another stage");
    const StepTimes& typical = record.report.typical;
    if (!std::all_of(std::begin(timeline::kBreakdownTimes), std::end(timeline::kBreakdownTimes),
                     [&](auto member) { return isTime(typical.breakdown.*member); }) ||
        !std::all_of(typical.activities.begin(), typical.activities.end(), isTime))
        return refuse("has times that no step takes");
    if (static_cast<std::int64_t>(record.outcomes.size()) != config.steps)
        return refuse(fmt::format("has {} steps, expected {}", record.outcomes.size(), config.steps));
    for (const StepOutcome& outcome : record.outcomes) {
        if (static_cast<std::int64_t>(outcome.losses.size()) > graph.plan.microBatches)
            return refuse(
                fmt::format("has {} losses of {} micro-batches", outcome.losses.size(), graph.plan.microBatches));
        if (!lasts(outcome.begin, outcome.end)) return refuse("has a step that ends before it begins, or never");
        if (outcome.times.size() > own->opEnd - own->opBegin) return refuse("has times of more ops than there are");
        for (const OpTimes& times : outcome.times) {
            if (times.op.index() < own->opBegin || times.op.index() >= own->opEnd)
                return refuse("has times of an op that is none of its own");
            if (!lasts(times.start, times.transferStart) || !lasts(times.transferStart, times.end))
                return refuse("has an op that ends before it starts, or never");
        }
    }
    for (const auto* samples : {&result.clockAtStart, &result.clockAtEnd}) {
        if (samples->size() > kClockExchanges) return refuse("has more exchanges of clocks than there were");
        for (const ClockSample& sample : *samples)
            if (!near(sample.local) || !near(sample.offset) || !near(sample.roundTrip) || sample.roundTrip < 0)
                return refuse("has an exchange of clocks that cannot have been");
    }
    const std::size_t parameters = training.model().parameters.size();
    for (const auto& [values, kept] : {std::pair<const ParameterValues&, bool>{record.gradients, config.keepGradients},
                                       {record.parameters, config.keepParameters}}) {
        if (values.size() != (kept ? parameters : 0)) return refuse("has values of other parameters");
        for (std::size_t p = 0; p < values.size(); ++p)
            if (static_cast<std::int64_t>(values[p].size()) > core::elementsOf(training.model().parameters[p].shape))
                return refuse("has more values than " + training.model().parameters[p].name);
    }
    return {};
}

}  // namespace shardscope::runtime
