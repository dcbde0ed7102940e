// Separable filters: which source pixels make a tensor pixel along one axis, and how much of each.
#ifndef FOVEAL_IMGPROC_FILTER_H_
#define FOVEAL_IMGPROC_FILTER_H_

#include <cstdint>
#include <vector>

#include "imgproc/spec.h"

namespace foveal::imgproc {

// One axis of a run. Tensor pixel d, from <= d < to, is centred at
// start + (d - origin + 0.5) * scale in upright source pixels; `flip` counts them from the other
// end in memory.
struct AxisMap {
  double start = 0, scale = 1;
  int origin = 0, from = 0, to = 0;
  int size = 0;  // source pixels along the axis
  bool flip = false;
  // Of the first group's planes and of the others': pixel i is sample (i + odd) >> shift.
  int shift[2] = {}, odd[2] = {};
  int planes = 1;
  bool down = false;      // the axis runs down the columns in memory
  bool inside = true;     // the region stays inside the frame
  bool constant = false;  // taps outside of the frame are left out: see `inside` of FilterAxis
  bool operator==(const AxisMap&) const = default;
};

// Taps of every tensor pixel on planes of one subsampling, in samples: pixel d is the sum over k <
// count[d] of weights[d * taps + k] times sample first[d] + k. Weights beyond count are zero.
struct Filter {
  int taps = 0;  // see padded_taps
  std::vector<int32_t> first, count;
  std::vector<float> weights;

  // The same weights times -2^bits, as whole numbers with the same sum: 1 is -32768, which fits.
  int bits = 0;
  std::vector<int16_t> fixed;
  // The most of any pixel: what `fixed` adds to, or takes from, the sum of samples 0..1; the sum of
  // its weights above and of those below zero.
  double error = 0, above = 0, below = 0;
};

// Fraction bits of `fixed`: most along rows, whose samples have kLineBits themselves, and down
// them.
inline constexpr int kLineBits = 7, kMostBitsAlong = 16, kMostBitsDown = 21;

// The tables of one axis. They grow when a run needs more than any run before: later runs of the
// same geometry find them ready and allocate nothing.
struct FilterAxis {
  AxisMap map;
  bool built = false;
  Filter plane[2];            // of the first group and of the others
  std::vector<float> inside;  // sum of the weights within the frame
  std::vector<double> window;
};

// Whether this sampler is a filter of this header at all (outside of profile "torch", bilinear
// without antialias and nearest have plans of their own).
bool is_filter(const Spec& spec);
// Whether it is defined for regions that are turned or in perspective, too.
bool can_reduce(const Spec& spec);

// FV_INVALID_ARGUMENT if the filter covers too many pixels.
Status check_taps(const Spec& spec, const AxisMap& map);

// The weights of tensor pixel d, in memory order; returns the source pixel of the first one. All
// lie in the frame; what the filter sees beyond it is added to the outermost ones, or with
// map.constant is left out: `inside` is the sum of what is left.
int weigh(const Spec& spec, const AxisMap& map, int d, std::vector<double>& weights,
          double& inside);

// Fills what belongs to `fixed` for pixels [from, to).
void quantize(int from, int to, bool down, Filter& f);

// Builds the tables unless they are there already. Fails as check_taps does.
Status build_filter(const Spec& spec, const AxisMap& map, FilterAxis& axis);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_FILTER_H_
