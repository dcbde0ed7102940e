// Blocks of columns for instruction sets that add pairs of 16-bit products (x86, WASM), and of
// outputs for AVX2 and AVX-512: part of fixed_filter_isa.cc.
#ifndef FOVEAL_IMGPROC_ROWS_FIXED_FILTER_BLOCKS_H_
#define FOVEAL_IMGPROC_ROWS_FIXED_FILTER_BLOCKS_H_

#if defined(__SSE2__)
#include <immintrin.h>
#else
#include <wasm_simd128.h>
#endif

#include <algorithm>
#include <cstring>

#include "base/simd.h"
#include "imgproc/rows/filter.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

// load_once: a value of two uses, which the compiler would otherwise load twice.
//
// A block of columns: `kBytes` of them in a vector of bytes, two rows of 16-bit words in one of
// words.
#if defined(__AVX512VBMI__)
typedef __m512i Block;
constexpr int kBytes = 64;
FV_INLINE Block load(const uint8_t* p) { return _mm512_loadu_si512(p); }
FV_INLINE Block spread(int32_t v) { return _mm512_set1_epi32(v); }
FV_INLINE Block even_bytes(Block v) { return _mm512_and_si512(v, _mm512_set1_epi16(0xFF)); }
FV_INLINE Block odd_bytes(Block v) { return _mm512_srli_epi16(v, 8); }
FV_INLINE Block low_pairs(Block a, Block b) { return _mm512_unpacklo_epi16(a, b); }
FV_INLINE Block high_pairs(Block a, Block b) { return _mm512_unpackhi_epi16(a, b); }
FV_INLINE Block dot(Block sum, Block a, Block b) { return _mm512_dpwssd_epi32(sum, a, b); }
FV_INLINE Block shifted(Block half, Block sum, int shift) {
  return _mm512_sra_epi32(_mm512_sub_epi32(half, sum), _mm_cvtsi32_si128(shift));
}
FV_INLINE Block weave(Block even, Block odd) {
  return _mm512_mask_blend_epi16(0xAAAAAAAA, even, _mm512_slli_epi32(odd, 16));
}
FV_INLINE Block load_once(const uint8_t* p) {
  Block v = load(p);
  __asm__("" : "+v"(v));
  return v;
}
// Columns 0..7 and 8..15 of every 16, back in order.
FV_INLINE void store(int16_t* out, Block low, Block high) {
  const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  _mm512_storeu_si512(out, _mm512_permutex2var_epi64(low, first, high));
  _mm512_storeu_si512(out + 32, _mm512_permutex2var_epi64(low, second, high));
}
#elif defined(__AVX2__)
typedef __m256i Block;
constexpr int kBytes = 32;
FV_INLINE Block load(const uint8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
FV_INLINE Block load_once(const uint8_t* p) {
  Block v = load(p);
  __asm__("" : "+x"(v));
  return v;
}
FV_INLINE Block spread(int32_t v) { return _mm256_set1_epi32(v); }
FV_INLINE Block even_bytes(Block v) { return _mm256_and_si256(v, _mm256_set1_epi16(0xFF)); }
FV_INLINE Block odd_bytes(Block v) { return _mm256_srli_epi16(v, 8); }
FV_INLINE Block low_pairs(Block a, Block b) { return _mm256_unpacklo_epi16(a, b); }
FV_INLINE Block high_pairs(Block a, Block b) { return _mm256_unpackhi_epi16(a, b); }
FV_INLINE Block dot(Block sum, Block a, Block b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
FV_INLINE Block shifted(Block half, Block sum, int shift) {
  return _mm256_sra_epi32(_mm256_sub_epi32(half, sum), _mm_cvtsi32_si128(shift));
}
FV_INLINE Block weave(Block even, Block odd) {
  return _mm256_blend_epi16(even, _mm256_slli_epi32(odd, 16), 0xAA);
}
FV_INLINE void store(int16_t* out, Block low, Block high) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permute2x128_si256(low, high, 0x20));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16),
                      _mm256_permute2x128_si256(low, high, 0x31));
}
#elif defined(__SSE2__)
typedef __m128i Block;
constexpr int kBytes = 16;
FV_INLINE Block load(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
FV_INLINE Block load_once(const uint8_t* p) { return load(p); }
FV_INLINE Block spread(int32_t v) { return _mm_set1_epi32(v); }
FV_INLINE Block even_bytes(Block v) { return _mm_and_si128(v, _mm_set1_epi16(0xFF)); }
FV_INLINE Block odd_bytes(Block v) { return _mm_srli_epi16(v, 8); }
FV_INLINE Block low_pairs(Block a, Block b) { return _mm_unpacklo_epi16(a, b); }
FV_INLINE Block high_pairs(Block a, Block b) { return _mm_unpackhi_epi16(a, b); }
FV_INLINE Block dot(Block sum, Block a, Block b) {
  return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}
FV_INLINE Block shifted(Block half, Block sum, int shift) {
  return _mm_sra_epi32(_mm_sub_epi32(half, sum), _mm_cvtsi32_si128(shift));
}
FV_INLINE Block weave(Block even, Block odd) {
  return _mm_or_si128(_mm_and_si128(even, _mm_set1_epi32(0xFFFF)), _mm_slli_epi32(odd, 16));
}
FV_INLINE void store(int16_t* out, Block low, Block high) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), low);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 8), high);
}
#else
typedef v128_t Block;
constexpr int kBytes = 16;
FV_INLINE Block load(const uint8_t* p) { return wasm_v128_load(p); }
FV_INLINE Block load_once(const uint8_t* p) { return load(p); }
FV_INLINE Block spread(int32_t v) { return wasm_i32x4_splat(v); }
FV_INLINE Block even_bytes(Block v) { return wasm_v128_and(v, wasm_i16x8_splat(0xFF)); }
FV_INLINE Block odd_bytes(Block v) { return wasm_u16x8_shr(v, 8); }
FV_INLINE Block low_pairs(Block a, Block b) {
  return wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
FV_INLINE Block high_pairs(Block a, Block b) {
  return wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
FV_INLINE Block dot(Block sum, Block a, Block b) {
  return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(a, b));
}
FV_INLINE Block shifted(Block half, Block sum, int shift) {
  return wasm_i32x4_shr(wasm_i32x4_sub(half, sum), static_cast<uint32_t>(shift));
}
FV_INLINE Block weave(Block even, Block odd) {
  return wasm_v128_or(wasm_v128_and(even, wasm_i32x4_splat(0xFFFF)), wasm_i32x4_shl(odd, 16));
}
FV_INLINE void store(int16_t* out, Block low, Block high) {
  wasm_v128_store(out, low);
  wasm_v128_store(out + 8, high);
}
#endif

template <int kBlocks>
FV_INLINE void sum_blocks(const RowTaps<int16_t>& t, int shift, int at, int16_t* out) {
  Block sum[kBlocks][4] = {};  // even columns 0..7 of every 16, odd ones; even of 8..15, odd
  const uint8_t* row = t.base + at;
  for (int k = 0; k < t.count; k += 2, row += 2 * t.stride) {
    int32_t pair;
    std::memcpy(&pair, t.weights + k, 4);
    const Block w = spread(pair);
    const uint8_t* second = k + 1 < t.count ? row + t.stride : row;  // of weight 0
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) {
      const Block u = load_once(row + b * kBytes), v = load_once(second + b * kBytes);
      const Block ue = even_bytes(u), ve = even_bytes(v), uo = odd_bytes(u), vo = odd_bytes(v);
      sum[b][0] = dot(sum[b][0], low_pairs(ue, ve), w);
      sum[b][1] = dot(sum[b][1], low_pairs(uo, vo), w);
      sum[b][2] = dot(sum[b][2], high_pairs(ue, ve), w);
      sum[b][3] = dot(sum[b][3], high_pairs(uo, vo), w);
    }
  }
  const Block half = spread(1 << (shift - 1));
#pragma GCC unroll 4
  for (int b = 0; b < kBlocks; ++b)
    store(out + at + b * kBytes,
          weave(shifted(half, sum[b][0], shift), shifted(half, sum[b][1], shift)),
          weave(shifted(half, sum[b][2], shift), shifted(half, sum[b][3], shift)));
}

