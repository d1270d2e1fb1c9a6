// Images to train on: generated ones, and those of IDX files.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/data/grey_shapes.h"
#include "runtime/data/idx_images.h"

namespace shardscope::runtime {
namespace {

using Pixels = std::vector<std::uint8_t>;

struct Drawn {
    Pixels pixels;
    std::int64_t label;
    friend bool operator==(const Drawn&, const Drawn&) = default;
};

Drawn drawn(const ImageSet& set, std::int64_t index) {
    Drawn one{Pixels(static_cast<std::size_t>(set.side() * set.side())), 0};
    one.label = set.draw(index, one.pixels);
    return one;
}

TEST(GreyShapes, AreTheSameWheneverTheyAreDrawn) {
    const GreyShapes set(Split::Train, 100), longer(Split::Train, 200);
    for (const std::int64_t index : {0, 7, 99}) {
        EXPECT_EQ(drawn(set, index), drawn(set, index));
        EXPECT_EQ(drawn(set, index), drawn(longer, index)) << "whatever else is in the set";
    }
    EXPECT_NE(drawn(set, 0), drawn(set, 1));
    EXPECT_NE(drawn(set, 0), drawn(GreyShapes(Split::Test, 100), 0));
    EXPECT_NE(drawn(set, 0), drawn(GreyShapes(Split::Train, 100, 28, 1), 0));
}

TEST(GreyShapes, AreOnEveryPlatformTheSame) {
    // From this program: std::seed_seq and std::mt19937 are specified to the bit.
    const Drawn first = drawn(GreyShapes(Split::Train, 1), 0);
    const std::int64_t sum = std::accumulate(first.pixels.begin(), first.pixels.end(), std::int64_t{0});
    EXPECT_EQ(first.label, 1);
    EXPECT_EQ(sum, 22761);
}

TEST(GreyShapes, HaveAllKindsAboutAsOften) {
    const GreyShapes set(Split::Train, 5000);
    std::vector<int> count(GreyShapes::kClasses, 0);
    for (std::int64_t i = 0; i < set.size(); ++i) ++count.at(static_cast<std::size_t>(drawn(set, i).label));
    for (const int one : count) EXPECT_NEAR(one, 500, 110) << "five standard deviations";
}

/// Logistic regression on pixels: weights by class, the bias last.
class LinearClassifier {
public:
    explicit LinearClassifier(std::size_t pixels) : m_pixels(pixels), m_weights(10 * (pixels + 1), 0.0f) {}

    std::size_t classOf(const std::vector<float>& image) const {
        const auto scores = scoresOf(image);
        return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    }

    void learn(const std::vector<float>& image, std::int64_t label, float rate) {
        auto scores = scoresOf(image);
        const float most = *std::max_element(scores.begin(), scores.end());
        float sum = 0;
        for (float& score : scores) sum += score = std::exp(score - most);
        for (std::size_t c = 0; c < scores.size(); ++c) {
            const float step = rate * (scores[c] / sum - (static_cast<std::int64_t>(c) == label ? 1.0f : 0.0f));
            float* weights = &m_weights[c * (m_pixels + 1)];
            for (std::size_t p = 0; p < m_pixels; ++p) weights[p] -= step * image[p];
            weights[m_pixels] -= step;
        }
    }

private:
    std::vector<float> scoresOf(const std::vector<float>& image) const {
        std::vector<float> scores(10);
        for (std::size_t c = 0; c < scores.size(); ++c) {
            const float* weights = &m_weights[c * (m_pixels + 1)];
            scores[c] = std::inner_product(image.begin(), image.end(), weights, weights[m_pixels]);
        }
        return scores;
    }

