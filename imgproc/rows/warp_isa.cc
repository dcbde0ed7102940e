// Compiled once per instruction set: the build defines FOVEAL_ISA and its compiler flags. Without
// fused multiply-add, so that positions are the same everywhere.
#include <cstring>

#include "imgproc/rows/warp.h"
#if defined(__AVX2__)
#include "imgproc/rows/warp_avx2.h"
#endif

#define FV_R __restrict

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

constexpr int kTurn = 16;                  // pixels at once
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

// The first `kSpan` bytes at p, little-endian, and perhaps more above them.
template <int kSpan>
inline uint32_t load(const uint8_t* p) {
  if constexpr (kSpan == 1) {
    return *p;
  } else if constexpr (kSpan == 2) {
    return p[0] | static_cast<uint32_t>(p[1]) << 8;
  } else {
    return p[0] | static_cast<uint32_t>(p[1]) << 8 | static_cast<uint32_t>(p[2]) << 16 |
           static_cast<uint32_t>(p[3]) << 24;
  }
}

template <int kSpan>
void sample_span(const WarpPlane& plane, const int32_t* FV_R px, const int32_t* FV_R py, int n,
                 float* const lane[3]) {
  uint32_t tap[4][kTurn] = {};
  int32_t u[kTurn] = {}, v[kTurn] = {};
  float out[kTurn];
  const uint8_t* const data = plane.data;
  const int32_t row = plane.row, pixel = plane.pixel;
  for (int from = 0; from < n; from += kTurn) {
    const int count = n - from < kTurn ? n - from : kTurn;
    for (int i = 0; i < count; ++i) {
      const int32_t x = px[from + i], y = py[from + i];
      const uint8_t* at = data + (y >> kWarpBits) * row + (x >> kWarpBits) * pixel;
      tap[0][i] = load<kSpan>(at);
      tap[1][i] = load<kSpan>(at + pixel);
      tap[2][i] = load<kSpan>(at + row);
      tap[3][i] = load<kSpan>(at + row + pixel);
      u[i] = x & (kWarpOne - 1);
      v[i] = y & (kWarpOne - 1);
    }
    for (int b = 0; b < kSpan; ++b) {
      const auto byte = [&](int t, int i) {
        return static_cast<int32_t>(tap[t][i] >> (8 * b) & 255);
      };
      for (int i = 0; i < kTurn; ++i) {
        const int32_t top = (byte(0, i) * (kWarpOne - u[i]) + byte(1, i) * u[i]) >> 7;
        const int32_t below = (byte(2, i) * (kWarpOne - u[i]) + byte(3, i) * u[i]) >> 7;
        out[i] = static_cast<float>(top * (kWarpOne - v[i]) + below * v[i]) * kUnit;
      }
      std::memcpy(lane[b] + from, out, static_cast<size_t>(count) * sizeof *out);
    }
  }
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
  float* rest[3] = {};
  for (int b = 0; b < plane.span; ++b) rest[b] = lane[b] + done;
  const auto& sample_rest = plane.span == 1   ? sample_span<1>
                            : plane.span == 2 ? sample_span<2>
                                              : sample_span<3>;
  sample_rest(plane, px + done, py + done, n - done, rest);
}

}  // namespace

extern const WarpKernels kWarpTable;
const WarpKernels kWarpTable = {positions, halve, sample};

}  // namespace foveal::imgproc::FOVEAL_ISA
