// Frames: validation, and the view of one that readers sample from.
#ifndef FOVEAL_IMGPROC_FRAME_H_
#define FOVEAL_IMGPROC_FRAME_H_

#include <cstdint>

#include "base/status.h"
#include "foveal/imgproc.h"

namespace foveal::imgproc {

inline constexpr int kMaxSide = 32768;  // of a frame, pixels

enum class Family { kRgb, kGray, kYuv };
enum class Element { kU8, kU16, kF32 };  // index of Kernels::element

// What a pixel format looks like in memory. A plane consists of blocks, one per 2^shift_x by
// 2^shift_y pixels; a component lies in one plane and may be denser than its blocks (Y of YUYV).
struct FormatInfo {
  struct PlaneInfo {
    int8_t elements;  // natural distance of two blocks
    int8_t shift_x, shift_y;
  };
  struct Component {
    int8_t plane;
    int8_t offset;  // elements from the block's begin
    int8_t shift_x, shift_y;
  };
  fv_pixel_format id;
  const char* name;
  Family family;
  Element element;
  float unit;  // of a stored number, in 0..255
  int planes;
  PlaneInfo plane[3];
  Component component[3];  // R, G, B / Y / Y, U, V

  int bytes() const { return element == Element::kU8 ? 1 : element == Element::kU16 ? 2 : 4; }
};
const FormatInfo* format_info(fv_pixel_format format);  // NULL: no such format

// One colour component of the visible picture: that of pixel (x, y) is element
// line(y) * row + column(x) * pixel of data. Offsets and strides count elements.
struct Channel {
  const uint8_t* data = nullptr;
  int64_t row = 0;
  int64_t pixel = 0;
  int shift_x = 0, shift_y = 0;
  int odd_x = 0, odd_y = 0;  // the visible picture begins within a block

  int column(int x) const { return (x + odd_x) >> shift_x; }
  int line(int y) const { return (y + odd_y) >> shift_y; }
};

// Channels that share pixels, hence row, pixel and shifts: read together.
struct Group {
  int first = 0;  // channel
  int count = 0;
  int lowest = 0;        // channel with the lowest address
  int span = 0;          // elements from the lowest channel's to the end of the highest
  int64_t readable = 0;  // elements from the lowest channel on
};

// A checked frame, seen through its visible rectangle. Channels are R, G, B / Y / Y, U, V whatever
// the order in memory. Borrows.
struct Source {
  Family family = Family::kRgb;
  Element element = Element::kU8;
  int size = 1;       // bytes of an element
  float unit = 1;     // of an element, in 0..255
  bool deep = false;  // 10-bit codes: four per 8-bit code
  int width = 0;      // visible
  int height = 0;
  fv_chroma_siting siting = 0;
  int channels = 0;
  Channel channel[3];
  int groups = 0;
  Group group[3];
};

// Checks everything a reader relies on. Never reads pixel memory.
Result<Source> open_frame(const fv_frame& frame);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_FRAME_H_