// Whole blocks; the last one overlaps, if there is one at all. Returns how many columns are done.
FV_INLINE int sum_row_blocks(const RowTaps<int16_t>& t, ReadAhead next, int shift, int n,
                             int16_t* out) {
  if (n < kBytes) return 0;
  int i = 0;
  for (; i + 2 * kBytes <= n; i += 2 * kBytes) {
    next.advance(2 * kBytes);
    sum_blocks<2>(t, shift, i, out);
  }
  for (; i + kBytes <= n; i += kBytes) sum_blocks<1>(t, shift, i, out);
  if (i < n) sum_blocks<1>(t, shift, n - kBytes, out);
  return n;
}

#if defined(__AVX512VBMI__)

// Two sums over `count` rows, as pairs of weights; the first ends at row `end`, the second begins
// at row `begin`, which is even.
struct TwoSums {
  static constexpr int kPairs = 64;
  int32_t weights[2][kPairs];
  int count, end, begin;

  // False if the rows are too many, or too far apart to gain from being read once.
  bool open(const RowTaps<int16_t> t[2]) {
    const int64_t later = t[0].stride ? (t[1].base - t[0].base) / t[0].stride : 0;
    if (t[0].count > kPairs || t[1].count > kPairs || later >= t[0].count) return false;
    const int from[2] = {0, static_cast<int>(later)};
    count = std::max(t[0].count, from[1] + t[1].count);
    end = t[0].count;
    begin = from[1] & ~1;
    for (int k = 0; k < count; k += 2)
      for (int s = 0; s < 2; ++s) {
        int16_t pair[2];
        for (int j = 0; j < 2; ++j) {
          const int row = k + j - from[s];
          pair[j] = row >= 0 && row < t[s].count ? t[s].weights[row] : int16_t{0};
        }
        std::memcpy(&weights[s][k / 2], pair, 4);
      }
    return true;
  }
};

