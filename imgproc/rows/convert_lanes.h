// Vectors for rows/convert_isa.cc: 512 bits with AVX-512, 256 with AVX2. A turn makes 16 pixels per
// 128 bits of a vector of bytes. Even and odd pixels are kept apart, so that one vector of chroma
// serves both.
#ifndef FOVEAL_IMGPROC_ROWS_CONVERT_LANES_H_
#define FOVEAL_IMGPROC_ROWS_CONVERT_LANES_H_

#include <immintrin.h>

#include <array>
#include <cstdint>

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

#if defined(__AVX512VBMI__)

typedef __m512i Words;
typedef __m512 Floats;
constexpr int kTurn = 64;  // pixels

inline Floats splat(float v) { return _mm512_set1_ps(v); }
inline Words splat16(int16_t v) { return _mm512_set1_epi16(v); }
inline Words splat32(int32_t v) { return _mm512_set1_epi32(v); }
inline Words load(const void* p) { return _mm512_loadu_si512(p); }
inline Words widen(const uint8_t* p) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline Words bits_and(Words a, Words b) { return _mm512_and_si512(a, b); }
inline Words bits_or(Words a, Words b) { return _mm512_or_si512(a, b); }
inline Words upper_bytes(Words v) { return _mm512_srli_epi16(v, 8); }
inline Words upper_halves(Words v) { return _mm512_srli_epi32(v, 16); }
inline Words unpack_low(Words a, Words b) { return _mm512_unpacklo_epi16(a, b); }
inline Words unpack_high(Words a, Words b) { return _mm512_unpackhi_epi16(a, b); }
// The even 128 bits of two vectors, and the odd ones.
inline Words even_quarters(Words a, Words b) {
  return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), b);
}
inline Words odd_quarters(Words a, Words b) {
  return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15), b);
}
inline Floats as_floats(Words v) { return _mm512_castsi512_ps(v); }
inline Words rounded(Floats v) { return _mm512_cvtps_epi32(v); }  // half to even
inline Floats mul_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
inline Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
inline Words pack_words(Words a, Words b) { return _mm512_packs_epi32(a, b); }  // saturates
inline Words pack_bytes(Words a, Words b) { return _mm512_packus_epi16(a, b); }
inline Floats load_floats(const float* p) { return _mm512_loadu_ps(p); }
inline void store_floats(float* p, Floats v) { _mm512_storeu_ps(p, v); }
inline Floats greater(Floats a, Floats b) { return _mm512_max_ps(a, b); }
inline Floats lesser(Floats a, Floats b) { return _mm512_min_ps(a, b); }

#else

typedef __m256i Words;
typedef __m256 Floats;
constexpr int kTurn = 32;  // pixels

inline Floats splat(float v) { return _mm256_set1_ps(v); }
inline Words splat16(int16_t v) { return _mm256_set1_epi16(v); }
inline Words splat32(int32_t v) { return _mm256_set1_epi32(v); }
inline Words load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline Words widen(const uint8_t* p) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Words bits_and(Words a, Words b) { return _mm256_and_si256(a, b); }
inline Words bits_or(Words a, Words b) { return _mm256_or_si256(a, b); }
inline Words upper_bytes(Words v) { return _mm256_srli_epi16(v, 8); }
inline Words upper_halves(Words v) { return _mm256_srli_epi32(v, 16); }
inline Words unpack_low(Words a, Words b) { return _mm256_unpacklo_epi16(a, b); }
inline Words unpack_high(Words a, Words b) { return _mm256_unpackhi_epi16(a, b); }
inline Words even_quarters(Words a, Words b) { return _mm256_permute2x128_si256(a, b, 0x20); }
inline Words odd_quarters(Words a, Words b) { return _mm256_permute2x128_si256(a, b, 0x31); }
inline Floats as_floats(Words v) { return _mm256_castsi256_ps(v); }
inline Words rounded(Floats v) { return _mm256_cvtps_epi32(v); }  // half to even
inline Floats mul_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
inline Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
inline Words pack_words(Words a, Words b) { return _mm256_packs_epi32(a, b); }  // saturates
inline Words pack_bytes(Words a, Words b) { return _mm256_packus_epi16(a, b); }
inline Floats load_floats(const float* p) { return _mm256_loadu_ps(p); }
inline void store_floats(float* p, Floats v) { _mm256_storeu_ps(p, v); }
inline Floats greater(Floats a, Floats b) { return _mm256_max_ps(a, b); }
inline Floats lesser(Floats a, Floats b) { return _mm256_min_ps(a, b); }

