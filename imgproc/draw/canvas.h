// Where drawing ends: rows of cover, 0..1 per pixel, mixed into an 8-bit picture and clipped to it.
#ifndef FOVEAL_IMGPROC_DRAW_CANVAS_H_
#define FOVEAL_IMGPROC_DRAW_CANVAS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "foveal/imgproc.h"

namespace foveal::imgproc {

// Columns of a row, real numbers.
struct Reach {
  double from = HUGE_VAL, to = -HUGE_VAL;

  void add(Reach more) {
    from = std::min(from, more.from);
    to = std::max(to, more.to);
  }
  // What of the segment from (x0, y0) to (x1, y1) lies between lines lo and hi.
  void add_segment(double x0, double y0, double x1, double y1, double lo, double hi);
};

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
  // blocks reach over it). A chroma sample takes the mean cover of its pixels. reach(y): outside of
  // which nothing of row y is covered.
  template <class Row>
  void paint(int64_t x0, int64_t y0, int64_t x1, int64_t y1, const Row& row) const {
    paint(x0, y0, x1, y1, [](int) { return Reach{-HUGE_VAL, HUGE_VAL}; }, row);
  }
  template <class Bounds, class Row>
  void paint(int64_t x0, int64_t y0, int64_t x1, int64_t y1, const Bounds& reach,
             const Row& row) const {
    if (yuv()) x0 &= ~int64_t{1}, y0 &= ~int64_t{1}, x1 = (x1 + 1) & ~int64_t{1};
    const int left = static_cast<int>(std::clamp<int64_t>(x0, 0, width_));
    const int right = static_cast<int>(std::clamp<int64_t>(x1, 0, width_));
    const int top = static_cast<int>(std::clamp<int64_t>(y0, 0, height_));
    const int bottom = static_cast<int>(std::clamp<int64_t>(y1, 0, height_));
    if (left >= right) return;
    const size_t n = static_cast<size_t>(right - left);
    std::vector<double> cover(2 * n);
    double *above = cover.data(), *below = above + n;
    for (int y = top; y < bottom; y += yuv() ? 2 : 1) {
      const bool two = yuv() && y + 1 < height_;
      Reach seen = reach(y);
      if (two) seen.add(reach(y + 1));
      int from = static_cast<int>(std::clamp<double>(std::floor(seen.from), left, right));
      int to = static_cast<int>(std::clamp<double>(std::ceil(seen.to), left, right));
      if (yuv()) from &= ~1, to = std::min((to + 1) & ~1, right);
      if (from >= to) continue;
      row(y, from, to, above);
      mix(y, from, to, above);
      if (two) {
        row(y + 1, from, to, below);
        mix(y + 1, from, to, below);
      }
      if (yuv()) mix_chroma(y, from, to, above, two ? below : nullptr);
    }
  }

 private:
  void mix(int y, int left, int right, const double* cover) const;
  template <int kChannels>
  void mix_pixels(uint8_t* p, int n, const double* cover) const;
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
