// From a spec, a frame's size and a ROI to one map; and the Transform that undoes it.
#ifndef FOVEAL_IMGPROC_GEOMETRY_TRANSFORM_H_
#define FOVEAL_IMGPROC_GEOMETRY_TRANSFORM_H_

#include "foveal/imgproc.h"
#include "imgproc/geometry/mat3.h"
#include "imgproc/spec.h"

namespace foveal::imgproc {

// Pixels; keeps every later step far from overflow. A ROI beyond these is refused.
inline constexpr double kMaxCoordinate = 1e6;
inline constexpr double kMinRegionSide = 1e-3;

// Upright -> sensor pixels of a sensor picture of width x height.
Mat3 sensor_from_upright(int rotation, bool mirror, int width, int height);

struct Geometry {
  Mat3 upright_from_tensor;
  Mat3 tensor_from_upright;
  Mat3 sensor_from_tensor;
  int upright_width = 0, upright_height = 0;
  int rotation = 0;
  bool mirror = false;
  int x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // tensor pixels that are sampled; the others are bars
  // The pixels that show the region, in tensor coordinates: [at, at + size). A crop cuts some off.
  double at[2] = {}, size[2] = {};
  double gain = 0;       // of a crop that is resized by a factor, not to a size; else 0
  double valid[4] = {};  // part of the tensor that shows the region
  // The region in upright pixels, when its sides are those of the frame: tensor pixel x is centred
  // at start + (x - at + 0.5) * step, likewise y. Exact where the map's rounding is not.
  bool rect = false;
  double start[2] = {}, step[2] = {};
  bool inside = false;  // the region stays inside the frame: taps are clamped, no border is seen
};

// A ROI must be given exactly when the spec says "per_call".
Status check_roi(const Spec& spec, const fv_roi* roi);

// The tensor's size for a frame (width, height: sensor pixels): the spec's own, or what its rule
// makes of the region.
Status tensor_size(const Spec& spec, int width, int height, int rotation, const fv_roi* roi,
                   int32_t size[2]);
// Whether the rule of a flexible spec can ever give this size.
Status check_tensor_size(const Spec& spec, int64_t width, int64_t height);

// width, height: sensor pixels. roi NULL: the whole frame.
Result<Geometry> plan_geometry(const Spec& spec, int width, int height, int rotation, bool mirror,
                               const fv_roi* roi);

fv_transform make_transform(const Geometry& g, const Spec& spec);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_GEOMETRY_TRANSFORM_H_
