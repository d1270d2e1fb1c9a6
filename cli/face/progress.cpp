#include "cli/face/progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <system_error>
#include <tuple>
#include <vector>

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

core::Error cannotWrite(const std::string& path, int error) {
    const char* hint = "";
    if (error == ENOSPC || error == EDQUOT) hint = "free some space, or name a file on another disk";
    if (error == ENXIO) hint = "start what reads this pipe first, or name a regular file";
    if (error == EPIPE) hint = "keep what reads this pipe open";
    if (error == ENOENT || error == ENOTDIR || error == EISDIR || error == EACCES || error == EPERM || error == EROFS)
        hint = "name a file in a folder that can be written";
    return {core::ErrorCode::Io, "cannot write: " + std::error_code(error, std::generic_category()).message(),
            "--log-json " + path, hint};
}

/// Null: see errno.
std::FILE* openLog(const std::string& path) {
    struct stat info {};
    const bool direct = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
    if (!direct) return std::fopen(path.c_str(), "we");
    // Without O_NONBLOCK a pipe that nobody reads would be waited for, for ever.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return nullptr;
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return ::fdopen(descriptor, "w");
}

/// errno of what failed, or 0. A reader that is gone is an error of the write, and no signal.
int writeLine(std::FILE* file, const std::string& line) {
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const int error = std::fputs(line.c_str(), file) < 0 || std::fflush(file) != 0 ? errno : 0;
    int taken = 0;
    if (error == EPIPE && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1) ::sigwait(&pipe, &taken);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return error;
}

/// The fields that fit, at least the first; what tells least goes first.
std::string fitting(std::vector<std::string> fields, const std::vector<std::size_t>& droppedFirst, std::size_t width) {
    const auto joined = [&] {
        std::string line;
        for (const std::string& field : fields)
            if (!field.empty()) line += (line.empty() ? "" : "  ") + field;
        return line;
    };
    std::string line = joined();
    for (const std::size_t field : droppedFirst) {
        if (line.size() <= width) break;
        fields[field].clear();
        line = joined();
    }
    return line;
}

}  // namespace

Result<std::unique_ptr<Progress>> Progress::create(Options options, Print print, Complain complain) {
    File log(nullptr, &std::fclose);
    if (!options.log.empty()) {
        log.reset(openLog(options.log));
        if (log == nullptr) return tl::unexpected(cannotWrite(options.log, errno));
    }
    if (!options.quiet && !options.header.empty()) SHARDSCOPE_TRY(print(options.header));
    return std::unique_ptr<Progress>(
        new Progress(std::move(options), std::move(print), std::move(complain), std::move(log)));
}

Progress::Progress(Options options, Print print, Complain complain, File log)
    : m_options(std::move(options)),
      m_print(std::move(print)),
      m_complain(std::move(complain)),
      m_log(std::move(log)) {}

void Progress::add(const runtime::RankStep& step) {
    const std::lock_guard lock(m_mutex);
    Step& sum = m_open[step.step];
    sum.ns = std::max(sum.ns, step.endNs - step.beginNs);
    // The clocks of processes need not be one.
    if (step.rank == 0) std::tie(sum.beginNs, sum.endNs) = std::pair(step.beginNs, step.endNs);
    sum.exposedNs += step.exposedNs;
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
    const auto share = [&](std::int64_t ns) {
        return done.ns > 0
                   ? 100 * static_cast<double>(ns) / static_cast<double>(done.ns) / static_cast<double>(m_options.ranks)
                   : 0;
    };
    const std::vector<std::string> fields{
        fmt::format("step {:>4}/{}", step + 1, m_options.steps),
        fmt::format("loss {:.6f}", done.loss),
        durationText(done.ns),
        rateText(perSecond(m_options.globalBatch, done.ns)) + " " + m_options.sampleWord + "s/s",
        fmt::format("exposed {:.1f} %", share(done.exposedNs)),
        fmt::format("waiting {:.1f} %", share(done.waitingNs)),
        "memory " + bytesText(done.peakBytes),
        step + 1 < m_options.steps ? "ETA " + minutes(left) : minutes(static_cast<double>(gone) * 1e-9)};
    if (!m_options.terminal) return fitting(fields, {}, 0);
    // A line that fills the last column wraps on some terminals.
    return fitting(fields, {6, 4, 5, 3, 2, 7, 1}, static_cast<std::size_t>(std::max(m_options.width, 2) - 1));
}

void Progress::tell(std::int64_t step, const Step& done) {
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
        "{{\"step\": {}, \"loss\": {}, \"step_ns\": {}, \"samples_per_second\": {:.3f}, \"exposed_ns\": {}, "
        "\"waiting_ns\": {}, "
        "\"peak_bytes\": {}}}\n",
        step + 1, loss, done.ns, perSecond(m_options.globalBatch, done.ns), done.exposedNs, done.waitingNs,
        done.peakBytes);
    if (const int error = writeLine(m_log.get(), line); error != 0) logFailed(error);
}

void Progress::logFailed(int error) {
    m_log.reset();
    m_logged = false;
    if (m_lineOpen) keep(m_print("\n"));
    m_lineOpen = false;
    if (m_complain) m_complain(cannotWrite(m_options.log, error));
}

void Progress::keep(Result<void> result) {
    if (m_result && !result) m_result = std::move(result);
}

Result<void> Progress::finish() {
    const std::lock_guard lock(m_mutex);
    if (m_lineOpen) keep(m_print("\n"));
    m_lineOpen = false;
    if (m_log != nullptr && std::fclose(m_log.release()) != 0) logFailed(errno);
    return m_result;
}

}  // namespace shardscope::cli
