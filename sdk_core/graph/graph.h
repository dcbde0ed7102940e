// The graph: plain values and nodes, addressed by index. Copying a Graph is cheap (constants are
// shared), so a pass takes a copy and changes it.
//
//   Graph g;
//   int x = g.add_value("x", {FV_FLOAT32, {1, 3, 8, 8}});
//   int y = g.add_value("y", {FV_FLOAT32, {1, 3, 8, 8}});
//   g.add_node("relu", "act", {x}, {y});
//   g.inputs = {x}; g.outputs = {y};
//
// Invariants that verify() checks and every pass keeps: each value is a graph input, a constant
// or the output of exactly one node, and nodes are in an order in which they can run.
#ifndef FOVEAL_GRAPH_GRAPH_H_
#define FOVEAL_GRAPH_GRAPH_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/tensor_type.h"
#include "ops/op.h"

namespace foveal {

// The bytes of a constant in plain layout. Copies share; `data` lives as long as `owner`, which
// is a mapped file, a heap block or, with an empty owner, something that outlives the graph.
struct Constant {
  const void* data = nullptr;  // never NULL for a constant, even one of no elements
  uint64_t bytes = 0;
  std::shared_ptr<const void> owner;

  explicit operator bool() const { return data != nullptr; }
  // 64-byte aligned heap copy; empty (false) when out of memory.
  static Constant copy_of(const void* data, uint64_t bytes);
  // Zero-filled heap block to be written through the returned pointer before anybody reads it.
  static Constant allocate(uint64_t bytes, void** writable);
  static Constant borrow(const void* data, uint64_t bytes, std::shared_ptr<const void> owner);
};

// What a tensor's whole numbers stand for: (number - zero_point) * scale. It describes a value and
// changes no arithmetic.
struct Quantization {
  double scale = 0;  // 0: they stand for themselves
  int32_t zero_point = 0;

  explicit operator bool() const { return scale != 0; }
};

struct Value {
  std::string name;                    // unique within the graph
  TensorType type;                     // dimensions may be kUnknown
  std::vector<std::string> dim_names;  // empty, or one per dimension ("" = none)
  Constant constant;
  Quantization quantization;
  bool is_constant() const { return static_cast<bool>(constant); }
};

struct Post;

struct Node {
  std::string op;
  int version = 1;
  std::string name;          // where it came from, for messages; may repeat
  std::vector<int> inputs;   // values; -1 = omitted optional input
  std::vector<int> outputs;  // values
  Attrs attrs;
  // Pointwise operators fused behind this one (fuse.h), applied in order. outputs[0] is then
  // what the last one produces; the operands that posts read besides the running value are
  // repeated at the end of `inputs`, so that lifetimes need not look inside.
  std::vector<Post> posts;
  int post_inputs = 0;  // how many of `inputs`, counted from the end, belong to posts
  int own_inputs() const { return static_cast<int>(inputs.size()) - post_inputs; }
};

// node.inputs[chain_input] is the running value: it exists as a Value for its type and is never
// in memory. node.outputs[0] is so too, except for the last post.
struct Post {
  Node node;
  int chain_input = 0;
};

struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<int> inputs, outputs;  // values, in the order of the model's signature
  std::map<std::string, std::string> meta;

  int add_value(std::string name, TensorType type, std::vector<std::string> dim_names = {});
  int add_constant(std::string name, TensorType type, Constant constant);
  // Copies element_count(type.dims) elements.
  int add_constant(std::string name, TensorType type, const void* data);
  int add_node(std::string op, std::string name, std::vector<int> inputs, std::vector<int> outputs,
               Attrs attrs = {});

  // `base`, or base.1, base.2 ... if a value of that name exists. Looks at every value.
  std::string unique_name(const std::string& base) const;

  // Per value: the node that makes it, or -1.
  std::vector<int> producers() const;
  // Per value: the nodes that read it, ascending, once per node.
  std::vector<std::vector<int>> users() const;
  // Per value: reads by nodes (each input counts) plus appearances among the graph outputs.
  std::vector<int> use_counts() const;

  // Makes every reader of `from`, graph outputs included, read `to`.
  void replace_uses(int from, int to);

  // Puts nodes in a runnable order, stable where free. FV_MODEL_ERROR names a node of a cycle.
  Status sort();

  // Drops nodes nothing depends on and values nobody mentions, renumbering what stays. Graph
  // inputs are kept. Returns the new index per old value, -1 for dropped ones.
  std::vector<int> remove_dead();

  const Value& value(int i) const { return values[static_cast<size_t>(i)]; }
  Value& value(int i) { return values[static_cast<size_t>(i)]; }
  const TensorType& type(int i) const { return value(i).type; }
};

// "conv2d 'backbone/3'" for messages, or "conv2d #7" when the node has no name.
std::string node_label(const Node& node, int index);

}  // namespace foveal
#endif  // FOVEAL_GRAPH_GRAPH_H_
