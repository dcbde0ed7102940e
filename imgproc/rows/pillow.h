// Row kernels of the pillow profiles: filters of bytes in whole numbers. What they compute does not
// depend on the instruction set: sums are exact, in any order.
#ifndef FOVEAL_IMGPROC_ROWS_PILLOW_H_
#define FOVEAL_IMGPROC_ROWS_PILLOW_H_

#include <cstdint>

#include "imgproc/rows/kernels.h"

namespace foveal::imgproc {

inline constexpr int kPillowBits = 22;  // behind the point of a weight
inline constexpr int32_t kPillowHalf = 1 << (kPillowBits - 1);

// Lines of pixels `size` (1..4) bytes apart, with `span` (1 or 3) components at the begin of each.
struct PillowPixels {
  int size, span;
};
struct PillowLines {
  const uint8_t* first;
  int64_t stride;  // bytes between lines
  int count;
  int64_t readable;  // bytes from the first line on
  PillowPixels pixels;
};

// What adjacent outputs along a line are made of: output i of the pixels first[i] - origin ...,
// count[i] many.
struct PillowTaps {
  const int32_t* first;  // never falls, or never rises
  const int32_t* count;
  int32_t origin;  // pixel at which the line begins
  // Weights: `blocks` blocks of PillowKernels::pack per output; at a multiple of 64 bytes.
  const uint8_t* packed;
  int blocks;
};

struct PillowKernels {
  int taps;         // of a block
  int block_bytes;  // of its weights, as `along` reads them
  // One output's weights as `blocks` blocks; taps beyond count weigh 0.
  void (*pack)(const int32_t* w, int count, int blocks, uint8_t* out);

  // words[l * n + i] = output i of line l, rounded half up and clamped: a component per byte, first
  // in the lowest; bytes that are no component hold anything. Asks the cache for the lines behind.
  // n <= kChunk.
  void (*along)(const PillowLines& lines, const PillowTaps& t, int n, uint32_t* words);
  // sums[i] = kPillowHalf (or, with `more`, what it was) + sum over k < count of
  // w[k] * base[k * stride + i], i < n.
  void (*add_rows)(const uint8_t* base, int64_t stride, const int32_t* w, int count, int n,
                   bool more, int32_t* sums);
  // out[i] = sums[i], the half of rounding included, as a byte.
  void (*round)(const int32_t* sums, int n, uint8_t* out);
  // Pillow's "L" of R, G, B. Levels are rounded half to even first. out may be r.
  void (*luma)(const float* r, const float* g, const float* b, int n, float* out);
};

const PillowKernels& pillow_kernels();  // for this machine

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_ROWS_PILLOW_H_
