// Bars against their ground, colours as people with a colour-vision deficiency see them, and where colours are written.

#include <gtest/gtest.h>

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <array>
#include <cmath>

#include "gui/theme/theme.h"

namespace shardscope::gui {
namespace {

using formats::Look;

constexpr ThemeKind kAll[] = {ThemeKind::Light, ThemeKind::Dark, ThemeKind::HighContrast};
constexpr double kSeen = 3;  // WCAG 2.1, success criterion 1.4.11: graphical objects against what is beside them

/// The best of what a fill is made of; a pattern counts by its ink, an outline surrounds all of it.
double contrastOnGround(const Fill& fill, const QColor& ground) {
    double best = contrastOf(fill.colour, ground);
    for (const QColor& part : {fill.ink, fill.outline})
        if (part.isValid()) best = std::max(best, contrastOf(part, ground));
    return best;
}

TEST(Colours, EveryKindIsSeenOnItsGround) {
    for (const ThemeKind kind : kAll) {
        const Theme theme = themeOf(kind);
        for (std::size_t l = 0; l < formats::kLooks; ++l) {
            if (static_cast<Look>(l) == Look::None) continue;
            // Nothing to do is the one kind that may recede: what it says is that nothing is there.
            const double least = static_cast<Look>(l) == Look::Idle ? 1.5 : kSeen;
            EXPECT_GE(contrastOnGround(theme.looks[l], theme.canvas), least)
                << "look " << l << ", theme " << static_cast<int>(kind);
        }
        for (std::size_t m = 0; m < core::kMemoryCategories; ++m)
            EXPECT_GE(contrastOnGround(theme.memory[m], theme.canvas), kSeen)
                << "memory " << m << ", theme " << static_cast<int>(kind);
    }
}

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// Dichromats' view of linear RGB, severity 1.0: Machado, Oliveira and Fernandes, "A Physiologically-based Model for
// Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, table of precomputed matrices.
constexpr Matrix kNormal{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kProtanopia{
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeuteranopia{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};

// sRGB's primaries and white (IEC 61966-2-1) in XYZ.
constexpr Matrix kToXyz{
    {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};
constexpr Vector kWhite{0.95047, 1, 1.08883};

Vector times(const Matrix& m, const Vector& v) {
    Vector out{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) out[i] += m[i][j] * v[j];
    return out;
}

double linear(double c) {
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

/// CIE L*a*b* of a colour as such an eye sees it.
Vector labOf(const QColor& colour, const Matrix& eye) {
    Vector seen = times(eye, {linear(colour.redF()), linear(colour.greenF()), linear(colour.blueF())});
    for (double& channel : seen) channel = std::clamp(channel, 0.0, 1.0);
    Vector f = times(kToXyz, seen);
    for (std::size_t i = 0; i < 3; ++i) {
        const double t = f[i] / kWhite[i];
        f[i] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    }
    return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

double distance(const QColor& a, const QColor& b, const Matrix& eye) {
    const Vector x = labOf(a, eye), y = labOf(b, eye);
    return std::sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) + (x[2] - y[2]) * (x[2] - y[2]));
}

TEST(Colours, TheSimulationSeesWhatIsKnown) {
    EXPECT_NEAR(distance(Qt::black, Qt::white, kNormal), 100, 0.1);
    EXPECT_NEAR(distance(QColor(128, 128, 128), QColor(128, 128, 128), kDeuteranopia), 0, 1e-9);
    // Red and green of one lightness come close for both; blue and yellow stay apart.
    const QColor red(200, 60, 60), green(90, 130, 40);
    for (const Matrix& eye : {kProtanopia, kDeuteranopia}) {
        EXPECT_LT(distance(red, green, eye), 0.5 * distance(red, green, kNormal));
        EXPECT_GT(distance(Qt::blue, Qt::yellow, eye), 100);
    }
}

// A distance of about 2.3 is just seen side by side (Mahy, Van Eycken and Oosterlinck, Color Research and Application
// 19(2), 1994); lanes are looked at apart, so that several times as much is asked for, or another pattern.
constexpr double kToldApart = 20;

TEST(Colours, EveryTwoKindsAreToldApartByEyesThatMixRedAndGreen) {
    const Theme theme = themeOf(ThemeKind::Light);
    int byPatternAlone = 0;
    const auto check = [&](const Fill& a, const Fill& b, formats::Pattern first, formats::Pattern second,
                           const std::string& which) {
        double least = 1000;
        for (const Matrix& eye : {kNormal, kProtanopia, kDeuteranopia})
            least = std::min(least, distance(a.colour, b.colour, eye));
        byPatternAlone += least < kToldApart;
        EXPECT_TRUE(least >= kToldApart || first != second) << which << ": " << least;
    };
    for (std::size_t a = 0; a < formats::kLooks; ++a)
        for (std::size_t b = a + 1; b < formats::kLooks; ++b) {
            const auto first = static_cast<Look>(a), second = static_cast<Look>(b);
            if (second == Look::None) continue;
            check(theme.of(first), theme.of(second), formats::styleOf(first).pattern, formats::styleOf(second).pattern,
                  "looks " + std::to_string(a) + " and " + std::to_string(b));
        }
    for (std::size_t a = 0; a < core::kMemoryCategories; ++a)
        for (std::size_t b = a + 1; b < core::kMemoryCategories; ++b) {
            const auto first = static_cast<core::MemoryCategory>(a), second = static_cast<core::MemoryCategory>(b);
            check(theme.of(first), theme.of(second), formats::styleOf(first).pattern, formats::styleOf(second).pattern,
                  "memory " + std::to_string(a) + " and " + std::to_string(b));
        }
    EXPECT_GT(byPatternAlone, 0) << "patterns are needed: colours alone do not do";
}

TEST(Colours, AreWrittenInTheThemeAlone) {
    const QRegularExpression literal(
        QStringLiteral("\"#[0-9a-fA-F]{3,8}\\b|#[0-9a-fA-F]{6}\\b|\\bqRgba?\\(|QColor\\((?:0x|[0-9]|\"|Qt::)"
                       "|Qt::(?:white|black|red|green|blue|cyan|magenta|yellow|gray|dark[A-Z]\\w+|light[A-Z]\\w+)\\b"));
    int files = 0;
    for (QDirIterator it(QStringLiteral(SHARDSCOPE_SOURCE_DIR "/gui"), {QStringLiteral("*.cpp"), QStringLiteral("*.h")},
                         QDir::Files, QDirIterator::Subdirectories);
         it.hasNext();) {
        const QString path = it.next();
        if (path.contains(QStringLiteral("/gui/theme/"))) continue;
        QFile file(path);
        ASSERT_TRUE(file.open(QIODevice::ReadOnly));
        ++files;
        const auto match = literal.match(QString::fromUtf8(file.readAll()));
        EXPECT_FALSE(match.hasMatch()) << path.toStdString() << ": " << match.captured().toStdString();
    }
    EXPECT_GT(files, 20);
}

}  // namespace
}  // namespace shardscope::gui
