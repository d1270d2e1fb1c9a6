#include "traces/formats/gunzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace shardscope::formats {

using core::ErrorCode;
using core::fail;

namespace {

class Inflating {
public:
    Inflating() {
        constexpr int kGzipOnly = 16;
        m_ready = inflateInit2(&m_stream, MAX_WBITS + kGzipOnly) == Z_OK;
    }
    Inflating(const Inflating&) = delete;
    Inflating& operator=(const Inflating&) = delete;
    ~Inflating() {
        if (m_ready) inflateEnd(&m_stream);
    }
    [[nodiscard]] bool ready() const { return m_ready; }
    z_stream& stream() { return m_stream; }

private:
    z_stream m_stream{};
    bool m_ready = false;
};

}  // namespace

bool isGzip(std::string_view bytes) {
    return bytes.size() >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

core::Result<std::string> gunzip(std::string_view bytes, const std::string& name, std::int64_t limit) {
    if (!isGzip(bytes))
        return fail(ErrorCode::Input, "this is no gzip file (it does not begin with 1f 8b)", name,
                    "name a .gz file, or the unpacked one");
    Inflating inflating;
    if (!inflating.ready())
        return fail(ErrorCode::Io, "zlib cannot begin: no memory is left", name, "free some memory");
    z_stream& stream = inflating.stream();
    std::string out;
    char buffer[65536];
    std::size_t read = 0;
    int status = Z_OK;
    while (true) {
        if (stream.avail_in == 0 && read < bytes.size()) {
            const std::size_t count = std::min<std::size_t>(bytes.size() - read, std::numeric_limits<uInt>::max());
            // zlib does not write to what it reads.
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
            stream.avail_in = static_cast<uInt>(count);
            read += count;
        }
        stream.next_out = reinterpret_cast<Bytef*>(buffer);
        stream.avail_out = sizeof buffer;
        status = inflate(&stream, Z_NO_FLUSH);
        out.append(buffer, sizeof buffer - stream.avail_out);
        if (static_cast<std::int64_t>(out.size()) > limit)
            return fail(ErrorCode::Input, fmt::format("more than {} bytes are packed in it", limit), name,
                        "name a smaller file");
        if (status == Z_STREAM_END) {
            // Another member may follow, as where files were joined.
            const std::string_view rest = bytes.substr(read - stream.avail_in);
            if (rest.find_first_not_of('\0') == std::string_view::npos) return out;  // padded, as by tapes
            if (inflateReset(&stream) != Z_OK) break;
            continue;
        }
        if (status == Z_BUF_ERROR ||
            (status == Z_OK && stream.avail_out != 0 && stream.avail_in == 0 && read == bytes.size()))
            return fail(
                ErrorCode::Input,
                fmt::format("the file is cut off: it ends after {} bytes, inside the packed data", bytes.size()), name,
                "fetch it again");
        if (status != Z_OK) break;
    }
    return fail(ErrorCode::Input,
                fmt::format("the packed data is damaged near byte {} ({})", bytes.size() - stream.avail_in,
                            stream.msg == nullptr ? "not what gzip writes" : stream.msg),
                name, "fetch it again");
}

}  // namespace shardscope::formats
