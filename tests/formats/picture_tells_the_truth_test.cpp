#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <random>
#include <set>

#include "tests/formats/small_timelines.h"
#include "traces/formats/picture.h"
#include "traces/formats/picture_memory.h"
#include "traces/formats/picture_rows.h"
#include "traces/formats/render.h"

namespace shardscope::formats {
namespace {

using timeline::Activity;
using timeline::Timeline;

/// Text between tags or inside an attribute: only the entities that the writer uses, and no tag.
bool isGoodText(std::string_view text) {
    if (text.find('<') != std::string_view::npos || text.find("]]>") != std::string_view::npos) return false;
    for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
        const auto is = [&](std::string_view entity) { return text.substr(at, entity.size()) == entity; };
        if (!is("&lt;") && !is("&gt;") && !is("&amp;") && !is("&quot;")) return false;
    }
    return true;
}

bool isName(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](unsigned char c) { return std::isalnum(c) || c == ':' || c == '-'; });
}

/// What is wrong with the text as XML, or "": a reader of just what the writer may use, by hand because a tag can be
/// long.
std::string xmlProblem(const std::string& text) {
    std::vector<std::string> open;
    std::size_t at = text.find("?>");
    if (at == std::string::npos) return "no declaration";
    at += 2;
    bool seenRoot = false;
    while (true) {
        const std::size_t begin = text.find('<', at);
        if (!isGoodText(std::string_view(text).substr(at, begin == std::string::npos ? begin : begin - at)))
            return "bad text";
        if (begin == std::string::npos) break;
        const std::size_t end = text.find('>', begin);
        if (end == std::string::npos) return "unfinished tag";
        std::string_view tag = std::string_view(text).substr(begin + 1, end - begin - 1);
        at = end + 1;
        if (tag.starts_with('/')) {
            if (open.empty() || open.back() != tag.substr(1)) return "unexpected end of " + std::string(tag);
            open.pop_back();
            continue;
        }
        const bool isEmpty = tag.ends_with('/');
        if (isEmpty) tag.remove_suffix(1);
        const std::string_view name = tag.substr(0, tag.find(' '));
        if (!isName(name) || (open.empty() && seenRoot)) return "bad element " + std::string(name);
        tag.remove_prefix(name.size());
        std::set<std::string_view> attributes;
        while (!tag.empty()) {
            const std::size_t equals = tag.find("=\"");
            if (tag.front() != ' ' || equals == std::string_view::npos) return "bad attributes of " + std::string(name);
            const std::size_t close = tag.find('"', equals + 2);
            if (close == std::string_view::npos) return "unfinished attribute of " + std::string(name);
            const std::string_view key = tag.substr(1, equals - 1);
            if (!isName(key) || !attributes.insert(key).second) return "bad attribute " + std::string(key);
            if (!isGoodText(tag.substr(equals + 2, close - equals - 2))) return "bad value of " + std::string(key);
            tag.remove_prefix(close + 1);
        }
        seenRoot = true;
        if (!isEmpty) open.emplace_back(name);
    }
    return open.empty() ? "" : "still open: " + open.back();
}