FV_INLINE void sum_two_block(const TwoSums& two, const uint8_t* row, int64_t stride, int shift,
                             int16_t* out0, int16_t* out1) {
  Block a[4] = {}, b[4] = {};
  for (int k = 0; k < two.count; k += 2, row += 2 * stride) {
    const Block u = load_once(row);
    const Block v = load_once(k + 1 < two.count ? row + stride : row);  // of weight 0
    const Block ue = even_bytes(u), ve = even_bytes(v), uo = odd_bytes(u), vo = odd_bytes(v);
    const Block pair[4] = {low_pairs(ue, ve), low_pairs(uo, vo), high_pairs(ue, ve),
                           high_pairs(uo, vo)};
    const auto add = [&](Block(&sum)[4], int32_t weights) {
      const Block w = spread(weights);
#pragma GCC unroll 4
      for (int q = 0; q < 4; ++q) sum[q] = dot(sum[q], pair[q], w);
    };
    if (k < two.end) add(a, two.weights[0][k / 2]);
    if (k >= two.begin) add(b, two.weights[1][k / 2]);
  }
  const Block half = spread(1 << (shift - 1));
  const auto put = [&](const Block(&sum)[4], int16_t* out) {
    store(out, weave(shifted(half, sum[0], shift), shifted(half, sum[1], shift)),
          weave(shifted(half, sum[2], shift), shifted(half, sum[3], shift)));
  };
  put(a, out0);
  put(b, out1);
}

FV_INLINE bool sum_two_blocks(const RowTaps<int16_t> t[2], ReadAhead next, int shift, int n,
                              int16_t* const out[2]) {
  TwoSums two;
  if (n < kBytes || !two.open(t)) return false;
  for (int i = 0; i < n; i += kBytes) {
    const int at = i + kBytes <= n ? i : n - kBytes;  // the last block overlaps
    next.advance(kBytes);
    sum_two_block(two, t[0].base + at, t[0].stride, shift, out[0] + at, out[1] + at);
  }
  return true;
}

#endif

#if defined(__AVX2__)

