// Winograd's minimal filtering F(4x4, 3x3) (Lavin & Gray, "Fast Algorithms for Convolutional Neural
// Networks", 2015): a 4 x 4 tile of outputs takes 36 products per channel pair instead of 144.
//
//   V = B^T d B         every 6 x 6 input tile (they overlap by 2) and input channel
//   M[k] = V[k] U[k]    for each of the 36 points k: a matrix product over input channels
//   y = A^T M A         every tile and output channel;  U = G g G^T is computed once
//
// The points are 0, +-a, +-b and infinity with a^2 = 1/2, b^2 = 2. With them the error stays within
// twice that of the sum tap by tap; the textbook's 1 and 2 lose a digit. An output depends on its
// own 6 x 6 input tile: an infinity among them makes all 16 outputs NaN, where the sum tap by tap
// keeps those that do not see it.
//
// The image is worked off in blocks of tiles whose V fits half of L2:
//
//   V[k][channel block][tile][lane]   shared by the threads, filled by all of them
//   M[k][2 output blocks][tile][lane]     one per thread, for at most kRunTiles tiles
#include "common/winograd.h"

#include "common/tile_table.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

constexpr int kTile = 4, kPatch = 6, kPoints = kPatch * kPatch;
constexpr float kA = 0.70710678118654752f, kB = 1.41421356237309505f;
constexpr int64_t kBlockBytes = 512 << 10;        // of V
constexpr int64_t kRunTiles = 2 * max_pixels(2);  // M of so many tiles stays near L1
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// B^T: six values, `step` apart in both arrays.
FV_INLINE void input_points(const vf* d, int from, vf* v, int to) {
  const vf even1 = d[4 * from] - 2.f * d[2 * from], odd1 = d[3 * from] - 2.f * d[from];
  const vf even2 = d[4 * from] - 0.5f * d[2 * from], odd2 = d[3 * from] - 0.5f * d[from];
  v[0] = d[0] - 2.5f * d[2 * from] + d[4 * from];
  v[to] = even1 + kA * odd1;
  v[2 * to] = even1 - kA * odd1;
  v[3 * to] = even2 + kB * odd2;
  v[4 * to] = even2 - kB * odd2;
  v[5 * to] = d[from] - 2.5f * d[3 * from] + d[5 * from];
}

// A^T: six points to four outputs.
FV_INLINE void output_values(const vf* m, int from, vf* y, int to) {
  const vf sum1 = m[from] + m[2 * from], difference1 = m[from] - m[2 * from];
  const vf sum2 = m[3 * from] + m[4 * from], difference2 = m[3 * from] - m[4 * from];
  y[0] = m[0] + sum1 + sum2;
  y[to] = kA * difference1 + kB * difference2;
  y[2 * to] = 0.5f * sum1 + 2.f * sum2;
  y[3 * to] = 0.5f * kA * difference1 + 2.f * kB * difference2 + m[5 * from];
}

// G g G^T of one 3 x 3 kernel, in double.
void weight_points(const float* g, double* u) {
  constexpr double a = 0.70710678118654752440, b = 1.41421356237309504880;
  constexpr double G[kPatch][3] = {{1, 0, 0},
                                   {-1 / 1.5, -a / 1.5, -0.5 / 1.5},
                                   {-1 / 1.5, a / 1.5, -0.5 / 1.5},
                                   {1.0 / 6, b / 6, 2.0 / 6},
                                   {1.0 / 6, -b / 6, 2.0 / 6},
                                   {0, 0, 1}};
  double half[kPatch][3];
  for (int i = 0; i < kPatch; ++i)
    for (int j = 0; j < 3; ++j)
      half[i][j] = G[i][0] * g[j] + G[i][1] * g[3 + j] + G[i][2] * g[6 + j];
  for (int i = 0; i < kPatch; ++i)
    for (int j = 0; j < kPatch; ++j)
      u[i * kPatch + j] = G[j][0] * half[i][0] + G[j][1] * half[i][1] + G[j][2] * half[i][2];
}

