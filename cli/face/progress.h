#pragma once

// What is told while a training runs: a line on the terminal, or some lines in a file, and every step as JSON.

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "runtime/train/train.h"

namespace shardscope::cli {

class Progress {
public:
    struct Options {
        std::int64_t steps = 1, ranks = 1, globalBatch = 1;
        std::string sampleWord = "sample";  ///< "image"
        std::string header;                 ///< printed at once
        bool terminal = false;              ///< one line, written over and over; else a line every five seconds
        int width = 100;                    ///< columns of the terminal; a line that is written over fits
        bool quiet = false;                 ///< no lines
        std::string log;                    ///< file for one JSON object a step; empty: none
    };
    using Print = std::function<core::Result<void>(std::string_view text)>;
    using Complain = std::function<void(const core::Error& error)>;

    /// Opens the log and prints the header. `complain` hears of a log that fails later, once and when it does. Errors:
    /// the log cannot be written.
    static core::Result<std::unique_ptr<Progress>> create(Options options, Print print, Complain complain = {});

    /// From any rank's thread. A step is told once every rank has done it; of 20 steps and fewer each keeps its line.
    void add(const runtime::RankStep& step);
    /// The first error of printing.
    core::Result<void> finish();
    /// Whether every step is in the log, after `finish`.
    [[nodiscard]] bool logged() const { return m_logged; }

private:
    struct Step {
        std::int64_t reported = 0, losses = 0, ns = 0, exposedNs = 0, waitingNs = 0, peakBytes = 0;
        std::int64_t beginNs = 0, endNs = 0;  ///< of rank 0
        double loss = 0;
    };
    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

    Progress(Options options, Print print, Complain complain, File log);
    void tell(std::int64_t step, const Step& done);
    void write(std::int64_t step, const Step& done);
    [[nodiscard]] std::string lineOf(std::int64_t step, const Step& done) const;
    [[nodiscard]] double perSecond(std::int64_t samples, std::int64_t ns) const;
    void keep(core::Result<void> result);
    void logFailed(int error);

    Options m_options;
    Print m_print;
    Complain m_complain;
    File m_log;
    std::mutex m_mutex;
    std::map<std::int64_t, Step> m_open;  ///< steps that some ranks have done
    std::int64_t m_beganNs = 0, m_toldNs = 0;
    bool m_began = false, m_lineOpen = false, m_logged = true;
    core::Result<void> m_result;
};

}  // namespace shardscope::cli
