#ifndef FOVEAL_OPS_POOL2D_H_
#define FOVEAL_OPS_POOL2D_H_

#include "ops/window.h"

namespace foveal::ops {

struct Pool2d {
  static constexpr OpInfo kInfo{"pool2d", 1, "x", "y",
                                "Maximum or mean over a window sliding across H and W of NCHW."};
  std::string mode = "max";
  Ints kernel{1, 1};
  Ints stride{1, 1};
  Ints pad{0, 0, 0, 0};
  Ints dilation{1, 1};
  bool ceil = false;
  bool count_pad = false;

  template <class V>
  void fields(V& v) {
    v("mode", mode, "max | average");
    v("kernel", kernel, "window height, width");
    v("stride", stride, "step height, width");
    v("pad", pad, "top, left, bottom, right; padding never wins a maximum");
    v("dilation", dilation, "distance between taps, height, width");
    v("ceil", ceil, "round the output size up (ONNX ceil_mode)");
    v("count_pad", count_pad, "average: divide by the whole window, padding included");
  }

  Status infer(InferContext& c) const {
    if (mode != "max" && mode != "average")
      return shape_error("mode is '" + mode + "', expected 'max' or 'average'");
    FV_TRY(expect_rank(c, 0, 4));
    Dims out = c.in(0).dims;
    for (int i = 0; i < 2; ++i) {
      FV_ASSIGN(out[2 + i], windowed_size(c.in(0).dims[2 + i], *this, i, ceil));
      const int64_t extent = window_of(*this, i, kernel[i]).extent();
      if (std::max(pad[i], pad[i + 2]) >= extent)
        return shape_error(format("pad %lld is not smaller than the window of %lld",
                                  static_cast<long long>(std::max(pad[i], pad[i + 2])),
                                  static_cast<long long>(extent)),
                           "a window must see at least one element of the input");
    }
    c.out(0, {c.in(0).dtype, out});
    return ok();
  }

  double macs(const std::vector<TensorType>&, const std::vector<TensorType>& out) const {
    return static_cast<double>(element_count(out[0].dims)) * kernel[0] * kernel[1];
  }
};

inline void define_pool2d(OpTable& t) { t.add<Pool2d>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_POOL2D_H_
