#include "cli/face/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <tuple>

#include "cli/face/text_picture.h"
#include "cli/face/text_table.h"

namespace shardscope::cli {

using core::Result;

namespace {

constexpr std::int64_t kEachShown = 20;
constexpr std::int64_t kBetweenLines = 5'000'000'000, kBetweenRewrites = 100'000'000;  // ns

std::string minutes(double seconds) {
    const auto all = static_cast<std::int64_t>(std::lround(seconds));
    return all < 3600 ? fmt::format("{}:{:02}", all / 60, all % 60)
                      : fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

tl::unexpected<core::Error> cannotWrite(const std::string& path) {
    return core::fail(core::ErrorCode::Io, "cannot write: " + std::error_code(errno, std::generic_category()).message(),
                      "--log-json " + path, "name a file in a folder that can be written");
}

}  // namespace

Result<std::unique_ptr<Progress>> Progress::create(Options options, Print print) {
    File log(nullptr, &std::fclose);
    if (!options.log.empty()) {
        log.reset(std::fopen(options.log.c_str(), "w"));
        if (log == nullptr) return cannotWrite(options.log);
    }
    return std::unique_ptr<Progress>(new Progress(std::move(options), std::move(print), std::move(log)));
}

Progress::Progress(Options options, Print print, File log)
    : m_options(std::move(options)), m_print(std::move(print)), m_log(std::move(log)) {}

void Progress::add(const runtime::RankStep& step) {
    const std::lock_guard lock(m_mutex);
    Step& sum = m_open[step.step];
    sum.ns = std::max(sum.ns, step.endNs - step.beginNs);
    // The clocks of processes need not be one.
    if (step.rank == 0) std::tie(sum.beginNs, sum.endNs) = std::pair(step.beginNs, step.endNs);
    sum.waitingNs += step.waitingNs;
    sum.peakBytes = std::max(sum.peakBytes, step.peakBytes);
    if (step.loss) {
        sum.loss += *step.loss;
        ++sum.losses;
    }
    if (++sum.reported < m_options.ranks) return;
    Step done = sum;
    m_open.erase(step.step);
    if (done.losses > 0) done.loss /= static_cast<double>(done.losses);
    if (!m_began) m_beganNs = done.beginNs;
    write(step.step, done);
    if (!m_options.quiet) tell(step.step, done);
    m_began = true;
}

double Progress::perSecond(std::int64_t samples, std::int64_t ns) const {
    return ns > 0 ? static_cast<double>(samples) * 1e9 / static_cast<double>(ns) : 0;
}

std::string Progress::lineOf(std::int64_t step, const Step& done) const {
    const std::int64_t gone = done.endNs - m_beganNs;
    const double left = static_cast<double>(gone) * 1e-9 * static_cast<double>(m_options.steps - step - 1) /
                        static_cast<double>(step + 1);
    const double waiting = done.ns > 0 ? static_cast<double>(done.waitingNs) / static_cast<double>(done.ns) /
                                             static_cast<double>(m_options.ranks)
                                       : 0;
    return fmt::format("step {:>4}/{}  loss {:.6f}  {}  {} {}s/s  waiting {:.1f} %  memory {}  {}", step + 1,
                       m_options.steps, done.loss, durationText(done.ns),
                       rateText(perSecond((step + 1) * m_options.globalBatch, gone)), m_options.sampleWord,
                       waiting * 100, bytesText(done.peakBytes),
                       step + 1 < m_options.steps ? "ETA " + minutes(left) : minutes(static_cast<double>(gone) * 1e-9));
}

void Progress::tell(std::int64_t step, const Step& done) {
    if (!m_began) keep(m_print(m_options.header));
    const bool last = step + 1 == m_options.steps;
    const bool stays = m_options.steps <= kEachShown || last || (!m_options.terminal && !m_began);
    const std::int64_t between = m_options.terminal ? kBetweenRewrites : kBetweenLines;
    if (!stays && m_began && done.endNs - m_toldNs < between) return;
    m_toldNs = done.endNs;
    const std::string line = lineOf(step, done);
    if (!m_options.terminal) return keep(m_print(line + "\n"));
    // Back to the start of the line, and what was there is cleared.
    keep(m_print("\r" + line + "\x1b[K" + (stays ? "\n" : "")));
    m_lineOpen = !stays;
}

void Progress::write(std::int64_t step, const Step& done) {
    if (m_log == nullptr) return;
    const std::string loss = std::isfinite(done.loss) ? fmt::format("{}", done.loss) : "null";
    const std::string line = fmt::format(
        "{{\"step\": {}, \"loss\": {}, \"step_ns\": {}, \"samples_per_second\": {:.3f}, \"waiting_ns\": {}, "
        "\"peak_bytes\": {}}}\n",
        step + 1, loss, done.ns, perSecond(m_options.globalBatch, done.ns), done.waitingNs, done.peakBytes);
    if (std::fputs(line.c_str(), m_log.get()) < 0 || std::fflush(m_log.get()) != 0) keep(cannotWrite(m_options.log));
}

void Progress::keep(Result<void> result) {
    if (m_result && !result) m_result = std::move(result);
}

Result<void> Progress::finish() {
    const std::lock_guard lock(m_mutex);
    if (m_lineOpen) keep(m_print("\n"));
    m_lineOpen = false;
    return m_result;
}

}  // namespace shardscope::cli
