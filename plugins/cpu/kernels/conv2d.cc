// conv2d: depthwise layers and large 3x3 layers go to kernels of their own, all others to the
// register tiles.
#include "ops/conv2d.h"

#include "common/conv_tiles.h"
#include "common/depthwise.h"
#include "common/winograd.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

struct TiledConv : Kernel {
  ConvTiles tiles;
  Status run(const Run& r) override {
    tiles.run(r);
    return ok();
  }
};

bool is_depthwise(const Node& node, int64_t group) {
  return group > 1 && node.input(1).is_constant() &&
         (!node.input(2) || node.input(2).is_constant()) && node.input(0).dim(1) == group &&
         node.output(0).dim(1) == group;
}
// Few channels: a block would hold mostly padding, and images arrive plain anyway. A computed
// weight must arrive plain, and the layout of inputs is one.
bool reads_plain(const Node& node, int64_t group) {
  return (group == 1 && node.input(0).dim(1) <= 4) || !node.input(1).is_constant();
}

void supports(const Node& node, Support& s) {
  const auto op = node.attrs<ops::Conv2d>();
  if (const char* why = conv_refusal(node, op)) return s.no(why);
  s.yes(reads_plain(node, op.group) ? kPlain : blocked(kLanes), blocked(kLanes));
}

MadeKernel make(const Context& c, const Node& node) {
  const auto op = node.attrs<ops::Conv2d>();
  if (is_depthwise(node, op.group)) return make_depthwise(c, node, op);
  if (!reads_plain(node, op.group) && winograd_pays(node, op)) return make_winograd(c, node, op);
  const ImageDims x(node.input(0)), y(node.output(0));
  const Value w = node.input(1);
  ConvShape s;
  s.batch = x.n;
  s.in_c = static_cast<int>(x.c), s.in_h = static_cast<int>(x.h), s.in_w = static_cast<int>(x.w);
  s.out_c = static_cast<int>(y.c), s.out_h = static_cast<int>(y.h), s.out_w = static_cast<int>(y.w);
  s.group = static_cast<int>(op.group);
  s.step_y = static_cast<int>(op.stride[0]), s.step_x = static_cast<int>(op.stride[1]);
  s.plain_input = !is_blocked(node.input(0).layout());
  const int kh = static_cast<int>(w.dim(2)), kw = static_cast<int>(w.dim(3));
  ConvPhase phase;
  phase.rows = s.out_h, phase.cols = s.out_w;
  for (int i = 0; i < kh; ++i)
    for (int j = 0; j < kw; ++j)
      phase.taps.push_back({static_cast<int>(i * op.dilation[0] - op.pad[0]),
                            static_cast<int>(j * op.dilation[1] - op.pad[1]), i * kw + j});
  const int64_t area = int64_t{kh} * kw, in = w.dim(1);
  auto kernel = std::make_unique<TiledConv>();
  FV_TRY(kernel->tiles.prepare(c, node, s, {phase},
                               {w, s.out_c / s.group * in * area, in * area, area}, "conv2d"));
  kernel->workspace = kernel->tiles.workspace();
  return made(std::move(kernel));
}

bool fuses(const Node& node, const Node& post, int chain_input) {
  // Layouts of input and output differ for plain input: an operand could arrive in either.
  if (reads_plain(node, node.attrs<ops::Conv2d>().group) && post.inputs() > 1 &&
      !post.input(1 - chain_input).is_constant())
    return false;
  return fuses_pointwise(node, post, chain_input);
}

}  // namespace

void define_conv2d(Kernels& k) { FV_KERNEL(k, "conv2d", supports, make, fuses); }

}  // namespace FV_ISA
}  // namespace foveal::cpu
