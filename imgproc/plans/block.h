// Sampled pixels of several rows at once.
#ifndef FOVEAL_IMGPROC_PLANS_BLOCK_H_
#define FOVEAL_IMGPROC_PLANS_BLOCK_H_

#include <algorithm>

#include "imgproc/plans/kind.h"

namespace foveal::imgproc {

// A quarter turn makes columns of the tensor: the higher the block, the fewer times it goes down
// all of the source.
struct BandBlock {
  static constexpr int kColumns = 128, kTurnedRows = 64, kTurnedColumns = 32;

  static constexpr int rows_of(bool turned) { return turned ? kTurnedRows : kBandRows; }
  static constexpr int columns_of(bool turned) { return turned ? kTurnedColumns : kColumns; }

  explicit BandBlock(bool turned) : columns(columns_of(turned)) {}
  float* row(int y, int component) { return values + (y * 3 + component) * columns; }

  const int columns;
  alignas(64) float values[kBandRows * 3 * kColumns];
};
static_assert(BandBlock::kTurnedRows * BandBlock::kTurnedColumns ==
              kBandRows * BandBlock::kColumns);

inline int block_rows(bool turned, int y, int y1) {
  return std::min(y1 - y, BandBlock::rows_of(turned));
}

// Gives a block's rows [y0, y1) to the sink. weigh writes how much of the picture tensor pixels
// [x, x + n) of row y see; NULL where that is not asked for.
using Weigh = void (*)(const Plan&, int x, int y, int n, float* inside);
inline void give_block(const Plan& p, BandBlock& block, int x, int n, int y0, int y1, Weigh weigh,
                       RowSink& sink) {
  alignas(64) float inside[BandBlock::kColumns];
  for (int y = y0; y < y1; ++y) {
    const float* const c[3] = {block.row(y - y0, 0), block.row(y - y0, 1), block.row(y - y0, 2)};
    if (weigh) weigh(p, x, y, n, inside);
    sink.take(x, y, n, c, weigh ? inside : nullptr);
  }
}

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLANS_BLOCK_H_
