// Depthwise convolution on NCxHWx: every channel block is a plane of its own, one vector a pixel.
// A tile is P neighbouring outputs of a row; each input pixel is loaded once per kernel row and
// used by all outputs of the tile that see it. Pixels outside the image read as zero by a test per
// load: it costs less than the multiply-adds it runs beside, and spares copies and edge cases.
#include "common/depthwise.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

struct Row {
  const float* x;        // the image plane
  const float* weights;  // [kh][kw][kLanes]
  const float* bias;
  const float* residual;  // of the first output, or NULL
  float* y;
  int in_h, in_w;
  int kh, kw, stride_x, dilation_y, dilation_x;
  int iy;  // input row of the first kernel row; may lie outside
  int ix;  // input column of the first kernel column for the first output
  float low, high;
};
using RowFn = void (*)(const Row&);

constexpr int kMaxPixels = kRegisters == 32 ? 8 : 6;

template <int P>
FV_INLINE void finish(const Row& r, vf (&acc)[P]) {
  const vf low = splat(r.low), high = splat(r.high);
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) {
    if (r.residual) acc[p] += load(r.residual + p * kLanes);
    store(r.y + p * kLanes, v_min(v_max(acc[p], low), high));
  }
}

// K x K, stride S, no dilation.
template <int K, int S, int P>
void square(const Row& r) {
  vf acc[P];
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) acc[p] = load(r.bias);
  for (int i = 0; i < K; ++i) {
    const int iy = r.iy + i;
    if (static_cast<unsigned>(iy) >= static_cast<unsigned>(r.in_h)) continue;
    const float* x = r.x + (static_cast<int64_t>(iy) * r.in_w + r.ix) * kLanes;
    vf w[K];
#pragma GCC unroll 8
    for (int j = 0; j < K; ++j) w[j] = load(r.weights + (i * K + j) * kLanes);
#pragma GCC unroll 32
    for (int q = 0; q < (P - 1) * S + K; ++q) {
      if (static_cast<unsigned>(r.ix + q) >= static_cast<unsigned>(r.in_w)) continue;
      const vf v = load(x + q * kLanes);
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p)
        if (q - p * S >= 0 && q - p * S < K) acc[p] += v * w[q - p * S];
    }
  }
  finish(r, acc);
}

template <int P>
void general(const Row& r) {
  vf acc[P];
  for (int p = 0; p < P; ++p) acc[p] = load(r.bias);
  for (int i = 0; i < r.kh; ++i) {
    const int iy = r.iy + i * r.dilation_y;
    if (static_cast<unsigned>(iy) >= static_cast<unsigned>(r.in_h)) continue;
    const float* row = r.x + static_cast<int64_t>(iy) * r.in_w * kLanes;
    for (int j = 0; j < r.kw; ++j) {
      const vf w = load(r.weights + (i * r.kw + j) * kLanes);
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p) {
        const int ix = r.ix + p * r.stride_x + j * r.dilation_x;
        if (static_cast<unsigned>(ix) < static_cast<unsigned>(r.in_w))
          acc[p] += load(row + static_cast<int64_t>(ix) * kLanes) * w;
      }
    }
  }
  finish(r, acc);
}

template <int K, int S, int... P>
RowFn square_for(int pixels, std::integer_sequence<int, P...>) {
  static constexpr RowFn table[] = {square<K, S, P + 1>...};
  return table[pixels - 1];
}
template <int... P>
RowFn general_for(int pixels, std::integer_sequence<int, P...>) {
  static constexpr RowFn table[] = {general<P + 1>...};
  return table[pixels - 1];
}

struct Depthwise : Kernel {
  Input x;
  int y = -1;
  ImageDims in, out;
  ops::Conv2d op;
  int kh = 0, kw = 0;
  const float* weights = nullptr;  // [block][kh][kw][kLanes]
  Floats64 bias;
  FusedTail tail;
  Posts posts;
  int threads = 1;

  Depthwise(const Node& node, const ops::Conv2d& o)
      : x(node.input(0)), y(node.output(0).slot()), in(node.input(0)), out(node.output(0)), op(o) {}

