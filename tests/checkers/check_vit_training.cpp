// Trains vision transformers on the reference device and compares with recordings of PyTorch's training.
//
//     check_vit_training DIRECTORY [--left-out-at-most N] [--large]
//
// DIRECTORY holds tiny.json, tiny_fsdp.json, vit_tutorial.json, vit_b_16_1ch.json and the tiny_*.safetensors beside
// them. Prints a line per recorded quantity: equal (with the largest difference and the tolerance that the recordings'
// README advises), differs, or not expressible (why). --large adds vit_b_16_1ch, which takes many minutes of plain
// loops. Exit status 1 if anything differs or is missing, or more than N are not expressible.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "core/base/document.h"
#include "core/model/safetensors.h"
#include "core/model/vit.h"
#include "runtime/train/train.h"
#include "tests/checkers/support/outcome.h"

namespace {

using namespace shardscope;
using runtime::ParameterValues;
using runtime::TrainConfig;
using runtime::TrainReport;

int g_equal = 0, g_different = 0, g_notExpressible = 0;

void line(const std::string& name, const char* verdict, const std::string& more) {
    fmt::print("{:<44} {} {}\n", name, verdict, more);
    std::fflush(stdout);
}
void notExpressible(const std::string& name, const std::string& why) {
    ++g_notExpressible;
    line(name, "not expressible:", why);
}
void judge(const std::string& name, double difference, double tolerance) {
    const bool equal = difference <= tolerance;  // false for NaN
    ++(equal ? g_equal : g_different);
    line(name, equal ? "equal  " : "DIFFERS", fmt::format("by {:.2g}, tolerance {:.2g}", difference, tolerance));
}
void broken(const std::string& name, const std::string& why) {
    ++g_different;
    line(name, "DIFFERS:", why);
}

std::string contentOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Tensors {
    std::string bytes;
    core::Result<core::SafetensorsHeader> header = core::fail(core::ErrorCode::Io, "not read");
    explicit Tensors(const std::string& path) : bytes(contentOf(path)) {
        header = core::parseSafetensorsHeader(bytes, static_cast<std::int64_t>(bytes.size()), path);
    }
    [[nodiscard]] std::vector<float> floats(const std::string& name) const {
        auto values = header ? core::readF32(*header, bytes, name) : tl::unexpected(header.error());
        return values ? std::move(*values) : std::vector<float>{};
    }
};

core::Model modelFor(const TrainConfig& config) {
    core::Workload workload;
    workload.batch = config.batch;
    auto model = core::buildModel(config.model, workload);
    return model ? std::move(*model) : core::Model{};
}

ParameterValues parametersFrom(const Tensors& file, const core::Model& model, const std::string& prefix = "") {
    ParameterValues values;
    for (const core::Parameter& parameter : model.parameters) values.push_back(file.floats(prefix + parameter.name));
    return values;
}

double largestLossDifference(const std::vector<double>& losses, const core::Document& recorded) {
    if (losses.size() != recorded.items.size()) return HUGE_VAL;
    double largest = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const double difference = std::fabs(losses[i] - recorded.items[i].number());
        if (!(difference <= largest)) largest = difference;
    }
    return largest;
}

TrainConfig plainConfig(const core::VitSpec& spec, std::int64_t batch) {
    TrainConfig config;
    config.model = spec;
    config.batch = batch;
    config.plan.policy = core::UnitPolicy::None;
    return config;
}

void setOptimizer(TrainConfig& config, bool decoupled, const core::Document* args) {
    config.plan.optimizer = decoupled ? core::OptimizerKind::AdamW : core::OptimizerKind::Adam;
    if (args == nullptr) return;
    if (const auto* value = args->find("lr")) config.optimizer.learningRate = value->number();
    if (const auto* value = args->find("eps")) config.optimizer.epsilon = value->number();
    if (const auto* value = args->find("weight_decay")) config.optimizer.weightDecay = value->number();
    if (const auto* value = args->find("betas")) {
        config.optimizer.beta1 = value->items[0].number();
        config.optimizer.beta2 = value->items[1].number();
    }
}

