// Policy `none`: every parameter of the stage is there whole, with one gradient in the dtype that it is made in, or
// under autocast in the original one.

#include "core/graph/whole_rules.h"

namespace shardscope::core {

namespace {

class NoneRules final : public WholeRules {
public:
    explicit NoneRules(ClassContext& context)
        : WholeRules(context, context.model.workload.autocast ? context.plan.precision.original
                                                              : context.plan.precision.compute()) {}

    void endBackward() override { whole(m_c.firstUnit).gradientsStay = true; }
};

}  // namespace

std::unique_ptr<UnitRules> makeNoneRules(ClassContext& context) {
    return std::make_unique<NoneRules>(context);
}

}  // namespace shardscope::core
