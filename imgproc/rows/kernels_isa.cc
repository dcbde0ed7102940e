// Compiled once per instruction set: the build defines FOVEAL_ISA and its compiler flags.
#include <cmath>
#include <cstring>
#include <utility>

#include "imgproc/rows/kernels.h"
#include "imgproc/rows/round.h"
#include "imgproc/rows/value.h"
#if defined(__AVX2__)
#include "imgproc/rows/lanes_avx2.h"
#endif

#define FV_R __restrict

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

typedef uint8_t U8x16 __attribute__((vector_size(16)));
typedef uint16_t U16x4 __attribute__((vector_size(8)));
typedef int32_t I32x4 __attribute__((vector_size(16)));
typedef float F32x4 __attribute__((vector_size(16)));

template <class T>
void sample1(const void* p0, const void* p1, XTaps t, float v0, float v1, int n, float* FV_R out) {
  const T *FV_R r0 = static_cast<const T*>(p0), *FV_R r1 = static_cast<const T*>(p1);
  const int32_t *FV_R o0 = t.o0, *FV_R o1 = t.o1;
  const float *FV_R w0 = t.w0, *FV_R w1 = t.w1;
  for (int i = 0; i < n; ++i) {
    const float a = w0[i] * value(r0[o0[i]]) + w1[i] * value(r0[o1[i]]);
    const float b = w0[i] * value(r1[o0[i]]) + w1[i] * value(r1[o1[i]]);
    out[i] = v0 * a + v1 * b;
  }
}

