// Vectors of words for rows/convert_isa.cc: 16 with AVX-512, 8 with AVX2, and how three channels of
// twice as many pixels become bytes.
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
constexpr int kWords = 16;

inline Words splat(int32_t v) { return _mm512_set1_epi32(v); }
inline Floats splat(float v) { return _mm512_set1_ps(v); }
inline Words words_of(const uint8_t* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Words words_of(const uint16_t* p) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline Words load(const uint16_t* p) { return _mm512_loadu_si512(p); }
inline Words lower(Words v, Words mask) { return _mm512_and_si512(v, mask); }
template <int kBits>
inline Words upper(Words v) {
  return _mm512_srli_epi32(v, kBits);
}
inline Floats to_floats(Words v) { return _mm512_cvtepi32_ps(v); }
inline Words rounded(Floats v) { return _mm512_cvtps_epi32(v); }  // half to even
inline Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
inline Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
inline Words pack(Words even, Words odd) { return _mm512_packs_epi32(even, odd); }

constexpr std::array<uint8_t, 128> make_order() {
  std::array<uint8_t, 128> order{};  // bytes 0..63: R and G, 64..: B, of 16 bytes per 8 pixels
  for (int i = 0; i < 96; ++i) {
    const int pixel = i / 3, channel = i % 3, at = pixel % 8;
    order[static_cast<size_t>(i)] = static_cast<uint8_t>(
        pixel / 8 * 16 + at / 2 + (at % 2) * 4 + (channel == 1 ? 8 : 0) + (channel == 2 ? 64 : 0));
  }
  return order;
}

// Quarters hold e0..e3 o0..o3 of a channel; one permutation of bytes does it all.
inline void store_pixels(Words r, Words g, Words b, uint8_t* out) {
  alignas(64) static constexpr std::array<uint8_t, 128> kOrder = make_order();
  const __m512i rg = _mm512_packus_epi16(r, g), bb = _mm512_packus_epi16(b, b);
  _mm512_storeu_si512(out, _mm512_permutex2var_epi8(rg, _mm512_load_si512(kOrder.data()), bb));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 64),
                      _mm512_castsi512_si256(
                          _mm512_permutex2var_epi8(rg, _mm512_load_si512(kOrder.data() + 64), bb)));
}

#else

typedef __m256i Words;
typedef __m256 Floats;
constexpr int kWords = 8;

inline Words splat(int32_t v) { return _mm256_set1_epi32(v); }
inline Floats splat(float v) { return _mm256_set1_ps(v); }
inline Words words_of(const uint8_t* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline Words words_of(const uint16_t* p) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Words load(const uint16_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline Words lower(Words v, Words mask) { return _mm256_and_si256(v, mask); }
template <int kBits>
inline Words upper(Words v) {
  return _mm256_srli_epi32(v, kBits);
}
inline Floats to_floats(Words v) { return _mm256_cvtepi32_ps(v); }
inline Words rounded(Floats v) { return _mm256_cvtps_epi32(v); }  // half to even
inline Floats mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
inline Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
inline Words pack(Words even, Words odd) { return _mm256_packs_epi32(even, odd); }

// Halves hold e0..e3 o0..o3 of a channel; the shuffles that interleave the channels put pixels back
// in order.
inline void store_pixels(Words r, Words g, Words b, uint8_t* out) {
  const __m256i rg0 = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 8, -1, 4, 12, -1, 1, 9, -1, 5, 13, -1, 2, 10, -1, 6));
  const __m256i b0 = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(-1, -1, 0, -1, -1, 4, -1, -1, 1, -1, -1, 5, -1, -1, 2, -1));
  const __m256i rg1 = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(14, -1, 3, 11, -1, 7, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1));
  const __m256i b1 = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(-1, 6, -1, -1, 3, -1, -1, 7, -1, -1, -1, -1, -1, -1, -1, -1));
  const __m256i rg = _mm256_packus_epi16(r, g), bb = _mm256_packus_epi16(b, b);
  const __m256i head = _mm256_or_si256(_mm256_shuffle_epi8(rg, rg0), _mm256_shuffle_epi8(bb, b0));
  const __m256i tail = _mm256_or_si256(_mm256_shuffle_epi8(rg, rg1), _mm256_shuffle_epi8(bb, b1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(head));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_castsi256_si128(tail));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 24), _mm256_extracti128_si256(head, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 40), _mm256_extracti128_si256(tail, 1));
}

#endif

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_CONVERT_LANES_H_
