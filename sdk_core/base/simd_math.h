// Elementary functions for T = vf and T = float, from our own minimax polynomials.
//
// Within 2e-6 of the exact value, relative, over the whole range of float; right at 0, infinities,
// overflow and underflow; NaN in, NaN out. Arguments of sin and cos beyond 8192, and every pow,
// take the C library's route lane by lane.
#ifndef FOVEAL_BASE_SIMD_MATH_H_
#define FOVEAL_BASE_SIMD_MATH_H_

#include <limits>

#include "base/simd.h"

namespace foveal::simd {
inline namespace FV_ISA {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class T>
FV_INLINE T constant_like(T, float c) {
  return c - T{};
}
// c[0] + c[1] x + c[2] x^2 ...
template <class T, int n>
FV_INLINE T polynomial(T x, const float (&c)[n]) {
  T r = constant_like(x, c[n - 1]);
#pragma GCC unroll 16
  for (int i = n - 2; i >= 0; --i) r = r * x + c[i];
  return r;
}
// Applies a scalar function to every lane.
template <class F>
FV_INLINE vf each_lane(vf x, F f) {
  for (int i = 0; i < kLanes; ++i) x[i] = f(static_cast<float>(x[i]));
  return x;
}
template <class F>
FV_INLINE float each_lane(float x, F f) {
  return f(x);
}

// e^r on |r| <= ln(2)/2, without the leading 1.
template <class T>
FV_INLINE T expm1_core(T r) {
  constexpr float c[] = {0.5f, 0.16666518f, 0.041666206f, 0.008368884f, 0.0013950479f};
  return r + r * r * polynomial(r, c);
}
// x = n ln 2 + r, |x| < 2^20. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
template <class T>
FV_INLINE auto split_exponent(T x, T& r) {
  constexpr float kMagic = 12582912.f;
  const T shifted = x * 1.44269504f + kMagic;
  const T n = shifted - kMagic;
  r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
  return bits(shifted) - 0x4b400000;
}
// 2^n for |n| <= 126.
template <class I>
FV_INLINE auto power_of_two(I n) {
  return from_bits((n + 127) << 23);
}

template <class T>
FV_INLINE T v_exp(T x) {
  T r;
  const auto n = split_exponent(v_clamp(x, -104.f, 89.f), r);
  // In two steps, so that subnormal results come out and 2^128 does not overflow early.
  const auto half = n >> 1;
  return (expm1_core(r) + 1.f) * power_of_two(half) * power_of_two(n - half);
}
template <class T>
FV_INLINE T v_expm1(T x) {
  T r;
  const auto n = split_exponent(v_clamp(x, -30.f, 89.f), r);
  // (e^r - 1) 2^n + (2^n - 1), all halved so that 2^128 does not overflow.
  const T scale = power_of_two(n - 1);
  const T e = (expm1_core(r) * scale + (scale - 0.5f)) * 2.f;
  return v_select((x != x) | (x == 0.f), x, e);
}

// ln(1 + f) on sqrt(1/2) <= 1 + f <= sqrt(2), plus e ln 2.
template <class T>
FV_INLINE T log_core(T f, T e) {
  constexpr float c[] = {0.3333391f,  -0.25001338f, 0.19963059f, -0.16577573f,
                         0.14914809f, -0.1426759f,  0.08700443f};
  const T z = f * f;
  const T small = f * z * polynomial(f, c) + e * 1.42860677e-6f - 0.5f * z;
  return small + f + e * 0.693145752f;
}
template <class T>
FV_INLINE T v_log(T x) {
  const T one = constant_like(x, 1.f);
  const auto subnormal = x < 1.17549435e-38f;
  const T y = v_select(subnormal, x * 8388608.f, x);
  // Biased so that the mantissa lands in [sqrt(1/2), sqrt(2)).
  const auto i = bits(y) - 0x3f3504f3;
  const T e = to_float(i >> 23) + v_select(subnormal, constant_like(x, -23.f), T{});
  const T m = from_bits((i & 0x7fffff) + 0x3f3504f3);
  T r = log_core(m - one, e);
  r = v_select(x == kInf, x, r);
  r = v_select(x == 0.f, constant_like(x, -kInf), r);
  r = v_select(x < 0.f, constant_like(x, kNaN), r);
  return v_select(x != x, x, r);
}
template <class T>
FV_INLINE T v_log1p(T x) {
  // The correction term restores what 1 + x rounded away.
  const T u = x + 1.f;
  const T correction = (x - (u - 1.f)) / u;
  const T r = v_log(u) + correction;
  return v_select((v_abs(x) < 1e-8f) | (x == kInf), x, v_select(u == 0.f, v_log(u), r));
}

template <class T>
FV_INLINE T v_sigmoid(T x) {
  const T e = v_exp(-v_abs(x));  // never overflows
  return v_select(x < 0.f, e, constant_like(x, 1.f)) / (e + 1.f);
}
template <class T>
FV_INLINE T v_tanh(T x) {
  constexpr float c[] = {-0.33333284f, 0.13331491f, -0.053743497f, 0.020650579f, -0.005717037f};
  const T a = v_abs(x), z = x * x;
  const T near = x + x * z * polynomial(z, c);
  const T far = v_copysign(1.f - 2.f / (v_exp(a + a) + 1.f), x);
  return v_select((a < 0.625f) & (x != 0.f), near, v_select(x == 0.f, x, far));
}
template <class T>
FV_INLINE T v_erf(T x) {
  constexpr float near_c[] = {1.1283791f,    -0.37612626f,    0.112835854f, -0.026853811f,
                              0.0051883277f, -0.00080101925f, 7.853858e-05f};
  // ln(1 - erf(a)) on [0.98, 4].
  constexpr float far_c[] = {0.00019370629f, -1.1296073f,     -0.63315654f,
                             -0.10849651f,   0.02526702f,     -0.0042323703f,
                             0.00044939847f, -2.2995599e-05f, 9.105499e-08f};
  const T a = v_abs(x);
  const T near = x * polynomial(x * x, near_c);
  const T far = 1.f - v_exp(polynomial(v_min(a, constant_like(x, 4.f)), far_c));
  return v_select(x != x, x, v_select(a < 1.f, near, v_copysign(far, x)));
}
// ln(1 + e^x)
template <class T>
FV_INLINE T v_softplus(T x) {
  return v_max(x, 0.f) + v_log1p(v_exp(-v_abs(x)));
}

// sin(x + quarter * pi/2)
template <class T>
FV_INLINE T sin_shifted(T x, int quarter) {
  constexpr float s[] = {-0.16666667f, 0.008333329f, -0.00019839335f, 2.7183116e-06f};
  constexpr float c[] = {0.041666646f, -0.0013887368f, 2.443845e-05f};
  const auto huge = v_abs(x) > 8192.f;
  const T n = v_select(huge, T{}, v_round(x * 0.636619772f));
  // pi/2 in four parts: the first three have 11 bits, so that their products are exact.
  T r = x - n * 1.5703125f;
  r = r - n * 4.837512969970703e-4f;
  r = r - n * 7.549533620476723e-8f;
  r = r - n * 2.5633440682570896e-12f;
  const T z = r * r;
  const T sine = r + r * z * polynomial(z, s);
  const T cosine = 1.f - 0.5f * z + z * z * polynomial(z, c);
  const auto q = to_int(n) + quarter;
  const T y = v_select((q & 1) != 0, cosine, sine);
  T result = v_select((q & 2) != 0, -y, y);
  if (any(huge) || any(x != x)) {
    const T exact =
        each_lane(x, [quarter](float v) { return quarter ? std::cos(v) : std::sin(v); });
    result = v_select(huge | (x != x), exact, result);
  }
  return result;
}
template <class T>
FV_INLINE T v_sin(T x) {
  return v_select(x == 0.f, x, sin_shifted(x, 0));
}
template <class T>
FV_INLINE T v_cos(T x) {
  return sin_shifted(x, 1);
}

FV_INLINE float v_pow(float a, float b) { return std::pow(a, b); }
FV_INLINE vf v_pow(vf a, vf b) {
  for (int i = 0; i < kLanes; ++i)
    a[i] = std::pow(static_cast<float>(a[i]), static_cast<float>(b[i]));
  return a;
}

template <class T>
FV_INLINE T v_rsqrt(T x) {
  return 1.f / v_sqrt(x);
}
template <class T>
FV_INLINE T v_sign(T x) {  // NaN stays NaN, zero stays zero
  return v_select((x == 0.f) | (x != x), x, v_copysign(constant_like(x, 1.f), x));
}

}  // namespace FV_ISA
}  // namespace foveal::simd
#endif  // FOVEAL_BASE_SIMD_MATH_H_
