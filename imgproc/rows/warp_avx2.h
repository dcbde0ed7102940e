// Neighbouring bytes of pixels, eight pixels a turn: part of warp_isa.cc, for AVX2.
#ifndef FOVEAL_IMGPROC_ROWS_WARP_AVX2_H_
#define FOVEAL_IMGPROC_ROWS_WARP_AVX2_H_

#include <immintrin.h>

#include <cstring>

#include "imgproc/rows/warp.h"

namespace foveal::imgproc::FOVEAL_ISA {

// Weights of both taps as adjacent 16-bit numbers.
inline __m256i warp_weights(__m256i position) {
  const __m256i second = _mm256_and_si256(position, _mm256_set1_epi32(kWarpOne - 1));
  const __m256i first = _mm256_sub_epi32(_mm256_set1_epi32(kWarpOne), second);
  return _mm256_or_si256(first, _mm256_slli_epi32(second, 16));
}

inline __m256i load_two(const uint8_t* low, const uint8_t* high) {
  const __m128i* a = reinterpret_cast<const __m128i*>(low);
  const __m128i* b = reinterpret_cast<const __m128i*>(high);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(a)), _mm_loadu_si128(b), 1);
}

// What `pairs` picks of a row, left and right taps as adjacent 16-bit numbers, blended along x and
// then with the row below, in 1/2^21.
inline __m256i blend_taps(__m256i top, __m256i below, __m256i pairs, __m256i wx, __m256i wy) {
  top = _mm256_madd_epi16(_mm256_shuffle_epi8(top, pairs), wx);
  below = _mm256_madd_epi16(_mm256_shuffle_epi8(below, pairs), wx);
  // Both cut to 1/128; the upper halves are those of `below`.
  const __m256i both =
      _mm256_blend_epi16(_mm256_srli_epi32(top, 7), _mm256_slli_epi32(below, 9), 0xAA);
  return _mm256_madd_epi16(both, wy);
}

// Components of pixels kPixel and kPixel + 4 of eight, a pixel half a vector.
template <int kPixel>
inline __m256i blend_two(const uint8_t* data, int32_t row, const int32_t* offset, __m256i pairs,
                         __m256i wx, __m256i wy) {
  const uint8_t *low = data + offset[kPixel], *high = data + offset[kPixel + 4];
  return blend_taps(load_two(low, high), load_two(low + row, high + row), pairs,
                    _mm256_shuffle_epi32(wx, kPixel * 0x55),
                    _mm256_shuffle_epi32(wy, kPixel * 0x55));
}

// Four bytes at each of eight offsets. Faster than gather instructions, which some machines have to
// slow down on purpose.
inline __m256i load_eight(const uint8_t* data, const int32_t* offset) {
  const auto four = [&](const int32_t* o) {
    int32_t word[4];
    for (int i = 0; i < 4; ++i) std::memcpy(&word[i], data + o[i], 4);
    __m128i v = _mm_cvtsi32_si128(word[0]);
    v = _mm_insert_epi32(v, word[1], 1);
    v = _mm_insert_epi32(v, word[2], 2);
    return _mm_insert_epi32(v, word[3], 3);
  };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(four(offset)), four(offset + 4), 1);
}

inline void store_eight(__m256i blended, float* out) {
  const __m256 unit = _mm256_set1_ps(1.0f / (1 << 21));
  _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_cvtepi32_ps(blended), unit));
}

// Eight pixels a turn: offsets of their upper left taps and the weights of their taps.
struct Eight {
  alignas(32) int32_t offset[8];
  __m256i wx, wy;

  Eight(const WarpPlane& plane, const int32_t* px, const int32_t* py) {
    const __m256i row = _mm256_set1_epi32(plane.row), pixel = _mm256_set1_epi32(plane.pixel);
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(px));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(py));
    const __m256i down = _mm256_mullo_epi32(_mm256_srli_epi32(y, kWarpBits), row);
    const __m256i along = _mm256_mullo_epi32(_mm256_srli_epi32(x, kWarpBits), pixel);
    _mm256_store_si256(reinterpret_cast<__m256i*>(offset), _mm256_add_epi32(down, along));
    wx = warp_weights(x);
    wy = warp_weights(y);
  }
};

// Both return how many pixels are done: all whole eights.

// One or two components, `pixel` at most 2 bytes.
inline int sample_narrow(const WarpPlane& plane, const int32_t* px, const int32_t* py, int n,
                         float* const lane[3]) {
  const char p = static_cast<char>(plane.pixel);
  const auto pairs = [p](char b) {
    const char r = static_cast<char>(b + p);
    const auto dword = [&](char at) {
      return static_cast<int>(0x80008000u | static_cast<uint32_t>(at + b) |
                              static_cast<uint32_t>(at + r) << 16);
    };
    return _mm256_broadcastsi128_si256(_mm_setr_epi32(dword(0), dword(4), dword(8), dword(12)));
  };
  const __m256i first = pairs(0), second = pairs(1);
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const Eight e(plane, px + i, py + i);
    const __m256i top = load_eight(plane.data, e.offset);
    const __m256i below = load_eight(plane.data + plane.row, e.offset);
    store_eight(blend_taps(top, below, first, e.wx, e.wy), lane[0] + i);
    if (plane.span > 1) store_eight(blend_taps(top, below, second, e.wx, e.wy), lane[1] + i);
  }
  return i;
}

// Three components.
inline int sample_wide(const WarpPlane& plane, const int32_t* px, const int32_t* py, int n,
                       float* const lane[3]) {
  const char p = static_cast<char>(plane.pixel), q = static_cast<char>(p + 1),
             r = static_cast<char>(p + 2);
  const __m256i pairs = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, -1, p, -1, 1, -1, q, -1, 2, -1, r, -1, -1, -1, -1, -1));
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const Eight e(plane, px + i, py + i);
    const __m256i a = blend_two<0>(plane.data, plane.row, e.offset, pairs, e.wx, e.wy);
    const __m256i b = blend_two<1>(plane.data, plane.row, e.offset, pairs, e.wx, e.wy);
    const __m256i c = blend_two<2>(plane.data, plane.row, e.offset, pairs, e.wx, e.wy);
    const __m256i d = blend_two<3>(plane.data, plane.row, e.offset, pairs, e.wx, e.wy);
    const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
    store_eight(_mm256_unpacklo_epi64(ab, cd), lane[0] + i);
    store_eight(_mm256_unpackhi_epi64(ab, cd), lane[1] + i);
    const __m256i hi_ab = _mm256_unpackhi_epi32(a, b), hi_cd = _mm256_unpackhi_epi32(c, d);
    store_eight(_mm256_unpacklo_epi64(hi_ab, hi_cd), lane[2] + i);
  }
  return i;
}

}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_WARP_AVX2_H_
