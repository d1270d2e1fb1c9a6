#include "gui/lane/view_range.h"

#include <algorithm>
#include <cmath>

namespace shardscope::gui {

namespace {
constexpr double kClosest = 20;  // ns
constexpr double kMargin = 0.1;  // of everything
constexpr std::size_t kMostRemembered = 100;
}  // namespace

ViewRange::ViewRange(double end) : m_end(std::max(end, 1.0)), m_range{0, m_end} {}

void ViewRange::setEnd(double end) {
    const bool all = m_range == TimeRange{0, m_end};
    m_end = std::max(end, 1.0);
    if (all) fit();
    clamp();
}

void ViewRange::zoom(double factor, double at) {
    if (!(factor > 0)) return;
    const double length = std::clamp(m_range.length() / factor, kClosest, m_end * (1 + 2 * kMargin));
    const double share = (at - m_range.begin) / m_range.length();
    m_range.begin = at - share * length;
    m_range.end = m_range.begin + length;
    clamp();
}

void ViewRange::pan(double share) {
    const double by = share * m_range.length();
    m_range = {m_range.begin + by, m_range.end + by};
    clamp();
}

void ViewRange::show(TimeRange range) {
    if (!(range.end > range.begin)) return;
    if (range.length() < kClosest) {
        const double middle = (range.begin + range.end) / 2;
        range = {middle - kClosest / 2, middle + kClosest / 2};
    }
    m_range = range;
    clamp();
}

void ViewRange::fit() {
    m_range = {0, m_end};
}

void ViewRange::reveal(double begin, double end) {
    if (end - begin > m_range.length()) {
        show({begin - 0.05 * (end - begin), end + 0.05 * (end - begin)});
        return;
    }
    const double left = std::max(0.0, m_range.begin - begin), right = std::max(0.0, end - m_range.end);
    m_range = {m_range.begin - left + right, m_range.end - left + right};
    clamp();
}

void ViewRange::remember() {
    if (m_place < m_history.size() && m_history[m_place] == m_range) return;
    if (!m_history.empty()) m_history.resize(m_place + 1);
    if (m_history.size() == kMostRemembered) m_history.erase(m_history.begin());
    m_history.push_back(m_range);
    m_place = m_history.size() - 1;
}

bool ViewRange::back() {
    if (m_history.empty()) return false;
    if (m_history[m_place] != m_range) {
        // What is in view was not remembered yet; going back means leaving it, and forward means coming back to it.
        const TimeRange target = m_history[m_place];
        remember();
        m_place -= 1;
        m_range = target;
        return true;
    }
    if (m_place == 0) return false;
    m_range = m_history[--m_place];
    return true;
}

bool ViewRange::forward() {
    if (m_place + 1 >= m_history.size()) return false;
    m_range = m_history[++m_place];
    return true;
}

void ViewRange::clamp() {
    const double length = std::min(m_range.length(), m_end * (1 + 2 * kMargin));
    const double least = -kMargin * m_end, most = m_end * (1 + kMargin) - length;
    m_range.begin = std::clamp(m_range.begin, least, std::max(least, most));
    m_range.end = m_range.begin + length;
}

double toPlan(Alignment alignment, double time, double planEnd, double end) {
    switch (alignment) {
        case Alignment::StepEnd: return time - (end - planEnd);
        case Alignment::Normalised: return time * planEnd / end;
        case Alignment::OneClock: break;
    }
    return time;
}

double toAxis(Alignment alignment, double time, double planEnd, double end) {
    switch (alignment) {
        case Alignment::StepEnd: return time + (end - planEnd);
        case Alignment::Normalised: return planEnd > 0 ? time * end / planEnd : 0;
        case Alignment::OneClock: break;
    }
    return time;
}

double tickOf(double length, int count) {
    const double least = std::max(length / std::max(count, 1), 1.0);
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double step : {1.0, 2.0, 5.0})
        if (step * power >= least) return step * power;
    return 10 * power;
}

}  // namespace shardscope::gui
