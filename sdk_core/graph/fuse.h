// Post-op fusion: pointwise operators run while the result of the node before them is in registers.
#ifndef FOVEAL_GRAPH_FUSE_H_
#define FOVEAL_GRAPH_FUSE_H_

#include <functional>

#include "graph/graph.h"

namespace foveal {

// May nodes[post] be computed behind nodes[node], which carries the posts accepted so far, with
// the running value as its input `chain_input`? Asked only where that is legal.
using FusePost = std::function<bool(const Graph& graph, int node, int post, int chain_input)>;

// Follows, from every node with one output, the pointwise operators that are the only reader of
// the running value and keep its type, and moves those that `fuses` accepts into Node::posts. The
// other operands of a post have the shape of the result or are constants that broadcast to it.
// The fused node stands where the last operator of its chain stood, so operands are ready.
// Requires concrete shapes and execution order; both are kept. Values keep their index.
void fuse_posts(Graph& graph, const FusePost& fuses);

}  // namespace foveal
#endif  // FOVEAL_GRAPH_FUSE_H_
