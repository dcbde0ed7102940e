// Rows of bytes to rows of packed bytes. Compiled once per instruction set, like kernels_isa.cc.
#include <array>
#include <cstring>

#include "imgproc/rows/kernels.h"
#include "imgproc/rows/round.h"
#if defined(__AVX2__)
#include "imgproc/rows/convert_lanes.h"
#else
#include "imgproc/rows/convert_plain.h"
#endif

#define FV_R __restrict

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

template <class T>
inline int64_t chroma_of(const YuvRowOf<T>& in, int i) {
  return int64_t{(i + in.odd) >> in.shift} * in.step;
}

template <class T>
inline void yuv_pixels(const YuvRowOf<T>& in, const float m[3][4], int from, int to,
                       uint8_t* FV_R out) {
  for (int i = from; i < to; ++i) {
    const int64_t at = chroma_of(in, i);
    const float y = in.y[int64_t{i} * in.y_step], u = in.u[at], v = in.v[at];
    for (int k = 0; k < 3; ++k)
      out[3 * i + k] =
          static_cast<uint8_t>(byte_of(m[k][0] * y + (m[k][1] * u + (m[k][2] * v + m[k][3]))));
  }
}

inline int rounded_product(int a, int b) { return (a * b + 0x4000) >> 15; }

inline void fast_pixels(const YuvRow& in, const FixedColor& m, int from, int to,
                        uint8_t* FV_R out) {
  for (int i = from; i < to; ++i) {
    const int64_t at = chroma_of(in, i);
    const int y = rounded_product(in.y[i] << 7, m.y);
    const int u = (in.u[at] - 128) * 256, v = (in.v[at] - 128) * 256;
    for (int k = 0; k < 3; ++k) {
      const int c = rounded_product(u, m.u[k]) + rounded_product(v, m.v[k]) + m.bias[k];
      int sum = y + c;
      sum = sum > 0x7FFF ? 0x7FFF : sum;
      sum >>= 6;
      out[3 * i + k] = static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
    }
  }
}

inline void pick_pixels(const uint8_t* FV_R in, int pixel, const int offset[3], int from, int to,
                        uint8_t* FV_R out) {
  const int o0 = offset[0], o1 = offset[1], o2 = offset[2];
  for (int i = from; i < to; ++i) {
    const uint8_t* at = in + static_cast<int64_t>(i) * pixel;
    out[3 * i] = at[o0];
    out[3 * i + 1] = at[o1];
    out[3 * i + 2] = at[o2];
  }
}

#if defined(__AVX2__)

// kFull: planes that are not subsampled.
enum class Chroma { kPlanes, kUv, kVu, kFull };

// Byte i of 16 of output vector `part` of 3: pixels' components in turn, where a channel's 16
// pixels are e0..e7 o0..o7. -1: another channel's.
struct FastWeave {
  int8_t at[3][3][16];  // [part][channel]
};
constexpr FastWeave make_fast_weave() {
  FastWeave w{};
  for (int i = 0; i < 48; ++i)
    for (int c = 0; c < 3; ++c)
      w.at[i / 16][c][i % 16] =
          static_cast<int8_t>(i % 3 == c ? i / 3 / 2 + (i / 3 % 2 ? 8 : 0) : -1);
  return w;
}