struct Winograd : Kernel {
  Input x;
  int y = -1;
  ImageDims in, out;
  int top, left;
  int in_blocks, out_blocks, pairs;
  int tiles_x, tiles;                // of an image
  int block_tiles = 0;               // of V
  int64_t v_point = 0, m_point = 0;  // floats between points
  int64_t v_floats = 0, m_floats = 0;
  const float* weights = nullptr;  // [pair][point][input channel][2 * kLanes, an odd last: kLanes]
  Floats64 bias, zero{2 * kLanes};
  FusedTail tail;
  Posts posts;
  int threads;

  Winograd(const Context& c, const Node& node, const ops::Conv2d& op)
      : x(node.input(0)),
        y(node.output(0).slot()),
        in(node.input(0)),
        out(node.output(0)),
        top(static_cast<int>(op.pad[0])),
        left(static_cast<int>(op.pad[1])),
        in_blocks(static_cast<int>(ceil_div(in.c, kLanes))),
        out_blocks(static_cast<int>(ceil_div(out.c, kLanes))),
        pairs((out_blocks + 1) / 2),
        tiles_x(static_cast<int>(ceil_div(out.w, kTile))),
        tiles(tiles_x * static_cast<int>(ceil_div(out.h, kTile))),
        threads(std::max(1, c.threads())) {
    const int64_t tile_bytes = int64_t{kPoints} * in_blocks * kLanes * 4;
    const int64_t fit = std::max<int64_t>(kBlockBytes / tile_bytes, max_pixels(2));
    block_tiles = static_cast<int>(ceil_div(tiles, ceil_div(tiles, fit)));
    // Odd multiples of a vector: powers of two would put all points of a tile into one cache set.
    v_point = (int64_t{in_blocks} * block_tiles | 1) * kLanes;
    m_point = (2 * std::min<int64_t>(block_tiles, kRunTiles) | 1) * kLanes;
    v_floats = v_point * kPoints;
    m_floats = m_point * kPoints;
    workspace = static_cast<size_t>(v_floats + threads * m_floats) * 4;
  }

  void pack(const float* g, float* dst) const {
    const int64_t pair_floats = int64_t{kPoints} * in.c * 2 * kLanes;
    double u[kPoints];
    for (int64_t o = 0; o < int64_t{out_blocks} * kLanes; ++o) {
      const int64_t pair = o / (2 * kLanes);
      const int64_t width = std::min<int64_t>(2, out_blocks - 2 * pair) * kLanes;
      float* to = dst + pair * pair_floats + o % (2 * kLanes);
      for (int64_t i = 0; i < in.c; ++i) {
        if (o < out.c)
          weight_points(g + (o * in.c + i) * 9, u);
        else
          std::fill(u, u + kPoints, 0.0);
        for (int k = 0; k < kPoints; ++k) to[(k * in.c + i) * width] = static_cast<float>(u[k]);
      }
    }
  }

  Status run(const Run& r) override {
    auto* v = reinterpret_cast<float*>(r.workspace);
    for (int64_t n = 0; n < out.n; ++n)
      for (int first = 0; first < tiles; first += block_tiles) {
        const int count = std::min(block_tiles, tiles - first);
        r.parallel_for(threads == 1 ? 1 : in_blocks, [&](int64_t task, int) {
          const int end = threads == 1 ? in_blocks : static_cast<int>(task) + 1;
          for (int b = static_cast<int>(task); b < end; ++b)
            transform_input(r, n, b, first, count, v);
        });
        // Few pairs: shorter runs of tiles, so that every thread has some.
        const int64_t runs =
            std::max(ceil_div(count, kRunTiles),
                     threads == 1 ? 1 : std::min<int64_t>(ceil_div(threads, pairs), count));
        r.parallel_for(threads == 1 ? 1 : pairs * runs, [&](int64_t task, int worker) {
          float* m = v + v_floats + worker * m_floats;
          const int64_t end = threads == 1 ? pairs * runs : task + 1;
          for (int64_t i = task; i < end; ++i) {
            const Range range = slice_of(count, i % runs, runs);
            multiply(static_cast<int>(i / runs), static_cast<int>(range.begin),
                     static_cast<int>(range.end - range.begin), v, m);
            for (int o = 0; o < std::min(2, out_blocks - 2 * static_cast<int>(i / runs)); ++o)
              transform_output(r, n, static_cast<int>(i / runs) * 2 + o,
                               first + static_cast<int>(range.begin),
                               static_cast<int>(range.end - range.begin), m + o * m_block(range));
          }
        });
      }
    return ok();
  }

