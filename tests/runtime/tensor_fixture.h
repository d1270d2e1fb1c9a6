#pragma once

// Tensors of tests: float data with a shape, and the files of reference values in tests/data.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/document.h"
#include "core/model/kernel.h"
#include "runtime/device/reference_device.h"

namespace shardscope::runtime::testing {

inline std::string readFile(const std::string& name) {
    std::ifstream file(std::string(SHARDSCOPE_TEST_DATA) + "/" + name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

struct Values {
    core::Shape shape;
    std::vector<float> data;

    static Values zeros(core::Shape shape) {
        const auto n = static_cast<std::size_t>(core::elementsOf(shape));
        return {std::move(shape), std::vector<float>(n, 0.0f)};
    }
    TensorView view() { return {reinterpret_cast<std::byte*>(data.data()), core::DType::F32, shape, {}}; }
};

/// {"shape": [...], "data": [...]} of the reference files, or a plain number.
inline std::vector<double> numbersOf(const core::Document& tensor) {
    std::vector<double> numbers;
    if (tensor.isNumber()) return {tensor.number()};
    const core::Document* data = tensor.find("data");
    for (const core::Document& item : data != nullptr ? data->items : tensor.items) numbers.push_back(item.number());
    return numbers;
}

inline Values valuesOf(const core::Document& tensor) {
    Values values;
    if (const core::Document* shape = tensor.find("shape"))
        for (const core::Document& d : shape->items) values.shape.push_back(d.integer);
    for (double number : numbersOf(tensor)) values.data.push_back(static_cast<float>(number));
    return values;
}

inline double largestDifference(const std::vector<float>& actual, const std::vector<double>& expected) {
    if (actual.size() != expected.size()) return HUGE_VAL;
    double largest = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double difference = std::fabs(actual[i] - expected[i]);
        if (!(difference <= largest)) largest = difference;  // a NaN is the largest of all
    }
    return largest;
}

}  // namespace shardscope::runtime::testing
