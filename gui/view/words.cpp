#include "gui/view/words.h"

#include <QCoreApplication>
#include <cmath>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "gui/view/messages.h"

namespace shardscope::gui {

namespace {

bool korean = false;  // of the window's thread alone

class Words {
    Q_DECLARE_TR_FUNCTIONS(Words)
};

}  // namespace

QString toQString(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

const formats::PictureText& pictureText() {
    return korean ? formats::koreanText() : formats::englishText();
}

void setPictureLanguage(const QString& language) {
    korean = language == QLatin1String("ko");
}

QString instantText(std::int64_t ns) {
    if (std::abs(ns) < 1000) return QStringLiteral("%1 ns").arg(ns);
    if (std::abs(ns) < 1'000'000) return QStringLiteral("%1 us").arg(static_cast<double>(ns) * 1e-3, 0, 'f', 3);
    return QStringLiteral("%1 ms").arg(static_cast<double>(ns) * 1e-6, 0, 'f', 6);
}

QString figureName(Figure figure) {
    switch (figure) {
        case Figure::Step: return Words::tr("Step");
        case Figure::Throughput: return Words::tr("Throughput");
        case Figure::Waiting: return Words::tr("A GPU waits");
        case Figure::ExposedCommunication: return Words::tr("Exposed communication");
        case Figure::WireBytes: return Words::tr("On the wire, a GPU");
        case Figure::PeakMemory: return Words::tr("Memory needed");
    }
    return {};
}

QString valueText(Unit unit, double value) {
    switch (unit) {
        case Unit::Nanoseconds: return toQString(cli::durationText(std::llround(value)));
        case Unit::Bytes: return toQString(cli::bytesText(std::llround(value)));
        case Unit::PerSecond:
            return value >= 1000 ? Words::tr("%1 a second").arg(toQString(cli::groupedDigits(std::llround(value))))
                                 : Words::tr("%1 a second").arg(value, 0, 'g', 3);
    }
    return {};
}

QString signedText(Unit unit, double value) {
    const QString size = valueText(unit, std::abs(value));
    return (value < 0 ? QStringLiteral("\u2212") : QStringLiteral("+")) + size;
}

QString differenceText(const DifferenceRow& row, std::size_t plan, std::size_t base) {
    const double difference = row.difference(plan, base), ratio = row.ratio(plan, base);
    if (difference == 0) return Words::tr("the same");
    const QString sign = signedText(row.unit, difference);
    if (row.values[base] == 0 || row.values[plan] == 0) return sign;
    const bool less = ratio < 1;
    const double times = less ? 1 / ratio : ratio;
    const QString factor =
        times >= 1000 ? toQString(cli::groupedDigits(std::llround(times))) : QString::number(times, 'g', 3);
    // Where the factor rounds to one, the sign and the size say all.
    if (factor == QLatin1String("1")) return sign;
    QString words;
    if (row.figure == Figure::Step)
        words = less ? Words::tr("%1 times faster").arg(factor) : Words::tr("%1 times slower").arg(factor);
    else
        words = less ? Words::tr("%1 times less").arg(factor) : Words::tr("%1 times more").arg(factor);
    return Words::tr("%1, %2").arg(sign, words);
}

QString stageText(core::WorkStage stage, const QString& plan) {
    using core::WorkStage;
    switch (stage) {
        case WorkStage::Reading: return Words::tr("Reading files");
        case WorkStage::Model: return Words::tr("Laying out the model for %1").arg(plan);
        case WorkStage::Graph: return Words::tr("Building the graph of %1").arg(plan);
        case WorkStage::Simulating: return Words::tr("Simulating %1").arg(plan);
        case WorkStage::Memory: return Words::tr("Following the memory of %1").arg(plan);
        case WorkStage::Causes: return Words::tr("Finding out why GPUs wait under %1").arg(plan);
        case WorkStage::Lanes: return Words::tr("Preparing the lanes of %1").arg(plan);
    }
    return {};
}

QString reasonName(timeline::FlowReason reason) {
    using timeline::FlowReason;
    switch (reason) {
        case FlowReason::Data: return Words::tr("data");
        case FlowReason::StreamOrder: return Words::tr("order of the stream");
        case FlowReason::EventWait: return Words::tr("waits for an event");
        case FlowReason::MemoryLimit: return Words::tr("memory limit");
        case FlowReason::Communicator: return Words::tr("order of the communicator");
        case FlowReason::Launch: return Words::tr("launch by the host");
        case FlowReason::Peer: return Words::tr("peer");
    }
    return {};
}

QString rankName(const LaneSet& set, std::uint32_t rankIndex, std::int64_t rank, std::int64_t ranks) {
    const timeline::RankRow& row = set.timeline->ranks[rankIndex];
    const QString name = inWindowsLanguage(set.timeline->strings[row.name]);
    if (row.multiplicity == 1) return name;
    const QString count = toQString(cli::groupedDigits(ranks));
    if (ranks == row.multiplicity) return QStringLiteral("%1 x %2").arg(name, count);
    if (ranks > 1) return Words::tr("the other %1").arg(count);
    return inWindowsLanguage("rank " + std::to_string(row.rank + rank));
}

GapWords gapWords(const LaneSet& set, const formats::RowPiece& piece) {
    using timeline::Cause;
    const QString unit = inWindowsLanguage(set.timeline->strings[piece.causeUnit]);
    const formats::PictureText& text = pictureText();
    GapWords words;
    words.cause = toQString(formats::fill(text.waits[static_cast<std::size_t>(piece.cause)], unit.toStdString()));
    if (piece.look == formats::Look::Idle) {
        words.word = Words::tr("idle");
        words.sentence = piece.cause == Cause::Unknown ? words.word : Words::tr("idle: %1").arg(words.cause);
        if (piece.cause == Cause::Unknown) words.cause = words.word;
        return words;
    }
    words.word = toQString(text.waits.back());
    switch (piece.cause) {
        case Cause::AllGather: words.sentence = Words::tr("waits for the all-gather of %1").arg(unit); break;
        case Cause::ReduceScatter: words.sentence = Words::tr("waits for the reduce-scatter of %1").arg(unit); break;
        case Cause::ReduceBackPressure:
            words.sentence = Words::tr("waits: the reduce-scatter of %1 holds the buffer").arg(unit);
            break;
        case Cause::AllReduce: words.sentence = Words::tr("waits for the all-reduce of %1").arg(unit); break;
        case Cause::OtherCollective: words.sentence = Words::tr("waits for a collective"); break;
        case Cause::UpstreamStage:
            words.sentence = words.cause;
            words.cause = Words::tr("stage before");
            break;
        case Cause::DownstreamStage:
            words.sentence = words.cause;
            words.cause = Words::tr("stage after");
            break;
        case Cause::PeerLate: words.sentence = Words::tr("waits for a late peer"); break;
        case Cause::HostLaunch: words.sentence = Words::tr("waits for the host to launch"); break;
        case Cause::HostOptimizer: words.sentence = Words::tr("waits for the host's optimizer"); break;
        case Cause::Copy: words.sentence = Words::tr("waits for a copy"); break;
        case Cause::DataLoading: words.sentence = Words::tr("waits for data"); break;
        case Cause::SynchronisingCall: words.sentence = Words::tr("waits: the host blocks"); break;
        case Cause::PipelineBubble: words.sentence = Words::tr("waits: nothing left to do"); break;
        case Cause::Unknown: words.sentence = words.word; break;
    }
    return words;
}

QString describePiece(const LaneSet& set, const Lane& lane, const formats::RowPiece& piece) {
    const timeline::Timeline& t = *set.timeline;
    const QString duration = toQString(cli::durationText(piece.end - piece.begin));
    const formats::PictureText& text = pictureText();
    if (isGap(piece.look) && lane.kind == Lane::Kind::State) {
        const QString cause =
            toQString(formats::fill(text.waits[static_cast<std::size_t>(piece.cause)], t.strings[piece.causeUnit]));
        return piece.look == formats::Look::Idle ? Words::tr("idle %1: %2").arg(duration, cause)
                                                 : Words::tr("waits %1: %2").arg(duration, cause);
    }
    const QString name = piece.span != timeline::kNoIndex ? inWindowsLanguage(t.strings[t.spans.name[piece.span]])
                                                          : toQString(text.looks[static_cast<std::size_t>(piece.look)]);
    if (piece.look == formats::Look::Waiting)
        return Words::tr("%1 waits %2 for its turn or its peers").arg(name, duration);
    return Words::tr("%1, %2").arg(name, duration);
}

}  // namespace shardscope::gui
