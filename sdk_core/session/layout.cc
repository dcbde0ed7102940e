#include "session/layout.h"

#include <algorithm>
#include <map>

namespace foveal {
namespace {

// Builds the new node list front to back, so that producers' layouts are known to consumers.
class LayoutPass {
 public:
  LayoutPass(PlacedGraph& g, const Backends& backends) : g_(g), backends_(backends) {}

  Status run() {
    g_.states.assign(g_.graph.values.size(), {kPlain, -1, 0});
    std::vector<Node> nodes = std::move(g_.graph.nodes);
    std::vector<Placed> placed = std::move(g_.placed);
    for (size_t i = 0; i < nodes.size(); ++i) {
      FV_TRY(convert_inputs(nodes[i], placed[i]));
      emit(std::move(nodes[i]), std::move(placed[i]));
    }
    for (int& o : g_.graph.outputs)
      if (!g_.graph.value(o).is_constant()) {
        FV_ASSIGN(o, in_layout(o, kPlain, kCore));
      }
    g_.graph.nodes = std::move(nodes_);
    g_.placed = std::move(placed_);
    for (size_t v = 0; v < g_.states.size(); ++v) g_.states[v].slot = static_cast<int32_t>(v);
    return ok();
  }

 private:
  bool takes_part(int v) const {
    return v >= 0 && !g_.graph.value(v).is_constant() && g_.graph.type(v).rank() >= 3 &&
           g_.graph.type(v).dtype == FV_FLOAT32;
  }
  fv_layout layout(int v) const { return g_.states[static_cast<size_t>(v)].layout; }

  // What a node without preference works in: the layout most bytes already have, if every
  // operand can be in it (equal ranks, since blocking counts axes from the left).
  fv_layout shared_layout(const Node& node) const {
    const int rank = g_.graph.type(node.outputs[0]).rank();
    std::map<int32_t, int64_t> votes;  // block -> elements; 0 = plain
    for (int v : node.inputs) {
      if (v < 0) continue;
      const TensorType& t = g_.graph.type(v);
      const bool scalar = element_count(t.dims) == 1;
      if (takes_part(v) && t.rank() == rank && rank >= 3)
        votes[layout(v).id == FV_LAYOUT_NCXHWX ? layout(v).block : 0] += element_count(t.dims);
      else if (!g_.graph.value(v).is_constant() && !scalar)
        return kPlain;
    }
    for (int o : node.outputs)
      if (!takes_part(o)) return kPlain;
    int32_t best = 0;
    for (const auto& [block, elements] : votes)
      if (elements > votes[best]) best = block;
    return best ? blocked(best) : kPlain;
  }

  Status convert_inputs(Node& node, Placed& p) {
    fv_layout in = kPlain, out = kPlain;
    if (p.backend >= 0) {
      in = p.support.in_layout;
      out = p.support.out_layout;
      if (in.id == FV_LAYOUT_ANY) in = out = shared_layout(node);
    }
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      int& v = node.inputs[static_cast<size_t>(i)];
      if (!takes_part(v)) continue;
      const bool is_operand = i >= node.own_inputs();  // of a post-op: shaped like the output
      FV_ASSIGN(const int converted, in_layout(v, is_operand ? out : in, p.backend));
      if (converted == v) continue;
      if (is_operand)
        for (Post& post : node.posts)
          for (size_t k = 0; k < post.node.inputs.size(); ++k)
            if (static_cast<int>(k) != post.chain_input && post.node.inputs[k] == v)
              post.node.inputs[k] = converted;
      v = converted;
    }
    for (int o : node.outputs)
      if (takes_part(o)) g_.states[static_cast<size_t>(o)].layout = out;
    // Values between a node and its posts exist for their type only, but kernels look at them.
    for (const Post& post : node.posts)
      for (int v : post.node.outputs)
        if (takes_part(v)) g_.states[static_cast<size_t>(v)].layout = out;
    for (const Post& post : node.posts) {
      const int v = post.node.inputs[static_cast<size_t>(post.chain_input)];
      if (takes_part(v)) g_.states[static_cast<size_t>(v)].layout = out;
    }
    return ok();
  }

  // `v` in the wanted layout: itself, an earlier conversion, or a new one.
  Result<int> in_layout(int v, fv_layout want, int consumer) {
    if (same_layout(layout(v), want)) return v;
    const auto key = std::make_pair(v, std::make_pair(want.id, want.block));
    if (const auto it = converted_.find(key); it != converted_.end()) return it->second;
    const Value& source = g_.graph.value(v);
    const int copy = g_.graph.add_value(source.name + " as " + to_string(want), source.type);
    g_.states.push_back({want, -1, 0});
    Node node;
    node.op = "relayout";
    node.name = g_.graph.value(v).name;
    node.inputs = {v};
    node.outputs = {copy};
    // The side whose layout is not plain knows it best; custom layouts only it knows.
    const auto producer = producer_.find(v);
    const int owner = layout(v).id != FV_LAYOUT_PLAIN && producer != producer_.end()
                          ? placed_[producer->second].backend
                          : consumer;
    Placed p;
    if (owner >= 0) {
      const Backend& b = *backends_[static_cast<size_t>(owner)];
      p.support = b.supports(make_view(g_.graph, node, g_.states));
      if (p.support.supported) p.backend = owner;
    }
    if (p.backend == kCore && (layout(v).id >= FV_LAYOUT_CUSTOM || want.id >= FV_LAYOUT_CUSTOM))
      return Status(FV_PLUGIN_ERROR,
                    "tensor '" + source.name + "': no backend converts layout " +
                        to_string(layout(v)) + " to " + to_string(want),
                    "a backend with a layout of its own must support 'relayout'");
    emit(std::move(node), std::move(p));
    return converted_[key] = copy;
  }

  void emit(Node node, Placed p) {
    for (int o : node.outputs) producer_[o] = nodes_.size();
    nodes_.push_back(std::move(node));
    placed_.push_back(std::move(p));
  }

  PlacedGraph& g_;
  const Backends& backends_;
  std::vector<Node> nodes_;
  std::vector<Placed> placed_;
  std::map<int, size_t> producer_;  // value -> index into nodes_
  std::map<std::pair<int, std::pair<int32_t, int32_t>>, int> converted_;
};

}  // namespace

Status choose_layouts(PlacedGraph& g, const Backends& backends) {
  return LayoutPass(g, backends).run();
}

}  // namespace foveal
