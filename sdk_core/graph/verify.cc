#include "graph/verify.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "graph/infer.h"

namespace foveal {
namespace {

// UTF-8 without NUL, so that names survive C strings and Python.
bool is_text(std::string_view s) {
  for (size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c == 0) return false;
    const size_t length = c < 0x80                ? 1
                          : c >= 0xc2 && c < 0xe0 ? 2
                          : (c & 0xf0) == 0xe0    ? 3
                          : c >= 0xf0 && c < 0xf5 ? 4
                                                  : 0;
    if (length == 0 || i + length > s.size()) return false;
    uint32_t code = length == 1 ? c : c & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto d = static_cast<unsigned char>(s[i + k]);
      if ((d & 0xc0) != 0x80) return false;
      code = code << 6 | (d & 0x3f);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ||
        (code >= 0xd800 && code < 0xe000))
      return false;
    i += length;
  }
  return true;
}

Status model_error(std::string message, std::string hint = {}) {
  return Status(FV_MODEL_ERROR, std::move(message), std::move(hint));
}

// What is not supported, grouped by complaint, in order of appearance.
class Unsupported {
 public:
  void add(const std::string& what, const std::string& op, const std::string& node) {
    const auto [it, fresh] = index_.insert({what, rows_.size()});
    if (fresh)
      rows_.push_back({what, op, node, 1});
    else
      ++rows_[it->second].count;
  }
  Status status() const {
    if (rows_.empty()) return ok();
    std::string text = format("%zu operator%s or attribute%s not supported: ", rows_.size(),
                              rows_.size() == 1 ? "" : "s", rows_.size() == 1 ? " is" : "s are");
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Row& r = rows_[i];
      text += (i ? "; " : "") + r.what;
      if (!r.node.empty()) text += " (node '" + r.node + "')";
      if (r.count > 1) text += format(" x%d", r.count);
    }
    return Status(
        FV_UNSUPPORTED_OP, std::move(text),
        missing_operator_hint(
            "the model may come from a newer version: update foveal, or convert it again"),
        rows_[0].op);
  }

 private:
  struct Row {
    std::string what, op, node;
    int count;
  };
  std::vector<Row> rows_;
  std::unordered_map<std::string, size_t> index_;
};

class Verifier {
 public:
  Verifier(Graph& g, const VerifyOptions& options) : g_(g), options_(options) {}

  Status run() {
    FV_TRY(check_values());
    FV_TRY(check_edges());
    FV_TRY(check_meta());
    FV_TRY(check_nodes());
    FV_TRY(g_.sort());
    FV_TRY(infer());
    const uint64_t bytes = activation_bytes(g_);
    if (bytes > options_.max_activation_bytes)
      return Status(FV_MODEL_ERROR,
                    format("the model's activations take %.1f GB, the limit is %.1f GB",
                           static_cast<double>(bytes) / 1e9,
                           static_cast<double>(options_.max_activation_bytes) / 1e9));
    return ok();
  }

 private:
  Status check_values() {
    std::unordered_set<std::string_view> names;
    produced_.assign(g_.values.size(), false);
    if (g_.values.size() > (1u << 28)) return model_error("too many values");
    for (const Node& n : g_.nodes)
      for (int v : n.outputs)
        if (in_range(v)) produced_[static_cast<size_t>(v)] = true;
    for (size_t i = 0; i < g_.values.size(); ++i) {
      const Value& v = g_.values[i];
      if (v.name.empty() || !is_text(v.name))
        return model_error(format("value %zu has no name in UTF-8", i));
      if (!names.insert(v.name).second)
        return model_error("two values have the name '" + v.name + "'");
      const bool undeclared = v.type.dtype == 0 && produced_[i] && !v.is_constant();
      if (!undeclared) FV_TRY(check_type(v.type).within("value '" + v.name + "'"));
      if (!v.dim_names.empty() && v.dim_names.size() != v.type.dims.size())
        return model_error(format("value '%s' has %zu dimension names and rank %zu", v.name.c_str(),
                                  v.dim_names.size(), v.type.dims.size()));
      for (const std::string& name : v.dim_names)
        if (!is_text(name))
          return model_error("a dimension name of value '" + v.name + "' is not UTF-8");
      if (v.is_constant()) FV_TRY(check_constant(v));
      if (v.quantization) FV_TRY(check_quantization(v));
    }
    return ok();
  }

