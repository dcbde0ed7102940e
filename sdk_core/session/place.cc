#include "session/place.h"

#include <algorithm>
#include <map>

#include "graph/decompose.h"
#include "graph/fuse.h"
#include "graph/raster.h"
#include "session/layout.h"

namespace foveal {
namespace {

bool is_view(const Node& node) {
  const OpDef* def = op_table().find(node.op);
  return def && (def->traits & kView);
}

// All outputs are empty: an empty batch, say. Backends never see such nodes, so that none has to
// think of them.
bool computes_nothing(const Graph& graph, const Node& node) {
  for (int v : node.outputs)
    if (element_count(graph.type(v).dims) != 0) return false;
  return true;
}

// The first backend that runs the node, with the refusals of those before it.
Placed choose(const Graph& graph, const Node& node, const Backends& backends) {
  Placed placed;
  if (is_view(node) || computes_nothing(graph, node)) return placed;
  const fv_node view = make_view(graph, node, {});
  for (size_t b = 0; b < backends.size(); ++b) {
    placed.support = backends[b]->supports(view);
    if (placed.support.supported) {
      placed.backend = static_cast<int>(b);
      return placed;
    }
    if (!placed.refusals.empty()) placed.refusals += "; ";
    placed.refusals += std::string(backends[b]->device().name) + ": " + placed.support.reason;
  }
  return placed;
}

// A device with its own memory pays for every crossing, so a run of a few cheap nodes between two
// runs on another device goes where its neighbours are, if that device can do all of it.
constexpr double kIslandMacs = 1e6;

void join_islands(PlacedGraph& g, const Backends& backends) {
  const size_t n = g.graph.nodes.size();
  for (size_t begin = 0; begin < n;) {
    size_t end = begin + 1;
    const int own = g.placed[begin].backend;
    while (end < n && (g.placed[end].backend == own || g.placed[end].backend == kCore)) ++end;
    const int before = begin > 0 ? g.placed[begin - 1].backend : kCore;
    const int after = end < n ? g.placed[end].backend : before;
    if (own >= 0 && before >= 0 && before == after && before != own &&
        !backends[static_cast<size_t>(own)]->host_memory()) {
      const Backend& other = *backends[static_cast<size_t>(before)];
      double macs = 0;
      bool all = true;
      for (size_t i = begin; i < end && all; ++i) {
        const Node& node = g.graph.nodes[i];
        std::vector<TensorType> in, out;
        for (int v : node.inputs) in.push_back(v < 0 ? TensorType{} : g.graph.type(v));
        for (int v : node.outputs) out.push_back(g.graph.type(v));
        macs += op_table().find(node.op)->macs(node.attrs, in, out);
        all = macs < kIslandMacs && (g.placed[i].backend == kCore ||
                                     other.supports(make_view(g.graph, node, {})).supported);
      }
      for (size_t i = begin; i < end && all; ++i) {
        if (g.placed[i].backend == kCore) continue;
        g.placed[i].backend = before;
        g.placed[i].refusals = "small island: joined its neighbours";
      }
    }
    begin = end;
  }
}

Result<PlacedGraph> place_and_fuse(Graph graph, const Backends& backends, bool fuse) {
  PlacedGraph g;
  const auto runs = [&](const Graph& current, int node) {
    const Node& n = current.nodes[static_cast<size_t>(node)];
    g.operators.insert(n.op);
    return is_view(n) || computes_nothing(current, n) || choose(current, n, backends).backend >= 0;
  };
  const auto why = [&](const Graph& current, int node) {
    return choose(current, current.nodes[static_cast<size_t>(node)], backends).refusals;
  };
  FV_TRY(decompose(graph, runs, why));
  simplify_rasters(graph);
  g.graph = std::move(graph);
  for (const Node& node : g.graph.nodes) g.placed.push_back(choose(g.graph, node, backends));
  join_islands(g, backends);

  if (fuse) {
    // Nodes move and merge while fusing, so places are kept by the value a node produces.
    std::map<int, Placed> by_output;
    for (size_t i = 0; i < g.graph.nodes.size(); ++i)
      by_output[g.graph.nodes[i].outputs[0]] = g.placed[i];
    fuse_posts(g.graph, [&](const Graph& current, int node, int post, int chain_input) {
      const Node& first = current.nodes[static_cast<size_t>(node)];
      const Node& second = current.nodes[static_cast<size_t>(post)];
      const int a = by_output[first.outputs[0]].backend;
      if (a < 0 || a != by_output[second.outputs[0]].backend) return false;
      return backends[static_cast<size_t>(a)]->fuses(make_view(current, first, {}),
                                                     make_view(current, second, {}), chain_input);
    });
    g.placed.clear();
    for (const Node& node : g.graph.nodes) {
      Placed p = by_output[node.outputs[0]];
      if (p.backend >= 0)
        p.support =
            backends[static_cast<size_t>(p.backend)]->supports(make_view(g.graph, node, {}));
      g.placed.push_back(std::move(p));
    }
  }
  FV_TRY(choose_layouts(g, backends));
  for (const Node& node : g.graph.nodes) g.operators.insert(node.op);
  return g;
}

}  // namespace

Result<PlacedGraph> place(Graph graph, const Backends& backends, bool fuse) {
  for (const auto& b : backends) b->take_starved();  // by what an exception ended
  Result<PlacedGraph> placed = place_and_fuse(std::move(graph), backends, fuse);
  for (const auto& b : backends)
    if (b->take_starved())
      return Status(FV_OUT_OF_MEMORY, "device '" + std::string(b->device().name) +
                                          "' has no memory to tell what it runs");
  return placed;
}

}  // namespace foveal
