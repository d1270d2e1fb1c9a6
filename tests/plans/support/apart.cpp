#include "tests/plans/support/apart.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>

namespace shardscope::tests {
namespace {

constexpr std::array<const char*, 4> kStrategies = {"fsdp", "ddp", "naive", "single"};
constexpr std::size_t kMostBroken = 4, kMostJobs = 64;

/// What processes share.
struct Board {
    std::array<std::atomic<std::uint64_t>, kMostJobs> current;
    std::atomic<std::int64_t> refused, brokenCount;
    std::array<std::atomic<std::int64_t>, kStrategies.size()> simulated;
    std::array<std::atomic<std::uint64_t>, kMostBroken> broken;

    void add(std::uint64_t seed) {
        const std::int64_t place = brokenCount++;
        if (place < static_cast<std::int64_t>(kMostBroken)) broken[static_cast<std::size_t>(place)] = seed;
    }
    [[nodiscard]] bool full() const { return brokenCount >= static_cast<std::int64_t>(kMostBroken); }
};

Board* newBoard() {
    void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return new (memory) Board{};
}

std::size_t strategyOf(const Settings& settings) {
    for (const Setting& setting : settings)
        for (std::size_t s = 0; s < kStrategies.size(); ++s)
            if (setting.key == "parallelism.strategy" && setting.value == fmt::format("\"{}\"", kStrategies[s]))
                return s;
    return 0;
}

[[noreturn]] void work(Board& board, std::size_t job, std::uint64_t from, std::uint64_t end, std::uint64_t stride) {
    for (std::uint64_t seed = from; seed < end && !board.full(); seed += stride) {
        board.current[job] = seed;
        alarm(kMostSeconds);
        const Settings settings = drawSettings(seed);
        const Verdict verdict = checkScenario(settings, takesMore(seed));
        if (verdict.broken)
            board.add(seed);
        else if (verdict.refused)
            ++board.refused;
        else
            ++board.simulated[strategyOf(settings)];
    }
    _exit(0);
}

std::string deathOf(int status) {
    if (!WIFSIGNALED(status)) return fmt::format("it left with code {}", WEXITSTATUS(status));
    if (WTERMSIG(status) == SIGALRM) return fmt::format("it took longer than {} seconds", kMostSeconds);
    return fmt::format("it died of signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

}  // namespace

bool takesMore(std::uint64_t seed) {
    return seed % 8 == 0;
}

Verdict checkApart(const Settings& settings, bool more) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) {
        alarm(kMostSeconds);
        const Verdict verdict = checkScenario(settings, more);
        std::string text = verdict.broken    ? "b" + verdict.broken->property + '\0' + verdict.broken->detail
                           : verdict.refused ? "r" + verdict.refusal
                                             : "h";
        text.resize(std::min<std::size_t>(text.size(), 4096));  // a pipe takes that much at once
        const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
        _exit(written ? 0 : 3);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) std::abort();
    Verdict verdict;
    if (status != 0 || text.empty()) {
        verdict.broken = Broken{"a scenario is answered", deathOf(status)};
    } else if (text.front() == 'b') {
        const std::size_t zero = text.find('\0');
        verdict.broken = Broken{text.substr(1, zero - 1), text.substr(std::min(zero + 1, text.size()))};
    } else if (text.front() == 'r') {
        verdict.refused = true;
        verdict.refusal = text.substr(1);
    }
    return verdict;
}

Sweep checkSeeds(std::uint64_t first, std::int64_t count, int jobs) {
    Board& board = *newBoard();
    const auto stride = static_cast<std::uint64_t>(std::clamp<int>(jobs, 1, kMostJobs));
    const std::uint64_t end = first + static_cast<std::uint64_t>(count);
    std::vector<pid_t> children(stride, -1);
    const auto start = [&](std::size_t job, std::uint64_t from) {
        children[job] = fork();
        if (children[job] == 0) work(board, job, from, end, stride);
        if (children[job] < 0) std::abort();
    };
    for (std::size_t job = 0; job < stride; ++job) start(job, first + job);
    for (std::uint64_t running = stride; running > 0;) {
        int status = 0;
        const pid_t child = wait(&status);
        const auto job =
            static_cast<std::size_t>(std::find(children.begin(), children.end(), child) - children.begin());
        if (child < 0 || job == children.size()) std::abort();
        --running;
        if (status == 0) continue;
        board.add(board.current[job]);
        start(job, board.current[job] + stride);
        ++running;
    }
    Sweep sweep;
    sweep.scenarios = count;
    sweep.refused = board.refused;
    for (std::size_t s = 0; s < kStrategies.size(); ++s)
        sweep.simulated.emplace_back(kStrategies[s], board.simulated[s].load());
    for (std::size_t i = 0; i < std::min<std::size_t>(kMostBroken, static_cast<std::size_t>(board.brokenCount)); ++i)
        sweep.broken.push_back(board.broken[i]);
    munmap(&board, sizeof(Board));
    return sweep;
}

}  // namespace shardscope::tests
