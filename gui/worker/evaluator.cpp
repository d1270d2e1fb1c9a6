#include "gui/worker/evaluator.h"

#include <algorithm>
#include <utility>

namespace shardscope::gui {

Evaluator::Evaluator(QObject* parent)
    : QObject(parent), m_thread([this](const std::stop_token& stop) { serve(stop); }) {}

Evaluator::~Evaluator() {
    m_stop.request_stop();
    m_thread.request_stop();
    m_wake.notify_all();
}

void Evaluator::open(const std::string& what, const std::vector<std::string>& overrides,
                     const std::vector<std::string>& strategies) {
    request(strategies.size(), [what, overrides, strategies](const core::Work& work) {
        return answerTo(what, overrides, strategies, work);
    });
}

void Evaluator::openRun(const std::string& path, const std::string& times, const std::vector<std::string>& strategies) {
    constexpr std::size_t kPlans = 2;  // measured and predicted
    request(kPlans,
            [path, times, strategies](const core::Work& work) { return answerToRun(path, times, strategies, work); });
}

void Evaluator::reopen(const std::string& what, const std::string& scenario, const std::string& times,
                       const std::vector<std::string>& strategies) {
    request(strategies.size(), [what, scenario, times, strategies](const core::Work& work) {
        return answerAgain(what, scenario, times, strategies, work);
    });
}

void Evaluator::change(std::shared_ptr<const Answer> shown, const core::Scenario& scenario,
                       const std::vector<std::string>& strategies) {
    request(strategies.size(), [shown = std::move(shown), scenario, strategies](const core::Work& work) {
        return answerTo(*shown, scenario, strategies, work);
    });
}

void Evaluator::cancel() {
    ++m_latest;
    m_stop.request_stop();
    {
        const std::scoped_lock lock(m_mutex);
        m_next.reset();
    }
    setBusy(false);
}

void Evaluator::request(std::size_t plans, Job job) {
    ++m_latest;
    m_stop.request_stop();
    m_stop = std::stop_source();
    {
        const std::scoped_lock lock(m_mutex);
        m_next = Request{m_latest, plans, m_stop.get_token(), std::move(job)};
    }
    m_wake.notify_one();
    setBusy(true);
}

void Evaluator::serve(const std::stop_token& stop) {
    // Answers are freed here: a large one would take the window's thread too long.
    std::deque<std::shared_ptr<const Answer>> lately;
    while (!stop.stop_requested()) {
        Request request;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [&] { return m_next.has_value(); })) return;
            request = std::move(*m_next);
            m_next.reset();
        }
        Made result = request.job(workOf(request)).map([](Answer&& answer) {
            return std::make_shared<const Answer>(std::move(answer));
        });
        request.job = nullptr;
        if (request.stop.stop_requested()) continue;
        if (result) lately.push_back(*result);
        QMetaObject::invokeMethod(
            this, [this, number = request.number, result = std::move(result)] { deliver(number, result); },
            Qt::QueuedConnection);
        // The one before may still be shown.
        if (lately.size() > 2) lately.pop_front();
    }
}

core::Work Evaluator::workOf(const Request& request) {
    const auto all = static_cast<double>(stagesOfAnswer(request.plans));
    // Shared, because whoever works may copy what it was given.
    const auto entered = std::make_shared<std::size_t>(0);
    const auto tell = [this, number = request.number, all, entered](core::WorkStage stage, std::string_view plan) {
        const double share = std::min(static_cast<double>((*entered)++) / all, 1.0);
        const QString name = QString::fromUtf8(plan.data(), static_cast<qsizetype>(plan.size()));
        QMetaObject::invokeMethod(
            this,
            [this, number, stage, name, share] {
                if (number == m_latest && m_busy) emit progressed(stage, name, share);
            },
            Qt::QueuedConnection);
    };
    return {request.stop, tell};
}

void Evaluator::deliver(std::uint64_t number, const Made& result) {
    if (number != m_latest) return;  // something newer was asked for, or nothing at all
    setBusy(false);
    if (result)
        emit answered(*result);
    else
        emit failed(result.error());
}

void Evaluator::setBusy(bool busy) {
    if (std::exchange(m_busy, busy) != busy) emit busyChanged(busy);
}

}  // namespace shardscope::gui
