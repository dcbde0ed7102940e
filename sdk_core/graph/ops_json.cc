#include "graph/ops_json.h"

#include "base/json_text.h"
#include "ops/op.h"

namespace foveal {
namespace {

std::string number(double v) {
  if (v - v == 0) return json_number(v);
  return v > 0 ? "1e999" : v < 0 ? "-1e999" : "null";
}

template <class List, class F>
std::string join(const List& list, const F& f) {
  std::string s = "[";
  for (const auto& item : list) s += (s.size() > 1 ? ", " : "") + f(item);
  return s + "]";
}

std::string quote(const std::string& s) { return json_quote(s); }
std::string integer(int64_t v) { return std::to_string(v); }

std::string default_json(const AttrValue& v) {
  if (auto* p = std::get_if<int64_t>(&v)) return integer(*p);
  if (auto* p = std::get_if<double>(&v)) return number(*p);
  if (auto* p = std::get_if<std::string>(&v)) return quote(*p);
  if (auto* p = std::get_if<Ints>(&v)) return join(*p, integer);
  return join(std::get<Floats>(v), number);
}

std::string attr_json(const AttrDef& a) {
  constexpr const char* kTypes[] = {"int", "float", "string", "ints", "floats"};
  return "{\"name\": " + quote(a.name) + ", \"type\": " + quote(kTypes[a.default_value.index()]) +
         ", \"default\": " + default_json(a.default_value) + ", \"doc\": " + quote(a.doc) + "}";
}

std::string op_json(const OpDef& d) {
  std::vector<std::string> traits;
  if (d.traits & kPointwise) traits.push_back("pointwise");
  if (d.traits & kView) traits.push_back("view");
  if (d.traits & kMovement) traits.push_back("movement");
  return "{\"name\": " + quote(d.name) + ", \"version\": " + integer(d.version) +
         ", \"doc\": " + quote(d.doc) + ", \"inputs\": " + join(d.inputs, quote) +
         ", \"outputs\": " + join(d.outputs, quote) + ", \"traits\": " + join(traits, quote) +
         ", \"decomposes\": " + (d.decompose ? "true" : "false") +
         ", \"attrs\": " + join(d.attrs, attr_json) + "}";
}

}  // namespace

std::string ops_json() { return join(op_table().defs(), op_json); }

}  // namespace foveal
