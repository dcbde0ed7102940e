// Packed 8-bit pixels, four a turn: part of kernels_isa.cc, for AVX2.
#ifndef FOVEAL_IMGPROC_ROWS_LANES_AVX2_H_
#define FOVEAL_IMGPROC_ROWS_LANES_AVX2_H_

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "imgproc/rows/kernels.h"

namespace foveal::imgproc::FOVEAL_ISA {

// Four bytes at each of two offsets as eight floats: all components of a left and a right tap.
// Faster than gather instructions on Zen 4.
inline __m256 two_taps(const uint8_t* base, int32_t left, int32_t right) {
  int32_t a, b;
  std::memcpy(&a, base + left, 4);
  std::memcpy(&b, base + right, 4);
  const __m128i words = _mm_insert_epi32(_mm_cvtsi32_si128(a), b, 1);
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(words));
}

// Weights of the left and of the right tap.
inline __m256 two_weights(const float* left, const float* right) {
  return _mm256_set_m128(_mm_broadcast_ss(right), _mm_broadcast_ss(left));
}

inline __m128 left_and_right(__m256 v) {
  return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
}

// Whether four bytes at all of these four offsets lie below `limit` + 4.
inline bool readable4(__m128i offsets, __m128i limit) {
  const __m128i over = _mm_cmpgt_epi32(offsets, limit);
  return _mm_testz_si128(over, over);
}
inline __m128i readable_limit(int64_t readable) {
  return _mm_set1_epi32(static_cast<int32_t>(std::clamp<int64_t>(readable - 4, -1, INT32_MAX)));
}
inline __m128i load4(const int32_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

// Components of four pixels, a pixel a vector, to rows.
inline void store4(__m128 p, __m128 q, __m128 r, __m128 s, int i, int bytes, float* const lane[3]) {
  const __m128 pq = _mm_unpacklo_ps(p, q), rs = _mm_unpacklo_ps(r, s);  // 0 0 1 1
  _mm_storeu_ps(lane[0] + i, _mm_movelh_ps(pq, rs));
  _mm_storeu_ps(lane[1] + i, _mm_movehl_ps(rs, pq));
  if (bytes > 2)
    _mm_storeu_ps(lane[2] + i, _mm_movelh_ps(_mm_unpackhi_ps(p, q), _mm_unpackhi_ps(r, s)));
}

// Returns how many pixels are done: all whole fours, up to one whose four bytes at a tap might lie
// beyond `readable`.
inline int gather_fours(const uint8_t* base, int64_t readable, int bytes, const Taps4& t,
                        const Weights4& w, int n, float* const lane[3]) {
  const __m128i limit = readable_limit(readable);
  const auto pixel = [&](int i) {
    const __m256 a = two_taps(base, t.o00[i], t.o01[i]), b = two_taps(base, t.o10[i], t.o11[i]);
    const __m256 top = _mm256_mul_ps(a, two_weights(w.w00 + i, w.w01 + i));
    return left_and_right(_mm256_add_ps(top, _mm256_mul_ps(b, two_weights(w.w10 + i, w.w11 + i))));
  };
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const __m128i top = _mm_max_epi32(load4(t.o00 + i), load4(t.o01 + i));
    const __m128i below = _mm_max_epi32(load4(t.o10 + i), load4(t.o11 + i));
    if (!readable4(_mm_max_epi32(top, below), limit)) break;
    store4(pixel(i), pixel(i + 1), pixel(i + 2), pixel(i + 3), i, bytes, lane);
  }
  return i;
}

}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_LANES_AVX2_H_
