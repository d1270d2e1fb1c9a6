#pragma once

// Headers of safetensors files (framework semantics 9.2): eight bytes little-endian n, n bytes of JSON, then the data.
// The verdicts are those of the official reader 0.8.0: offsets start at 0, leave no hole, do not overlap and end with
// the file. Nothing here opens a file: the caller reads the first eight bytes, asks how long the header is, reads that
// much, and gives the file's size beside it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/model/spec.h"

namespace shardscope::core {

inline constexpr std::int64_t kSafetensorsPrefixBytes = 8;
inline constexpr std::int64_t kSafetensorsMaxHeaderBytes = 100'000'000;
/// Tensors of a model; the largest public checkpoints, mixtures of experts, hold 100,000 to 200,000.
inline constexpr std::size_t kMostTensors = 250'000;

struct SafetensorsEntry {
    std::string name;
    std::string dtype;          ///< as the file says: "F32", "BF16", "F8_E4M3", ...
    std::optional<DType> type;  ///< none for those that only storage knows (8-bit and smaller floats, small integers)
    Shape shape;
    std::int64_t begin = 0, end = 0;  ///< bytes, relative to the start of the data
};

struct SafetensorsHeader {
    std::string file;                       ///< its name, for messages
    std::vector<SafetensorsEntry> entries;  ///< in the header's order; of a repeated name the last
    std::vector<std::pair<std::string, std::string>> metadata;
    std::int64_t dataStart = 0;  ///< offset of the data in the file: 8 + n

    [[nodiscard]] const SafetensorsEntry* find(std::string_view name) const;
};

/// Bytes from the start of the file that hold prefix and header (8 + n), from the first eight bytes and the file's
/// size.
[[nodiscard]] Result<std::int64_t> safetensorsHeaderBytes(std::string_view firstBytes, std::int64_t fileBytes,
                                                          const std::string& file);

/// Reads the header. `bytes` starts with the file and holds at least prefix and header; more is not looked at.
[[nodiscard]] Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view bytes, std::int64_t fileBytes,
                                                               const std::string& file);

/// The bytes of one tensor in the whole file's bytes.
[[nodiscard]] Result<std::string_view> tensorBytes(const SafetensorsHeader& header, std::string_view wholeFile,
                                                   std::string_view name);
/// The values of an F32 (I64) tensor, row-major. Refuses any other dtype.
[[nodiscard]] Result<std::vector<float>> readF32(const SafetensorsHeader& header, std::string_view wholeFile,
                                                 std::string_view name);
[[nodiscard]] Result<std::vector<std::int64_t>> readI64(const SafetensorsHeader& header, std::string_view wholeFile,
                                                        std::string_view name);

/// `model.safetensors.index.json`: which shard holds which tensor. It names files, not shapes.
struct SafetensorsIndex {
    std::string file;
    std::vector<std::pair<std::string, std::string>> weightMap;  ///< tensor -> file name, in the index's order
    std::vector<std::string> shards;  ///< the distinct file names, sorted; plain names, never paths
};
[[nodiscard]] Result<SafetensorsIndex> parseSafetensorsIndex(std::string_view bytes, const std::string& file);

/// What to say when shards of an index cannot be found.
[[nodiscard]] Error missingShards(const SafetensorsIndex& index, const std::vector<std::string>& missing);

/// Joins the headers of a model's shards. Refuses a tensor in two shards and, given an index, one that the index
/// promises and its shard lacks (tensors that the index does not name are taken). A dtype that only storage knows
/// stands as F32, or as I32 if it is an integer's.
[[nodiscard]] Result<ShapesSpec> shapesFromSafetensors(const std::string& modelName,
                                                       const std::vector<SafetensorsHeader>& shards,
                                                       const SafetensorsIndex* index = nullptr);

}  // namespace shardscope::core
