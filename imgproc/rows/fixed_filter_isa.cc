// Filters of bytes in whole numbers. Compiled once per instruction set, like filter_isa.cc; all of
// them give the same numbers.
#include <cstring>

#include "base/simd.h"
#include "imgproc/rows/filter.h"
#if defined(__SSE2__) || defined(__wasm_simd128__)
#define FV_BLOCKS
#include "imgproc/rows/fixed_filter_blocks.h"
#elif defined(__aarch64__)
#define FV_BLOCKS
#include "imgproc/rows/fixed_filter_neon.h"
#endif

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

// kColumns sums stay in registers while the rows go by.
template <int kColumns>
FV_INLINE void sum_columns(const RowTaps<int16_t>& t, int shift, int from,
                           int16_t* __restrict out) {
  int32_t sum[kColumns] = {};
  for (int k = 0; k < t.count; ++k) {
    const uint8_t* row = t.base + k * t.stride + from;
    const int16_t weight = t.weights[k];
#pragma GCC unroll 64
    for (int i = 0; i < kColumns; ++i) sum[i] += int16_t{row[i]} * weight;
  }
  const int32_t half = 1 << (shift - 1);
#pragma GCC unroll 64
  for (int i = 0; i < kColumns; ++i) out[from + i] = static_cast<int16_t>((half - sum[i]) >> shift);
}

void sum_rows(const RowTaps<int16_t>& t, ReadAhead next, int shift, int n, int16_t* out) {
  int i = 0;
#if defined(FV_BLOCKS)
  i = sum_row_blocks(t, next, shift, n, out);
#else
  constexpr int kColumns = 32;
  for (; i + kColumns <= n; i += kColumns) {
    next.advance(kColumns);
    sum_columns<kColumns>(t, shift, i, out);
  }
#endif
  for (; i < n; ++i) sum_columns<1>(t, shift, i, out);
}

void sum_two(const RowTaps<int16_t> t[2], ReadAhead next, int shift, int n, int16_t* const out[2]) {
#if defined(__AVX512VBMI__)
  if (sum_two_blocks(t, next, shift, n, out)) return;
#endif
  sum_rows(t[0], next, shift, n, out[0]);
  sum_rows(t[1], {}, shift, n, out[1]);
}

template <int kPixel>
FV_INLINE void split_pixels(const int16_t* __restrict in, int pixel, int span, int from, int n,
                            int16_t* const lane[3]) {
  const int step = kPixel ? kPixel : pixel;
  for (int b = 0; b < span; ++b) {
    int16_t* __restrict out = lane[b];
    if (!out) continue;
    for (int i = from; i < n; ++i) out[i] = in[i * step + b];
  }
}

void split(const int16_t* in, int pixel, int span, int n, int16_t* const lane[3]) {
  int from = 0;
#if defined(__AVX2__)
  if (pixel == 3 && span == 3 && lane[0] && lane[1] && lane[2]) from = split_threes(in, n, lane);
#endif
  switch (pixel) {
    case 2:
      return split_pixels<2>(in, pixel, span, from, n, lane);
    case 3:
      return split_pixels<3>(in, pixel, span, from, n, lane);
    case 4:
      return split_pixels<4>(in, pixel, span, from, n, lane);
    default:
      return split_pixels<0>(in, pixel, span, from, n, lane);
  }
}

void sum_line(const int16_t* line, const LineTaps<int16_t>& t, float unit, int n, float* out) {
  int i = 0;
#if defined(__AVX2__)
  i = sum_line_blocks(line, t, unit, n, out);
#endif
  for (; i < n; ++i) {
    const int16_t* in = line + (t.first[i] - t.origin);
    const int16_t* w = t.weights + static_cast<int64_t>(i) * t.taps;
    int32_t sum = 0;
    for (int k = 0; k < t.taps; k += 8)
      for (int j = k; j < k + 8; ++j) sum += in[j] * w[j];
    out[i] = static_cast<float>(sum) * -unit;
  }
}

}  // namespace

extern const FixedFilterKernels kFixedFilterTable;
const FixedFilterKernels kFixedFilterTable = {sum_rows, sum_two, split, sum_line};

}  // namespace foveal::imgproc::FOVEAL_ISA
