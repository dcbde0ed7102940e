// Filters of bytes, for AVX-512 with VBMI and VNNI: part of pillow_isa.cc. A weight is
// 65536 * top + 256 * middle + low, all of 8 bits with a sign: products of fours add up in 32.
#ifndef FOVEAL_IMGPROC_ROWS_PILLOW_AVX512_H_
#define FOVEAL_IMGPROC_ROWS_PILLOW_AVX512_H_

#include <immintrin.h>

#include <algorithm>

#include "imgproc/rows/pillow.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

constexpr int kDigits = 3;  // top, middle, low

// Per block of 16 taps and digit: four taps per 128 bits, repeated for each component.
constexpr int kTaps = 16;
constexpr int kBlockBytes = 64 * kDigits;

// One digit of 16 weights, as bytes.
struct Digits {
  __m128i of[kDigits];
};
inline Digits split(__m512i w) {
  Digits digits;
  for (int d = kDigits - 1; d >= 0; --d) {
    const __m512i low = _mm512_srai_epi32(_mm512_slli_epi32(w, 24), 24);
    digits.of[d] = _mm512_cvtepi32_epi8(low);
    w = _mm512_srai_epi32(_mm512_sub_epi32(w, low), 8);
  }
  return digits;
}
inline __m512i load_weights(const int32_t* w, int count) {
  return _mm512_maskz_loadu_epi32(static_cast<__mmask16>((1u << std::clamp(count, 0, 16)) - 1), w);
}

void pack(const int32_t* w, int count, int blocks, uint8_t* out) {
  const __m512i repeat = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
  for (int b = 0; b < blocks; ++b, w += kTaps, count -= kTaps) {
    const Digits digits = split(load_weights(w, count));
    for (int d = 0; d < kDigits; ++d, out += 64)
      _mm512_store_si512(out,
                         _mm512_permutexvar_epi32(repeat, _mm512_castsi128_si512(digits.of[d])));
  }
}

// Lane j of vector i becomes lane i of vector j.
inline void transpose_lanes(__m512i& a, __m512i& b, __m512i& c, __m512i& d) {
  const __m512i ab = _mm512_shuffle_i32x4(a, b, 0x44), ab2 = _mm512_shuffle_i32x4(a, b, 0xEE);
  const __m512i cd = _mm512_shuffle_i32x4(c, d, 0x44), cd2 = _mm512_shuffle_i32x4(c, d, 0xEE);
  a = _mm512_shuffle_i32x4(ab, cd, 0x88);
  b = _mm512_shuffle_i32x4(ab, cd, 0xDD);
  c = _mm512_shuffle_i32x4(ab2, cd2, 0x88);
  d = _mm512_shuffle_i32x4(ab2, cd2, 0xDD);
}

inline __m512i joined(__m512i top, __m512i middle, __m512i low) {
  const __m512i upper = _mm512_add_epi32(_mm512_slli_epi32(top, 8), middle);
  return _mm512_add_epi32(_mm512_slli_epi32(upper, 8), low);
}

struct Reader {
  __m512i order;  // of 16 pixels: the bytes of four pixels' component side by side
  __m512i half;   // of rounding, in units of top digits, in one of four groups
  int bytes;      // of 16 pixels
};

