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
        std::string header;                 ///< printed before the first line
        bool terminal = false;              ///< one line, written over and over; else a line every five seconds
        bool quiet = false;                 ///< no lines
        std::string log;                    ///< file for one JSON object a step; empty: none
    };
    using Print = std::function<core::Result<void>(std::string_view text)>;

    /// Opens the log. Errors: it cannot be written.
    static core::Result<std::unique_ptr<Progress>> create(Options options, Print print);

    /// From any rank's thread. A step is told once every rank has done it; of 20 steps and fewer each keeps its line.
    void add(const runtime::RankStep& step);
    /// The first error of printing or writing.
    core::Result<void> finish();

private:
    struct Step {
        std::int64_t reported = 0, losses = 0, ns = 0, waitingNs = 0, peakBytes = 0;
        std::int64_t beginNs = 0, endNs = 0;  ///< of rank 0
        double loss = 0;
    };
    using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

    Progress(Options options, Print print, File log);
    void tell(std::int64_t step, const Step& done);
    void write(std::int64_t step, const Step& done);
    [[nodiscard]] std::string lineOf(std::int64_t step, const Step& done) const;
    [[nodiscard]] double perSecond(std::int64_t samples, std::int64_t ns) const;
    void keep(core::Result<void> result);

    Options m_options;
    Print m_print;
    File m_log;
    std::mutex m_mutex;
    std::map<std::int64_t, Step> m_open;  ///< steps that some ranks have done
    std::int64_t m_beganNs = 0, m_toldNs = 0;
    bool m_began = false, m_lineOpen = false;
    core::Result<void> m_result;
};

}  // namespace shardscope::cli
