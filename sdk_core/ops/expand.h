#ifndef FOVEAL_OPS_EXPAND_H_
#define FOVEAL_OPS_EXPAND_H_

#include "ops/raster.h"

namespace foveal::ops {

struct Expand {
  static constexpr OpInfo kInfo{
      "expand", 1, "x", "y", "Broadcasts the input against a shape (both ways, as ONNX does).",
      kMovement};
  Ints shape;

  template <class V>
  void fields(V& v) {
    v("shape", shape, "dimensions to broadcast against; 1 or -1 keeps the input's");
  }

  Result<Dims> result(const Dims& in) const {
    FV_TRY(expect_ints("shape", shape, shape.size(), -1, int64_t{1} << 48));
    Dims target = shape;
    for (int64_t& d : target)
      if (d == -1) d = 1;
    return broadcast(in, target);
  }
  Status infer(InferContext& c) const {
    FV_ASSIGN(Dims out, result(c.in(0).dims));
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }
  Status decompose(Decomposer& d) const {
    Dims in = d.type(d.in(0)).dims;
    FV_ASSIGN(const Dims out, result(in));
    in.insert(in.begin(), out.size() - in.size(), 1);
    Region r{0, 0, 0, out, row_major(in), row_major(out)};
    for (size_t i = 0; i < out.size(); ++i)
      if (in[i] == 1) r.src_stride[i] = 0;
    RasterBuilder b(d, out);
    b.add(r);
    d.out(0, b.build({d.in(0)}));
    return ok();
  }
};

inline void define_expand(OpTable& t) { t.add<Expand>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_EXPAND_H_
