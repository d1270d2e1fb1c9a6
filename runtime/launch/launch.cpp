#include "runtime/launch/launch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "runtime/communicator/rank_error.h"
#include "runtime/launch/child_process.h"
#include "runtime/launch/rank_collector.h"
#include "runtime/launch/rank_process.h"
#include "runtime/train/training.h"

namespace shardscope::runtime {

using core::ErrorCode;
using core::Result;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kLook{50};     // between two looks at the children
constexpr std::chrono::milliseconds kCause{400};   // until a rank that only lost a peer is taken for the cause
constexpr std::chrono::milliseconds kGrace{1000};  // between asking a process to end and ending it

/// Holds the signals that end this process back, but for those that it ignores, and hears of them, for as long as it
/// lives.
class HeldSignals {
public:
    HeldSignals() {
        sigemptyset(&m_held);
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
            struct sigaction action {};
            // What a parent ignores for its children (nohup) stays ignored; held back, it would be heard.
            if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
            sigaddset(&m_held, number);
        }
        pthread_sigmask(SIG_BLOCK, &m_held, &m_before);
        m_heard = Socket(signalfd(-1, &m_held, SFD_NONBLOCK | SFD_CLOEXEC));
    }
    ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    [[nodiscard]] int descriptor() const { return m_heard.descriptor(); }
    [[nodiscard]] bool any() const {
        signalfd_siginfo one{};
        return m_heard.open() && read(m_heard.descriptor(), &one, sizeof one) == sizeof one;
    }

private:
    sigset_t m_held{}, m_before{};
    Socket m_heard;
};

std::vector<std::string> environmentFor(std::int64_t rank, const Endpoint& store) {
    const std::vector<std::string> own{fmt::format("{}={}", kRankVariable, rank),
                                       fmt::format("{}={}", kStoreVariable, toString(store)),
                                       fmt::format("{}={}", kLauncherVariable, getpid())};
    std::vector<std::string> all;
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        const std::string text(*variable);
        const auto same = [&](const std::string& one) { return text.starts_with(one.substr(0, one.find('=') + 1)); };
        if (std::none_of(own.begin(), own.end(), same)) all.push_back(text);
    }
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

/// The processes of the ranks. None outlives it.
class Children {
public:
    explicit Children(const LaunchOptions& options) : m_options(options) {}
    ~Children() { endAll(); }
    Children(const Children&) = delete;
    Children& operator=(const Children&) = delete;

    Result<void> start(std::int64_t ranks, const Endpoint& store) {
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            SHARDSCOPE_ASSIGN(ChildProcess child,
                              ChildProcess::start(m_options.program, m_options.arguments, environmentFor(rank, store)));
            m_children.push_back(std::move(child));
        }
        return {};
    }

    void readAll(bool rest = false) {
        for (std::size_t rank = 0; rank < m_children.size(); ++rank)
            m_children[rank].readLines(
                [&](const std::string& line) {
                    if (m_options.said) m_options.said(static_cast<std::int64_t>(rank), line);
                },
                rest);
    }

    /// Waits until a child writes or a signal comes, or a moment.
    void wait(int signals) const {
        std::vector<pollfd> polled{{signals, POLLIN, 0}};
        for (const ChildProcess& child : m_children)
            if (child.output() >= 0) polled.push_back({child.output(), POLLIN, 0});
        poll(polled.data(), polled.size(), static_cast<int>(kLook.count()));
    }

    bool allEnded() {
        // Each is looked at: one that has ended and was not looked at stays in the system's table.
        bool all = true;
        for (ChildProcess& child : m_children) all = child.ended() && all;
        return all;
    }

    /// A rank that ended although it should not have; those that a signal ended first.
    [[nodiscard]] std::optional<std::int64_t> endedBadly(bool bySignal) const {
        for (std::size_t rank = 0; rank < m_children.size(); ++rank)
            if (!m_children[rank].howItEnded().empty() && m_children[rank].endedBySignal() == bySignal)
                return static_cast<std::int64_t>(rank);
        return std::nullopt;
    }
    [[nodiscard]] std::string howItEnded(std::int64_t rank) const {
        return m_children[static_cast<std::size_t>(rank)].howItEnded();
    }

    void endAll() {
        const Deadline until = Clock::now() + kGrace;
        for (const int number : {SIGTERM, SIGKILL}) {
            if (allEnded()) break;
            for (ChildProcess& child : m_children) child.signal(number);
            while (!allEnded() && (number == SIGKILL || Clock::now() < until)) poll(nullptr, 0, 5);
        }
        readAll(true);
    }

private:
    const LaunchOptions& m_options;
    std::vector<ChildProcess> m_children;
};

/// What has gone wrong, if anything has. Ranks that have only lost a peer wait for the one that is the cause.
std::optional<core::Error> causeOf(const Children& children, const RankCollector& collector,
                                   std::optional<Deadline>& troubleSince) {
    if (const auto rank = children.endedBadly(true))
        return core::Error{ErrorCode::Io,
                           fmt::format("rank {} {}", *rank, children.howItEnded(*rank)),
                           {},
                           "all other ranks were ended; if nobody sent the signal, look for lack of memory"};
    const auto failure = collector.failure();
    if (failure && !failure->failure.lostPeer) return ofRank(failure->rank, failure->failure.error);
    const auto ended = children.endedBadly(false);
    if (!failure && !ended) return std::nullopt;
    if (!troubleSince) troubleSince = Clock::now();
    if (Clock::now() - *troubleSince < kCause) return std::nullopt;
    if (failure) return ofRank(failure->rank, failure->failure.error);
    return core::Error{ErrorCode::Internal,
                       fmt::format("rank {} {}", *ended, children.howItEnded(*ended)),
                       {},
                       "what it printed, if anything, stands above"};
}

}  // namespace

Result<TrainReport> launchRanks(const TrainConfig& config, const LaunchOptions& options) {
    SHARDSCOPE_ASSIGN(const std::unique_ptr<Training> training, Training::create(config));
    const HeldSignals signals;  // before any thread is made, so that none hears them
    RankCollector collector(*training);
    SHARDSCOPE_ASSIGN(const std::unique_ptr<StoreServer> store, collector.serve(options.store));
    Children children(options);
    SHARDSCOPE_TRY(children.start(training->ranks(), store->endpoint()));
    std::optional<Deadline> troubleSince;
    for (;;) {
        children.wait(signals.descriptor());
        if (signals.any()) return core::fail(ErrorCode::Cancelled, "interrupted; every rank was ended");
        const bool ended = children.allEnded();
        children.readAll();
        if (auto cause = causeOf(children, collector, troubleSince)) return tl::unexpected(std::move(*cause));
        if (!ended) continue;
        if (collector.complete()) return collector.report();
        if (!troubleSince) troubleSince = Clock::now();
        if (Clock::now() - *troubleSince >= kCause)
            return core::fail(ErrorCode::Internal, "the ranks ended without telling what came of their training", {},
                              "what they printed, if anything, stands above");
    }
}

}  // namespace shardscope::runtime
