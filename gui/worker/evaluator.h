#pragma once

// The worker of a window: one thread, one piece of work at a time, and the latest request wins. Answers arrive on the
// window's thread.

#include <QObject>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "core/base/result.h"
#include "gui/worker/answer.h"

namespace shardscope::gui {

class Evaluator : public QObject {
    Q_OBJECT
public:
    explicit Evaluator(QObject* parent = nullptr);
    ~Evaluator() override;

    /// Something new, in place of what is shown.
    void open(const std::string& what, const std::vector<std::string>& overrides,
              const std::vector<std::string>& strategies);
    /// Another scenario for what is shown.
    void change(std::shared_ptr<const Answer> shown, const core::Scenario& scenario,
                const std::vector<std::string>& strategies);
    /// Whatever is under way will not be answered.
    void cancel();
    [[nodiscard]] bool busy() const { return m_busy; }

signals:
    void busyChanged(bool busy);
    void answered(std::shared_ptr<const shardscope::gui::Answer> answer);
    void failed(const shardscope::core::Error& error);

private:
    using Work = std::function<core::Result<Answer>()>;
    void request(Work work);
    void serve(const std::stop_token& stop);
    void deliver(std::uint64_t number, core::Result<Answer> result);
    void setBusy(bool busy);

    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::optional<std::pair<std::uint64_t, Work>> m_next;  // guarded by m_mutex
    std::uint64_t m_latest = 0;                            // of the window's thread
    bool m_busy = false;
    std::jthread m_thread;
};

}  // namespace shardscope::gui
