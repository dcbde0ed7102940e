#include "graph/graph.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <queue>
#include <unordered_set>

#include "base/memory.h"

namespace foveal {

Constant Constant::allocate(uint64_t bytes, void** writable) {
  *writable = bytes <= SIZE_MAX ? aligned_new(static_cast<size_t>(bytes)) : nullptr;  // 32 bits
  if (!*writable) return {};
  std::memset(*writable, 0, bytes);
  return {*writable, bytes, std::shared_ptr<const void>(*writable, [](const void* p) {
            aligned_free(const_cast<void*>(p));
          })};
}

Constant Constant::copy_of(const void* data, uint64_t bytes) {
  void* to = nullptr;
  Constant c = allocate(bytes, &to);
  if (to && bytes) std::memcpy(to, data, bytes);
  return c;
}

Constant Constant::borrow(const void* data, uint64_t bytes, std::shared_ptr<const void> owner) {
  static const char nothing = 0;
  return {data ? data : &nothing, bytes, std::move(owner)};
}

int Graph::add_value(std::string name, TensorType type, std::vector<std::string> dim_names) {
  values.push_back({std::move(name), std::move(type), std::move(dim_names), {}});
  return static_cast<int>(values.size()) - 1;
}

int Graph::add_constant(std::string name, TensorType type, Constant constant) {
  values.push_back({std::move(name), std::move(type), {}, std::move(constant)});
  return static_cast<int>(values.size()) - 1;
}

int Graph::add_constant(std::string name, TensorType type, const void* data) {
  const int64_t bytes = storage_bytes(type, kPlain);
  return add_constant(std::move(name), std::move(type),
                      Constant::copy_of(data, bytes < 0 ? 0 : static_cast<uint64_t>(bytes)));
}

int Graph::add_node(std::string op, std::string name, std::vector<int> node_inputs,
                    std::vector<int> node_outputs, Attrs attrs) {
  Node n;
  n.op = std::move(op);
  n.name = std::move(name);
  n.inputs = std::move(node_inputs);
  n.outputs = std::move(node_outputs);
  n.attrs = std::move(attrs);
  nodes.push_back(std::move(n));
  return static_cast<int>(nodes.size()) - 1;
}

std::string Graph::unique_name(const std::string& base) const {
  std::unordered_set<std::string> taken;
  for (const Value& v : values)
    if (v.name.compare(0, base.size(), base) == 0) taken.insert(v.name);
  if (!taken.count(base)) return base;
  for (int i = 1;; ++i)
    if (std::string name = base + "." + std::to_string(i); !taken.count(name)) return name;
}

std::vector<int> Graph::producers() const {
  std::vector<int> out(values.size(), -1);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (int v : nodes[i].outputs)
      if (v >= 0) out[static_cast<size_t>(v)] = static_cast<int>(i);
  return out;
}

std::vector<std::vector<int>> Graph::users() const {
  std::vector<std::vector<int>> out(values.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    for (int v : nodes[i].inputs) {
      if (v < 0) continue;
      auto& list = out[static_cast<size_t>(v)];
      if (list.empty() || list.back() != static_cast<int>(i)) list.push_back(static_cast<int>(i));
    }
  return out;
}

std::vector<int> Graph::use_counts() const {
  std::vector<int> out(values.size(), 0);
  for (const Node& n : nodes)
    for (int v : n.inputs)
      if (v >= 0) ++out[static_cast<size_t>(v)];
  for (int v : outputs) ++out[static_cast<size_t>(v)];
  return out;
}

namespace {

// Calls f on every value index of a node, those of its posts included.
template <class F>
void each_value(Node& n, const F& f) {
  for (int& v : n.inputs) f(v);
  for (int& v : n.outputs) f(v);
  for (Post& p : n.posts) each_value(p.node, f);
}

void replace_inputs(Node& n, int from, int to) {
  for (int& v : n.inputs)
    if (v == from) v = to;
  for (Post& p : n.posts) replace_inputs(p.node, from, to);
}

}  // namespace

void Graph::replace_uses(int from, int to) {
  for (Node& n : nodes) replace_inputs(n, from, to);
  for (int& v : outputs)
    if (v == from) v = to;
}

Status Graph::sort() {
  const std::vector<int> made_by = producers();
  std::vector<int> missing(nodes.size(), 0);
  std::vector<std::vector<int>> waiting(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    for (int v : nodes[i].inputs) {
      const int p = v < 0 ? -1 : made_by[static_cast<size_t>(v)];
      if (p < 0) continue;
      waiting[static_cast<size_t>(p)].push_back(static_cast<int>(i));
      ++missing[i];
    }
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!missing[i]) ready.push(static_cast<int>(i));
  std::vector<int> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int w : waiting[static_cast<size_t>(i)])
      if (!--missing[static_cast<size_t>(w)]) ready.push(w);
  }
  if (order.size() < nodes.size()) {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (missing[i])
        return Status(FV_MODEL_ERROR,
                      node_label(nodes[i], static_cast<int>(i)) + " needs its own result",
                      "a graph must not contain cycles", nodes[i].op);
  }
  if (std::is_sorted(order.begin(), order.end())) return ok();
  std::vector<Node> sorted;
  sorted.reserve(nodes.size());
  for (int i : order) sorted.push_back(std::move(nodes[static_cast<size_t>(i)]));
  nodes = std::move(sorted);
  return ok();
}

std::vector<int> Graph::remove_dead() {
  const std::vector<int> made_by = producers();
  std::vector<bool> live(nodes.size());
  std::vector<int> stack = outputs;
  while (!stack.empty()) {
    const int v = stack.back();
    stack.pop_back();
    const int p = v < 0 ? -1 : made_by[static_cast<size_t>(v)];
    if (p < 0 || live[static_cast<size_t>(p)]) continue;
    live[static_cast<size_t>(p)] = true;
    const Node& n = nodes[static_cast<size_t>(p)];
    stack.insert(stack.end(), n.inputs.begin(), n.inputs.end());
  }
  size_t kept = 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (live[i]) {
      if (kept != i) nodes[kept] = std::move(nodes[i]);
      ++kept;
    }
  nodes.resize(kept);

  std::vector<int> map(values.size(), -1);
  auto mention = [&](int v) {
    if (v >= 0) map[static_cast<size_t>(v)] = 0;
  };
  for (int v : inputs) mention(v);
  for (int v : outputs) mention(v);
  for (Node& n : nodes) each_value(n, mention);
  int next = 0;
  for (size_t v = 0; v < values.size(); ++v) {
    if (map[v] < 0) continue;
    map[v] = next;
    if (next != static_cast<int>(v)) values[static_cast<size_t>(next)] = std::move(values[v]);
    ++next;
  }
  values.resize(static_cast<size_t>(next));
  auto renumber = [&](int& v) {
    if (v >= 0) v = map[static_cast<size_t>(v)];
  };
  for (int& v : inputs) renumber(v);
  for (int& v : outputs) renumber(v);
  for (Node& n : nodes) each_value(n, renumber);
  return map;
}

std::string node_label(const Node& node, int index) {
  return node.name.empty() ? node.op + " #" + std::to_string(index)
                           : node.op + " '" + node.name + "'";
}

}  // namespace foveal