  static int64_t m_block(const Range& r) { return (r.end - r.begin) * kLanes; }

  void transform_input(const Run& r, int64_t n, int block, int first, int count, float* v) const {
    const float* plane = x.ptr<float>(r) + (n * in_blocks + block) * in.pixels() * kLanes;
    const int h = static_cast<int>(in.h), w = static_cast<int>(in.w);
    float* to = v + int64_t{block} * block_tiles * kLanes;
    for (int t = first; t < first + count; ++t, to += kLanes) {
      const int iy = t / tiles_x * kTile - top, ix = t % tiles_x * kTile - left;
      vf d[kPoints], half[kPoints];
      if (iy >= 0 && ix >= 0 && iy + kPatch <= h && ix + kPatch <= w) {
        const float* p = plane + (int64_t{iy} * w + ix) * kLanes;
#pragma GCC unroll 6
        for (int i = 0; i < kPatch; ++i)
#pragma GCC unroll 6
          for (int j = 0; j < kPatch; ++j)
            d[i * kPatch + j] = load(p + (int64_t{i} * w + j) * kLanes);
      } else {
        for (int i = 0; i < kPatch; ++i)
          for (int j = 0; j < kPatch; ++j) {
            const int row = iy + i, column = ix + j;
            const bool inside = row >= 0 && row < h && column >= 0 && column < w;
            d[i * kPatch + j] = inside ? load(plane + (int64_t{row} * w + column) * kLanes) : vf{};
          }
      }
#pragma GCC unroll 6
      for (int j = 0; j < kPatch; ++j) input_points(d + j, kPatch, half + j, kPatch);
#pragma GCC unroll 6
      for (int i = 0; i < kPatch; ++i) {
        vf points[kPatch];
        input_points(half + i * kPatch, 1, points, 1);
#pragma GCC unroll 6
        for (int j = 0; j < kPatch; ++j) store(to + (i * kPatch + j) * v_point, points[j]);
      }
    }
  }

  // M of tiles [first, first + count) of the block, as [point][output block][tile][lane].
  void multiply(int pair, int first, int count, const float* v, float* m) const {
    static constexpr int32_t kNoTaps[1] = {0};
    const int vectors = std::min(2, out_blocks - 2 * pair);
    TileArgs t{};
    t.block_pitch = int64_t{block_tiles} * kLanes;
    t.taps = kNoTaps;
    t.tap_count = 1;
    t.blocks = in_blocks;
    t.lanes = kLanes;
    t.last_lanes = static_cast<int>(in.c) - (in_blocks - 1) * kLanes;
    t.y_block = int64_t{count} * kLanes;
    t.y_pixel = kLanes;
    t.bias = zero.data();
    t.low = -kInfinity, t.high = kInfinity;
    t.last = true;
    const int64_t point_floats = in.c * vectors * kLanes;
    t.w = weights + int64_t{pair} * kPoints * in.c * 2 * kLanes;
    const int pieces = static_cast<int>(ceil_div(count, max_pixels(vectors)));
    for (int k = 0; k < kPoints; ++k, t.w += point_floats)
      for (int i = 0; i < pieces; ++i) {
        const int begin = count * i / pieces, end = count * (i + 1) / pieces;
        t.x = v + k * v_point + int64_t{first + begin} * kLanes;
        t.y = m + k * m_point + int64_t{begin} * kLanes;
        t.prefetch = i < 4 ? t.w + point_floats + i * point_floats / 4 : nullptr;
        blocked_tile(vectors, end - begin)(t);
      }
  }