  Status check_constant(const Value& v) {
    const int64_t expected = storage_bytes(v.type, kPlain);
    if (expected < 0)
      return model_error("constant '" + v.name + "' has the incomplete shape " +
                         to_string(v.type.dims));
    if (static_cast<uint64_t>(expected) != v.constant.bytes)
      return model_error(format("constant '%s' holds %llu bytes, ", v.name.c_str(),
                                static_cast<unsigned long long>(v.constant.bytes)) +
                         to_string(v.type) +
                         format(" takes %lld", static_cast<long long>(expected)));
    if (reinterpret_cast<uintptr_t>(v.constant.data) % dtype_size(v.type.dtype) && v.constant.bytes)
      return model_error("constant '" + v.name + "' is not aligned to its element type");
    if (v.type.dtype == FV_BOOL) {
      const auto* p = static_cast<const unsigned char*>(v.constant.data);
      if (std::any_of(p, p + v.constant.bytes, [](unsigned char b) { return b > 1; }))
        return model_error("constant '" + v.name + "' is bool and holds bytes above 1");
    }
    return ok();
  }

  Status check_quantization(const Value& v) {
    const auto refuse = [&](const std::string& what) {
      return model_error("quantisation of value '" + v.name + "': " + what);
    };
    if (!std::isfinite(v.quantization.scale) || v.quantization.scale < 0)
      return refuse(
          format("scale: expected a finite number above 0, got %g", v.quantization.scale));
    const int bits = v.type.dtype == FV_INT16 ? 16 : 8;
    const bool is_signed = v.type.dtype != FV_UINT8;
    if (is_signed && v.type.dtype != FV_INT8 && v.type.dtype != FV_INT16)
      return refuse("expected uint8, int8 or int16, got " + to_string(v.type));
    const int low = is_signed ? -(1 << (bits - 1)) : 0, high = low + (1 << bits) - 1;
    if (v.quantization.zero_point < low || v.quantization.zero_point > high)
      return refuse(
          format("zero point: expected %d to %d, got %d", low, high, v.quantization.zero_point));
    return ok();
  }

  bool in_range(int v) const { return v >= 0 && static_cast<size_t>(v) < g_.values.size(); }
  Status out_of_range(const std::string& who, int v) const {
    return model_error(who + format(" refers to value %d of %zu", v, g_.values.size()));
  }

