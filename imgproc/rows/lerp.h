// Row kernels of bilinear sampling of bytes in whole numbers.
//
// A blended row holds 128 times the value: two source rows with 15-bit weights, rounded once. Taps
// along it have 14-bit weights and are summed exactly. In all a component is within 1/64 of
// the exact one.
#ifndef FOVEAL_IMGPROC_ROWS_LERP_H_
#define FOVEAL_IMGPROC_ROWS_LERP_H_

#include <cstdint>

#include "imgproc/rows/kernels.h"

namespace foveal::imgproc {

inline constexpr int kBlendOne = 1 << 15;     // weight 1 between rows
inline constexpr int kTapOne = 1 << 14;       // weight 1 along a row
inline constexpr int kBlendSlack = 8;         // zeros behind a blended row: taps are read in eights
inline constexpr float kLerpUnit = 0x1p-21f;  // of a sum of taps

// Two neighbouring weights along a row, that of the first tap in the lower half.
inline int32_t pack_weights(int first, int second) {
  return static_cast<int32_t>(static_cast<uint32_t>(first) | static_cast<uint32_t>(second) << 16);
}

// Taps of a chunk along a blended row: offsets of both in elements of the source row, and
// pack_weights. Taps of one element in both have all weight in the first.
struct LerpTaps {
  const int32_t* o0;
  const int32_t* o1;
  const int32_t* w;
};

// Two source rows to blend: bytes that may be read from each, the weight of the second as `blend`
// takes it, and where the rows to ask memory for begin, or NULL.
struct LerpRows {
  const uint8_t *a, *b;
  int64_t readable_a, readable_b;
  int weight;
  const uint8_t *next_a, *next_b;
};

// What `blend` and then `taps` make of n pixels, at once. Lanes that are NULL are skipped. Offsets
// never fall or never rise, and all bytes of kLerpTogether adjacent pixels lie within kLerpWindow.
typedef void (*LerpWindows)(const LerpRows& rows, int span, const LerpTaps& t, float gain, int n,
                            float* const lane[3]);
inline constexpr int kLerpTogether = 16, kLerpWindow = 128;

struct LerpKernels {
  // Both taps of n pixels, as neighbours: of the first `span` elements of each, in room for 1, 2 or
  // (3) 4; what is left of it holds anything. Never reads at or beyond row + readable.
  void (*pick)(const uint8_t* row, int64_t readable, int span, LerpTaps t, int n, uint8_t* out);
  // out[i] = 128 a[i] + ((b[i] - a[i]) * weight + 128 >> 8), then kBlendSlack zeros; weight of b,
  // below kBlendOne. Asks memory for n bytes from next_a and next_b on, unless they are NULL.
  void (*blend)(const uint8_t* a, const uint8_t* b, int weight, int n, const uint8_t* next_a,
                const uint8_t* next_b, int16_t* out);
  // lane[b][i] = gain * (row[o0 + b] * w0 + row[o1 + b] * w1) of the first `span` elements of every
  // pixel; row[0] is the element at offset `first`. taps1, taps2: pixels of 1, 2 elements that
  // follow one another, all of them wanted.
  void (*taps1)(const int16_t* row, int32_t first, LerpTaps t, float gain, int n,
                float* const lane[3]);
  void (*taps2)(const int16_t* row, int32_t first, LerpTaps t, float gain, int n,
                float* const lane[3]);
  void (*taps)(const int16_t* row, int32_t first, int span, LerpTaps t, float gain, int n,
               float* const lane[3]);
  // out[i * out_step + c] = in[c * in_step + i], c < columns, i < n.
  void (*turn)(const float* in, int in_step, int columns, int n, float* out, int out_step);
};

const LerpKernels& lerp_kernels();  // for this machine
LerpWindows lerp_windows();         // NULL: this machine has none

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_ROWS_LERP_H_
