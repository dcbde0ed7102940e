// What filters along both axes need of a run.
#ifndef FOVEAL_IMGPROC_PLANS_SEPARABLE_H_
#define FOVEAL_IMGPROC_PLANS_SEPARABLE_H_

#include "imgproc/filter.h"

namespace foveal::imgproc {

// In whole numbers: sums down source rows are shifted by `shift`, and sums along them times `unit`
// are values of 0..255.
struct FixedPlane {
  int shift = 0;
  float unit = 0;
};

struct Separable {
  FilterAxis x, y;      // along the tensor's axes; kept from run to run
  bool whole = false;   // in whole numbers
  FixedPlane plane[2];  // of whole: of the first group and of the others
};

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLANS_SEPARABLE_H_
