// What the profiles "pillow" and "pillow_12" need of a run.
#ifndef FOVEAL_IMGPROC_PLANS_PILLOW_H_
#define FOVEAL_IMGPROC_PLANS_PILLOW_H_

#include <cstdint>
#include <vector>

#include "imgproc/rows/pillow.h"
#include "imgproc/spec.h"

namespace foveal::imgproc {

// One axis of Image.resize(box=...): result pixel d, from <= d < to, of `result` ones.
struct PillowBox {
  float begin = 0, end = 0;  // of the box, in upright pixels
  double result = 1;
  int from = 0, to = 0;
  int size = 0;       // upright pixels along the axis
  bool flip = false;  // they run against memory
  bool operator==(const PillowBox&) const = default;

  double scale() const { return static_cast<double>(end - begin) / result; }
};

struct alignas(64) PackedTaps {
  uint8_t bytes[64];
};

// Taps of the result's pixels [from, to), which begin at index 0, in memory order: pixel i is
// weights[i * taps + k] times source pixel first[i] + k, k < count[i]. Kept from run to run.
struct PillowAxis {
  PillowBox box;
  bool built = false;
  int taps = 0;
  std::vector<int32_t> first, count, weights;
  std::vector<PackedTaps> packed;  // of the axis along memory rows
  int blocks = 0;
  std::vector<double> window;
};

struct Pillow {
  const PillowKernels* k = nullptr;
  PillowBox box[2];          // along tensor x and y
  PillowAxis along, across;  // memory rows
  bool rows_first = false;   // the first pass adds up memory rows, the second goes along them
  bool vertical_first = false;
  bool direct = false;       // lines lie in the frame as they are
  PillowPixels pixels = {};  // of lines
  int shift[3] = {};         // bits of each component in a word
};

// Most tensor rows of a band. Those of quarter turns are high: they read a stretch of every memory
// row.
inline constexpr int kPillowRows = 32, kPillowTurnedRows = 128;
inline constexpr int kPillowWords = 4096;  // of a block: Run.step columns of some rows of a band
// Most bytes of lines that do not lie in the frame, and of one that is a sum of rows.
inline constexpr int kPillowLines = 8192, kPillowSums = 4096;

// What the first pass made of source rows, for as long as they fit: row r is in slot r % rows.
struct PillowRing {
  static constexpr int kBytes = 1 << 15, kRows = 256;
  alignas(64) uint8_t data[kBytes];
  int32_t held[kRows];
  int from = -1, n = 0, bytes = 0, rows = 0;

  // Rows of `bytes` bytes that hold the n things from `from` on: what is there stays if it is that.
  void open(int first, int count, int row_bytes);
  uint8_t* slot(int row) { return data + row % rows * bytes; }
};

// Of one band.
struct PillowScratch {
  PillowRing ring;
  alignas(64) int32_t sums[kPillowSums];
  alignas(64) uint8_t lines[kPillowLines + 64];
  alignas(64) uint32_t block[kPillowWords];
};

// Upright pixel index[d - from] is what Image.resize shows at pixel d with Resampling.NEAREST.
void place_nearest(const PillowBox& box, int32_t* index);

// Packs an axis' weights for rows that are walked along; NULL: for the other axis, not at all.
void pack_weights(const PillowKernels* packs, PillowAxis& axis);
// Weights of every other filter, unless they are there already, packed as above.
void build_pillow(SampleKind sample, const PillowBox& box, const PillowKernels* packs,
                  PillowAxis& axis);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLANS_PILLOW_H_
