// Compiled once per instruction set: the build defines FOVEAL_ISA and its compiler flags.
#include "base/simd.h"
#include "imgproc/rows/filter.h"
#include "imgproc/rows/value.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

typedef float F32x8 __attribute__((vector_size(32)));
typedef float F32x8u __attribute__((vector_size(32), aligned(4), may_alias));
static_assert(padded_taps(1) % 8 == 0);

// Four blocks of columns at a time stay in registers while the rows go by.
template <int kColumns, class Element>
FV_INLINE void sum_block(const Element* base, const RowTaps<float>& t, float* __restrict out) {
  float sum[kColumns] = {};
  for (int k = 0; k < t.count; ++k) {
    const Element* row = base + k * t.stride;
    const float weight = t.weights[k];
#pragma GCC unroll 64
    for (int i = 0; i < kColumns; ++i) sum[i] += weight * value(row[i]);
  }
  std::memcpy(out, sum, sizeof sum);
}

// The same of floats, whose limits compilers make branches of.
FV_INLINE simd::vf values(const float* p) {
  const simd::vf v = simd::load(p);
  return simd::v_min(simd::from_bits(simd::bits(v) & (v > 0)), 1.0f);
}
FV_INLINE void sum_float_block(const float* base, const RowTaps<float>& t, float* out) {
  simd::vf sum[4] = {};
  for (int k = 0; k < t.count; ++k) {
    const simd::vf weight = simd::splat(t.weights[k]);
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sum[v] += weight * values(base + k * t.stride + v * simd::kLanes);
  }
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) simd::store(out + v * simd::kLanes, sum[v]);
}

template <class Element>
void sum_rows(const RowTaps<float>& t, int n, float* out) {
  const Element* base = reinterpret_cast<const Element*>(t.base);
  constexpr int kColumns = 4 * simd::kLanes;
  int i = 0;
  for (; i + kColumns <= n; i += kColumns) {
    if constexpr (std::is_same_v<Element, float>)
      sum_float_block(base + i, t, out + i);
    else
      sum_block<kColumns>(base + i, t, out + i);
  }
  for (; i < n; ++i) sum_block<1>(base + i, t, out + i);
}

template <int kPixel>
FV_INLINE void split_pixels(const float* __restrict in, int pixel, int span, int n,
                            float* const lane[3]) {
  const int step = kPixel ? kPixel : pixel;
  for (int b = 0; b < span; ++b) {
    float* __restrict out = lane[b];
    if (!out) continue;
    for (int i = 0; i < n; ++i) out[i] = in[i * step + b];
  }
}

void split(const float* in, int pixel, int span, int n, float* const lane[3]) {
  switch (pixel) {
    case 1:
      return split_pixels<1>(in, pixel, span, n, lane);
    case 2:
      return split_pixels<2>(in, pixel, span, n, lane);
    case 3:
      return split_pixels<3>(in, pixel, span, n, lane);
    case 4:
      return split_pixels<4>(in, pixel, span, n, lane);
    default:
      return split_pixels<0>(in, pixel, span, n, lane);
  }
}

void sum_line(const float* line, const LineTaps<float>& t, int n, float* out) {
  for (int i = 0; i < n; ++i) {
    const float* in = line + (t.first[i] - t.origin);
    const float* w = t.weights + static_cast<int64_t>(i) * t.taps;
    F32x8 sum = {};
    for (int k = 0; k < t.taps; k += 8)
      sum += *reinterpret_cast<const F32x8u*>(w + k) * *reinterpret_cast<const F32x8u*>(in + k);
    out[i] = ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
  }
}

}  // namespace

extern const FilterKernels kFilterTable;
const FilterKernels kFilterTable = {
    {sum_rows<uint8_t>, sum_rows<uint16_t>, sum_rows<float>}, split, sum_line};

}  // namespace foveal::imgproc::FOVEAL_ISA
