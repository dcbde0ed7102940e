#ifndef FOVEAL_OPS_TILE_H_
#define FOVEAL_OPS_TILE_H_

#include "ops/raster.h"

namespace foveal::ops {

struct Tile {
  static constexpr OpInfo kInfo{"tile",   1, "x", "y", "Repeats the whole tensor along each axis.",
                                kMovement};
  Ints repeats;

  template <class V>
  void fields(V& v) {
    v("repeats", repeats, "copies along each dimension");
  }
  Status infer(InferContext& c) const {
    Dims out = c.in(0).dims;
    FV_TRY(expect_ints("repeats", repeats, out.size(), 0));
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] == kUnknown) continue;
      out[i] = checked_mul(out[i], repeats[i]);
      if (out[i] < 0) return shape_error(format("dimension %zu overflows", i));
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }
  Status decompose(Decomposer& d) const {
    const Dims in = d.type(d.in(0)).dims;
    Dims out = in;
    for (size_t i = 0; i < out.size(); ++i) out[i] *= repeats[i];
    const Ints src = row_major(in), dst = row_major(out);
    Region r;
    for (size_t i = 0; i < in.size(); ++i) {
      r.size.insert(r.size.end(), {repeats[i], in[i]});
      r.src_stride.insert(r.src_stride.end(), {0, src[i]});
      r.dst_stride.insert(r.dst_stride.end(), {in[i] * dst[i], dst[i]});
    }
    RasterBuilder b(d, out);
    b.add(r);
    d.out(0, b.build({d.in(0)}));
    return ok();
  }
};

inline void define_tile(OpTable& t) { t.add<Tile>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_TILE_H_
