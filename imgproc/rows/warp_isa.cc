// Compiled once per instruction set: the build defines FOVEAL_ISA and its compiler flags. Without
// fused multiply-add, so that positions are the same everywhere.
#include <cstring>

#include "imgproc/rows/pairs.h"
#include "imgproc/rows/warp.h"
#if defined(__AVX2__)
#include "imgproc/rows/warp_avx2.h"
#endif

#define FV_R __restrict

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

typedef uint8_t U8x16 __attribute__((vector_size(16)));

constexpr float kUnit = 1.0f / (1 << 21);  // of a result: 14 + 14 - 7 bits

constexpr double kRound = 0.5;  // what is cut off afterwards rounds half up
constexpr double kHalfPixel = kWarpOne / 2;

inline int32_t within(int32_t v, int32_t most) {
  v = v > 0 ? v : 0;
  return v < most ? v : most;
}

// start + slope * i, counted with 20 more bits. Positions of 1e8 pixels, the most that a map has,
// fit 64 bits.
void ramp(double start, double slope, int n, int32_t most, int32_t* FV_R out) {
  constexpr int kMore = 20;
  const uint64_t step = static_cast<uint64_t>(static_cast<int64_t>(slope * (1 << kMore)));
  uint64_t at = static_cast<uint64_t>(static_cast<int64_t>(start * (1 << kMore)));
  for (int i = 0; i < n; ++i, at += step) out[i] = within(static_cast<int32_t>(at >> kMore), most);
}

// Apart from their computation, or GCC selects among halves of vectors. 0 for what is not a number.
void to_whole(double* FV_R v, int n, double most, int32_t* FV_R out) {
  for (int i = 0; i < n; ++i) {
    v[i] = v[i] > 0 ? v[i] : 0;
    v[i] = v[i] < most ? v[i] : most;
  }
  for (int i = 0; i < n; ++i) out[i] = static_cast<int32_t>(v[i]);
}

void positions(const LinearMap& m, double x, double y, int n, int32_t most_x, int32_t most_y,
               int32_t* FV_R px, int32_t* FV_R py) {
  const double bx = m.x[1] * y + m.x[2], by = m.y[1] * y + m.y[2], bw = m.w[1] * y + m.w[2];
  const double sx = m.x[0], sy = m.y[0], sw = m.w[0];
  if (!m.projective) {
    ramp((sx * x + bx) * kWarpOne - (kHalfPixel - kRound), sx * kWarpOne, n, most_x, px);
    ramp((sy * x + by) * kWarpOne - (kHalfPixel - kRound), sy * kWarpOne, n, most_y, py);
    return;
  }
  alignas(64) double vx[kChunk], vy[kChunk];
  for (int i = 0; i < n; ++i) {
    const double d = x + i, r = kWarpOne / (sw * d + bw);
    vx[i] = (sx * d + bx) * r - (kHalfPixel - kRound);
    vy[i] = (sy * d + by) * r - (kHalfPixel - kRound);
  }
  to_whole(vx, n, most_x, px);
  to_whole(vy, n, most_y, py);
}

void halve(const int32_t* FV_R p, int odd, int n, int32_t* FV_R out) {
  // Both taps of an even pixel are of one sample: the left one, whatever the weights.
  for (int i = 0; i < n; ++i) {
    const int32_t at = p[i] + (odd << kWarpBits);
    const int32_t between = at >> kWarpBits & 1 ? at & (kWarpOne - 1) : 0;
    out[i] = (at >> (kWarpBits + 1) << kWarpBits) + between;
  }
}

// Weights of both taps as adjacent 16-bit numbers.
inline I32x4 weights(I32x4 position) {
  const I32x4 second = position & (kWarpOne - 1);
  return (kWarpOne - second) | second << 16;
}

// Of left and right taps as adjacent 16-bit numbers.
inline F32x4 blend(I16x8 top, I16x8 below, I32x4 wx, I32x4 wy) {
  const I32x4 upper = pair_sums(top, (I16x8)wx) >> 7, lower = pair_sums(below, (I16x8)wx) >> 7;
  const I32x4 both = pair_sums((I16x8)(upper | lower << 16), (I16x8)wy);
  return __builtin_convertvector(both, F32x4) * kUnit;
}

