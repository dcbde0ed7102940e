#ifndef FOVEAL_OPS_RESIZE_H_
#define FOVEAL_OPS_RESIZE_H_

#include <cmath>

#include "ops/window.h"

namespace foveal::ops {

struct Resize {
  static constexpr OpInfo kInfo{"resize", 1, "x", "y",
                                "Resamples H and W of NCHW. "
                                "Nearest: a coordinate within 1e-6 of a half counts as one; with "
                                "a scale, coordinates are float32 numbers, as in ONNX Runtime."};
  Ints size;
  Floats scale;
  std::string mode = "nearest";
  std::string grid = "half_pixel";
  std::string rounding = "round_prefer_floor";

  template <class V>
  void fields(V& v) {
    v("size", size, "output height, width; empty: floor(input * scale)");
    v("scale", scale, "output / input of height, width, used for coordinates; empty: from size");
    v("mode", mode, "nearest | bilinear");
    v("grid", grid, "half_pixel | align_corners | asymmetric | pytorch_half_pixel");
    v("rounding", rounding,
      "nearest: floor | ceil | round_prefer_floor | round_prefer_ceil of the coordinate");
  }

  Status infer(InferContext& c) const {
    FV_TRY(expect_rank(c, 0, 4));
    FV_TRY(expect_one_of("mode", mode, {"nearest", "bilinear"}));
    FV_TRY(expect_one_of("grid", grid,
                         {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"}));
    FV_TRY(expect_one_of("rounding", rounding,
                         {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}));
    if (size.empty() && scale.empty()) return shape_error("neither size nor scale is given");
    if (!size.empty()) FV_TRY(expect_ints("size", size, 2, 1));
    if (!scale.empty() && (scale.size() != 2 || !(scale[0] > 0 && scale[0] < 1e6) ||
                           !(scale[1] > 0 && scale[1] < 1e6)))
      return shape_error("scale is not two positive numbers below 1e6");
    Dims out = c.in(0).dims;
    for (int i = 0; i < 2; ++i) {
      int64_t& n = out[2 + i];
      if (n == 0) return shape_error("input " + to_string(c.in(0).dims) + " is empty");
      if (!size.empty()) {
        n = size[i];
      } else if (n != kUnknown) {
        const double scaled = std::floor(static_cast<double>(n) * scale[i]);
        if (!(scaled >= 1 && scaled <= static_cast<double>(kMaxExtent)))
          return shape_error(format("%lld scaled by %g has no pixels or too many",
                                    static_cast<long long>(n), scale[i]));
        n = static_cast<int64_t>(scaled);
      }
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }

  double macs(const std::vector<TensorType>&, const std::vector<TensorType>& out) const {
    return mode == "bilinear" ? 4.0 * static_cast<double>(element_count(out[0].dims)) : 0.0;
  }
};

inline void define_resize(OpTable& t) { t.add<Resize>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_RESIZE_H_
