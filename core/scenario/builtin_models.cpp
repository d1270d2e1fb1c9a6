#include "core/scenario/builtin_models.h"

#include <fmt/format.h>

#include "core/base/nearest.h"
#include "core/model/named_decoders.h"
#include "core/model/vit.h"

namespace shardscope::core {

std::vector<std::string> builtinModelNames() {
    std::vector<std::string> names;
    for (const std::string_view name : vitNames()) names.emplace_back(name);
    for (const std::string_view name : decoderNames()) names.emplace_back(name);
    return names;
}

Result<ModelSpec> builtinModel(std::string_view name, const std::string& where) {
    if (const auto vit = namedVit(name)) return *vit;
    if (const auto decoder = namedDecoder(name)) return *decoder;
    const std::string meant = nearest(name, builtinModelNames());
    std::string hint = "did you mean \"" + meant + "\"?";
    if (meant.empty()) {
        const std::string like = alikeInWords(name, builtinModelNames());
        hint =
            (like.empty() ? "" : like + "; ") + "`shardscope models` lists them; a file or folder can be given instead";
    }
    return fail(ErrorCode::Input, fmt::format("no built-in model \"{}\"", name.substr(0, 60)), where, std::move(hint));
}

}  // namespace shardscope::core
