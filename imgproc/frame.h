// Frames: validation, and the view of one that readers sample from.
#ifndef FOVEAL_IMGPROC_FRAME_H_
#define FOVEAL_IMGPROC_FRAME_H_

#include <cstdint>

#include "base/status.h"
#include "foveal/imgproc.h"

namespace foveal::imgproc {

inline constexpr int kMaxSide = 32768;  // of a frame, pixels

struct FormatInfo {
  fv_pixel_format id;
  const char* name;
  int planes;
  int pixel_bytes[3];  // natural pixel stride of each plane
  bool yuv;
};
const FormatInfo* format_info(fv_pixel_format format);  // NULL: no such format

// One colour component: component value of pixel (x, y) is at
// data[(y >> shift) * row + (x >> shift) * pixel].
struct Channel {
  const uint8_t* data = nullptr;
  int64_t row = 0;
  int64_t pixel = 0;
  int shift = 0;
};

// Channels that share pixels, hence row, pixel and shift: read together.
struct Group {
  int first = 0;  // channel
  int count = 0;
  int lowest = 0;        // channel with the lowest address
  int bytes = 0;         // from the lowest channel's byte to the end of the highest
  int64_t readable = 0;  // bytes from the lowest channel on
};

enum class Family { kRgb, kGray, kYuv };

// A checked frame. Channels are R, G, B / Y / Y, U, V whatever the order in memory. Borrows.
struct Source {
  Family family = Family::kRgb;
  int width = 0;
  int height = 0;
  int channels = 0;
  Channel channel[3];
  int groups = 0;
  Group group[3];
};

// Checks everything a reader relies on. Never reads pixel memory.
Result<Source> open_frame(const fv_frame& frame);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_FRAME_H_