// 32 pixels a turn, in 16-bit lanes; even and odd pixels apart as above.
template <Chroma kChroma, int kUse0, int kUse1, int kUse2>
int fast_turns(const YuvRow& in, const FixedColor& m, int n, uint8_t* out) {
  alignas(16) static constexpr FastWeave kWeave = make_fast_weave();
  __m256i weave[3][3];
  for (int part = 0; part < 3; ++part)
    for (int c = 0; c < 3; ++c)
      weave[part][c] = _mm256_broadcastsi128_si256(
          _mm_load_si128(reinterpret_cast<const __m128i*>(kWeave.at[part][c])));
  const __m256i ky = _mm256_set1_epi16(m.y);
  __m256i ku[3], kv[3], k[3];
  for (int c = 0; c < 3; ++c) {
    ku[c] = _mm256_set1_epi16(m.u[c]);
    kv[c] = _mm256_set1_epi16(m.v[c]);
    k[c] = _mm256_set1_epi16(m.bias[c]);
  }
  const __m256i low = _mm256_set1_epi16(0xFF), high = _mm256_set1_epi16(-256);
  const __m256i middle = _mm256_set1_epi8(-128), upper = _mm256_set1_epi16(0x7F80);
  const auto load = [](const uint8_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  };
  const auto bytes = [&](const uint8_t* p) {
    const __m256i v = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return _mm256_xor_si256(_mm256_slli_epi16(v, 8), _mm256_slli_epi16(middle, 8));
  };
  int i = in.odd;
  for (; i + 32 <= n; i += 32) {
    const int64_t at = (i + in.odd) / 2;
    __m256i u, v;  // (value - 128) * 256
    if (kChroma == Chroma::kPlanes) {
      u = bytes(in.u + at);
      v = bytes(in.v + at);
    } else {
      const uint8_t* pairs = (kChroma == Chroma::kUv ? in.u : in.v) + 2 * at;
      const __m256i both = _mm256_xor_si256(load(pairs), middle);
      const __m256i first = _mm256_slli_epi16(both, 8), second = _mm256_and_si256(both, high);
      u = kChroma == Chroma::kUv ? first : second;
      v = kChroma == Chroma::kUv ? second : first;
    }
    const __m256i y = load(in.y + i);
    const __m256i even = _mm256_mulhrs_epi16(_mm256_slli_epi16(_mm256_and_si256(y, low), 7), ky);
    const __m256i odd = _mm256_mulhrs_epi16(_mm256_and_si256(_mm256_srli_epi16(y, 1), upper), ky);
    const auto channel = [&](int c, int use) {
      __m256i t = k[c];
      if (use & 1) t = _mm256_add_epi16(t, _mm256_mulhrs_epi16(u, ku[c]));
      if (use & 2) t = _mm256_add_epi16(t, _mm256_mulhrs_epi16(v, kv[c]));
      return _mm256_packus_epi16(_mm256_srai_epi16(_mm256_adds_epi16(even, t), 6),
                                 _mm256_srai_epi16(_mm256_adds_epi16(odd, t), 6));
    };
    const __m256i r = channel(0, kUse0), g = channel(1, kUse1), b = channel(2, kUse2);
    uint8_t* to = out + 3 * static_cast<int64_t>(i);
    for (int part = 0; part < 3; ++part) {
      const __m256i v3 = _mm256_or_si256(_mm256_or_si256(_mm256_shuffle_epi8(r, weave[part][0]),
                                                         _mm256_shuffle_epi8(g, weave[part][1])),
                                         _mm256_shuffle_epi8(b, weave[part][2]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16 * part), _mm256_castsi256_si128(v3));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 48 + 16 * part),
                       _mm256_extracti128_si256(v3, 1));
    }
  }
  return i;
}

template <Chroma kChroma>
int fast_blocks_of(const YuvRow& in, const FixedColor& m, int n, uint8_t* out) {
  const bool rgb = m.u[0] == 0 && m.v[2] == 0, bgr = m.v[0] == 0 && m.u[2] == 0;
  if (rgb) return fast_turns<kChroma, 2, 3, 1>(in, m, n, out);
  if (bgr) return fast_turns<kChroma, 1, 3, 2>(in, m, n, out);
  return fast_turns<kChroma, 3, 3, 3>(in, m, n, out);
}

