// Lowering: operators that no chosen backend runs are replaced by their decomposition.
#ifndef FOVEAL_GRAPH_DECOMPOSE_H_
#define FOVEAL_GRAPH_DECOMPOSE_H_

#include <functional>

#include "graph/graph.h"

namespace foveal {

// True: some backend runs this node as it is. Asked for nodes with concrete shapes, in execution
// order, the nodes of decompositions included. Values of the graph passed are all defined; other
// nodes behind `node` may be missing.
using KeepNode = std::function<bool(const Graph& graph, int node)>;

// Replaces every node that `keep` declines, recursively. Views (kView) need no kernel: those that
// `keep` declines stay as they are. Existing values keep their index and name; new ones are
// appended. All shapes must be concrete. FV_UNSUPPORTED_OP lists every operator that has neither
// kernel nor decomposition; `why` (optional) says for a node why no backend takes it.
Status decompose(Graph& graph, const KeepNode& keep,
                 const std::function<std::string(const Graph&, int)>& why = {});

}  // namespace foveal
#endif  // FOVEAL_GRAPH_DECOMPOSE_H_
