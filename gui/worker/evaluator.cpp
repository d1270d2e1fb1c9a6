#include "gui/worker/evaluator.h"

#include <utility>

namespace shardscope::gui {

Evaluator::Evaluator(QObject* parent)
    : QObject(parent), m_thread([this](const std::stop_token& stop) { serve(stop); }) {}

Evaluator::~Evaluator() {
    m_thread.request_stop();
    m_wake.notify_all();
}

void Evaluator::open(const std::string& what, const std::vector<std::string>& overrides,
                     const std::vector<std::string>& strategies) {
    request([what, overrides, strategies] { return answerTo(what, overrides, strategies); });
}

void Evaluator::change(std::shared_ptr<const Answer> shown, const core::Scenario& scenario,
                       const std::vector<std::string>& strategies) {
    request([shown = std::move(shown), scenario, strategies] { return answerTo(shown->loaded, scenario, strategies); });
}

void Evaluator::cancel() {
    ++m_latest;
    {
        const std::scoped_lock lock(m_mutex);
        m_next.reset();
    }
    setBusy(false);
}

void Evaluator::request(Work work) {
    ++m_latest;
    {
        const std::scoped_lock lock(m_mutex);
        m_next.emplace(m_latest, std::move(work));
    }
    m_wake.notify_one();
    setBusy(true);
}

void Evaluator::serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::pair<std::uint64_t, Work> job;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [&] { return m_next.has_value(); })) return;
            job = std::move(*m_next);
            m_next.reset();
        }
        auto result = std::make_shared<core::Result<Answer>>(job.second());
        QMetaObject::invokeMethod(
            this, [this, number = job.first, result] { deliver(number, std::move(*result)); }, Qt::QueuedConnection);
    }
}

void Evaluator::deliver(std::uint64_t number, core::Result<Answer> result) {
    if (number != m_latest) return;  // something newer was asked for, or nothing at all
    setBusy(false);
    if (result)
        emit answered(std::make_shared<const Answer>(std::move(*result)));
    else
        emit failed(result.error());
}

void Evaluator::setBusy(bool busy) {
    if (std::exchange(m_busy, busy) != busy) emit busyChanged(busy);
}

}  // namespace shardscope::gui