// Sums of four groups of taps, the components in each, of one output on kLines lines. Unless kAll,
// only `left` bytes may be read from p on; with it, 64 for each block. kBlocks: 0 for `blocks`.
template <int kLines, int kBlocks, bool kAll>
inline void add_taps(const Reader& r, const uint8_t* p, int64_t stride, int64_t left,
                     const __m512i* w, int blocks, __m512i out[kLines]) {
  const auto pixels = [&](int l) {
    const int64_t own = std::clamp<int64_t>(left - l * stride, 0, 64);
    const __mmask64 mask = own > 0 ? ~uint64_t{0} >> (64 - own) : 0;
    return _mm512_permutexvar_epi8(r.order, kAll ? _mm512_loadu_si512(p + l * stride)
                                                 : _mm512_maskz_loadu_epi8(mask, p + l * stride));
  };
  const auto ask = [&] {  // for what the lines behind have here
    for (int l = kLines; l < 2 * kLines && kAll; ++l) __builtin_prefetch(p + l * stride);
  };
  const auto next = [](__m512i sum) { return _mm512_slli_epi32(sum, 8); };
  if (kBlocks) ask();
  if constexpr (kBlocks == 1) {  // a sum is shifted between its digits
    const __m512i w0 = _mm512_load_si512(w), w1 = _mm512_load_si512(w + 1);
    const __m512i w2 = _mm512_load_si512(w + 2);
    for (int l = 0; l < kLines; ++l) {
      const __m512i v = pixels(l);
      const __m512i upper = _mm512_dpbusd_epi32(next(_mm512_dpbusd_epi32(r.half, v, w0)), v, w1);
      out[l] = _mm512_dpbusd_epi32(next(upper), v, w2);
    }
    return;
  }
  __m512i sum[kLines][kDigits];
  for (int l = 0; l < kLines; ++l) {
    sum[l][0] = r.half;
    sum[l][1] = sum[l][2] = _mm512_setzero_si512();
  }
  for (int b = 0; b < (kBlocks ? kBlocks : blocks); ++b) {
    if (!kBlocks) ask();
    for (int l = 0; l < kLines; ++l) {
      const __m512i v = pixels(l);
      for (int d = 0; d < kDigits; ++d)
        sum[l][d] = _mm512_dpbusd_epi32(sum[l][d], v, _mm512_load_si512(w + d));
    }
    p += r.bytes;
    left -= r.bytes;
    w += kDigits;
  }
  for (int l = 0; l < kLines; ++l) out[l] = joined(sum[l][0], sum[l][1], sum[l][2]);
}

// Four outputs' sums become their words.
inline __m128i four_words(__m512i a, __m512i b, __m512i c, __m512i d) {
  const auto halves = [](__m512i v, __m512i u) {
    return _mm512_add_epi32(_mm512_shuffle_i32x4(v, u, 0x44), _mm512_shuffle_i32x4(v, u, 0xEE));
  };
  const __m512i ab = halves(a, b), cd = halves(c, d);
  const __m512i sum =
      _mm512_add_epi32(_mm512_shuffle_i32x4(ab, cd, 0x88), _mm512_shuffle_i32x4(ab, cd, 0xDD));
  const __m512i level = _mm512_srai_epi32(sum, kPillowBits);
  return _mm512_cvtusepi32_epi8(_mm512_max_epi32(level, _mm512_setzero_si512()));
}

// kLines lines from the first on; outputs begin at `offset` bytes of a line.
template <int kLines, int kBlocks, bool kAll>
void along_lines(const Reader& r, const PillowLines& lines, const int32_t* offset,
                 const PillowTaps& t, int n, uint32_t* words) {
  const int blocks = kBlocks ? kBlocks : t.blocks;
  const int step = blocks * kDigits;
  for (int i = 0; i < n; i += 4) {
    if (i > 0 && i + 4 > n) i = n - 4;  // the last four once more
    const auto* w = reinterpret_cast<const __m512i*>(t.packed) + int64_t{i} * step;
    __m512i sum[4][kLines];
    for (int k = 0; k < 4; ++k) {
      const int own = kAll || i + k < n ? k : 0;  // fewer than four in all
      const int32_t at = offset[i + own];
      add_taps<kLines, kBlocks, kAll>(r, lines.first + at, lines.stride, lines.readable - at,
                                      w + own * step, blocks, sum[k]);
    }
    for (int l = 0; l < kLines; ++l) {
      const __m128i four = four_words(sum[0][l], sum[1][l], sum[2][l], sum[3][l]);
      uint32_t* out = words + int64_t{l} * n + i;
      if (kAll)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out), four);
      else
        _mm_mask_storeu_epi32(out, static_cast<__mmask8>((1 << std::min(n - i, 4)) - 1), four);
    }
  }
}

template <int kLines>
auto of_blocks(int blocks) {
  return blocks == 1   ? along_lines<kLines, 1, true>
         : blocks == 2 ? along_lines<kLines, 2, true>
                       : along_lines<kLines, 0, true>;
}

