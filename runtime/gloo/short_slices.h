#pragma once

// How long the scheduler lets a thread that computes go on while one that communicates has woken. Linux gives every
// thread a slice of one to three milliseconds, as long as many a transfer; since 6.12 a thread may ask for a shorter
// one (sched_setattr, sched_runtime of an ordinary thread) and is then let in at once when it wakes. It gets no more of
// the cores for it. Older kernels ignore the wish.

namespace shardscope::runtime {

/// For as long as it lives, this thread and those it starts have short slices.
class ShortSlices {
public:
    ShortSlices();
    ~ShortSlices();
    ShortSlices(const ShortSlices&) = delete;
    ShortSlices& operator=(const ShortSlices&) = delete;
};

/// From now on.
void keepShortSlices();

}  // namespace shardscope::runtime
