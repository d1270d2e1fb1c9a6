#include <fmt/format.h>

#include "core/model/hf_model.h"
#include "core/scenario/resolve.h"

namespace shardscope::core {
namespace {

struct Size {
    std::string_view key;
    std::int64_t value;
    std::int64_t* of;  ///< null: this kind of model has no such size
};

}  // namespace

Result<ModelSpec> withOverrides(const ModelSpec& spec, const Scenario& scenario) {
    ModelSpec changed = spec;
    const auto& m = scenario.model;
    auto* vit = std::get_if<VitSpec>(&changed);
    auto* decoder = std::get_if<DecoderSpec>(&changed);
    auto* hf = std::get_if<HfSpec>(&changed);
    const auto in = [](auto* owner, auto member) -> std::int64_t* {
        return owner != nullptr ? &(owner->*member) : nullptr;
    };
    const auto either = [](std::int64_t* a, std::int64_t* b) { return a != nullptr ? a : b; };
    const bool ownHeadDim =
        decoder != nullptr && decoder->heads > 0 && decoder->headDim * decoder->heads != decoder->hidden;
    const bool grouped = decoder != nullptr && decoder->kvHeads != decoder->heads;
    const Size sizes[] = {
        {"layers", m.layers, either(in(vit, &VitSpec::layers), in(decoder, &DecoderSpec::layers))},
        {"hidden", m.hidden, either(in(vit, &VitSpec::hidden), in(decoder, &DecoderSpec::hidden))},
        {"heads", m.heads, either(in(vit, &VitSpec::heads), in(decoder, &DecoderSpec::heads))},
        {"mlp", m.mlp, either(in(vit, &VitSpec::mlp), in(decoder, &DecoderSpec::intermediate))},
        {"kv_heads", m.kvHeads, in(decoder, &DecoderSpec::kvHeads)},
        {"head_dim", m.headDim, in(decoder, &DecoderSpec::headDim)},
        {"vocab", m.vocab, in(decoder, &DecoderSpec::vocab)},
        {"image_size", m.imageSize, in(vit, &VitSpec::imageSize)},
        {"patch_size", m.patchSize, in(vit, &VitSpec::patchSize)},
        {"channels", m.channels, in(vit, &VitSpec::channels)},
        {"classes", m.classes, in(vit, &VitSpec::classes)},
    };
    bool any = false;
    for (const Size& size : sizes) {
        if (size.value == 0) continue;
        any = true;
        const std::string place = scenario.placeOf(fmt::format("model.{}", size.key));
        if (hf != nullptr) {
            if (!setSize(*hf, size.key, size.value))
                return fail(ErrorCode::Input, "this model's config.json states no such size", place,
                            "change the sizes in the model's own file");
            continue;
        }
        if (size.of == nullptr)
            return fail(ErrorCode::Input, "this model has no such size", place,
                        vit != nullptr ? "a vision transformer has layers, hidden, heads, mlp, image_size, patch_size, "
                                         "channels and classes"
                        : decoder != nullptr
                            ? "a language model has layers, hidden, heads, kv_heads, head_dim, mlp and vocab"
                            : "change the sizes in the model's own file");
        *size.of = size.value;
    }
    if (decoder != nullptr && any) {
        // Sizes that followed another one go on following it.
        if (m.kvHeads == 0 && !grouped) decoder->kvHeads = decoder->heads;
        if (m.headDim == 0 && !ownHeadDim && decoder->heads > 0) {
            if (decoder->hidden % decoder->heads != 0)
                return fail(ErrorCode::Input,
                            fmt::format("hidden {} is not divisible by {} heads", decoder->hidden, decoder->heads),
                            scenario.placeOf(m.heads != 0 ? "model.heads" : "model.hidden"),
                            "choose sizes that divide, or give model.head_dim");
            decoder->headDim = decoder->hidden / decoder->heads;
        }
        if (decoder->kvHeads > 0 && decoder->heads % decoder->kvHeads != 0)
            return fail(
                ErrorCode::Input, fmt::format("{} kv_heads do not divide {} heads", decoder->kvHeads, decoder->heads),
                scenario.placeOf(m.kvHeads != 0 ? "model.kv_heads" : "model.heads"), "choose sizes that divide");
    }
    return changed;
}

}  // namespace shardscope::core