inline U8x16 interleave(U8x16 a, U8x16 b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

// Three components of a pixel and of the one right of it, in pairs; the last pair is anything.
inline I16x8 three_pairs(const uint8_t* at, int pixel) {
  const I32x4 left = {load_as<int32_t>(at)}, right = {load_as<int32_t>(at + pixel)};
  return (I16x8)interleave(interleave((U8x16)left, (U8x16)right), U8x16{});
}

// Component b of both pixels of each word; see load_pair.
inline I16x8 pairs_of(I32x4 word, bool adjacent, int b) {
  if (adjacent) return (I16x8)((word & 0xFF) | (word & 0xFF00) << 8);
  return (I16x8)(word >> 8 * b & 0x00FF00FF);
}

// Two pixels of 2 bytes, or the components of two adjacent ones.
inline int32_t load_pair(const uint8_t* at, int pixel) {
  return pixel <= 2 ? load_as<int32_t>(at) : at[0] | at[pixel] << 8;
}

template <int kSpan>
inline void sample_four(const WarpPlane& plane, const int32_t* px, const int32_t* py,
                        F32x4 out[kSpan]) {
  const int32_t row = plane.row, pixel = plane.pixel;
  const I32x4 wx = weights(load_as<I32x4>(px)), wy = weights(load_as<I32x4>(py));
  const auto at = [&](int i) {
    return plane.data + (py[i] >> kWarpBits) * row + (px[i] >> kWarpBits) * pixel;
  };
  if constexpr (kSpan == 3) {
    F32x4 v[4];
    for (int i = 0; i < 4; ++i)
      v[i] = blend(three_pairs(at(i), pixel), three_pairs(at(i) + row, pixel),
                   I32x4{wx[i], wx[i], wx[i], wx[i]}, I32x4{wy[i], wy[i], wy[i], wy[i]});
    for (int b = 0; b < 3; ++b) out[b] = F32x4{v[0][b], v[1][b], v[2][b], v[3][b]};
  } else {
    I32x4 top, below;
    for (int i = 0; i < 4; ++i) {
      top[i] = load_pair(at(i), pixel);
      below[i] = load_pair(at(i) + row, pixel);
    }
    const bool adjacent = pixel != 2;
    for (int b = 0; b < kSpan; ++b)
      out[b] = blend(pairs_of(top, adjacent, b), pairs_of(below, adjacent, b), wx, wy);
  }
}

template <int kSpan>
void sample_span(const WarpPlane& plane, const int32_t* px, const int32_t* py, int from, int n,
                 float* const lane[3]) {
  F32x4 out[kSpan];
  int i = from;
  for (; i + 4 <= n; i += 4) {
    sample_four<kSpan>(plane, px + i, py + i, out);
    for (int b = 0; b < kSpan; ++b) std::memcpy(lane[b] + i, &out[b], sizeof out[b]);
  }
  if (i == n) return;
  const size_t rest = static_cast<size_t>(n - i);
  int32_t x[4] = {}, y[4] = {};
  std::memcpy(x, px + i, rest * sizeof *x);
  std::memcpy(y, py + i, rest * sizeof *y);
  sample_four<kSpan>(plane, x, y, out);
  for (int b = 0; b < kSpan; ++b) std::memcpy(lane[b] + i, &out[b], rest * sizeof(float));
}

void sample(const WarpPlane& plane, const int32_t* px, const int32_t* py, int n,
            float* const lane[3]) {
  int done = 0;
#if defined(__AVX2__)
  if (plane.span > 2)
    done = sample_wide(plane, px, py, n, lane);
  else if (plane.pixel <= 2)
    done = sample_narrow(plane, px, py, n, lane);
#endif
  if (plane.span == 1) return sample_span<1>(plane, px, py, done, n, lane);
  if (plane.span == 2) return sample_span<2>(plane, px, py, done, n, lane);
  sample_span<3>(plane, px, py, done, n, lane);
}

}  // namespace

extern const WarpKernels kWarpTable;
const WarpKernels kWarpTable = {positions, halve, sample};

}  // namespace foveal::imgproc::FOVEAL_ISA
