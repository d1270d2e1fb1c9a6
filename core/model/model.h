#pragma once

// A model: a tree of modules with exact parameter names and shapes, and a stack of layers that run one after another.
//
// Layers are the pieces between which a pipeline could cut and which run in order: embedding, blocks, final norm, head,
// and the loss. Parts of one layer can belong to different FSDP units (units may be nested in a block), which is why
// every kernel names its module.

#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/program.h"

namespace shardscope::core {

/// A node of the module tree. Children are in PyTorch's registration order, which need not be the order in which they
/// run (a llama block's norms are registered last): layers tell that one. Parameters of a unit come in post-order over
/// registration order, children before a module's own direct parameters (framework semantics 1.1).
struct Module {
    std::string name;  ///< full dotted name; the root's is empty
    std::string type;  ///< PyTorch's class name
    ModuleId parent;
    std::vector<ModuleId> children;       ///< in registration order
    std::vector<ParameterId> parameters;  ///< direct ones, in registration order
};

struct Parameter {
    std::string name;  ///< "encoder.layers.encoder_layer_0.mlp.0.weight"
    Shape shape;
    ModuleId module;      ///< the module that first registered it; a tied parameter appears in several modules' lists
    bool tied = false;    ///< used by more than one module; counted once in every total
    bool frozen = false;  ///< requires_grad is false: no gradient, no optimizer state
};

/// A mixture of experts: each token runs through `active` of `count`.
struct Experts {
    std::int64_t count = 0, active = 0;
    std::int64_t routedParameters = 0;  ///< elements of all routed experts of all layers; the shared ones are not in it
};

enum class LayerKind : std::uint8_t { Embedding, Block, Norm, Head, Loss };

struct Layer {
    std::string name;  ///< module name ("transformer.h.3"), "loss" for the loss
    LayerKind kind = LayerKind::Block;
    ModuleId module;  ///< root of the layer's modules; the model's root module if the kernels belong to it; none for
                      ///< the loss
    ProgramId program;
    std::vector<ParameterId> parameters;  ///< by the program's parameter slot
    std::vector<ModuleId> modules;        ///< by Kernel::module: the model's module for each of Program::modules
};

/// What one step feeds a rank: the shapes of every program follow from it.
struct Workload {
    std::int64_t batch = 1;     ///< samples (images or sequences) of one micro-batch of one rank
    std::int64_t sequence = 0;  ///< tokens of a sequence; 0 for images (the model knows its own)
    DType dtype = DType::F32;   ///< dtype of parameters in compute, activations and raw gradients (FSDP2's param_dtype)
    enum class AttentionKind : std::uint8_t {
        Flash,      ///< the fused kernels of scaled_dot_product_attention: FlashAttention 2,
        Efficient,  ///< memory-efficient attention, which takes no grouped heads,
        Cudnn,      ///< cuDNN's,
        Cpu,        ///< and the one of the CPU
        Math,       ///< its unfused form, in fp32
        Eager,      ///< transformers' own: two products in the model's dtype and a softmax
        Flash1,     ///< the flash-attn package's first version
        Flash3,     ///< and its third
    } attention = AttentionKind::Flash;
    bool fusedRmsNorm = false;  ///< torch.nn.RMSNorm in place of transformers' kernel by kernel
    enum class Dropout : std::uint8_t { Config, On, Off } dropout = Dropout::Config;  ///< Config: as the model's says
    /// PyTorch's dtype rules on a CPU: a layer norm keeps its statistics, and dropout its mask, in the input's dtype.
    bool cpuRules = false;
    /// torch.autocast: `dtype` is that of matrix products and attention, all else is fp32, and weights are cast where
    /// they are used. Only for models of isRecorded (core/model/spec.h).
    bool autocast = false;

    /// Modules and parameters that are not trained, by full name (core/model/freeze.h).
    std::vector<std::string> frozen;

    friend bool operator==(const Workload&, const Workload&) = default;
};

struct Model {
    std::string name;             ///< "vit_b_16", or the file's name
    std::string family;           ///< "vit", "llama", "gpt2", "module tree", "safetensors"
    Workload workload;            ///< what the programs were made for
    std::vector<Module> modules;  ///< [0] is the root
    std::vector<Parameter> parameters;
    std::vector<Program> programs;
    std::vector<Layer> layers;          ///< in order of execution, the loss last
    std::string sampleWord = "sample";  ///< "image", "sequence"
    std::int64_t tokensPerSample = 0;   ///< sequence length for language models, 0 otherwise
    Experts experts;                    ///< count 0: every parameter takes part for every token
    std::vector<std::string>
        caveats;  ///< said with every answer ("no attention: only the shapes of the weights are known")

    [[nodiscard]] const Program& programOf(const Layer& layer) const { return programs[layer.program.index()]; }
};

/// Elements of all parameters, tied ones once.
[[nodiscard]] std::int64_t parameterCount(const Model& model);
/// Those that take part for one token: all but the routed experts that a token does not run through.
[[nodiscard]] std::int64_t activeParameterCount(const Model& model);
/// The module of that full name, or none.
[[nodiscard]] ModuleId findModule(const Model& model, std::string_view name);
/// By ParameterId: whether layers [begin, end) read it in the dtype of products, to which autocast casts it. All false
/// without autocast.
[[nodiscard]] std::vector<bool> castByAutocast(const Model& model, LayerId begin, LayerId end);
/// FLOPs of one micro-batch: sums over the kernel lists.
[[nodiscard]] Flops forwardFlops(const Model& model);
[[nodiscard]] Flops backwardFlops(const Model& model);

}  // namespace shardscope::core
