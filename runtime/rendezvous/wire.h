#pragma once

// Values as bytes for another process: little-endian, lengths before what they count. The reader trusts no length.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace shardscope::runtime {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

class WireWriter {
public:
    template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void put(T value) { append(&value, sizeof(T)); }
    void put(const std::string& text) {
        put(static_cast<std::uint32_t>(text.size()));
        append(text.data(), text.size());
    }
    template <class T>
    requires std::is_arithmetic_v<T>
    void put(std::span<const T> values) {
        put(static_cast<std::uint64_t>(values.size()));
        append(values.data(), values.size() * sizeof(T));
    }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return m_bytes; }
    [[nodiscard]] std::vector<std::byte> take() { return std::move(m_bytes); }

private:
    void append(const void* data, std::size_t size) {
        const auto* begin = static_cast<const std::byte*>(data);
        m_bytes.insert(m_bytes.end(), begin, begin + size);
    }
    std::vector<std::byte> m_bytes;
};

/// After something that does not fit every further value is zero or empty, and `whole` is false.
class WireReader {
public:
    explicit WireReader(std::span<const std::byte> bytes) : m_left(bytes) {}

    template <class T>
    requires std::is_arithmetic_v<T> T get() {
        T value{};
        if (const auto* from = next(1, sizeof(T))) std::memcpy(&value, from, sizeof(T));
        return value;
    }
    std::string text() {
        const auto size = get<std::uint32_t>();
        const auto* from = next(size, 1);
        return from == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(from), size);
    }
    template <class T>
    requires std::is_arithmetic_v<T> std::vector<T> values() {
        const auto count = get<std::uint64_t>();
        const auto* from = next(count, sizeof(T));
        std::vector<T> read;
        if (from == nullptr || count == 0) return read;
        read.resize(count);
        std::memcpy(read.data(), from, count * sizeof(T));
        return read;
    }
    /// How many things follow of which each takes at least `leastBytes`; 0 if that many could not be there, or if they
    /// are more than `most`.
    std::size_t count(std::size_t leastBytes, std::size_t most = std::numeric_limits<std::size_t>::max()) {
        const auto count = get<std::uint64_t>();
        if (count <= m_left.size() / leastBytes && count <= most) return count;
        m_failed = true;
        return 0;
    }
    [[nodiscard]] bool failed() const { return m_failed; }
    /// Nothing was missing and nothing is left.
    [[nodiscard]] bool whole() const { return !m_failed && m_left.empty(); }

private:
    const std::byte* next(std::uint64_t count, std::size_t width) {
        if (m_failed || count > m_left.size() / width) {
            m_failed = true;
            return nullptr;
        }
        static constexpr std::byte kNothing{};
        const std::byte* from = m_left.empty() ? &kNothing : m_left.data();
        m_left = m_left.subspan(count * width);
        return from;
    }
    std::span<const std::byte> m_left;
    bool m_failed = false;
};

}  // namespace shardscope::runtime