#endif

// Every other value of a turn: those of pixels 0..7 and of pixels 8..15 of every 16.
struct Halves {
  Floats of[2];
};

// A whole number n below 2^23 as the float 2^23 + n.
constexpr float kRaised = 0x1p23f;
constexpr int16_t kRaisedHigh = 0x4B00;  // upper 16 bits of kRaised

typedef Halves Raised;

// Of 8 words per 128 bits.
inline Raised raise(Words words) {
  const Words high = splat16(kRaisedHigh);
  return {as_floats(unpack_low(words, high)), as_floats(unpack_high(words, high))};
}
// Even and odd ones of a turn's values, or of pairs.
inline void raise_pairs(const uint8_t* p, Raised& even, Raised& odd) {
  const Words v = load(p);
  even = raise(bits_and(v, splat16(0xFF)));
  odd = raise(upper_bytes(v));
}
inline void raise_pairs(const uint16_t* p, Raised& even, Raised& odd) {
  const Words a = load(p), b = load(p + kTurn / 2), high = splat32(kRaisedHigh << 16);
  const Words in_order[2] = {even_quarters(a, b), odd_quarters(a, b)};
  for (int h = 0; h < 2; ++h) {
    even.of[h] = as_floats(bits_or(bits_and(in_order[h], splat32(0xFFFF)), high));
    odd.of[h] = as_floats(bits_or(upper_halves(in_order[h]), high));
  }
}
// Half as many values as a turn has pixels.
inline Raised raise_half(const uint8_t* p) { return raise(widen(p)); }
inline Raised raise_half(const uint16_t* p) { return raise(load(p)); }

// k times the whole number, rounded once: k 2^23 is exact, and so is what is rounded.
struct Factor {
  Floats k, less;
  explicit Factor(float v) : k(splat(v)), less(splat(-v * kRaised)) {}
  Floats times(Floats raised) const { return mul_add(k, raised, less); }
};

// a + b, rounded once: by the units of products, where sums and conversions keep the others busy.
inline Floats sum_of(Floats a, Floats b) { return mul_add(splat(1.0f), a, b); }

// One channel's 16 bytes per 128 bits; pixels 0 2 4 6 1 3 5 7, then 8 10 12 ...
inline Words channel_bytes(const Halves& even, const Halves& odd) {
  return pack_bytes(pack_words(rounded(even.of[0]), rounded(odd.of[0])),
                    pack_words(rounded(even.of[1]), rounded(odd.of[1])));
}
constexpr int place_of(int pixel) { return pixel / 8 * 8 + pixel % 2 * 4 + pixel % 8 / 2; }

#if defined(__AVX512VBMI__)

// Of byte i of a part of three: where its channel has it, channel 1 behind channel 0.
struct Weave {
  alignas(64) uint8_t at[3][64];
  uint64_t is_third[3];  // bits: of channel 2
};
constexpr Weave make_weave() {
  Weave w{};
  for (int i = 0; i < 192; ++i) {
    const int pixel = i / 3, channel = i % 3;
    w.at[i / 64][i % 64] =
        static_cast<uint8_t>(pixel / 16 * 16 + place_of(pixel % 16) + channel % 2 * 64);
    if (channel == 2) w.is_third[i / 64] |= uint64_t{1} << i % 64;
  }
  return w;
}

// A turn's pixels, from channel_bytes.
inline void store_pixels(Words r, Words g, Words b, uint8_t* out) {
  static constexpr Weave kWeave = make_weave();
  for (int part = 0; part < 3; ++part) {
    const __m512i at = _mm512_load_si512(kWeave.at[part]);
    const __m512i rg = _mm512_permutex2var_epi8(r, at, g);
    _mm512_storeu_si512(out + 64 * part,
                        _mm512_mask_permutexvar_epi8(rg, kWeave.is_third[part], at, b));
  }
}

#else

