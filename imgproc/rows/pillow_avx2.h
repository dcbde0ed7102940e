// Filters of bytes, for AVX2: part of pillow_isa.cc. A weight is 2048 * high + low, both of 16 bits
// with a sign, so that sums of products of pairs are exact in 32.
#ifndef FOVEAL_IMGPROC_ROWS_PILLOW_AVX2_H_
#define FOVEAL_IMGPROC_ROWS_PILLOW_AVX2_H_

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "imgproc/rows/pillow.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

constexpr int kLowBits = 11;
constexpr int32_t kLowMask = (1 << kLowBits) - 1;

// Per block of 8 taps, the weights of pixels 0, 1 | 4, 5, then of 2, 3 | 6, 7: pairs repeated for
// each component, once high and once low.
constexpr int kTaps = 8;
constexpr int kBlockBytes = 128;

// Two weights' parts as one pair of 16 bits.
inline uint32_t high_pair(int32_t a, int32_t b) {
  return (static_cast<uint32_t>(a >> kLowBits) & 0xFFFF) | static_cast<uint32_t>(b >> kLowBits)
                                                               << 16;
}
inline uint32_t low_pair(int32_t a, int32_t b) {
  return static_cast<uint32_t>(a & kLowMask) | static_cast<uint32_t>(b & kLowMask) << 16;
}

void pack(const int32_t* w, int count, int blocks, uint8_t* out) {
  auto* to = reinterpret_cast<__m256i*>(out);
  for (int b = 0; b < blocks; ++b, to += 4, w += kTaps, count -= kTaps) {
    alignas(32) int32_t eight[kTaps] = {};
    std::copy_n(w, std::clamp(count, 0, kTaps), eight);
    const __m256i v = _mm256_load_si256(reinterpret_cast<const __m256i*>(eight));
    const __m256i high = _mm256_srai_epi32(v, kLowBits);
    const __m256i low = _mm256_and_si256(v, _mm256_set1_epi32(kLowMask));
    const __m256i pairs = _mm256_packs_epi32(high, low);  // 0 1, 2 3 high, 0 1, 2 3 low | 4 5 ...
    _mm256_store_si256(to, _mm256_shuffle_epi32(pairs, 0x00));
    _mm256_store_si256(to + 1, _mm256_shuffle_epi32(pairs, 0x55));
    _mm256_store_si256(to + 2, _mm256_shuffle_epi32(pairs, 0xAA));
    _mm256_store_si256(to + 3, _mm256_shuffle_epi32(pairs, 0xFF));
  }
}

// 16 bytes at p; unless kAll only `left` of them may be read, and the others are 0.
template <bool kAll>
inline __m128i load16(const uint8_t* p, int64_t left) {
  if (kAll || left >= 16) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  alignas(16) uint8_t part[16] = {};
  if (left > 0) std::memcpy(part, p, static_cast<size_t>(left));
  return _mm_load_si128(reinterpret_cast<const __m128i*>(part));
}

// Of four pixels in 16 bytes, the components of pixels `from` and `from` + 1 as pairs of 16 bits.
inline __m256i pair_bytes(PillowPixels pixels, int from) {
  alignas(16) uint8_t at[16];
  for (int c = 0; c < 4; ++c) {
    const int component = std::min(c, pixels.span - 1);
    at[4 * c] = static_cast<uint8_t>(from * pixels.size + component);
    at[4 * c + 2] = static_cast<uint8_t>((from + 1) * pixels.size + component);
    at[4 * c + 1] = at[4 * c + 3] = 0x80;
  }
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(at)));
}

struct Reader {
  __m256i first, second;  // bytes of pixels 0, 1 | 4, 5 and of 2, 3 | 6, 7 as pairs
  __m256i half;           // of rounding, in units of high parts, in one of two groups
  int four;               // bytes of four pixels
};

// An output's components as levels, not clamped. Unless kAll only `left` bytes may be read.
// kBlocks: of its taps, 0 for `blocks`. The next line is `ahead` bytes away.
template <int kBlocks, bool kAll>
inline __m128i output(const Reader& r, const uint8_t* p, int64_t left, int64_t ahead,
                      const __m256i* w, int blocks) {
  __m256i high = r.half, low = _mm256_setzero_si256();
  if (kAll && kBlocks) __builtin_prefetch(p + ahead);
  for (int b = 0; b < (kBlocks ? kBlocks : blocks); ++b) {
    if (kAll && !kBlocks) __builtin_prefetch(p + ahead);
    const __m256i pixels =
        _mm256_set_m128i(load16<kAll>(p + r.four, left - r.four), load16<kAll>(p, left));
    const __m256i even = _mm256_shuffle_epi8(pixels, r.first);
    const __m256i odd = _mm256_shuffle_epi8(pixels, r.second);
    const auto sum = [&](int k) {
      return _mm256_add_epi32(_mm256_madd_epi16(even, _mm256_load_si256(w + k)),
                              _mm256_madd_epi16(odd, _mm256_load_si256(w + k + 1)));
    };
    high = _mm256_add_epi32(high, sum(0));
    low = _mm256_add_epi32(low, sum(2));
    p += 2 * r.four;
    left -= 2 * r.four;
    w += 4;
  }
  const __m256i both = _mm256_add_epi32(_mm256_slli_epi32(high, kLowBits), low);
  const __m128i sum =
      _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
  return _mm_srai_epi32(sum, kPillowBits);
}

