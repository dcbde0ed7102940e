// Post-op fusion: which chains form, where the fused node stands and what it reads.
#include "graph/fuse.h"

#include "check.h"
#include "graph/decompose.h"
#include "graph/raster.h"
#include "graph/verify.h"
#include "random.h"

using namespace foveal;
using namespace foveal::test;

namespace {

const Dims kShape{1, 4, 3, 3};

struct Net {
  Graph g;
  int input(const std::string& name, Dims dims = kShape) {
    const int v = g.add_value(name, {FV_FLOAT32, std::move(dims)});
    g.inputs.push_back(v);
    return v;
  }
  int constant(Dims dims) {
    const std::vector<float> ones(static_cast<size_t>(element_count(dims)), 1.0f);
    return g.add_constant("c" + std::to_string(g.values.size()), {FV_FLOAT32, std::move(dims)},
                          ones.data());
  }
  int op(const std::string& name, std::vector<int> in, Attrs attrs = {}) {
    return append(g, name, std::move(in), std::move(attrs))[0];
  }
  int conv(int x) { return op("conv2d", {x, constant({4, 4, 1, 1})}); }
};

bool always(const Graph&, int, int, int) { return true; }

// "conv2d+relu(0)+add(1) exp": nodes in order, posts with their chain input.
std::string shape_of(const Graph& g) {
  std::string s;
  for (const Node& n : g.nodes) {
    s += (s.empty() ? "" : " ") + n.op;
    for (const Post& p : n.posts) s += "+" + p.node.op + "(" + std::to_string(p.chain_input) + ")";
  }
  return s;
}

// Fused graph, checked for what must hold of any.
Graph fused(Net& net, std::vector<int> outputs, const FusePost& accept = always) {
  net.g.outputs = std::move(outputs);
  CHECK_OK(verify(net.g));
  Graph g = net.g;
  fuse_posts(g, accept);
  std::vector<bool> ready(g.values.size());
  for (int v : g.inputs) ready[static_cast<size_t>(v)] = true;
  for (size_t v = 0; v < g.values.size(); ++v)
    if (g.values[v].is_constant()) ready[v] = true;
  for (const Node& n : g.nodes) {
    for (int v : n.inputs)
      if (v >= 0) CHECK(ready[static_cast<size_t>(v)]);
    for (int v : n.outputs) ready[static_cast<size_t>(v)] = true;
    if (n.posts.empty()) continue;
    CHECK_EQ(n.outputs[0], n.posts.back().node.outputs[0]);
    size_t operands = 0;
    for (const Post& p : n.posts)
      for (size_t i = 0; i < p.node.inputs.size(); ++i)
        operands += static_cast<int>(i) != p.chain_input && p.node.inputs[i] >= 0;
    CHECK_EQ(static_cast<size_t>(n.post_inputs), operands);
    CHECK_EQ(n.own_inputs() + n.post_inputs, static_cast<int>(n.inputs.size()));
  }
  for (int v : g.outputs) CHECK(ready[static_cast<size_t>(v)]);
  return g;
}

void test_chain() {
  Net n;
  const int x = n.input("x"), side = n.input("side");
  const int a = n.op("relu", {n.conv(x)});
  const int b = n.op("add", {side, a});
  const int c = n.op("mul", {b, n.constant({4, 1, 1})});
  const int d = n.op("clip", {c}, {{"min", 0.0}, {"max", 6.0}});
  const Graph g = fused(n, {d});
  CHECK_EQ(shape_of(g), "conv2d+relu(0)+add(1)+mul(0)+clip(0)");
  CHECK_EQ(g.nodes[0].own_inputs(), 2);
  CHECK_EQ(g.nodes[0].inputs[2], side);
  CHECK_EQ(g.nodes[0].outputs[0], d);
  CHECK_EQ(g.nodes[0].posts[1].node.inputs[1], a);
}

void test_predicate_decides() {
  Net n;
  const int x = n.input("x");
  const int y = n.op("exp", {n.op("relu", {n.conv(x)})});
  std::vector<std::string> asked;
  const Graph g = fused(n, {y}, [&](const Graph& graph, int node, int post, int chain) {
    asked.push_back(graph.nodes[static_cast<size_t>(node)].op + "/" +
                    graph.nodes[static_cast<size_t>(post)].op + std::to_string(chain));
    return graph.nodes[static_cast<size_t>(post)].op == "relu";
  });
  CHECK_EQ(shape_of(g), "conv2d+relu(0) exp");
  CHECK_EQ(asked.size(), size_t{2});
  CHECK_EQ(asked[0], "conv2d/relu0");
  CHECK_EQ(asked[1], "conv2d/exp0");
}

void test_residual_waits_for_its_operand() {
  Net n;
  const int x = n.input("x");
  const int left = n.conv(x);
  const int right = n.op("softmax", {n.op("reduce_sum", {x}, {{"axes", Ints{1}}})});
  const int wide = n.op("expand", {right}, {{"shape", Ints{1, 4, 3, 3}}});
  const int y = n.op("add", {left, wide});
  CHECK_EQ(shape_of(fused(n, {y})), "reduce_sum softmax expand conv2d+add(0)");
}

void test_what_must_not_fuse() {
  {  // a second reader
    Net n;
    const int c = n.conv(n.input("x"));
    const int y = n.op("relu", {c}), z = n.op("exp", {c});
    CHECK_EQ(shape_of(fused(n, {y, z})), "conv2d relu exp");
  }
  {  // the running value is an output of the graph
    Net n;
    const int c = n.conv(n.input("x"));
    const int y = n.op("relu", {c});
    CHECK_EQ(shape_of(fused(n, {y, c})), "conv2d relu");
  }
  {  // both operands are the running value
    Net n;
    const int e = n.op("exp", {n.input("x")});
    const int y = n.op("mul", {e, e});
    CHECK_EQ(shape_of(fused(n, {y})), "exp mul");
  }
  {  // broadcasting changes the shape
    Net n;
    const int c = n.conv(n.input("x"));
    const int y = n.op("add", {c, n.input("batch", {2, 4, 3, 3})});
    CHECK_EQ(shape_of(fused(n, {y})), "conv2d add");
  }
  {  // a computed operand smaller than the result
    Net n;
    const int c = n.conv(n.input("x"));
    const int y = n.op("mul", {c, n.input("gate", {1, 4, 1, 1})});
    CHECK_EQ(shape_of(fused(n, {y})), "conv2d mul");
  }
  {  // the type changes
    Net n;
    const int y = n.op("cast", {n.conv(n.input("x"))}, {{"dtype", std::string("int32")}});
    CHECK_EQ(shape_of(fused(n, {y})), "conv2d cast");
  }
  {  // not pointwise
    Net n;
    const int y = n.op("softmax", {n.conv(n.input("x"))});
    CHECK_EQ(shape_of(fused(n, {y})), "conv2d softmax");
  }
}

// Two convolutions meet in one sum: it goes to one of them, behind the other.
void test_two_candidates() {
  Net n;
  const int x = n.input("x");
  const int a = n.conv(x), b = n.conv(x);
  const int y = n.op("relu", {n.op("add", {a, b})});
  CHECK_EQ(shape_of(fused(n, {y})), "conv2d conv2d+add(0)+relu(0)");
}

void test_remove_dead_sees_posts() {
  Net n;
  const int x = n.input("x");
  n.op("exp", {x});
  const int y = n.op("relu", {n.conv(x)});
  Graph g = fused(n, {y});
  g.remove_dead();
  CHECK_EQ(shape_of(g), "conv2d+relu(0)");
  CHECK_EQ(g.type(g.nodes[0].posts[0].node.inputs[0]).dims, kShape);
  CHECK_EQ(g.value(g.outputs[0]).name, n.g.value(y).name);
}

// Any graph, any mood of the backend: lowered, merged and fused it computes the same.
void test_random_graphs() {
  Random r(17);
  int posts = 0;
  for (int round = 0; round < 400; ++round) {
    Net n;
    std::vector<int> live{n.input("a"), n.input("b")};
    for (int64_t step = r.in(3, 12); step > 0; --step) {
      const auto any = [&] {
        return live[static_cast<size_t>(r.in(0, static_cast<int64_t>(live.size()) - 1))];
      };
      const int x = any();
      std::vector<int> made;
      const char* unary[] = {"relu", "neg", "square"};
      const char* binary[] = {"add", "sub", "mul", "max"};
      switch (r.in(0, 3)) {
        case 0:
          made = append(n.g, unary[r.in(0, 2)], {x});
          break;
        case 1: {
          Ints dims = n.g.type(x).dims;
          for (int64_t& d : dims)
            if (r.in(0, 1)) d = 1;
          made = append(n.g, binary[r.in(0, 3)], {x, n.constant(dims)});
          break;
        }
        case 2:
          made = append(n.g, binary[r.in(0, 3)], {any(), x});
          break;
        default:
          if (element_count(n.g.type(x).dims) < 500) made = append_movement(n.g, r, x);
      }
      live.insert(live.end(), made.begin(), made.end());
    }
    n.g.outputs = {live.back(), live[live.size() / 2]};
    CHECK_OK(verify(n.g));
    Graph g = n.g;
    CHECK_OK(decompose(g, [](const Graph& graph, int node) {
      return !op_table().find(graph.nodes[static_cast<size_t>(node)].op)->decompose;
    }));
    simplify_rasters(g);
    fuse_posts(g, [&](const Graph&, int, int, int) { return r.in(0, 3) > 0; });
    for (const Node& node : g.nodes) posts += static_cast<int>(node.posts.size());
    const std::vector<Tensor> in{r.tensor(kShape), r.tensor(kShape)};
    const Naive fast(g, in), slow(n.g, in);
    CHECK(fast.unknown.empty() && slow.unknown.empty());
    CHECK(same(fast.outputs(), slow.outputs()));
  }
  CHECK(posts > 200);
}

}  // namespace

int main() {
  test_random_graphs();
  test_chain();
  test_predicate_decides();
  test_residual_waits_for_its_operand();
  test_what_must_not_fuse();
  test_two_candidates();
  test_remove_dead_sees_posts();
  return CHECK_RESULT();
}
