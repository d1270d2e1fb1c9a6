#include "core/model/module_tree.h"
#include "core/model/spec.h"
#include "core/model/vit.h"
#if __has_include("core/model/decoder.h")
#include "core/model/decoder.h"
#endif
#if __has_include("core/model/shapes_model.h")
#include "core/model/shapes_model.h"
#endif

namespace shardscope::core {
namespace {

struct Build {
    const Workload& workload;

    Result<Model> operator()(const VitSpec& spec) const { return buildVit(spec, workload); }
    Result<Model> operator()(const ModuleTreeSpec& spec) const { return buildModuleTree(spec, workload); }
#if __has_include("core/model/decoder.h")
    Result<Model> operator()(const DecoderSpec& spec) const {
        return buildDecoder(spec, workload);
    }
#else
    Result<Model> operator()(const DecoderSpec& spec) const {
        return fail(ErrorCode::Unsupported, "decoders cannot be built yet", spec.name);
    }
#endif
#if __has_include("core/model/shapes_model.h")
    Result<Model> operator()(const ShapesSpec& spec) const {
        return buildFromShapes(spec, workload);
    }
#else
    Result<Model> operator()(const ShapesSpec& spec) const {
        return fail(ErrorCode::Unsupported, "models known by their shapes cannot be built yet", spec.name);
    }
#endif
};

}  // namespace

Result<Model> buildModel(const ModelSpec& spec, const Workload& workload) {
    return std::visit(Build{workload}, spec);
}

}  // namespace shardscope::core
