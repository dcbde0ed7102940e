#include "graph/infer.h"

#include <map>

namespace foveal {
namespace {

constexpr int64_t kMaxDim = int64_t{1} << 48;

const char* attr_type_name(const AttrValue& v) {
  constexpr const char* kNames[] = {"an integer", "a float", "a string", "a list of integers",
                                    "a list of floats"};
  return kNames[v.index()];
}

// `value` as the alternative `like` holds, if it can be one without loss.
bool convert(AttrValue& value, const AttrValue& like) {
  if (value.index() == like.index()) return true;
  if (auto* i = std::get_if<int64_t>(&value); i && std::holds_alternative<double>(like)) {
    value = static_cast<double>(*i);
    return true;
  }
  if (auto* list = std::get_if<Ints>(&value); list && std::holds_alternative<Floats>(like)) {
    value = Floats(list->begin(), list->end());
    return true;
  }
  if (auto* list = std::get_if<Floats>(&value);
      list && list->empty() && std::holds_alternative<Ints>(like)) {
    value = Ints{};
    return true;
  }
  return false;
}

class Context : public InferContext {
 public:
  Context(const std::vector<const TensorType*>& in, size_t outputs)
      : in_(in), out_(outputs), set_(outputs) {}
  int inputs() const override { return static_cast<int>(in_.size()); }
  int outputs() const override { return static_cast<int>(out_.size()); }
  bool has(int i) const override { return i < inputs() && in_[static_cast<size_t>(i)]; }
  const TensorType& in(int i) const override { return *in_[static_cast<size_t>(i)]; }
  void out(int i, TensorType type) override {
    if (i < 0 || i >= outputs()) return;
    out_[static_cast<size_t>(i)] = std::move(type);
    set_[static_cast<size_t>(i)] = true;
  }
  Result<std::vector<TensorType>> finish() {
    for (size_t i = 0; i < out_.size(); ++i) {
      if (!set_[i]) return Status(FV_INTERNAL, format("output %zu was not inferred", i));
      FV_TRY(check_type(out_[i]).within(format("output %zu", i)));
    }
    return std::move(out_);
  }

