// The semantic check of a graph of any origin: a file, a converter, a hostile download.
#ifndef FOVEAL_GRAPH_VERIFY_H_
#define FOVEAL_GRAPH_VERIFY_H_

#include "graph/graph.h"

namespace foveal {

struct VerifyOptions {
  // Most bytes all activations of the graph may take together, as far as shapes are known.
  uint64_t max_activation_bytes = uint64_t{1} << 36;
  // Accept operators that only the core inserts (relayout).
  bool internal = false;
};

// Checks everything a graph can get wrong: indices, names, types, single producers, cycles,
// operators, attributes, constants' sizes, shapes, memory. Nothing in the graph is trusted.
// On success nodes are in a runnable order, every attribute is set, and every value has the
// inferred type, with declared dimensions where inference leaves them unknown. A node output of
// dtype 0 counts as undeclared. On failure the graph is left in any state, safe to destroy.
// Everything unknown (operators, versions, attributes) is listed in one FV_UNSUPPORTED_OP.
Status verify(Graph& graph, const VerifyOptions& options = {});

// Sum of the bytes of all values that are no constants; unknown dimensions count as 1.
// UINT64_MAX when it overflows.
uint64_t activation_bytes(const Graph& graph);

}  // namespace foveal
#endif  // FOVEAL_GRAPH_VERIFY_H_
