// conv_transpose2d in gather form: outputs whose positions agree modulo the stride share their
// taps and form an ordinary convolution of stride 1 each, written to every stride-th pixel.
#include "ops/conv_transpose2d.h"

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
  const int64_t kh = w.dim(2), kw = w.dim(3), sy = op.stride[0], sx = op.stride[1];
  std::vector<ConvPhase> phases;
  for (int64_t py = 0; py < std::min(sy, y.h); ++py)
    for (int64_t px = 0; px < std::min(sx, y.w); ++px) {
      ConvPhase phase;
      phase.rows = static_cast<int>(ceil_div(y.h - py, sy));
      phase.cols = static_cast<int>(ceil_div(y.w - px, sx));
      phase.y0 = static_cast<int>(py), phase.x0 = static_cast<int>(px);
      phase.step_y = static_cast<int>(sy), phase.step_x = static_cast<int>(sx);
      // Output py + r * sy meets input r + dy through tap i: py + pad - i * dilation = dy * sy.
      for (int64_t i = 0; i < kh; ++i)
        for (int64_t j = 0; j < kw; ++j) {
          const int64_t dy = py + op.pad[0] - i * op.dilation[0];
          const int64_t dx = px + op.pad[1] - j * op.dilation[1];
          if (dy % sy == 0 && dx % sx == 0)
            phase.taps.push_back({static_cast<int>(dy / sy), static_cast<int>(dx / sx),
                                  static_cast<int>(i * kw + j)});
        }
      phases.push_back(std::move(phase));
    }
  const int64_t area = kh * kw, out = w.dim(1);
  auto kernel = std::make_unique<TransposedConv>();
  FV_TRY(kernel->tiles.prepare(c, node, s, std::move(phases),
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
  k.push_back({"conv_transpose2d", supports, make, fuses});
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
