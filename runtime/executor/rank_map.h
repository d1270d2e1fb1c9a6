#pragma once

// Which ranks stand where in the mesh, and who takes part in a group of the graph.

#include <cstdint>
#include <vector>

#include "core/graph/step_graph.h"

namespace shardscope::runtime {

/// Rank = (pp * dp_replicate + r) * dp_shard + s (core::Mesh).
struct RankMap {
    core::Mesh mesh;
    std::int64_t rank = 0;

    [[nodiscard]] std::int64_t stage() const { return rank / (mesh.dpReplicate * mesh.dpShard); }
    [[nodiscard]] std::int64_t shard() const { return rank % mesh.dpShard; }
    /// Position among the ranks that see different data.
    [[nodiscard]] std::int64_t dataRank() const { return rank % (mesh.dpReplicate * mesh.dpShard); }
    /// The rank of the same data position in another stage.
    [[nodiscard]] std::int64_t peerIn(std::int64_t otherStage) const {
        return otherStage * mesh.dpReplicate * mesh.dpShard + dataRank();
    }
    /// The members of this rank's copy of the group, ascending. Not for pairs, whose other end an op's peer is.
    [[nodiscard]] std::vector<std::int64_t> membersOf(const core::Group& group) const;
};

}  // namespace shardscope::runtime
