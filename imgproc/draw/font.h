// Built-in bitmap font: ASCII 32..126 in cells of 6 x 10 pixels.
#ifndef FOVEAL_IMGPROC_DRAW_FONT_H_
#define FOVEAL_IMGPROC_DRAW_FONT_H_

#include <cstdint>

namespace foveal::imgproc {

inline constexpr int kCellWidth = 6, kCellHeight = 10;

struct Glyph {
  uint8_t row[7];  // bit 4 = leftmost of 5 pixels
  uint8_t top;     // first row within the cell: above 0 for what reaches below the line
};

const Glyph& glyph(char c);  // '?' for anything outside 32..126

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_DRAW_FONT_H_
