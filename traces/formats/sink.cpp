#include "traces/formats/sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace shardscope::formats {

namespace {

// Paths of the partial files, where a signal handler can read them without a lock.
std::array<std::atomic<const char*>, 16> g_partialPaths{};

void rememberPartial(const char* path) {
    for (auto& slot : g_partialPaths) {
        const char* none = nullptr;
        if (slot.compare_exchange_strong(none, path)) return;
    }
}

void forgetPartial(const char* path) {
    for (auto& slot : g_partialPaths) {
        const char* expected = path;
        if (slot.compare_exchange_strong(expected, nullptr)) return;
    }
}

/// Holds signals back, so that none comes between a file and the note that it is partial.
class SignalsHeldBack {
public:
    SignalsHeldBack() {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &m_before);
    }
    SignalsHeldBack(const SignalsHeldBack&) = delete;
    SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;
    ~SignalsHeldBack() { ::pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }

private:
    sigset_t m_before;
};

/// The file that `path` means: through links, so that a rename replaces what they point to and not them, and on to
/// what is not there yet.
std::string targetOf(std::string path) {
    constexpr int kMostLinks = 40;  // as the kernel
    for (int i = 0; i < kMostLinks; ++i) {
        if (char* real = ::realpath(path.c_str(), nullptr)) {
            path = real;
            std::free(real);
            return path;
        }
        std::error_code error;
        const std::filesystem::path next = std::filesystem::read_symlink(path, error);
        if (error) break;
        path = (std::filesystem::path(path).parent_path() / next).string();
    }
    return path;
}

}  // namespace

void removePartialFiles() noexcept {
    for (auto& slot : g_partialPaths) {
        if (const char* path = slot.exchange(nullptr)) ::unlink(path);
    }
}

FileSink::FileSink(std::string path) : m_path(targetOf(std::move(path))) {
    open();
}

void FileSink::open() {
    struct stat info = {};
    const bool exists = ::stat(m_path.c_str(), &info) == 0;
    if (!exists && errno == ELOOP) return note("cannot write", errno);
    if (exists && S_ISDIR(info.st_mode)) return note("cannot write", EISDIR);
    if (exists && !S_ISREG(info.st_mode)) return openDirectly();
    // A rename would replace a file that the user protected.
    if (exists && ::access(m_path.c_str(), W_OK) != 0) return note("cannot write", errno);
    const SignalsHeldBack held;
    int descriptor = -1;
    constexpr int kMostLeftovers = 100;  // of runs that were killed, where process ids start anew (containers)
    for (int i = 0; i < kMostLeftovers && descriptor < 0; ++i) {
        m_partial = fmt::format("{}.partial-{}{}", m_path, ::getpid(), i == 0 ? "" : fmt::format("-{}", i));
        descriptor = ::open(m_partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) break;
    }
    if (descriptor < 0) {
        const int error = errno;
        m_partial.clear();
        return note("cannot create", error);
    }
    rememberPartial(m_partial.c_str());
    if (exists) (void)::fchmod(descriptor, info.st_mode & 07777);
    m_file = ::fdopen(descriptor, "wb");
    if (m_file == nullptr) note("cannot create", errno);
}

void FileSink::openDirectly() {
    // Without O_NONBLOCK a pipe that nobody reads would be waited for, for ever.
    const int descriptor = ::open(m_path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return note("cannot write", errno);
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    m_file = ::fdopen(descriptor, "wb");
    if (m_file == nullptr) note("cannot write", errno);
}

FileSink::~FileSink() {
    discard();
}

void FileSink::discard() {
    if (m_file != nullptr) std::fclose(std::exchange(m_file, nullptr));
    if (!m_partial.empty()) {
        ::unlink(m_partial.c_str());
        forgetPartial(m_partial.c_str());
        m_partial.clear();
    }
}

void FileSink::note(const char* what, int error) {
    if (!m_state) return;
    std::string hint;
    if (error == ENOSPC || error == EDQUOT) hint = "free some space, or write to another place with -o";
    if (error == EACCES || error == EROFS || error == EPERM) hint = "choose a place that you may write to with -o";
    if (error == ENOENT || error == ENOTDIR) hint = "create the folder first";
    if (error == ENXIO) hint = "start what reads this pipe first, or name a regular file with -o";
    m_state = core::fail(core::ErrorCode::Io, fmt::format("{}: {}", what, std::strerror(error)), m_path, hint);
}

void FileSink::write(std::string_view bytes) {
    if (!m_state || bytes.empty()) return;
    if (std::fwrite(bytes.data(), 1, bytes.size(), m_file) != bytes.size()) note("cannot write", errno);
}

core::Result<void> FileSink::finish() {
    if (m_state && std::fflush(m_file) != 0) note("cannot write", errno);
    if (m_file != nullptr && std::fclose(std::exchange(m_file, nullptr)) != 0) note("cannot write", errno);
    if (m_state && !m_partial.empty()) {
        if (std::rename(m_partial.c_str(), m_path.c_str()) == 0) {
            forgetPartial(m_partial.c_str());
            m_partial.clear();
        } else {
            note("cannot rename the finished file", errno);
        }
    }
    discard();
    return m_state;
}

struct GzipSink::Stream {
    z_stream z = {};
    std::array<char, 1 << 16> buffer;
};

GzipSink::GzipSink(std::unique_ptr<Sink> target, int level)
    : m_target(std::move(target)), m_stream(std::make_unique<Stream>()) {
    constexpr int kGzipHeader = 16;
    const int answer = deflateInit2(&m_stream->z, level, Z_DEFLATED, MAX_WBITS + kGzipHeader, 8, Z_DEFAULT_STRATEGY);
    if (answer != Z_OK) {
        m_state = core::fail(core::ErrorCode::Io, fmt::format("zlib cannot start ({})", answer));
        m_stream.reset();
    }
}

GzipSink::~GzipSink() {
    if (m_stream) deflateEnd(&m_stream->z);
}

void GzipSink::deflateAll(std::string_view bytes, bool last) {
    z_stream& z = m_stream->z;
    do {
        const std::size_t piece = std::min<std::size_t>(bytes.size(), 1u << 30);
        z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        z.avail_in = static_cast<uInt>(piece);
        bytes.remove_prefix(piece);
        const int flush = last && bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
        do {
            z.next_out = reinterpret_cast<Bytef*>(m_stream->buffer.data());
            z.avail_out = static_cast<uInt>(m_stream->buffer.size());
            deflate(&z, flush);
            m_target->write({m_stream->buffer.data(), m_stream->buffer.size() - z.avail_out});
        } while (z.avail_out == 0);
    } while (!bytes.empty());
}

void GzipSink::write(std::string_view bytes) {
    if (m_stream && !bytes.empty()) deflateAll(bytes, false);
}

core::Result<void> GzipSink::finish() {
    if (m_stream) deflateAll({}, true);
    core::Result<void> target = m_target->finish();
    return m_state ? target : m_state;
}

}  // namespace shardscope::formats
