#include "runtime/launch/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

namespace shardscope::runtime {

using core::ErrorCode;
using core::Result;

namespace {

constexpr std::size_t kLongestLine = 4096;

std::vector<char*> pointersTo(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::string& program, const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& environment) {
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return core::fail(ErrorCode::Io, "no pipe for a rank: " + std::system_category().message(errno), {},
                          "start fewer --ranks, or raise the limit of open files (ulimit -n)");
    Socket from(ends[0]), to(ends[1]);
    fcntl(from.descriptor(), F_SETFL, O_NONBLOCK);
    std::vector<std::string> argumentWords = arguments, environmentWords = environment;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, to.descriptor(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, to.descriptor(), STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // The launcher holds signals back while it runs; its children must not.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t id = -1;
    const int error = posix_spawn(&id, program.c_str(), &actions, &attributes, pointersTo(argumentWords).data(),
                                  pointersTo(environmentWords).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        return core::fail(ErrorCode::Io, "cannot start a rank: " + std::system_category().message(error), program,
                          "start fewer --ranks, or raise the limit of processes (ulimit -u)");
    return ChildProcess(id, std::move(from));
}

void ChildProcess::readLines(const std::function<void(const std::string&)>& line, bool all) {
    char buffer[4096];
    ssize_t got = 0;
    while (m_output.open() &&
           ((got = read(m_output.descriptor(), buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR)))
        for (ssize_t i = 0; i < got; ++i) {
            if (buffer[i] != '\n') m_line += buffer[i];
            if (buffer[i] != '\n' && m_line.size() < kLongestLine) continue;
            line(m_line);
            m_line.clear();
        }
    if (got == 0) m_output = Socket();
    if ((all || !m_output.open()) && !m_line.empty()) {
        line(m_line);
        m_line.clear();
    }
}

bool ChildProcess::ended() {
    if (m_ended) return true;
    const pid_t got = waitpid(m_id, &m_status, WNOHANG);
    m_ended = got == m_id || (got < 0 && errno == ECHILD);
    return m_ended;
}

bool ChildProcess::endedBySignal() const {
    return m_ended && WIFSIGNALED(m_status);
}

std::string ChildProcess::howItEnded() const {
    if (endedBySignal())
        return fmt::format("was ended by signal {} ({})", WTERMSIG(m_status), strsignal(WTERMSIG(m_status)));
    if (WIFEXITED(m_status) && WEXITSTATUS(m_status) != 0)
        return fmt::format("ended with exit code {}", WEXITSTATUS(m_status));
    return {};
}

void ChildProcess::signal(int number) const {
    if (!m_ended) kill(m_id, number);  // not waited for, so the number is still its own
}

}  // namespace shardscope::runtime