// One line; outputs begin at `offset` bytes of it.
template <int kBlocks, bool kAll>
void along_line(const Reader& r, const uint8_t* line, int64_t readable, int64_t ahead,
                const int32_t* offset, const PillowTaps& t, int n, uint32_t* words) {
  const int blocks = kBlocks ? kBlocks : t.blocks;
  const auto level = [&](int i) {
    const int32_t at = offset[i];
    const auto* w = reinterpret_cast<const __m256i*>(t.packed) + int64_t{i} * blocks * 4;
    return output<kBlocks, kAll>(r, line + at, readable - at, ahead, w, blocks);
  };
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const __m128i a = _mm_packs_epi32(level(i), level(i + 1));
    const __m128i b = _mm_packs_epi32(level(i + 2), level(i + 3));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(words + i), _mm_packus_epi16(a, b));
  }
  for (; i < n; ++i) {
    const __m128i v = level(i), a = _mm_packs_epi32(v, v);
    words[i] = static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_packus_epi16(a, a)));
  }
}

void along(const PillowLines& lines, const PillowTaps& t, int n, uint32_t* words) {
  const PillowPixels pixels = lines.pixels;
  const __m256i half = _mm256_zextsi128_si256(_mm_set1_epi32(kPillowHalf >> kLowBits));
  const Reader r{pair_bytes(pixels, 0), pair_bytes(pixels, 2), half, 4 * pixels.size};
  int32_t offset[kChunk];
  for (int i = 0; i < n; ++i) offset[i] = (t.first[i] - t.origin) * pixels.size;
  const int64_t reach =
      int64_t{std::max(offset[0], offset[n - 1])} + int64_t{2} * t.blocks * r.four + 16;
  for (int l = 0; l < lines.count; ++l) {
    const int64_t at = l * lines.stride, readable = lines.readable - at;
    const auto go = readable < reach ? along_line<0, false>
                    : t.blocks == 1  ? along_line<1, true>
                    : t.blocks == 2  ? along_line<2, true>
                                     : along_line<0, true>;
    go(r, lines.first + at, readable, lines.stride, offset, t, n, words + int64_t{l} * n);
  }
}

// Columns in whole vectors, from the left; returns how many are done.
int add_vectors(const uint8_t* base, int64_t stride, const int32_t* w, int count, int n, bool more,
                int32_t* sums) {
  constexpr int kPairs = 32;
  const __m128i half = _mm_set1_epi32(kPillowHalf);
  const __m256i zero = _mm256_setzero_si256();
  const int columns = n & ~31;
  for (int from = 0; from < count; from += 2 * kPairs, more = true) {
    uint32_t high[kPairs], low[kPairs];
    const int rows = std::min(2 * kPairs, count - from);
    for (int k = 0; k < rows; k += 2) {
      const int32_t a = w[from + k], b = k + 1 < rows ? w[from + k + 1] : 0;
      high[k / 2] = high_pair(a, b);
      low[k / 2] = low_pair(a, b);
    }
    for (int i = 0; i < columns; i += 32) {
      __m256i h[4] = {zero, zero, zero, zero}, l[4] = {zero, zero, zero, zero};
      for (int k = 0; k < rows; k += 2) {
        const uint8_t* row = base + (from + k) * stride + i;
        const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
        const __m256i b = k + 1 < rows
                              ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + stride))
                              : zero;
        const __m256i below = _mm256_unpacklo_epi8(a, b), above = _mm256_unpackhi_epi8(a, b);
        const __m256i pair[4] = {
            _mm256_unpacklo_epi8(below, zero), _mm256_unpackhi_epi8(below, zero),
            _mm256_unpacklo_epi8(above, zero), _mm256_unpackhi_epi8(above, zero)};
        const __m256i wh = _mm256_set1_epi32(static_cast<int32_t>(high[k / 2]));
        const __m256i wl = _mm256_set1_epi32(static_cast<int32_t>(low[k / 2]));
        for (int q = 0; q < 4; ++q) {
          h[q] = _mm256_add_epi32(h[q], _mm256_madd_epi16(pair[q], wh));
          l[q] = _mm256_add_epi32(l[q], _mm256_madd_epi16(pair[q], wl));
        }
      }
      for (int q = 0; q < 4; ++q) {  // columns 4 q and 16 + 4 q on
        const __m256i sum = _mm256_add_epi32(_mm256_slli_epi32(h[q], kLowBits), l[q]);
        auto* left = reinterpret_cast<__m128i*>(sums + i + 4 * q);
        auto* right = reinterpret_cast<__m128i*>(sums + i + 16 + 4 * q);
        const auto before = [&](const __m128i* p) { return more ? _mm_loadu_si128(p) : half; };
        _mm_storeu_si128(left, _mm_add_epi32(before(left), _mm256_castsi256_si128(sum)));
        _mm_storeu_si128(right, _mm_add_epi32(before(right), _mm256_extracti128_si256(sum, 1)));
      }
    }
  }
  return columns;
}

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_PILLOW_AVX2_H_
