// Frames for C++ programs of tests.
#ifndef FOVEAL_TESTS_FRAMES_H_
#define FOVEAL_TESTS_FRAMES_H_

#include <cstdint>
#include <vector>

#include "foveal/imgproc.h"

namespace foveal {

// A frame of one plane, which `pixels` fill; they belong to the caller.
inline fv_frame picture(fv_pixel_format format, int width, int height,
                        const std::vector<uint8_t>& pixels) {
  fv_frame frame{};
  frame.abi = FV_ABI_INIT(fv_frame);
  frame.format = format;
  frame.width = width;
  frame.height = height;
  frame.plane_count = 1;
  frame.planes[0] = {pixels.data(), pixels.size(), 0, 0};
  return frame;
}

}  // namespace foveal
#endif  // FOVEAL_TESTS_FRAMES_H_
