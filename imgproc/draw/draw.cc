// Drawing on 8-bit images. Every write goes through Canvas::span, which clips.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/guard.h"
#include "foveal/imgproc.h"
#include "imgproc/draw/font.h"
#include "imgproc/frame.h"

using namespace foveal;
using namespace foveal::imgproc;

namespace {

constexpr double kFar = 1e6;  // coordinates are clamped to this before they become integers

class Canvas {
 public:
  static Result<Canvas> open(const fv_canvas* c, fv_rgb color) {
    if (!c) return Status(FV_INVALID_ARGUMENT, "draw: canvas is NULL");
    fv_frame frame{};
    frame.abi = FV_ABI_INIT(fv_frame);
    frame.format = c->format;
    frame.width = c->width;
    frame.height = c->height;
    frame.plane_count = 1;
    frame.planes[0] = {c->data, c->bytes, c->row_stride, 0};
    Result<Source> source = open_frame(frame);
    if (!source.ok()) return std::move(source.status()).within("draw");
    const Source& s = source.value();
    if (c->format > FV_GRAY)
      return Status(FV_FRAME_ERROR, "draw: canvas: expected RGB, BGR, RGBA, BGRA or GRAY");
    Canvas out;
    out.data_ = static_cast<uint8_t*>(c->data);
    out.row_ = s.channel[0].row;
    out.pixel_ = s.channel[0].pixel;
    out.width_ = s.width;
    out.height_ = s.height;
    const int r = color >> 16 & 255, g = color >> 8 & 255, b = color & 255;
    if (s.family == Family::kGray) {
      out.color_[0] = static_cast<uint8_t>((299 * r + 587 * g + 114 * b + 500) / 1000);
      out.channels_ = 1;
    } else {
      const bool bgr = c->format == FV_BGR || c->format == FV_BGRA;
      const int order[3] = {bgr ? b : r, g, bgr ? r : b};
      for (int i = 0; i < 3; ++i) out.color_[i] = static_cast<uint8_t>(order[i]);
      out.channels_ = 3;
    }
    return out;
  }

  int width() const { return width_; }
  int height() const { return height_; }

  void span(int64_t x0, int64_t x1, int64_t y) const {
    if (y < 0 || y >= height_) return;
    x0 = std::max<int64_t>(x0, 0);
    x1 = std::min<int64_t>(x1, width_);
    uint8_t* p = data_ + y * row_ + x0 * pixel_;
    for (; x0 < x1; ++x0, p += pixel_)
      for (int c = 0; c < channels_; ++c) p[c] = color_[c];
  }
  void fill(int64_t x0, int64_t y0, int64_t x1, int64_t y1) const {
    y1 = std::min<int64_t>(y1, height_);
    for (y0 = std::max<int64_t>(y0, 0); y0 < y1; ++y0) span(x0, x1, y0);
  }
  // Mixes the colour in; cover 0..1. (x, y) inside.
  void blend(int x, int y, double cover) const {
    uint8_t* p = data_ + y * row_ + x * pixel_;
    for (int c = 0; c < channels_; ++c)
      p[c] = static_cast<uint8_t>(std::lround(p[c] + (color_[c] - p[c]) * cover));
  }

 private:
  uint8_t* data_ = nullptr;
  int64_t row_ = 0, pixel_ = 0;
  int width_ = 0, height_ = 0, channels_ = 0;
  uint8_t color_[3] = {};
};

int edge(double v) { return static_cast<int>(std::lround(std::clamp(v, -kFar, kFar))); }

Status finite(const double* v, int n, const char* what) {
  for (int i = 0; i < n; ++i)
    if (!std::isfinite(v[i]))
      return Status(FV_INVALID_ARGUMENT,
                    format("draw: %s: expected finite numbers, got %g", what, v[i]));
  return ok();
}

Status positive(int32_t v, const char* what) {
  if (v >= 1 && v <= 4096) return ok();
  return Status(FV_INVALID_ARGUMENT, format("draw: %s: expected 1..4096, got %d", what, v));
}

// Everything within `radius` of a segment, with soft edges. A point is a segment of no length.
void capsule(const Canvas& c, double x0, double y0, double x1, double y1, double radius) {
  const double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
  const int top = std::max(edge(std::min(y0, y1) - radius - 1), 0);
  const int bottom = std::min(edge(std::max(y0, y1) + radius + 1), c.height());
  const int left = std::max(edge(std::min(x0, x1) - radius - 1), 0);
  const int right = std::min(edge(std::max(x0, x1) + radius + 1), c.width());
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) {
      const double px = x + 0.5 - x0, py = y + 0.5 - y0;
      const double t = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0;
      const double distance = std::hypot(px - t * dx, py - t * dy);
      const double cover = std::min(radius + 0.5 - distance, 1.0);
      if (cover > 0) c.blend(x, y, cover);
    }
}

