#pragma once

// The model types of transformers that are known, and how each fills an Architecture from its config. A family of
// decoders that differs from llama by names, norms and defaults is one row of decoder_table.cpp; the others have a
// function each.

#include <string>
#include <string_view>
#include <vector>

#include "core/model/hf/architecture.h"
#include "core/model/hf/config_keys.h"
#include "core/model/spec.h"

namespace shardscope::core {

struct HfRequest {
    std::string modelType;
    std::string cls;    ///< "LlamaForCausalLM"
    Workload workload;  ///< a family sets the sequence where 0 was asked
};

struct HfFamily {
    std::string_view modelType;
    std::string_view defaultClass;  ///< where a config names none
    void (*describe)(Architecture&, ConfigKeys&, HfRequest&);
    ConfigKeys::Aliases aliases;
    enum class Feeds : std::uint8_t { Text, Images, Audio } feeds = Feeds::Text;
    std::int64_t sequence = 0;  ///< tokens of a sequence where neither the config nor the user says; 0: 2048
};

[[nodiscard]] const std::vector<HfFamily>& hfFamilies();
[[nodiscard]] const HfFamily* findHfFamily(std::string_view modelType);

// One function a family that is no row of the table.
void describeDecoder(Architecture& a, ConfigKeys& keys, HfRequest& request);  ///< all rows of decoder_table.h
void describeDeepseek(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeGpt2(Architecture& a, ConfigKeys& keys, HfRequest& request);
/// GPT-2 of those sizes, with a language-model head.
void addGpt2(Architecture& a, const DecoderSpec& spec, const std::string& activation, bool crossAttention);
void describeGptNeo(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeGptNeoX(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeBloom(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeFalcon(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeMpt(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeOpt(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeBert(Architecture& a, ConfigKeys& keys, HfRequest& request);  ///< bert, roberta, deberta-v2
void describeDistilbert(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeT5(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeBart(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeWhisper(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeVit(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeDinov2(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeSwin(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeClip(Architecture& a, ConfigKeys& keys, HfRequest& request);
void describeWav2vec2(Architecture& a, ConfigKeys& keys, HfRequest& request);

// What several of them share.

/// True if the class name ends so.
[[nodiscard]] bool endsIn(const std::string& cls, std::string_view ending);
/// Refuses a class that is none of these endings.
void onlyClasses(ConfigKeys& keys, const std::string& cls, std::initializer_list<std::string_view> endings);
/// Width of a classifier: the length of id2label, else num_labels, else 2.
[[nodiscard]] std::int64_t labelsOf(ConfigKeys& keys);
/// Fills in the request's sequence, and refuses one beyond a table of learnt positions.
void settleSequence(Architecture& a, ConfigKeys& keys, HfRequest& request, std::string_view key, std::int64_t positions,
                    bool learnt);
/// Says that a family's activations were not held against recordings.
void sayUnrecorded(Architecture& a, const HfRequest& request);

/// The batch's token ids, [B, S].
[[nodiscard]] TensorId tokenIds(LayerWriter& w);
/// Layers `blocks`.`from` to `blocks`.`count` - 1, all with one program; none if `from` is no less than `count`.
void addBlocks(Architecture& a, const std::string& blocks, std::int64_t count, const std::string& program,
               const std::string& type, const Forward& forward, std::int64_t from = 0);

/// `lm_head` over the body's hidden states, tied to a table or with a weight of its own, and the causal loss.
void addLanguageHead(Architecture& a, const std::string& name, std::int64_t hidden, std::int64_t vocab,
                     const std::string& tiedTo, bool bias = false, bool fusedLoss = false);
/// `score` on the last token, and its loss.
void addScore(Architecture& a, std::int64_t hidden, std::int64_t labels, bool everyToken);
/// `fused`: decoder_ops.h, fusedCausalLoss.
void addCausalLoss(Architecture& a, bool fused = false);
/// Mean cross entropy of the rows that come in, one label each.
void addRowLoss(Architecture& a);
/// A base model has no loss of its own; the mean of its output stands in.
void addMeanLoss(Architecture& a, const HfRequest& request);

}  // namespace shardscope::core
