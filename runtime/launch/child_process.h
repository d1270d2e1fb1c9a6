#pragma once

// A process that this one has started, and the lines that it writes.

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "runtime/rendezvous/socket.h"

namespace shardscope::runtime {

class ChildProcess {
public:
    /// Starts `program`; both outputs go to one pipe, the input is empty. Errors: it cannot be started.
    static core::Result<ChildProcess> start(const std::string& program, const std::vector<std::string>& arguments,
                                            const std::vector<std::string>& environment);

    /// To be waited for together with others.
    [[nodiscard]] int output() const { return m_output.descriptor(); }
    /// Hands over the whole lines that have come; at the end, or when `all`, the rest too.
    void readLines(const std::function<void(const std::string&)>& line, bool all = false);
    /// Looks whether it has ended.
    [[nodiscard]] bool ended();
    /// "was ended by signal 9 (Killed)", "ended with exit code 3"; empty if it ended well.
    [[nodiscard]] std::string howItEnded() const;
    [[nodiscard]] bool endedBySignal() const;
    void signal(int number) const;

private:
    ChildProcess(pid_t id, Socket output) : m_id(id), m_output(std::move(output)) {}

    pid_t m_id;
    Socket m_output;  ///< a pipe's end
    std::string m_line;
    bool m_ended = false;
    int m_status = 0;
};

}  // namespace shardscope::runtime
