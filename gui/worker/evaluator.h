#pragma once

// The worker of a window: one thread, one piece of work at a time, and the latest request wins: what is under way for
// an older one is told to stop. Answers, and how far the work is, arrive on the window's thread.

#include <QObject>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "core/base/result.h"
#include "core/base/work.h"
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
    /// A run, predicted with the machine's times in that file.
    void openRun(const std::string& path, const std::string& times, const std::vector<std::string>& strategies);
    /// What was open once, with its scenario as text, and of a run the file of its times, if it had one.
    void reopen(const std::string& what, const std::string& scenario, const std::string& times,
                const std::vector<std::string>& strategies);
    /// Another scenario for what is shown.
    void change(std::shared_ptr<const Answer> shown, const core::Scenario& scenario,
                const std::vector<std::string>& strategies);
    /// Whatever is under way will not be answered; its thread is told to stop, nobody waits for it.
    void cancel();
    [[nodiscard]] bool busy() const { return m_busy; }

signals:
    void busyChanged(bool busy);
    /// The work has entered a stage (of a plan, or an empty name); `share` of all stages, 0..1, lies behind it.
    void progressed(shardscope::core::WorkStage stage, const QString& plan, double share);
    void answered(std::shared_ptr<const shardscope::gui::Answer> answer);
    void failed(const shardscope::core::Error& error);

private:
    using Made = core::Result<std::shared_ptr<const Answer>>;
    using Job = std::function<core::Result<Answer>(const core::Work&)>;
    struct Request {
        std::uint64_t number = 0;
        std::size_t plans = 0;
        std::stop_token stop;
        Job job;
    };
    void request(std::size_t plans, Job job);
    void serve(const std::stop_token& stop);
    [[nodiscard]] core::Work workOf(const Request& request);
    void deliver(std::uint64_t number, const Made& result);
    void setBusy(bool busy);

    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::optional<Request> m_next;  // guarded by m_mutex
    std::uint64_t m_latest = 0;     // of the window's thread, as the next two
    std::stop_source m_stop;        // of the latest request
    bool m_busy = false;
    std::jthread m_thread;
};

}  // namespace shardscope::gui