// kUse: which weights (1: U, 2: V) of the three channels are not 0: adding a product of 0 changes
// nothing. Where one of them is 0, luma has the same weight in all channels. Gives the
// first column that is left.
template <class T, Chroma kChroma, int kUse0, int kUse1, int kUse2>
int yuv_turns(const YuvRowOf<T>& in, const float m[3][4], int n, uint8_t* out, uint8_t* out_below) {
  constexpr bool kOneLuma = kUse0 != 3 || kUse2 != 3;
  constexpr int kUse[3] = {kUse0, kUse1, kUse2};
  if (n - in.odd < kTurn) return in.odd;
  const Factor ky[3] = {Factor(m[0][0]), Factor(m[1][0]), Factor(m[2][0])};
  const Factor ku[3] = {Factor(m[0][1]), Factor(m[1][1]), Factor(m[2][1])};
  const Factor kv[3] = {Factor(m[0][2]), Factor(m[1][2]), Factor(m[2][2])};
  const Floats bias[3] = {splat(m[0][3]), splat(m[1][3]), splat(m[2][3])};
  for (int i = in.odd;;) {
    const int64_t at = (i + in.odd) / 2;
    Raised u[2], v[2];  // of even and of odd pixels, which share them unless kFull
    if constexpr (kChroma == Chroma::kFull) {
      raise_pairs(in.u + i, u[0], u[1]);
      raise_pairs(in.v + i, v[0], v[1]);
    } else if constexpr (kChroma == Chroma::kPlanes) {
      u[0] = raise_half(in.u + at);
      v[0] = raise_half(in.v + at);
    } else {
      Raised first, second;
      raise_pairs((kChroma == Chroma::kUv ? in.u : in.v) + 2 * at, first, second);
      u[0] = kChroma == Chroma::kUv ? first : second;
      v[0] = kChroma == Chroma::kUv ? second : first;
    }
    constexpr int kSides = kChroma == Chroma::kFull ? 2 : 1;
    Halves tint[3][2];
#pragma GCC unroll 3
    for (int c = 0; c < 3; ++c) {
      for (int side = 0; side < kSides; ++side) {
        for (int h = 0; h < 2; ++h) {
          Floats t = bias[c];
          if (kUse[c] & 2) t = add(kv[c].times(v[side].of[h]), t);
          if (kUse[c] & 1) t = add(ku[c].times(u[side].of[h]), t);
          tint[c][side].of[h] = t;
        }
      }
    }
    if (in.y_below) {  // two rows at once break the stream that memory would see coming
      const int64_t stride = in.y_below - in.y;
      __builtin_prefetch(in.y + 2 * stride + i);
      __builtin_prefetch(in.y + 3 * stride + i);
    }
    for (int row = 0; row < (in.y_below ? 2 : 1); ++row) {
      Raised y[2];
      raise_pairs((row ? in.y_below : in.y) + i, y[0], y[1]);
      Halves light[2];
      for (int side = 0; side < 2 && kOneLuma; ++side)
        for (int h = 0; h < 2; ++h) light[side].of[h] = ky[0].times(y[side].of[h]);
      Words bytes[3];
#pragma GCC unroll 3
      for (int c = 0; c < 3; ++c) {
        Halves sum[2];
        for (int side = 0; side < 2; ++side) {
          for (int h = 0; h < 2; ++h) {
            const Floats l = kOneLuma ? light[side].of[h] : ky[c].times(y[side].of[h]);
            sum[side].of[h] = sum_of(l, tint[c][side % kSides].of[h]);
          }
        }
        bytes[c] = channel_bytes(sum[0], sum[1]);
      }
      store_pixels(bytes[0], bytes[1], bytes[2], (row ? out_below : out) + int64_t{3} * i);
    }
    i += kTurn;
    if (i + 1 >= n) return i;
    if (i + kTurn > n) i = n - kTurn - (n - in.odd) % 2;  // overlaps, from a chroma pair on
  }
}

template <Chroma kChroma>
int yuv_blocks_of(const YuvRow& in, const float m[3][4], int n, uint8_t* out, uint8_t* out_below) {
  const bool one_luma = m[0][0] == m[1][0] && m[1][0] == m[2][0];
  const bool rgb = one_luma && m[0][1] == 0 && m[2][2] == 0;
  const bool bgr = one_luma && m[0][2] == 0 && m[2][1] == 0;
  if (rgb) return yuv_turns<uint8_t, kChroma, 2, 3, 1>(in, m, n, out, out_below);
  if (bgr) return yuv_turns<uint8_t, kChroma, 1, 3, 2>(in, m, n, out, out_below);
  return yuv_turns<uint8_t, kChroma, 3, 3, 3>(in, m, n, out, out_below);
}

int fast_blocks(const YuvRow& in, const FixedColor& m, int n, uint8_t* out) {
  if (in.step == 1) return fast_blocks_of<Chroma::kPlanes>(in, m, n, out);
  if (in.step == 2 && in.v - in.u == 1) return fast_blocks_of<Chroma::kUv>(in, m, n, out);
  if (in.step == 2 && in.u - in.v == 1) return fast_blocks_of<Chroma::kVu>(in, m, n, out);
  return in.odd;
}

