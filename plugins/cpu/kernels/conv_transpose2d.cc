// conv_transpose2d in gather form: outputs whose positions agree modulo the stride share their
// taps and form an ordinary convolution of stride 1 each, written to every stride-th pixel.
//
// Under a kernel far larger than the image most taps of an output lie outside it. There the outputs
// of a phase are divided further, into runs about as long as the image, each with its own taps.
#include "ops/conv_transpose2d.h"

#include <numeric>

#include "common/conv_tiles.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

struct TransposedConv : Kernel {
  ConvTiles tiles;
  Status run(const Run& r) override {
    tiles.run(r);
    return ok();
  }
};

// One dimension of the operator.
struct Axis {
  int64_t in, out, kernel, stride, pad, dilation;

  int64_t phases() const { return std::min(stride, out); }
  // Longest run of outputs of a phase; at least `shortest` where runs are shorter than a phase.
  int64_t run_length(int64_t shortest) const {
    const bool wide = (kernel - 1) * dilation / stride >= 2 * in;
    return wide ? std::max(in, shortest) : out;
  }
  int64_t runs(int64_t shortest) const {
    return phases() * ceil_div(ceil_div(out, stride), run_length(shortest));
  }
};

struct AxisTap {
  int d, index;  // output i of a run meets input i + d through this tap
};

// Outputs first, first + stride ... of one dimension, with the taps that meet the image.
struct AxisRun {
  int first, count;
  std::vector<AxisTap> taps;  // d falls, index rises
};

std::vector<AxisRun> runs_of(const Axis& a, int64_t shortest) {
  std::vector<AxisRun> runs;
  const int64_t period = a.stride / std::gcd(a.stride, a.dilation);
  for (int64_t phase = 0; phase < a.phases(); ++phase) {
    // Output phase + r * stride meets input r + d through tap i:
    // phase + pad - i * dilation = d * stride.
    const int64_t at = phase + a.pad, count = ceil_div(a.out - phase, a.stride);
    int64_t i = 0;
    while (i < std::min(a.kernel, period) && (at - i * a.dilation) % a.stride) ++i;
    if (i == period) i = a.kernel;
    std::vector<AxisTap> taps;
    for (; i < a.kernel; i += period) {
      const int64_t d = (at - i * a.dilation) / a.stride;
      if (d < a.in && d + count > 0) taps.push_back({static_cast<int>(d), static_cast<int>(i)});
    }
    const int64_t length = std::min(count, a.run_length(shortest));
    for (int64_t begin = 0; begin < count; begin += length) {
      const int64_t end = std::min(begin + length, count);
      const auto first = std::partition_point(taps.begin(), taps.end(),
                                              [&](AxisTap t) { return begin + t.d >= a.in; });
      const auto last =
          std::partition_point(first, taps.end(), [&](AxisTap t) { return end + t.d > 0; });
      AxisRun run{static_cast<int>(phase + begin * a.stride), static_cast<int>(end - begin), {}};
      for (auto t = first; t != last; ++t)
        run.taps.push_back({static_cast<int>(begin + t->d), t->index});
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

// Every pair of a run of rows and a run of columns. A phase has a cost of its own: there are no
// more than one for 64 outputs, unless they are few.
std::vector<ConvPhase> phases_of(const Axis& rows, const Axis& cols) {
  const int64_t most = std::max<int64_t>(64, rows.out * cols.out / 64);
  int64_t shortest = 1;
  while (rows.runs(shortest) * cols.runs(shortest) > most &&
         shortest < std::max(rows.out, cols.out))
    shortest *= 2;
  std::vector<ConvPhase> phases;
  const std::vector<AxisRun> across = runs_of(cols, shortest);
  for (const AxisRun& y : runs_of(rows, shortest))
    for (const AxisRun& x : across) {
      ConvPhase p;
      p.rows = y.count, p.cols = x.count;
      p.y0 = y.first, p.x0 = x.first;
      p.step_y = static_cast<int>(rows.stride), p.step_x = static_cast<int>(cols.stride);
      for (const AxisTap& i : y.taps)
        for (const AxisTap& j : x.taps)
          p.taps.push_back({i.d, j.d, static_cast<int>(i.index * cols.kernel + j.index)});
      phases.push_back(std::move(p));
    }
  return phases;
}

void supports(const Node& node, Support& s) {
  const auto op = node.attrs<ops::ConvTranspose2d>();
  if (const char* why = conv_refusal(node, op)) return s.no(why);
  if (op.stride[0] * op.stride[1] > 4096) return s.no("more than 4096 phases");
  // A computed weight must arrive plain, and the layout of inputs is one.
  s.yes(node.input(1).is_constant() ? blocked(kLanes) : kPlain, blocked(kLanes));
}

MadeKernel make(const Context& c, const Node& node) {
  const auto op = node.attrs<ops::ConvTranspose2d>();
  const ImageDims x(node.input(0)), y(node.output(0));
  const Value w = node.input(1);
  ConvShape s;
  s.batch = x.n;
  s.in_c = static_cast<int>(x.c), s.in_h = static_cast<int>(x.h), s.in_w = static_cast<int>(x.w);
  s.out_c = static_cast<int>(y.c), s.out_h = static_cast<int>(y.h), s.out_w = static_cast<int>(y.w);
  s.group = static_cast<int>(op.group);
  s.plain_input = !is_blocked(node.input(0).layout());
  const Axis rows{x.h, y.h, w.dim(2), op.stride[0], op.pad[0], op.dilation[0]};
  const Axis cols{x.w, y.w, w.dim(3), op.stride[1], op.pad[1], op.dilation[1]};
  const int64_t area = rows.kernel * cols.kernel, out = w.dim(1);
  auto kernel = std::make_unique<TransposedConv>();
  FV_TRY(kernel->tiles.prepare(c, node, s, phases_of(rows, cols),
                               {w, x.c / s.group * out * area, area, out * area},
                               "conv_transpose2d"));
  kernel->workspace = kernel->tiles.workspace();
  return made(std::move(kernel));
}

bool fuses(const Node& node, const Node& post, int chain_input) {
  if (!node.input(1).is_constant() && post.inputs() > 1 &&
      !post.input(1 - chain_input).is_constant())
    return false;  // could arrive in the layout of the input
  return fuses_pointwise(node, post, chain_input);
}

}  // namespace

void define_conv_transpose2d(Kernels& k) {
  FV_KERNEL(k, "conv_transpose2d", supports, make, fuses);
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
