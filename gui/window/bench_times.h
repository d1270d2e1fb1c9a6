#pragma once

// What the benchmarks measure with: the clock on the wall, and this process's time on the processors. On a busy machine
// the two differ by what others took; targets are judged by the wall.

#include <ctime>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace shardscope::gui {

struct Elapsed {
    double wall = 0, cpu = 0;  ///< ms
};

class Stopwatch {
public:
    [[nodiscard]] Elapsed elapsed() const {
        return {std::chrono::duration<double, std::milli>(Clock::now() - m_wall).count(), cpuNow() - m_cpu};
    }

private:
    using Clock = std::chrono::steady_clock;
    static double cpuNow() {
        timespec now{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
    }
    Clock::time_point m_wall = Clock::now();
    double m_cpu = cpuNow();
};

class Times {
public:
    void add(const Elapsed& elapsed) { m_all.push_back(elapsed); }
    /// The time that a share of all stays within, by either clock.
    [[nodiscard]] Elapsed at(double share) const {
        const auto place = static_cast<std::size_t>(share * static_cast<double>(m_all.size() - 1) + 0.5);
        Elapsed found;
        for (double Elapsed::*clock : {&Elapsed::wall, &Elapsed::cpu}) {
            std::vector<Elapsed> sorted = m_all;
            std::ranges::sort(sorted, {}, clock);
            found.*clock = sorted[place].*clock;
        }
        return found;
    }

private:
    std::vector<Elapsed> m_all;
};

}  // namespace shardscope::gui