// Both give the first column that is left.
int yuv_blocks(const YuvRow& in, const float m[3][4], int n, uint8_t* out, uint8_t* out_below) {
  if (in.shift == 0)
    return in.step == 1 ? yuv_turns<uint8_t, Chroma::kFull, 3, 3, 3>(in, m, n, out, out_below) : 0;
  if (in.step == 1) return yuv_blocks_of<Chroma::kPlanes>(in, m, n, out, out_below);
  if (in.step == 2 && in.v - in.u == 1) return yuv_blocks_of<Chroma::kUv>(in, m, n, out, out_below);
  if (in.step == 2 && in.u - in.v == 1) return yuv_blocks_of<Chroma::kVu>(in, m, n, out, out_below);
  return in.odd;
}
int yuv_blocks(const DeepYuvRow& in, const float m[3][4], int n, uint8_t* out, uint8_t* out_below) {
  if (in.shift == 0 || in.y_step != 1) return in.odd;
  if (in.step == 1) return yuv_turns<uint16_t, Chroma::kPlanes, 3, 3, 3>(in, m, n, out, out_below);
  if (in.step == 2 && in.v - in.u == 1)
    return yuv_turns<uint16_t, Chroma::kUv, 3, 3, 3>(in, m, n, out, out_below);
  return in.odd;
}

// Fewer pixels than a turn has, from in.odd on, by way of copies.
template <class T>
int short_turn(const YuvRowOf<T>& in, const float m[3][4], int n, uint8_t* out,
               uint8_t* out_below) {
  constexpr int kFewest = 8;
  const int pixels = n - in.odd;
  const int64_t apart = in.v - in.u;
  const bool paired = in.step == 2 && (apart == 1 || apart == -1);
  if (pixels < kFewest || pixels >= kTurn || in.y_step != 1 || (in.step != 1 && !paired))
    return in.odd;
  alignas(64) T y[2][kTurn] = {}, chroma[2 * kTurn] = {};
  uint8_t bytes[2][3 * kTurn];
  YuvRowOf<T> row{y[0], chroma, chroma + kTurn, in.step, 0, 1, in.shift};
  std::memcpy(y[0], in.y + in.odd, sizeof(T) * pixels);
  if (in.y_below) {
    row.y_below = y[1];
    std::memcpy(y[1], in.y_below + in.odd, sizeof(T) * pixels);
  }
  const int64_t at = chroma_of(in, in.odd);
  const auto bytes_of = [&](int each) {
    return sizeof(T) * each * (((pixels - 1) >> in.shift) + 1);
  };
  if (paired) {
    row.u = chroma + (apart < 0);
    row.v = chroma + (apart > 0);
    std::memcpy(chroma, (apart > 0 ? in.u : in.v) + at, bytes_of(2));
  } else {
    std::memcpy(chroma, in.u + at, bytes_of(1));
    std::memcpy(chroma + kTurn, in.v + at, bytes_of(1));
  }
  if (yuv_blocks(row, m, kTurn, bytes[0], bytes[1]) == 0) return in.odd;  // not of this kind
  std::memcpy(out + 3 * in.odd, bytes[0], static_cast<size_t>(3 * pixels));
  if (in.y_below) std::memcpy(out_below + 3 * in.odd, bytes[1], static_cast<size_t>(3 * pixels));
  return n;
}

// Four pixels a turn; loads and stores of 16 bytes end within the next two.
int pick_blocks(const uint8_t* in, int pixel, const int offset[3], int n, uint8_t* out) {
  if (pixel != 3 && pixel != 4) return 0;
  alignas(16) int8_t from[16];
  for (int b = 0; b < 16; ++b)
    from[b] = static_cast<int8_t>(b < 12 ? b / 3 * pixel + offset[b % 3] : -1);
  const __m128i order = _mm_load_si128(reinterpret_cast<const __m128i*>(from));
  int i = 0;
  for (; i + 6 <= n; i += 4) {
    const __m128i v =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + static_cast<int64_t>(i) * pixel));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * static_cast<int64_t>(i)),
                     _mm_shuffle_epi8(v, order));
  }
  return i;
}

constexpr int kSums = kTurn / 4;  // floats of a vector
constexpr int kSides = 16 / kSums;

// Weighted sums of the three bytes of packed pixels, as color_isa.cc sums.
struct Weights {
  Factor k[3];
  Floats bias;

  explicit Weights(const float m[4])
      : k{Factor(m[0]), Factor(m[1]), Factor(m[2])}, bias(splat(m[3])) {}
  Floats sum(const Floats (&raised)[3]) const {
    Floats t = bias;
    for (int i = 2; i >= 0; --i) t = add(k[i].times(raised[i]), t);
    return t;
  }
};

