// The functions behind filters, in f64 and without contraction: the same weights on every machine.
// Keys, "Cubic convolution interpolation" (1981); Duchon, "Lanczos filtering" (1979).
#ifndef FOVEAL_IMGPROC_FILTER_SHAPE_H_
#define FOVEAL_IMGPROC_FILTER_SHAPE_H_

#include <algorithm>
#include <cmath>

#include "imgproc/spec.h"

namespace foveal::imgproc {

// Beyond it the filter is 0.
inline double filter_radius(SampleKind kind) {
  switch (kind) {
    case SampleKind::kBicubic:
      return 2;
    case SampleKind::kLanczos3:
      return 3;
    case SampleKind::kArea:
      return 0.5;
    default:
      return 1;
  }
}

inline double sinc(double x) {
  if (x == 0) return 1;
  x *= 3.14159265358979323846;
  return std::sin(x) / x;
}

// At x, in radii's unit. a: of bicubic. Area's depends on who asks and is not here.
inline double filter_shape(SampleKind kind, double x, double a) {
  if (kind == SampleKind::kLanczos3) return -3 <= x && x < 3 ? sinc(x) * sinc(x / 3) : 0;
  x = std::fabs(x);
  if (kind != SampleKind::kBicubic) return std::max(1 - x, 0.0);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_FILTER_SHAPE_H_