class Checker {
public:
    explicit Checker(std::string directory) : m_directory(std::move(directory)) {
        const Tensors batch(m_directory + "/tiny_batch.safetensors");
        m_images = batch.floats("images");
        if (batch.header) {
            auto labels = core::readI64(*batch.header, batch.bytes, "labels");
            if (labels) m_labels = std::move(*labels);
        }
    }

    void tiny() {
        const core::Document file = read("tiny.json");
        for (const auto& [name, entry] : members(file, "train")) {
            const core::Document* args = entry.find("args");
            if (args != nullptr && args->find("amsgrad") != nullptr) {
                notExpressible("tiny losses " + name, "amsgrad");
                continue;
            }
            TrainConfig config = tinyConfig("tiny_state.safetensors");
            setOptimizer(config, entry.find("class")->text == "AdamW", args);
            config.steps = 50;
            compareLosses("tiny losses " + name, config, entry.find("losses_fp64"), 1e-4);
            const Tensors expected(m_directory + "/tiny_params_" + name + ".safetensors");
            for (const std::int64_t steps : {1, 2, 10}) compareParameters(name, config, steps, expected);
        }
        TrainConfig config = tinyConfig("tiny_state_default_init.safetensors");
        config.steps = 50;
        const core::Document* entry = file.find("train_default_init_adamw");
        compareLosses("tiny losses, default initial values", config,
                      entry == nullptr ? nullptr : entry->find("losses_fp64"), 1e-4);
    }

    void fsdp() {
        const core::Document file = read("tiny_fsdp.json");
        for (const std::int64_t ranks : {1, 2}) {
            for (const auto& [name, entry] : members(file, "world_" + std::to_string(ranks))) {
                const std::string title = fmt::format("fsdp on {}, {}", ranks, name);
                const bool low = name.rfind("fp32", 0) != 0, half = name.rfind("fp16", 0) == 0;
                if (low && name.find("loss_fp32") != std::string::npos) {
                    notExpressible(title, "low precision with the loss in float32");
                    continue;
                }
                TrainConfig config = tinyConfig("tiny_state.safetensors");
                config.plan.policy = core::UnitPolicy::Fsdp;
                config.plan.mesh.dpShard = ranks;
                config.batch = 8 / ranks;
                config.steps = 50;
                setOptimizer(config, name.ends_with("adamw"), nullptr);
                if (low) {
                    config.plan.precision.param = half ? core::DType::F16 : core::DType::BF16;
                    if (name.find("reduce_fp32") != std::string::npos) config.plan.precision.reduce = core::DType::F32;
                    if (name.find("reduce_bf16") != std::string::npos) config.plan.precision.reduce = core::DType::BF16;
                    if (name.find("reduce_fp16") != std::string::npos) config.plan.precision.reduce = core::DType::F16;
                }
                compareLosses(title, config, entry.find("losses"), !low ? 1e-4 : half ? 1e-2 : 4e-2);
                if (const core::Document* norms = entry.find("grad_norms"))
                    compareNorms(title, config, *norms, !low ? 2e-5 : half ? 1e-2 : 6e-2);
            }
        }
    }

