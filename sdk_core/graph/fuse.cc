#include "graph/fuse.h"

namespace foveal {
namespace {

class Fuser {
 public:
  Fuser(Graph& g, const FusePost& fuses)
      : g_(g), fuses_(fuses), uses_(g.use_counts()), users_(g.users()), gone_(g.nodes.size()) {}

  void run() {
    for (size_t i = 0; i < g_.nodes.size(); ++i)
      if (!gone_[i] && g_.nodes[i].posts.empty()) follow(i);
    size_t kept = 0;
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      if (gone_[i]) continue;
      if (kept != i) g_.nodes[kept] = std::move(g_.nodes[i]);
      ++kept;
    }
    g_.nodes.resize(kept);
  }

 private:
  void follow(size_t at) {
    while (g_.nodes[at].outputs.size() == 1) {
      const auto y = static_cast<size_t>(g_.nodes[at].outputs[0]);
      if (uses_[y] != 1 || users_[y].empty()) return;
      const auto next = static_cast<size_t>(users_[y][0]);
      if (gone_[next]) return;
      const int chain_input = legal_input(static_cast<int>(y), g_.nodes[next]);
      if (chain_input < 0 || !fuses_(g_, static_cast<int>(at), static_cast<int>(next), chain_input))
        return;
      Node node = std::move(g_.nodes[at]);
      gone_[at] = true;
      Post post{std::move(g_.nodes[next]), chain_input};
      for (size_t i = 0; i < post.node.inputs.size(); ++i) {
        if (static_cast<int>(i) == chain_input || post.node.inputs[i] < 0) continue;
        node.inputs.push_back(post.node.inputs[i]);
        ++node.post_inputs;
      }
      node.outputs = post.node.outputs;
      node.posts.push_back(std::move(post));
      g_.nodes[next] = std::move(node);
      at = next;
    }
  }

  // Which input of `n` the running value y is, or -1 if n cannot follow in a chain.
  int legal_input(int y, const Node& n) const {
    const OpDef* def = op_table().find(n.op);
    if (!def || !(def->traits & kPointwise) || n.outputs.size() != 1 || !n.posts.empty()) return -1;
    const TensorType& type = g_.type(n.outputs[0]);
    if (type != g_.type(y)) return -1;
    int chain_input = -1;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const int v = n.inputs[i];
      if (v == y) {
        chain_input = static_cast<int>(i);
      } else if (v >= 0 && g_.type(v).dims != type.dims) {
        // Inference broadcast all inputs to the result, so a constant can only be smaller.
        if (!g_.value(v).is_constant()) return -1;
      }
    }
    return chain_input;
  }

  Graph& g_;
  const FusePost& fuses_;
  std::vector<int> uses_;
  std::vector<std::vector<int>> users_;
  std::vector<bool> gone_;
};

}  // namespace

void fuse_posts(Graph& graph, const FusePost& fuses) { Fuser(graph, fuses).run(); }

}  // namespace foveal
