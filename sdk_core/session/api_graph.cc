// foveal.h: graphs under construction and inspection.
#include "base/guard.h"
#include "foveal/foveal.h"
#include "graph/infer.h"
#include "graph/model_file.h"
#include "graph/ops_json.h"
#include "graph/verify.h"
#include "plugin/host.h"
#include "session/model.h"

using namespace foveal;

struct fv_graph {
  Graph graph;
};

namespace {

Status invalid(std::string message) { return Status(FV_INVALID_ARGUMENT, std::move(message)); }

// NULL: there is no such node.
const Node* node_at(const fv_graph* g, int32_t i) {
  return g && i >= 0 && i < static_cast<int32_t>(g->graph.nodes.size())
             ? &g->graph.nodes[static_cast<size_t>(i)]
             : nullptr;
}

Result<TensorType> make_type(const char* name, fv_dtype dtype, int32_t rank, const int64_t* dims) {
  const std::string where = std::string("value '") + (name ? name : "") + "'";
  // 0 = not declared: verify fills it in.
  if (dtype && !dtype_size(dtype)) return invalid(where + format(": unknown dtype %d", dtype));
  if (rank < 0 || rank > FV_MAX_RANK)
    return shape_error(where + format(": rank is %d, expected 0 to %d", rank, FV_MAX_RANK));
  for (int32_t i = 0; i < rank; ++i)
    if (dims[i] < kUnknown)
      return shape_error(where + format(": dimension %d is %lld, expected -1 or more", i,
                                        static_cast<long long>(dims[i])));
  return TensorType{dtype, Dims(dims, dims + rank)};
}

const void* data_of(const fv_attr& a) {
  if (a.type == FV_ATTR_INT || a.type == FV_ATTR_INTS) return a.ints;
  if (a.type == FV_ATTR_FLOAT || a.type == FV_ATTR_FLOATS) return a.floats;
  return a.string;
}

Result<Attrs> make_attrs(const fv_named_attr* attrs, size_t count) {
  Attrs out;
  for (size_t i = 0; i < count; ++i) {
    const fv_attr& a = attrs[i].attr;
    if (!attrs[i].name) return invalid(format("attribute %zu has no name", i));
    const uint64_t count = a.type == FV_ATTR_INT || a.type == FV_ATTR_FLOAT ? 1 : a.count;
    if (count && !data_of(a)) return invalid(format("attribute '%s' has no data", attrs[i].name));
    Attr attr{attrs[i].name, int64_t{0}};
    switch (a.type) {
      case FV_ATTR_INT:
        attr.value = a.ints[0];
        break;
      case FV_ATTR_FLOAT:
        attr.value = a.floats[0];
        break;
      case FV_ATTR_STRING:
        attr.value = std::string(a.string, a.count);
        break;
      case FV_ATTR_INTS:
        attr.value = Ints(a.ints, a.ints + a.count);
        break;
      case FV_ATTR_FLOATS:
        attr.value = Floats(a.floats, a.floats + a.count);
        break;
      default:
        return invalid(format("attribute '%s': unknown type %d", attrs[i].name, a.type));
    }
    out.push_back(std::move(attr));
  }
  return out;
}

void describe(const TensorType& type, const char* name, fv_tensor* out) {
  fv_tensor t{};
  t.abi = out->abi;
  t.name = name;
  t.dtype = type.dtype;
  t.rank = type.rank();
  for (int d = 0; d < t.rank; ++d) t.dims[d] = type.dims[static_cast<size_t>(d)];
  t.layout = kPlain;
  *out = t;
}

Status check_values(const Graph& g, const int32_t* values, size_t count, int32_t lowest,
                    const char* what) {
  for (size_t i = 0; i < count; ++i)
    if (values[i] < lowest || values[i] >= static_cast<int32_t>(g.values.size()))
      return invalid(format("%s %zu is value %d, expected %d to %zu", what, i, values[i], lowest,
                            g.values.size() - 1));
  return ok();
}

}  // namespace

