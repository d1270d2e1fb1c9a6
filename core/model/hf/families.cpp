#include "core/model/hf/families.h"

#include <algorithm>

#include "core/model/hf/decoder_table.h"

namespace shardscope::core {
namespace {

using Feeds = HfFamily::Feeds;

/// Default class names, which must live as long as the table.
std::vector<std::string>& classNames() {
    static std::vector<std::string> names = [] {
        std::vector<std::string> made;
        for (const DecoderRow& row : decoderRows()) made.push_back(std::string(row.classes) + "ForCausalLM");
        return made;
    }();
    return names;
}

std::vector<HfFamily> makeFamilies() {
    const ConfigKeys::Aliases gpt2{{"hidden_size", "n_embd"},
                                   {"max_position_embeddings", "n_positions"},
                                   {"num_attention_heads", "n_head"},
                                   {"num_hidden_layers", "n_layer"}};
    const ConfigKeys::Aliases t5{{"hidden_size", "d_model"},
                                 {"num_attention_heads", "num_heads"},
                                 {"num_hidden_layers", "num_layers"},
                                 {"head_dim", "d_kv"}};
    const ConfigKeys::Aliases none;
    std::vector<HfFamily> families{
        {"gpt2", "GPT2LMHeadModel", describeGpt2, gpt2},
        {"gpt_neo",
         "GPTNeoForCausalLM",
         describeGptNeo,
         {{"num_attention_heads", "num_heads"}, {"num_hidden_layers", "num_layers"}}},
        {"gpt_neox", "GPTNeoXForCausalLM", describeGptNeoX, none},
        {"bloom",
         "BloomForCausalLM",
         describeBloom,
         {{"num_hidden_layers", "n_layer"}, {"num_attention_heads", "n_head"}}},
        {"falcon", "FalconForCausalLM", describeFalcon, none},
        {"mpt",
         "MptForCausalLM",
         describeMpt,
         {{"num_attention_heads", "n_heads"}, {"hidden_size", "d_model"}, {"num_hidden_layers", "n_layers"}}},
        {"opt", "OPTForCausalLM", describeOpt, none},
        {"deepseek_v3", "DeepseekV3ForCausalLM", describeDeepseek, {{"num_local_experts", "n_routed_experts"}}},
        {"bert", "BertForMaskedLM", describeBert, none, Feeds::Text, 512},
        {"roberta", "RobertaForMaskedLM", describeBert, none, Feeds::Text, 510},
        {"xlm-roberta", "XLMRobertaForMaskedLM", describeBert, none, Feeds::Text, 510},
        {"deberta-v2", "DebertaV2ForMaskedLM", describeBert, none, Feeds::Text, 512},
        {"distilbert",
         "DistilBertForMaskedLM",
         describeDistilbert,
         {{"hidden_size", "dim"}, {"num_attention_heads", "n_heads"}, {"num_hidden_layers", "n_layers"}},
         Feeds::Text,
         512},
        {"t5", "T5ForConditionalGeneration", describeT5, t5, Feeds::Text, 512},
        {"mt5", "MT5ForConditionalGeneration", describeT5, t5, Feeds::Text, 512},
        {"bart",
         "BartForConditionalGeneration",
         describeBart,
         {{"num_attention_heads", "encoder_attention_heads"},
          {"hidden_size", "d_model"},
          {"num_hidden_layers", "encoder_layers"}},
         Feeds::Text,
         1024},
        {"whisper",
         "WhisperForConditionalGeneration",
         describeWhisper,
         {{"num_attention_heads", "encoder_attention_heads"},
          {"hidden_size", "d_model"},
          {"num_hidden_layers", "encoder_layers"}},
         Feeds::Text,
         448},
        {"vit", "ViTForImageClassification", describeVit, none, Feeds::Images},
        {"dinov2", "Dinov2ForImageClassification", describeDinov2, none, Feeds::Images},
        {"swin", "SwinForImageClassification", describeSwin, none, Feeds::Images},
        {"clip", "CLIPModel", describeClip, none, Feeds::Text, 77},
        {"wav2vec2", "Wav2Vec2ForCTC", describeWav2vec2, none, Feeds::Audio},
    };
    for (std::size_t i = 0; i < decoderRows().size(); ++i) {
        ConfigKeys::Aliases aliases;
        if (decoderRows()[i].moe != DecoderRow::Moe::None && decoderRows()[i].expertsKey == "num_local_experts")
            aliases.emplace_back("num_experts", "num_local_experts");
        families.push_back({decoderRows()[i].modelType, classNames()[i], describeDecoder, aliases});
    }
    return families;
}

}  // namespace

const std::vector<HfFamily>& hfFamilies() {
    static const std::vector<HfFamily> kFamilies = makeFamilies();
    return kFamilies;
}

const HfFamily* findHfFamily(std::string_view modelType) {
    const auto& families = hfFamilies();
    const auto found = std::find_if(families.begin(), families.end(),
                                    [modelType](const HfFamily& f) { return f.modelType == modelType; });
    return found == families.end() ? nullptr : &*found;
}

}  // namespace shardscope::core