FV_INLINE __m256i load256(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
FV_INLINE __m128i load128(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }

// Pixels of three components; loads end with them. Returns how many are done.
#if defined(__AVX512VBMI__)
FV_INLINE int split_threes(const int16_t* in, int n, int16_t* const lane[3]) {
  // Words of a component among those of the first two vectors (0..63), then the last one's (64..).
  alignas(64) int16_t first[3][32], second[3][32];
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 32; ++i) {
      const int at = 3 * i + c;
      first[c][i] = static_cast<int16_t>(at);
      second[c][i] = static_cast<int16_t>(at < 64 ? i : at - 32);
    }
  int i = 0;
  for (; i + 32 <= n; i += 32) {
    const int16_t* p = in + 3 * i;
    const __m512i u = _mm512_loadu_si512(p), v = _mm512_loadu_si512(p + 32);
    const __m512i w = _mm512_loadu_si512(p + 64);
    for (int c = 0; c < 3; ++c) {
      const __m512i head = _mm512_permutex2var_epi16(u, _mm512_load_si512(first[c]), v);
      _mm512_storeu_si512(lane[c] + i,
                          _mm512_permutex2var_epi16(head, _mm512_load_si512(second[c]), w));
    }
  }
  return i;
}
#else
FV_INLINE int split_threes(const int16_t* in, int n, int16_t* const lane[3]) {
  // Every eighth word of a vector's three belongs to one component; blends collect them, shuffles
  // put them in order.
  const __m128i order0 = _mm_setr_epi8(0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15, 4, 5, 10, 11);
  const __m128i order1 = _mm_setr_epi8(2, 3, 8, 9, 14, 15, 4, 5, 10, 11, 0, 1, 6, 7, 12, 13);
  const __m128i order2 = _mm_setr_epi8(4, 5, 10, 11, 0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15);
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const int16_t* p = in + 3 * i;
    const __m128i a = load128(p), b = load128(p + 8), c = load128(p + 16);
    const auto put = [&](int component, __m128i words, __m128i order) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(lane[component] + i),
                       _mm_shuffle_epi8(words, order));
    };
    put(0, _mm_blend_epi16(_mm_blend_epi16(a, b, 0x92), c, 0x24), order0);
    put(1, _mm_blend_epi16(_mm_blend_epi16(a, b, 0x24), c, 0x49), order1);
    put(2, _mm_blend_epi16(_mm_blend_epi16(a, b, 0x49), c, 0x92), order2);
  }
  return i;
}
#endif

// Sums of two vectors' words 0 and 2, 1 and 3 of every four: a02 b02 a13 b13.
FV_INLINE __m256i fold(__m256i a, __m256i b) {
  return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}
// Of four vectors: the sums of every four words, a b c d.
FV_INLINE __m256i fold4(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i ab = fold(a, b), cd = fold(c, d);
  return _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
}

// Eight outputs of eight taps: a vector holds two of them.
FV_INLINE __m256i eight_short(const int16_t* line, const int32_t* first, const int16_t* w) {
  const auto two = [&](int i) {
    const __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(load128(line + first[i])),
                                              load128(line + first[i + 1]), 1);
    return _mm256_madd_epi16(v, load256(w + 8 * i));
  };
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  return _mm256_permutevar8x32_epi32(fold4(two(0), two(2), two(4), two(6)), order);
}

// Of 16 and more taps.
FV_INLINE __m256i eight_long(const int16_t* line, const int32_t* first, const int16_t* w,
                             int taps) {
  const auto one = [&](int i) {
    const int16_t *v = line + first[i], *by = w + i * taps;
    __m256i sum = _mm256_madd_epi16(load256(v), load256(by));
    for (int k = 16; k < taps; k += 16)
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(load256(v + k), load256(by + k)));
    return sum;
  };
  const __m256i low = fold4(one(0), one(1), one(2), one(3));
  const __m256i high = fold4(one(4), one(5), one(6), one(7));
  return _mm256_add_epi32(_mm256_permute2x128_si256(low, high, 0x20),
                          _mm256_permute2x128_si256(low, high, 0x31));
}

// Whole eights; the last one overlaps, if there is one at all. Returns how many outputs are done.
FV_INLINE int sum_line_blocks(const int16_t* line, const LineTaps<int16_t>& t, float unit, int n,
                              float* out) {
  if (n < 8) return 0;
  const __m256 k = _mm256_set1_ps(-unit);
  line -= t.origin;
  for (int i = 0; i < n; i += 8) {
    const int at = i + 8 <= n ? i : n - 8;
    const int32_t* first = t.first + at;
    const int16_t* w = t.weights + static_cast<int64_t>(at) * t.taps;
    const __m256i sum = t.taps == 8    ? eight_short(line, first, w)
                        : t.taps == 16 ? eight_long(line, first, w, 16)
                                       : eight_long(line, first, w, t.taps);
    _mm256_storeu_ps(out + at, _mm256_mul_ps(_mm256_cvtepi32_ps(sum), k));
  }
  return n;
}

#endif

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_FIXED_FILTER_BLOCKS_H_
