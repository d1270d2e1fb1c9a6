#include "cli/face/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace shardscope::cli {
namespace {

using core::ErrorCode;
using core::fail;

/// Name of the file that is being written, for the signal handler; one at a time is enough for a command.
constexpr std::size_t kLongestName = 4096;
char unfinishedName[kLongestName];                // NOLINT: read by a signal handler
std::atomic<bool> unfinishedNameIsSet{false};     // NOLINT

class Descriptor {
public:
    explicit Descriptor(int fd) : m_fd(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (m_fd >= 0) ::close(m_fd);
    }
    [[nodiscard]] int get() const { return m_fd; }
    [[nodiscard]] int close() {
        const int result = ::close(m_fd);
        m_fd = -1;
        return result;
    }

private:
    int m_fd;
};

std::string reason(int error) { return std::error_code(error, std::generic_category()).message(); }

bool writeAll(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), std::min<std::size_t>(bytes.size(), std::size_t{1} << 24));
        if (written < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

core::Result<std::string> readUpTo(const std::filesystem::path& path, std::int64_t count, bool whole) {
    const std::string name = path.string();
    const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return fail(ErrorCode::Io, "cannot open: " + reason(errno), name);
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) return fail(ErrorCode::Io, "cannot read: " + reason(errno), name);
    if (S_ISDIR(status.st_mode)) return fail(ErrorCode::Io, "this is a folder, a file is needed", name);
    // Pipes are fine (process substitution); reading them may wait.
    ::fcntl(file.get(), F_SETFL, 0);
    std::string bytes;
    bytes.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(status.st_size, 0, count)));
    char buffer[65536];
    while (static_cast<std::int64_t>(bytes.size()) < count + (whole ? 1 : 0)) {
        const std::size_t wanted = std::min<std::size_t>(
            sizeof buffer, static_cast<std::size_t>(count + (whole ? 1 : 0)) - bytes.size());
        const ssize_t got = ::read(file.get(), buffer, wanted);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(ErrorCode::Io, "cannot read: " + reason(errno), name);
        if (got == 0) break;
        bytes.append(buffer, static_cast<std::size_t>(got));
    }
    if (static_cast<std::int64_t>(bytes.size()) > count)
        return fail(ErrorCode::Io, fmt::format("larger than the {} bytes that a file of this kind may have", count), name);
    return bytes;
}

}  // namespace

core::Result<std::string> readFile(const std::filesystem::path& path, std::int64_t limit) {
    return readUpTo(path, limit, true);
}

core::Result<std::string> readStart(const std::filesystem::path& path, std::int64_t count) {
    return readUpTo(path, count, false);
}

core::Result<std::int64_t> sizeOfFile(const std::filesystem::path& path) {
    struct stat status{};
    if (::stat(path.string().c_str(), &status) != 0)
        return fail(ErrorCode::Io, "cannot open: " + reason(errno), path.string());
    return static_cast<std::int64_t>(status.st_size);
}

core::Result<void> writeFile(const std::filesystem::path& path, std::string_view bytes) {
    const std::string name = path.string();
    const auto cannot = [&](int error) {
        return fail(ErrorCode::Io, "cannot write: " + reason(error), name,
                    error == ENOSPC ? "the disk is full; what was there before is unchanged" : "");
    };
    std::error_code ignored;
    // Writing to a link replaces what it points to, not the link.
    std::filesystem::path target = std::filesystem::weakly_canonical(path, ignored);
    if (target.empty()) target = path;
    const auto status = std::filesystem::status(target, ignored);
    if (std::filesystem::is_directory(status)) return fail(ErrorCode::Io, "cannot write: this is a folder", name);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        Descriptor device(::open(name.c_str(), O_WRONLY | O_CLOEXEC));
        if (device.get() < 0 || !writeAll(device.get(), bytes)) return cannot(errno);
        return {};
    }
    if (std::filesystem::exists(status) && ::access(target.c_str(), W_OK) != 0) return cannot(errno);

    std::string temporary = target.string() + ".XXXXXX";
    if (temporary.size() >= kLongestName) return cannot(ENAMETOOLONG);
    Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (file.get() < 0) return cannot(errno);
    std::memcpy(unfinishedName, temporary.c_str(), temporary.size() + 1);
    unfinishedNameIsSet.store(true);
    const auto giveUp = [&](int error) {
        ::unlink(temporary.c_str());
        unfinishedNameIsSet.store(false);
        return cannot(error);
    };
    struct stat before{};
    mode_t mode = 0;
    if (::stat(target.c_str(), &before) == 0) {
        mode = before.st_mode & 07777;
    } else {
        const mode_t mask = ::umask(0);
        ::umask(mask);
        mode = 0666 & ~mask;
    }
    if (!writeAll(file.get(), bytes) || ::fchmod(file.get(), mode) != 0 || ::fsync(file.get()) != 0)
        return giveUp(errno);
    if (file.close() != 0) return giveUp(errno);
    if (::rename(temporary.c_str(), target.c_str()) != 0) return giveUp(errno);
    unfinishedNameIsSet.store(false);
    return {};
}

void removeUnfinishedFiles() noexcept {
    if (unfinishedNameIsSet.load()) ::unlink(unfinishedName);
}

}  // namespace shardscope::cli
