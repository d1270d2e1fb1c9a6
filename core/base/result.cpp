#include "core/base/result.h"

namespace shardscope::core {

std::string describe(const Error& error) {
    std::string text = error.where.empty() ? error.message : error.where + ": " + error.message;
    if (!error.hint.empty()) text += "\n  " + error.hint;
    return text;
}

}  // namespace shardscope::core
