// Subsampled rows of YUV to packed bytes in loops that compilers vectorise: part of convert_isa.cc,
// for instruction sets that have no blocks of their own. Even and odd pixels are kept apart, as
// they share chroma.
#ifndef FOVEAL_IMGPROC_ROWS_CONVERT_PLAIN_H_
#define FOVEAL_IMGPROC_ROWS_CONVERT_PLAIN_H_

#include <cstdint>
#include <cstring>

#include "imgproc/rows/kernels.h"
#include "imgproc/rows/pairs.h"
#include "imgproc/rows/round.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

constexpr int kPairs = 128;  // of pixels, at once

// Packed pixels of a piece, a component a byte.
template <int kMost>
struct PairWords {
  alignas(64) uint32_t even[kMost];
  alignas(64) uint32_t odd[kMost];

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

// Values `step` bytes apart.
inline void spread_chroma(const uint8_t* __restrict in, int step, int n, float* __restrict out) {
  const auto spread = [&](int apart) {
    for (int j = 0; j < n; ++j) out[j] = in[j * apart];
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

inline int yuv_blocks(const YuvRow& in, const float m[3][4], int n, uint8_t* out,
                      uint8_t* out_below) {
  return in_pairs(in, n, [&](int i, int pairs) {
    float u[kPairs], v[kPairs], chroma[3][kPairs];
    const int64_t at = int64_t{(i + in.odd) / 2} * in.step;
    spread_chroma(in.u + at, in.step, pairs, u);
    spread_chroma(in.v + at, in.step, pairs, v);
    for (int c = 0; c < 3; ++c) {
      const float k1 = m[c][1], k2 = m[c][2], k3 = m[c][3];
      for (int j = 0; j < pairs; ++j) chroma[c][j] = k1 * u[j] + (k2 * v[j] + k3);
    }
    const auto convert = [&](const uint8_t* y, uint8_t* to) {
      PairWords<kPairs> words = {};
      for (int c = 0; c < 3; ++c) {
        const float k = m[c][0], *tint = chroma[c];
        const int shift = 8 * c;
        for (int j = 0; j < pairs; ++j) {
          const uint32_t e = static_cast<uint32_t>(byte_of(k * y[2 * j] + tint[j])) << shift;
          const uint32_t o = static_cast<uint32_t>(byte_of(k * y[2 * j + 1] + tint[j])) << shift;
          words.even[j] |= e;
          words.odd[j] |= o;
        }
      }
      words.store(pairs, to + int64_t{3} * i);
    };
    convert(in.y + i, out);
    if (in.y_below) convert(in.y_below + i, out_below);
  });
}

// Eight pairs at once, in 16-bit lanes.
inline int fast_blocks(const YuvRow& in, const FixedColor& m, int n, uint8_t* out) {
  const int64_t apart = in.v - in.u;
  const bool paired = in.step == 2 && (apart == 1 || apart == -1);
  if (in.shift != 1 || in.y_step != 1 || (in.step != 1 && !paired)) return in.odd;
  const I16Wide zero = {}, byte = zero + 255, middle = zero + INT16_MIN, most = zero + INT16_MAX;
  const auto level = [&](I16Wide luma, I16Wide chroma) {
    typedef uint16_t U16Wide __attribute__((vector_size(kWideBytes)));
    I16Wide sum = (I16Wide)((U16Wide)luma + (U16Wide)chroma);
    sum = ((chroma > 0) & (sum < 0)) ? most : sum;
    sum >>= 6;
    sum = sum < 0 ? zero : sum;
    return sum > byte ? byte : sum;
  };
  const auto words = [](const I16Wide c[3], uint32_t* pixels) {
    const I16Wide two = c[0] | c[1] << 8;
    const I16Wide low = __builtin_shufflevector(two, c[2], 0, 8, 1, 9, 2, 10, 3, 11);
    const I16Wide high = __builtin_shufflevector(two, c[2], 4, 12, 5, 13, 6, 14, 7, 15);
    std::memcpy(pixels, &low, sizeof low);
    std::memcpy(pixels + 4, &high, sizeof high);
  };
  int i = in.odd;
  for (; i + 2 * kWideLanes <= n; i += 2 * kWideLanes) {
    const int64_t at = int64_t{(i + in.odd) / 2} * in.step;
    I16Wide u, v;  // (value - 128) * 256
    if (paired) {
      const I16Wide both = load_as<I16Wide>((apart > 0 ? in.u : in.v) + at);
      const I16Wide first = both << 8 ^ middle, second = (both & ~byte) ^ middle;
      u = apart > 0 ? first : second;
      v = apart > 0 ? second : first;
    } else {
      u = widen(in.u + at) << 8 ^ middle;
      v = widen(in.v + at) << 8 ^ middle;
    }
    const I16Wide y = load_as<I16Wide>(in.y + i), luma = zero + m.y;
    const I16Wide even = rounded_products((y & byte) << 7, luma);
    const I16Wide odd = rounded_products((y >> 8 & byte) << 7, luma);
    I16Wide e[3], o[3];
    for (int c = 0; c < 3; ++c) {
      const I16Wide chroma =
          rounded_products(u, zero + m.u[c]) + rounded_products(v, zero + m.v[c]) + m.bias[c];
      e[c] = level(even, chroma);
      o[c] = level(odd, chroma);
    }
    PairWords<kWideLanes> pixels;
    words(e, pixels.even);
    words(o, pixels.odd);
    pixels.store(kWideLanes, out + int64_t{3} * i);
  }
  return i;
}

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif  // FOVEAL_IMGPROC_ROWS_CONVERT_PLAIN_H_