// Four elements as four floats, and four pixels at a time: one vector holds all components of a
// pixel, so a tap is one load and one multiply-add whatever the number of components.
inline F32x4 widen4(const uint8_t* four) {  // little-endian
  uint32_t word;
  std::memcpy(&word, four, 4);
  const U8x16 zero = {};
  U8x16 b = (U8x16)(I32x4){static_cast<int32_t>(word), 0, 0, 0};
  b = __builtin_shufflevector(b, zero, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  b = __builtin_shufflevector(b, zero, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
  return __builtin_convertvector((I32x4)b, F32x4);
}
inline F32x4 widen4(const uint16_t* four) {
  U16x4 v;
  std::memcpy(&v, four, 8);
  return __builtin_convertvector(__builtin_convertvector(v, I32x4), F32x4);
}
inline F32x4 widen4(const float* four) {
  F32x4 v;
  std::memcpy(&v, four, 16);
  const F32x4 zero = {}, one = {1, 1, 1, 1};
  v = (F32x4)((I32x4)v & (I32x4)(v > zero));
  const I32x4 below = (I32x4)(v < one);
  return (F32x4)(((I32x4)v & below) | ((I32x4)one & ~below));
}

// The pixel at p + offset; reads four elements where the plane has them, else its own only.
template <class T>
inline F32x4 load_pixel(const T* p, int64_t offset, int64_t readable, int span) {
  const T* at = p + offset;
  if (__builtin_expect(offset + 4 <= readable, 1)) return widen4(at);
  const T own[4] = {at[0], at[1], span > 2 ? at[2] : T(0), T(0)};
  return widen4(own);
}

// Runs pixel(i) -> F32x4 from pixel `from` of a chunk on and stores the components as rows.
template <class Pixel>
inline void store_lanes(int from, int n, int span, float* const lane[3], const Pixel& pixel) {
  float *FV_R a = lane[0], *FV_R b = lane[1], *FV_R c = lane[2];
  int i = from;
  for (; i + 4 <= n; i += 4) {
    const F32x4 p = pixel(i), q = pixel(i + 1), r = pixel(i + 2), s = pixel(i + 3);
    const F32x4 pq = __builtin_shufflevector(p, q, 0, 4, 1, 5);
    const F32x4 rs = __builtin_shufflevector(r, s, 0, 4, 1, 5);
    const F32x4 v0 = __builtin_shufflevector(pq, rs, 0, 1, 4, 5);
    const F32x4 v1 = __builtin_shufflevector(pq, rs, 2, 3, 6, 7);
    std::memcpy(a + i, &v0, 16);
    std::memcpy(b + i, &v1, 16);
    if (span > 2) {
      const F32x4 hi = __builtin_shufflevector(p, q, 2, 6, 2, 6);
      const F32x4 lo = __builtin_shufflevector(r, s, 2, 6, 2, 6);
      const F32x4 v2 = __builtin_shufflevector(hi, lo, 0, 1, 4, 5);
      std::memcpy(c + i, &v2, 16);
    }
  }
  for (; i < n; ++i) {
    const F32x4 p = pixel(i);
    a[i] = p[0];
    b[i] = p[1];
    if (span > 2) c[i] = p[2];
  }
}

template <class T>
void sample_lanes(const void* p0, int64_t readable0, const void* p1, int64_t readable1, int span,
                  XTaps t, float v0, float v1, int n, float* const lane[3]) {
  const T *r0 = static_cast<const T*>(p0), *r1 = static_cast<const T*>(p1);
  store_lanes(0, n, span, lane, [&](int i) {
    const F32x4 a = t.w0[i] * load_pixel(r0, t.o0[i], readable0, span) +
                    t.w1[i] * load_pixel(r0, t.o1[i], readable0, span);
    const F32x4 b = t.w0[i] * load_pixel(r1, t.o0[i], readable1, span) +
                    t.w1[i] * load_pixel(r1, t.o1[i], readable1, span);
    return v0 * a + v1 * b;
  });
}

template <class T>
void unpack(const void* p0, int64_t readable, int pixel, int span, int n, float* const lane[3]) {
  const T* FV_R r0 = static_cast<const T*>(p0);
  if (span == 1) {
    float* FV_R out = lane[0];
    if (pixel == 1)
      for (int i = 0; i < n; ++i) out[i] = value(r0[i]);
    else
      for (int i = 0; i < n; ++i) out[i] = value(r0[static_cast<int64_t>(i) * pixel]);
    return;
  }
  store_lanes(0, n, span, lane, [&](int i) {
    return load_pixel(r0, static_cast<int64_t>(i) * pixel, readable, span);
  });
}

void twice(const float* FV_R in, int odd, int n, float* FV_R out) {
  if (odd && n) {
    *out++ = *in++;
    --n;
  }
  for (int i = 0; i < n / 2; ++i) {
    out[2 * i] = in[i];
    out[2 * i + 1] = in[i];
  }
  if (n % 2) out[n - 1] = in[n / 2];
}

template <class T>
void copy1(const void* p0, const int32_t* FV_R o0, int n, float* FV_R out) {
  const T* FV_R r0 = static_cast<const T*>(p0);
  for (int i = 0; i < n; ++i) out[i] = value(r0[o0[i]]);
}

template <class T>
void lerp_rows(const void* p0, const void* p1, float v0, float v1, int n, float* FV_R out) {
  const T *FV_R r0 = static_cast<const T*>(p0), *FV_R r1 = static_cast<const T*>(p1);
  if (v1 == 0 && v0 == 1) {
    for (int i = 0; i < n; ++i) out[i] = value(r0[i]);
  } else {
    for (int i = 0; i < n; ++i) out[i] = v0 * value(r0[i]) + v1 * value(r1[i]);
  }
}

void scale(float* v, float k, int n) {
  for (int i = 0; i < n; ++i) v[i] *= k;
}

void multiply(float* FV_R v, const float* FV_R by, int n) {
  for (int i = 0; i < n; ++i) v[i] *= by[i];
}

void add(float* FV_R v, const float* FV_R more, int n) {
  for (int i = 0; i < n; ++i) v[i] += more[i];
}

void pair_sums(const float* FV_R in, float k, int n, float* FV_R out) {
  for (int i = 0; i < n; ++i) out[i] = (in[2 * i] + in[2 * i + 1]) * k;
}

void taps(const float* FV_R row, int32_t first, XTaps t, int n, float* FV_R out) {
  const int32_t *FV_R o0 = t.o0, *FV_R o1 = t.o1;
  const float *FV_R w0 = t.w0, *FV_R w1 = t.w1;
  for (int i = 0; i < n; ++i) out[i] = w0[i] * row[o0[i] - first] + w1[i] * row[o1[i] - first];
}

// The same as taps_at for pixels mirrored about the centres of the outermost ones.
void mirrored_taps_at(const double* FV_R v, int n, int size, bool nearest, double snap,
                      int32_t* FV_R i0, int32_t* FV_R i1, float* FV_R w0, float* FV_R w1) {
  const int32_t last = size - 1, period = size > 1 ? 2 * last : 1;
  for (int i = 0; i < n; ++i) {
    const double p = v[i] + snap, base = std::floor(p);
    const double turns = std::floor(base / period);
    int32_t a = static_cast<int32_t>(base - period * turns);
    a = a >= period ? 0 : a < 0 ? period - 1 : a;
    const int32_t b = a + 1 == period ? 0 : a + 1;
    i0[i] = a > last ? period - a : a;
    i1[i] = b > last ? period - b : b;
    const float u = nearest ? 0 : static_cast<float>(p - base);
    w0[i] = 1 - u;
    w1[i] = u;
  }
}

// Along one axis: clamped indices and weights of the two taps at v (pixel index, f64). Not inlined
// twice, for its size; v is not const, or GCC fears that it is not initialised.
[[gnu::noinline]] void taps_at(double* FV_R v, int n, int size, bool nearest, Outside outside,
                               bool flipped, int32_t* FV_R i0, int32_t* FV_R i1, float* FV_R w0,
                               float* FV_R w1) {
  const double snap = !nearest ? 0 : flipped ? 0.5 - kTie : 0.5 + kTie;
  if (outside == Outside::kMirror)
    return mirrored_taps_at(v, n, size, nearest, snap, i0, i1, w0, w1);
  const bool constant = outside == Outside::kNothing;
  const double lo = -4, hi = size + 4.0;  // far outside is as good as just outside
  const int most = size - 1;
  for (int i = 0; i < n; ++i) {
    double f = v[i] + snap;
    f = f < lo ? lo : f;
    f = f > hi ? hi : f;
    // Positive before the conversion, which then rounds down.
    const int32_t base = static_cast<int32_t>(f + 8) - 8;
    const float u = nearest ? 0 : static_cast<float>(f - base);
    const int32_t a = base < 0 ? 0 : base, b = base + 1 < 0 ? 0 : base + 1;
    i0[i] = a > most ? most : a;
    i1[i] = b > most ? most : b;
    w0[i] = constant && i0[i] != base ? 0 : 1 - u;
    w1[i] = constant && i1[i] != base + 1 ? 0 : u;
  }
  if (outside == Outside::kCut) {
    const double most_in = size - 0.5, shift = nearest ? snap - 0.5 : 0;
    for (int i = 0; i < n; ++i) {
      const double p = flipped && !nearest ? most - v[i] : v[i] + shift;
      const bool in = p >= -0.5 && p < most_in;
      w0[i] = in ? w0[i] : 0;
      w1[i] = in ? w1[i] : 0;
    }
  }
}

void positions(const LinearMap& m, double x, double y, int n, int width, int height, bool nearest,
               Outside outside, const bool flipped[2], Positions* FV_R p, Weights4* FV_R w) {
  const double bx = m.x[1] * y + m.x[2], by = m.y[1] * y + m.y[2], bw = m.w[1] * y + m.w[2];
  alignas(64) double px[kChunk], py[kChunk];
  if (m.projective) {
    for (int i = 0; i < n; ++i) {
      const double d = x + i, r = 1 / (m.w[0] * d + bw);
      px[i] = (m.x[0] * d + bx) * r - 0.5;
      py[i] = (m.y[0] * d + by) * r - 0.5;
    }
  } else {
    const double sx = m.x[0], sy = m.y[0];
    for (int i = 0; i < n; ++i) {
      px[i] = sx * (x + i) + bx - 0.5;
      py[i] = sy * (x + i) + by - 0.5;
    }
  }
  alignas(64) float u0[kChunk], u1[kChunk], v0[kChunk], v1[kChunk];
  taps_at(px, n, width, nearest, outside, flipped[0], p->x0, p->x1, u0, u1);
  taps_at(py, n, height, nearest, outside, flipped[1], p->y0, p->y1, v0, v1);
  for (int i = 0; i < n; ++i) {
    w->w00[i] = v0[i] * u0[i];
    w->w01[i] = v0[i] * u1[i];
    w->w10[i] = v1[i] * u0[i];
    w->w11[i] = v1[i] * u1[i];
  }
}

void offsets(const Positions& p, Block b, int n, Taps4* FV_R t) {
  const auto x_of = [b](int32_t x) { return ((x + b.odd_x) >> b.shift_x) * b.pixel; };
  const auto y_of = [b](int32_t y) { return ((y + b.odd_y) >> b.shift_y) * b.row; };
  for (int i = 0; i < n; ++i) {
    const int32_t x0 = x_of(p.x0[i]), x1 = x_of(p.x1[i]);
    const int32_t y0 = y_of(p.y0[i]), y1 = y_of(p.y1[i]);
    t->o00[i] = y0 + x0;
    t->o01[i] = y0 + x1;
    t->o10[i] = y1 + x0;
    t->o11[i] = y1 + x1;
  }
}

template <class T>
void gather1(const void* p, const Taps4& t, const Weights4& w, int n, float* FV_R out) {
  const T* FV_R base = static_cast<const T*>(p);
  for (int i = 0; i < n; ++i)
    out[i] = w.w00[i] * value(base[t.o00[i]]) + w.w01[i] * value(base[t.o01[i]]) +
             w.w10[i] * value(base[t.o10[i]]) + w.w11[i] * value(base[t.o11[i]]);
}

template <class T>
void gather_lanes(const void* p, int64_t readable, int span, const Taps4& t, const Weights4& w,
                  int n, float* const lane[3]) {
  const T* base = static_cast<const T*>(p);
  int done = 0;
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 1) done = gather_fours(base, readable, span, t, w, n, lane);
#endif
  store_lanes(done, n, span, lane, [&](int i) {
    // Left ones first, as gather_fours sums them.
    return (w.w00[i] * load_pixel(base, t.o00[i], readable, span) +
            w.w10[i] * load_pixel(base, t.o10[i], readable, span)) +
           (w.w01[i] * load_pixel(base, t.o01[i], readable, span) +
            w.w11[i] * load_pixel(base, t.o11[i], readable, span));
  });
}

void to_u8(const float* FV_R in, int n, uint8_t* FV_R out) {
  for (int i = 0; i < n; ++i)
    out[i] = static_cast<uint8_t>(static_cast<int32_t>(round_even(clamp255(in[i]))));
}

void to_f16(const float* FV_R in, int n, uint16_t* FV_R out) {
  constexpr uint32_t kInfinity = 0x47800000;       // 2^16: what is not less overflows
  constexpr uint32_t kNormal = 0x38800000;         // 2^-14: what is less becomes subnormal
  constexpr uint32_t kSubnormalUnit = 0x3f000000;  // 0.5: its ulp is 2^-24, that of subnormals
  for (int i = 0; i < n; ++i) {
    uint32_t u;
    std::memcpy(&u, in + i, 4);
    const uint32_t sign = u >> 16 & 0x8000;
    u &= 0x7fffffff;
    float shifted, unit;
    std::memcpy(&shifted, &u, 4);
    std::memcpy(&unit, &kSubnormalUnit, 4);
    shifted += unit;
    uint32_t subnormal;
    std::memcpy(&subnormal, &shifted, 4);
    subnormal -= kSubnormalUnit;
    const uint32_t normal = (u - 0x38000000 + 0xfff + (u >> 13 & 1)) >> 13;
    uint32_t half = u < kNormal ? subnormal : normal;
    half = u >= kInfinity ? (u > 0x7f800000 ? 0x7e00 : 0x7c00) : half;
    out[i] = static_cast<uint16_t>(half | sign);
  }
}

void to_bf16(const float* FV_R in, int n, uint16_t* FV_R out) {
  for (int i = 0; i < n; ++i) {
    uint32_t u;
    std::memcpy(&u, in + i, 4);
    const uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    const uint32_t quiet = u >> 16 | 0x40;
    out[i] = static_cast<uint16_t>((u & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
  }
}

void to_whole(const float* FV_R in, float low, float high, float zero, int n, uint16_t* FV_R out) {
  for (int i = 0; i < n; ++i) {
    float v = in[i];
    v = v < low ? low : v;
    v = v > high ? high : v;
    out[i] = static_cast<uint16_t>(static_cast<int32_t>(round_even(v) + zero));
  }
}

void look_up(const float* FV_R in, const uint16_t* FV_R table, int n, uint16_t* FV_R out) {
  for (int i = 0; i < n; ++i) out[i] = table[static_cast<int32_t>(round_even(clamp255(in[i])))];
}

void pack3_f32(const float* FV_R a, const float* FV_R b, const float* FV_R c, int n, int step,
               float* FV_R out) {
  const auto pack = [&](int stride) {
    for (int i = 0; i < n; ++i) {
      out[i * stride] = a[i];
      out[i * stride + 1] = b[i];
      out[i * stride + 2] = c[i];
    }
  };
  if (step == 3) return pack(3);
  if (step == 4) return pack(4);
  pack(step);
}

// The low three bytes of each word. Words overlap by one byte, which the next word overwrites.
inline void store_words(const uint32_t* FV_R word, int n, int step, uint8_t* FV_R out) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (step == 3) {
    for (int i = 0; i < n - 1; ++i) std::memcpy(out + i * 3, &word[i], 4);
    if (n > 0) std::memcpy(out + (n - 1) * 3, &word[n - 1], 3);
    return;
  }
#endif
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) out[i * step + k] = static_cast<uint8_t>(word[i] >> (8 * k));
}

void pack3_u8(const float* FV_R a, const float* FV_R b, const float* FV_R c, int n, int step,
              uint8_t* FV_R out) {
  uint32_t word[kChunk];
  for (int i = 0; i < n; ++i)
    word[i] = static_cast<uint32_t>(byte_of(a[i]) | byte_of(b[i]) << 8 | byte_of(c[i]) << 16);
  store_words(word, n, step, out);
}

void pack3_b8(const uint16_t* FV_R a, const uint16_t* FV_R b, const uint16_t* FV_R c, int n,
              int step, uint8_t* FV_R out) {
  uint32_t word[kChunk];
  for (int i = 0; i < n; ++i)
    word[i] = static_cast<uint32_t>((a[i] & 255) | (b[i] & 255) << 8 | (c[i] & 255) << 16);
  store_words(word, n, step, out);
}

void pack3_b16(const uint16_t* FV_R a, const uint16_t* FV_R b, const uint16_t* FV_R c, int n,
               int step, uint16_t* FV_R out) {
  for (int i = 0; i < n; ++i) {
    out[i * step] = a[i];
    out[i * step + 1] = b[i];
    out[i * step + 2] = c[i];
  }
}

void zip(const uint8_t* FV_R a, const uint8_t* FV_R b, int n, uint8_t* FV_R out) {
  for (int i = 0; i < n; ++i) {
    out[2 * i] = a[i];
    out[2 * i + 1] = b[i];
  }
}

void spread_f32(const float* FV_R a, int n, int64_t step, float* FV_R out) {
  for (int i = 0; i < n; ++i) out[i * step] = a[i];
}

void spread_b8(const uint16_t* FV_R a, int n, int64_t step, uint8_t* FV_R out) {
  if (step == 1) {
    for (int i = 0; i < n; ++i) out[i] = static_cast<uint8_t>(a[i]);
    return;
  }
  for (int i = 0; i < n; ++i) out[i * step] = static_cast<uint8_t>(a[i]);
}

void spread_b16(const uint16_t* FV_R a, int n, int64_t step, uint16_t* FV_R out) {
  if (step == 1) {
    std::memcpy(out, a, static_cast<size_t>(n) * sizeof *a);
    return;
  }
  for (int i = 0; i < n; ++i) out[i * step] = a[i];
}

void spread_u8(const float* FV_R a, int n, int64_t step, uint8_t* FV_R out) {
  if (step == 1) return to_u8(a, n, out);
  for (int i = 0; i < n; ++i) out[i * step] = static_cast<uint8_t>(byte_of(a[i]));
}

void mask_positions(const MaskRow& r, int n, float* FV_R x, float* FV_R y) {
  double w[kChunk];
  if (r.projective)
    for (int i = 0; i < n; ++i) w[i] = 1 / (r.start[2] + r.slope[2] * i);
  float* FV_R const at[2] = {x, y};
  for (int a = 0; a < 2; ++a) {
    float* FV_R to = at[a];
    const double start = r.start[a], slope = r.slope[a];
    if (r.projective)
      for (int i = 0; i < n; ++i) to[i] = static_cast<float>((start + slope * i) * w[i] - 0.5);
    else
      for (int i = 0; i < n; ++i) to[i] = static_cast<float>(start + slope * i - 0.5);
    const float lo = r.lo[a], hi = r.hi[a];
    for (int i = 0; i < n; ++i) {
      const float v = to[i] > lo ? to[i] : lo;  // lo for what is not a number
      to[i] = v < hi ? v : hi;
    }
  }
}

void mask_bilinear(const MaskRow& r, int n, float* FV_R out) {
  float x[kChunk], y[kChunk];
  int32_t tap[kChunk];
  mask_positions(r, n, x, y);
  for (int i = 0; i < n; ++i) {
    const int32_t column = static_cast<int32_t>(x[i]), row = static_cast<int32_t>(y[i]);
    x[i] -= static_cast<float>(column);
    y[i] -= static_cast<float>(row);
    tap[i] = row * r.stride + column;
  }
  const float *FV_R top = r.data, *FV_R below = r.data + r.stride;
  for (int i = 0; i < n; ++i) {
    const float a = top[tap[i]] + (top[tap[i] + 1] - top[tap[i]]) * x[i];
    const float b = below[tap[i]] + (below[tap[i] + 1] - below[tap[i]]) * x[i];
    out[i] = a + (b - a) * y[i];
  }
}

void mask_nearest(const MaskRow& r, int n, float* FV_R out) {
  float x[kChunk], y[kChunk];
  mask_positions(r, n, x, y);
  for (int i = 0; i < n; ++i)
    out[i] =
        r.data[static_cast<int32_t>(y[i] + 0.5f) * r.stride + static_cast<int32_t>(x[i] + 0.5f)];
}

}  // namespace

template <class T>
constexpr ElementKernels of_element() {
  ElementKernels k{nullptr, nullptr, copy1<T>, unpack<T>, nullptr, gather1<T>, gather_lanes<T>};
  if constexpr (sizeof(T) > 1) {
    k.sample1 = sample1<T>;
    k.sample_lanes = sample_lanes<T>;
    k.lerp_rows = lerp_rows<T>;
  }
  return k;
}

extern const Kernels kTable;
const Kernels kTable = {{of_element<uint8_t>(), of_element<uint16_t>(), of_element<float>()},
                        twice,
                        taps,
                        scale,
                        multiply,
                        add,
                        pair_sums,
                        positions,
                        offsets,
                        {},  // colour and conversions are chosen by themselves
                        {},
                        to_u8,
                        to_f16,
                        to_bf16,
                        to_whole,
                        look_up,
                        pack3_f32,
                        pack3_u8,
                        pack3_b8,
                        pack3_b16,
                        zip,
                        spread_f32,
                        spread_u8,
                        spread_b8,
                        spread_b16,
                        mask_bilinear,
                        mask_nearest};

}  // namespace foveal::imgproc::FOVEAL_ISA
