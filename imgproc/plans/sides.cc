#include "imgproc/plans/sides.h"

#include <algorithm>
#include <cmath>

namespace foveal::imgproc {

Columns Sides::at(int line, int from, int to) const {
  double lo = from, hi = to - 1;
  for (int i = 0; i < count; ++i) {
    const double x = slope[i] * line + start[i];
    if (upper[i])
      hi = std::min(hi, x);
    else
      lo = std::max(lo, x);
  }
  lo = std::min(lo, to - 1.0);
  return {static_cast<int>(lo), static_cast<int>(std::max(hi, lo)) + 1};
}

Sides sides_of(const double corner[4][2], double margin) {
  const double (*p)[2] = corner;
  const double turn =
      (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
  const double sign = turn < 0 ? -1 : 1;
  Sides s;
  for (int i = 0; i < 4; ++i) {
    const double *from = p[i], *to = p[(i + 1) % 4];
    s.area += sign / 2 * (from[0] * to[1] - to[0] * from[1]);
    // Inside: a x + b y + c >= 0.
    const double a = sign * (from[1] - to[1]), b = sign * (to[0] - from[0]);
    const double c = margin * (std::fabs(a) + std::fabs(b)) - a * from[0] - b * from[1];
    if (a == 0) continue;
    s.slope[s.count] = -b / a;
    s.start[s.count] = -c / a;
    s.upper[s.count++] = a < 0;
  }
  return s;
}

}  // namespace foveal::imgproc