Status draw_box(const fv_canvas* canvas, const double* box, int32_t thickness, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  FV_TRY(finite(box, 4, "box"));
  FV_TRY(positive(thickness, "thickness"));
  // The line straddles the edge, half a pixel more outside when the thickness is odd.
  const int out = (thickness + 1) / 2, in = thickness - out;
  const int x0 = edge(std::min(box[0], box[2])), x1 = edge(std::max(box[0], box[2]));
  const int y0 = edge(std::min(box[1], box[3])), y1 = edge(std::max(box[1], box[3]));
  const int inner_top = std::min(y0 + in, y1 - in), inner_bottom = std::max(y0 + in, y1 - in);
  c.fill(x0 - out, y0 - out, x1 + out, inner_top);
  c.fill(x0 - out, inner_bottom, x1 + out, y1 + out);
  c.fill(x0 - out, inner_top, std::max(x0 + in, x0 - out + 1), inner_bottom);
  c.fill(std::min(x1 - in, x1 + out - 1), inner_top, x1 + out, inner_bottom);
  return ok();
}

Status fill_box(const fv_canvas* canvas, const double* box, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  FV_TRY(finite(box, 4, "box"));
  c.fill(edge(std::min(box[0], box[2])), edge(std::min(box[1], box[3])),
         edge(std::max(box[0], box[2])), edge(std::max(box[1], box[3])));
  return ok();
}

Status draw_line(const fv_canvas* canvas, const double* v, int32_t thickness, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  FV_TRY(finite(v, 4, "line"));
  FV_TRY(positive(thickness, "thickness"));
  double p[4];
  for (int i = 0; i < 4; ++i) p[i] = std::clamp(v[i], -kFar, kFar);
  capsule(c, p[0], p[1], p[2], p[3], thickness / 2.0);
  return ok();
}

Status draw_point(const fv_canvas* canvas, double x, double y, double radius, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  const double v[3] = {x, y, radius};
  FV_TRY(finite(v, 3, "point"));
  if (!(radius > 0) || radius > 4096)
    return Status(FV_INVALID_ARGUMENT,
                  format("draw: radius: expected above 0, to 4096, got %g", radius));
  x = std::clamp(x, -kFar, kFar);
  y = std::clamp(y, -kFar, kFar);
  capsule(c, x, y, x, y, radius);
  return ok();
}

Status draw_text(const fv_canvas* canvas, int32_t x, int32_t y, const char* text, size_t bytes,
                 int32_t scale, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  FV_TRY(positive(scale, "scale"));
  int64_t left = x;
  for (size_t i = 0; i < bytes && left < c.width(); ++i, left += int64_t{kCellWidth} * scale) {
    const unsigned char b = static_cast<unsigned char>(text[i]);
    if ((b & 0xC0) == 0x80) {  // rest of a UTF-8 sequence: one '?' for all of it
      left -= int64_t{kCellWidth} * scale;
      continue;
    }
    const Glyph& g = glyph(text[i]);
    for (int row = 0; row < 7; ++row)
      for (int col = 0; col < 5; ++col)
        if (g.row[row] >> (4 - col) & 1) {
          const int64_t px = left + int64_t{col} * scale;
          const int64_t py = y + (int64_t{g.top} + row) * scale;
          c.fill(px, py, px + scale, py + scale);
        }
  }
  return ok();
}

}  // namespace

extern "C" {

fv_status* fv_draw_box(const fv_canvas* canvas, const double box[4], int32_t thickness,
                       fv_rgb color) {
  return guard(__func__, [&]() -> Status { return draw_box(canvas, box, thickness, color); });
}
fv_status* fv_fill_box(const fv_canvas* canvas, const double box[4], fv_rgb color) {
  return guard(__func__, [&]() -> Status { return fill_box(canvas, box, color); });
}
fv_status* fv_draw_line(const fv_canvas* canvas, const double from_to[4], int32_t thickness,
                        fv_rgb color) {
  return guard(__func__, [&]() -> Status { return draw_line(canvas, from_to, thickness, color); });
}
fv_status* fv_draw_point(const fv_canvas* canvas, double x, double y, double radius, fv_rgb color) {
  return guard(__func__, [&]() -> Status { return draw_point(canvas, x, y, radius, color); });
}
fv_status* fv_draw_text(const fv_canvas* canvas, int32_t x, int32_t y, const char* text,
                        size_t bytes, int32_t scale, fv_rgb color) {
  return guard(__func__,
               [&]() -> Status { return draw_text(canvas, x, y, text, bytes, scale, color); });
}

}  // extern "C"