    void formulaFilled(const std::string& fileName, const std::string& modelName, double lossTolerance,
                       double gradientTolerance, double lossesTolerance) {
        const core::Document file = read(fileName);
        const auto spec = core::namedVit(modelName);
        if (!spec || file.find("batch") == nullptr) return broken(fileName, "not readable, or no such model");
        TrainConfig config = plainConfig(*spec, file.find("batch")->integer);
        const core::Model model = modelFor(config);
        config.parameters = runtime::formulaParameters(model, static_cast<int>(file.find("log2_scale")->integer));
        config.data = runtime::TrainingData::Formula;
        config.steps = 1;
        config.keepGradients = true;
        const auto once = runtime::trainSteps(config);
        if (!once) return broken(modelName, core::describe(once.error()));
        judge(modelName + " loss", std::fabs(once->losses[0] - file.find("loss_fp64")->number()), lossTolerance);
        compareGradients(modelName, model, once->gradients, *file.find("parameters"), gradientTolerance);
        config.keepGradients = false;
        for (const auto& [name, entry] : members(file, "train")) {
            setOptimizer(config, name.rfind("adamw", 0) == 0, nullptr);
            config.steps = static_cast<std::int64_t>(entry.find("losses_fp64")->items.size());
            config.samples = nullptr;
            const std::int64_t batch = config.batch;
            const core::VitSpec images = *spec;
            if (name.find("fresh") != std::string::npos)
                config.samples = [images, batch](std::int64_t step, std::int64_t first,
                                                 std::int64_t count) -> core::Result<runtime::Batch> {
                    return runtime::formulaBatch(images, step * batch + first, count);
                };
            compareLosses(modelName + " losses " + name, config, entry.find("losses_fp64"), lossesTolerance);
        }
    }

private:
    [[nodiscard]] core::Document read(const std::string& name) const {
        auto parsed = core::parseJson(contentOf(m_directory + "/" + name), name);
        if (parsed) return std::move(*parsed);
        broken(name, core::describe(parsed.error()));
        return {};
    }
    [[nodiscard]] static std::vector<std::pair<std::string, core::Document>> members(const core::Document& file,
                                                                                     const std::string& key) {
        const core::Document* table = file.find(key);
        return table == nullptr ? std::vector<std::pair<std::string, core::Document>>{} : table->members;
    }

    [[nodiscard]] TrainConfig tinyConfig(const std::string& state) const {
        TrainConfig config = plainConfig(*core::namedVit("vit_tiny"), 8);
        config.parameters = parametersFrom(Tensors(m_directory + "/" + state), modelFor(config));
        config.samples = [this](std::int64_t, std::int64_t first, std::int64_t count) -> core::Result<runtime::Batch> {
            runtime::Batch part;
            const std::size_t pixels = m_images.size() / std::max<std::size_t>(m_labels.size(), 1);
            const auto begin = static_cast<std::size_t>(first), end = static_cast<std::size_t>(first + count);
            if (end > m_labels.size()) return core::fail(core::ErrorCode::Input, "the recorded batch is not readable");
            part.labels.assign(m_labels.begin() + first, m_labels.begin() + first + count);
            part.values.assign(m_images.begin() + static_cast<std::ptrdiff_t>(begin * pixels),
                               m_images.begin() + static_cast<std::ptrdiff_t>(end * pixels));
            return part;
        };
        return config;
    }

    static void compareLosses(const std::string& title, const TrainConfig& config, const core::Document* recorded,
                              double tolerance) {
        if (recorded == nullptr) return broken(title, "nothing recorded");
        const auto report = runtime::trainSteps(config);
        if (!report) return broken(title, core::describe(report.error()));
        judge(title, largestLossDifference(report->losses, *recorded), tolerance);
    }

    static void compareParameters(const std::string& name, TrainConfig config, std::int64_t steps,
                                  const Tensors& expected) {
        const std::string title = fmt::format("tiny parameters {} after {}", name, steps);
        config.steps = steps;
        config.keepParameters = true;
        const auto report = runtime::trainSteps(config);
        if (!report) return broken(title, core::describe(report.error()));
        const core::Model model = modelFor(config);
        const ParameterValues wanted = parametersFrom(expected, model, fmt::format("step{}.", steps));
        double largest = 0;
        for (std::size_t p = 0; p < wanted.size(); ++p) {
            if (wanted[p].size() != report->parameters[p].size()) return broken(title, model.parameters[p].name);
            const bool packed = model.parameters[p].name.find("in_proj_bias") != std::string::npos;
            for (std::size_t i = 0; i < wanted[p].size(); ++i) {
                // The gradient of the key third is zero but for rounding, which Adam turns into steps.
                if (packed && i / (wanted[p].size() / 3) == 1) continue;
                const double difference = std::fabs(static_cast<double>(wanted[p][i]) - report->parameters[p][i]);
                if (!(difference <= largest)) largest = difference;
            }
        }
        judge(title, largest, 2e-5);
    }

