// Packed 8-bit pixels, eight a turn: part of kernels_isa.cc, for AVX2.
#ifndef FOVEAL_IMGPROC_ROWS_LANES_AVX2_H_
#define FOVEAL_IMGPROC_ROWS_LANES_AVX2_H_

#include <immintrin.h>

#include <algorithm>

#include "imgproc/rows/kernels.h"

namespace foveal::imgproc::FOVEAL_ISA {

inline __m256i load8(const int32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// Four bytes at each of eight offsets.
inline __m256i words8(const uint8_t* base, __m256i offset) {
  return _mm256_i32gather_epi32(reinterpret_cast<const int*>(base), offset, 1);
}

// Component `kShift / 8` of four taps, weighted.
template <int kShift>
inline void blend8(const __m256i t[4], const __m256 w[4], float* out) {
  const __m256i low = _mm256_set1_epi32(0xFF);
  const auto value = [&](int k) {
    return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(t[k], kShift), low));
  };
  const __m256 top = _mm256_fmadd_ps(w[1], value(1), _mm256_mul_ps(w[0], value(0)));
  const __m256 below = _mm256_fmadd_ps(w[3], value(3), _mm256_mul_ps(w[2], value(2)));
  _mm256_storeu_ps(out, _mm256_add_ps(top, below));
}

inline void blend_lanes8(const __m256i t[4], const __m256 w[4], int i, float* const lane[3],
                         int bytes) {
  blend8<0>(t, w, lane[0] + i);
  blend8<8>(t, w, lane[1] + i);
  if (bytes > 2) blend8<16>(t, w, lane[2] + i);
}

// Pixels done: all whole eights, unless four bytes at a tap might lie beyond `readable`.
inline int sample_eights(const uint8_t* r0, int64_t readable0, const uint8_t* r1, int64_t readable1,
                         int bytes, XTaps t, float v0, float v1, int n, float* const lane[3]) {
  const int64_t limit = std::min(readable0, readable1) - 4;
  const __m256 top = _mm256_set1_ps(v0), below = _mm256_set1_ps(v1);
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i a = load8(t.o0 + i), b = load8(t.o1 + i);
    const __m256i over = _mm256_cmpgt_epi32(
        _mm256_max_epi32(a, b),
        _mm256_set1_epi32(static_cast<int32_t>(std::clamp<int64_t>(limit, -1, INT32_MAX))));
    if (!_mm256_testz_si256(over, over)) break;
    const __m256i words[4] = {words8(r0, a), words8(r0, b), words8(r1, a), words8(r1, b)};
    const __m256 w0 = _mm256_loadu_ps(t.w0 + i), w1 = _mm256_loadu_ps(t.w1 + i);
    const __m256 w[4] = {_mm256_mul_ps(top, w0), _mm256_mul_ps(top, w1), _mm256_mul_ps(below, w0),
                         _mm256_mul_ps(below, w1)};
    blend_lanes8(words, w, i, lane, bytes);
  }
  return i;
}

inline int gather_eights(const uint8_t* base, int64_t readable, int bytes, const Taps4& t,
                         const Weights4& w, int n, float* const lane[3]) {
  const __m256i limit =
      _mm256_set1_epi32(static_cast<int32_t>(std::clamp<int64_t>(readable - 4, -1, INT32_MAX)));
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i o[4] = {load8(t.o00 + i), load8(t.o01 + i), load8(t.o10 + i), load8(t.o11 + i)};
    const __m256i most =
        _mm256_max_epi32(_mm256_max_epi32(o[0], o[1]), _mm256_max_epi32(o[2], o[3]));
    const __m256i over = _mm256_cmpgt_epi32(most, limit);
    if (!_mm256_testz_si256(over, over)) break;
    const __m256i words[4] = {words8(base, o[0]), words8(base, o[1]), words8(base, o[2]),
                              words8(base, o[3])};
    const __m256 weights[4] = {_mm256_loadu_ps(w.w00 + i), _mm256_loadu_ps(w.w01 + i),
                               _mm256_loadu_ps(w.w10 + i), _mm256_loadu_ps(w.w11 + i)};
    blend_lanes8(words, weights, i, lane, bytes);
  }
  return i;
}

}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_LANES_AVX2_H_
