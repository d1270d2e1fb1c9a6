#pragma once

// Where a writer's bytes go: a string, a file, or through gzip into another sink. An error is kept until `finish`, so
// that writers need not look after every piece.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace shardscope::formats {

class Sink {
public:
    Sink() = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    virtual ~Sink() = default;

    virtual void write(std::string_view bytes) = 0;
    /// To be called once, after the last write: what went wrong on the way, or nothing.
    [[nodiscard]] virtual core::Result<void> finish() = 0;
};

class StringSink final : public Sink {
public:
    void write(std::string_view bytes) override { m_text += bytes; }
    [[nodiscard]] core::Result<void> finish() override { return {}; }
    [[nodiscard]] const std::string& text() const { return m_text; }

private:
    std::string m_text;
};

/// Writes beside the target and renames in `finish`: whoever looks at `path` sees the old file or the whole new one. A
/// sink that is dropped unfinished leaves nothing behind. Links are followed, also to a file that is not there yet.
/// What is no regular file (a pipe that someone reads, a terminal) is written directly.
class FileSink final : public Sink {
public:
    explicit FileSink(std::string path);
    ~FileSink() override;

    void write(std::string_view bytes) override;
    [[nodiscard]] core::Result<void> finish() override;

private:
    void open();
    void openDirectly();
    void note(const char* what, int error);
    void discard();

    std::string m_path, m_partial;  ///< m_partial is empty when written directly
    std::FILE* m_file = nullptr;
    core::Result<void> m_state;
};

/// Compresses (RFC 1952, no name and no time in the header: the same bytes every time) into another sink.
class GzipSink final : public Sink {
public:
    explicit GzipSink(std::unique_ptr<Sink> target, int level = 6);
    ~GzipSink() override;

    void write(std::string_view bytes) override;
    [[nodiscard]] core::Result<void> finish() override;

private:
    struct Stream;
    void deflateAll(std::string_view bytes, bool last);

    std::unique_ptr<Sink> m_target;
    std::unique_ptr<Stream> m_stream;
    core::Result<void> m_state;
};

/// Removes what unfinished FileSinks have written so far. Async-signal-safe: for the handler of an interruption.
void removePartialFiles() noexcept;

}  // namespace shardscope::formats
