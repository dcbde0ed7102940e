// Compiled once per instruction set, without contraction of a * b + c.
#include <algorithm>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "imgproc/rows/cv2.h"

#define FV_R __restrict

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

#if defined(__AVX2__)

inline __m256i load8(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

// Eight pixels a turn, as long as all have four readable bytes; returns how many were done.
int fetch_eights(const uint8_t* base, int64_t readable, const int32_t* offset, int n,
                 uint32_t* words) {
  const __m256i limit =
      _mm256_set1_epi32(static_cast<int32_t>(std::clamp<int64_t>(readable - 4, -1, INT32_MAX)));
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i at = load8(offset + i), over = _mm256_cmpgt_epi32(at, limit);
    if (!_mm256_testz_si256(over, over)) break;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(words + i),
                        _mm256_i32gather_epi32(reinterpret_cast<const int*>(base), at, 1));
  }
  return i;
}

int resize_eights(const uint32_t* const t[4], const int16_t* a0, const int16_t* a1, int b0, int b1,
                  int shift, int n, float* out) {
  const __m128i by = _mm_cvtsi32_si128(shift);
  const __m256i low = _mm256_set1_epi32(0xFF), two = _mm256_set1_epi32(2);
  const __m256i w0 = _mm256_set1_epi32(b0), w1 = _mm256_set1_epi32(b1);
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const auto load = [i](const int16_t* p) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i));
    };
    // Pairs of 16 bits: weights of the left and the right column, below the pixels' pairs.
    const __m256i a = _mm256_or_si256(_mm256_cvtepu16_epi32(load(a0)),
                                      _mm256_slli_epi32(_mm256_cvtepu16_epi32(load(a1)), 16));
    const auto row = [&](const uint32_t* left, const uint32_t* right, __m256i weight) {
      const __m256i p = _mm256_and_si256(_mm256_srl_epi32(load8(left + i), by), low);
      const __m256i q = _mm256_and_si256(_mm256_srl_epi32(load8(right + i), by), low);
      const __m256i pair = _mm256_or_si256(p, _mm256_slli_epi32(q, 16));
      // Sums of at most 32640: the upper half of a 16-bit product is all of it that counts.
      const __m256i sum = _mm256_srli_epi32(_mm256_madd_epi16(pair, a), 4);
      return _mm256_mulhi_epi16(sum, weight);
    };
    const __m256i sum = _mm256_add_epi32(row(t[0], t[1], w0), row(t[2], t[3], w1));
    _mm256_storeu_ps(out + i, _mm256_cvtepi32_ps(_mm256_srli_epi32(_mm256_add_epi32(sum, two), 2)));
  }
  return i;
}

#else

int fetch_eights(const uint8_t*, int64_t, const int32_t*, int, uint32_t*) { return 0; }
int resize_eights(const uint32_t* const[4], const int16_t*, const int16_t*, int, int, int, int,
                  float*) {
  return 0;
}

#endif

void fetch(const uint8_t* FV_R base, int64_t readable, int bytes, const int32_t* FV_R offset, int n,
           uint32_t* FV_R words) {
  for (int i = fetch_eights(base, readable, offset, n, words); i < n; ++i) {
    const uint8_t* at = base + offset[i];
    uint32_t word = 0;
    if (__builtin_expect(offset[i] + 4 <= readable, 1)) {
      std::memcpy(&word, at, 4);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
      word = __builtin_bswap32(word);
#endif
    } else {
      for (int b = 0; b < bytes; ++b) word |= static_cast<uint32_t>(at[b]) << (8 * b);
    }
    words[i] = word;
  }
}

void fetch_byte(const uint8_t* FV_R base, const int32_t* FV_R offset, int shift, int n,
                uint32_t* FV_R words) {
  if (shift == 0)
    for (int i = 0; i < n; ++i) words[i] = base[offset[i]];
  else
    for (int i = 0; i < n; ++i) words[i] |= static_cast<uint32_t>(base[offset[i]]) << shift;
}

inline int32_t byte(uint32_t word, int shift) { return static_cast<int32_t>(word >> shift & 0xFF); }
inline uint32_t saturate(int32_t v) {
  v = v < 0 ? 0 : v;
  return static_cast<uint32_t>(v > 255 ? 255 : v);
}

