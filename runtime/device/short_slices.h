#pragma once

// How long the scheduler lets a thread go on while another one has woken. Linux gives every thread a slice of one to
// three milliseconds, as long as many a transfer; since 6.12 a thread may ask for a shorter one (sched_setattr,
// sched_runtime of an ordinary thread). It is then let in at once when it wakes, and lets others in soon; it gets no
// more of the cores. So do threads that move data, and hosts that issue ops; kernels keep theirs. Older kernels ignore
// the wish.

#include <cstdint>

namespace shardscope::runtime {

/// For as long as it lives, this thread and those it starts have short slices; then this one has what it had.
class ShortSlices {
public:
    ShortSlices();
    ~ShortSlices();
    ShortSlices(const ShortSlices&) = delete;
    ShortSlices& operator=(const ShortSlices&) = delete;

private:
    std::uint64_t m_before = 0;  ///< ns
};

/// For this thread, from now on.
void keepShortSlices();

}  // namespace shardscope::runtime
