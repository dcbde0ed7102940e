#include "imgproc/decode/quad.h"

#include <algorithm>
#include <cmath>

namespace foveal::imgproc {
namespace {

Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator*(double k, Point a) { return {k * a.x, k * a.y}; }
double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }

// The corners in the order of TurnedRect. Of the two on the left the upper one is the top-left,
// of the two on the right the upper one is the top-right; so text reads from the side that lies
// further left.
TurnedRect ordered(Point (&c)[4]) {
  std::sort(c, c + 4, [](Point a, Point b) { return a.x < b.x; });
  if (c[1].y < c[0].y) std::swap(c[0], c[1]);
  if (c[3].y < c[2].y) std::swap(c[2], c[3]);
  const Point top = c[2] - c[0], right = c[3] - c[2];
  return {{c[0], c[2], c[3], c[1]}, std::sqrt(dot(top, top)), std::sqrt(dot(right, right))};
}

}  // namespace

std::vector<Point> convex_hull(const std::vector<Point>& sorted) {
  std::vector<Point> hull;
  const auto chain = [&hull](Point p, size_t base) {
    while (hull.size() >= base + 2 &&
           cross(hull.back() - hull[hull.size() - 2], p - hull.back()) <= 0)
      hull.pop_back();
    hull.push_back(p);
  };
  for (const Point p : sorted) chain(p, 0);
  const size_t base = hull.size() - 1;
  for (size_t i = sorted.size(); i-- > 0;) chain(sorted[i], base);
  if (hull.size() > 1) hull.pop_back();  // the first point again
  return hull;
}

TurnedRect min_area_rect(const std::vector<Point>& hull) {
  const size_t n = hull.size();
  if (n == 1) return {{hull[0], hull[0], hull[0], hull[0]}, 0, 0};
  // Support points: the furthest along the side, across it, and back along it. They only ever
  // go forward as the side does.
  size_t ahead = 1, across = 1, behind = 0;
  double best = INFINITY;
  Point corners[4] = {};
  for (size_t i = 0; i < n; ++i) {
    const Point side = hull[(i + 1) % n] - hull[i];
    const Point u = 1 / std::sqrt(dot(side, side)) * side, v{-u.y, u.x};
    const auto advance = [&hull, n](size_t& k, Point d) {
      for (size_t step = 0; step < n; ++step) {
        const size_t next = (k + 1) % n;
        if (!(dot(d, hull[next] - hull[k]) > 0)) return;
        k = next;
      }
    };
    advance(ahead, u);
    if (i == 0) across = ahead;
    advance(across, v);
    if (i == 0) behind = across;
    advance(behind, -1.0 * u);
    const double from = dot(u, hull[behind]), to = dot(u, hull[ahead]);
    const double low = dot(v, hull[i]), high = dot(v, hull[across]);
    const double area = (to - from) * (high - low);
    if (!(area < best)) continue;
    best = area;
    corners[0] = from * u + low * v;
    corners[1] = to * u + low * v;
    corners[2] = to * u + high * v;
    corners[3] = from * u + high * v;
  }
  return ordered(corners);
}

TurnedRect grow(const TurnedRect& r, double distance) {
  // Directions of the sides; of a side of length 0, across the other one.
  Point u{1, 0}, v{0, 1};
  if (r.width > 0) {
    u = 1 / r.width * (r.corner[1] - r.corner[0]);
    v = {-u.y, u.x};
  } else if (r.height > 0) {
    v = 1 / r.height * (r.corner[2] - r.corner[1]);
    u = {v.y, -v.x};
  }
  const Point a = distance * u, b = distance * v;
  Point corners[4] = {r.corner[0] - a - b, r.corner[1] + a - b, r.corner[2] + a + b,
                      r.corner[3] - a + b};
  return ordered(corners);
}

}  // namespace foveal::imgproc