void along(const PillowLines& all, const PillowTaps& taps, int count, uint32_t* words) {
  const auto [size, span] = all.pixels;
  alignas(64) uint8_t order[64];
  for (int i = 0; i < 64; ++i)
    order[i] = static_cast<uint8_t>((i / 16 * 4 + i % 4) * size + std::min(i / 4 % 4, span - 1));
  const Reader r{_mm512_load_si512(order), _mm512_maskz_set1_epi32(0xF, kPillowHalf >> 16),
                 kTaps * size};
  int32_t offset[kChunk];
  for (int i = 0; i < count; ++i) offset[i] = (taps.first[i] - taps.origin) * size;
  const int64_t reach =
      int64_t{std::max(offset[0], offset[count - 1])} + int64_t{taps.blocks - 1} * r.bytes + 64;
  for (int l = 0; l < all.count;) {
    PillowLines lines = all;
    lines.first += l * all.stride;
    lines.readable -= l * all.stride;
    const bool whole = count >= 4 && lines.readable >= reach;
    const bool two = whole && l + 2 <= all.count && lines.readable - all.stride >= reach;
    const auto go = !whole ? along_lines<1, 0, false>
                    : two  ? of_blocks<2>(taps.blocks)
                           : of_blocks<1>(taps.blocks);
    go(r, lines, offset, taps, count, words + int64_t{l} * count);
    l += two ? 2 : 1;
  }
}

// All columns; returns their number.
int add_vectors(const uint8_t* base, int64_t stride, const int32_t* w, int count, int n, bool more,
                int32_t* sums) {
  constexpr int kFours = 16;
  for (int from = 0; from < count; from += 4 * kFours, more = true) {
    alignas(64) int32_t weights[kDigits][kFours];  // of four rows each
    const int rows = std::min(4 * kFours, count - from);
    for (int k = 0; k < rows; k += 16) {
      const Digits digits = split(load_weights(w + from + k, rows - k));
      for (int d = 0; d < kDigits; ++d)
        _mm_store_si128(reinterpret_cast<__m128i*>(weights[d] + k / 4), digits.of[d]);
    }
    for (int i = 0; i < n; i += 64) {
      const int columns = std::min(n - i, 64);
      const __mmask64 mask = ~uint64_t{0} >> (64 - columns);
      __m512i sum[4][kDigits] = {};
      for (int k = 0; k < rows; k += 4) {
        const uint8_t* row = base + (from + k) * stride + i;
        const auto load = [&](int j) {
          return _mm512_maskz_loadu_epi8(k + j < rows ? mask : 0, row + j * stride);
        };
        const __m512i a = load(0), b = load(1), c = load(2), d = load(3);
        const __m512i ab[2] = {_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b)};
        const __m512i cd[2] = {_mm512_unpacklo_epi8(c, d), _mm512_unpackhi_epi8(c, d)};
        for (int q = 0; q < 4; ++q) {
          const __m512i four = q & 1 ? _mm512_unpackhi_epi16(ab[q / 2], cd[q / 2])
                                     : _mm512_unpacklo_epi16(ab[q / 2], cd[q / 2]);
          for (int e = 0; e < kDigits; ++e)
            sum[q][e] = _mm512_dpbusd_epi32(sum[q][e], four, _mm512_set1_epi32(weights[e][k / 4]));
        }
      }
      __m512i v[4];
      for (int q = 0; q < 4; ++q) v[q] = joined(sum[q][0], sum[q][1], sum[q][2]);
      transpose_lanes(v[0], v[1], v[2], v[3]);
      for (int q = 0; q < 4; ++q) {
        const auto own = static_cast<__mmask16>(mask >> (16 * q));
        int32_t* out = sums + i + 16 * q;
        const __m512i before =
            more ? _mm512_maskz_loadu_epi32(own, out) : _mm512_set1_epi32(kPillowHalf);
        _mm512_mask_storeu_epi32(out, own, _mm512_add_epi32(before, v[q]));
      }
    }
  }
  return n;
}

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_PILLOW_AVX512_H_
