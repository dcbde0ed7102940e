// Compiled once per instruction set: the build defines FOVEAL_ISA and its compiler flags.
#include <cmath>

#include "imgproc/rows/kernels.h"

#define FV_R __restrict

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

void sample1(const uint8_t* FV_R r0, const uint8_t* FV_R r1, XTaps t, float v0, float v1, int n,
             float* FV_R out) {
  const int32_t *FV_R o0 = t.o0, *FV_R o1 = t.o1;
  const float *FV_R w0 = t.w0, *FV_R w1 = t.w1;
  for (int i = 0; i < n; ++i) {
    const float a = w0[i] * r0[o0[i]] + w1[i] * r0[o1[i]];
    const float b = w0[i] * r1[o0[i]] + w1[i] * r1[o1[i]];
    out[i] = v0 * a + v1 * b;
  }
}

void sample3(const uint8_t* FV_R r0, const uint8_t* FV_R r1, const int c[3], XTaps t, float v0,
             float v1, int n, float* FV_R out0, float* FV_R out1, float* FV_R out2) {
  const int32_t *FV_R o0 = t.o0, *FV_R o1 = t.o1;
  const float *FV_R w0 = t.w0, *FV_R w1 = t.w1;
  const int c0 = c[0], c1 = c[1], c2 = c[2];
  for (int i = 0; i < n; ++i) {
    const uint8_t *p = r0 + o0[i], *q = r0 + o1[i], *r = r1 + o0[i], *s = r1 + o1[i];
    const float p0 = v0 * w0[i], q0 = v0 * w1[i], r_ = v1 * w0[i], s_ = v1 * w1[i];
    out0[i] = p0 * p[c0] + q0 * q[c0] + r_ * r[c0] + s_ * s[c0];
    out1[i] = p0 * p[c1] + q0 * q[c1] + r_ * r[c1] + s_ * s[c1];
    out2[i] = p0 * p[c2] + q0 * q[c2] + r_ * r[c2] + s_ * s[c2];
  }
}

void copy1(const uint8_t* FV_R r0, const int32_t* FV_R o0, int n, float* FV_R out) {
  for (int i = 0; i < n; ++i) out[i] = r0[o0[i]];
}

void lerp_rows(const uint8_t* FV_R r0, const uint8_t* FV_R r1, float v0, float v1, int n,
               float* FV_R out) {
  if (v1 == 0 && v0 == 1) {
    for (int i = 0; i < n; ++i) out[i] = r0[i];
  } else {
    for (int i = 0; i < n; ++i) out[i] = v0 * r0[i] + v1 * r1[i];
  }
}

void taps(const float* FV_R row, int32_t first, XTaps t, int n, float* FV_R out) {
  const int32_t *FV_R o0 = t.o0, *FV_R o1 = t.o1;
  const float *FV_R w0 = t.w0, *FV_R w1 = t.w1;
  for (int i = 0; i < n; ++i) out[i] = w0[i] * row[o0[i] - first] + w1[i] * row[o1[i] - first];
}

// Largest whole number <= v; v within +-2e8 (callers bound it), so int32 holds it.
inline int32_t floor_int(double v) {
  const int32_t i = static_cast<int32_t>(v);
  return i - (v < i);
}

void positions(const LinearMap& m, double x, double y, int n, int width, int height, bool nearest,
               bool constant, Positions* FV_R p, Weights4* FV_R w) {
  const double bx = m.x[1] * y + m.x[2], by = m.y[1] * y + m.y[2], bw = m.w[1] * y + m.w[2];
  alignas(64) double px[kChunk], py[kChunk];
  if (m.projective) {
    for (int i = 0; i < n; ++i) {
      const double d = x + i, r = 1 / (m.w[0] * d + bw);
      px[i] = (m.x[0] * d + bx) * r - 0.5;
      py[i] = (m.y[0] * d + by) * r - 0.5;
    }
  } else {
    for (int i = 0; i < n; ++i) {
      px[i] = m.x[0] * (x + i) + bx - 0.5;
      py[i] = m.y[0] * (x + i) + by - 0.5;
    }
  }
  const int mx = width - 1, my = height - 1;
  const double snap = nearest ? 0.5 + 0x1p-20 : 0;
  for (int i = 0; i < n; ++i) {
    // Far outside is as good as just outside: keeps the integer conversion in range.
    double fx = px[i] + snap, fy = py[i] + snap;
    fx = fx < -4 ? -4 : fx > width + 4 ? width + 4 : fx;
    fy = fy < -4 ? -4 : fy > height + 4 ? height + 4 : fy;
    const int32_t ix = floor_int(fx), iy = floor_int(fy);
    float ux = static_cast<float>(fx - ix), uy = static_cast<float>(fy - iy);
    ux = nearest ? 0 : ux;
    uy = nearest ? 0 : uy;
    float ax = 1 - ux, bx1 = ux, ay = 1 - uy, by1 = uy;
    if (constant) {
      ax = ix < 0 || ix > mx ? 0 : ax;
      bx1 = ix + 1 < 0 || ix + 1 > mx ? 0 : bx1;
      ay = iy < 0 || iy > my ? 0 : ay;
      by1 = iy + 1 < 0 || iy + 1 > my ? 0 : by1;
    }
    const auto clamp = [](int32_t v, int32_t most) { return v < 0 ? 0 : v > most ? most : v; };
    p->x0[i] = clamp(ix, mx);
    p->x1[i] = clamp(ix + 1, mx);
    p->y0[i] = clamp(iy, my);
    p->y1[i] = clamp(iy + 1, my);
    w->w00[i] = ay * ax;
    w->w01[i] = ay * bx1;
    w->w10[i] = by1 * ax;
    w->w11[i] = by1 * bx1;
  }
}

