// Graph: order, dead code, replacing, names, constants.
#include "graph/graph.h"

#include "check.h"

using namespace foveal;

namespace {

const TensorType kType{FV_FLOAT32, {2, 3}};

int unary(Graph& g, const char* op, int x) {
  const int y = g.add_value(g.unique_name(std::string(op) + "_out"), kType);
  g.add_node(op, op, {x}, {y});
  return y;
}

void test_sort() {
  Graph g;
  const int x = g.add_value("x", kType), a = g.add_value("a", kType), b = g.add_value("b", kType),
            c = g.add_value("c", kType);
  g.add_node("add", "last", {a, b}, {c});
  g.add_node("exp", "second", {a}, {b});
  g.add_node("relu", "first", {x}, {a});
  g.inputs = {x};
  g.outputs = {c};
  CHECK_OK(g.sort());
  CHECK_EQ(g.nodes[0].name, "first");
  CHECK_EQ(g.nodes[1].name, "second");
  CHECK_EQ(g.nodes[2].name, "last");

  g.nodes[0].inputs = {c};
  CHECK_ERROR(g.sort(), FV_MODEL_ERROR, "relu 'first' needs its own result");
}

void test_stable_where_free() {
  Graph g;
  const int x = g.add_value("x", kType);
  for (int i = 0; i < 10; ++i) unary(g, "relu", x);
  for (size_t i = 0; i < g.nodes.size(); ++i) g.nodes[i].name = std::to_string(i);
  CHECK_OK(g.sort());
  for (size_t i = 0; i < g.nodes.size(); ++i) CHECK_EQ(g.nodes[i].name, std::to_string(i));
}

void test_remove_dead() {
  Graph g;
  const int unused_input = g.add_value("unused", kType);
  const int dead = unary(g, "exp", unused_input);
  const float one = 1;
  const int orphan = g.add_constant("orphan", {FV_FLOAT32, {}}, &one);
  const int x = g.add_value("x", kType);
  const int kept = unary(g, "relu", x);
  g.inputs = {unused_input, x};
  g.outputs = {kept};
  const std::vector<int> map = g.remove_dead();
  CHECK_EQ(g.nodes.size(), size_t{1});
  CHECK_EQ(g.values.size(), size_t{3});
  CHECK_EQ(map[static_cast<size_t>(dead)], -1);
  CHECK_EQ(map[static_cast<size_t>(orphan)], -1);
  CHECK_EQ(g.value(g.inputs[0]).name, "unused");
  CHECK_EQ(g.value(g.outputs[0]).name, "relu_out");
  CHECK_EQ(g.nodes[0].inputs[0], g.inputs[1]);
}

void test_uses() {
  Graph g;
  const int x = g.add_value("x", kType), y = g.add_value("y", kType);
  g.add_node("add", "twice", {x, x}, {y});
  const int z = unary(g, "relu", y);
  g.inputs = {x};
  g.outputs = {z, y};
  CHECK_EQ(g.use_counts()[static_cast<size_t>(x)], 2);
  CHECK_EQ(g.use_counts()[static_cast<size_t>(y)], 2);
  CHECK_EQ(g.users()[static_cast<size_t>(x)].size(), size_t{1});
  CHECK_EQ(g.producers()[static_cast<size_t>(z)], 1);
  CHECK_EQ(g.producers()[static_cast<size_t>(x)], -1);
  g.replace_uses(y, x);
  CHECK_EQ(g.nodes[1].inputs[0], x);
  CHECK_EQ(g.outputs[1], x);
  g.remove_dead();
  CHECK_EQ(g.nodes.size(), size_t{1});
}

void test_names_and_labels() {
  Graph g;
  CHECK_EQ(g.unique_name("a"), "a");
  g.add_value("a", kType);
  CHECK_EQ(g.unique_name("a"), "a.1");
  g.add_value("a.1", kType);
  CHECK_EQ(g.unique_name("a"), "a.2");
  Node n;
  n.op = "conv2d";
  CHECK_EQ(node_label(n, 7), "conv2d #7");
  n.name = "backbone/3";
  CHECK_EQ(node_label(n, 7), "conv2d 'backbone/3'");
}

void test_constants() {
  Graph g;
  const float data[] = {1, 2, 3};
  const int c = g.add_constant("c", {FV_FLOAT32, {3}}, data);
  const int empty = g.add_constant("empty", {FV_FLOAT32, {0}}, data);
  CHECK(g.value(c).is_constant());
  CHECK(g.value(empty).is_constant());
  CHECK_EQ(g.value(c).constant.bytes, uint64_t{12});
  CHECK_EQ(reinterpret_cast<uintptr_t>(g.value(c).constant.data) % FV_ALIGNMENT, uintptr_t{0});
  const Graph copy = g;
  g = Graph();
  CHECK_EQ(static_cast<const float*>(copy.value(c).constant.data)[2], 3.0f);
  CHECK(Constant::borrow(nullptr, 0, nullptr));
}

}  // namespace

int main() {
  test_sort();
  test_stable_where_free();
  test_remove_dead();
  test_uses();
  test_names_and_labels();
  test_constants();
  return CHECK_RESULT();
}
