// Borders around NCxHWx images and channels added to them. Anything else takes the raster.
#include "ops/pad.h"

#include "common/block_copy.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

struct PadKernel : Kernel {
  Input x;
  int y = -1, threads = 1;
  ImageDims in, out;
  float value = 0;
  std::vector<int64_t> rows, cols;  // input position of each output row and column; -1: value
  bool channels = false;            // zeros appended or prepended as channels
  BlockCopy copy;
  PadKernel(const Value& a, const Value& b) : x(a), y(b.slot()), in(a), out(b) {}

  Status run(const Run& r) override {
    const float* src = x.ptr<float>(r);
    float* dst = r.ptr<float>(y);
    if (channels) {
      copy.run(r, &src, dst);
      return ok();
    }
    const int64_t blocks = ceil_div(out.c, kLanes), items = out.n * blocks * out.h;
    const int64_t tasks = task_count(items, static_cast<double>(out.w), threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(items, task, tasks);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t plane = i / out.h, from = rows[static_cast<size_t>(i % out.h)];
        const int64_t real = std::min<int64_t>(kLanes, out.c - plane % blocks * kLanes);
        const vf fill = v_select(lane_numbers() < static_cast<int>(real), splat(value), vf{});
        const float* row = src + (plane * in.h + std::max<int64_t>(from, 0)) * in.w * kLanes;
        float* to = dst + i * out.w * kLanes;
        for (const int64_t col : cols) {
          store(to, from < 0 || col < 0 ? fill : load(row + col * kLanes));
          to += kLanes;
        }
      }
    });
    return ok();
  }
};

std::vector<int64_t> positions(int64_t n, int64_t before, int64_t behind, const std::string& mode) {
  std::vector<int64_t> list;
  for (int64_t i = -before; i < n + behind; ++i) {
    int64_t at = i;
    if (i < 0) at = mode == "edge" ? 0 : mode == "reflect" ? -i : -1;
    if (i >= n) at = mode == "edge" ? n - 1 : mode == "reflect" ? 2 * (n - 1) - i : -1;
    list.push_back(at);
  }
  return list;
}

void supports(const Node& node, Support& s) {
  const Value x = node.input(0);
  if (!is_float(x) || x.rank() != 4 || x.is_constant() || x.count() == 0)
    return s.no("only float32 images; others are lowered to raster");
  const auto op = node.attrs<ops::Pad>();
  for (int64_t p : op.pads)
    if (p < 0) return s.no("cropping is lowered to raster");
  if (op.pads[0] || op.pads[4]) return s.no("added images are lowered to raster");
  if ((op.pads[1] || op.pads[5]) && (op.mode != "constant" || op.value != 0))
    return s.no("added channels other than zeros are lowered to raster");
  s.yes(blocked(kLanes), blocked(kLanes));
}

MadeKernel make(const Context& c, const Node& node) {
  const auto op = node.attrs<ops::Pad>();
  auto k = std::make_unique<PadKernel>(node.input(0), node.output(0));
  k->threads = c.threads();
  k->value = static_cast<float>(op.value);
  if (op.pads[1] || op.pads[5]) {
    k->channels = true;
    k->copy.clear = true;
    k->copy.images = k->in.n;
    k->copy.threads = c.threads();
    k->copy.add({0, k->in.c, k->in.h, k->in.w, 0, 0, 0, op.pads[1], op.pads[2], op.pads[3]}, k->in,
                k->out);
  } else {
    k->rows = positions(k->in.h, op.pads[2], op.pads[6], op.mode);
    k->cols = positions(k->in.w, op.pads[3], op.pads[7], op.mode);
  }
  return made(std::move(k));
}

}  // namespace

void define_pad(Kernels& k) { FV_KERNEL(k, "pad", supports, make, nullptr); }

}  // namespace FV_ISA
}  // namespace foveal::cpu
