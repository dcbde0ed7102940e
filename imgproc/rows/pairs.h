// Sums of pairs of products of 16-bit numbers, which every SIMD has an instruction for.
#ifndef FOVEAL_IMGPROC_ROWS_PAIRS_H_
#define FOVEAL_IMGPROC_ROWS_PAIRS_H_

#if defined(__SSE2__)
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

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_PAIRS_H_
