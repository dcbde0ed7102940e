// The register tile under convolution and matrix product:
//
//   y[p][o] (+)= sum over blocks b, taps t, lanes j of  x[b*pitch + tap[t] + p*PS + j*JS] *
//   w[..][o]
//
// P pixels times OB vectors of output channels stay in registers; each step loads OB weight
// vectors, broadcasts P scalars and does P*OB multiply-adds. Weights are packed in the order the
// loops read them, [b][t][j][2*kLanes] (or [kLanes] for a single vector): one sequential stream.
// OB = 4 walks two such streams side by side.
//
// The order of the sum depends on b, t, j only, never on P or OB: any split of the output gives
// the same bits.
#ifndef FOVEAL_CPU_COMMON_TILE_H_
#define FOVEAL_CPU_COMMON_TILE_H_

#include "base/simd.h"

namespace foveal::cpu {
inline namespace FV_ISA {

using namespace simd;

struct TileArgs {
  const float* x;
  int64_t block_pitch;  // floats
  const int32_t* taps;  // floats
  int tap_count;
  int blocks;
  int lanes;       // of every block but the last
  int last_lanes;  // of the last block
  const float* w;
  int64_t w_pair;  // OB = 4: floats from the first pair's stream to the second's
  float* y;
  int64_t y_block;        // floats between output channel blocks
  int64_t y_pixel;        // floats between pixels
  const float* bias;      // OB vectors: the sum starts here; NULL: it starts from y
  const float* residual;  // added at the end, addressed as y; may be NULL
  float low, high;        // clamp at the end; -inf, inf: none
  bool last;              // false: partial sum, no residual and clamp yet
  // Weights needed next, to be fetched into L2 meanwhile at a quarter of the pace at which this
  // tile reads its own; NULL: nothing.
  const float* prefetch;
};

// Pins a broadcast in a register. Folded into each multiply-add as a memory operand it would be
// loaded OB times, and two loads a cycle are the limit.
#if defined(__AVX__)
#define FV_KEEP(x) asm("" : "+v"(x))
#else
#define FV_KEEP(x)
#endif

using TileFn = void (*)(const TileArgs&);

template <int P, int OB, int PS, int JS>
FV_INLINE void tile_step(vf (&acc)[P][OB], const float* x, const float* w, int64_t w_pair) {
  vf b[OB];
#pragma GCC unroll 4
  for (int o = 0; o < OB; ++o) b[o] = load((o >= 2 ? w + w_pair : w) + (o & 1) * kLanes);
#pragma GCC unroll 32
  for (int p = 0; p < P; ++p) {
    vf a = splat(x[p * PS]);
    FV_KEEP(a);
#pragma GCC unroll 4
    for (int o = 0; o < OB; ++o) acc[p][o] += a * b[o];
  }
}

template <int P, int OB, int PS, int JS>
void tile(const TileArgs& t) {
  constexpr int kStep = OB == 1 ? kLanes : 2 * kLanes;  // weights per step and stream
  vf acc[P][OB];
  if (t.bias) {
#pragma GCC unroll 32
    for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
      for (int o = 0; o < OB; ++o) acc[p][o] = load(t.bias + o * kLanes);
  } else {
#pragma GCC unroll 32
    for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
      for (int o = 0; o < OB; ++o) acc[p][o] = load(t.y + o * t.y_block + p * t.y_pixel);
  }
  const float* w = t.w;
  const float* xb = t.x;
  const int64_t pair = t.w_pair;
  const float* next = t.prefetch;
  for (int b = 0; b < t.blocks; ++b, xb += t.block_pitch) {
    const int lanes = b + 1 == t.blocks ? t.last_lanes : t.lanes;
    for (int k = 0; k < t.tap_count; ++k) {
      const float* x = xb + t.taps[k];
      int j = lanes;
      for (; j >= 4; j -= 4, x += 4 * JS, w += 4 * kStep) {
        if (next) {
#pragma GCC unroll 4
          for (int i = 0; i < kStep; i += 16) __builtin_prefetch(next + i, 0, 2);
          next += kStep;
        }
        tile_step<P, OB, PS, JS>(acc, x, w, pair);
        tile_step<P, OB, PS, JS>(acc, x + JS, w + kStep, pair);
        tile_step<P, OB, PS, JS>(acc, x + 2 * JS, w + 2 * kStep, pair);
        tile_step<P, OB, PS, JS>(acc, x + 3 * JS, w + 3 * kStep, pair);
      }
      for (; j > 0; --j, x += JS, w += kStep) tile_step<P, OB, PS, JS>(acc, x, w, pair);
    }
  }
  if (t.last) {
    if (t.residual) {
#pragma GCC unroll 32
      for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
        for (int o = 0; o < OB; ++o) acc[p][o] += load(t.residual + o * t.y_block + p * t.y_pixel);
    }
    const vf low = splat(t.low), high = splat(t.high);
#pragma GCC unroll 32
    for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
      for (int o = 0; o < OB; ++o) acc[p][o] = v_min(v_max(acc[p][o], low), high);
  }
#pragma GCC unroll 32
  for (int p = 0; p < P; ++p)
#pragma GCC unroll 4
    for (int o = 0; o < OB; ++o) store(t.y + o * t.y_block + p * t.y_pixel, acc[p][o]);
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_TILE_H_
