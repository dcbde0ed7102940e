// 3x3 homogeneous maps of the plane, f64, row-major.
#ifndef FOVEAL_IMGPROC_GEOMETRY_MAT3_H_
#define FOVEAL_IMGPROC_GEOMETRY_MAT3_H_

#include <cmath>

namespace foveal::imgproc {

struct Mat3 {
  double m[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

  bool affine() const { return m[6] == 0 && m[7] == 0 && m[8] == 1; }
  // False (x, y untouched) for a point at or behind the horizon.
  bool map(double& x, double& y) const {
    const double u = m[0] * x + m[1] * y + m[2];
    const double v = m[3] * x + m[4] * y + m[5];
    const double w = m[6] * x + m[7] * y + m[8];
    if (!(w > 1e-12)) return false;
    x = u / w;
    y = v / w;
    return true;
  }
};

// First b, then a.
inline Mat3 operator*(const Mat3& a, const Mat3& b) {
  Mat3 r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      r.m[3 * i + j] =
          a.m[3 * i] * b.m[j] + a.m[3 * i + 1] * b.m[3 + j] + a.m[3 * i + 2] * b.m[6 + j];
  return r;
}

// False when singular or not finite.
inline bool invert(const Mat3& a, Mat3& out) {
  const double* m = a.m;
  const double c[9] = {
      m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
      m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
      m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const double det = m[0] * c[0] + m[1] * c[3] + m[2] * c[6];
  if (!std::isfinite(det) || std::fabs(det) < 1e-18) return false;
  for (int i = 0; i < 9; ++i) {
    out.m[i] = c[i] / det;
    if (!std::isfinite(out.m[i])) return false;
  }
  return true;
}

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_GEOMETRY_MAT3_H_