// Byte i of a part of three belongs to channel (part + i) % 3, so that one shuffle of a channel's
// bytes serves all parts.
struct Weave {
  alignas(16) int8_t at[3][16];
  alignas(16) int8_t is_channel[3][16];
};
constexpr Weave make_weave() {
  Weave w{};
  for (int c = 0; c < 3; ++c) {
    for (int i = 0; i < 16; ++i) {
      const int part = (c - i + 18) % 3;
      w.at[c][i] = static_cast<int8_t>(place_of((16 * part + i) / 3));
      w.is_channel[c][i] = i % 3 == c ? -1 : 0;
    }
  }
  return w;
}

// A turn's pixels, from channel_bytes.
inline void store_pixels(Words r, Words g, Words b, uint8_t* out) {
  static constexpr Weave kWeave = make_weave();
  const auto twice = [](const int8_t v[16]) {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(v)));
  };
  r = _mm256_shuffle_epi8(r, twice(kWeave.at[0]));
  g = _mm256_shuffle_epi8(g, twice(kWeave.at[1]));
  b = _mm256_shuffle_epi8(b, twice(kWeave.at[2]));
  __m256i v[3];
  for (int part = 0; part < 3; ++part) {
    const __m256i rg = _mm256_blendv_epi8(r, g, twice(kWeave.is_channel[(4 - part) % 3]));
    v[part] = _mm256_blendv_epi8(rg, b, twice(kWeave.is_channel[(5 - part) % 3]));
  }
  auto* to = reinterpret_cast<__m256i*>(out);
  _mm256_storeu_si256(to, _mm256_permute2x128_si256(v[0], v[1], 0x20));
  _mm256_storeu_si256(to + 1, _mm256_blend_epi32(v[2], v[0], 0xF0));
  _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(v[1], v[2], 0x31));
}

#endif

#if defined(__AVX512VBMI__)

// Components of sixteen packed pixels of 3 or 4 bytes.
struct PackedPixels {
  __m512i from[3];
  __mmask64 own;

  PackedPixels(int size, const int offset[3]) : own(~uint64_t{0} >> (64 - 16 * size)) {
    for (int c = 0; c < 3; ++c) {
      alignas(64) uint8_t at[64] = {};
      for (int i = 0; i < 16; ++i) at[4 * i] = static_cast<uint8_t>(i * size + offset[c]);
      from[c] = _mm512_load_si512(at);
    }
  }
  void raise(const uint8_t* p, Floats (&c)[3]) const {
    const __m512i v = _mm512_maskz_loadu_epi8(own, p), high = splat32(kRaisedHigh << 16);
    for (int i = 0; i < 3; ++i)
      c[i] = as_floats(_mm512_mask_permutexvar_epi8(high, 0x1111111111111111, from[i], v));
  }
};

// Sixteen sums as bytes.
inline void store_bytes(const Floats (&sums)[1], uint8_t* out) {
  const __m512i words = _mm512_max_epi32(rounded(sums[0]), _mm512_setzero_si512());
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtusepi32_epi8(words));
}

#else

// Components of eight packed pixels of 3 or 4 bytes; loads of 16 bytes end within the next two.
struct PackedPixels {
  __m256i from[3];  // byte c of each of the four pixels in a half, as a word
  int pixel;

  PackedPixels(int size, const int offset[3]) : pixel(size) {
    for (int c = 0; c < 3; ++c) {
      alignas(16) int8_t at[16];
      for (int b = 0; b < 16; ++b)
        at[b] = static_cast<int8_t>(b % 4 == 0 ? b / 4 * size + offset[c] : -1);
      from[c] = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(at)));
    }
  }
  void raise(const uint8_t* p, Floats (&c)[3]) const {
    const auto half = [](const uint8_t* q) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(q));
    };
    const __m256i v = _mm256_set_m128i(half(p + 4 * pixel), half(p));
    for (int i = 0; i < 3; ++i)
      c[i] = as_floats(bits_or(_mm256_shuffle_epi8(v, from[i]), splat32(kRaisedHigh << 16)));
  }
};

// Sixteen sums as bytes.
inline void store_bytes(const Floats (&sums)[2], uint8_t* out) {
  const __m256i words = pack_words(rounded(sums[0]), rounded(sums[1]));
  const __m256i ordered = _mm256_permute4x64_epi64(words, 0xD8);
  const __m256i bytes = pack_bytes(ordered, ordered);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(bytes));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 8), _mm256_extracti128_si256(bytes, 1));
}

#endif

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_CONVERT_LANES_H_