void offsets(const Positions& p, int shift, int32_t row, int32_t pixel, int n, Taps4* FV_R t) {
  for (int i = 0; i < n; ++i) {
    const int32_t x0 = (p.x0[i] >> shift) * pixel, x1 = (p.x1[i] >> shift) * pixel;
    const int32_t y0 = (p.y0[i] >> shift) * row, y1 = (p.y1[i] >> shift) * row;
    t->o00[i] = y0 + x0;
    t->o01[i] = y0 + x1;
    t->o10[i] = y1 + x0;
    t->o11[i] = y1 + x1;
  }
}

void gather1(const uint8_t* FV_R base, const Taps4& t, const Weights4& w, int n, float* FV_R out) {
  for (int i = 0; i < n; ++i)
    out[i] = w.w00[i] * base[t.o00[i]] + w.w01[i] * base[t.o01[i]] + w.w10[i] * base[t.o10[i]] +
             w.w11[i] * base[t.o11[i]];
}

void gather3(const uint8_t* FV_R base, const int c[3], const Taps4& t, const Weights4& w, int n,
             float* FV_R out0, float* FV_R out1, float* FV_R out2) {
  const int c0 = c[0], c1 = c[1], c2 = c[2];
  for (int i = 0; i < n; ++i) {
    const uint8_t *p = base + t.o00[i], *q = base + t.o01[i];
    const uint8_t *r = base + t.o10[i], *s = base + t.o11[i];
    const float a = w.w00[i], b = w.w01[i], d = w.w10[i], e = w.w11[i];
    out0[i] = a * p[c0] + b * q[c0] + d * r[c0] + e * s[c0];
    out1[i] = a * p[c1] + b * q[c1] + d * r[c1] + e * s[c1];
    out2[i] = a * p[c2] + b * q[c2] + d * r[c2] + e * s[c2];
  }
}

void mix3(const float* FV_R a, const float* FV_R b, const float* FV_R c, const float* FV_R inside,
          const float m[4], float border, int n, float* FV_R out) {
  const float k0 = m[0], k1 = m[1], k2 = m[2], k3 = m[3];
  if (inside) {
    for (int i = 0; i < n; ++i)
      out[i] = k0 * a[i] + k1 * b[i] + k2 * c[i] + (k3 - border) * inside[i] + border;
  } else {
    for (int i = 0; i < n; ++i) out[i] = k0 * a[i] + k1 * b[i] + k2 * c[i] + k3;
  }
}

void mix1(const float* a, const float* FV_R inside, const float m[4], float border, int n,
          float* out) {
  const float k0 = m[0], k3 = m[3];
  if (inside) {
    for (int i = 0; i < n; ++i) out[i] = k0 * a[i] + (k3 - border) * inside[i] + border;
  } else {
    for (int i = 0; i < n; ++i) out[i] = k0 * a[i] + k3;
  }
}

// 0 <= v < 2^22: adding 1.5 * 2^23 leaves whole numbers, rounded half to even.
inline float round_even(float v) {
  constexpr float kMagic = 12582912.0f;
  return (v + kMagic) - kMagic;
}
inline float clamp255(float v) {
  v = v < 0 ? 0 : v;
  return v > 255 ? 255 : v;
}

void finish(const float* in, bool round, float k, float b, int n, float* out) {
  if (round) {
    for (int i = 0; i < n; ++i) out[i] = round_even(clamp255(in[i])) * k + b;
  } else {
    for (int i = 0; i < n; ++i) out[i] = clamp255(in[i]) * k + b;
  }
}

void to_u8(const float* FV_R in, int n, uint8_t* FV_R out) {
  for (int i = 0; i < n; ++i)
    out[i] = static_cast<uint8_t>(static_cast<int32_t>(round_even(clamp255(in[i]))));
}

void pack3_f32(const float* FV_R a, const float* FV_R b, const float* FV_R c, int n, int step,
               float* FV_R out) {
  for (int i = 0; i < n; ++i) {
    out[i * step] = a[i];
    out[i * step + 1] = b[i];
    out[i * step + 2] = c[i];
  }
}

void pack3_u8(const float* FV_R a, const float* FV_R b, const float* FV_R c, int n, int step,
              uint8_t* FV_R out) {
  uint8_t p[3][kChunk];
  to_u8(a, n, p[0]);
  to_u8(b, n, p[1]);
  to_u8(c, n, p[2]);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) out[i * step + k] = p[k][i];
}

}  // namespace

#define FV_STR_(x) #x
#define FV_STR(x) FV_STR_(x)
extern const Kernels kTable;
const Kernels kTable = {FV_STR(FOVEAL_ISA),
                        sample1,
                        sample3,
                        copy1,
                        lerp_rows,
                        taps,
                        positions,
                        offsets,
                        gather1,
                        gather3,
                        mix3,
                        mix1,
                        finish,
                        to_u8,
                        pack3_f32,
                        pack3_u8};

}  // namespace foveal::imgproc::FOVEAL_ISA
