// Blocks of columns for NEON: part of fixed_filter_isa.cc. Compilers keep too much of the plain
// loops in registers, and spill.
#ifndef FOVEAL_IMGPROC_ROWS_FIXED_FILTER_NEON_H_
#define FOVEAL_IMGPROC_ROWS_FIXED_FILTER_NEON_H_

#include <arm_neon.h>

#include "base/simd.h"
#include "imgproc/rows/filter.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

// Columns [from, from + 16 kVectors); four accumulators for each vector of bytes.
template <int kVectors>
FV_INLINE void sum_block(const RowTaps<int16_t>& t, int shift, int from, int16_t* out) {
  int32x4_t sum[kVectors][4];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v)
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) sum[v][q] = vdupq_n_s32(0);
  for (int k = 0; k < t.count; ++k) {
    const uint8_t* row = t.base + k * t.stride + from;
    const int16x8_t weight = vdupq_n_s16(t.weights[k]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const uint8x16_t bytes = vld1q_u8(row + 16 * v);
      const int16x8_t low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes)));
      const int16x8_t high = vreinterpretq_s16_u16(vmovl_high_u8(bytes));
      sum[v][0] = vmlal_s16(sum[v][0], vget_low_s16(low), vget_low_s16(weight));
      sum[v][1] = vmlal_high_s16(sum[v][1], low, weight);
      sum[v][2] = vmlal_s16(sum[v][2], vget_low_s16(high), vget_low_s16(weight));
      sum[v][3] = vmlal_high_s16(sum[v][3], high, weight);
    }
  }
  const int32x4_t half = vdupq_n_s32(1 << (shift - 1)), by = vdupq_n_s32(-shift);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v)
#pragma GCC unroll 2
    for (int q = 0; q < 4; q += 2) {
      const int32x4_t a = vshlq_s32(vsubq_s32(half, sum[v][q]), by);
      const int32x4_t b = vshlq_s32(vsubq_s32(half, sum[v][q + 1]), by);
      vst1q_s16(out + from + 16 * v + 4 * q, vmovn_high_s32(vmovn_s32(a), b));
    }
}

// sum_rows of as many whole blocks as there are; returns the columns done.
int sum_row_blocks(const RowTaps<int16_t>& t, ReadAhead next, int shift, int n, int16_t* out) {
  constexpr int kMost = 4;
  int i = 0;
  for (; i + 16 * kMost <= n; i += 16 * kMost) {
    next.advance(16 * kMost);
    sum_block<kMost>(t, shift, i, out);
  }
  for (; i + 16 <= n; i += 16) sum_block<1>(t, shift, i, out);
  return i;
}

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_FIXED_FILTER_NEON_H_