  Status check_edges() {
    std::vector<bool> defined(g_.values.size());
    auto define = [&](int v, const std::string& who) -> Status {
      if (!in_range(v)) return out_of_range(who, v);
      const Value& value = g_.value(v);
      if (value.is_constant())
        return model_error(who + ": value '" + value.name + "' is a constant already");
      if (defined[static_cast<size_t>(v)])
        return model_error(who + ": value '" + value.name + "' is produced twice");
      defined[static_cast<size_t>(v)] = true;
      return ok();
    };
    for (int v : g_.inputs) FV_TRY(define(v, "the graph's inputs"));
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      const Node& n = g_.nodes[i];
      if (!is_text(n.op) || !is_text(n.name) || n.op.empty())
        return model_error(format("node %zu has no operator or a name that is not UTF-8", i));
      if (!n.posts.empty() || n.post_inputs)
        return Status(FV_INTERNAL, label(i) + " was fused before it was verified");
      for (int v : n.outputs) FV_TRY(define(v, label(i)));
    }
    auto use = [&](int v, const std::string& who) -> Status {
      if (!in_range(v)) return out_of_range(who, v);
      if (!defined[static_cast<size_t>(v)] && !g_.value(v).is_constant())
        return model_error(who + ": nothing produces value '" + g_.value(v).name + "'");
      return ok();
    };
    for (size_t i = 0; i < g_.nodes.size(); ++i)
      for (int v : g_.nodes[i].inputs)
        if (v != -1) FV_TRY(use(v, label(i)));
    if (g_.outputs.empty()) return model_error("the graph has no outputs");
    for (int v : g_.outputs) FV_TRY(use(v, "the graph's outputs"));
    return ok();
  }

  Status check_meta() {
    for (const auto& [key, value] : g_.meta)
      if (!is_text(key) || !is_text(value)) return model_error("metadata is not UTF-8");
    return ok();
  }

  Status check_nodes() {
    Unsupported unsupported;
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      Node& n = g_.nodes[i];
      const OpDef* def = op_table().find(n.op);
      if (!def || (n.op == "relayout" && !options_.internal)) {
        unsupported.add("operator '" + n.op + "'", n.op, n.name);
        continue;
      }
      if (n.version < 1) return model_error(label(i) + format(": version is %d", n.version));
      if (n.version > def->version) {
        unsupported.add(format("%s version %d (known: %d)", n.op.c_str(), n.version, def->version),
                        n.op, n.name);
        continue;
      }
      bool known = true;
      for (const Attr& a : n.attrs) {
        const bool found = std::any_of(def->attrs.begin(), def->attrs.end(),
                                       [&](const AttrDef& d) { return d.name == a.name; });
        if (!is_text(a.name)) return model_error(label(i) + ": an attribute name is not UTF-8");
        if (auto* s = std::get_if<std::string>(&a.value); s && !is_text(*s))
          return model_error(label(i) + ": attribute '" + a.name + "' is not UTF-8");
        if (!found) unsupported.add("attribute '" + a.name + "' of " + n.op, n.op, n.name);
        known = known && found;
      }
      if (!known) continue;
      FV_TRY(complete_attrs(*def, n.attrs).within(label(i)).for_op(n.op));
      std::vector<bool> present;
      for (int v : n.inputs) present.push_back(v >= 0);
      FV_TRY(check_arity(*def, present, n.outputs.size()).within(label(i)).for_op(n.op));
    }
    return unsupported.status();
  }

  Status infer() {
    std::vector<TensorType> declared;
    declared.reserve(g_.values.size());
    for (const Value& v : g_.values) declared.push_back(v.type);
    FV_TRY(infer_graph(g_));
    for (size_t i = 0; i < g_.values.size(); ++i) {
      if (!produced_[i] || declared[i].dtype == 0) continue;
      TensorType& t = g_.values[i].type;
      const TensorType& d = declared[i];
      bool agrees = t.dtype == d.dtype && t.dims.size() == d.dims.size();
      for (size_t k = 0; agrees && k < t.dims.size(); ++k) {
        agrees = t.dims[k] == kUnknown || d.dims[k] == kUnknown || t.dims[k] == d.dims[k];
        if (t.dims[k] == kUnknown) t.dims[k] = d.dims[k];
      }
      if (!agrees)
        return model_error("value '" + g_.values[i].name + "' is declared " + to_string(d) +
                           ", its operator makes " + to_string(t));
    }
    return ok();
  }

  std::string label(size_t i) const { return node_label(g_.nodes[i], static_cast<int>(i)); }

  Graph& g_;
  const VerifyOptions& options_;
  std::vector<bool> produced_;
};

}  // namespace

uint64_t activation_bytes(const Graph& g) {
  uint64_t total = 0;
  for (const Value& v : g.values) {
    if (v.is_constant()) continue;
    auto bytes = static_cast<int64_t>(dtype_size(v.type.dtype));
    for (int64_t d : v.type.dims)
      if (d != kUnknown) bytes = checked_mul(bytes, d);
    if (bytes < 0 || __builtin_add_overflow(total, static_cast<uint64_t>(bytes), &total))
      return UINT64_MAX;
  }
  return total;
}

Status verify(Graph& graph, const VerifyOptions& options) { return Verifier(graph, options).run(); }

}  // namespace foveal
