#ifndef FOVEAL_OPS_GATHER_H_
#define FOVEAL_OPS_GATHER_H_

#include "ops/raster.h"

namespace foveal::ops {

struct Gather {
  static constexpr OpInfo kInfo{
      "gather",
      1,
      "x, indices",
      "y",
      "Picks slices along one axis; the axis is replaced by the shape of the indices. Negative "
      "indices count from the end.",
      kMovement};
  int64_t axis = 0;

  template <class V>
  void fields(V& v) {
    v("axis", axis, "axis that the indices address");
  }
  Status infer(InferContext& c) const {
    const Dims& x = c.in(0).dims;
    const Dims& indices = c.in(1).dims;
    if (c.in(1).dtype != FV_INT64 && c.in(1).dtype != FV_INT32)
      return shape_error(
          format("indices are %s, expected int64 or int32", dtype_name(c.in(1).dtype)));
    FV_ASSIGN(const int a, resolve_axis(axis, c.in(0).rank()));
    Dims out(x.begin(), x.begin() + a);
    out.insert(out.end(), indices.begin(), indices.end());
    out.insert(out.end(), x.begin() + a + 1, x.end());
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }

  // With constant indices: one region per run of equally spaced ones.
  Status decompose(Decomposer& d) const {
    const TensorType x = d.type(d.in(0)), type = d.type(d.in(1));
    const void* data = d.constant_data(d.in(1));
    if (!data)
      return Status(FV_UNSUPPORTED_OP, "gather with computed indices has no decomposition",
                    "choose a device with a gather kernel, for example cpu");
    FV_ASSIGN(const int a, resolve_axis(axis, x.rank()));
    const int64_t n = element_count(type.dims), length = x.dims[a];
    Ints index(static_cast<size_t>(n));
    for (size_t i = 0; i < index.size(); ++i) {
      const int64_t v = type.dtype == FV_INT64 ? static_cast<const int64_t*>(data)[i]
                                               : static_cast<const int32_t*>(data)[i];
      if (v < -length || v >= length)
        return shape_error(format("index %lld is outside [%lld, %lld)", static_cast<long long>(v),
                                  static_cast<long long>(-length), static_cast<long long>(length)));
      index[i] = v < 0 ? v + length : v;
    }
    Dims shape(x.dims.begin(), x.dims.begin() + a);
    const int64_t outer = element_count(shape);
    shape.insert(shape.end(), type.dims.begin(), type.dims.end());
    shape.insert(shape.end(), x.dims.begin() + a + 1, x.dims.end());
    const int64_t inner = element_count(Dims(x.dims.begin() + a + 1, x.dims.end()));
    RasterBuilder b(d, shape);
    for (size_t i = 0; i < index.size() && b.size() <= kMaxRuns;) {
      size_t end = i + 1;
      const int64_t step = end < index.size() ? index[end] - index[i] : 0;
      while (end < index.size() && index[end] - index[end - 1] == step) ++end;
      b.add({0,
             index[i] * inner,
             static_cast<int64_t>(i) * inner,
             {outer, static_cast<int64_t>(end - i), inner},
             {length * inner, step * inner, 1},
             {n * inner, inner, 1}});
      i = end;
    }
    if (b.size() > kMaxRuns)
      return Status(FV_UNSUPPORTED_OP,
                    format("gather with %zu scattered indices has no decomposition", index.size()),
                    "choose a device with a gather kernel, for example cpu");
    d.out(0, b.build({d.in(0)}));
    return ok();
  }

 private:
  static constexpr size_t kMaxRuns = 4096;
};

inline void define_gather(OpTable& t) { t.add<Gather>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_GATHER_H_
