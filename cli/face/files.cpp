#include "cli/face/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace shardscope::cli {
namespace {

using core::ErrorCode;
using core::fail;

constexpr const char* kReadHint = "see that it is there and that you may read it";

class Descriptor {
public:
    explicit Descriptor(int fd) : m_fd(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (m_fd >= 0) ::close(m_fd);
    }
    [[nodiscard]] int get() const { return m_fd; }

private:
    int m_fd;
};

std::string reason(int error) {
    return std::error_code(error, std::generic_category()).message();
}

/// A pipe can be read once, and a model's file is read more than once; a device may never end.
core::Result<void> checkRegular(const struct stat& status, const std::string& name) {
    if (S_ISREG(status.st_mode)) return {};
    if (S_ISDIR(status.st_mode))
        return fail(ErrorCode::Io, "this is a folder, a file is needed", name, "name a file in it");
    return fail(ErrorCode::Io,
                std::string("this is ") + (S_ISFIFO(status.st_mode) ? "a pipe" : "a device or a socket") +
                    ", a regular file is needed",
                name, "write what it gives into a file, and name that");
}

core::Result<std::string> readUpTo(const std::filesystem::path& path, std::int64_t count, bool whole) {
    const std::string name = path.string();
    const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return fail(ErrorCode::Io, "cannot open: " + reason(errno), name, kReadHint);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return fail(ErrorCode::Io, "cannot read: " + reason(errno), name, kReadHint);
    SHARDSCOPE_TRY(checkRegular(status, name));
    std::string bytes;
    bytes.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(status.st_size, 0, count)));
    char buffer[65536];
    while (static_cast<std::int64_t>(bytes.size()) < count + (whole ? 1 : 0)) {
        const std::size_t wanted =
            std::min<std::size_t>(sizeof buffer, static_cast<std::size_t>(count + (whole ? 1 : 0)) - bytes.size());
        const ssize_t got = ::read(file.get(), buffer, wanted);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(ErrorCode::Io, "cannot read: " + reason(errno), name, kReadHint);
        if (got == 0) break;
        bytes.append(buffer, static_cast<std::size_t>(got));
    }
    if (static_cast<std::int64_t>(bytes.size()) > count)
        return fail(ErrorCode::Io, fmt::format("larger than the {} bytes that a file of this kind may have", count),
                    name, "name a scenario, a config.json, a cluster or a module-tree file");
    return bytes;
}

}  // namespace

bool hasEnding(std::string_view path, std::string_view ending) {
    if (path.size() < ending.size()) return false;
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                      [&](char wanted, char found) { return wanted == small(found); });
}

core::Result<std::string> readFile(const std::filesystem::path& path, std::int64_t limit) {
    return readUpTo(path, limit, true);
}

core::Result<std::string> readStart(const std::filesystem::path& path, std::int64_t count) {
    return readUpTo(path, count, false);
}

core::Result<std::int64_t> sizeOfFile(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.string().c_str(), &status) != 0)
        return fail(ErrorCode::Io, "cannot open: " + reason(errno), path.string(), kReadHint);
    SHARDSCOPE_TRY(checkRegular(status, path.string()));
    return static_cast<std::int64_t>(status.st_size);
}

}  // namespace shardscope::cli
