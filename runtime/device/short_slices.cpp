#include "runtime/device/short_slices.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace shardscope::runtime {

namespace {

// The shortest that Linux grants.
constexpr std::uint64_t kShort = 100'000;  // ns

/// The kernel's struct sched_attr, its first version; the C library of Debian 12 does not declare it.
struct SchedulerAttributes {
    std::uint32_t size = 48, policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0, deadline = 0, period = 0;
};
static_assert(sizeof(SchedulerAttributes) == 48);

/// Gives the calling thread this slice, in ns; returns the one that it had. Where that is refused, or the thread is
/// under a policy that its user chose, all stays as it was.
std::uint64_t setSlice(std::uint64_t ns) {
    SchedulerAttributes attributes;
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0 || attributes.policy != 0) return 0;
    const std::uint64_t before = attributes.runtime;
    if (before == ns) return before;
    attributes.size = sizeof(attributes);
    attributes.runtime = ns;
    attributes.deadline = attributes.period = 0;
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
    return before;
}

}  // namespace

ShortSlices::ShortSlices() : m_before(setSlice(kShort)) {}

ShortSlices::~ShortSlices() {
    (void)setSlice(m_before);
}

void keepShortSlices() {
    (void)setSlice(kShort);
}

}  // namespace shardscope::runtime
