// Bilinear sampling of bytes for AVX-512 with VBMI: sixteen pixels' taps are picked out of a window
// of 128 bytes by one permutation, and only they are blended. See lerp.h.
#include <immintrin.h>

#include <algorithm>

#include "base/simd.h"
#include "imgproc/rows/lerp.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

constexpr int kPixels = 16;
constexpr int kVector = 64;  // bytes

struct Window {
  __m512i low, high;
};

// Bytes at or beyond p + readable count as 0.
FV_INLINE Window load(const uint8_t* p, int64_t readable) {
  if (readable >= kLerpWindow) return {_mm512_loadu_si512(p), _mm512_loadu_si512(p + kVector)};
  const auto part = [&](int64_t from) {
    const int64_t own = std::clamp<int64_t>(readable - from, 0, kVector);
    const __mmask64 mask = own > 0 ? ~uint64_t{0} >> (kVector - own) : 0;
    return _mm512_maskz_loadu_epi8(mask, p + from);
  };
  return {part(0), part(kVector)};
}

// The two bytes that each word pair of `index` names, as words.
FV_INLINE __m512i pick(Window w, __m512i index) {
  return _mm512_maskz_permutex2var_epi8(0x5555555555555555, w.low, index, w.high);
}

// kBlends: the rows differ, and both count.
template <int kSpan, bool kBlends>
void line(const LerpRows& rows, const LerpTaps& t, float gain, int n, float* const lane[3]) {
  // Stores to `out` could be to all of these.
  const uint8_t *const row_a = rows.a, *const row_b = rows.b;
  const uint8_t *const next_a = rows.next_a, *const next_b = rows.next_b;
  const int64_t readable_a = rows.readable_a, readable_b = rows.readable_b;
  const int32_t *const o0 = t.o0, *const o1 = t.o1, *const w = t.w;
  float* out[kSpan];
  for (int c = 0; c < kSpan; ++c) out[c] = lane[c];
  const __m512i weight = _mm512_set1_epi16(static_cast<int16_t>(rows.weight));
  const __m512 unit = _mm512_set1_ps(gain);
  for (int i = 0; i < n; i += kPixels) {
    const int last = std::min(i + kPixels, n) - 1;
    const __mmask16 some = static_cast<__mmask16>(0xFFFF >> (i + kPixels - 1 - last));
    // Offsets rise or fall.
    const int64_t from = std::min(std::min(o0[i], o1[i]), std::min(o0[last], o1[last]));
    if (next_a) {
      for (int64_t ahead = from; ahead < from + kLerpWindow; ahead += kVector) {
        __builtin_prefetch(next_a + ahead);
        __builtin_prefetch(next_b + ahead);
      }
    }
    const __m512i first = _mm512_maskz_loadu_epi32(some, o0 + i);
    const __m512i second = _mm512_maskz_loadu_epi32(some, o1 + i);
    const __m512i origin = _mm512_set1_epi32(static_cast<int32_t>(from * 0x10001));
    const __m512i index =
        _mm512_sub_epi32(_mm512_add_epi32(first, _mm512_slli_epi32(second, 16)), origin);
    const __m512i weights = _mm512_maskz_loadu_epi32(some, w + i);
    const Window a = load(row_a + from, readable_a - from);
    const Window b = kBlends ? load(row_b + from, readable_b - from) : a;
#pragma GCC unroll 3
    for (int c = 0; c < kSpan; ++c) {
      const __m512i at = _mm512_add_epi32(index, _mm512_set1_epi32(c * 0x10001));
      const __m512i x = pick(a, at);
      __m512i v = _mm512_slli_epi16(x, 7);
      if (kBlends) {
        const __m512i change = _mm512_slli_epi16(_mm512_sub_epi16(pick(b, at), x), 7);
        v = _mm512_add_epi16(v, _mm512_mulhrs_epi16(change, weight));
      }
      const __m512 sums = _mm512_cvtepi32_ps(_mm512_madd_epi16(v, weights));
      if (out[c]) _mm512_mask_storeu_ps(out[c] + i, some, _mm512_mul_ps(sums, unit));
    }
  }
}

template <int kSpan>
void line_of(const LerpRows& rows, const LerpTaps& t, float gain, int n, float* const lane[3]) {
  if (rows.a != rows.b && rows.weight != 0)
    line<kSpan, true>(rows, t, gain, n, lane);
  else
    line<kSpan, false>(rows, t, gain, n, lane);
}

void windows(const LerpRows& rows, int span, const LerpTaps& t, float gain, int n,
             float* const lane[3]) {
  if (span == 1) return line_of<1>(rows, t, gain, n, lane);
  if (span == 2) return line_of<2>(rows, t, gain, n, lane);
  line_of<3>(rows, t, gain, n, lane);
}

}  // namespace

extern const LerpWindows kLerpWindows;
const LerpWindows kLerpWindows = windows;

}  // namespace foveal::imgproc::FOVEAL_ISA
