#ifndef FOVEAL_OPS_CONCAT_H_
#define FOVEAL_OPS_CONCAT_H_

#include "ops/raster.h"

namespace foveal::ops {

struct Concat {
  static constexpr OpInfo kInfo{"concat", 1, "xs*", "y", "Joins tensors along one axis.",
                                kMovement};
  int64_t axis = 0;

  template <class V>
  void fields(V& v) {
    v("axis", axis, "axis to join along");
  }

  Status infer(InferContext& c) const {
    Dims out = c.in(0).dims;
    FV_ASSIGN(const int a, resolve_axis(axis, c.in(0).rank()));
    for (int i = 1; i < c.inputs(); ++i) {
      FV_TRY(expect_same_dtype(c, 0, i));
      const Dims& in = c.in(i).dims;
      bool fits = in.size() == out.size();
      for (size_t k = 0; fits && k < in.size(); ++k) {
        if (static_cast<int>(k) == a) {
          out[k] = out[k] == kUnknown || in[k] == kUnknown ? kUnknown : out[k] + in[k];
          if (out[k] > int64_t{1} << 48) return shape_error("the joined dimension overflows");
        } else if (out[k] == kUnknown) {
          out[k] = in[k];
        } else {
          fits = in[k] == out[k] || in[k] == kUnknown;
        }
      }
      if (!fits)
        return shape_error(format("input %d has shape ", i) + to_string(in) +
                           format(", which does not join ") + to_string(c.in(0).dims) +
                           format(" along axis %d", a));
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }

  Status decompose(Decomposer& d) const {
    Dims shape = d.type(d.in(0)).dims;
    FV_ASSIGN(const int a, resolve_axis(axis, static_cast<int>(shape.size())));
    for (int i = 1; i < d.inputs(); ++i) shape[a] += d.type(d.in(i)).dims[a];
    const Ints dst = row_major(shape);
    RasterBuilder b(d, shape);
    std::vector<Decomposer::Value> inputs;
    int64_t offset = 0;
    for (int i = 0; i < d.inputs(); ++i) {
      const Dims dims = d.type(d.in(i)).dims;
      b.add({i, 0, offset, dims, row_major(dims), dst});
      offset += dims[a] * dst[a];
      inputs.push_back(d.in(i));
    }
    d.out(0, b.build(std::move(inputs)));
    return ok();
  }
};

inline void define_concat(OpTable& t) { t.add<Concat>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_CONCAT_H_
