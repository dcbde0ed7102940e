// Which backend runs which node, and in which layout each tensor lies.
#ifndef FOVEAL_SESSION_PLACE_H_
#define FOVEAL_SESSION_PLACE_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "plugin/library.h"
#include "plugin/view.h"

namespace foveal {

using Backends = std::vector<std::shared_ptr<Backend>>;  // in order of preference

// Views (reshape and the like) and layout conversions no backend offers: the core does those.
inline constexpr int kCore = -1;

struct Placed {
  int backend = kCore;
  fv_support support{};  // the backend's answer for the node with its post-ops
  std::string refusals;  // why backends of higher preference do not run it
};

// A graph with concrete shapes whose every node has a place. Parallel vectors.
struct PlacedGraph {
  Graph graph;
  std::vector<Placed> placed;  // by node
  ValueStates states;          // by value; layouts decided, slots = value index
  // Of the model, of its decompositions and of theirs, whether or not they are left in the graph.
  std::set<std::string> operators;
};

// decompose -> place -> fuse -> choose layouts -> insert relayouts.
// Fails with the list of everything no backend can run, with the reasons they gave; with
// FV_OUT_OF_MEMORY when a backend had none to answer.
Result<PlacedGraph> place(Graph graph, const Backends& backends, bool fuse);

}  // namespace foveal
#endif  // FOVEAL_SESSION_PLACE_H_
