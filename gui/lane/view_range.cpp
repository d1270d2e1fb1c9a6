#include "gui/lane/view_range.h"

#include <algorithm>
#include <cmath>

namespace shardscope::gui {

namespace {
constexpr double kClosest = 20;  // ns
constexpr double kMargin = 0.1;  // of everything
constexpr double kPage = 0.75;   // of the view: pages overlap
constexpr std::size_t kMostRemembered = 100;
}  // namespace

ViewRange::ViewRange(double end) : m_end(std::max(end, 1.0)), m_range{0, m_end}, m_chosen(m_range) {}

void ViewRange::setEnd(double end) {
    const bool all = m_range == TimeRange{0, m_end};
    m_end = std::max(end, 1.0);
    if (all) fit();
    clamp();
    choose();
}

void ViewRange::zoom(double factor, double at) {
    if (!(factor > 0)) return;
    const double length = std::clamp(m_range.length() / factor, kClosest, m_end * (1 + 2 * kMargin));
    const double share = (at - m_range.begin) / m_range.length();
    m_range.begin = at - share * length;
    m_range.end = m_range.begin + length;
    clamp();
    choose();
}

void ViewRange::pan(double share) {
    const double by = share * m_range.length();
    m_range = {m_range.begin + by, m_range.end + by};
    clamp();
    choose();
}

void ViewRange::show(TimeRange range) {
    if (!(range.end > range.begin)) return;
    if (range.length() < kClosest) {
        const double middle = (range.begin + range.end) / 2;
        range = {middle - kClosest / 2, middle + kClosest / 2};
    }
    m_range = range;
    clamp();
    choose();
}

void ViewRange::fit() {
    m_range = {0, m_end};
    choose();
}

void ViewRange::reveal(double begin, double end) {
    m_range = m_chosen;
    if (m_kept == TimeRange{begin, end} || (begin >= m_range.begin && end <= m_range.end)) return;
    const double page = kPage * m_range.length();
    const double by = std::floor((begin - m_range.begin) / page) * page;
    m_range = {m_range.begin + by, m_range.end + by};
    if (end > m_range.end && end - begin <= m_range.length()) {
        const double margin = (m_range.length() - (end - begin)) / 2;
        m_range = {begin - margin, end + margin};
    }
    clamp();
}

void ViewRange::keep(double begin, double end) {
    choose();
    m_kept = {begin, end};
}

void ViewRange::choose() {
    m_chosen = m_range;
    m_kept = {-1, -1};
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
        choose();
        return true;
    }
    if (m_place == 0) return false;
    m_range = m_history[--m_place];
    choose();
    return true;
}

bool ViewRange::forward() {
    if (m_place + 1 >= m_history.size()) return false;
    m_range = m_history[++m_place];
    choose();
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
