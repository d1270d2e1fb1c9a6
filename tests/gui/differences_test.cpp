#include <gtest/gtest.h>

#include "gui/view/difference.h"
#include "gui/view/words.h"
#include "gui/window/start_page.h"
#include "gui/worker/answer.h"

namespace shardscope::gui {
namespace {

using core::Document;

double number(const Document& plan, std::initializer_list<const char*> path) {
    const Document* at = &plan;
    for (const char* name : path) {
        at = at->find(name);
        if (at == nullptr) {
            ADD_FAILURE() << "the report has no " << name;
            return -1;
        }
    }
    EXPECT_TRUE(at->isNumber());
    return at->number();
}

// The table of the window against the text that `compare --json` prints.
TEST(Differences, AreTheFiguresOfCompareJson) {
    for (std::size_t s = 0; s < samples().size(); ++s) {
        const auto answer = answerTo(samples()[s].source, samples()[s].overrides, {"naive", "fsdp"});
        ASSERT_TRUE(answer.has_value()) << core::describe(answer.error());
        const auto json = core::parseJson(core::writeJson(cli::reportDocument(answer->report)), "report");
        ASSERT_TRUE(json.has_value());
        const std::vector<Document>& plans = json->find("plans")->items;
        const std::vector<DifferenceRow> rows = differencesOf(answer->report);
        ASSERT_EQ(rows.size(), kFigures);
        ASSERT_EQ(plans.size(), 2u);
        std::array<std::array<double, kFigures>, 2> figures{};
        for (std::size_t p = 0; p < 2; ++p) {
            const Document& plan = plans[p];
            const double ranks = number(plan, {"ranks"});
            double wire = 0, needed = 0, leastLeft = 0;
            for (const Document& one : plan.find("classes")->items) {
                wire = std::max(wire, number(one, {"transfers", "wire_bytes"}));
                const double left = number(one, {"memory", "left_bytes"});
                if (needed == 0 || left < leastLeft) {
                    needed = number(one, {"memory", "needed_bytes"});
                    leastLeft = left;
                }
            }
            figures[p] = {
                number(plan, {"step_ns"}),
                number(plan, {"samples_per_second"}),
                (number(plan, {"times_all_ranks", "waiting_ns"}) + number(plan, {"times_all_ranks", "idle_ns"})) /
                    ranks,
                number(plan, {"times_all_ranks", "exposed_transfer_ns"}) / ranks,
                wire,
                needed};
            for (std::size_t f = 0; f < kFigures; ++f) {
                EXPECT_EQ(static_cast<std::size_t>(rows[f].figure), f);
                ASSERT_EQ(rows[f].values.size(), 2u);
                EXPECT_EQ(rows[f].values[p], figures[p][f]) << "sample " << s << ", plan " << p << ", figure " << f;
            }
        }
        for (std::size_t f = 0; f < kFigures; ++f) {
            EXPECT_EQ(rows[f].difference(1), figures[1][f] - figures[0][f]);
            EXPECT_EQ(rows[f].ratio(1), figures[0][f] != 0 ? figures[1][f] / figures[0][f] : 0);
        }
    }
}

TEST(Differences, InWordsHaveSignAndFactor) {
    setPictureLanguage(QStringLiteral("en"));
    const DifferenceRow faster{Figure::Step, Unit::Nanoseconds, true, {100e6, 25e6}};
    EXPECT_EQ(differenceText(faster, 1), QStringLiteral("\u221275.0 ms, 4 times faster"));
    const DifferenceRow more{Figure::PeakMemory, Unit::Bytes, true, {1024.0 * 1024, 3 * 1024.0 * 1024}};
    EXPECT_EQ(differenceText(more, 1), QStringLiteral("+2.00 MiB, 3 times more"));
    const DifferenceRow same{Figure::Waiting, Unit::Nanoseconds, true, {5, 5}};
    EXPECT_EQ(differenceText(same, 1), QStringLiteral("the same"));
    const DifferenceRow hardly{Figure::Waiting, Unit::Nanoseconds, true, {30'000, 30'020}};
    EXPECT_EQ(differenceText(hardly, 1), QStringLiteral("+20 ns")) << "not once more";
    const DifferenceRow fromNothing{Figure::WireBytes, Unit::Bytes, true, {0, 512}};
    EXPECT_EQ(differenceText(fromNothing, 1), QStringLiteral("+512 B")) << "no factor over nothing";
}

}  // namespace
}  // namespace shardscope::gui