Picture pictureOf(const Timeline& a, const Timeline& b) {
    Picture picture;
    picture.title = "naive against FSDP";
    picture.panels.resize(2);
    picture.panels[0].name = "naive placement";
    picture.panels[0].timeline = &a;
    picture.panels[1].name = "FSDP";
    picture.panels[1].timeline = &b;
    picture.panels[1].memory = PanelMemory{0, 4'000'000'000, "activations of blocks.0 to 2"};
    return picture;
}

TEST(Svg, IsWellFormedAndSaysWhatTheBreakdownSays) {
    const Timeline naive = naiveOfFour(), fsdp = fsdpOfFour();
    const std::string svg = svgOf(pictureOf(naive, fsdp));
    EXPECT_EQ(xmlProblem(svg), "");
    EXPECT_NE(svg.find("each GPU works 25% of the step, 1% exposed transfers, 74% waiting"),
              std::string::npos);  // 19, 1.125 and 55.875 of 76 ms
    EXPECT_NE(svg.find("each GPU works 85% of the step, 13% exposed transfers, 2% waiting"),
              std::string::npos);  // 35.5, 5.5 and 1 of 42 ms
    EXPECT_NE(svg.find("step 76.0 ms"), std::string::npos);
    EXPECT_NE(svg.find("step 42.0 ms"), std::string::npos);
    EXPECT_NE(svg.find("waits for the stage after"), std::string::npos);
    EXPECT_NE(svg.find("peak 2.51 GiB: activations of blocks.0 to 2"), std::string::npos);
    EXPECT_EQ(svg, svgOf(pictureOf(naive, fsdp)));
}

TEST(Svg, AwkwardNamesStayXml) {
    timeline::HandMade t;
    t.rank("compute", 0);
    t.span("compute", Activity::Kernels, 0, 1000, "<a & \"b\">]]>\x01\xff");
    const Timeline timeline = t.finish();
    Picture picture = pictureOf(timeline, timeline);
    picture.title = "</title><script>\x0b & \xef\xbf\xbf";
    picture.panels[0].captions = {"a < b && c > d"};
    EXPECT_EQ(xmlProblem(svgOf(picture)), "");
}

TEST(Svg, EmptyTimelinesAreDrawnToo) {
    Timeline none;
    timeline::HandMade t;
    t.rank("compute", 0);
    const Timeline withoutSpans = t.finish();
    EXPECT_EQ(xmlProblem(svgOf(pictureOf(none, withoutSpans))), "");
    EXPECT_EQ(xmlProblem(svgOf(Picture{})), "");
}

TEST(Svg, LargeTimelinesStaySmallPictures) {
    std::mt19937_64 random(3);
    timeline::HandMade t;
    for (int rank = 0; rank < 32; ++rank) {
        t.rank("compute all_gather", 0);
        std::int64_t now = 0;
        for (int i = 0; i < 6000; ++i) {
            const std::int64_t length = 1 + static_cast<std::int64_t>(random() % 100'000);
            t.span("compute", i % 3 == 0 ? Activity::CopyOut : Activity::Kernels, now, now + length, "u",
                   timeline::kNotIssued, i < 3000 ? core::Phase::Forward : core::Phase::Backward);
            t.span("all_gather", Activity::AllGather, now, now + length / 2, "u", now + length / 5);
            now += length + static_cast<std::int64_t>(random() % 20'000);
        }
    }
    const Timeline timeline = t.finish();
    const std::string svg = svgOf(pictureOf(timeline, timeline));
    EXPECT_LT(svg.size(), 2'000'000u);
    EXPECT_EQ(xmlProblem(svg), "");
}

TEST(Rows, FoldedPiecesTileTheStepAndAreNoShorterThanTheResolution) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 200; ++round) {
        std::vector<RowPiece> pieces;
        std::int64_t now = 0;
        std::array<std::int64_t, kLooks> before{}, after{};
        for (int i = 0; i < 60; ++i) {
            RowPiece piece{now, now + 1 + static_cast<std::int64_t>(random() % (random() % 2 ? 4 : 40)),
                           static_cast<Look>(random() % 4)};
            piece.span = static_cast<std::uint32_t>(i);
            before[static_cast<std::size_t>(piece.look)] += piece.end - piece.begin;
            now = piece.end;
            pieces.push_back(piece);
        }
        const std::int64_t resolution = 1 + static_cast<std::int64_t>(random() % 15);
        const std::vector<RowPiece> folded = fold(pieces, resolution);
        std::int64_t at = 0;
        for (std::size_t i = 0; i < folded.size(); ++i) {
            ASSERT_EQ(folded[i].begin, at);
            if (i + 1 < folded.size()) {
                ASSERT_GE(folded[i].end - folded[i].begin, resolution);
            }
            at = folded[i].end;
            after[static_cast<std::size_t>(folded[i].look)] += folded[i].end - folded[i].begin;
        }
        ASSERT_EQ(at, now);
        if (resolution == 1) {
            ASSERT_EQ(before, after);  // nothing is merged that could be shown
        }
    }
}

TEST(Rows, ShowTheTimesOfTheBreakdown) {
    const Timeline timeline = fsdpOfFour();
    const auto lanes = timeline::spansOfLanes(timeline);
    const timeline::CauseFinder causes(timeline);
    const auto breakdown = timeline::breakdownOf(timeline);
    for (std::uint32_t r = 0; r < timeline.ranks.size(); ++r) {
        std::array<std::int64_t, kLooks> time{};
        std::int64_t now = 0;
        for (const RowPiece& piece : computeRow(timeline, causes, lanes, r)) {
            ASSERT_EQ(piece.begin, now);
            now = piece.end;
            time[static_cast<std::size_t>(piece.look)] += piece.end - piece.begin;
        }
        EXPECT_EQ(now, timeline.ranks[r].stepEnd);
        const auto of = [&](Look look) { return time[static_cast<std::size_t>(look)]; };
        EXPECT_EQ(of(Look::Exposed), breakdown[r].transfer);
        EXPECT_EQ(of(Look::Copy), breakdown[r].copy);
        EXPECT_EQ(of(Look::Waiting), breakdown[r].waiting);
        EXPECT_EQ(of(Look::Idle), breakdown[r].idle);
        EXPECT_EQ(of(Look::Forward) + of(Look::Backward) + of(Look::Optimizer) + of(Look::OwnCopy),
                  breakdown[r].compute);
        std::int64_t transfers = 0;
        for (const RowPiece& piece : communicationRow(timeline, lanes, r)) {
            if (piece.look == Look::Gather || piece.look == Look::Reduce) transfers += piece.end - piece.begin;
        }
        EXPECT_EQ(transfers, breakdown[r].totalTransfer);
    }
}

TEST(Memory, PeakAndEveryColumnAreTrueAtAnyResolution) {
    std::mt19937_64 random(9);
    for (int round = 0; round < 200; ++round) {
        timeline::HandMade t;
        t.rank("compute", 100);
        std::array<std::array<std::int64_t, 100>, 3> value{};
        const core::MemoryCategory categories[3] = {core::MemoryCategory::Activations,
                                                    core::MemoryCategory::GatherBuffers,
                                                    core::MemoryCategory::ShardedParameters};
        for (std::size_t c = 0; c < 3; ++c) {
            timeline::Counter counter;
            counter.name = t.made.strings.intern(core::nameOf(categories[c]));
            std::int64_t held = 0;
            for (std::size_t now = 0; now < 100; ++now) {
                if (random() % 5 == 0) {
                    held = static_cast<std::int64_t>(random() % 1000);
                    counter.time.push_back(static_cast<std::int64_t>(now));
                    counter.value.push_back(held);
                }
                value[c][now] = held;
            }
            t.made.counters.push_back(counter);
        }
        const Timeline timeline = t.finish();
        const std::int64_t resolution = 1 + static_cast<std::int64_t>(random() % 12);
        const MemoryCurve curve = memoryCurve(timeline, 0, resolution);
        std::int64_t peak = 0;
        for (std::size_t now = 0; now < 100; ++now)
            peak = std::max(peak, value[0][now] + value[1][now] + value[2][now]);
        ASSERT_EQ(curve.peak, peak);
        for (std::int64_t bucket = 0; bucket * resolution < 100; ++bucket) {
            std::int64_t largest = 0, shown = 0;
            for (std::int64_t now = bucket * resolution; now < std::min<std::int64_t>(100, (bucket + 1) * resolution);
                 ++now) {
                largest = std::max(largest, value[0][static_cast<std::size_t>(now)] +
                                                value[1][static_cast<std::size_t>(now)] +
                                                value[2][static_cast<std::size_t>(now)]);
            }
            for (const MemoryCurve::Column& column : curve.columns) {
                if (column.begin > bucket * resolution) break;
                shown = 0;
                for (const std::int64_t bytes : column.bytes) shown += bytes;
            }
            ASSERT_EQ(shown, largest) << "round " << round << ", bucket " << bucket << " of " << resolution;
        }
    }
}

TEST(Style, WordsAreReadableAndNoTwoKindsLookAlike) {
    for (std::size_t look = 0; look + 1 < kLooks; ++look) {
        const Look own = static_cast<Look>(look);
        EXPECT_GE(contrast(textColourOn(own), baseColour(own)), 4.5) << look;
    }
    // The rules and patterns of every look, without its name.
    fmt::memory_buffer buffer;
    appendDefinitions(buffer);
    const std::string definitions = fmt::to_string(buffer);
    std::set<std::string> looks;
    for (std::size_t look = 0; look + 1 < kLooks; ++look) {
        std::string all;
        for (const std::string& begin : {fmt::format("\n.l{}{{", look), fmt::format("<pattern id=\"l{}p\"", look)}) {
            const std::size_t at = definitions.find(begin);
            if (at == std::string::npos) continue;
            all += definitions.substr(at + begin.size(), definitions.find('\n', at + 1) - at - begin.size());
        }
        const std::string own = fmt::format("#l{}p", look);
        if (const std::size_t at = all.find(own); at != std::string::npos) all.erase(at, own.size());
        looks.insert(all);
    }
    EXPECT_EQ(looks.size(), kLooks - 1);
    EXPECT_NEAR(contrast("#000000", "#ffffff"), 21, 1e-9);
    EXPECT_NEAR(contrast("#777777", "#ffffff"), 4.48, 0.01);  // WCAG's well-known grey just below 4.5
}

TEST(Text, KoreanHasEveryWordAndKeepsEveryPlace) {
    const PictureText &en = englishText(), &ko = koreanText();
    const auto places = [](std::string_view s) {
        std::size_t n = 0;
        for (std::size_t at = s.find("{}"); at != std::string_view::npos; at = s.find("{}", at + 2)) ++n;
        return n;
    };
    const auto same = [&](std::string_view a, std::string_view b) {
        EXPECT_EQ(a.empty(), b.empty()) << a;
        EXPECT_EQ(places(a), places(b)) << a;
    };
    same(en.works, ko.works);
    same(en.headline, ko.headline);
    same(en.headlineRange, ko.headlineRange);
    same(en.transferShare, ko.transferShare);
    same(en.waitShare, ko.waitShare);
    same(en.step, ko.step);
    same(en.rank, ko.rank);
    same(en.moreRanks, ko.moreRanks);
    same(en.memory, ko.memory);
    same(en.peak, ko.peak);
    same(en.capacity, ko.capacity);
    same(en.phaseOf, ko.phaseOf);
    for (std::size_t i = 0; i < kLooks; ++i) same(en.looks[i], ko.looks[i]);
    for (std::size_t i = 0; i < core::kMemoryCategories; ++i) same(en.memoryCategories[i], ko.memoryCategories[i]);
    for (std::size_t i = 0; i < timeline::kCauses; ++i) same(en.waits[i], ko.waits[i]);
}

TEST(Text, FiguresHaveThreeDigitsAndTheirUnit) {
    EXPECT_EQ(timeInWords(999), "999 ns");
    EXPECT_EQ(timeInWords(76'000'000), "76.0 ms");
    EXPECT_EQ(timeInWords(999'600), "1.00 ms");
    EXPECT_EQ(timeInWords(1'236'000'000), "1.24 s");
    EXPECT_EQ(bytesInWords(66'904'000'000), "62.3 GiB");
    EXPECT_EQ(bytesInWords(std::int64_t{80} << 30), "80.0 GiB");
    EXPECT_EQ(bytesInWords(std::int64_t{1} << 40), "1.00 TiB");
    EXPECT_EQ(bytesInWords(1023), "1.00 KiB");
    EXPECT_EQ(bytesInWords(512), "512 B");
    EXPECT_EQ(fill("{} of {}", "a", "b"), "a of b");
    EXPECT_EQ(fill("none", "a"), "none");
}

TEST(Render, MakesAPngOfTheRightSizeAndAPdfTheSameEachTime) {
    const Timeline naive = naiveOfFour(), fsdp = fsdpOfFour();
    const std::string svg = svgOf(pictureOf(naive, fsdp));
    StringSink png, pdf, again;
    ASSERT_TRUE(renderPng(svg, 0.5, png));
    ASSERT_EQ(png.text().substr(0, 8), "\x89PNG\r\n\x1a\n");
    const auto bigEndian = [&](std::size_t at) {
        std::uint32_t n = 0;
        for (std::size_t i = 0; i < 4; ++i) n = (n << 8) | static_cast<unsigned char>(png.text()[at + i]);
        return n;
    };
    EXPECT_EQ(bigEndian(16), 800u);  // IHDR: width of 1600 px at half scale
    ASSERT_TRUE(renderPdf(svg, pdf));
    EXPECT_EQ(pdf.text().substr(0, 5), "%PDF-");
    ASSERT_TRUE(renderPdf(svg, again));
    EXPECT_EQ(pdf.text(), again.text());
    EXPECT_EQ(pdf.text().find("CreationDate"), std::string::npos);
}

TEST(Render, BrokenOrHugePicturesAreErrors) {
    StringSink sink;
    EXPECT_FALSE(renderPng("this is no picture", 1, sink));
    EXPECT_FALSE(renderPdf("<svg", sink));
    EXPECT_FALSE(
        renderPng("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30000\" height=\"30000\"><rect width=\"1\" "
                  "height=\"1\"/></svg>",
                  8, sink));
}

}  // namespace
}  // namespace shardscope::formats
