#pragma once

// A step graph for people and other programs: Graphviz text, and a document for JSON.

#include <string>

#include "core/base/document.h"
#include "core/graph/step_graph.h"

namespace shardscope::core {

/// One cluster a class with one column a stream; edges carry their reason as colour and style, transfers between
/// classes are drawn without direction. Streams' own order is drawn, communicator order is not.
[[nodiscard]] std::string toDot(const StepGraph& graph, const Model& model);

/// {"schema": "shardscope.step_graph", "version": 1, streams, groups, units, classes: [{ops, actions, blocks}]}: ids
/// are indices, bytes integers, the hash hexadecimal text. An op's waits are [op, reason] pairs.
[[nodiscard]] Document toDocument(const StepGraph& graph, const Model& model);

}  // namespace shardscope::core