  RowFn pick(int pixels) const {
    constexpr auto seq = std::make_integer_sequence<int, kMaxPixels>();
    const auto s = op.stride[1];
    if (kh == kw && op.dilation[0] == 1 && op.dilation[1] == 1 && (s == 1 || s == 2)) {
      if (kh == 3) return s == 1 ? square_for<3, 1>(pixels, seq) : square_for<3, 2>(pixels, seq);
      if (kh == 5) return s == 1 ? square_for<5, 1>(pixels, seq) : square_for<5, 2>(pixels, seq);
    }
    return general_for(pixels, seq);
  }

  Status run(const Run& r) override {
    const int64_t blocks = ceil_div(out.c, kLanes), rows = out.n * blocks * out.h;
    const float* src = x.ptr<float>(r);
    const float* residual = tail.has_residual ? tail.residual.ptr<float>(r) : nullptr;
    float* dst = r.ptr<float>(y);
    const int64_t tasks = task_count(rows, static_cast<double>(out.w * kh * kw), threads);
    r.parallel_for(tasks, [&](int64_t task, int) {
      const Range range = slice_of(rows, task, tasks);
      for (int64_t i = range.begin; i < range.end; ++i)
        run_row(r, src, residual, dst, i / out.h, static_cast<int>(i % out.h), blocks);
    });
    return ok();
  }

  // plane: image and channel block.
  void run_row(const Run& r, const float* src, const float* residual, float* dst, int64_t plane,
               int oy, int64_t blocks) const {
    const int64_t block = plane % blocks;
    const int64_t tiles = ceil_div(out.w, kMaxPixels);
    const int64_t row = (plane * out.h + oy) * out.w * kLanes;
    Row t{};
    t.x = src + plane * in.pixels() * kLanes;
    t.weights = weights + block * kh * kw * kLanes;
    t.bias = bias.data() + block * kLanes;
    t.in_h = static_cast<int>(in.h), t.in_w = static_cast<int>(in.w);
    t.kh = kh, t.kw = kw;
    t.stride_x = static_cast<int>(op.stride[1]);
    t.dilation_y = static_cast<int>(op.dilation[0]);
    t.dilation_x = static_cast<int>(op.dilation[1]);
    t.iy = static_cast<int>(oy * op.stride[0] - op.pad[0]);
    t.low = tail.low, t.high = tail.high;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t ox = out.w * i / tiles;
      t.y = dst + row + ox * kLanes;
      t.residual = residual ? residual + row + ox * kLanes : nullptr;
      t.ix = static_cast<int>(ox * op.stride[1] - op.pad[1]);
      pick(static_cast<int>(out.w * (i + 1) / tiles - ox))(t);
    }
    posts.apply(r, dst + row, out.w * kLanes, row);
  }
};

}  // namespace

MadeKernel make_depthwise(const Context& c, const Node& node, const ops::Conv2d& op) {
  auto k = std::make_unique<Depthwise>(node, op);
  const Value w = node.input(1);
  k->threads = c.threads();
  k->kh = static_cast<int>(w.dim(2)), k->kw = static_cast<int>(w.dim(3));
  const int64_t area = w.dim(2) * w.dim(3), blocks = ceil_div(k->out.c, kLanes);
  k->weights = static_cast<const float*>(c.packed(
      w, FV_ISA_NAME " depthwise", static_cast<size_t>(blocks * area * kLanes) * 4, [&](void* dst) {
        auto* d = static_cast<float*>(dst);
        for (int64_t b = 0; b < blocks; ++b)
          for (int64_t t = 0; t < area; ++t)
            for (int64_t j = 0; j < kLanes; ++j) {
              const int64_t ch = b * kLanes + j;
              *d++ = ch < k->out.c ? w.constant<float>()[ch * area + t] : 0.f;
            }
      }));
  k->bias = Floats64(static_cast<size_t>(blocks * kLanes));
  if (!k->weights || !k->bias.data()) return no_memory();
  if (const Value b = node.input(2))
    std::memcpy(k->bias.data(), b.constant<float>(), static_cast<size_t>(k->out.c) * 4);
  const Value out = node.output(0);
  k->tail = FusedTail::find(node, out);
  FV_ASSIGN(k->posts, Posts::make(node, out, k->tail.posts));
  return made(std::move(k));
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
