// SIMD for every CPU: one vector type over GCC/Clang vector extensions.
//
// The width follows the flags of the translation unit: 16 floats for AVX-512, 8 for AVX2, 4 for
// SSE, NEON and WASM. Everything lies in an inline namespace named after FV_ISA, so that the same
// source compiled once per instruction set may be linked into one library. Code written with T
// and the v_* functions works for T = vf and T = float alike.
//
// NaN: v_max(a, b) and v_min(a, b) return a when either is NaN, so put the data first and the
// constant second and NaN travels through; v_max_nan and v_min_nan propagate both.
// a * b + c contracts to a fused multiply-add where the machine has one (-ffp-contract=fast).
#ifndef FOVEAL_BASE_SIMD_H_
#define FOVEAL_BASE_SIMD_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#ifndef FV_ISA
#if defined(__AVX512F__)
#define FV_ISA avx512
#elif defined(__AVX2__)
#define FV_ISA avx2
#else
#define FV_ISA base
#endif
#endif

#define FV_INLINE inline __attribute__((always_inline))
#define FV_NOINLINE __attribute__((noinline))

// Vectors are only passed to functions that are inlined: no ABI to worry about.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace foveal::simd {
inline namespace FV_ISA {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
inline constexpr int kRegisters = 32;
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
inline constexpr int kRegisters = 16;
#elif defined(__aarch64__)
inline constexpr int kLanes = 4;
inline constexpr int kRegisters = 32;
#else
inline constexpr int kLanes = 4;
inline constexpr int kRegisters = 16;
#endif
inline constexpr int kVectorBytes = kLanes * 4;

typedef float vf __attribute__((vector_size(kVectorBytes)));
typedef int32_t vi __attribute__((vector_size(kVectorBytes)));
typedef float vf_unaligned __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));

// ---- Load, store, broadcast ----------------------------------------------------------------

FV_INLINE vf splat(float x) { return x - vf{}; }  // minus: -0 stays -0, so it folds to a broadcast
FV_INLINE vf load(const float* p) { return *reinterpret_cast<const vf_unaligned*>(p); }
FV_INLINE void store(float* p, vf x) { *reinterpret_cast<vf_unaligned*>(p) = x; }
// p is a multiple of kVectorBytes.
FV_INLINE vf load_aligned(const float* p) {
  return *static_cast<const vf*>(__builtin_assume_aligned(p, kVectorBytes));
}
FV_INLINE void store_aligned(float* p, vf x) {
  *static_cast<vf*>(__builtin_assume_aligned(p, kVectorBytes)) = x;
}
// First n lanes, 0 <= n <= kLanes; the others read as zero and are not written.
FV_INLINE vf load_n(const float* p, int n) {
  vf x{};
  std::memcpy(&x, p, static_cast<size_t>(n) * 4);
  return x;
}
FV_INLINE void store_n(float* p, vf x, int n) { std::memcpy(p, &x, static_cast<size_t>(n) * 4); }

template <class T>
FV_INLINE T load_as(const float* p) {
  if constexpr (sizeof(T) == 4)
    return *p;
  else
    return load(p);
}
FV_INLINE void store(float* p, float x) { *p = x; }

// Lane numbers 0, 1, 2, ...
template <int... I>
FV_INLINE vi lane_numbers_(std::integer_sequence<int, I...>) {
  return vi{I...};
}
FV_INLINE vi lane_numbers() { return lane_numbers_(std::make_integer_sequence<int, kLanes>()); }

// ---- Bits, conversion, selection ------------------------------------------------------------

FV_INLINE vi bits(vf x) { return reinterpret_cast<vi>(x); }
FV_INLINE vf from_bits(vi x) { return reinterpret_cast<vf>(x); }
FV_INLINE int32_t bits(float x) {
  int32_t i;
  std::memcpy(&i, &x, 4);
  return i;
}
FV_INLINE float from_bits(int32_t i) {
  float x;
  std::memcpy(&x, &i, 4);
  return x;
}
// Toward zero; the caller keeps |x| < 2^31.
FV_INLINE vi to_int(vf x) { return __builtin_convertvector(x, vi); }
FV_INLINE int32_t to_int(float x) { return static_cast<int32_t>(x); }
FV_INLINE vf to_float(vi x) { return __builtin_convertvector(x, vf); }
FV_INLINE float to_float(int32_t x) { return static_cast<float>(x); }

FV_INLINE vf v_select(vi mask, vf a, vf b) { return mask ? a : b; }
FV_INLINE float v_select(bool mask, float a, float b) { return mask ? a : b; }
FV_INLINE bool any(vi mask) {
  int32_t r = 0;
  for (int i = 0; i < kLanes; ++i) r |= mask[i];
  return r != 0;
}
FV_INLINE bool any(bool mask) { return mask; }

// ---- Arithmetic beyond the operators ----------------------------------------------------------

