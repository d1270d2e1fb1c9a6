#pragma once

// Decoders laid out as llama is: body "model" with embed_tokens, layers and norm; q, k and v projections under
// self_attn; an MLP or a mixture of experts. A row says in what a model type differs; what it leaves out is llama's.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace shardscope::core {

struct DecoderRow {
    std::string_view modelType, classes;  ///< "qwen2", "Qwen2"

    // What transformers takes for missing keys (framework semantics 9.3).
    std::int64_t vocab = 32000, hidden = 4096, intermediate = 11008, layers = 32, heads = 32;
    std::int64_t kvHeads = 0;  ///< 0: as many as heads
    bool nullKvHeads = true;   ///< null is allowed and means as many as heads
    std::int64_t headDim = 0;  ///< 0: hidden / heads
    bool nullHeadDim = true;   ///< null is allowed and means hidden / heads
    bool readsHeadDim = true;
    bool needsKvHeads = false;  ///< a missing key is refused
    std::int64_t positions = 2048;
    bool tied = false;
    std::int64_t padToken = -1;         ///< where the key is missing; it must lie within the vocabulary
    bool windowed = false;              ///< sliding_window is read
    std::int64_t slidingWindow = 4096;  ///< where the key is missing

    // Biases: the key that says so, or none; `always` where there is no key.
    std::string_view biasKey = {};  ///< of q, k, v, and of the output if `outputBias`
    bool biasDefault = false;
    bool outputBias = true;
    std::string_view mlpBiasKey = {};
    bool mlpBiasDefault = false;
    bool headBias = false;

    enum class Norm : std::uint8_t { Rms, Layer, LayerWithoutBias, Plain } norm = Norm::Rms;
    std::string_view normType = "RMSNorm";  ///< after the class prefix; with "=" before it, the whole name
    std::string_view epsilonKey = "rms_norm_eps";
    double epsilon = 1e-6;

    /// Norms before and after attention, before and after the MLP; empty: none.
    std::array<std::string_view, 4> norms{"input_layernorm", "", "post_attention_layernorm", ""};
    std::array<std::uint8_t, 4> normOrder{0, 1, 2, 3};  ///< in which they are registered
    std::string_view finalNorm = "norm";
    std::string_view parallelKey = {};  ///< attention and MLP from one norm, and no second norm
    bool parallel = false;

    enum class QkNorm : std::uint8_t { None, Head, Whole, HeadsTable, HeadLayer, PerHead, Plain } qkNorm = QkNorm::None;
    std::string_view qkNormKey = {};  ///< says whether there is one; empty: always
    bool qkNormNull = false;          ///< null is allowed and means none
    std::string_view queryNorm = "q_norm", keyNorm = "k_norm";

    std::string_view attentionOutput = "o_proj";
    bool packedQkv = false;  ///< phi3: o_proj, qkv_proj
    double rotaryShare = 1;  ///< partial_rotary_factor where the key is missing

    enum class Mlp : std::uint8_t { Gated, Plain, Packed } mlp = Mlp::Gated;
    std::string_view up = "up_proj", down = "down_proj";
    std::string_view activationKey = "hidden_act", activation = "silu";

    // Mixtures of experts. The MLP of a layer that has none takes `denseIntermediateKey`.
    enum class Moe : std::uint8_t { None, Mixtral, Qwen, GptOss, Llama4 } moe = Moe::None;
    std::string_view expertsKey = "num_local_experts";
    std::int64_t experts = 8, expertsPerToken = 2, expertWidth = 0, sharedWidth = 0;
};

[[nodiscard]] std::span<const DecoderRow> decoderRows();
[[nodiscard]] const DecoderRow* findDecoderRow(std::string_view modelType);

}  // namespace shardscope::core
