// Products of 16-bit numbers, summed in pairs or rounded: what SIMDs have instructions for, and
// compilers do not find in loops.
#ifndef FOVEAL_IMGPROC_ROWS_PAIRS_H_
#define FOVEAL_IMGPROC_ROWS_PAIRS_H_

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif

#include <cstdint>
#include <cstring>

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

typedef int16_t I16x8 __attribute__((vector_size(16)));
typedef int32_t I32x4 __attribute__((vector_size(16)));
typedef int64_t I64x2 __attribute__((vector_size(16)));
typedef float F32x4 __attribute__((vector_size(16)));

#if defined(__AVX2__)
constexpr int kWideBytes = 32;
#else
constexpr int kWideBytes = 16;
#endif
constexpr int kWideLanes = kWideBytes / 2;
typedef int16_t I16Wide __attribute__((vector_size(kWideBytes)));

template <class T>
inline T load_as(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// Lane i: a[2 i] b[2 i] + a[2 i + 1] b[2 i + 1].
inline I32x4 pair_sums(I16x8 a, I16x8 b) {
#if defined(__SSE2__)
  return (I32x4)_mm_madd_epi16((__m128i)a, (__m128i)b);
#elif defined(__aarch64__)
  const int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
  return (I32x4)vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
#elif defined(__wasm_simd128__)
  return (I32x4)wasm_i32x4_dot_i16x8((v128_t)a, (v128_t)b);
#else
  I32x4 sums;
  for (int i = 0; i < 4; ++i) sums[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
  return sums;
#endif
}

inline I16Wide widen(const uint8_t* p) {
#if defined(__AVX2__)
  return (I16Wide)_mm256_cvtepu8_epi16(load_as<__m128i>(p));
#else
  typedef uint8_t U8x8 __attribute__((vector_size(8)));
  return __builtin_convertvector(load_as<U8x8>(p), I16Wide);
#endif
}

// Lane i: (a[i] b[i] + 2^14) >> 15; not for a[i] = b[i] = -2^15.
inline I16Wide rounded_products(I16Wide a, I16Wide b) {
#if defined(__AVX2__)
  return (I16Wide)_mm256_mulhrs_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  const __m128i low = _mm_mullo_epi16((__m128i)a, (__m128i)b);
  const __m128i high = _mm_mulhi_epi16((__m128i)a, (__m128i)b);
  const __m128i quarters = _mm_srli_epi16(low, 14), one = _mm_set1_epi16(1);
  const __m128i rounded = _mm_srli_epi16(_mm_add_epi16(quarters, one), 1);
  return (I16Wide)_mm_add_epi16(_mm_slli_epi16(high, 1), rounded);
#elif defined(__aarch64__)
  return (I16Wide)vqrdmulhq_s16((int16x8_t)a, (int16x8_t)b);
#elif defined(__wasm_simd128__)
  return (I16Wide)wasm_i16x8_q15mulr_sat((v128_t)a, (v128_t)b);
#else
  I16Wide products;
  for (int i = 0; i < kWideLanes; ++i)
    products[i] = static_cast<int16_t>((a[i] * b[i] + (1 << 14)) >> 15);
  return products;
#endif
}

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_PAIRS_H_
