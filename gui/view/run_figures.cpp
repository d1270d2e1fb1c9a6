#include "gui/view/run_figures.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "gui/view/messages.h"
#include "gui/view/words.h"

namespace shardscope::gui {

namespace {

class RunWords {
    Q_DECLARE_TR_FUNCTIONS(RunWords)
};

// What ops are called beside collectives, which keep their names in every language.
[[maybe_unused]] constexpr const char* kMarked[] = {
    QT_TRANSLATE_NOOP("RunWords", "forward"),         QT_TRANSLATE_NOOP("RunWords", "backward"),
    QT_TRANSLATE_NOOP("RunWords", "recompute"),       QT_TRANSLATE_NOOP("RunWords", "optimizer"),
    QT_TRANSLATE_NOOP("RunWords", "gather copy-in"),  QT_TRANSLATE_NOOP("RunWords", "copy-out"),
    QT_TRANSLATE_NOOP("RunWords", "reduce copy-in"),  QT_TRANSLATE_NOOP("RunWords", "reduce copy-out"),
    QT_TRANSLATE_NOOP("RunWords", "divide"),          QT_TRANSLATE_NOOP("RunWords", "add gradient"),
    QT_TRANSLATE_NOOP("RunWords", "optimizer step"),  QT_TRANSLATE_NOOP("RunWords", "send"),
    QT_TRANSLATE_NOOP("RunWords", "receive"),         QT_TRANSLATE_NOOP("RunWords", "memory copy"),
    QT_TRANSLATE_NOOP("RunWords", "host work"),       QT_TRANSLATE_NOOP("RunWords", "keep slice"),
    QT_TRANSLATE_NOOP("RunWords", "cast parameters"), QT_TRANSLATE_NOOP("RunWords", "loss"),
    QT_TRANSLATE_NOOP("RunWords", "reduction"),       QT_TRANSLATE_NOOP("RunWords", "other")};

std::vector<cli::RunFigure> figuresOf(const ShownPlan& shown) {
    if (shown.ofRun()) return shown.answer->figures[shown.index];
    const cli::PlanReport& plan = shown.plan();
    std::vector<timeline::Breakdown> breakdown;
    std::int64_t peak = 0;
    for (const cli::ClassReport& one : plan.classes) {
        breakdown.push_back(one.times);
        peak = std::max(peak, one.memory.step.hostOrder.total.value);
    }
    return cli::runFigures(static_cast<double>(plan.stepNs), cli::meanTimes(plan.timeline, breakdown), peak);
}

Unit unitOf(const cli::FigureRow& row) {
    return row.bytes ? Unit::Bytes : Unit::Nanoseconds;
}

}  // namespace

std::vector<cli::FigureRow> runRowsOf(std::span<const ShownPlan> plans) {
    std::vector<std::vector<cli::RunFigure>> figures;
    for (const ShownPlan& shown : plans) figures.push_back(figuresOf(shown));
    return cli::figureRows(figures);
}

QString runFigureName(const std::string& what) {
    if (what == "step") return RunWords::tr("Step");
    if (what == "compute") return RunWords::tr("Compute");
    if (what == "exposed transfer") return RunWords::tr("Exposed transfers");
    if (what == "exposed copies") return RunWords::tr("Exposed copies");
    if (what == "waiting") return RunWords::tr("Waiting");
    if (what == "idle") return RunWords::tr("Idle");
    if (what == "peak memory") return RunWords::tr("Peak memory");
    if (!what.starts_with(cli::kOpsFigure)) return toQString(what);
    const std::string name = what.substr(cli::kOpsFigure.size());
    return RunWords::tr("Ops: %1").arg(RunWords::tr(name.c_str()));
}

QString runFigureMeaning(const std::string& what) {
    if (what == "step")
        return RunWords::tr(
            "From the beginning of the first rank to the end of the last; measured: the median of the steps, without "
            "the first two where there are more.");
    if (what == "peak memory") return RunWords::tr("The most that a rank's allocator counts at one moment of a step.");
    if (what.starts_with(cli::kOpsFigure))
        return RunWords::tr(
            "How long a mean rank's ops of this kind take together, also beside others; transfers from the arrival of "
            "the last member on.");
    return RunWords::tr(
        "Of a mean rank. Predicted, compute, exposed transfers, exposed copies, waiting and idle add up to the step; "
        "measured they need not, because the measured step is a median.");
}

QString runPeakFormula(const std::string& plan, std::span<const cli::RunFigure> figures) {
    const auto peak = std::ranges::find(figures, std::string("peak memory"), &cli::RunFigure::what);
    const QString counted = peak != figures.end() ? valueText(Unit::Bytes, peak->value) : QStringLiteral("-");
    if (plan == cli::kMeasured)
        return RunWords::tr(
                   "The curve is what the graph holds between the measured instants of its ops. The allocators of the "
                   "run counted at most %1 on a rank, in the host's order.")
            .arg(counted);
    return RunWords::tr(
               "The curve is what the graph holds between the predicted instants of its ops. Predicted for the "
               "allocator, in the host's order: at most %1 on a rank.")
        .arg(counted);
}

QString runValueText(const cli::FigureRow& row, std::size_t plan) {
    return valueText(unitOf(row), row.values[plan]);
}

QString runDifferenceText(const cli::FigureRow& row, std::size_t plan, std::size_t base) {
    const double difference = row.values[plan] - row.values[base];
    if (difference == 0) return RunWords::tr("the same");
    const QString size = signedText(unitOf(row), difference);
    if (row.values[base] == 0) return size;
    const double percent = 100 * difference / row.values[base];
    return QStringLiteral("%1, %2%3 %")
        .arg(size, percent < 0 ? QStringLiteral("\u2212") : QStringLiteral("+"))
        .arg(std::abs(percent), 0, 'f', 1);
}

}  // namespace shardscope::gui
