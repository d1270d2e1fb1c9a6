#include "core/model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "core/base/repeated_keys.h"

namespace shardscope::core {
namespace {

struct StoredType {
    std::string_view name;
    int bits;
    std::optional<DType> type;
};

// The format's dtypes (framework semantics 9.2).
constexpr std::array<StoredType, 22> kStoredTypes{{
    {"BOOL", 8, DType::Bool},
    {"F4", 4, std::nullopt},
    {"F6_E2M3", 6, std::nullopt},
    {"F6_E3M2", 6, std::nullopt},
    {"U8", 8, DType::U8},
    {"I8", 8, std::nullopt},
    {"F8_E5M2", 8, std::nullopt},
    {"F8_E4M3", 8, std::nullopt},
    {"F8_E8M0", 8, std::nullopt},
    {"F8_E4M3FNUZ", 8, std::nullopt},
    {"F8_E5M2FNUZ", 8, std::nullopt},
    {"I16", 16, std::nullopt},
    {"U16", 16, std::nullopt},
    {"F16", 16, DType::F16},
    {"BF16", 16, DType::BF16},
    {"I32", 32, DType::I32},
    {"U32", 32, std::nullopt},
    {"F32", 32, DType::F32},
    {"C64", 64, std::nullopt},
    {"F64", 64, DType::F64},
    {"I64", 64, DType::I64},
    {"U64", 64, DType::U64},
}};

const StoredType* storedType(std::string_view name) {
    for (const StoredType& type : kStoredTypes)
        if (type.name == name) return &type;
    return nullptr;
}

/// For dtypes that only storage knows, one of the same nature: shapes tell a model, not widths.
DType likeType(std::string_view stored) {
    return stored.front() == 'F' || stored.front() == 'C' ? DType::F32 : DType::I32;
}

bool multiply(std::int64_t a, std::int64_t b, std::int64_t& product) {
    return !__builtin_mul_overflow(a, b, &product);
}

/// A name from a file, made fit for a message.
std::string quoted(std::string_view name) {
    constexpr std::size_t kLongest = 120;
    return fmt::format("'{}{}'", name.substr(0, kLongest), name.size() > kLongest ? "..." : "");
}

tl::unexpected<Error> broken(std::string message, const std::string& file, std::string_view entry = {}) {
    std::string where = file;
    if (!entry.empty()) where += " " + quoted(entry);
    return fail(ErrorCode::Input, std::move(message), std::move(where),
                "the file is no intact safetensors file; copy or download it again");
}

/// A non-negative integer of the header.
Result<std::int64_t> count(const Document& value, std::string_view what, const std::string& file,
                           std::string_view entry) {
    if (value.kind != Document::Kind::Integer)
        return broken(fmt::format("{}: found {}, expected an integer below 2^63", what, describeKind(value.kind)), file,
                      entry);
    if (value.integer < 0)
        return broken(fmt::format("{}: found {}, expected no negative number", what, value.integer), file, entry);
    return value.integer;
}

Result<SafetensorsEntry> readEntry(const std::string& name, const Document& value, const std::string& file) {
    if (value.kind != Document::Kind::Table)
        return broken(
            fmt::format("found {}, expected a table of dtype, shape and data_offsets", describeKind(value.kind)), file,
            name);
    const Document* dtype = value.find("dtype");
    const Document* shape = value.find("shape");
    const Document* offsets = value.find("data_offsets");
    if (dtype == nullptr || dtype->kind != Document::Kind::Text)
        return broken("dtype: expected a string such as \"F32\"", file, name);
    const StoredType* type = storedType(dtype->text);
    if (type == nullptr)
        return broken(
            fmt::format("dtype: found {}, expected one of BOOL, U8, F16, BF16, F32, I64, ...", quoted(dtype->text)),
            file, name);
    if (shape == nullptr || shape->kind != Document::Kind::List)
        return broken("shape: expected a list of integers", file, name);
    if (offsets == nullptr || offsets->kind != Document::Kind::List || offsets->items.size() != 2)
        return broken("data_offsets: expected a list of two integers", file, name);

    SafetensorsEntry entry;
    entry.name = name;
    entry.dtype = dtype->text;
    entry.type = type->type;
    std::int64_t elements = 1;
    for (const Document& dimension : shape->items) {
        SHARDSCOPE_ASSIGN(const std::int64_t size, count(dimension, "shape", file, name));
        if (!multiply(elements, size, elements))
            return broken(fmt::format("shape: the number of elements overflows 63 bits at dimension {}", size), file,
                          name);
        entry.shape.push_back(size);
    }
    SHARDSCOPE_ASSIGN(entry.begin, count(offsets->items[0], "data_offsets", file, name));
    SHARDSCOPE_ASSIGN(entry.end, count(offsets->items[1], "data_offsets", file, name));
    std::int64_t bits = 0;
    if (!multiply(elements, type->bits, bits))
        return broken(fmt::format("shape: {} of {} overflows 63 bits", toString(entry.shape), entry.dtype), file, name);
    if (bits % 8 != 0)
        return broken(fmt::format("shape: {} of {} does not fill whole bytes", toString(entry.shape), entry.dtype),
                      file, name);
    if (entry.end < entry.begin)
        return broken(fmt::format("data_offsets: end {} before begin {}", entry.end, entry.begin), file, name);
    if (entry.end - entry.begin != bits / 8)
        return broken(fmt::format("data_offsets: found {} bytes, expected {} for {} of {}", entry.end - entry.begin,
                                  bits / 8, toString(entry.shape), entry.dtype),
                      file, name);
    return entry;
}

/// Sorted by offset the tensors must cover the data without a hole, an overlap or a rest.
Result<void> checkCover(const SafetensorsHeader& header, std::int64_t dataBytes) {
    std::vector<const SafetensorsEntry*> sorted;
    sorted.reserve(header.entries.size());
    for (const SafetensorsEntry& entry : header.entries) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(), [](const SafetensorsEntry* a, const SafetensorsEntry* b) {
        return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
    });
    std::int64_t covered = 0;
    for (const SafetensorsEntry* entry : sorted) {
        if (entry->begin != covered)
            return broken(fmt::format("data_offsets: begins at byte {}, expected {} ({})", entry->begin, covered,
                                      entry->begin < covered ? "two tensors overlap" : "there is a hole"),
                          header.file, entry->name);
        covered = entry->end;
    }
    if (covered != dataBytes)
        return broken(fmt::format("the tensors take {} bytes, the file holds {} of data", covered, dataBytes),
                      header.file);
    return {};
}

template <class Value>
Result<std::vector<Value>> readValues(const SafetensorsHeader& header, std::string_view wholeFile,
                                      std::string_view name, DType wanted) {
    static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");
    SHARDSCOPE_ASSIGN(const std::string_view bytes, tensorBytes(header, wholeFile, name));
    const SafetensorsEntry& entry = *header.find(name);
    if (entry.type != wanted)
        return fail(ErrorCode::Input, fmt::format("dtype: found {}, expected {}", entry.dtype, nameOf(wanted)),
                    header.file + " " + quoted(name));
    std::vector<Value> values(bytes.size() / sizeof(Value));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

}  // namespace

const SafetensorsEntry* SafetensorsHeader::find(std::string_view name) const {
    for (const SafetensorsEntry& entry : entries)
        if (entry.name == name) return &entry;
    return nullptr;
}

Result<std::int64_t> safetensorsHeaderBytes(std::string_view firstBytes, std::int64_t fileBytes,
                                            const std::string& file) {
    if (fileBytes < kSafetensorsPrefixBytes || firstBytes.size() < static_cast<std::size_t>(kSafetensorsPrefixBytes))
        return broken(fmt::format("found {} bytes, expected at least 8", fileBytes), file);
    std::uint64_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(firstBytes[i]);
    if (length > static_cast<std::uint64_t>(kSafetensorsMaxHeaderBytes))
        return broken(fmt::format("header length: found {}, expected at most {}", length, kSafetensorsMaxHeaderBytes),
                      file);
    const auto header = static_cast<std::int64_t>(length);
    if (header > fileBytes - kSafetensorsPrefixBytes)
        return broken(fmt::format("header length: found {}, but the file has only {} bytes after it", header,
                                  fileBytes - kSafetensorsPrefixBytes),
                      file);
    return kSafetensorsPrefixBytes + header;
}

Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view bytes, std::int64_t fileBytes,
                                                 const std::string& file) {
    SafetensorsHeader header;
    header.file = file;
    SHARDSCOPE_ASSIGN(header.dataStart, safetensorsHeaderBytes(bytes, fileBytes, file));
    if (bytes.size() < static_cast<std::size_t>(header.dataStart))
        return broken(fmt::format("found {} bytes, expected the {} of the header", bytes.size(), header.dataStart),
                      file);
    const std::string_view text = bytes.substr(static_cast<std::size_t>(kSafetensorsPrefixBytes),
                                               static_cast<std::size_t>(header.dataStart - kSafetensorsPrefixBytes));
    // The JSON reader would skip a byte order mark; the format's own does not.
    if (const auto first = text.find_first_not_of(" \t\r\n"); first == std::string_view::npos || text[first] != '{')
        return broken("header: expected JSON that starts with '{'", file);
    SHARDSCOPE_ASSIGN(const Document root, parseJsonWithRepeatedKeys(text, file + " (header)"));
    if (root.members.size() > kMostTensors)
        return fail(ErrorCode::Unsupported,
                    fmt::format("found {} tensors, expected at most {}", root.members.size(), kMostTensors), file,
                    "name a config.json or a module-tree file instead");
    header.entries.reserve(root.members.size());
    for (const auto& [name, value] : root.members) {
        if (name != "__metadata__") {
            SHARDSCOPE_ASSIGN(SafetensorsEntry entry, readEntry(name, value, file));
            header.entries.push_back(std::move(entry));
            continue;
        }
        if (value.kind == Document::Kind::Null) continue;
        if (value.kind != Document::Kind::Table) return broken("__metadata__: expected a table of strings", file);
        for (const auto& [key, text2] : value.members) {
            if (text2.kind != Document::Kind::Text)
                return broken(fmt::format("__metadata__: found {} for {}, expected a string", describeKind(text2.kind),
                                          quoted(key)),
                              file);
            header.metadata.emplace_back(key, text2.text);
        }
    }
    SHARDSCOPE_TRY(checkCover(header, fileBytes - header.dataStart));
    return header;
}

