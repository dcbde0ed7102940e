// Shapes on 8-bit pictures. Every write goes through Canvas, which clips.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/guard.h"
#include "foveal/imgproc.h"
#include "imgproc/draw/canvas.h"
#include "imgproc/draw/font.h"

using namespace foveal;
using namespace foveal::imgproc;

namespace {

constexpr double kFar = 1e6;  // coordinates are clamped to this before they become integers

int edge(double v) { return static_cast<int>(std::lround(std::clamp(v, -kFar, kFar))); }

double length(double x, double y) { return std::sqrt(x * x + y * y); }

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
  const double far = radius + 1;
  const auto reach = [&](int y) {
    Reach r;
    r.add_segment(x0, y0, x1, y1, y + 0.5 - far, y + 0.5 + far);
    return Reach{r.from - far, r.to + far};
  };
  c.paint(edge(std::min(x0, x1) - far), edge(std::min(y0, y1) - far), edge(std::max(x0, x1) + far),
          edge(std::max(y0, y1) + far), reach, [&](int y, int left, int right, double* cover) {
            for (int x = left; x < right; ++x) {
              const double px = x + 0.5 - x0, py = y + 0.5 - y0;
              const double t =
                  length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0;
              const double distance = length(px - t * dx, py - t * dy);
              *cover++ = std::clamp(radius + 0.5 - distance, 0.0, 1.0);
            }
          });
}

