#ifndef FOVEAL_OPS_CONV_TRANSPOSE2D_H_
#define FOVEAL_OPS_CONV_TRANSPOSE2D_H_

#include "ops/conv2d.h"

namespace foveal::ops {

struct ConvTranspose2d {
  static constexpr OpInfo kInfo{
      "conv_transpose2d", 1, "x, weight, bias?", "y",
      "Transposed 2-D convolution over NCHW; weight is [I, O/group, kh, kw]."};
  Ints stride{1, 1};
  Ints pad{0, 0, 0, 0};
  Ints dilation{1, 1};
  int64_t group = 1;
  Ints output_pad{0, 0};

  template <class V>
  void fields(V& v) {
    v("stride", stride, "distance of the inputs in the output, height, width");
    v("pad", pad, "rows and columns removed from the output: top, left, bottom, right");
    v("dilation", dilation, "distance between taps, height, width");
    v("group", group, "channel groups that do not see one another");
    v("output_pad", output_pad, "rows and columns added at the bottom and right");
  }

  Status infer(InferContext& c) const {
    FV_TRY(expect_rank(c, 0, 4));
    FV_TRY(expect_rank(c, 1, 4, "weight"));
    FV_TRY(expect_same_dtype(c, 0, 1));
    FV_TRY(check_window(*this));
    FV_TRY(expect_ints("group", {group}, 1, 1));
    FV_TRY(expect_ints("output_pad", output_pad, 2, 0));
    const Dims& x = c.in(0).dims;
    const Dims& w = c.in(1).dims;
    if (x[1] != kUnknown && w[0] != kUnknown && x[1] != w[0])
      return shape_error(format("weight has %lld input channels, input has %lld",
                                static_cast<long long>(w[0]), static_cast<long long>(x[1])),
                         "check the layout (weight is [I, O/group, kh, kw], input NCHW)");
    const int64_t channels = w[0] != kUnknown ? w[0] : x[1];
    if (channels != kUnknown && channels % group)
      return shape_error(format("%lld input channels do not divide into %lld groups",
                                static_cast<long long>(channels), static_cast<long long>(group)));
    const int64_t out_channels = w[1] == kUnknown ? kUnknown : checked_mul(w[1], group);
    if (w[1] != kUnknown && out_channels < 0)
      return shape_error("the number of output channels overflows");
    FV_TRY(check_conv_bias(c, out_channels));
    Dims out{x[0], out_channels, kUnknown, kUnknown};
    for (int i = 0; i < 2; ++i) {
      const int64_t k = w[2 + i];
      if (k == kUnknown || x[2 + i] == kUnknown) continue;
      FV_TRY(expect_ints("kernel (from weight)", {k}, 1, 1));
      if (x[2 + i] < 1) return shape_error("input " + to_string(x) + " is empty");
      const int64_t steps = checked_mul(x[2 + i] - 1, stride[i]);
      if (steps < 0 || steps > kMaxExtent) return shape_error("the output size overflows");
      const int64_t n =
          steps + window_of(*this, i, k).extent() + output_pad[i] - pad[i] - pad[i + 2];
      if (n < 1)
        return shape_error(format(
            "pad %lld + %lld leaves %lld of the output along %s", static_cast<long long>(pad[i]),
            static_cast<long long>(pad[i + 2]), static_cast<long long>(n), i ? "width" : "height"));
      out[2 + i] = n;
    }
    c.out(0, {c.in(0).dtype, out});
    return ok();
  }

  double macs(const std::vector<TensorType>& in, const std::vector<TensorType>&) const {
    const Dims& w = in[1].dims;
    return static_cast<double>(element_count(in[0].dims)) * static_cast<double>(w[1]) *
           static_cast<double>(w[2]) * static_cast<double>(w[3]);
  }
};

inline void define_conv_transpose2d(OpTable& t) { t.add<ConvTranspose2d>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_CONV_TRANSPOSE2D_H_