void yuv_to_rgb(uint32_t* words, int n) {
  // BT.601 limited range times 2^20.
  constexpr int32_t kY = 1220542, kVr = 1673527, kVg = -852492, kUg = -409993, kUb = 2116026;
  for (int i = 0; i < n; ++i) {
    const uint32_t word = words[i];
    int32_t y = byte(word, 0) - 16;
    const int32_t u = byte(word, 8) - 128, v = byte(word, 16) - 128;
    y = (y < 0 ? 0 : y) * kY + (1 << 19);
    words[i] = saturate((y + kVr * v) >> 20) | saturate((y + kVg * v + kUg * u) >> 20) << 8 |
               saturate((y + kUb * u) >> 20) << 16;
  }
}

void rgb_to_gray(uint32_t* words, const int shift[3], int n) {
  const int r = shift[0], g = shift[1], b = shift[2];
  for (int i = 0; i < n; ++i) {
    const uint32_t word = words[i];
    const int32_t sum = byte(word, r) * 9798 + byte(word, g) * 19235 + byte(word, b) * 3735;
    words[i] = static_cast<uint32_t>(sum + (1 << 14)) >> 15;
  }
}

void gray_to_rgb(uint32_t* words, int n) {
  for (int i = 0; i < n; ++i) words[i] = (words[i] & 0xFF) * 0x010101;
}

void border(const uint32_t* FV_R in_x, const uint32_t* FV_R in_y, uint32_t outside, int n,
            uint32_t* FV_R words) {
  for (int i = 0; i < n; ++i) {
    const uint32_t in = in_x[i] & in_y[i];
    words[i] = (words[i] & in) | (outside & ~in);
  }
}

void resize(const uint32_t* const t[4], const int16_t* FV_R a0, const int16_t* FV_R a1, int b0,
            int b1, int shift, int n, float* FV_R out) {
  const uint32_t *FV_R t0 = t[0], *FV_R t1 = t[1], *FV_R t2 = t[2], *FV_R t3 = t[3];
  for (int i = resize_eights(t, a0, a1, b0, b1, shift, n, out); i < n; ++i) {
    const int32_t top = byte(t0[i], shift) * a0[i] + byte(t1[i], shift) * a1[i];
    const int32_t below = byte(t2[i], shift) * a0[i] + byte(t3[i], shift) * a1[i];
    const int32_t sum = ((b0 * (top >> 4)) >> 16) + ((b1 * (below >> 4)) >> 16);
    out[i] = static_cast<float>((sum + 2) >> 2);
  }
}

void blend(const uint32_t* const t[4], const float* FV_R u, const float* FV_R v, bool half_up,
           int shift, int n, float* FV_R out) {
  const uint32_t *FV_R t0 = t[0], *FV_R t1 = t[1], *FV_R t2 = t[2], *FV_R t3 = t[3];
  const auto row = [&](auto round) {
    for (int i = 0; i < n; ++i) {
      const float p0 = static_cast<float>(byte(t0[i], shift));
      const float p1 = static_cast<float>(byte(t1[i], shift));
      const float p2 = static_cast<float>(byte(t2[i], shift));
      const float p3 = static_cast<float>(byte(t3[i], shift));
      const float top = p0 + (p1 - p0) * u[i], below = p2 + (p3 - p2) * u[i];
      out[i] = round(top + (below - top) * v[i]);
    }
  };
  constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it leaves whole numbers
  if (half_up)
    row([](float f) { return static_cast<float>(static_cast<int32_t>(f + 0.5f)); });
  else
    row([](float f) { return (f + kMagic) - kMagic; });
}

void component(const uint32_t* FV_R words, int shift, int n, float* FV_R out) {
  for (int i = 0; i < n; ++i) out[i] = static_cast<float>(byte(words[i], shift));
}

constexpr double kWhole = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves whole numbers
inline double rounded(double v) { return (v + kWhole) - kWhole; }
inline double floored(double v) {
  const double r = rounded(v);
  return r > v ? r - 1 : r;
}

