// What a quadrilateral, a band or a whole region as the source has it, covers of lines of pixels.
#ifndef FOVEAL_IMGPROC_PLANS_SIDES_H_
#define FOVEAL_IMGPROC_PLANS_SIDES_H_

namespace foveal::imgproc {

struct Columns {
  int from, to;
};

// Its four straight sides, as bounds of x.
struct Sides {
  double slope[4] = {}, start[4] = {};
  bool upper[4] = {};  // bounds x from above
  int count = 0;
  double area = 0;  // pixels, without the margin

  // Columns of `line` among [from, to): at least one.
  Columns at(int line, int from, int to) const;
};

// corner: one after the other around a convex quadrilateral, x and y. margin: pixels around it that
// count as covered.
Sides sides_of(const double corner[4][2], double margin);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_PLANS_SIDES_H_
