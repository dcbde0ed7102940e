// Convolution, one multiplication at a time.
#include "ops/conv2d.h"

#include "kernels.h"

namespace foveal::sample {
namespace {

struct Conv2d : Kernel {
  ops::Conv2d op;  // the operator's definition, filled with this node's attributes
  Input x, weight, bias;
  Value y;
  Dims xd, wd, yd;  // [N, C, H, W], [O, C / group, kh, kw], [N, O, H, W]

  explicit Conv2d(const Node& node)
      : op(node.attrs<ops::Conv2d>()),
        x(node.input(0)),
        weight(node.input(1)),
        bias(node.input(2)),
        y(node.output(0)),
        xd(node.input(0).dims()),
        wd(node.input(1).dims()),
        yd(y.dims()) {}

  Status run(const Run& r) override {
    const int64_t plane = yd[2] * yd[3];
    float* dst = r.ptr<float>(y.slot());
    // One task per output plane. Tasks are dealt out to the session's threads.
    r.parallel_for(yd[0] * yd[1], [&](int64_t task, int) {
      for (int64_t i = 0; i < plane; ++i)
        dst[task * plane + i] = at(r, task / yd[1], task % yd[1], i / yd[3], i % yd[3]);
    });
    return ok();
  }

  float at(const Run& r, int64_t n, int64_t o, int64_t oy, int64_t ox) const {
    const float *src = x.at(r), *w = weight.at(r), *b = bias.at(r);
    const int64_t first = o / (yd[1] / op.group) * wd[1];  // channel where this group starts
    float sum = b ? b[o] : 0;
    for (int64_t c = 0; c < wd[1]; ++c)
      for (int64_t ky = 0; ky < wd[2]; ++ky)
        for (int64_t kx = 0; kx < wd[3]; ++kx) {
          const int64_t iy = oy * op.stride[0] - op.pad[0] + ky * op.dilation[0];
          const int64_t ix = ox * op.stride[1] - op.pad[1] + kx * op.dilation[1];
          if (iy < 0 || iy >= xd[2] || ix < 0 || ix >= xd[3]) continue;  // padding is zero
          sum += src[((n * xd[1] + first + c) * xd[2] + iy) * xd[3] + ix] *
                 w[((o * wd[1] + c) * wd[2] + ky) * wd[3] + kx];
        }
    return sum;
  }
};

MadeKernel make(const Context&, const Node& node) {
  return MadeKernel(std::make_unique<Conv2d>(node));
}

}  // namespace

// A row may end in a fourth function, fuses(): return true for the pointwise operators (bias,
// activation, residual add) which the kernel applies itself before it stores an element.
std::span<const KernelDef> conv2d_kernels() {
  static const KernelDef rows[] = {{"conv2d", float32_only, make}};
  return rows;
}

}  // namespace foveal::sample
