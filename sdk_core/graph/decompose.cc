#include "graph/decompose.h"

#include <algorithm>
#include <unordered_set>

#include "graph/infer.h"

namespace foveal {
namespace {

constexpr int kMaxDepth = 16;

// Collects the nodes that replace one node. New values go straight into the graph.
class Builder : public Decomposer {
 public:
  Builder(Graph& g, const Node& node, const std::string& prefix, int& counter)
      : g_(g), node_(node), prefix_(prefix), counter_(counter), results_(node.outputs.size(), -1) {}

  int inputs() const override { return static_cast<int>(node_.inputs.size()); }
  bool has(int i) const override {
    return i >= 0 && i < inputs() && node_.inputs[static_cast<size_t>(i)] >= 0;
  }
  Value in(int i) const override { return has(i) ? node_.inputs[static_cast<size_t>(i)] : -1; }
  TensorType type(Value v) const override { return v < 0 ? TensorType{} : g_.type(v); }
  const void* constant_data(Value v) const override {
    return v < 0 ? nullptr : g_.value(v).constant.data;
  }

  Value op(const char* name, std::vector<Value> inputs, Attrs attrs) override {
    if (!error_.ok()) return -1;
    std::vector<const TensorType*> in;
    for (Value v : inputs) in.push_back(v < 0 ? nullptr : &g_.type(v));
    auto types = infer_op(name, attrs, in, 1);
    if (!types.ok()) {
      error_ = std::move(types.status());
      return -1;
    }
    const Value out = g_.add_value(next_name(), std::move(types.value()[0]));
    Node n;
    n.op = name;
    n.version = op_table().find(n.op)->version;
    n.name = node_.name;
    n.inputs = std::move(inputs);
    n.outputs = {out};
    n.attrs = std::move(attrs);
    nodes_.push_back(std::move(n));
    return out;
  }

  Value constant(TensorType type, const void* data) override {
    if (!error_.ok()) return -1;
    const Value v = g_.add_constant(next_name(), std::move(type), data);
    if (!g_.value(v).is_constant())
      error_ = Status(FV_OUT_OF_MEMORY, "no memory for a constant of " + node_.op);
    return v;
  }

  void out(int i, Value v) override {
    if (i >= 0 && static_cast<size_t>(i) < results_.size()) results_[static_cast<size_t>(i)] = v;
  }

  // The replacement, with the results renamed to the outputs of the node it replaces.
  Result<std::vector<Node>> finish() {
    if (!error_.ok()) return std::move(error_);
    for (size_t i = 0; i < results_.size(); ++i) {
      const int to = node_.outputs[i], from = results_[i];
      if (from < 0) return Status(FV_INTERNAL, format("decomposition leaves output %zu open", i));
      if (g_.type(from) != g_.type(to))
        return Status(FV_INTERNAL, "decomposition makes " + to_string(g_.type(from)) +
                                       ", expected " + to_string(g_.type(to)));
      rename(from, to);
    }
    return std::move(nodes_);
  }

 private:
  std::string next_name() { return prefix_ + std::to_string(counter_++); }

  void rename(int from, int to) {
    bool made = false;
    for (Node& n : nodes_) {
      for (int& v : n.outputs)
        if (v == from) v = to, made = true;
      for (int& v : n.inputs)
        if (v == from) v = to;
    }
    if (made) return;
    // The result is an input or a constant as it is: pass it on by a view.
    Node n;
    n.op = "reshape";
    n.name = node_.name;
    n.inputs = {from};
    n.outputs = {to};
    n.attrs = {{"shape", Ints(g_.type(to).dims)}};
    nodes_.push_back(std::move(n));
  }

  Graph& g_;
  const Node& node_;
  const std::string& prefix_;
  int& counter_;
  std::vector<Node> nodes_;
  std::vector<Value> results_;
  Status error_;
};

class Lowering {
 public:
  Lowering(Graph& g, const KeepNode& keep, const std::function<std::string(const Graph&, int)>& why)
      : g_(g), keep_(keep), why_(why), prefix_(free_prefix(g)) {}

  Status run() {
    std::vector<Node> todo = std::move(g_.nodes);
    g_.nodes.clear();
    for (Node& n : todo) FV_TRY(lower(std::move(n), 0));
    if (missing_.empty()) return ok();
    std::string text;
    for (const std::string& m : missing_) text += (text.empty() ? "" : "; ") + m;
    return Status(FV_UNSUPPORTED_OP, "no chosen device runs " + text,
                  "add a device that does, for example device=['...', 'cpu']", first_);
  }

 private:
  static std::string free_prefix(const Graph& g) {
    std::string prefix = "~";
    auto taken = [&] {
      return std::any_of(g.values.begin(), g.values.end(), [&](const Value& v) {
        return v.name.compare(0, prefix.size(), prefix) == 0;
      });
    };
    while (taken()) prefix += "~";
    return prefix;
  }

  Status lower(Node node, int depth) {
    g_.nodes.push_back(std::move(node));
    const int index = static_cast<int>(g_.nodes.size()) - 1;
    const OpDef* def = op_table().find(g_.nodes.back().op);
    if (!def) return Status(FV_INTERNAL, "operator '" + g_.nodes.back().op + "' is unknown");
    if (keep_(g_, index) || (def->traits & kView)) return ok();
    const std::string label = node_label(g_.nodes.back(), index);
    Status declined;
    if (def->decompose && depth < kMaxDepth) {
      const Node original = std::move(g_.nodes.back());
      g_.nodes.pop_back();
      Builder builder(g_, original, prefix_, counter_);
      Status s = def->decompose(original.attrs, builder);
      if (s.ok()) {
        auto nodes = builder.finish();
        if (!nodes.ok()) return std::move(nodes.status()).within(label).for_op(def->name);
        for (Node& n : nodes.value()) FV_TRY(lower(std::move(n), depth + 1));
        return ok();
      }
      if (s.code() != FV_UNSUPPORTED_OP) return std::move(s).within(label).for_op(def->name);
      g_.nodes.push_back(original);
      declined = std::move(s);
    }
    std::string reason = why_ ? why_(g_, index) : std::string();
    if (!declined.ok()) reason += (reason.empty() ? "" : "; ") + declined.message();
    if (first_.empty()) first_ = def->name;
    std::string complaint = label + (reason.empty() ? "" : " (" + reason + ")");
    if (seen_.insert(def->name + reason).second && missing_.size() < 50)
      missing_.push_back(std::move(complaint));
    return ok();
  }

  Graph& g_;
  const KeepNode& keep_;
  const std::function<std::string(const Graph&, int)>& why_;
  const std::string prefix_;
  int counter_ = 0;
  std::vector<std::string> missing_;
  std::unordered_set<std::string> seen_;
  std::string first_;
};

}  // namespace

Status decompose(Graph& graph, const KeepNode& keep,
                 const std::function<std::string(const Graph&, int)>& why) {
  return Lowering(graph, keep, why).run();
}

}  // namespace foveal
