#pragma once

// The configurations of the recordings of FSDP2 (README of the recordings, section 1: "Config fields") as models and
// plans of this program. Shared by the programs that hold whole recordings against the code, and by tests on small
// copies.

#include <string>
#include <vector>

#include "core/base/document.h"
#include "core/base/result.h"
#include "core/model/model.h"
#include "core/model/spec.h"
#include "core/plan/plan.h"
#include "tests/toy_models.h"

namespace shardscope::checkers {

/// A whole file; the error says why it cannot be read.
[[nodiscard]] core::Result<std::string> readFile(const std::string& path);
/// One JSON document a line; empty lines are skipped.
[[nodiscard]] core::Result<std::vector<core::Document>> readJsonLines(const std::string& path);

/// A toy model with the batch it is fed; the defaults are the recordings'.
struct ToySizes {
    tests::ToyModel model;
    std::int64_t batch = 2;
    std::vector<std::string> frozen = {};
};
[[nodiscard]] core::Result<core::Model> toyModel(const ToySizes& sizes, core::DType compute = core::DType::F32);

struct ExpressedCase {
    core::Model model;
    core::Plan plan;
    std::vector<std::string> observed;  ///< modules whose begin and end are recorded, besides the root
};

/// The case as model and plan. An error of code Unsupported names the knob that is missing; its message is just that.
[[nodiscard]] core::Result<ExpressedCase> express(const core::Document& config);
/// The plan of step 1 or 2: some cases change a switch between them.
[[nodiscard]] core::Plan planOfStep(const ExpressedCase& expressed, const core::Document& config, std::int64_t step);

}  // namespace shardscope::checkers
