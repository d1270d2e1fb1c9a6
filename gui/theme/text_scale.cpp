#include "gui/theme/text_scale.h"

#include <QApplication>
#include <QFont>
#include <array>
#include <cstdlib>

namespace shardscope::gui {

namespace {

constexpr std::array<int, 6> kScales = {100, 125, 150, 200, 250, 300};
int scale = 100;  // of the window's thread alone

}  // namespace

std::span<const int> textScales() {
    return kScales;
}

int textScale() {
    return scale;
}

void setTextScale(int percent) {
    int nearest = kScales.front();
    for (const int one : kScales)
        if (std::abs(one - percent) < std::abs(nearest - percent)) nearest = one;
    if (nearest == scale) return;
    QFont font = QApplication::font();
    font.setPointSizeF(font.pointSizeF() / scale * nearest);
    scale = nearest;
    QApplication::setFont(font);
}

}  // namespace shardscope::gui
