// Filters of bytes, for NEON and WASM: part of pillow_isa.cc. A pixel becomes four 32-bit lanes,
// which are multiplied as they are.
#ifndef FOVEAL_IMGPROC_ROWS_PILLOW_SIMD128_H_
#define FOVEAL_IMGPROC_ROWS_PILLOW_SIMD128_H_

#if defined(__aarch64__)
#include <arm_neon.h>
#else
#include <wasm_simd128.h>
#endif

#include <algorithm>
#include <cstring>

#include "imgproc/rows/pairs.h"
#include "imgproc/rows/pillow.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

typedef uint8_t U8x16 __attribute__((vector_size(16)));

// Byte i: v[at[i]], 0 where at[i] is 255.
inline U8x16 pick_bytes(U8x16 v, U8x16 at) {
#if defined(__aarch64__)
  return (U8x16)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)at);
#else
  return (U8x16)wasm_i8x16_swizzle((v128_t)v, (v128_t)at);
#endif
}
// Lanes of -32768..32767, clamped to bytes.
inline U8x16 clamp_bytes(I32x4 a, I32x4 b, I32x4 c, I32x4 d) {
#if defined(__aarch64__)
  const int16x8_t ab = vcombine_s16(vmovn_s32((int32x4_t)a), vmovn_s32((int32x4_t)b));
  const int16x8_t cd = vcombine_s16(vmovn_s32((int32x4_t)c), vmovn_s32((int32x4_t)d));
  return (U8x16)vcombine_u8(vqmovun_s16(ab), vqmovun_s16(cd));
#else
  return (U8x16)wasm_u8x16_narrow_i16x8(wasm_i16x8_narrow_i32x4((v128_t)a, (v128_t)b),
                                        wasm_i16x8_narrow_i32x4((v128_t)c, (v128_t)d));
#endif
}

constexpr int kTaps = 4;
constexpr int kBlockBytes = kTaps * sizeof(int32_t);

void pack(const int32_t* w, int count, int blocks, uint8_t* out) {
  std::memset(out, 0, static_cast<size_t>(blocks) * kBlockBytes);
  std::memcpy(out, w, static_cast<size_t>(count) * sizeof *w);
}

struct Reader {
  U8x16 pixel[kTaps];  // bytes of each of four pixels as 32-bit lanes
  int bytes;           // of four pixels
};

// An output's components as levels, not clamped. Unless kAll only `left` bytes may be read.
template <bool kAll>
inline I32x4 output(const Reader& r, const uint8_t* p, int64_t left, const uint8_t* w, int blocks) {
  I32x4 sum[2] = {I32x4{} + kPillowHalf, I32x4{}};
  for (int b = 0; b < blocks; ++b, p += r.bytes, left -= r.bytes, w += kBlockBytes) {
    U8x16 v = {};
    if (kAll)
      v = load_as<U8x16>(p);
    else if (left > 0)
      std::memcpy(&v, p, static_cast<size_t>(std::min<int64_t>(left, 16)));
    const I32x4 weight = load_as<I32x4>(w);
    for (int k = 0; k < kTaps; ++k) sum[k % 2] += (I32x4)pick_bytes(v, r.pixel[k]) * weight[k];
  }
  return (sum[0] + sum[1]) >> kPillowBits;
}

template <bool kAll>
void along_line(const Reader& r, const uint8_t* line, int64_t readable, int64_t ahead, int size,
                const PillowTaps& t, int n, uint32_t* words) {
  const auto level = [&](int i) {
    const int64_t at = int64_t{t.first[i] - t.origin} * size;
    if (kAll) __builtin_prefetch(line + at + ahead);
    return output<kAll>(r, line + at, readable - at, t.packed + int64_t{i} * t.blocks * kBlockBytes,
                        t.blocks);
  };
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const U8x16 four = clamp_bytes(level(i), level(i + 1), level(i + 2), level(i + 3));
    std::memcpy(words + i, &four, sizeof four);
  }
  for (; i < n; ++i) {
    const I32x4 one = level(i);
    const U8x16 word = clamp_bytes(one, one, one, one);
    std::memcpy(words + i, &word, sizeof *words);
  }
}

void along(const PillowLines& lines, const PillowTaps& t, int n, uint32_t* words) {
  const auto [size, span] = lines.pixels;
  Reader r;
  r.bytes = kTaps * size;
  for (int k = 0; k < kTaps; ++k)
    for (int i = 0; i < 16; ++i)
      r.pixel[k][i] = i % 4 ? 255 : static_cast<uint8_t>(k * size + std::min(i / 4, span - 1));
  const int64_t reach = int64_t{std::max(t.first[0], t.first[n - 1]) - t.origin} * size +
                        int64_t{t.blocks - 1} * r.bytes + 16;
  for (int l = 0; l < lines.count; ++l) {
    const int64_t at = l * lines.stride, readable = lines.readable - at;
    const auto go = readable >= reach ? along_line<true> : along_line<false>;
    go(r, lines.first + at, readable, lines.stride, size, t, n, words + int64_t{l} * n);
  }
}

// Columns in whole vectors, from the left; returns how many are done.
int add_vectors(const uint8_t* base, int64_t stride, const int32_t* w, int count, int n, bool more,
                int32_t* sums) {
  const int columns = n & ~15;
  U8x16 part[4];  // bytes 4 q on as 32-bit lanes
  for (int q = 0; q < 4; ++q)
    for (int i = 0; i < 16; ++i) part[q][i] = i % 4 ? 255 : static_cast<uint8_t>(4 * q + i / 4);
  for (int i = 0; i < columns; i += 16) {
    I32x4 sum[4];
    for (int q = 0; q < 4; ++q)
      sum[q] = more ? load_as<I32x4>(sums + i + 4 * q) : I32x4{} + kPillowHalf;
    const uint8_t* row = base + i;
    for (int k = 0; k < count; ++k, row += stride) {
      const U8x16 v = load_as<U8x16>(row);
      for (int q = 0; q < 4; ++q) sum[q] += (I32x4)pick_bytes(v, part[q]) * w[k];
    }
    std::memcpy(sums + i, sum, sizeof sum);
  }
  return columns;
}

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_PILLOW_SIMD128_H_
