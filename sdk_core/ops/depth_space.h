#ifndef FOVEAL_OPS_DEPTH_SPACE_H_
#define FOVEAL_OPS_DEPTH_SPACE_H_

#include "ops/raster.h"

namespace foveal::ops {

struct DepthToSpace {
  static constexpr OpInfo kInfo{
      "depth_to_space", 1, "x", "y", "Moves blocks of channels into squares of pixels of NCHW.",
      kMovement};
  int64_t block = 2;
  std::string mode = "dcr";

  template <class V>
  void fields(V& v) {
    v("block", block, "side of the square");
    v("mode", mode, "dcr: channel = (row, column, depth) | crd: channel = (depth, row, column)");
  }
  Status infer(InferContext& c) const {
    FV_TRY(expect_rank(c, 0, 4));
    FV_TRY(expect_ints("block", {block}, 1, 1, 1 << 15));
    FV_TRY(expect_one_of("mode", mode, {"dcr", "crd"}));
    Dims out = c.in(0).dims;
    if (out[1] != kUnknown) {
      if (out[1] % (block * block))
        return shape_error(format("%lld channels do not divide into blocks of %lld x %lld",
                                  static_cast<long long>(out[1]), static_cast<long long>(block),
                                  static_cast<long long>(block)));
      out[1] /= block * block;
    }
    for (int i = 2; i < 4; ++i) {
      if (out[i] == kUnknown) continue;
      out[i] = checked_mul(out[i], block);
      if (out[i] < 0) return shape_error("the output size overflows");
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }
  Status decompose(Decomposer& d) const {
    const Dims x = d.type(d.in(0)).dims;
    const int64_t b = block, n = x[0], c = x[1] / (b * b), h = x[2], w = x[3];
    const Ints s = row_major(x);
    const Dims out{n, c, h * b, w * b};
    const Ints t = row_major(out);
    const bool dcr = mode == "dcr";
    const int64_t depth = dcr ? s[1] : b * b * s[1];
    const int64_t row = dcr ? b * c * s[1] : b * s[1], column = dcr ? c * s[1] : s[1];
    RasterBuilder builder(d, out);
    builder.add({0,
                 0,
                 0,
                 {n, c, h, b, w, b},
                 {s[0], depth, s[2], row, s[3], column},
                 {t[0], t[1], b * t[2], t[2], b * t[3], t[3]}});
    d.out(0, builder.build({d.in(0)}));
    return ok();
  }
};

struct SpaceToDepth {
  static constexpr OpInfo kInfo{
      "space_to_depth",
      1,
      "x",
      "y",
      "Moves squares of pixels of NCHW into channels (row, column, depth).",
      kMovement};
  int64_t block = 2;

  template <class V>
  void fields(V& v) {
    v("block", block, "side of the square");
  }
  Status infer(InferContext& c) const {
    FV_TRY(expect_rank(c, 0, 4));
    FV_TRY(expect_ints("block", {block}, 1, 1, 1 << 15));
    Dims out = c.in(0).dims;
    for (int i = 2; i < 4; ++i) {
      if (out[i] == kUnknown) continue;
      if (out[i] % block)
        return shape_error(format("input %s does not divide into squares of %lld",
                                  to_string(c.in(0).dims).c_str(), static_cast<long long>(block)));
      out[i] /= block;
    }
    if (out[1] != kUnknown && (out[1] = checked_mul(out[1], block * block)) < 0)
      return shape_error("the number of channels overflows");
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }
  Status decompose(Decomposer& d) const {
    const Dims x = d.type(d.in(0)).dims;
    const int64_t b = block, n = x[0], c = x[1], h = x[2] / b, w = x[3] / b;
    const Ints s = row_major(x);
    const Dims out{n, b * b * c, h, w};
    const Ints t = row_major(out);
    RasterBuilder builder(d, out);
    builder.add({0,
                 0,
                 0,
                 {n, b, b, c, h, w},
                 {s[0], s[2], s[3], s[1], b * s[2], b * s[3]},
                 {t[0], b * c * t[1], c * t[1], t[1], t[2], t[3]}});
    d.out(0, builder.build({d.in(0)}));
    return ok();
  }
};

inline void define_depth_space(OpTable& t) {
  t.add<DepthToSpace>();
  t.add<SpaceToDepth>();
}

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_DEPTH_SPACE_H_
