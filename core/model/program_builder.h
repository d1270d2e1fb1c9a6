#pragma once

// Emits programs. Each operation appends its forward kernels and records how its backward goes; `finish` walks these
// records from the last to the first, which is the order in which PyTorch's autograd engine runs a chain of nodes, and
// sums gradients that meet at one tensor with Add kernels. So a model is written once, as its forward pass, and what is
// saved for backward follows from what backward kernels read.
//
//     ProgramBuilder b("mlp block", "Block", workload.dtype);
//     const TensorId x = b.input({B, S, h});
//     TensorId y;
//     { auto scope = b.in("norm", "LayerNorm");
//       y = b.layerNorm(x, b.parameter("norm.weight", {h}), b.parameter("norm.bias", {h}), 1e-5); }
//     ...
//     Result<Program> program = b.finish(b.add(x, y));

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/model/model.h"
#include "core/model/program.h"
#include "core/model/tensor_layout.h"

namespace shardscope::core {

class ProgramBuilder {
public:
    using AttentionKind = Workload::AttentionKind;

    /// `type` is the class of the layer's own module, to which kernels belong outside of any scope.
    ProgramBuilder(std::string name, std::string type, DType dtype);
    /// With the workload's dtype and rules.
    ProgramBuilder(std::string name, std::string type, const Workload& workload);
    ProgramBuilder(const ProgramBuilder&) = delete;
    ProgramBuilder& operator=(const ProgramBuilder&) = delete;

    /// While it lives, kernels belong to the module that it was made for.
    class Scope {
    public:
        Scope(ProgramBuilder& builder, std::uint16_t module) : m_builder(builder), m_before(builder.m_module) {
            builder.m_module = module;
        }
        ~Scope() { m_builder.m_module = m_before; }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

    private:
        ProgramBuilder& m_builder;
        std::uint16_t m_before;
    };
    /// Module by its name relative to the layer's module; the type counts the first time.
    [[nodiscard]] Scope in(std::string_view name, std::string_view type);

    // Operands that come from outside. Dtype of inputs and parameters: the builder's; under autocast that is fp32, and
    // weights of products are taken to be there in the products' dtype.
    TensorId input(Shape shape) { return input(std::move(shape), m_dtype); }
    TensorId input(Shape shape, DType dtype);
    TensorId batch(std::uint32_t slot, Shape shape, DType dtype);
    TensorId shared(std::string name, Shape shape, DType dtype);
    /// `name` is relative to the layer's module. The same name gives the same tensor; slots count in order of first
    /// mention.
    TensorId parameter(std::string_view name, const Shape& shape);

    // Views; none is a kernel. `reshape` copies if the strides do not allow a view, as PyTorch's does.
    TensorId reshape(TensorId x, const Shape& shape);
    TensorId permute(TensorId x, const std::vector<std::size_t>& order);
    TensorId transpose(TensorId x, std::size_t a, std::size_t b);
    TensorId select(TensorId x, std::size_t dimension, std::int64_t index);
    std::vector<TensorId> split(TensorId x, std::size_t dimension, const std::vector<std::int64_t>& sizes);
    TensorId slice(TensorId x, std::size_t dimension, std::int64_t begin, std::int64_t size);
    /// Repeats a dimension of size 1 without copying; its gradient is a sum.
    TensorId expand(TensorId x, std::size_t dimension, std::int64_t count);

