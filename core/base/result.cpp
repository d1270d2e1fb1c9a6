#include "core/base/result.h"

#include "core/base/printable.h"

namespace shardscope::core {

std::string describe(const Error& error) {
    std::string text = error.where.empty() ? "" : printable(error.where) + ": ";
    text += printable(error.message);
    if (!error.hint.empty()) text += "\n  " + printable(error.hint);
    return text;
}

}  // namespace shardscope::core
