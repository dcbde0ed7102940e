#ifndef FOVEAL_OPS_CONV2D_H_
#define FOVEAL_OPS_CONV2D_H_

#include "ops/window.h"

namespace foveal::ops {

// bias[O] of a convolution, if there is one.
inline Status check_conv_bias(const InferContext& c, int64_t out_channels) {
  if (!c.has(2)) return ok();
  FV_TRY(expect_rank(c, 2, 1, "bias"));
  FV_TRY(expect_same_dtype(c, 0, 2));
  const int64_t n = c.in(2).dims[0];
  if (n != kUnknown && out_channels != kUnknown && n != out_channels)
    return shape_error(format("bias has %lld elements, the output has %lld channels",
                              static_cast<long long>(n), static_cast<long long>(out_channels)));
  return ok();
}

struct Conv2d {
  static constexpr OpInfo kInfo{"conv2d", 1, "x, weight, bias?", "y",
                                "2-D convolution over NCHW; weight is [O, I/group, kh, kw]."};
  Ints stride{1, 1};
  Ints pad{0, 0, 0, 0};
  Ints dilation{1, 1};
  int64_t group = 1;

  template <class V>
  void fields(V& v) {
    v("stride", stride, "step height, width");
    v("pad", pad, "zeros added: top, left, bottom, right");
    v("dilation", dilation, "distance between taps, height, width");
    v("group", group, "channel groups that do not see one another; depthwise when = channels");
  }

  Status infer(InferContext& c) const {
    FV_TRY(expect_rank(c, 0, 4));
    FV_TRY(expect_rank(c, 1, 4, "weight"));
    FV_TRY(expect_same_dtype(c, 0, 1));
    FV_TRY(check_window(*this));
    FV_TRY(expect_ints("group", {group}, 1, 1));
    const Dims& x = c.in(0).dims;
    const Dims& w = c.in(1).dims;
    if (x[1] != kUnknown && w[1] != kUnknown && checked_mul(w[1], group) != x[1])
      return shape_error(
          format("weight has %lld input channels, input has %lld",
                 static_cast<long long>(checked_mul(w[1], group)), static_cast<long long>(x[1])),
          group == 1 ? "check the layout (weight is [O, I, kh, kw], input NCHW)"
                     : format("re-export with group=1 or check the layout (group is %lld)",
                              static_cast<long long>(group)));
    if (w[0] != kUnknown && w[0] % group)
      return shape_error(format("%lld output channels do not divide into %lld groups",
                                static_cast<long long>(w[0]), static_cast<long long>(group)));
    FV_TRY(check_conv_bias(c, w[0]));
    Dims out{x[0], w[0], kUnknown, kUnknown};
    for (int i = 0; i < 2; ++i) {
      const int64_t k = w[2 + i];
      if (k == kUnknown) continue;
      FV_TRY(expect_ints("kernel (from weight)", {k}, 1, 1));
      FV_ASSIGN(out[2 + i], window_count(x[2 + i], window_of(*this, i, k), false));
    }
    c.out(0, {c.in(0).dtype, out});
    return ok();
  }

  double macs(const std::vector<TensorType>& in, const std::vector<TensorType>& out) const {
    const Dims& w = in[1].dims;
    return static_cast<double>(element_count(out[0].dims)) * static_cast<double>(w[1]) *
           static_cast<double>(w[2]) * static_cast<double>(w[3]);
  }
};

inline void define_conv2d(OpTable& t) { t.add<Conv2d>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_CONV2D_H_