FV_INLINE vf v_max(vf a, vf b) { return b > a ? b : a; }
FV_INLINE vf v_min(vf a, vf b) { return b < a ? b : a; }
FV_INLINE float v_max(float a, float b) { return b > a ? b : a; }
FV_INLINE float v_min(float a, float b) { return b < a ? b : a; }
FV_INLINE vf v_max(vf a, float b) { return v_max(a, splat(b)); }
FV_INLINE vf v_min(vf a, float b) { return v_min(a, splat(b)); }
template <class T>
FV_INLINE T v_max_nan(T a, T b) {
  return v_select(b != b, b, v_max(a, b));
}
template <class T>
FV_INLINE T v_min_nan(T a, T b) {
  return v_select(b != b, b, v_min(a, b));
}
template <class T>
FV_INLINE T v_clamp(T x, float lo, float hi) {
  return v_min(v_max(x, lo), hi);
}

FV_INLINE vf v_abs(vf x) { return from_bits(bits(x) & 0x7fffffff); }
FV_INLINE float v_abs(float x) { return __builtin_fabsf(x); }
// Magnitude of x, sign of s.
FV_INLINE vf v_copysign(vf x, vf s) {
  return from_bits((bits(x) & 0x7fffffff) | (bits(s) & static_cast<int32_t>(0x80000000)));
}
FV_INLINE float v_copysign(float x, float s) { return __builtin_copysignf(x, s); }
FV_INLINE vf v_sqrt(vf x) {
  vf r;
  for (int i = 0; i < kLanes; ++i) r[i] = __builtin_sqrtf(x[i]);
  return r;
}
FV_INLINE float v_sqrt(float x) { return __builtin_sqrtf(x); }

// Rounding keeps the sign of zero, infinities and NaN.
FV_INLINE vf v_round(vf x) {  // half to even
  const vf magic = v_copysign(splat(8388608.f), x);
  return v_copysign(v_select(v_abs(x) < 8388608.f, (x + magic) - magic, x), x);
}
FV_INLINE float v_round(float x) { return __builtin_nearbyintf(x); }
FV_INLINE vf v_trunc(vf x) {
  return v_copysign(v_select(v_abs(x) < 8388608.f, to_float(to_int(x)), x), x);
}
FV_INLINE float v_trunc(float x) { return __builtin_truncf(x); }
FV_INLINE vf v_floor(vf x) {
  const vf t = v_trunc(x);
  return v_select(t > x, v_copysign(t - 1.f, x), t);
}
FV_INLINE float v_floor(float x) { return __builtin_floorf(x); }
FV_INLINE vf v_ceil(vf x) {
  const vf t = v_trunc(x);
  return v_select(t < x, v_copysign(t + 1.f, x), t);
}
FV_INLINE float v_ceil(float x) { return __builtin_ceilf(x); }

// ---- Across lanes ---------------------------------------------------------------------------
// Sums pair lanes i and i + n/2, so the order depends on the width only.

FV_INLINE float sum_lanes(vf x) {
  float a[kLanes];
  store(a, x);
  for (int n = kLanes / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) a[i] += a[i + n];
  return a[0];
}
FV_INLINE float max_lanes(vf x) {
  float r = x[0];
  for (int i = 1; i < kLanes; ++i) r = v_max_nan(r, static_cast<float>(x[i]));
  return r;
}
FV_INLINE float min_lanes(vf x) {
  float r = x[0];
  for (int i = 1; i < kLanes; ++i) r = v_min_nan(r, static_cast<float>(x[i]));
  return r;
}

template <int... I>
FV_INLINE vf interleave_low_(vf a, vf b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, ((I & 1) ? kLanes + I / 2 : I / 2)...);
}
template <int... I>
FV_INLINE vf interleave_high_(vf a, vf b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b,
                                 ((I & 1) ? kLanes + kLanes / 2 + I / 2 : kLanes / 2 + I / 2)...);
}
template <int... I>
FV_INLINE vf even_lanes_(vf a, vf b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I)...);
}
// Lanes 0, 2, 4, ... of the concatenation a, b.
FV_INLINE vf even_lanes(vf a, vf b) {
  return even_lanes_(a, b, std::make_integer_sequence<int, kLanes>());
}
// Lane i becomes x[index[i]]; 0 <= index < kLanes.
FV_INLINE vf permute(vf x, vi index) {
#if defined(__clang__)
  vf r;
  for (int i = 0; i < kLanes; ++i) r[i] = x[index[i]];
  return r;
#else
  return __builtin_shuffle(x, index);
#endif
}

// rows[i] lane j  <->  rows[j] lane i. log2(kLanes) rounds of perfect shuffles.
FV_INLINE void transpose(vf (&rows)[kLanes]) {
  constexpr auto seq = std::make_integer_sequence<int, kLanes>();
#pragma GCC unroll 4
  for (int round = 1; round < kLanes; round *= 2) {
    vf next[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = interleave_low_(rows[i], rows[i + kLanes / 2], seq);
      next[2 * i + 1] = interleave_high_(rows[i], rows[i + kLanes / 2], seq);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

}  // namespace FV_ISA
}  // namespace foveal::simd
#endif  // FOVEAL_BASE_SIMD_H_
