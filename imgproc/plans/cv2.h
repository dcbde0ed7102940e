// What the profiles "cv2" and "cv2_4" need of a run.
#ifndef FOVEAL_IMGPROC_PLANS_CV2_H_
#define FOVEAL_IMGPROC_PLANS_CV2_H_

#include <cstdint>
#include <vector>

#include "imgproc/rows/cv2.h"

namespace foveal::imgproc {

// cvtColor on every tap, before it is weighted.
enum class Cv2Color { kNone, kYuvToRgb, kRgbToGray, kGrayToRgb };

// Taps along one axis of the tensor: indices of the upright picture, 11-bit weights.
struct Cv2Axis {
  std::vector<int32_t> i0, i1;
  std::vector<int16_t> w0, w1;
};

struct Cv2 {
  const Cv2Kernels* k = nullptr;
  bool warp = false;  // else resize
  bool nearest = false;
  bool one_tap = false;  // nearest, or a resize that keeps the size
  bool half_up = false;
  Cv2Axis x, y;                         // resize
  std::vector<int32_t> offset[3][2];    // resize: [channel or group][tap] bytes along tensor x
  Cv2Map map = {};                      // warp
  bool constant = false;                // warp: taps outside have the border's colour
  bool reflect = false;                 // warp
  bool flip_x = false, flip_y = false;  // the upright picture's x, y run against memory
  bool transposed = false;              // ... its x runs along columns in memory
  Cv2Color color = Cv2Color::kNone;
  int channels = 1;    // read one by one; 0: whole pixels
  int shift[3] = {};   // bits of each component in a word of the source
  int tensor[3] = {};  // ... of the tensor's components, after the colour conversion
  uint32_t border = 0;
};

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLANS_CV2_H_
