#include "runtime/cpu/instruction_sets.h"

#include <dnnl.h>

namespace shardscope::runtime::cpu {

namespace {

/// oneDNN's values are sets of bits, each holding those of the instruction sets below it. On another processor than an
/// x86-64 it names none of them.
[[maybe_unused]] bool oneDnnHas(unsigned bits) {
    return (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & bits) == bits;
}

}  // namespace

#if defined(__x86_64__)
bool hasAvx2() {
    return oneDnnHas(dnnl_cpu_isa_avx2) && __builtin_cpu_supports("fma") != 0;
}
bool hasAvx512() {
    return oneDnnHas(dnnl_cpu_isa_avx512_core);
}
#else
bool hasAvx2() {
    return false;
}
bool hasAvx512() {
    return false;
}
#endif

}  // namespace shardscope::runtime::cpu