    std::size_t m_pixels;
    std::vector<float> m_weights;
};

TEST(GreyShapes, CannotBeToldApartByAWeightForEveryPixel) {
    const auto images = [](const ImageSet& set) {
        std::vector<std::int64_t> all(static_cast<std::size_t>(set.size()));
        std::iota(all.begin(), all.end(), 0);
        return batchOf(set, all, 1);
    };
    const Batch train = images(GreyShapes(Split::Train, 8000)), test = images(GreyShapes(Split::Test, 2000));
    constexpr std::size_t kPixels = 28 * 28;
    const auto imageOf = [](const Batch& batch, std::size_t i) {
        const auto begin = batch.values.begin() + static_cast<std::ptrdiff_t>(i * kPixels);
        return std::vector<float>(begin, begin + kPixels);
    };
    LinearClassifier classifier(kPixels);
    for (const float rate : {0.003f, 0.002f, 0.001f, 0.0005f})
        for (std::size_t i = 0; i < train.labels.size(); ++i)
            classifier.learn(imageOf(train, i), train.labels[i], rate);
    const auto share = [&](const Batch& batch) {
        double right = 0;
        for (std::size_t i = 0; i < batch.labels.size(); ++i)
            right += static_cast<std::int64_t>(classifier.classOf(imageOf(batch, i))) == batch.labels[i] ? 1 : 0;
        return right / static_cast<double>(batch.labels.size());
    };
    EXPECT_LT(share(test), 0.6);
    EXPECT_GT(share(train), 0.15) << "it has learnt something";
}

TEST(ImageSet, IsWhatAModelSees) {
    const GreyShapes set(Split::Train, 10);
    const Batch batch = batchOf(set, std::vector<std::int64_t>{3, 1}, 2);
    const Drawn third = drawn(set, 3), first = drawn(set, 1);
    EXPECT_EQ(batch.labels, (std::vector<std::int64_t>{third.label, first.label}));
    ASSERT_EQ(batch.values.size(), 4u * 784);
    EXPECT_FLOAT_EQ(batch.values[5], static_cast<float>(third.pixels[5]) / 127.5f - 1);
    EXPECT_EQ(batch.values[784 + 5], batch.values[5]) << "the second channel is the first";
    EXPECT_FLOAT_EQ(batch.values[2 * 784], static_cast<float>(first.pixels[0]) / 127.5f - 1);
    core::VitSpec model;
    model.imageSize = 28;
    model.classes = 10;
    EXPECT_TRUE(checkImages(set, model));
    model.classes = 9;
    EXPECT_NE(checkImages(set, model).error().message.find("labels of 10 classes"), std::string::npos);
    model.imageSize = 32;
    EXPECT_NE(checkImages(set, model).error().message.find("28 x 28 pixels, the model takes 32 x 32"),
              std::string::npos);
}

std::string bytes(std::initializer_list<int> values) {
    std::string out;
    for (const int value : values) out.push_back(static_cast<char>(value));
    return out;
}

const std::string kTwoImages =
    bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2}) + bytes({1, 2, 3, 4, 250, 251, 252, 253});
const std::string kTwoLabels = bytes({0, 0, 8, 1, 0, 0, 0, 2, 9, 0});

TEST(IdxImages, AreReadAsMnistHasThem) {
    const auto set = IdxImages::create(kTwoImages, "images", kTwoLabels, "labels", 10);
    ASSERT_TRUE(set) << set.error().message;
    EXPECT_EQ((*set)->size(), 2);
    EXPECT_EQ((*set)->side(), 2);
    EXPECT_EQ(drawn(**set, 0), (Drawn{{1, 2, 3, 4}, 9}));
    EXPECT_EQ(drawn(**set, 1), (Drawn{{250, 251, 252, 253}, 0}));
}

TEST(IdxImages, ThatAreBrokenAreRefusedWithTheReason) {
    const auto with = [](std::string file, std::size_t at, int byte) {
        file[at] = static_cast<char>(byte);
        return file;
    };
    const struct {
        std::string images, labels, message, where;
    } cases[] = {
        {"", kTwoLabels, "0 bytes, an IDX file begins with 4", "images"},
        {"\x1f\x8b\x08 zip", kTwoLabels, "the first bytes are 1f 8b", "images"},
        {with(kTwoImages, 2, 13), kTwoLabels, "elements of type 0x0d", "images"},
        {kTwoLabels, kTwoLabels, "1 dimensions, images have 3", "images"},
        {kTwoImages.substr(0, 9), kTwoLabels, "9 bytes, its dimensions alone take 16", "images"},
        {kTwoImages.substr(0, 20), kTwoLabels, "2 x 2 x 2 elements are announced, 4 bytes follow", "images"},
        {kTwoImages + "x", kTwoLabels, "9 bytes follow", "images"},
        {with(with(kTwoImages, 4, 255), 8, 255), kTwoLabels, "4278190082 x 4278190082 x 2 elements", "images"},
        {with(with(kTwoImages, 11, 4), 15, 1), kTwoLabels, "4 x 1 pixels", "images"},
        {bytes({0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2}), bytes({0, 0, 8, 1, 0, 0, 0, 0}), "no image",
         "images"},
        {kTwoImages, bytes({0, 0, 8, 1, 0, 0, 0, 1, 9}), "1 labels for the 2 images", "labels"},
        {kTwoImages, with(kTwoLabels, 9, 10), "label 1 is 10, expected less than the model's 10", "labels"},
        {kTwoImages, kTwoImages, "3 dimensions, labels have 1", "labels"},
    };
    for (const auto& one : cases) {
        const auto set = IdxImages::create(one.images, "images", one.labels, "labels", 10);
        ASSERT_FALSE(set) << one.message;
        EXPECT_NE(set.error().message.find(one.message), std::string::npos) << set.error().message;
        EXPECT_EQ(set.error().where, one.where) << one.message;
        EXPECT_FALSE(set.error().hint.empty());
    }
}

}  // namespace
}  // namespace shardscope::runtime
