// Axis-aligned maps of bytes in whole numbers.
#ifndef FOVEAL_IMGPROC_PLANS_LERP_H_
#define FOVEAL_IMGPROC_PLANS_LERP_H_

#include <cstdint>
#include <vector>

#include "imgproc/rows/lerp.h"

namespace foveal::imgproc {

// The two source rows behind a tensor row (of quarter turns, column): weight of the second, in
// 1 / kBlendOne, and how much the blended row counts (less than 1 beside a constant border).
struct RowPair {
  int32_t a, b;
  int weight;
  float gain;
};

// Tables of a run, of entries in the order of tensor rows and columns; sized at compile.
struct Lerp {
  LerpWindows windows = nullptr;  // of runs whose taps lie close enough together
  bool picks = false;             // taps are picked from their rows before these are blended
  std::vector<int32_t> o0[3];     // [group] offsets of both taps along source rows
  std::vector<int32_t> o1[3];
  std::vector<int32_t> w[3];       // [group] pack_weights
  std::vector<RowPair> rows[2];    // [1] of linear chroma
  std::vector<int32_t> picked[4];  // offsets of picked taps: [0] of 1, [1] of 2 elements, [2], [3]
};

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLANS_LERP_H_
