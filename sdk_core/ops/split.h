#ifndef FOVEAL_OPS_SPLIT_H_
#define FOVEAL_OPS_SPLIT_H_

#include "ops/raster.h"

namespace foveal::ops {

struct Split {
  static constexpr OpInfo kInfo{"split", 1, "x", "ys*", "Cuts a tensor along one axis.", kMovement};
  int64_t axis = 0;
  Ints sizes;

  template <class V>
  void fields(V& v) {
    v("axis", axis, "axis to cut");
    v("sizes", sizes, "length of each part along the axis");
  }

  Status infer(InferContext& c) const {
    const Dims& in = c.in(0).dims;
    FV_ASSIGN(const int a, resolve_axis(axis, c.in(0).rank()));
    FV_TRY(expect_ints("sizes", sizes, static_cast<size_t>(c.outputs()), 0));
    int64_t sum = 0;
    for (int64_t n : sizes) sum += n;
    if (in[a] != kUnknown && sum != in[a])
      return shape_error(
          format("sizes sum to %lld, dimension %d of ", static_cast<long long>(sum), a) +
          to_string(in) + " is " + std::to_string(in[a]));
    for (int i = 0; i < c.outputs(); ++i) {
      Dims out = in;
      out[a] = sizes[i];
      c.out(i, {c.in(0).dtype, std::move(out)});
    }
    return ok();
  }

  Status decompose(Decomposer& d) const {
    const Dims in = d.type(d.in(0)).dims;
    FV_ASSIGN(const int a, resolve_axis(axis, static_cast<int>(in.size())));
    const Ints src = row_major(in);
    int64_t offset = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      Dims out = in;
      out[a] = sizes[i];
      RasterBuilder b(d, out);
      b.add({0, offset, 0, out, src, row_major(out)});
      offset += sizes[i] * src[a];
      d.out(static_cast<int>(i), b.build({d.in(0)}));
    }
    return ok();
  }
};

inline void define_split(OpTable& t) { t.add<Split>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_SPLIT_H_
