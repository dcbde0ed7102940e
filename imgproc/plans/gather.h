// What a map that is neither straight nor a quarter turn needs of a run.
#ifndef FOVEAL_IMGPROC_PLANS_GATHER_H_
#define FOVEAL_IMGPROC_PLANS_GATHER_H_

#include <cstdint>

#include "imgproc/rows/kernels.h"

namespace foveal::imgproc {

// Which part of it is sampled in whole numbers: plans/warp.cc.
struct Warp {
  bool on = false;
  bool all = false;         // the whole image area
  int32_t most[2][2] = {};  // last left and upper tap: of pixels, of samples of linear chroma
};

struct Gather {
  LinearMap map;
  LinearMap chroma_map;  // of linear chroma, tensor pixels to chroma samples
  Warp warp;
};

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLANS_GATHER_H_
