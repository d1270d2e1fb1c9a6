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
#include <cstdlib>
#include <cstring>
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

}  // namespace

void removePartialFiles() noexcept {
    for (auto& slot : g_partialPaths) {
        if (const char* path = slot.exchange(nullptr)) ::unlink(path);
    }
}

FileSink::FileSink(std::string path) : m_path(std::move(path)) {
    // Through a link, so that the rename replaces what it points to and not the link.
    if (char* real = ::realpath(m_path.c_str(), nullptr)) {
        m_path = real;
        std::free(real);
    }
    struct stat info = {};
    const bool exists = ::stat(m_path.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) {
        note("cannot write", EISDIR);
        return;
    }
    if (exists && !S_ISREG(info.st_mode)) {
        m_file = std::fopen(m_path.c_str(), "wb");
    } else if (exists && ::access(m_path.c_str(), W_OK) != 0) {
        note("cannot write", errno);  // a rename would replace a file that the user protected
        return;
    } else {
        m_partial = fmt::format("{}.partial-{}", m_path, ::getpid());
        const int descriptor = ::open(m_partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) {
            m_file = ::fdopen(descriptor, "wb");
            rememberPartial(m_partial.c_str());
            if (exists) (void)::fchmod(descriptor, info.st_mode & 07777);
        }
    }
    if (m_file == nullptr) {
        const int error = errno;
        m_partial.clear();
        note("cannot create", error);
    }
}

FileSink::~FileSink() {
    discard();
}

void FileSink::discard() {
    if (m_file != nullptr) std::fclose(std::exchange(m_file, nullptr));
    if (!m_partial.empty()) {
        forgetPartial(m_partial.c_str());
        ::unlink(m_partial.c_str());
        m_partial.clear();
    }
}

void FileSink::note(const char* what, int error) {
    if (!m_state) return;
    std::string hint;
    if (error == ENOSPC || error == EDQUOT) hint = "free some space, or write to another place with -o";
    if (error == EACCES || error == EROFS || error == EPERM) hint = "choose a place that you may write to with -o";
    if (error == ENOENT || error == ENOTDIR) hint = "create the folder first";
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
