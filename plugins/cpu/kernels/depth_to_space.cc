// depth_to_space on NCxHWx. Output pixels of one phase (row, column within the square) take each
// lane from a fixed input channel: a table per phase, whole vectors where the channels line up.
#include "base/simd.h"
#include "common/cpu.h"
#include "ops/depth_space.h"

namespace foveal::cpu {
inline namespace FV_ISA {

using namespace simd;

namespace {

struct DepthToSpace : Kernel {
  Input x;
  int y = -1, threads = 1;
  ImageDims in, out;
  int64_t block = 1;
  // Per phase and output block: input offset of each lane's channel; -1 for padding lanes.
  std::vector<int64_t> lanes;
  DepthToSpace(const Value& a, const Value& b) : x(a), y(b.slot()), in(a), out(b) {}

  Status run(const Run& r) override {
    const float* src = x.ptr<float>(r);
    float* dst = r.ptr<float>(y);
    const int64_t blocks = ceil_div(out.c, kLanes), items = out.n * blocks * out.h;
    const int64_t image = ceil_div(in.c, kLanes) * in.pixels() * kLanes;
    const int64_t tasks = task_count(items, static_cast<double>(out.w) * 4, threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(items, task, tasks);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t oy = i % out.h, plane = i / out.h;
        const float* row = src + plane / blocks * image + oy / block * in.w * kLanes;
        for (int64_t column = 0; column < block; ++column) {
          const int64_t phase = oy % block * block + column;
          pixels(row, &lanes[static_cast<size_t>((phase * blocks + plane % blocks) * kLanes)],
                 dst + (i * out.w + column) * kLanes);
        }
      }
    });
    return ok();
  }

  void pixels(const float* row, const int64_t* from, float* to) const {
    bool whole = from[0] >= 0 && from[0] % kLanes == 0;
    for (int k = 1; k < kLanes; ++k) whole = whole && from[k] == from[0] + k;
    for (int64_t ix = 0; ix < in.w; ++ix, row += kLanes, to += block * kLanes) {
      if (whole) {
        store(to, load(row + from[0]));
        continue;
      }
      for (int k = 0; k < kLanes; ++k) to[k] = from[k] < 0 ? 0.f : row[from[k]];
    }
  }
};

void supports(const Node& node, Support& s) {
  const auto op = node.attrs<ops::DepthToSpace>();
  if (!is_float(node.input(0)) || node.input(0).is_constant())
    return s.no("only float32; others are lowered to raster");
  if (op.block > 64) return s.no("squares over 64 x 64 are lowered to raster");
  s.yes(blocked(kLanes), blocked(kLanes));
}

MadeKernel make(const Context& c, const Node& node) {
  const auto op = node.attrs<ops::DepthToSpace>();
  auto k = std::make_unique<DepthToSpace>(node.input(0), node.output(0));
  k->threads = c.threads();
  k->block = op.block;
  const int64_t squares = op.block * op.block, plane = k->in.pixels() * kLanes;
  for (int64_t phase = 0; phase < squares; ++phase)
    for (int64_t ch = 0; ch < ceil_div(k->out.c, kLanes) * kLanes; ++ch) {
      const int64_t from = op.mode == "dcr" ? phase * k->out.c + ch : ch * squares + phase;
      k->lanes.push_back(ch < k->out.c ? from / kLanes * plane + from % kLanes : -1);
    }
  return made(std::move(k));
}

}  // namespace

void define_depth_to_space(Kernels& k) { FV_KERNEL(k, "depth_to_space", supports, make, nullptr); }

}  // namespace FV_ISA
}  // namespace foveal::cpu
