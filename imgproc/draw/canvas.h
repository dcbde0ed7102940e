// Where drawing ends: rows of cover, 0..1 per pixel, mixed into an 8-bit picture and clipped to it.
#ifndef FOVEAL_IMGPROC_DRAW_CANVAS_H_
#define FOVEAL_IMGPROC_DRAW_CANVAS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "foveal/imgproc.h"

namespace foveal::imgproc {

class Canvas {
 public:
  static Result<Canvas> open(const fv_canvas* c, fv_rgb color);

  int width() const { return width_; }
  int height() const { return height_; }
  bool yuv() const { return chroma_ != nullptr; }

  // Opaque; not for YUV, whose chroma needs both rows of a block at once.
  void span(int64_t x0, int64_t x1, int64_t y) const;
  void fill(int64_t x0, int64_t y0, int64_t x1, int64_t y1) const;

  // Mixes the colour into the pixels of a rectangle: row(y, left, right, cover) writes the cover of
  // pixels left .. right - 1 of row y, inside the canvas, outside of the rectangle too (where YUV
  // blocks reach over it). A chroma sample takes the mean cover of its pixels.
  template <class Row>
  void paint(int64_t x0, int64_t y0, int64_t x1, int64_t y1, const Row& row) const {
    if (yuv()) x0 &= ~int64_t{1}, y0 &= ~int64_t{1}, x1 = (x1 + 1) & ~int64_t{1};
    const int left = static_cast<int>(std::clamp<int64_t>(x0, 0, width_));
    const int right = static_cast<int>(std::clamp<int64_t>(x1, 0, width_));
    const int top = static_cast<int>(std::clamp<int64_t>(y0, 0, height_));
    const int bottom = static_cast<int>(std::clamp<int64_t>(y1, 0, height_));
    if (left >= right) return;
    const size_t n = static_cast<size_t>(right - left);
    std::vector<double> cover(2 * n);
    for (int y = top; y < bottom; y += yuv() ? 2 : 1) {
      row(y, left, right, cover.data());
      mix(y, left, right, cover.data());
      if (!yuv()) continue;
      const bool two = y + 1 < height_;
      if (two) {
        row(y + 1, left, right, cover.data() + n);
        mix(y + 1, left, right, cover.data() + n);
      }
      mix_chroma(y, left, right, cover.data(), two ? cover.data() + n : nullptr);
    }
  }

 private:
  void mix(int y, int left, int right, const double* cover) const;
  void mix_chroma(int y, int left, int right, const double* above, const double* below) const;

  uint8_t* data_ = nullptr;
  int64_t row_ = 0, pixel_ = 0;
  uint8_t* chroma_ = nullptr;  // two bytes per 2 x 2 pixels
  int64_t chroma_row_ = 0;
  int width_ = 0, height_ = 0, channels_ = 0;
  uint8_t color_[3] = {};  // in the order of memory; Y, then the two bytes of chroma
};

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_DRAW_CANVAS_H_
