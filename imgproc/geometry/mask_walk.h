// A mask over the tensor, brought back to the upright frame.
#ifndef FOVEAL_IMGPROC_GEOMETRY_MASK_WALK_H_
#define FOVEAL_IMGPROC_GEOMETRY_MASK_WALK_H_

#include <cstdint>
#include <vector>

#include "foveal/imgproc.h"

namespace foveal::imgproc {

inline constexpr int64_t kMaxMaskSide = 16384;

// Finite values, with a row and a column of zeros behind the last, so that a second tap of weight 0
// may be read.
struct MaskPlane {
  int64_t width, height, stride;
  std::vector<float> data;

  MaskPlane() = default;
  // All zeros; sides of 1..kMaxMaskSide.
  MaskPlane(int64_t w, int64_t h)
      : width(w), height(h), stride(w + 1), data(static_cast<size_t>((w + 1) * (h + 1)), 0.0f) {}
  float* row(int64_t y) { return data.data() + y * stride; }
  const float* row(int64_t y) const { return data.data() + y * stride; }
};

// Writes all frame_width * frame_height values of the transform, whose maps are finite: bilinear
// or nearest between those of the mask that show the region, 0 outside of it.
void mask_to_frame(const MaskPlane& mask, const fv_transform& t, bool nearest, float* out);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_GEOMETRY_MASK_WALK_H_