Result<std::string_view> tensorBytes(const SafetensorsHeader& header, std::string_view wholeFile,
                                     std::string_view name) {
    const SafetensorsEntry* entry = header.find(name);
    if (entry == nullptr) return fail(ErrorCode::Input, fmt::format("found no tensor {}", quoted(name)), header.file);
    const auto begin = static_cast<std::size_t>(header.dataStart + entry->begin);
    const auto end = static_cast<std::size_t>(header.dataStart + entry->end);
    if (end > wholeFile.size())
        return broken(fmt::format("found {} bytes, expected at least {}", wholeFile.size(), end), header.file, name);
    return wholeFile.substr(begin, end - begin);
}

Result<std::vector<float>> readF32(const SafetensorsHeader& header, std::string_view wholeFile, std::string_view name) {
    return readValues<float>(header, wholeFile, name, DType::F32);
}

Result<std::vector<std::int64_t>> readI64(const SafetensorsHeader& header, std::string_view wholeFile,
                                          std::string_view name) {
    return readValues<std::int64_t>(header, wholeFile, name, DType::I64);
}

Result<SafetensorsIndex> parseSafetensorsIndex(std::string_view bytes, const std::string& file) {
    SHARDSCOPE_ASSIGN(const Document root, parseJson(bytes, file));
    const Document* map = root.find("weight_map");
    if (map == nullptr || map->kind != Document::Kind::Table || map->members.empty())
        return fail(ErrorCode::Input, "found no table weight_map, expected tensor names with the file of each", file,
                    "name a model.safetensors.index.json as Hugging Face writes it");
    SafetensorsIndex index;
    index.file = file;
    for (const auto& [tensor, shard] : map->members) {
        // The name comes from a file and is opened beside the index: it must stay there.
        const bool plain = shard.kind == Document::Kind::Text && !shard.text.empty() && shard.text != "." &&
                           shard.text != ".." &&
                           shard.text.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
        if (!plain)
            return fail(ErrorCode::Input,
                        fmt::format("weight_map {}: expected the name of a file beside the index", quoted(tensor)),
                        fmt::format("{}:{}", file, shard.line));
        index.weightMap.emplace_back(tensor, shard.text);
        index.shards.push_back(shard.text);
    }
    std::sort(index.shards.begin(), index.shards.end());
    index.shards.erase(std::unique(index.shards.begin(), index.shards.end()), index.shards.end());
    return index;
}

