// Reproducible random numbers and random movement operators for tests.
#ifndef FOVEAL_TESTS_CORE_RANDOM_H_
#define FOVEAL_TESTS_CORE_RANDOM_H_

#include "graph/infer.h"
#include "naive.h"

namespace foveal::test {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  // In [low, high].
  int64_t in(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  float value() { return static_cast<float>(in(-1000, 1000)) / 250.0f; }
  Tensor tensor(const Dims& dims) {
    Tensor t(dims);
    for (float& v : t.data) v = value();
    return t;
  }

 private:
  uint64_t state_;
};

// Attributes as a hostile file might set them: absent, extreme, lists of any length.
inline Attrs odd_attrs(const OpDef& def, Random& r) {
  constexpr int64_t kOdd[] = {
      INT64_MIN, INT64_MIN + 1,          -(int64_t{1} << 40), -3,       -1, 0, 1, 2,
      7,         (int64_t{1} << 31) - 1, int64_t{1} << 48,    INT64_MAX};
  constexpr double kOddFloats[] = {-1e308, -1, 0, 1e-320, 1, 1e308, INFINITY, NAN};
  Attrs attrs;
  for (const AttrDef& a : def.attrs) {
    AttrValue v = a.default_value;
    if (r.in(0, 2) == 0) continue;
    if (auto* p = std::get_if<int64_t>(&v)) *p = kOdd[r.in(0, 11)];
    if (auto* p = std::get_if<double>(&v)) *p = kOddFloats[r.in(0, 7)];
    if (auto* p = std::get_if<Ints>(&v)) {
      if (r.in(0, 2) == 0) p->resize(static_cast<size_t>(r.in(0, 8)), r.in(-1, 2));
      for (int64_t& e : *p)
        if (r.in(0, 1)) e = kOdd[r.in(0, 11)];
    }
    if (auto* p = std::get_if<Floats>(&v)) {
      p->resize(static_cast<size_t>(r.in(0, 3)));
      for (double& e : *p) e = kOddFloats[r.in(0, 7)];
    }
    attrs.push_back({a.name, v});
  }
  return attrs;
}

// Appends `op` with the types inference gives; returns its outputs, empty if it does not fit.
inline std::vector<int> append(Graph& g, const std::string& op, std::vector<int> inputs,
                               Attrs attrs = {}, size_t outputs = 1) {
  std::vector<const TensorType*> in;
  for (int v : inputs) in.push_back(v < 0 ? nullptr : &g.type(v));
  auto types = infer_op(op, attrs, in, outputs);
  if (!types.ok()) {
    report(types.status().code() == FV_SHAPE_ERROR, __FILE__, __LINE__, types.status().message());
    return {};
  }
  std::vector<int> out;
  for (size_t i = 0; i < outputs; ++i)
    out.push_back(g.add_value("v" + std::to_string(g.values.size()), types.value()[i]));
  g.add_node(op, op + std::to_string(g.nodes.size()), std::move(inputs), out, std::move(attrs));
  return out;
}

// A random movement operator or view over x; empty if the drawn one does not fit.
inline std::vector<int> append_movement(Graph& g, Random& r, int x) {
  const Dims dims = g.type(x).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = rank ? r.in(0, rank - 1) : 0;
  switch (r.in(0, 12)) {
    case 0: {
      Ints perm;
      for (int64_t i = 0; i < rank; ++i) perm.insert(perm.begin() + r.in(0, i), i);
      return append(g, "transpose", {x}, {{"perm", perm}});
    }
    case 1: {
      Ints axes, begin, end, step;
      for (int64_t i = 0; i < rank; ++i) {
        if (r.in(0, 1)) continue;
        const int64_t d = dims[static_cast<size_t>(i)];
        const bool back = r.in(0, 3) == 0;
        axes.push_back(i);
        begin.push_back(back ? r.in(-1, d) : r.in(-2, 1));
        end.push_back(back ? r.in(-d - 2, -d + 1) : r.in(d - 1, d + 2));
        step.push_back(back ? -r.in(1, 2) : r.in(1, 3));
      }
      return append(g, "slice", {x},
                    {{"axes", axes}, {"begin", begin}, {"end", end}, {"step", step}});
    }
    case 2: {
      Ints pads;
      for (int64_t i = 0; i < 2 * rank; ++i) pads.push_back(r.in(0, 2) ? 0 : r.in(-1, 2));
      const char* modes[] = {"constant", "edge", "reflect"};
      return append(g, "pad", {x},
                    {{"pads", pads},
                     {"mode", std::string(modes[r.in(0, 2)])},
                     {"value", static_cast<double>(r.in(-1, 1))}});
    }
    case 3: {
      Ints shape(dims.begin(), dims.end());
      if (r.in(0, 1)) shape.insert(shape.begin(), r.in(1, 3));
      return append(g, "expand", {x}, {{"shape", shape}});
    }
    case 4: {
      Ints repeats;
      for (int64_t i = 0; i < rank; ++i) repeats.push_back(r.in(0, 2) ? 1 : r.in(1, 3));
      return append(g, "tile", {x}, {{"repeats", repeats}});
    }
    case 5:
      return append(g, "depth_to_space", {x},
                    {{"block", r.in(1, 2)}, {"mode", std::string(r.in(0, 1) ? "dcr" : "crd")}});
    case 6:
      return append(g, "space_to_depth", {x}, {{"block", r.in(1, 2)}});
    case 7: {
      if (!rank) return {};
      const int64_t d = dims[static_cast<size_t>(axis)], cut = r.in(0, d);
      return append(g, "split", {x}, {{"axis", axis}, {"sizes", Ints{cut, d - cut}}}, 2);
    }
    case 8: {
      // Joins x with something of the same shape made from it.
      const auto twin = append(g, "neg", {x});
      return append(g, "concat", {x, twin[0], x}, {{"axis", axis}});
    }
    case 9: {
      if (!rank || dims[static_cast<size_t>(axis)] == 0) return {};
      const int64_t d = dims[static_cast<size_t>(axis)];
      std::vector<int64_t> list;
      for (int64_t i = r.in(1, 4); i > 0; --i) list.push_back(r.in(-d, d - 1));
      const TensorType type{FV_INT64, {static_cast<int64_t>(list.size())}};
      const int c = g.add_constant("c" + std::to_string(g.values.size()), type, list.data());
      return append(g, "gather", {x, c}, {{"axis", axis}});
    }
    case 10:
      return append(g, "flatten", {x}, {{"axis", r.in(0, rank)}});
    case 11: {
      // Splits or joins neighbouring dimensions.
      Ints shape(dims.begin(), dims.end());
      for (int64_t d : dims)
        if (d == 0) return {};
      if (rank > 1 && r.in(0, 1)) {
        const auto i = static_cast<size_t>(r.in(0, rank - 2));
        shape[i] *= shape[i + 1];
        shape.erase(shape.begin() + static_cast<int64_t>(i) + 1);
      } else if (rank > 0 && shape[static_cast<size_t>(axis)] % 2 == 0) {
        shape[static_cast<size_t>(axis)] /= 2;
        shape.insert(shape.begin() + axis + 1, 2);
      }
      return append(g, "reshape", {x}, {{"shape", shape}});
    }
    default:
      return append(g, "unsqueeze", {x}, {{"axes", Ints{r.in(0, rank)}}});
  }
}

inline bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].dims != b[i].dims || a[i].data != b[i].data) return false;
  return true;
}

}  // namespace foveal::test
#endif  // FOVEAL_TESTS_CORE_RANDOM_H_
