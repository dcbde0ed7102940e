// What an operator definition is made of.
//
// One header per operator (or family of operators) in this folder is THE definition: name,
// version, attributes with defaults and docs, shape and type rule, cost, and, for composites,
// the decomposition. The build scans the folder for *.h other than this one and calls
// define_<stem>(OpTable&) of each; nothing else lists operators.
//
//   struct Softmax {
//     static constexpr OpInfo kInfo{"softmax", 1, "x", "y", "exp(x - max) / sum over one axis."};
//     int64_t axis = -1;
//     template <class V> void fields(V& v) { v("axis", axis, "axis to normalise"); }
//     Status infer(InferContext& c) const { c.out(0, c.in(0)); return ok(); }
//   };
//   inline void define_softmax(OpTable& t) { t.add<Softmax>(); }
//
// Optional members, found by their presence:
//   double macs(const std::vector<TensorType>& in, const std::vector<TensorType>& out) const;
//   Status decompose(Decomposer& d) const;      // concrete shapes; may be declined per backend
// Header-only and free of the graph, so that plugins read attributes with the same struct.
#ifndef FOVEAL_OPS_OP_H_
#define FOVEAL_OPS_OP_H_

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/selection.h"
#include "base/status.h"
#include "base/tensor_type.h"

namespace foveal {

using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;
// The variant's own copy is avoided: when memory runs out, that of GCC 12 destroys what it has not
// made. Its assignment is sound.
struct AttrValue : std::variant<int64_t, double, std::string, Ints, Floats> {
  using variant::variant;
  using variant::operator=;
  AttrValue() = default;
  AttrValue(AttrValue&&) = default;
  AttrValue(const AttrValue& other) : variant() { variant::operator=(other); }
  AttrValue& operator=(AttrValue&&) = default;
  AttrValue& operator=(const AttrValue& other) {
    variant::operator=(other);
    return *this;
  }
};
struct Attr {
  std::string name;
  AttrValue value;
};
using Attrs = std::vector<Attr>;

inline const AttrValue* find_attr(const Attrs& attrs, const std::string& name) {
  for (const Attr& a : attrs)
    if (a.name == name) return &a.value;
  return nullptr;
}

enum OpTraits : uint32_t {
  kNoTraits = 0,
  kPointwise = 1,  // y[i] depends on inputs at i (after broadcasting): may become a post-op
  kView = 2,       // row-major elements unchanged, only the shape: costs nothing in plain layout
  kMovement = 4,   // moves elements without computing: decomposes to `raster`
};

// inputs/outputs: comma-separated names; "name?" may be omitted, "name*" is one or more, last.
struct OpInfo {
  const char* name;
  int version;
  const char* inputs;
  const char* outputs;
  const char* doc;
  uint32_t traits = kNoTraits;
};

struct AttrDef {
  std::string name;
  AttrValue default_value;  // its alternative is the attribute's type
  std::string doc;
};

// What shape inference may ask and must answer. Dimensions may be kUnknown in both directions.
class InferContext {
 public:
  virtual ~InferContext() = default;
  virtual int inputs() const = 0;
  virtual int outputs() const = 0;
  virtual bool has(int i) const = 0;              // false: optional input omitted
  virtual const TensorType& in(int i) const = 0;  // only if has(i)
  virtual void out(int i, TensorType type) = 0;
};

// Builds the replacement of one node. Handles are values of the graph being built.
class Decomposer {
 public:
  using Value = int;
  virtual ~Decomposer() = default;
  virtual int inputs() const = 0;
  virtual bool has(int i) const = 0;
  virtual Value in(int i) const = 0;
  virtual TensorType type(Value v) const = 0;  // concrete
  // Plain-layout bytes of a constant, valid until decomposition ends; NULL for anything else.
  virtual const void* constant_data(Value v) const = 0;
  // Adds a node and returns its first output. Types are inferred at once; on failure an invalid
  // value is returned and the error is reported when decomposition ends.
  virtual Value op(const char* name, std::vector<Value> inputs, Attrs attrs = {}) = 0;
  virtual Value constant(TensorType type, const void* data) = 0;
  // Declares `v` to be output i of the node that is replaced.
  virtual void out(int i, Value v) = 0;

  Value scalar(float v) { return constant({FV_FLOAT32, {}}, &v); }
};

// A member function of an operator struct, called on a copy of the prototype that has the node's
// attributes.
template <class F>
class OpCall;
template <class R, class... A>
class OpCall<R(A...)> {
 public:
  using Function = R (*)(const void* prototype, const Attrs& attrs, A...);
  OpCall() = default;
  OpCall(Function f, const void* prototype) : f_(f), prototype_(prototype) {}
  R operator()(const Attrs& attrs, A... a) const { return f_(prototype_, attrs, a...); }
  explicit operator bool() const { return f_ != nullptr; }

