#include "base/json_text.h"
#include "session/session.h"

namespace foveal {
namespace {

std::string dims_json(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? "," : "") + std::to_string(dims[i]);
  return out + "]";
}

std::string tensor_json(const PlacedGraph& g, int v) {
  if (v < 0) return "null";
  const Value& value = g.graph.value(v);
  return "{\"name\":" + json_quote(value.name) + ",\"dtype\":\"" + dtype_name(value.type.dtype) +
         "\",\"shape\":" + dims_json(value.type.dims) +
         ",\"constant\":" + (value.is_constant() ? "true" : "false") +
         ",\"layout\":" + json_quote(to_string(g.states[static_cast<size_t>(v)].layout)) + "}";
}

std::string tensors_json(const PlacedGraph& g, const std::vector<int>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? "," : "") + tensor_json(g, values[i]);
  return out + "]";
}

std::vector<int> segment_of_nodes(const Plan& plan) {
  std::vector<int> of(plan.placed.graph.nodes.size(), -1);
  for (size_t s = 0; s < plan.segments.size(); ++s)
    for (int i : plan.segments[s].nodes) of[static_cast<size_t>(i)] = static_cast<int>(s);
  return of;
}

// By value: the others that live in its memory (views of it, results in place of it).
std::vector<std::vector<int>> members(const Plan& plan) {
  std::vector<std::vector<int>> of(plan.root.size());
  for (size_t v = 0; v < plan.root.size(); ++v)
    if (plan.root[v] != static_cast<int>(v))
      of[static_cast<size_t>(plan.root[v])].push_back(static_cast<int>(v));
  return of;
}

std::string names_json(const PlacedGraph& g, const std::vector<int>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i)
    out += (i ? "," : "") + json_quote(g.graph.value(values[i]).name);
  return out + "]";
}

}  // namespace

std::string explain_plan(const Plan& plan, const Backends& backends, const fv_model& model) {
  const PlacedGraph& g = plan.placed;
  const std::vector<int> segment = segment_of_nodes(plan);
  std::string out = "{\"nodes\":[";
  for (size_t i = 0; i < g.graph.nodes.size(); ++i) {
    const Node& node = g.graph.nodes[i];
    const Placed& p = g.placed[i];
    std::vector<TensorType> in, results;
    double bytes = 0;
    for (int v : node.inputs) {
      in.push_back(v < 0 ? TensorType{} : g.graph.type(v));
      if (v >= 0) bytes += static_cast<double>(storage_bytes(in.back(), kPlain));
    }
    for (int v : node.outputs) {
      results.push_back(g.graph.type(v));
      bytes += static_cast<double>(storage_bytes(results.back(), kPlain));
    }
    const OpDef* def = op_table().find(node.op);
    std::string posts = "[";
    for (const Post& post : node.posts)
      posts += (posts.size() > 1 ? "," : "") + json_quote(post.node.op);
    out += std::string(i ? "," : "") + "\n{\"op\":" + json_quote(node.op) +
           ",\"name\":" + json_quote(node.name) + ",\"posts\":" + posts + "],\"device\":" +
           json_quote(p.backend < 0 ? "core"
                                    : backends[static_cast<size_t>(p.backend)]->device().name) +
           ",\"segment\":" + std::to_string(segment[i]) +
           ",\"position\":" + std::to_string(plan.position[i]) +
           ",\"why\":" + json_quote(p.refusals) +
           ",\"remark\":" + json_quote(p.backend < 0 ? "" : p.support.reason) +
           ",\"macs\":" + json_number(def ? def->macs(node.attrs, in, results) : 0) +
           ",\"bytes\":" + json_number(bytes) +
           ",\"cost_us\":" + json_number(p.backend < 0 ? 0 : p.support.cost_us) +
           ",\"inputs\":" + tensors_json(g, node.inputs) +
           ",\"outputs\":" + tensors_json(g, node.outputs) + "}";
  }
  double weights = 0;
  for (const Value& v : model.graph.values) weights += static_cast<double>(v.constant.bytes);
  out += "],\n\"memory\":{\"arena_bytes\":" + std::to_string(plan.arena_bytes) +
         ",\"unshared_bytes\":" + std::to_string(plan.sum_bytes) +
         ",\"weight_bytes\":" + json_number(weights) +
         ",\"packed_bytes\":" + std::to_string(model.packed.bytes() + plan.packed.bytes()) +
         ",\"buffers\":[";
  const std::vector<std::vector<int>> sharing = members(plan);
  for (size_t i = 0; i < plan.lives.size(); ++i) {
    const Plan::Life& life = plan.lives[i];
    out +=
        std::string(i ? "," : "") +
        "{\"name\":" + json_quote(life.value < 0 ? "workspace" : g.graph.value(life.value).name) +
        ",\"offset\":" + std::to_string(life.offset) + ",\"bytes\":" + std::to_string(life.bytes) +
        ",\"first\":" + std::to_string(life.first) + ",\"last\":" + std::to_string(life.last) +
        ",\"scratch\":" + (life.value < 0 ? "true" : "false") + ",\"shared_by\":" +
        names_json(g,
                   life.value < 0 ? std::vector<int>() : sharing[static_cast<size_t>(life.value)]) +
        "}";
  }
  out += "]},\n\"operators\":[";
  for (const std::string& name : g.operators)
    out += (name == *g.operators.begin() ? "" : ",") + json_quote(name);
  return out + "],\n\"segments\":" + std::to_string(plan.segments.size()) +
         ",\"steps\":" + std::to_string(plan.steps.size()) + "}";
}

}  // namespace foveal
