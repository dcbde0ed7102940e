// Colour and normalisation of float rows, for the files that are compiled once per instruction set:
// with products and sums fused where the machine can (kernels_isa.cc), or rounded one operation at
// a time (lerp_isa.cc). Contracts: Kernels.
#ifndef FOVEAL_IMGPROC_ROWS_COLOR_H_
#define FOVEAL_IMGPROC_ROWS_COLOR_H_

#include "imgproc/rows/round.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

inline void mix3(const float* __restrict a, const float* __restrict b, const float* __restrict c,
                 const float* __restrict inside, const float m[4], float border, int n,
                 float* __restrict out) {
  const float k0 = m[0], k1 = m[1], k2 = m[2], k3 = m[3];
  if (inside) {
    for (int i = 0; i < n; ++i)
      out[i] = k0 * a[i] + k1 * b[i] + k2 * c[i] + (k3 - border) * inside[i] + border;
  } else {
    // One product per sum, so that compilers fuse them in one way only, as in convert_isa.cc.
    for (int i = 0; i < n; ++i) out[i] = k0 * a[i] + (k1 * b[i] + (k2 * c[i] + k3));
  }
}

inline void mix1(const float* a, const float* __restrict inside, const float m[4], float border,
                 int n, float* out) {
  const float k0 = m[0], k3 = m[3];
  if (inside) {
    for (int i = 0; i < n; ++i) out[i] = k0 * a[i] + (k3 - border) * inside[i] + border;
  } else {
    for (int i = 0; i < n; ++i) out[i] = k0 * a[i] + k3;
  }
}

inline void finish(const float* in, bool round, float k, float b, int n, float* out) {
  if (round) {
    for (int i = 0; i < n; ++i) out[i] = round_even(clamp255(in[i])) * k + b;
  } else {
    for (int i = 0; i < n; ++i) out[i] = clamp255(in[i]) * k + b;
  }
}

inline void mix3_finish(const float* __restrict a, const float* __restrict b,
                        const float* __restrict c, const float m[4], bool round, float scale,
                        float bias, int n, float* __restrict out) {
  const float k0 = m[0], k1 = m[1], k2 = m[2], k3 = m[3];
  const auto level = [=](int i) { return clamp255(k0 * a[i] + (k1 * b[i] + (k2 * c[i] + k3))); };
  if (round) {
    for (int i = 0; i < n; ++i) out[i] = round_even(level(i)) * scale + bias;
  } else {
    for (int i = 0; i < n; ++i) out[i] = level(i) * scale + bias;
  }
}

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_COLOR_H_
