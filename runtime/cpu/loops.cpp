#include "runtime/cpu/loops.h"

#include <dnnl.h>

namespace shardscope::runtime::cpu {

const Loops& loops() {
    // What oneDNN calls avx512_core is F, BW, DQ, VL; its values are sets of bits, each holding those below it.
    static const Loops& best = []() -> const Loops& {
        const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
        const auto has = [&](unsigned bits) { return (isa & bits) == bits; };
        if (has(dnnl_cpu_isa_avx512_core)) return avx512::compiledLoops();
        return has(dnnl_cpu_isa_avx2) ? avx2::compiledLoops() : baseline::compiledLoops();
    }();
    return best;
}

}  // namespace shardscope::runtime::cpu
