// Plane geometry of text regions: hulls and rectangles of lattice points.
#ifndef FOVEAL_IMGPROC_DECODE_QUAD_H_
#define FOVEAL_IMGPROC_DECODE_QUAD_H_

#include <vector>

namespace foveal::imgproc {

struct Point {
  double x, y;
};

// Corners from the top-left one, clockwise on the screen (y down). Sides of length 0 are possible.
struct TurnedRect {
  Point corner[4];
  double width, height;  // |corner 0 -> 1|, |corner 1 -> 2|
};

// Convex hull by the monotone chain (Andrew, 1979): counter-clockwise in x right, y up; no three
// corners on a line. `sorted`: distinct points by y, then x; not empty.
std::vector<Point> convex_hull(const std::vector<Point>& sorted);

// The rectangle of least area around a convex hull, by rotating calipers (Toussaint, 1983): one of
// its sides lies on a side of the hull. Of equal areas the first is taken.
TurnedRect min_area_rect(const std::vector<Point>& hull);

// Each side moved outwards by `distance`. Which corner is the first may change: a steep thin
// rectangle lies on its side otherwise than a thick one.
TurnedRect grow(const TurnedRect& r, double distance);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_DECODE_QUAD_H_
