// Source bytes of a band into the cache, line after line, before taps jump through them: memory
// answers a row of requests far faster than requests one by one.
#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

constexpr int64_t kLine = 64;          // bytes
constexpr int64_t kMost = 512 * 1024;  // bytes of a band: half of a usual L2

// Sensor pixels [x0, x1) x [y0, y1) behind a band, with a margin for the taps.
struct Box {
  int x0, y0, x1, y1;
};
Box box_of(const Run& r, int y0, int y1) {
  const Geometry& g = r.geometry;
  double lo[2] = {1e9, 1e9}, hi[2] = {-1e9, -1e9};
  for (int i = 0; i < 4; ++i) {
    double v[2] = {double(i & 1 ? g.x1 : g.x0), double(i & 2 ? y1 : y0)};
    if (!g.sensor_from_tensor.map(v[0], v[1])) return {0, 0, 0, 0};
    for (int a = 0; a < 2; ++a) {
      lo[a] = std::min(lo[a], v[a]);
      hi[a] = std::max(hi[a], v[a]);
    }
  }
  const auto at = [](double v, int size) {
    return static_cast<int>(std::clamp(v, 0.0, double(size)));
  };
  return {at(lo[0] - 1, r.source.width), at(lo[1] - 1, r.source.height),
          at(hi[0] + 2, r.source.width), at(hi[1] + 2, r.source.height)};
}

Sides sides_of_band(const Run& r, int y0, int y1) {
  constexpr double kMargin = 2;  // the taps of a point, and the pixel's own height
  const Geometry& g = r.geometry;
  double corner[4][2] = {{double(g.x0), double(y0)},
                         {double(g.x1), double(y0)},
                         {double(g.x1), double(y1)},
                         {double(g.x0), double(y1)}};
  for (auto& p : corner) g.sensor_from_tensor.map(p[0], p[1]);
  return sides_of(corner, kMargin);
}

}  // namespace

void prefetch_band(const Run& r, int y0, int y1) {
  const Geometry& g = r.geometry;
  y0 = std::max(y0, g.y0);
  y1 = std::min(y1, g.y1);
  if (y0 >= y1) return;
  const Box b = box_of(r, y0, y1);
  if (b.x0 >= b.x1 || b.y0 >= b.y1) return;
  const Sides sides = sides_of_band(r, y0, y1);
  for (int i = 0; i < r.source.groups; ++i) {
    const Channel& c = r.source.channel[r.source.group[i].lowest];
    const int64_t size = r.source.size, step = c.pixel * size;
    const int first = c.line(b.y0), last = c.line(b.y1 - 1);
    const int64_t inside = static_cast<int64_t>(sides.area) >> (c.shift_x + c.shift_y);
    if (inside * step + (last - first + 1) * kLine > kMost) continue;
    for (int y = first; y <= last; ++y) {
      const Columns x = sides.at((y << c.shift_y) - c.odd_y, b.x0, b.x1);
      const uint8_t* row = c.data + y * c.row * size;
      const int64_t to = c.column(x.to - 1) * step;
      for (int64_t at = c.column(x.from) * step; at < to + kLine; at += kLine)
        __builtin_prefetch(row + std::min(at, to));
    }
  }
}

void prefetch_row(const Plan& p, int y) {
  const Run& r = p.run;
  const Geometry& g = r.geometry;
  if (y >= g.y1) return;
  const Box b = box_of(r, y, y + 1);
  if (b.x0 >= b.x1) return;
  const bool cv2 = is_cv2(p.spec);
  const size_t at = static_cast<size_t>(y);
  for (int i = 0; i < r.source.groups; ++i) {
    const Channel& c = r.source.channel[r.source.group[i].lowest];
    const int64_t size = r.source.size, from = c.column(b.x0) * c.pixel * size;
    const int64_t to = c.column(b.x1 - 1) * c.pixel * size;
    for (int line : {cv2 ? p.cv2.y.i0[at] : p.y.i0[at], cv2 ? p.cv2.y.i1[at] : p.y.i1[at]}) {
      if (cv2 && p.cv2.flip_y) line = r.source.height - 1 - line;
      const uint8_t* row = c.data + c.line(line) * c.row * size;
      for (int64_t x = from; x < to; x += kLine) __builtin_prefetch(row + x);
    }
  }
}

}  // namespace foveal::imgproc
