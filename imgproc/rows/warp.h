// Rows of a turned or projected region, of bytes, in whole numbers: the same results on every
// instruction set. Built once per instruction set like rows/kernels.h.
#ifndef FOVEAL_IMGPROC_ROWS_WARP_H_
#define FOVEAL_IMGPROC_ROWS_WARP_H_

#include <cstdint>

#include "imgproc/rows/kernels.h"

namespace foveal::imgproc {

inline constexpr int kWarpBits = 14;  // positions count 1/2^14 pixels
inline constexpr int32_t kWarpOne = 1 << kWarpBits;

// `span` (1 to 3) neighbouring bytes of every pixel of a plane.
struct WarpPlane {
  const uint8_t* data;
  int32_t row, pixel;  // bytes
  int span;
};

// How many pixels of a row a sample may read, the left tap's included: 16 bytes of three
// components, 4 bytes of fewer.
inline int warp_reach(int span, int64_t pixel) {
  const int64_t bytes = span > 2 ? 16 : 4;
  // The last pixel of a plane ends with its last component.
  return static_cast<int>((bytes + pixel - 1) / pixel + (pixel > span ? 1 : 0));
}
// What `sample` takes.
inline bool can_warp(int span, int64_t pixel) {
  return span == 1 || (span == 2 && pixel == 2) || (span == 3 && (pixel == 3 || pixel == 4));
}

struct WarpKernels {
  // Positions of the upper left tap of tensor pixels x .. x + n - 1 of row y, kept within 0..most_x
  // and 0..most_y whatever the map says.
  void (*positions)(const LinearMap& m, double x, double y, int n, int32_t most_x, int32_t most_y,
                    int32_t* px, int32_t* py);
  // Among samples that stand for two pixels each, that have its value: pixel i is of sample (i +
  // odd) / 2.
  void (*halve)(const int32_t* p, int odd, int n, int32_t* out);
  // lane[b][i] = byte b of the four pixels at (px[i], py[i]) and right of and below it, weighted
  // along x with 14 bits, cut to 1/128, then weighted along y.
  void (*sample)(const WarpPlane& plane, const int32_t* px, const int32_t* py, int n,
                 float* const lane[3]);
};

const WarpKernels& warp_kernels();  // for this machine

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_ROWS_WARP_H_