  void transform_output(const Run& r, int64_t n, int block, int first, int count,
                        const float* m) const {
    const int h = static_cast<int>(out.h), w = static_cast<int>(out.w);
    const int64_t plane = (n * out_blocks + block) * out.pixels() * kLanes;
    const float* residual = tail.has_residual ? tail.residual.ptr<float>(r) : nullptr;
    float* dst = r.ptr<float>(y);
    const vf low = splat(tail.low), high = splat(tail.high);
    const vf start = load(bias.data() + block * kLanes);
    for (int t = first; t < first + count; ++t, m += kLanes) {
      vf half[kTile * kPatch], values[kTile * kTile];
#pragma GCC unroll 6
      for (int j = 0; j < kPatch; ++j) {
        vf points[kPatch];
#pragma GCC unroll 6
        for (int i = 0; i < kPatch; ++i) points[i] = load(m + (i * kPatch + j) * m_point);
        output_values(points, 1, half + j, kPatch);
      }
#pragma GCC unroll 4
      for (int i = 0; i < kTile; ++i) output_values(half + i * kPatch, 1, values + i * kTile, 1);
      const int oy = t / tiles_x * kTile, ox = t % tiles_x * kTile;
      const int rows = std::min(kTile, h - oy), columns = std::min(kTile, w - ox);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          const int64_t at = plane + (int64_t{oy + i} * w + ox + j) * kLanes;
          vf value = values[i * kTile + j] + start;
          if (residual) value += load(residual + at);
          store(dst + at, v_min(v_max(value, low), high));
        }
    }
    if (!posts.empty()) apply_posts(r, plane, first, count, dst);
  }

  // Over the rows of pixels that the tiles cover.
  void apply_posts(const Run& r, int64_t plane, int first, int count, float* dst) const {
    for (int t = first; t < first + count;) {
      const int row = t / tiles_x, end = std::min(first + count, (row + 1) * tiles_x);
      const int64_t from = t % tiles_x * kTile;
      const int64_t to = std::min<int64_t>(out.w, from + int64_t{end - t} * kTile);
      for (int64_t oy = row * kTile; oy < std::min<int64_t>(out.h, (row + 1) * kTile); ++oy) {
        const int64_t at = plane + (oy * out.w + from) * kLanes;
        posts.apply(r, dst + at, (to - from) * kLanes, at);
      }
      t = end;
    }
  }
};

}  // namespace

bool winograd_pays(const Node& node, const ops::Conv2d& op) {
  const Value w = node.input(1);
  if (op.group != 1 || !w.is_constant() || (node.input(2) && !node.input(2).is_constant()))
    return false;
  for (int i = 0; i < 2; ++i)
    if (w.dim(2 + i) != 3 || op.stride[i] != 1 || op.dilation[i] != 1) return false;
  const ImageDims x(node.input(0)), y(node.output(0));
  if (x.c < 16 || y.c < 16 || x.c > 4096 || y.c > 4096 || op.pad[0] > 64 || op.pad[1] > 64)
    return false;
  // Vector multiply-adds, or what else takes their time: measured 250 for the transform of a tile,
  // and a multiply-add for every 8 bytes of weights, which are four times as many and come from
  // beyond L2 for every block of tiles.
  const double in_blocks = static_cast<double>(ceil_div(x.c, kLanes));
  const double out_blocks = static_cast<double>(ceil_div(y.c, kLanes));
  const double tiles = static_cast<double>(ceil_div(y.h, kTile) * ceil_div(y.w, kTile));
  const double channels = static_cast<double>(x.c);
  const double images = static_cast<double>(y.n);
  const double direct = static_cast<double>(y.pixels()) * 9 * channels * out_blocks;
  const double points = kPoints * channels * out_blocks;
  const double winograd =
      tiles * (points + 250 * (in_blocks + out_blocks)) + points * kVectorBytes / 8 / images;
  return winograd < 0.8 * direct;
}

MadeKernel make_winograd(const Context& c, const Node& node, const ops::Conv2d& op) {
  auto k = std::make_unique<Winograd>(c, node, op);
  const Value w = node.input(1);
  const int64_t floats = int64_t{kPoints} * k->in.c * k->out_blocks * kLanes;
  k->weights = static_cast<const float*>(
      c.packed(w, FV_ISA_NAME " winograd 4x4", static_cast<size_t>(floats) * 4,
               [&](void* dst) { k->pack(w.constant<float>(), static_cast<float*>(dst)); }));
  k->bias = Floats64(static_cast<size_t>(k->out_blocks) * kLanes);
  if (!k->weights || !k->bias.data() || !k->zero.data()) return no_memory();
  if (const Value b = node.input(2))
    std::memcpy(k->bias.data(), b.constant<float>(), static_cast<size_t>(k->out.c) * 4);
  const Value out = node.output(0);
  k->tail = FusedTail::find(node, out);
  FV_ASSIGN(k->posts, Posts::make(node, out, k->tail.posts));
  return made(std::move(k));
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
