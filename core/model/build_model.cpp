#include "core/model/decoder.h"
#include "core/model/freeze.h"
#include "core/model/hf_model.h"
#include "core/model/module_tree.h"
#include "core/model/shapes_model.h"
#include "core/model/spec.h"
#include "core/model/vit.h"

namespace shardscope::core {
namespace {

struct Build {
    const Workload& workload;

    Result<Model> operator()(const VitSpec& spec) const { return buildVit(spec, workload); }
    Result<Model> operator()(const DecoderSpec& spec) const { return buildDecoder(spec, workload); }
    Result<Model> operator()(const ModuleTreeSpec& spec) const { return buildModuleTree(spec, workload); }
    Result<Model> operator()(const HfSpec& spec) const { return buildHfModel(spec, workload); }
    Result<Model> operator()(const ShapesSpec& spec) const { return buildFromShapes(spec, workload); }
};

}  // namespace

bool isRecorded(const ModelSpec& spec) {
    if (const auto* hf = std::get_if<HfSpec>(&spec)) {
        const Document* type = hf->config.find("model_type");
        return type != nullptr && type->kind == Document::Kind::Text && type->text == "gpt2";
    }
    return std::holds_alternative<VitSpec>(spec) || std::holds_alternative<DecoderSpec>(spec);
}

Result<Model> buildModel(const ModelSpec& spec, const Workload& workload) {
    const bool drops = workload.dropout == Workload::Dropout::On;
    if ((drops || workload.autocast) && !isRecorded(spec))
        return fail(ErrorCode::Unsupported,
                    std::string(drops ? "dropout" : "autocast") + " of this model is not modelled", {},
                    "choose a vision transformer of torchvision, a model of llama's family or GPT-2");
    SHARDSCOPE_ASSIGN(Model model, std::visit(Build{workload}, spec));
    SHARDSCOPE_TRY(freeze(model, workload.frozen));
    return model;
}

}  // namespace shardscope::core
