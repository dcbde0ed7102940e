// Dense boxes of NCxHWx images. Steps other than 1 and other tensors take the raster.
#include "ops/slice.h"

#include "common/block_copy.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

struct SliceKernel : Kernel {
  Input x;
  int y = -1;
  int64_t image = 0;  // floats before the first image taken
  BlockCopy copy;
  Status run(const Run& r) override {
    const float* src = x.ptr<float>(r) + image;
    copy.run(r, &src, r.ptr<float>(y));
    return ok();
  }
};

void supports(const Node& node, Support& s) {
  const Value x = node.input(0);
  if (!is_float(x) || x.rank() != 4 || x.is_constant())
    return s.no("only float32 images; others are lowered to raster");
  for (int64_t step : node.attrs<ops::Slice>().step)
    if (step != 1) return s.no("steps are lowered to raster");
  s.yes(blocked(kLanes), blocked(kLanes));
}

MadeKernel make(const Context& c, const Node& node) {
  auto k = std::make_unique<SliceKernel>();
  const auto op = node.attrs<ops::Slice>();
  const Value in = node.input(0);
  const ImageDims x(in), y(node.output(0));
  Ints axes;
  FV_TRY(op.check(in.rank(), axes));
  int64_t start[4] = {};
  for (size_t i = 0; i < axes.size(); ++i)
    start[axes[i]] = op.range(i, in.dim(static_cast<int>(axes[i]))).start;
  k->x = Input(in);
  k->y = node.output(0).slot();
  k->image = start[0] * ceil_div(x.c, kLanes) * x.pixels() * kLanes;
  k->copy.images = y.n;
  k->copy.threads = c.threads();
  k->copy.add({0, y.c, y.h, y.w, start[1], start[2], start[3], 0, 0, 0}, x, y);
  return made(std::move(k));
}

}  // namespace

void define_slice(Kernels& k) { FV_KERNEL(k, "slice", supports, make, nullptr); }

}  // namespace FV_ISA
}  // namespace foveal::cpu