// Both do sixteen pixels of 3 or 4 bytes a turn, and read within the next two.
int luma_blocks(const uint8_t* in, int pixel, const int offset[3], const float m[4], int n,
                uint8_t* out) {
  if (pixel != 3 && pixel != 4) return 0;
  const PackedPixels pixels(pixel, offset);
  const Weights weights(m);
  int i = 0;
  for (; i + 18 <= n; i += 16) {
    Floats sums[kSides];
    for (int side = 0; side < kSides; ++side) {
      Floats c[3];
      pixels.raise(in + int64_t{i + kSums * side} * pixel, c);
      sums[side] = weights.sum(c);
    }
    store_bytes(sums, out + i);
  }
  return i;
}

int planes_blocks(const uint8_t* in, int64_t ahead, int pixel, const int offset[3],
                  const float m[3][4], bool more, int n, uint8_t* y, float* u, float* v) {
  if (pixel != 3 && pixel != 4) return 0;
  const PackedPixels pixels(pixel, offset);
  const Weights luma(m[0]), chroma[2] = {Weights(m[1]), Weights(m[2])};
  const Floats most = splat(255.0f), least = splat(0.0f);
  float* const sums[2] = {u, v};
  int i = 0;
  for (; i + 18 <= n; i += 16) {
    __builtin_prefetch(in + int64_t{i} * pixel + ahead);
    Floats light[kSides];
    for (int side = 0; side < kSides; ++side) {
      const int at = i + kSums * side;
      Floats c[3];
      pixels.raise(in + int64_t{at} * pixel, c);
      light[side] = luma.sum(c);
      for (int k = 0; k < 2; ++k) {
        Floats t = lesser(greater(chroma[k].sum(c), least), most);
        if (more) t = add(load_floats(sums[k] + at), t);
        store_floats(sums[k] + at, t);
      }
    }
    store_bytes(light, y + i);
  }
  return i;
}

#else

int yuv_blocks(const DeepYuvRow& in, const float[3][4], int, uint8_t*, uint8_t*) { return in.odd; }
template <class T>
int short_turn(const YuvRowOf<T>& in, const float[3][4], int, uint8_t*, uint8_t*) {
  return in.odd;
}
int pick_blocks(const uint8_t*, int, const int[3], int, uint8_t*) { return 0; }
int luma_blocks(const uint8_t*, int, const int[3], const float[4], int, uint8_t*) { return 0; }
int planes_blocks(const uint8_t*, int64_t, int, const int[3], const float[3][4], bool, int,
                  uint8_t*, float*, float*) {
  return 0;
}

#endif

// in[0], in[step], ...
__attribute__((noinline)) void gather_bytes(const uint8_t* FV_R in, int step, int n,
                                            uint8_t* FV_R out) {
  const auto gather = [&](int apart) {
    for (int i = 0; i < n; ++i) out[i] = in[int64_t{i} * apart];
  };
  if (step == 2) return gather(2);
  if (step == 4) return gather(4);
  gather(step);
}

// A row whose luma values are apart, piece by piece as planes: convert(row, pixels, out).
template <class Convert>
void in_pieces(const YuvRow& in, int n, uint8_t* out, Convert&& convert) {
  constexpr int kPiece = 512;
  alignas(64) uint8_t y[kPiece], u[kPiece], v[kPiece];
  for (int i = 0; i < n;) {
    const int odd = (in.odd + i) & in.shift, m = n - i < kPiece - odd ? n - i : kPiece - odd;
    const int chroma = ((m - 1 + odd) >> in.shift) + 1;
    gather_bytes(in.y + int64_t{i} * in.y_step, in.y_step, m, y);
    gather_bytes(in.u + chroma_of(in, i), in.step, chroma, u);
    gather_bytes(in.v + chroma_of(in, i), in.step, chroma, v);
    convert(YuvRow{y, u, v, 1, odd, 1, in.shift}, m, out + int64_t{3} * i);
    i += m;
  }
}

