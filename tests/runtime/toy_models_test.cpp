// Models of module-tree files run as well: token ids, residuals, attention, and a head tied to the embedding, whose
// gradient is summed between the two end stages.

#include "core/model/module_tree.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace testing;

core::ModuleTreeSpec example(const std::string& name) {
    std::ifstream file(std::string(SHARDSCOPE_SOURCE_DIR) + "/examples/models/" + name);
    std::ostringstream text;
    text << file.rdbuf();
    const auto document = core::parseToml(text.str(), name);
    EXPECT_TRUE(document) << (document ? "" : core::describe(document.error()));
    if (!document) return {};
    auto spec = core::readModuleTree(*document, name);
    EXPECT_TRUE(spec) << (spec ? "" : core::describe(spec.error()));
    return spec ? std::move(*spec) : core::ModuleTreeSpec{};
}

TrainConfig prepared(TrainConfig config, const core::ModuleTreeSpec& spec) {
    config.model = spec;
    config.steps = 4;
    config.optimizer.learningRate = 1e-2;
    config.keepGradients = true;
    const std::int64_t tokens = spec.sequence, vocab = spec.vocab;
    config.samples = [tokens, vocab](std::int64_t, std::int64_t first, std::int64_t count) -> core::Result<Batch> {
        Batch batch;
        for (std::int64_t i = first * tokens; i < (first + count) * tokens; ++i) {
            batch.ids.push_back(i * 7 % vocab);
            batch.labels.push_back((i * 5 + 3) % vocab);
        }
        return batch;
    };
    config.parameters = formulaParameters(modelFor(config), 0);
    return config;
}

void expectAgreement(const std::string& file) {
    const core::ModuleTreeSpec spec = example(file);
    const TrainConfig reference = prepared(single(4), spec);
    const core::Model model = modelFor(reference);
    const TrainReport expected = train(reference);
    ASSERT_EQ(expected.losses.size(), 4u);
    EXPECT_LT(expected.losses.back(), expected.losses.front());
    std::vector<std::pair<std::string, TrainConfig>> ways{{"naive on 2", naive(4, 2)},
                                                          {"naive on 3, micro-batches", naive(4, 3, 2)},
                                                          {"fsdp on 2", fsdp(4, 2)},
                                                          {"fsdp on 4", fsdp(4, 4)},
                                                          {"fsdp on 2 in each of 2 naive stages", fsdp(4, 2)}};
    ways.back().second.plan.schedule = core::StageSchedule::Naive;
    ways.back().second.plan.mesh.pp = 2;
    for (const auto& [name, way] : ways) {
        SCOPED_TRACE(file + ", " + name);
        const TrainReport report = train(prepared(way, spec));
        ASSERT_EQ(report.losses.size(), 4u);
        for (std::size_t t = 0; t < 4; ++t)
            EXPECT_NEAR(report.losses[t] / expected.losses[t], 1.0, 2e-6) << "step " << t;
        TrainConfig once = prepared(way, spec), referenceOnce = reference;
        once.steps = referenceOnce.steps = 1;
        const ParameterValues gradients = train(once).gradients, expectedGradients = train(referenceOnce).gradients;
        ASSERT_EQ(gradients.size(), expectedGradients.size());
        for (std::size_t p = 0; p < gradients.size(); ++p)
            EXPECT_LE(relativeDistance(gradients[p], expectedGradients[p]), 2e-6) << model.parameters[p].name;
    }
}

TEST(ToyModels, AgreeBetweenStrategies) {
    expectAgreement("toy_mlp.toml");
}

TEST(ToyModels, SumTheGradientsOfATiedWeight) {
    expectAgreement("toy_tied.toml");
}

}  // namespace
}  // namespace shardscope::runtime