// p: real indices of `size` pixels.
void split(const double* FV_R p, int n, int size, bool reflect, AxisTaps* FV_R t) {
  const int32_t last = size - 1;
  if (!reflect) {
    const double lo = -4, hi = size + 4.0;  // far outside is as good as just outside
    for (int i = 0; i < n; ++i) {
      double f = p[i];
      f = f < lo ? lo : f;
      f = f > hi ? hi : f;
      const int32_t base = static_cast<int32_t>(f + 8) - 8;  // positive: rounds down
      const int32_t a = base < 0 ? 0 : base, b = base + 1 < 0 ? 0 : base + 1;
      t->i0[i] = a > last ? last : a;
      t->i1[i] = b > last ? last : b;
      t->in0[i] = t->i0[i] == base ? ~0u : 0;
      t->in1[i] = t->i1[i] == base + 1 ? ~0u : 0;
      t->u[i] = static_cast<float>(f - base);
    }
    return;
  }
  const double period = size > 1 ? 2.0 * last : 1, per = 1 / period;
  const int32_t whole = size > 1 ? 2 * last : 1;
  for (int i = 0; i < n; ++i) {
    const double base = floored(p[i]);
    double r = base - period * floored(base * per);
    r = r < 0 ? r + period : r;
    r = r >= period ? r - period : r;
    const int32_t a = static_cast<int32_t>(r), b = a + 1 == whole ? 0 : a + 1;
    t->i0[i] = a > last ? whole - a : a;
    t->i1[i] = b > last ? whole - b : b;
    t->in0[i] = t->in1[i] = ~0u;
    t->u[i] = static_cast<float>(p[i] - base);
  }
}

void positions(const Cv2Map& m, int x, int y, int n, int width, int height, bool reflect,
               AxisTaps* along_x, AxisTaps* along_y) {
  alignas(64) double px[kChunk], py[kChunk];
  const double dy = y;
  const double bx = m.x[1] * dy + m.x[2], by = m.y[1] * dy + m.y[2], bw = m.w[1] * dy + m.w[2];
  const double ax = m.x[0], ay = m.y[0], aw = m.w[0];
  if (m.position == Cv2Position::kAffine32) {
    // Units of 1/1024 pixel: 1/32 pixel is what remains, or whole pixels.
    const double half = m.nearest ? 512 : 16, unit = m.nearest ? 0x1p-10 : 0x1p-5;
    const double step = m.nearest ? 1 : 0x1p-5;
    const double cx = rounded(bx * 1024) + half, cy = rounded(by * 1024) + half;
    for (int i = 0; i < n; ++i) {
      const double d = x + i;
      px[i] = floored((cx + rounded(ax * d * 1024)) * unit) * step;
      py[i] = floored((cy + rounded(ay * d * 1024)) * unit) * step;
    }
  } else {
    if (m.projective) {
      for (int i = 0; i < n; ++i) {
        const double d = x + i, r = 1 / (aw * d + bw);
        px[i] = (ax * d + bx) * r;
        py[i] = (ay * d + by) * r;
      }
    } else {
      for (int i = 0; i < n; ++i) {
        const double d = x + i;
        px[i] = ax * d + bx;
        py[i] = ay * d + by;
      }
    }
    if (m.nearest) {
      for (int i = 0; i < n; ++i) {
        px[i] = rounded(px[i]);
        py[i] = rounded(py[i]);
      }
    } else if (m.position == Cv2Position::kProjective32) {
      for (int i = 0; i < n; ++i) {
        px[i] = rounded(px[i] * 32) * 0x1p-5;
        py[i] = rounded(py[i] * 32) * 0x1p-5;
      }
    }
  }
  split(px, n, width, reflect, along_x);
  split(py, n, height, reflect, along_y);
}

void offsets(const int32_t* FV_R index, Cv2Walk w, int n, int32_t* FV_R out) {
  const int32_t from = (w.flip ? w.last : 0) + w.odd, sign = w.flip ? -1 : 1;
  for (int i = 0; i < n; ++i) out[i] = ((from + sign * index[i]) >> w.shift) * w.stride;
}

void add(const int32_t* FV_R a, const int32_t* FV_R b, int n, int32_t* FV_R out) {
  for (int i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

}  // namespace

extern const Cv2Kernels kCv2Table;
const Cv2Kernels kCv2Table = {fetch,  fetch_byte, yuv_to_rgb, rgb_to_gray, gray_to_rgb, border,
                              resize, blend,      component,  positions,   offsets,     add};

}  // namespace foveal::imgproc::FOVEAL_ISA