struct Cells {  // whole pixels
  int64_t x0, y0, x1, y1;
  bool holds(int64_t x, int64_t y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
};

// The union of n rectangles where it lies in `in`.
void paint_cells(const Canvas& c, const Cells& in, const Cells* cells, int n) {
  c.paint(in.x0, in.y0, in.x1, in.y1, [&](int y, int left, int right, double* cover) {
    for (int x = left; x < right; ++x) {
      bool held = false;
      for (int i = 0; i < n; ++i) held = held || cells[i].holds(x, y);
      *cover++ = held ? 1 : 0;
    }
  });
}

int64_t down(int64_t v) { return v & ~int64_t{1}; }
int64_t up(int64_t v) { return down(v + 1); }

Status draw_box(const fv_canvas* canvas, const double* box, int32_t thickness, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  FV_TRY(finite(box, 4, "box"));
  FV_TRY(positive(thickness, "thickness"));
  // The line straddles the edge, half a pixel more outside when the thickness is odd.
  const int out = (thickness + 1) / 2, in = thickness - out;
  const int x0 = edge(std::min(box[0], box[2])), x1 = edge(std::max(box[0], box[2]));
  const int y0 = edge(std::min(box[1], box[3])), y1 = edge(std::max(box[1], box[3]));
  const int inner_top = std::min(y0 + in, y1 - in), inner_bottom = std::max(y0 + in, y1 - in);
  const Cells sides[4] = {{x0 - out, y0 - out, x1 + out, inner_top},
                          {x0 - out, inner_bottom, x1 + out, y1 + out},
                          {x0 - out, inner_top, std::max(x0 + in, x0 - out + 1), inner_bottom},
                          {std::min(x1 - in, x1 + out - 1), inner_top, x1 + out, inner_bottom}};
  if (!c.yuv()) {
    for (const Cells& s : sides) c.fill(s.x0, s.y0, s.x1, s.y1);
    return ok();
  }
  // In parts that share no block of chroma.
  const int64_t left = down(x0 - out), right = up(x1 + out);
  const int64_t top = up(inner_top), bottom = std::max(top, down(inner_bottom));
  const int64_t far = up(sides[2].x1);
  paint_cells(c, {left, down(y0 - out), right, top}, sides, 4);
  paint_cells(c, {left, bottom, right, up(y1 + out)}, sides, 4);
  paint_cells(c, {left, top, far, bottom}, sides, 4);
  paint_cells(c, {std::max(far, down(sides[3].x0)), top, right, bottom}, sides, 4);
  return ok();
}

Status fill_box(const fv_canvas* canvas, const double* box, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  FV_TRY(finite(box, 4, "box"));
  const Cells all = {edge(std::min(box[0], box[2])), edge(std::min(box[1], box[3])),
                     edge(std::max(box[0], box[2])), edge(std::max(box[1], box[3]))};
  if (c.yuv())
    paint_cells(c, all, &all, 1);
  else
    c.fill(all.x0, all.y0, all.x1, all.y1);
  return ok();
}

Status draw_circle(const fv_canvas* canvas, double x, double y, double radius, int32_t thickness,
                   fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  const double v[3] = {x, y, radius};
  FV_TRY(finite(v, 3, "circle"));
  FV_TRY(positive(thickness, "thickness"));
  if (!(radius > 0) || radius > 65536)
    return Status(FV_INVALID_ARGUMENT,
                  format("draw: radius: expected above 0, to 65536, got %g", radius));
  x = std::clamp(x, -kFar, kFar);
  y = std::clamp(y, -kFar, kFar);
  const double far = radius + thickness / 2.0 + 1, near = radius - thickness / 2.0 - 1;
  const auto half_width = [y](double r, int row) {  // of a disc of radius r
    const double dy = row + 0.5 - y;
    return std::fabs(dy) < r ? std::sqrt(r * r - dy * dy) : 0.0;
  };
  const auto ring = [&](int row, int left, int right, double* cover) {
    for (int column = left; column < right; ++column) {
      const double distance = length(column + 0.5 - x, row + 0.5 - y);
      *cover++ = std::clamp(thickness / 2.0 + 0.5 - std::fabs(distance - radius), 0.0, 1.0);
    }
  };
  // Its left and its right half share no block of chroma.
  const int64_t top = edge(y - far), bottom = edge(y + far), middle = down(edge(x));
  c.paint(
      edge(x - far), top, middle, bottom,
      [&](int row) { return Reach{x - half_width(far, row) - 1, x - half_width(near, row) + 1}; },
      ring);
  c.paint(
      middle, top, edge(x + far), bottom,
      [&](int row) { return Reach{x + half_width(near, row) - 1, x + half_width(far, row) + 1}; },
      ring);
  return ok();
}

constexpr int kMaxPoints = 1 << 20;
constexpr int kSteps = 4;  // lines that a row of a polygon is cut into

Status read_points(const double* xy, int32_t count, std::vector<double>& out) {
  if (count < 0 || count > kMaxPoints || (!xy && count))
    return Status(FV_INVALID_ARGUMENT,
                  format("draw: points: expected 0..%d of them, got %d", kMaxPoints, count));
  FV_TRY(finite(xy, 2 * count, "points"));
  out.assign(xy, xy + 2 * size_t(count));
  for (double& v : out) v = std::clamp(v, -kFar, kFar);
  return ok();
}

Status draw_polyline(const fv_canvas* canvas, const double* xy, int32_t count, int32_t closed,
                     int32_t thickness, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  FV_TRY(positive(thickness, "thickness"));
  std::vector<double> p;
  FV_TRY(read_points(xy, count, p));
  const size_t n = p.size() / 2;
  for (size_t i = 0; i + (closed && n > 2 ? 0 : 1) < n; ++i) {
    const size_t j = (i + 1) % n;
    capsule(c, p[2 * i], p[2 * i + 1], p[2 * j], p[2 * j + 1], thickness / 2.0);
  }
  return ok();
}

// Even-odd. Along a row the cover is exact, across it the mean of kSteps lines.
Status fill_polygon(const fv_canvas* canvas, const double* xy, int32_t count, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  std::vector<double> p, crossings;
  FV_TRY(read_points(xy, count, p));
  const size_t n = p.size() / 2;
  if (n < 3) return ok();
  double lo[2] = {kFar, kFar}, hi[2] = {-kFar, -kFar};
  for (size_t i = 0; i < 2 * n; ++i) {
    lo[i & 1] = std::min(lo[i & 1], p[i]);
    hi[i & 1] = std::max(hi[i & 1], p[i]);
  }
  const auto reach = [&](int y) {
    Reach r;
    for (size_t i = 0; i < n; ++i) {
      const double *a = &p[2 * i], *b = &p[2 * ((i + 1) % n)];
      r.add_segment(a[0], a[1], b[0], b[1], y, y + 1);
    }
    return r;
  };
  c.paint(edge(lo[0] - 1), edge(lo[1] - 1), edge(hi[0] + 1), edge(hi[1] + 1), reach,
          [&](int y, int left, int right, double* cover) {
            std::fill(cover, cover + (right - left), 0.0);
            for (int s = 0; s < kSteps; ++s) {
              const double line = y + (s + 0.5) / kSteps;
              crossings.clear();
              for (size_t i = 0; i < n; ++i) {
                const double *a = &p[2 * i], *b = &p[2 * ((i + 1) % n)];
                if ((a[1] <= line) != (b[1] <= line))
                  crossings.push_back(a[0] + (line - a[1]) / (b[1] - a[1]) * (b[0] - a[0]));
              }
              std::sort(crossings.begin(), crossings.end());
              for (size_t i = 0; i + 1 < crossings.size(); i += 2) {
                const double from = std::clamp<double>(crossings[i], left, right);
                const double to = std::clamp<double>(crossings[i + 1], left, right);
                const auto add = [&](int x) {
                  cover[x - left] +=
                      std::max(0.0, std::min(to, x + 1.0) - std::max<double>(from, x)) / kSteps;
                };
                const int first = static_cast<int>(from), last = static_cast<int>(to);
                if (first < to) add(first);
                for (int x = first + 1; x < last; ++x) cover[x - left] += 1.0 / kSteps;
                if (last > first && last < to) add(last);
              }
            }
            for (int x = left; x < right; ++x) cover[x - left] = std::min(cover[x - left], 1.0);
          });
  return ok();
}

Status draw_mask(const fv_canvas* canvas, const float* mask, int32_t width, int32_t height,
                 double strength, fv_rgb color) {
  FV_ASSIGN(const Canvas c, Canvas::open(canvas, color));
  if (!mask || width != c.width() || height != c.height())
    return Status(FV_INVALID_ARGUMENT,
                  format("draw: mask: expected the canvas' size %dx%d, got %dx%d", c.width(),
                         c.height(), width, height));
  if (!(strength >= 0 && strength <= 1))
    return Status(FV_INVALID_ARGUMENT, format("draw: strength: expected 0..1, got %g", strength));
  c.paint(0, 0, width, height, [&](int y, int left, int right, double* cover) {
    const float* row = mask + int64_t{y} * width;
    for (int x = left; x < right; ++x)
      *cover++ = row[x] > 0 ? std::min<double>(row[x], 1) * strength : 0;
  });
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
  std::vector<const Glyph*> glyphs;
  const int64_t cell = int64_t{kCellWidth} * scale;
  for (size_t i = 0; i < bytes && x + cell * int64_t(glyphs.size()) < c.width(); ++i) {
    // Rest of a UTF-8 sequence: one '?' for all of it.
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) glyphs.push_back(&glyph(text[i]));
  }
  const auto set = [&](int64_t column, int64_t line) {
    const int64_t number = column / kCellWidth, col = column % kCellWidth;
    if (number >= int64_t(glyphs.size()) || col > 4) return false;
    const Glyph& g = *glyphs[static_cast<size_t>(number)];
    const int64_t row = line - g.top;
    return row >= 0 && row < 7 && (g.row[row] >> (4 - col) & 1) != 0;
  };
  const int64_t right = x + cell * int64_t(glyphs.size()),
                bottom = y + int64_t{kCellHeight} * scale;
  c.paint(x, y, right, bottom, [&](int line, int from, int to, double* cover) {
    for (int column = from; column < to; ++column) {
      const int64_t dx = int64_t{column} - x, dy = int64_t{line} - y;
      *cover++ = dx >= 0 && dy >= 0 && set(dx / scale, dy / scale) ? 1 : 0;
    }
  });
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

fv_status* fv_draw_circle(const fv_canvas* canvas, double x, double y, double radius,
                          int32_t thickness, fv_rgb color) {
  return guard(__func__,
               [&]() -> Status { return draw_circle(canvas, x, y, radius, thickness, color); });
}
fv_status* fv_draw_polyline(const fv_canvas* canvas, const double* xy, int32_t count,
                            int32_t closed, int32_t thickness, fv_rgb color) {
  return guard(__func__, [&]() -> Status {
    return draw_polyline(canvas, xy, count, closed, thickness, color);
  });
}
fv_status* fv_fill_polygon(const fv_canvas* canvas, const double* xy, int32_t count, fv_rgb color) {
  return guard(__func__, [&]() -> Status { return fill_polygon(canvas, xy, count, color); });
}
fv_status* fv_draw_mask(const fv_canvas* canvas, const float* mask, int32_t width, int32_t height,
                        double strength, fv_rgb color) {
  return guard(__func__,
               [&]() -> Status { return draw_mask(canvas, mask, width, height, strength, color); });
}

}  // extern "C"
