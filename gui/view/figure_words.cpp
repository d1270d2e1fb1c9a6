#include "gui/view/figure_words.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"
#include "gui/view/messages.h"
#include "gui/view/words.h"

namespace shardscope::gui {

namespace {

class Formula {
    Q_DECLARE_TR_FUNCTIONS(Formula)
};

QString time(std::int64_t ns) {
    return toQString(cli::durationText(ns));
}

QString bytes(std::int64_t count) {
    return toQString(cli::bytesText(count));
}

QString number(std::int64_t count) {
    return toQString(cli::groupedDigits(count));
}

QString wireFormula(const cli::PlanReport& plan) {
    const auto most =
        std::ranges::max_element(plan.classes, {}, [](const cli::ClassReport& one) { return one.transfers.bytes(); });
    const cli::TransferCounts& counts = most->transfers;
    QStringList parts;
    const auto add = [&](std::int64_t times, std::int64_t sent, const QString& what) {
        if (times > 0) parts << QStringLiteral("%1 x %2: %3").arg(number(times), what, bytes(sent));
    };
    add(counts.allGathers, counts.gatherBytes, QStringLiteral("all-gather"));
    add(counts.reduceScatters, counts.reduceBytes, QStringLiteral("reduce-scatter"));
    add(counts.allReduces, counts.allReduceBytes, QStringLiteral("all-reduce"));
    add(counts.sends, counts.sendBytes, Formula::tr("send"));
    if (parts.isEmpty()) return Formula::tr("Nothing is sent.");
    return Formula::tr(
               "What the GPU that sends most (%1) sends in a step: %2; of X bytes among N GPUs a gather or "
               "reduce-scatter sends X (N \u2212 1) / N.")
        .arg(inWindowsLanguage(most->name), parts.join(QStringLiteral(" + ")));
}

}  // namespace

QString figureFormula(Figure figure, const cli::Report& report, const cli::PlanReport& plan) {
    const timeline::Breakdown& all = plan.allRanks;
    const std::int64_t ranks = std::max<std::int64_t>(plan.ranks, 1);
    switch (figure) {
        case Figure::Step:
            return Formula::tr("From the beginning of the step to the end of the last op on any GPU: %1.")
                .arg(time(plan.stepNs));
        case Figure::Throughput:
            return Formula::tr("Samples of a step / step = %1 / %2 = %3.")
                .arg(number(report.globalBatch), time(plan.stepNs), valueText(Unit::PerSecond, plan.samplesPerSecond));
        case Figure::Waiting:
            return Formula::tr("(waiting + idle) of all GPUs / GPUs = (%1 + %2) / %3 = %4.")
                .arg(time(all.waiting), time(all.idle), number(ranks), time(all.gpuWaits() / ranks));
        case Figure::ExposedCommunication:
            return Formula::tr("Transfers with no compute beside them, of all GPUs / GPUs = %1 / %2 = %3.")
                .arg(time(all.transfer), number(ranks), time(all.transfer / ranks));
        case Figure::WireBytes: return wireFormula(plan);
        case Figure::PeakMemory: {
            const cli::ClassReport& tightest = plan.tightest();
            const cli::MemoryVerdict& memory = tightest.memory;
            return Formula::tr(
                       "Of the GPU with the least left (%1): reserved by the allocator + CUDA context + NCCL's "
                       "buffers = %2 + %3 + %4 = %5.")
                .arg(inWindowsLanguage(tightest.name), bytes(memory.step.reserved.value),
                     bytes(memory.reserve.context.value), bytes(memory.reserve.communication.value),
                     bytes(memory.needed()));
        }
    }
    return {};
}

QString fitFormula(const cli::PlanReport& plan) {
    const cli::MemoryVerdict& memory = plan.tightest().memory;
    return Formula::tr("Usable \u2212 needed = %1 \u2212 %2 = %3.")
        .arg(bytes(memory.reserve.usable.value), bytes(memory.needed()), bytes(memory.left()));
}

QString differenceFormula(const DifferenceRow& row, std::size_t plan, std::size_t base) {
    const QString first = valueText(row.unit, row.values[base]), other = valueText(row.unit, row.values[plan]);
    QString text =
        QStringLiteral("%1 \u2212 %2 = %3").arg(other, first, signedText(row.unit, row.difference(plan, base)));
    if (row.values[base] != 0)
        text += QStringLiteral("\n%1 / %2 = %3").arg(other, first).arg(row.ratio(plan, base), 0, 'g', 3);
    return text;
}

QString sharesFormula(const cli::PlanReport& plan, bool ofRun) {
    const timeline::Breakdown& all = plan.allRanks;
    const auto share = [&](const QString& what, std::int64_t part) {
        return QStringLiteral("%1 / %2 = %3 / %4 = %5 %")
            .arg(what, Formula::tr("step"), time(part), time(all.step))
            .arg(100 * plan.shareOf(part), 0, 'f', 1);
    };
    return QStringList{
        (ofRun ? Formula::tr("Sums over all ranks (%1):") : Formula::tr("Sums over all GPUs (%1):"))
            .arg(number(plan.ranks)),
        share(Formula::tr("compute"), all.compute), share(Formula::tr("exposed transfers"), all.transfer),
        share(Formula::tr("exposed copies"), all.copy), share(Formula::tr("waiting + idle"), all.gpuWaits())}
        .join(u'\n');
}

}  // namespace shardscope::gui
