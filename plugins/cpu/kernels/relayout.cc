// plain <-> NCxHWx: kLanes x kLanes transposes in registers.
#include "common/operand.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

// `channels` rows of a plain image, `plane` floats apart -> one block of n pixels.
void block_pixels(const float* src, int64_t plane, int channels, int64_t n, float* dst) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes, dst += kLanes * kLanes) {
    vf rows[kLanes];
#pragma GCC unroll 16
    for (int c = 0; c < kLanes; ++c) rows[c] = c < channels ? load(src + c * plane + i) : vf{};
    transpose(rows);
#pragma GCC unroll 16
    for (int p = 0; p < kLanes; ++p) store(dst + p * kLanes, rows[p]);
  }
  for (; i < n; ++i, dst += kLanes)
    for (int c = 0; c < kLanes; ++c) dst[c] = c < channels ? src[c * plane + i] : 0.f;
}

void plain_pixels(const float* src, int64_t plane, int channels, int64_t n, float* dst) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes, src += kLanes * kLanes) {
    vf rows[kLanes];
#pragma GCC unroll 16
    for (int p = 0; p < kLanes; ++p) rows[p] = load(src + p * kLanes);
    transpose(rows);
#pragma GCC unroll 16
    for (int c = 0; c < kLanes; ++c)
      if (c < channels) store(dst + c * plane + i, rows[c]);
  }
  for (; i < n; ++i, src += kLanes)
    for (int c = 0; c < channels; ++c) dst[c * plane + i] = src[c];
}

struct RelayoutKernel : Kernel {
  Input x;
  int y = -1, threads = 1;
  bool to_blocked = false, same = false;
  int64_t n = 0, c = 0, pixels = 0, bytes = 0;

  Status run(const Run& r) override {
    const float* src = x.ptr<float>(r);
    float* dst = r.ptr<float>(y);
    if (same) {
      std::memcpy(dst, src, static_cast<size_t>(bytes));
      return ok();
    }
    const int64_t blocks = ceil_div(c, kLanes);
    // Pieces of pixels, so that a single block of a large image is shared out, too.
    const int64_t piece = 16 * kLanes, pieces = ceil_div(pixels, piece);
    const int64_t items = n * blocks * pieces;
    const int64_t tasks = task_count(items, 2.0 * piece, threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(items, task, tasks);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t plane = i / pieces, from = i % pieces * piece;
        const int64_t image = plane / blocks, block = plane % blocks;
        const int channels = static_cast<int>(std::min<int64_t>(kLanes, c - block * kLanes));
        const int64_t plain = (image * c + block * kLanes) * pixels + from;
        const int64_t blocked = (plane * pixels + from) * kLanes;
        const int64_t count = std::min(piece, pixels - from);
        if (to_blocked)
          block_pixels(src + plain, pixels, channels, count, dst + blocked);
        else
          plain_pixels(src + blocked, pixels, channels, count, dst + plain);
      }
    });
    return ok();
  }
};

bool ours(fv_layout l) { return l.id == FV_LAYOUT_PLAIN || (is_blocked(l) && l.block == kLanes); }

void supports(const Node& node, Support& s) {
  const fv_layout from = node.input(0).layout(), to = node.output(0).layout();
  if (!is_float(node.input(0))) return s.no("float32 only");
  if (!ours(from) || !ours(to))
    return s.no("cannot convert " + to_string(from) + " to " + to_string(to));
  s.yes(from, to);
}

MadeKernel make(const Context& c, const Node& node) {
  auto k = std::make_unique<RelayoutKernel>();
  const Value x = node.input(0), y = node.output(0);
  if (!is_float(x) || !ours(x.layout()) || !ours(y.layout()))
    return unsupported("cannot convert " + to_string(x.layout()) + " to " + to_string(y.layout()));
  k->x = Input(x);
  k->y = y.slot();
  k->threads = c.threads();
  k->to_blocked = is_blocked(y.layout());
  k->same = same_layout(x.layout(), y.layout());
  k->bytes = physical_count(x) * 4;
  if (!k->same) {
    k->n = x.dim(0), k->c = x.dim(1);
    k->pixels = 1;
    for (int i = 2; i < x.rank(); ++i) k->pixels *= x.dim(i);
  }
  return made(std::move(k));
}

}  // namespace

void define_relayout(Kernels& k) { FV_KERNEL(k, "relayout", supports, make); }

}  // namespace FV_ISA
}  // namespace foveal::cpu
