#include "runtime/cpu/loops.h"

#include "runtime/cpu/instruction_sets.h"

namespace shardscope::runtime::cpu {

std::vector<const Loops*> runnableLoops() {
    std::vector<const Loops*> runnable{&baseline::compiledLoops()};
#if defined(SHARDSCOPE_X86_64_LOOPS)
    if (hasAvx2()) runnable.push_back(&avx2::compiledLoops());
    if (hasAvx2() && hasAvx512()) runnable.push_back(&avx512::compiledLoops());
#endif
    return runnable;
}

const Loops& loops() {
    static const Loops& best = *runnableLoops().back();
    return best;
}

}  // namespace shardscope::runtime::cpu
