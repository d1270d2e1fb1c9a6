#include "runtime/calibrate/processor_time.h"

#include <time.h>

namespace shardscope::runtime {

namespace {

std::int64_t timeOf(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

}  // namespace

std::int64_t threadTime() {
    return timeOf(CLOCK_THREAD_CPUTIME_ID);
}

std::int64_t processTime() {
    return timeOf(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace shardscope::runtime