    static void compareNorms(const std::string& title, TrainConfig config, const core::Document& norms,
                             double tolerance) {
        config.steps = 1;
        config.keepGradients = true;
        const auto report = runtime::trainSteps(config);
        if (!report) return broken(title + ", gradients", core::describe(report.error()));
        const core::Model model = modelFor(config);
        double largest = 0;
        for (std::size_t p = 0; p < model.parameters.size(); ++p) {
            const core::Document* recorded = norms.find(model.parameters[p].name);
            if (recorded == nullptr) return broken(title + ", gradients", model.parameters[p].name);
            double squares = 0;
            for (const float value : report->gradients[p]) squares += static_cast<double>(value) * value;
            largest = std::max(largest, std::fabs(std::sqrt(squares) / recorded->number() - 1));
        }
        judge(title + ", gradient norms", largest, tolerance);
    }

    // `grad_proj` weighs every element by the formula fill of stream 200000 + position: it notices permuted gradients.
    static void compareGradients(const std::string& title, const core::Model& model, const ParameterValues& gradients,
                                 const core::Document& recorded, double tolerance) {
        double norm = 0, sum = 0, projection = 0;
        const auto order = runtime::stateDictOrder(model);
        if (order.size() != recorded.items.size()) return broken(title + " gradients", "another number of parameters");
        for (std::size_t k = 0; k < order.size(); ++k) {
            const core::Document& row = recorded.items[k];
            const std::vector<float>& values = gradients[order[k].index()];
            if (row.find("name")->text != model.parameters[order[k].index()].name)
                return broken(title + " gradients", "parameter order: " + row.find("name")->text);
            const auto weights = runtime::formulaFill(200000u + static_cast<std::uint32_t>(k), 0, values.size(), 1);
            double squares = 0, total = 0, absolute = 0, weighted = 0;
            for (std::size_t i = 0; i < values.size(); ++i) {
                squares += static_cast<double>(values[i]) * values[i];
                total += values[i];
                absolute += std::fabs(static_cast<double>(values[i]));
                weighted += static_cast<double>(values[i]) * weights[i];
            }
            const double wantedNorm = row.find("grad_norm")->number(),
                         wantedAbsolute = row.find("grad_abs_sum")->number();
            norm = std::max(
                {norm, std::fabs(std::sqrt(squares) / wantedNorm - 1), std::fabs(absolute / wantedAbsolute - 1)});
            sum = std::max(sum, std::fabs(total - row.find("grad_sum")->number()) / wantedAbsolute);
            projection = std::max(projection, std::fabs(weighted - row.find("grad_proj")->number()) / wantedNorm);
        }
        judge(title + " gradients, norm and sum of sizes", norm, tolerance);
        judge(title + " gradients, sum", sum, 1e-5);
        judge(title + " gradients, projection", projection, 3e-5);
    }

    std::string m_directory;
    std::vector<float> m_images;
    std::vector<std::int64_t> m_labels;
};

}  // namespace

int main(int argc, char** argv) {
    const bool large = argc > 2 && std::string(argv[argc - 1]) == "--large";
    const auto arguments = checkers::argumentsOf(large ? argc - 1 : argc, argv, "check_vit_training");
    if (!arguments) return 2;
    Checker checker(arguments->files.front());
    checker.tiny();
    checker.fsdp();
    checker.formulaFilled("vit_tutorial.json", "vit_tutorial", 5e-6, 2e-5, 5e-5);
    if (large) checker.formulaFilled("vit_b_16_1ch.json", "vit_b_16_1ch10", 1e-5, 3e-5, 2e-4);
    fmt::print("{} equal, {} differ, {} not expressible\n", g_equal, g_different, g_notExpressible);
    return checkers::exitCode({g_equal, g_different, g_notExpressible}, *arguments);
}