 private:
  const std::vector<const TensorType*>& in_;
  std::vector<TensorType> out_;
  std::vector<bool> set_;
};

}  // namespace

Status check_type(const TensorType& t) {
  if (!dtype_size(t.dtype))
    return Status(FV_MODEL_ERROR, format("element type %d is unknown", t.dtype));
  if (t.dims.size() > FV_MAX_RANK)
    return shape_error(format("rank is %zu, the limit is %d", t.dims.size(), FV_MAX_RANK));
  for (int64_t d : t.dims)
    if (d < kUnknown || d > kMaxDim)
      return shape_error(format("dimension %lld is out of range", static_cast<long long>(d)));
  // Unknown dimensions count as 1, a zero must not hide an overflow of the others.
  int64_t n = static_cast<int64_t>(dtype_size(t.dtype));
  for (int64_t d : t.dims)
    if ((n = checked_mul(n, std::max<int64_t>(d, 1))) < 0)
      return shape_error("size of " + to_string(t) + " overflows");
  return ok();
}

Status complete_attrs(const OpDef& def, Attrs& attrs) {
  for (size_t i = 0; i < attrs.size(); ++i) {
    bool known = false;
    for (const AttrDef& d : def.attrs) known = known || d.name == attrs[i].name;
    if (!known)
      return Status(FV_UNSUPPORTED_OP, "attribute '" + attrs[i].name + "' is unknown", {},
                    def.name);
    for (size_t j = 0; j < i; ++j)
      if (attrs[i].name == attrs[j].name)
        return Status(FV_MODEL_ERROR, "attribute '" + attrs[i].name + "' is given twice");
  }
  Attrs complete;
  complete.reserve(def.attrs.size());
  for (const AttrDef& d : def.attrs) {
    const AttrValue* given = find_attr(attrs, d.name);
    complete.push_back({d.name, given ? *given : d.default_value});
    if (given && !convert(complete.back().value, d.default_value))
      return Status(FV_MODEL_ERROR, "attribute '" + d.name + "' is " + attr_type_name(*given) +
                                        ", expected " + attr_type_name(d.default_value));
  }
  attrs = std::move(complete);
  return ok();
}

Status check_arity(const OpDef& def, const std::vector<bool>& present, size_t outputs) {
  auto many = [](const std::vector<std::string>& names) {
    return !names.empty() && names.back().back() == '*';
  };
  auto list = [](const std::vector<std::string>& names) {
    std::string s;
    for (const std::string& n : names) s += (s.empty() ? "" : ", ") + n;
    return "(" + s + ")";
  };
  const size_t named = def.inputs.size();
  for (size_t i = 0; i < std::max(named, present.size()); ++i) {
    if (i >= named && !many(def.inputs))
      return Status(FV_MODEL_ERROR,
                    format("has %zu inputs, expected ", present.size()) + list(def.inputs));
    const char mark = def.inputs[std::min(i, named - 1)].back();
    if (mark != '?' && (i >= present.size() || !present[i]))
      return Status(FV_MODEL_ERROR,
                    format("input %zu is missing, expected ", i) + list(def.inputs));
  }
  if (outputs != def.outputs.size() && !(many(def.outputs) && outputs >= def.outputs.size()))
    return Status(FV_MODEL_ERROR,
                  format("has %zu outputs, expected ", outputs) + list(def.outputs));
  return ok();
}

Result<std::vector<TensorType>> infer_types(const OpDef& def, const Attrs& attrs,
                                            const std::vector<const TensorType*>& inputs,
                                            size_t outputs) {
  Context context(inputs, outputs);
  FV_TRY(def.infer(attrs, context));
  return context.finish();
}

Result<std::vector<TensorType>> infer_op(const std::string& op, Attrs& attrs,
                                         const std::vector<const TensorType*>& inputs,
                                         size_t outputs) {
  const OpDef* def = op_table().find(op);
  if (!def)
    return Status(FV_UNSUPPORTED_OP, "operator '" + op + "' is unknown", missing_operator_hint(""),
                  op);
  std::vector<bool> present;
  for (const TensorType* t : inputs) present.push_back(t != nullptr);
  FV_TRY(complete_attrs(*def, attrs).within(op).for_op(op));
  FV_TRY(check_arity(*def, present, outputs).within(op).for_op(op));
  for (const TensorType* t : inputs)
    if (t) FV_TRY(check_type(*t).within(op).for_op(op));
  auto types = infer_types(*def, attrs, inputs, outputs);
  if (!types.ok()) return std::move(types.status()).within(op).for_op(op);
  return types;
}

namespace {

// Replaces the shape of every graph input, checking what the model says about it.
Status set_input_dims(Graph& g, const std::vector<Dims>& input_dims) {
  if (input_dims.size() != g.inputs.size())
    return Status(FV_INVALID_ARGUMENT, format("shapes of %zu inputs given, the model has %zu",
                                              input_dims.size(), g.inputs.size()));
  std::map<std::string, std::pair<int64_t, std::string>> named;  // dimension name -> size, input
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    Value& v = g.value(g.inputs[i]);
    const Dims& dims = input_dims[i];
    bool fits = dims.size() == v.type.dims.size();
    for (size_t k = 0; fits && k < dims.size(); ++k) {
      const int64_t declared = v.type.dims[k];
      fits = dims[k] >= kUnknown && (declared == kUnknown || dims[k] == declared);
      if (!fits || dims[k] == kUnknown || k >= v.dim_names.size() || v.dim_names[k].empty())
        continue;
      const auto [it, fresh] = named.insert({v.dim_names[k], {dims[k], v.name}});
      if (!fresh && it->second.first != dims[k])
        return shape_error(format("dimension '%s' is %lld in input '%s' and %lld in input '%s'",
                                  v.dim_names[k].c_str(), static_cast<long long>(it->second.first),
                                  it->second.second.c_str(), static_cast<long long>(dims[k]),
                                  v.name.c_str()));
    }
    if (!fits)
      return shape_error("input '" + v.name + "' has shape " + to_string(dims) + ", expected " +
                         to_string(v.type.dims));
    v.type.dims = dims;
    FV_TRY(check_type(v.type).within("input '" + v.name + "'"));
  }
  return ok();
}

}  // namespace

Status infer_graph(Graph& g, const std::vector<Dims>& input_dims) {
  if (!input_dims.empty()) FV_TRY(set_input_dims(g, input_dims));
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    Node& n = g.nodes[i];
    const OpDef* def = op_table().find(n.op);
    if (!def)
      return Status(FV_UNSUPPORTED_OP, "operator '" + n.op + "' is unknown",
                    missing_operator_hint(""), n.op);
    std::vector<const TensorType*> in;
    for (int v : n.inputs) in.push_back(v < 0 ? nullptr : &g.type(v));
    auto types = infer_types(*def, n.attrs, in, n.outputs.size());
    if (!types.ok())
      return std::move(types.status()).within(node_label(n, static_cast<int>(i))).for_op(n.op);
    for (size_t k = 0; k < n.outputs.size(); ++k)
      g.value(n.outputs[k]).type = std::move(types.value()[k]);
  }
  return ok();
}

}  // namespace foveal
