#pragma once

// What describes a model before its shapes are worked out, and the one function that builds it. Readers of files
// (config.json, safetensors headers, module-tree files) end in one of these.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/document.h"
#include "core/model/model.h"

namespace shardscope::core {

/// torchvision's VisionTransformer (framework semantics 8.1).
struct VitSpec {
    std::string name = "vit";
    std::int64_t imageSize = 224, patchSize = 16, channels = 3, classes = 1000;
    std::int64_t layers = 12, heads = 12, hidden = 768, mlp = 3072;
    friend bool operator==(const VitSpec&, const VitSpec&) = default;
};

/// A decoder of the llama family or GPT-2, as transformers builds it (framework semantics 9.3).
struct DecoderSpec {
    std::string name = "llama";
    std::string modelType = "llama";  ///< llama, mistral, qwen2, qwen3, gpt2
    std::int64_t vocab = 0, hidden = 0, intermediate = 0, layers = 0, heads = 0, kvHeads = 0, headDim = 0;
    std::int64_t positions =
        0;  ///< GPT-2's n_positions; the default sequence length elsewhere (max_position_embeddings)
    bool tiedEmbeddings = false;
    bool attentionBias = false;  ///< on q, k, v and o
    bool qkvBias = false;        ///< on q, k, v only (qwen2)
    bool mlpBias = false;
    bool qkNorm = false;  ///< qwen3
    double normEpsilon = 1e-6;
    std::int64_t slidingWindow = 0;  ///< tokens that a query looks back on; 0: all of them
    /// GPT-2 alone, as stacks for pre-training run it: GELU is one kernel each way (transformers writes eight).
    bool fusedGelu = false;
    /// GPT-2 alone: the loss is one kernel each way, in the logits' dtype (transformers casts them to fp32).
    bool fusedLoss = false;
    /// Where a probability above 0 stands in the config: embd_pdrop, attn_pdrop (attention_dropout), resid_pdrop.
    struct Dropout {
        bool embedding = false, attention = false, residual = false;
        friend bool operator==(const Dropout&, const Dropout&) = default;
        /// What a workload makes of it.
        [[nodiscard]] Dropout under(Workload::Dropout how) const {
            if (how == Workload::Dropout::Config) return *this;
            const bool on = how == Workload::Dropout::On;
            return {on, on, on};
        }
    } dropout;
    friend bool operator==(const DecoderSpec&, const DecoderSpec&) = default;
};

/// Any other model of transformers that is known: its config.json as it was read, from which the model is built
/// (core/model/hf_model.h).
struct HfSpec {
    std::string name;
    std::string file;  ///< of the config, for messages
    Document config;
    friend bool operator==(const HfSpec&, const HfSpec&) = default;
};

/// One module of a module-tree file: kind, name, parameters, children in call order (docs/model-tree.md).
struct ModuleTreeSpec;

/// Named shapes of safetensors headers: a stack with a GEMM per 2-D weight and nothing else.
struct ShapesSpec {
    std::string name;
    struct Entry {
        std::string name;
        Shape shape;
        DType dtype = DType::F32;
        friend bool operator==(const Entry&, const Entry&) = default;
    };
    std::vector<Entry> entries;
    friend bool operator==(const ShapesSpec&, const ShapesSpec&) = default;
};

/// A tree of modules written by hand; every module is one of the kinds of docs/model-tree.md. The model is read as a
/// stack: the root's children run in order, each is a layer.
struct ModuleTreeSpec {
    struct Node {
        std::string
            kind;  ///< linear, embedding, layer_norm, rms_norm, attention, gelu, residual, scale, position, sequence
        std::string name;                                       ///< relative to its parent
        std::vector<std::pair<std::string, Shape>> parameters;  ///< in registration order
        std::vector<std::pair<std::string, double>> numbers;    ///< heads, eps, ...
        std::string tiedTo;          ///< full name of another module whose weight this one uses; usually empty
        std::vector<Node> children;  ///< in call order
        friend bool operator==(const Node&, const Node&) = default;
    };
    std::string name;
    std::int64_t vocab = 0;     ///< classes of the loss
    std::int64_t sequence = 0;  ///< default tokens per sample
    Node root;
    friend bool operator==(const ModuleTreeSpec&, const ModuleTreeSpec&) = default;
};

using ModelSpec = std::variant<VitSpec, DecoderSpec, ModuleTreeSpec, ShapesSpec, HfSpec>;

/// Models whose kernels were held against recordings also under dropout and autocast: torchvision's vision
/// transformers, llama's family and GPT-2. Others know neither.
[[nodiscard]] bool isRecorded(const ModelSpec& spec);

/// Builds modules, parameters, programs and layers. Errors: dropout or autocast of a model that is not isRecorded,
/// sizes that are zero, negative or too large (any tensor over 2^62 bytes), heads that do not divide, an image that the
/// patch does not divide, a tree that is no stack.
[[nodiscard]] Result<Model> buildModel(const ModelSpec& spec, const Workload& workload);

}  // namespace shardscope::core
