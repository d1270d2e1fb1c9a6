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

Result<Model> buildModel(const ModelSpec& spec, const Workload& workload) {
    SHARDSCOPE_ASSIGN(Model model, std::visit(Build{workload}, spec));
    SHARDSCOPE_TRY(freeze(model, workload.frozen));
    return model;
}

}  // namespace shardscope::core