    // Operations. All are differentiable in their activations and parameters.
    TensorId contiguous(TensorId x);      ///< itself, or a copy in the order of its dimensions
    TensorId clone(TensorId x);           ///< always a contiguous copy
    TensorId cast(TensorId x, DType to);  ///< itself if it has that dtype; keeps the order of dimensions in memory
    /// The result has the wider dtype of the two.
    TensorId add(TensorId a, TensorId b);
    /// Zeroes elements by chance: saves one byte for each (on a CPU, the factors in x's dtype).
    TensorId dropout(TensorId x);
    /// fp32 under autocast, where the operation at hand runs in it; otherwise x itself.
    TensorId widened(TensorId x) { return m_product == m_dtype ? x : cast(x, m_dtype); }
    TensorId concat(const std::vector<TensorId>& parts, std::size_t dimension);
    TensorId scale(TensorId x, double factor);
    /// x [.., in] times W [out, in] plus the bias, if valid. As in PyTorch a bias is part of the GEMM (addmm) if x is
    /// contiguous or has two dimensions; otherwise x is folded, with a copy where it does not fold, and the bias added
    /// apart.
    TensorId linear(TensorId x, TensorId weight, TensorId bias = {});
    /// The same with W [in, out] (transformers' Conv1D).
    TensorId conv1d(TensorId x, TensorId weight, TensorId bias);
    TensorId patchEmbed(TensorId images, TensorId weight, TensorId bias);
    TensorId embedding(TensorId ids, TensorId weight);
    TensorId concatToken(TensorId token, TensorId x);
    TensorId addBroadcast(TensorId x, TensorId p, bool inPlace = false);
    /// torch.nn.RMSNorm: one fused kernel, with fp32 statistics.
    TensorId rmsNorm(TensorId x, TensorId weight, double epsilon);
    TensorId layerNorm(TensorId x, TensorId weight, TensorId bias, double epsilon);
    TensorId gelu(TensorId x);
    TensorId scaleVector(TensorId x, TensorId vector);
    /// Over the last dimension; the result in `to` if given.
    TensorId softmax(TensorId x, std::string_view op = "_safe_softmax", std::optional<DType> to = {});
    TensorId batchedGemm(TensorId a, TensorId b);
    /// q [B,heads,S,d], k and v [B,kvHeads,S,d] -> [B,heads,S,d]. Math: unfused, in fp32 (16-bit operands are cast),
    /// with the scale's root on q and on k. Eager: unfused, in its own dtype, the softmax giving fp32 if
    /// `wideSoftmax`.
    /// Where fewer key-value heads cannot be, they are repeated. With dropout unfused forms keep a mask; fused ones
    /// draw it again in backward, but for the CPU's, which has none and gives way to Math.
    TensorId attention(TensorId q, TensorId k, TensorId v, bool causal, AttentionKind kind, bool wideSoftmax = true,
                       bool withDropout = false);
    /// logits [.., V] and labels, one for each row -> mean loss, a scalar.
    TensorId crossEntropy(TensorId logits, TensorId labels);

    /// Gradient of one operand of an element-wise operation: one kernel `op` over dy and `reads`; without `op`, dy
    /// itself. An invalid id in `reads` stands for the operation's result.
    struct PointwiseGradient {
        TensorId of;
        std::string_view op;
        std::vector<TensorId> reads;
    };
    /// An Elementwise kernel whose result has the shape and layout of its first input, in the given dtype.
    TensorId pointwise(std::string_view op, const std::vector<TensorId>& inputs, DType dtype,
                       std::vector<PointwiseGradient> gradients);

    // For operations that the list above lacks: tensors, kernels, and what backward does.
    TensorId tensor(std::string_view name, Shape shape, DType dtype);
    TensorId tensorLike(std::string_view name, TensorId like, DType dtype);  ///< dense, dimensions ordered as in `like`
    Kernel& emit(KernelKind kind, std::string_view op, std::vector<TensorId> inputs, std::vector<TensorId> outputs);
    /// Makes a kernel that of a GEMM, `b` products of [m,k] x [k,n], and counts its FLOPs.
    void shapeOfGemm(Kernel& kernel, std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t k) {
        multiply(kernel, b, m, n, k);
    }
    /// A tensor that many layers read (an encoder's output): each adds its gradient to the shared one.
    TensorId sharedWithGradient(const std::string& name, Shape shape, DType dtype);
    /// Makes an intermediate result the shared tensor of that name, whose gradient the layers that read it have summed.
    TensorId share(TensorId x, const std::string& name);
    /// Records a node of the autograd graph. `backward` runs if one of `inputs` needs a gradient and one of `outputs`
    /// has got one; it reads gradientOf(output) and calls addGradient(input, ..). The module in scope is restored for
    /// it.
    void record(const std::vector<TensorId>& outputs, const std::vector<TensorId>& inputs,
                std::function<void()> backward);
    [[nodiscard]] bool needsGradient(TensorId id) const { return m_needsGradient[id.index()] != 0; }
    [[nodiscard]] TensorId gradientOf(TensorId id) const { return m_gradients[id.index()]; }
    /// Sets the gradient of a tensor, or adds to it; nothing if it needs none. Inside a node it takes effect at its
    /// end: autograd adds a node's results to what is there when the node has let go of all that it read.
    void addGradient(TensorId of, TensorId gradient);