extern "C" {

fv_status* fv_graph_new(fv_graph** out) {
  return guard(__func__, {{"out", out}}, [&]() -> Status {
    *out = new fv_graph;
    return ok();
  });
}
void fv_graph_free(fv_graph* g) { delete g; }

fv_status* fv_graph_add_value(fv_graph* g, const char* name, fv_dtype dtype, int32_t rank,
                              const int64_t* dims, const char* const* dim_names,
                              int32_t* out_value) {
  return guard(
      __func__,
      {{"graph", g}, {"name", name}, {"dims", dims, size_t{rank > 0}}, {"out_value", out_value}},
      [&]() -> Status {
        FV_ASSIGN(TensorType type, make_type(name, dtype, rank, dims));
        std::vector<std::string> names;
        for (int32_t i = 0; dim_names && i < rank; ++i)
          names.emplace_back(dim_names[i] ? dim_names[i] : "");
        *out_value = g->graph.add_value(name, std::move(type), std::move(names));
        return ok();
      });
}

fv_status* fv_graph_add_constant(fv_graph* g, const char* name, fv_dtype dtype, int32_t rank,
                                 const int64_t* dims, const void* data, int32_t* out_value) {
  return guard(
      __func__,
      {{"graph", g}, {"name", name}, {"dims", dims, size_t{rank > 0}}, {"out_value", out_value}},
      [&]() -> Status {
        FV_ASSIGN(TensorType type, make_type(name, dtype, rank, dims));
        const int64_t bytes = storage_bytes(type, kPlain);
        if (bytes < 0)
          return shape_error(std::string("constant '") + name + "': shape " + to_string(type.dims) +
                             " is not concrete");
        Constant constant = Constant::copy_of(data, static_cast<uint64_t>(bytes));
        if (!constant)
          return Status(FV_OUT_OF_MEMORY, format("no memory for constant '%s' of %lld bytes", name,
                                                 static_cast<long long>(bytes)));
        *out_value = g->graph.add_constant(name, std::move(type), std::move(constant));
        return ok();
      });
}

fv_status* fv_graph_set_quantization(fv_graph* g, int32_t v, double scale, int32_t zero_point) {
  return guard(__func__, {{"graph", g}}, [&]() -> Status {
    FV_TRY(check_values(g->graph, &v, 1, 0, "argument"));
    if (scale == 0) return invalid("scale: expected a finite number above 0, got 0");
    g->graph.value(v).quantization = {scale, zero_point};
    return ok();
  });
}

fv_status* fv_graph_add_node(fv_graph* g, const char* op, const char* name, const int32_t* inputs,
                             size_t input_count, const int32_t* outputs, size_t output_count,
                             const fv_named_attr* attrs, size_t attr_count) {
  return guard(__func__,
               {{"graph", g},
                {"op", op},
                {"name", name},
                {"inputs", inputs, input_count},
                {"outputs", outputs, output_count},
                {"attrs", attrs, attr_count}},
               [&]() -> Status {
                 FV_TRY(check_values(g->graph, inputs, input_count, -1, "input"));
                 FV_TRY(check_values(g->graph, outputs, output_count, 0, "output"));
                 auto made = make_attrs(attrs, attr_count);
                 if (!made.ok()) return std::move(made.status()).within(op);
                 g->graph.add_node(op, name, std::vector<int>(inputs, inputs + input_count),
                                   std::vector<int>(outputs, outputs + output_count), made.take());
                 return ok();
               });
}

fv_status* fv_graph_set_io(fv_graph* g, const int32_t* inputs, size_t input_count,
                           const int32_t* outputs, size_t output_count) {
  return guard(__func__,
               {{"graph", g}, {"inputs", inputs, input_count}, {"outputs", outputs, output_count}},
               [&]() -> Status {
                 FV_TRY(check_values(g->graph, inputs, input_count, 0, "graph input"));
                 FV_TRY(check_values(g->graph, outputs, output_count, 0, "graph output"));
                 g->graph.inputs.assign(inputs, inputs + input_count);
                 g->graph.outputs.assign(outputs, outputs + output_count);
                 return ok();
               });
}

fv_status* fv_graph_set_meta(fv_graph* g, const char* key, const char* value) {
  return guard(__func__, {{"graph", g}, {"key", key}, {"value", value}}, [&]() -> Status {
    g->graph.meta[key] = value;
    return ok();
  });
}

fv_status* fv_graph_verify(fv_graph* g) {
  return guard(__func__, {{"graph", g}}, [&] { return verify(g->graph); });
}

fv_status* fv_graph_value(const fv_graph* g, int32_t v, fv_tensor* out) {
  return guard(__func__, {{"graph", g}, {"out", out}}, [&]() -> Status {
    FV_TRY(check_values(g->graph, &v, 1, 0, "argument"));
    describe(g->graph.type(v), g->graph.value(v).name.c_str(), out);
    return ok();
  });
}

fv_status* fv_graph_save(fv_graph* g, const char* path) {
  return guard(__func__, {{"graph", g}, {"path", path}}, [&]() -> Status {
    FV_TRY(verify(g->graph));
    return save_model(g->graph, path);
  });
}

fv_status* fv_graph_to_model(fv_graph* g, fv_model** out) {
  return guard(__func__, {{"graph", g}, {"out", out}}, [&]() -> Status {
    FV_TRY(verify(g->graph));
    *out = new fv_model(g->graph);
    return ok();
  });
}

fv_status* fv_graph_from_model(const fv_model* model, fv_graph** out) {
  return guard(__func__, {{"model", model}, {"out", out}}, [&]() -> Status {
    *out = new fv_graph{model->graph};
    return ok();
  });
}

int32_t fv_graph_values(const fv_graph* g) {
  return g ? static_cast<int32_t>(g->graph.values.size()) : 0;
}
int32_t fv_graph_nodes(const fv_graph* g) {
  return g ? static_cast<int32_t>(g->graph.nodes.size()) : 0;
}
const void* fv_graph_constant(const fv_graph* g, int32_t v) {
  return v >= 0 && v < fv_graph_values(g) ? g->graph.value(v).constant.data : nullptr;
}
const char* fv_graph_node_op(const fv_graph* g, int32_t i) {
  const Node* node = node_at(g, i);
  return node ? node->op.c_str() : "";
}
const char* fv_graph_node_name(const fv_graph* g, int32_t i) {
  const Node* node = node_at(g, i);
  return node ? node->name.c_str() : "";
}
size_t fv_graph_node_inputs(const fv_graph* g, int32_t i) {
  const Node* node = node_at(g, i);
  return node ? node->inputs.size() : 0;
}
int32_t fv_graph_node_input(const fv_graph* g, int32_t i, size_t k) {
  return k < fv_graph_node_inputs(g, i) ? node_at(g, i)->inputs[k] : -1;
}
size_t fv_graph_node_outputs(const fv_graph* g, int32_t i) {
  const Node* node = node_at(g, i);
  return node ? node->outputs.size() : 0;
}
int32_t fv_graph_node_output(const fv_graph* g, int32_t i, size_t k) {
  return k < fv_graph_node_outputs(g, i) ? node_at(g, i)->outputs[k] : -1;
}
size_t fv_graph_node_attrs(const fv_graph* g, int32_t i) {
  const Node* node = node_at(g, i);
  return node ? node->attrs.size() : 0;
}
fv_status* fv_graph_node_attr(const fv_graph* g, int32_t i, size_t k, fv_named_attr* out) {
  return guard(__func__, {{"graph", g}, {"out", out}}, [&]() -> Status {
    const Node* node = node_at(g, i);
    if (!node) return invalid(format("node %d, expected less than %d", i, fv_graph_nodes(g)));
    const Attrs& attrs = node->attrs;
    if (k >= attrs.size())
      return invalid(format("attribute %zu, expected less than %zu", k, attrs.size()));
    *out = {attrs[k].name.c_str(), attr_view(attrs[k].value)};
    return ok();
  });
}
double fv_graph_node_macs(const fv_graph* g, int32_t i) {
  return guard_or(-1.0, [&]() -> double {
    if (!node_at(g, i)) return -1;
    const Node& node = *node_at(g, i);
    const OpDef* def = op_table().find(node.op);
    std::vector<TensorType> in, out;
    for (int v : node.inputs) {
      in.push_back(v < 0 ? TensorType{} : g->graph.type(v));
      if (!is_concrete(in.back().dims)) return -1;
    }
    for (int v : node.outputs) {
      out.push_back(g->graph.type(v));
      if (!is_concrete(out.back().dims)) return -1;
    }
    return def ? def->macs(node.attrs, in, out) : -1;
  });
}

fv_status* fv_op_infer(const char* op, const fv_tensor* inputs, size_t input_count,
                       const fv_named_attr* attrs, size_t attr_count, fv_tensor* out,
                       size_t output_count) {
  return guard(__func__,
               {{"op", op},
                {"inputs", inputs, input_count},
                {"attrs", attrs, attr_count},
                {"out", out, output_count}},
               [&]() -> Status {
                 auto made = make_attrs(attrs, attr_count);
                 if (!made.ok()) return std::move(made.status()).within(op).for_op(op);
                 Attrs full = made.take();
                 std::vector<TensorType> types;
                 std::vector<const TensorType*> present;
                 types.reserve(input_count);  // pointers into it
                 for (size_t i = 0; i < input_count; ++i) {
                   const fv_tensor& t = inputs[i];
                   if (t.rank > FV_MAX_RANK)
                     return shape_error(format("%s: input %zu has rank %d, expected 0 to %d", op, i,
                                               t.rank, FV_MAX_RANK));
                   types.push_back({t.dtype, Dims(t.dims, t.dims + std::max(t.rank, 0))});
                   present.push_back(t.rank < 0 ? nullptr : &types.back());
                 }
                 auto results = infer_op(op, full, present, output_count);
                 if (!results.ok()) return std::move(results.status()).for_op(op);
                 for (size_t i = 0; i < output_count; ++i)
                   describe(results.value()[i], "", &out[i]);
                 return ok();
               });
}

const char* fv_ops_json(void) {
  return guard_or("[]", [] {
    static const std::string text = ops_json();
    return text.c_str();
  });
}

}  // extern "C"
