// Colour and normalisation of float rows. Compiled once per instruction set.
#include "imgproc/rows/kernels.h"
#include "imgproc/rows/round.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

void mix3(const float* __restrict a, const float* __restrict b, const float* __restrict c,
          const float* __restrict inside, const float m[4], float border, int n,
          float* __restrict out) {
  const float k0 = m[0], k1 = m[1], k2 = m[2], k3 = m[3];
  if (inside) {
    for (int i = 0; i < n; ++i)
      out[i] = k0 * a[i] + k1 * b[i] + k2 * c[i] + (k3 - border) * inside[i] + border;
  } else {
    // In this order in convert_isa.cc, too.
    for (int i = 0; i < n; ++i) out[i] = k0 * a[i] + (k1 * b[i] + (k2 * c[i] + k3));
  }
}

void mix1(const float* a, const float* __restrict inside, const float m[4], float border, int n,
          float* out) {
  const float k0 = m[0], k3 = m[3];
  if (inside) {
    for (int i = 0; i < n; ++i) out[i] = k0 * a[i] + (k3 - border) * inside[i] + border;
  } else {
    for (int i = 0; i < n; ++i) out[i] = k0 * a[i] + k3;
  }
}

void finish(const float* in, bool round, float k, float b, int n, float* out) {
  if (round) {
    for (int i = 0; i < n; ++i) out[i] = round_even(clamp255(in[i])) * k + b;
  } else {
    for (int i = 0; i < n; ++i) out[i] = clamp255(in[i]) * k + b;
  }
}

void mix3_finish(const float* __restrict a, const float* __restrict b, const float* __restrict c,
                 const float m[4], bool round, float scale, float bias, int n,
                 float* __restrict out) {
  const float k0 = m[0], k1 = m[1], k2 = m[2], k3 = m[3];
  const auto level = [=](int i) { return clamp255(k0 * a[i] + (k1 * b[i] + (k2 * c[i] + k3))); };
  if (round) {
    for (int i = 0; i < n; ++i) out[i] = round_even(level(i)) * scale + bias;
  } else {
    for (int i = 0; i < n; ++i) out[i] = level(i) * scale + bias;
  }
}

}  // namespace

extern const ColorKernels kColorTable;
const ColorKernels kColorTable = {mix3, mix1, finish, mix3_finish};

}  // namespace foveal::imgproc::FOVEAL_ISA