    /// Valid until the next tensor is made.
    [[nodiscard]] const Tensor& at(TensorId id) const { return m_program.tensors[id.index()]; }
    /// A copy: new tensors move the table that `at` refers into.
    [[nodiscard]] Shape shapeOf(TensorId id) const { return at(id).shape; }
    [[nodiscard]] DType dtype() const { return m_dtype; }
    [[nodiscard]] DType widerOf(TensorId a, TensorId b) const {
        return sizeOf(at(b).dtype) > sizeOf(at(a).dtype) ? at(b).dtype : at(a).dtype;
    }
    [[nodiscard]] bool cpuRules() const { return m_cpuRules; }
    /// A tensor was too large: shapes are no longer true, and `finish` will fail.
    [[nodiscard]] bool tooLarge() const { return m_tooLarge; }

    /// Ends the forward pass with `output`, emits the backward pass and hands out the program.
    /// Errors: a tensor beyond 2^62 bytes, a kernel beyond 2^62 FLOPs.
    [[nodiscard]] Result<Program> finish(TensorId output);

private:
    struct Node {
        std::vector<TensorId> outputs;
        std::function<void()> backward;
        std::uint16_t module = 0;
    };

    TensorId append(Tensor tensor, bool needsGradient);
    TensorId viewOf(TensorId x, std::string_view kind, Shape shape, Strides strides, std::int64_t offset);
    TensorId narrow(TensorId x, std::size_t dimension, std::int64_t begin, std::int64_t size);
    TensorId copyOf(TensorId x, std::string_view op, DType dtype, bool keepOrder);
    TensorId gemm(TensorId x, TensorId weight, TensorId bias, bool weightTransposed);
    TensorId fusedAttention(TensorId q, TensorId k, TensorId v, bool causal, AttentionKind kind, bool withDropout);
    TensorId eagerAttention(TensorId q, TensorId k, TensorId v, bool causal, bool wideSoftmax, bool withDropout);
    TensorId mathAttention(TensorId q, TensorId k, TensorId v, bool causal, bool withDropout);
    /// x in the dtype of products; weights and biases are taken to be there in it.
    TensorId factor(TensorId x);
    /// What dropout drops of all elements: GPT-2's probability. Neither shapes nor prices depend on it.
    static constexpr double kDropped = 0.1;
    static void drawn(Kernel& kernel, std::uint16_t draw) {
        kernel.scalar = kDropped;
        kernel.draw = draw;
    }
    TensorId repeatHeads(TensorId x, std::int64_t times);
    void multiply(Kernel& kernel, std::int64_t b, std::int64_t m, std::int64_t n, std::int64_t k, double products = 1);
    /// The owner of the memory of `id`, if `id` is all of it, contiguous and with no role yet; otherwise a copy.
    TensorId owned(TensorId id);

    Program m_program;
    DType m_dtype;
    DType m_product;  // of products; under autocast another one
    bool m_cpuRules = false;
    std::uint16_t m_module = 0;
    bool m_inBackward = false, m_inNode = false;
    std::uint32_t m_node = 0;  // of backward's kernels
    bool m_tooLarge = false;
    std::uint16_t m_draws = 0;
    std::vector<char> m_needsGradient;  // by tensor
    std::vector<TensorId> m_gradients;  // by tensor
    std::vector<Node> m_tape;
    std::vector<std::pair<TensorId, TensorId>> m_results;  // of the node at hand: tensors and their gradients
    std::vector<TensorId> m_parameters;                    // by slot
    std::vector<std::pair<TensorId, TensorId>> m_sums;     // shared tensors and their gradients, which are added to
    TensorId m_input;
    std::unordered_map<std::string, int> m_names;  // how often a tensor's name was asked for
};

}  // namespace shardscope::core
