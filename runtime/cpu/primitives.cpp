#include "runtime/cpu/primitives.h"

#include <fmt/format.h>
#include <dnnl.hpp>

#include <map>
#include <mutex>
#include <unordered_map>

#include "runtime/cpu/cpu_kernels.h"
#include "runtime/cpu/instruction_sets.h"
#include "runtime/cpu/views.h"

namespace shardscope::runtime::cpu {

using core::Result;

struct Primitives::Made {
    struct Gelu {
        dnnl::memory::desc values;
        dnnl::eltwise_forward forward;
        dnnl::eltwise_backward backward;
    };
    struct Product {
        dnnl::memory::desc a, b, bias, c;
        dnnl::matmul primitive;
    };
    std::mutex mutex;  ///< of all below
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    std::unordered_map<std::int64_t, Gelu> gelus;  ///< by count
    std::map<MatrixProduct, Product> products;

    const Gelu& geluOf(std::int64_t count) {
        if (const auto found = gelus.find(count); found != gelus.end()) return found->second;
        constexpr auto kExact = dnnl::algorithm::eltwise_gelu_erf;
        const dnnl::memory::desc values({count}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
        const dnnl::eltwise_forward::primitive_desc forward(
            dnnl::eltwise_forward::desc(dnnl::prop_kind::forward_training, kExact, values), engine);
        const dnnl::eltwise_backward::primitive_desc backward(dnnl::eltwise_backward::desc(kExact, values, values),
                                                              engine, forward);
        return gelus.emplace(count, Gelu{values, dnnl::eltwise_forward(forward), dnnl::eltwise_backward(backward)})
            .first->second;
    }
    const Product& productOf(const MatrixProduct& of) {
        if (const auto found = products.find(of); found != products.end()) return found->second;
        using Tag = dnnl::memory::format_tag;
        const auto type = of.dtype == core::DType::BF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
        const dnnl::memory::desc a({of.m, of.k}, type, of.transposeA ? Tag::ba : Tag::ab),
            b({of.k, of.n}, type, of.transposeB ? Tag::ba : Tag::ab), c({of.m, of.n}, type, Tag::ab),
            bias = of.bias ? dnnl::memory::desc({1, of.n}, type, Tag::ab) : dnnl::memory::desc();
        const dnnl::matmul::primitive_desc made(
            of.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c), engine);
        return products.emplace(of, Product{a, b, bias, c, dnnl::matmul(made)}).first->second;
    }
    /// oneDNN takes no pointers to what it only reads.
    dnnl::memory memoryOf(const dnnl::memory::desc& desc, const void* values) {
        return {desc, engine, const_cast<void*>(values)};
    }
};

namespace {

/// oneDNN throws.
template <class Work>
Result<bool> tried(const char* what, const Work& work) {
    try {
        work();
        return true;
    } catch (const dnnl::error& error) {
        return outcomeOf(error.status, what);
    }
}

}  // namespace

Result<bool> outcomeOf(int status, std::string_view what) {
    if (status == dnnl_success) return true;
    if (status == dnnl_unimplemented) return false;
    const bool full = status == dnnl_out_of_memory;
    return core::fail(core::ErrorCode::Unsupported,
                      fmt::format("oneDNN cannot compute {}: {}", what,
                                  full ? "no memory is left" : fmt::format("its status is {}", status)),
                      {},
                      full ? "Free memory, or take fewer ranks on this machine or a smaller batch."
                           : "Run with --device reference, which computes without oneDNN.");
}

Primitives::Primitives() : m_made(std::make_unique<Made>()) {}
Primitives::~Primitives() = default;

Result<bool> Primitives::gelu(const float* x, float* y, std::int64_t count) {
    const std::lock_guard lock(m_made->mutex);
    return tried("GELU", [&] {
        const Made::Gelu& made = m_made->geluOf(count);
        made.forward.execute(m_made->stream, {{DNNL_ARG_SRC, m_made->memoryOf(made.values, x)},
                                              {DNNL_ARG_DST, m_made->memoryOf(made.values, y)}});
        m_made->stream.wait();
    });
}

Result<bool> Primitives::geluGrad(const float* dy, const float* x, float* dx, std::int64_t count) {
    const std::lock_guard lock(m_made->mutex);
    return tried("GELU's gradient", [&] {
        const Made::Gelu& made = m_made->geluOf(count);
        made.backward.execute(m_made->stream, {{DNNL_ARG_DIFF_DST, m_made->memoryOf(made.values, dy)},
                                               {DNNL_ARG_SRC, m_made->memoryOf(made.values, x)},
                                               {DNNL_ARG_DIFF_SRC, m_made->memoryOf(made.values, dx)}});
        m_made->stream.wait();
    });
}

Result<bool> Primitives::multiply(const MatrixProduct& product, const std::byte* a, const std::byte* b,
                                  const std::byte* bias, std::byte* c) {
    if (product.m == 0 || product.n == 0) return true;
    const std::lock_guard lock(m_made->mutex);
    return tried("a product", [&] {
        const Made::Product& made = m_made->productOf(product);
        std::unordered_map<int, dnnl::memory> operands{{DNNL_ARG_SRC, m_made->memoryOf(made.a, a)},
                                                       {DNNL_ARG_WEIGHTS, m_made->memoryOf(made.b, b)},
                                                       {DNNL_ARG_DST, m_made->memoryOf(made.c, c)}};
        if (product.bias) operands.emplace(DNNL_ARG_BIAS, m_made->memoryOf(made.bias, bias));
        made.primitive.execute(m_made->stream, operands);
        m_made->stream.wait();
    });
}

bool multipliesBfloat16() {
    return hasAvx512();
}

Result<bool> gelu(Primitives& primitives, const KernelCall& call) {
    if (call.inputs.empty() || call.outputs.empty()) return false;
    const float* x = floatsOf(call.inputs[0]);
    float* y = floatsOf(call.outputs[0]);
    const std::int64_t count = call.outputs[0].elements();
    if (x == nullptr || y == nullptr || count == 0 || call.inputs[0].elements() != count) return false;
    return primitives.gelu(x, y, count);
}

Result<bool> geluGrad(Primitives& primitives, const KernelCall& call) {
    if (call.inputs.size() < 2 || call.outputs.empty()) return false;
    const float *dy = floatsOf(call.inputs[0]), *x = floatsOf(call.inputs[1]);
    float* dx = floatsOf(call.outputs[0]);
    const std::int64_t count = call.outputs[0].elements();
    if (dy == nullptr || x == nullptr || dx == nullptr || count == 0 || call.inputs[0].elements() != count ||
        call.inputs[1].elements() != count)
        return false;
    return primitives.geluGrad(dy, x, dx, count);
}

}  // namespace shardscope::runtime::cpu