 private:
  Function f_ = nullptr;
  const void* prototype_ = nullptr;
};

struct OpDef {
  using Types = std::vector<TensorType>;
  std::string name;
  int version = 1;
  std::string doc;
  uint32_t traits = 0;
  std::vector<std::string> inputs, outputs;  // with their ? and * marks
  std::vector<AttrDef> attrs;
  std::unique_ptr<const void, void (*)(const void*)> prototype{nullptr, nullptr};
  OpCall<Status(InferContext&)> infer;
  OpCall<double(const Types& in, const Types& out)> macs;  // never empty
  OpCall<Status(Decomposer&)> decompose;                   // empty: a primitive
};

// Reads attributes into an operator struct; unset ones keep their default. The caller has
// checked names and types against the definition (graph/verify.cc does so for every file).
struct AttrReader {
  const Attrs& attrs;
  template <class T>
  void operator()(const char* name, T& field, const char*) {
    const AttrValue* v = find_attr(attrs, name);
    if (!v) return;
    if constexpr (std::is_same_v<T, bool>) {
      if (auto* p = std::get_if<int64_t>(v)) field = *p != 0;
    } else {
      if (auto* p = std::get_if<T>(v)) field = *p;
    }
  }
};

struct AttrLister {
  std::vector<AttrDef>& out;
  template <class T>
  void operator()(const char* name, T& field, const char* doc) {
    if constexpr (std::is_same_v<T, bool>)
      add(name, static_cast<int64_t>(field), doc);
    else
      add(name, field, doc);
  }
  void add(const char* name, AttrValue value, const char* doc) {
    out.push_back({name, std::move(value), doc});
  }
};

inline std::vector<std::string> split_names(const char* list) {
  std::vector<std::string> names;
  std::string name;
  for (const char* p = list;; ++p) {
    if (*p && *p != ',' && *p != ' ') name += *p;
    if ((*p == ',' || !*p) && !name.empty()) names.push_back(std::move(name)), name.clear();
    if (!*p) return names;
  }
}

class OpTable {
 public:
  // `prototype` carries defaults that differ between rows of a family.
  template <class Op>
  void add(const OpInfo& info, const Op& prototype) {
    if (!has_operator(info.name)) return;
    OpDef& def = define(info);
    Op op = prototype;
    AttrLister lister{def.attrs};
    op.fields(lister);
    def.prototype = {new Op(prototype), [](const void* p) { delete static_cast<const Op*>(p); }};
    const void* at = def.prototype.get();
    def.infer = {[](const void* p, const Attrs& a, InferContext& c) {
                   return with_attrs<Op>(p, a).infer(c);
                 },
                 at};
    if constexpr (requires { op.macs({}, {}); })
      def.macs = {[](const void* p, const Attrs& a, const OpDef::Types& in,
                     const OpDef::Types& out) { return with_attrs<Op>(p, a).macs(in, out); },
                  at};
    if constexpr (requires(Decomposer& d) { op.decompose(d); })
      def.decompose = {[](const void* p, const Attrs& a, Decomposer& d) {
                         return with_attrs<Op>(p, a).decompose(d);
                       },
                       at};
  }
  template <class Op>
  void add() {
    if constexpr (has_operator(Op::kInfo.name)) add(Op::kInfo, Op{});
  }
  const std::vector<OpDef>& defs() const { return defs_; }
  // By name; the op_table() maker calls this once, after the last add.
  void sort() {
    std::sort(defs_.begin(), defs_.end(),
              [](const OpDef& a, const OpDef& b) { return a.name < b.name; });
  }
  const OpDef* find(const std::string& name) const {  // NULL: no such operator
    auto it = std::lower_bound(defs_.begin(), defs_.end(), name,
                               [](const OpDef& d, const std::string& n) { return d.name < n; });
    return it != defs_.end() && it->name == name ? &*it : nullptr;
  }

 private:
  OpDef& define(const OpInfo& info) {
    OpDef& def = defs_.emplace_back();
    def.name = info.name;
    def.version = info.version;
    def.doc = info.doc;
    def.traits = info.traits;
    def.inputs = split_names(info.inputs);
    def.outputs = split_names(info.outputs);
    def.macs = {
        [](const void*, const Attrs&, const OpDef::Types&, const OpDef::Types&) { return 0.0; },
        nullptr};
    return def;
  }
  template <class Op>
  static Op with_attrs(const void* prototype, const Attrs& attrs) {
    Op op = *static_cast<const Op*>(prototype);
    AttrReader reader{attrs};
    op.fields(reader);
    return op;
  }
  std::vector<OpDef> defs_;
};

// All operators of this build, sorted by name. Immutable after the first call.
const OpTable& op_table();

// ---- Shared shape rules ------------------------------------------------------------------

inline Status shape_error(std::string message, std::string hint = {}) {
  return Status(FV_SHAPE_ERROR, std::move(message), std::move(hint));
}

// Multidirectional (numpy) broadcasting. A kUnknown against 1 or kUnknown stays unknown.
inline Result<Dims> broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < out.size() - a.size() ? 1 : a[i - (out.size() - a.size())];
    const int64_t y = i < out.size() - b.size() ? 1 : b[i - (out.size() - b.size())];
    if (x == y || y == 1)
      out[i] = x;
    else if (x == 1)
      out[i] = y;
    else if (x == kUnknown || y == kUnknown)
      out[i] = x == kUnknown ? y : x;
    else
      return shape_error(
          "shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast to one another",
          "dimensions must be equal or 1, counted from the right");
  }
  return out;
}

// Resolves a possibly negative axis; fails with the valid range.
inline Result<int> resolve_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return shape_error(format("axis %lld is outside [%d, %d) of a rank-%d tensor",
                              static_cast<long long>(axis), -rank, rank, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace foveal
#endif  // FOVEAL_OPS_OP_H_