template <class T>
void convert_yuv(const YuvRowOf<T>& in, const float m[3][4], int n, uint8_t* out,
                 uint8_t* out_below) {
  if (n < 1) return;
  int from = yuv_blocks(in, m, n, out, out_below);  // from column in.odd on
  if (from == in.odd) from = short_turn(in, m, n, out, out_below);
  YuvRowOf<T> row = in;
  for (uint8_t* to = out;; to = out_below, row.y = in.y_below) {
    yuv_pixels(row, m, 0, in.odd, to);
    yuv_pixels(row, m, from, n, to);
    if (!in.y_below || to == out_below) return;
  }
}

void yuv_to_bytes(const YuvRow& in, const float m[3][4], int n, uint8_t* out, uint8_t* out_below) {
  if (in.y_step == 1) return convert_yuv(in, m, n, out, out_below);
  in_pieces(in, n, out, [m](const YuvRow& row, int count, uint8_t* to) {
    convert_yuv(row, m, count, to, nullptr);
  });
}

void yuv_to_bytes_fast(const YuvRow& in, const FixedColor& m, int n, uint8_t* out) {
  if (n < 1) return;
  if (in.y_step != 1)
    return in_pieces(in, n, out, [&m](const YuvRow& row, int count, uint8_t* to) {
      yuv_to_bytes_fast(row, m, count, to);
    });
  fast_pixels(in, m, 0, in.odd, out);
  fast_pixels(in, m, fast_blocks(in, m, n, out), n, out);
}

void pick_bytes(const uint8_t* in, int pixel, const int offset[3], int n, uint8_t* out) {
  if (pixel == 3 && offset[0] == 0 && offset[1] == 1 && offset[2] == 2) {
    std::memcpy(out, in, static_cast<size_t>(n) * 3);
    return;
  }
  pick_pixels(in, pixel, offset, pick_blocks(in, pixel, offset, n, out), n, out);
}

void level_bytes(const uint8_t* FV_R in, int pixel, float k, float b, int n, uint8_t* FV_R out) {
  constexpr int kPiece = 512;
  uint8_t piece[kPiece];
  for (int at = 0; at < n; at += kPiece) {
    const int m = n - at < kPiece ? n - at : kPiece;
    const uint8_t* levels = in + at;
    if (pixel != 1) {
      gather_bytes(in + int64_t{at} * pixel, pixel, m, piece);
      levels = piece;
    }
    for (int i = 0; i < m; ++i) out[at + i] = static_cast<uint8_t>(byte_of(k * levels[i] + b));
  }
}

void luma_bytes(const uint8_t* FV_R in, int pixel, const int offset[3], const float m[4], int n,
                uint8_t* FV_R out) {
  const float k0 = m[0], k1 = m[1], k2 = m[2], k3 = m[3];
  const int o0 = offset[0], o1 = offset[1], o2 = offset[2];
  const int from = luma_blocks(in, pixel, offset, m, n, out);
  const auto convert = [&](int apart) {
    for (int i = from; i < n; ++i) {
      const uint8_t* at = in + int64_t{i} * apart;
      out[i] = static_cast<uint8_t>(byte_of(k0 * at[o0] + (k1 * at[o1] + (k2 * at[o2] + k3))));
    }
  };
#if !defined(__AVX2__)
  if (pixel == 3) return convert(3);
  if (pixel == 4) return convert(4);
#endif
  convert(pixel);
}

void planes_of(const uint8_t* FV_R in, int64_t ahead, int pixel, const int offset[3],
               const float m[3][4], bool more, int n, uint8_t* FV_R y, float* FV_R u,
               float* FV_R v) {
  float* const sums[2] = {u, v};
  for (int i = planes_blocks(in, ahead, pixel, offset, m, more, n, y, u, v); i < n; ++i) {
    const uint8_t* at = in + int64_t{i} * pixel;
    const float r = at[offset[0]], g = at[offset[1]], b = at[offset[2]];
    const auto sum = [&](const float k[4]) { return k[0] * r + (k[1] * g + (k[2] * b + k[3])); };
    y[i] = static_cast<uint8_t>(byte_of(sum(m[0])));
    for (int k = 0; k < 2; ++k) sums[k][i] = clamp255(sum(m[1 + k])) + (more ? sums[k][i] : 0);
  }
}

}  // namespace

extern const Conversions kConversions;
const Conversions kConversions = {yuv_to_bytes, convert_yuv<uint16_t>, yuv_to_bytes_fast,
                                  pick_bytes,   level_bytes,           luma_bytes,
                                  planes_of};

}  // namespace foveal::imgproc::FOVEAL_ISA