Error missingShards(const SafetensorsIndex& index, const std::vector<std::string>& missing) {
    return Error{ErrorCode::Io,
                 fmt::format("{} of its {} files are not there (the first: {})", missing.size(), index.shards.size(),
                             missing.empty() ? "" : quoted(missing.front())),
                 index.file,
                 "an index names files, not shapes: put the .safetensors files beside it, or give the config.json"};
}

Result<ShapesSpec> shapesFromSafetensors(const std::string& modelName, const std::vector<SafetensorsHeader>& shards,
                                         const SafetensorsIndex* index) {
    ShapesSpec spec;
    spec.name = modelName;
    std::unordered_map<std::string_view, const SafetensorsHeader*> homes;
    for (const SafetensorsHeader& shard : shards) {
        for (const SafetensorsEntry& entry : shard.entries) {
            if (const auto [home, fresh] = homes.emplace(entry.name, &shard); !fresh)
                return fail(ErrorCode::Input,
                            fmt::format("tensor {} is also in {}", quoted(entry.name), home->second->file), shard.file,
                            "keep one of the two files in this folder");
            spec.entries.push_back({entry.name, entry.shape, entry.type.value_or(likeType(entry.dtype))});
        }
    }
    if (index != nullptr) {
        for (const auto& [tensor, file] : index->weightMap)
            if (!homes.contains(tensor))
                return fail(ErrorCode::Input, fmt::format("found no tensor {} in {}", quoted(tensor), file),
                            index->file, "index and files do not belong together; download both again");
    }
    if (spec.entries.empty())
        return fail(ErrorCode::Input, "found no tensors", modelName, "name a file with the model's weights");
    return spec;
}

}  // namespace shardscope::core
