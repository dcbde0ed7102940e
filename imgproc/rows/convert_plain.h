// Subsampled rows of YUV to packed bytes in loops that compilers vectorise: part of convert_isa.cc,
// for instruction sets that have no blocks of their own. Even and odd pixels are kept apart, as
// they share chroma.
#ifndef FOVEAL_IMGPROC_ROWS_CONVERT_PLAIN_H_
#define FOVEAL_IMGPROC_ROWS_CONVERT_PLAIN_H_

#include <cstdint>
#include <cstring>

#include "imgproc/rows/kernels.h"
#include "imgproc/rows/round.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

constexpr int kPairs = 128;  // of pixels, at once

// Packed pixels of a piece, a component a byte.
struct PairWords {
  alignas(64) uint32_t even[kPairs];
  alignas(64) uint32_t odd[kPairs];

  // Little-endian. Words overlap by one byte, which the next word overwrites.
  void store(int pairs, uint8_t* out) const {
    for (int j = 0; j < pairs - 1; ++j) {
      std::memcpy(out + 6 * j, &even[j], 4);
      std::memcpy(out + 6 * j + 3, &odd[j], 4);
    }
    std::memcpy(out + 6 * pairs - 6, &even[pairs - 1], 4);
    std::memcpy(out + 6 * pairs - 3, &odd[pairs - 1], 3);
  }
};

// Values `step` bytes apart, less `zero`.
template <class Number>
inline void spread_chroma(const uint8_t* __restrict in, int step, int zero, int n,
                          Number* __restrict out) {
  const auto spread = [&](int apart) {
    for (int j = 0; j < n; ++j) out[j] = static_cast<Number>(in[j * apart] - zero);
  };
  if (step == 1) return spread(1);
  if (step == 2) return spread(2);
  spread(step);
}

// Runs piece(first column, pairs) over whole pairs from column `odd` on; returns where they end.
template <class Piece>
inline int in_pairs(const YuvRow& in, int n, const Piece& piece) {
  if (in.shift != 1 || in.y_step != 1) return in.odd;
  int i = in.odd;
  for (int pairs; (pairs = (n - i) / 2) > 0; i += 2 * pairs) {
    pairs = pairs < kPairs ? pairs : kPairs;
    piece(i, pairs);
  }
  return i;
}

inline int yuv_blocks(const YuvRow& in, const float m[3][4], int n, uint8_t* out) {
  return in_pairs(in, n, [&](int i, int pairs) {
    float u[kPairs], v[kPairs], chroma[kPairs];
    PairWords words = {};
    const int64_t at = int64_t{(i + in.odd) / 2} * in.step;
    spread_chroma(in.u + at, in.step, 0, pairs, u);
    spread_chroma(in.v + at, in.step, 0, pairs, v);
    const uint8_t* y = in.y + i;
    for (int c = 0; c < 3; ++c) {
      const float k0 = m[c][0], k1 = m[c][1], k2 = m[c][2], k3 = m[c][3];
      const int shift = 8 * c;
      for (int j = 0; j < pairs; ++j) chroma[j] = k1 * u[j] + (k2 * v[j] + k3);
      for (int j = 0; j < pairs; ++j) {
        const uint32_t e = static_cast<uint32_t>(byte_of(k0 * y[2 * j] + chroma[j])) << shift;
        const uint32_t o = static_cast<uint32_t>(byte_of(k0 * y[2 * j + 1] + chroma[j])) << shift;
        words.even[j] |= e;
        words.odd[j] |= o;
      }
    }
    words.store(pairs, out + int64_t{3} * i);
  });
}

inline int fast_blocks(const YuvRow& in, const FixedColor& m, int n, uint8_t* out) {
  const auto product = [](int a, int b) { return (a * b + 0x4000) >> 15; };
  const auto level = [](int luma, int chroma) {
    const int sum = (luma + chroma > 0x7FFF ? 0x7FFF : luma + chroma) >> 6;
    return static_cast<uint32_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
  };
  return in_pairs(in, n, [&](int i, int pairs) {
    int16_t u[kPairs], v[kPairs], chroma[kPairs];
    PairWords words = {};
    const int64_t at = int64_t{(i + in.odd) / 2} * in.step;
    spread_chroma(in.u + at, in.step, 128, pairs, u);
    spread_chroma(in.v + at, in.step, 128, pairs, v);
    const uint8_t* y = in.y + i;
    for (int c = 0; c < 3; ++c) {
      const int ku = m.u[c], kv = m.v[c], k = m.bias[c], shift = 8 * c;
      for (int j = 0; j < pairs; ++j)
        chroma[j] = static_cast<int16_t>(product(u[j] * 256, ku) + product(v[j] * 256, kv) + k);
      for (int j = 0; j < pairs; ++j) {
        const uint32_t e = level(product(y[2 * j] << 7, m.y), chroma[j]) << shift;
        const uint32_t o = level(product(y[2 * j + 1] << 7, m.y), chroma[j]) << shift;
        words.even[j] |= e;
        words.odd[j] |= o;
      }
    }
    words.store(pairs, out + int64_t{3} * i);
  });
}

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_CONVERT_PLAIN_H_
