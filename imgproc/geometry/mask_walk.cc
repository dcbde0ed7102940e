// Rows of the frame are walked from the first to the last column whose centre shows the region;
// positions along a row are quotients of linear functions.
#include "imgproc/geometry/mask_walk.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "imgproc/geometry/mat3.h"
#include "imgproc/rows/kernels.h"

namespace foveal::imgproc {
namespace {

constexpr double kHorizon = 1e-12;  // as in Mat3::map

// One axis of the mask: position = scale * tensor - 0.5, kept between the first and the last pixel
// whose centre shows the region, so that bars are not blended in.
struct Axis {
  double scale;
  float lo, hi;

  Axis(int64_t size, int tensor, double from, double to)
      : scale(static_cast<double>(size) / tensor) {
    const double last = static_cast<double>(size - 1);
    const double first = std::clamp(std::ceil(from * scale - 0.5), 0.0, last);
    lo = static_cast<float>(first);
    hi = static_cast<float>(std::clamp(std::ceil(to * scale - 0.5) - 1, first, last));
  }
  // lo for what is not a number.
  float clamp(float at) const { return at > lo ? std::min(at, hi) : lo; }
};

bool inside(const Mat3& m, double x, double y, const double valid[4]) {
  return m.map(x, y) && x >= valid[0] && x < valid[2] && y >= valid[1] && y < valid[3];
}

// Frame columns [begin, end) of row y whose centres show the region: where five functions, linear
// in x, are not negative. The ends are settled by `inside` itself.
void span(const Mat3& m, double y, const double valid[4], int width, int& begin, int& end) {
  const double w_slope = m.m[6], w_start = m.m[7] * y + m.m[8];
  double lo = 0, hi = width;
  const auto keep = [&](double slope, double start) {
    if (slope == 0) {
      if (!(start >= 0)) lo = hi;
      return;
    }
    const double zero = -start / slope - 0.5;  // in columns
    if (slope > 0)
      lo = std::max(lo, zero);
    else
      hi = std::min(hi, zero + 1);
  };
  keep(w_slope, w_start - kHorizon);
  for (int a = 0; a < 2; ++a) {
    const double slope = m.m[3 * a], start = m.m[3 * a + 1] * y + m.m[3 * a + 2];
    keep(slope - valid[a] * w_slope, start - valid[a] * w_start);
    keep(valid[2 + a] * w_slope - slope, valid[2 + a] * w_start - start);
  }
  begin = end = 0;
  if (!(lo < hi)) return;
  begin = static_cast<int>(lo);
  end = std::min(static_cast<int>(std::ceil(hi)), width);
  while (begin < end && !inside(m, begin + 0.5, y, valid)) ++begin;
  while (begin < end && !inside(m, end - 0.5, y, valid)) --end;
}

// Axis-aligned: taps of the columns are the same in every row, and a row is one blend of two.
void straight(const MaskPlane& p, const Axis& ax, const Axis& ay, const Mat3& m,
              const fv_transform& t, float* out) {
  const size_t width = static_cast<size_t>(t.frame_width);
  std::vector<int> index(width);
  std::vector<float> weight(width), row(static_cast<size_t>(p.stride));
  for (size_t x = 0; x < width; ++x) {
    const double u = m.m[0] * (static_cast<double>(x) + 0.5) + m.m[2];
    const float at = ax.clamp(static_cast<float>(u * ax.scale - 0.5));
    index[x] = static_cast<int>(at);
    weight[x] = at - static_cast<float>(index[x]);
  }
  for (int y = 0; y < t.frame_height; ++y) {
    float* to = out + int64_t{y} * t.frame_width;
    int begin, end;
    span(m, y + 0.5, t.valid, t.frame_width, begin, end);
    std::fill(to, to + begin, 0.0f);
    std::fill(to + end, to + t.frame_width, 0.0f);
    if (begin == end) continue;
    const double v = m.m[4] * (y + 0.5) + m.m[5];
    const float at = ay.clamp(static_cast<float>(v * ay.scale - 0.5));
    const int j = static_cast<int>(at);
    const float f = at - static_cast<float>(j);
    const float* top = p.data.data() + j * p.stride;
    const float* below = top + p.stride;
    for (int64_t i = 0; i < p.stride; ++i)
      row[static_cast<size_t>(i)] = top[i] + (below[i] - top[i]) * f;
    for (int x = begin; x < end; ++x) {
      const float* tap = row.data() + index[static_cast<size_t>(x)];
      to[x] = tap[0] + (tap[1] - tap[0]) * weight[static_cast<size_t>(x)];
    }
  }
}

// Any other map.
void walk(const MaskPlane& p, const Axis& ax, const Axis& ay, const Mat3& m, bool nearest,
          const fv_transform& t, float* out) {
  const Kernels& k = kernels();
  MaskRow row;
  row.data = p.data.data();
  row.stride = static_cast<int32_t>(p.stride);
  row.lo[0] = ax.lo;
  row.lo[1] = ay.lo;
  row.hi[0] = ax.hi;
  row.hi[1] = ay.hi;
  row.slope[0] = m.m[0] * ax.scale;
  row.slope[1] = m.m[3] * ay.scale;
  row.slope[2] = m.m[6];
  row.projective = !m.affine();
  for (int y = 0; y < t.frame_height; ++y) {
    float* to = out + int64_t{y} * t.frame_width;
    int begin, end;
    span(m, y + 0.5, t.valid, t.frame_width, begin, end);
    std::fill(to, to + begin, 0.0f);
    std::fill(to + end, to + t.frame_width, 0.0f);
    for (int x = begin; x < end; x += kChunk) {
      for (int a = 0; a < 3; ++a)
        row.start[a] = m.m[3 * a] * (x + 0.5) + m.m[3 * a + 1] * (y + 0.5) + m.m[3 * a + 2];
      row.start[0] *= ax.scale;
      row.start[1] *= ay.scale;
      (nearest ? k.mask_nearest : k.mask_bilinear)(row, std::min(end - x, kChunk), to + x);
    }
  }
}

}  // namespace

void mask_to_frame(const MaskPlane& mask, const fv_transform& t, bool nearest, float* out) {
  const Axis ax(mask.width, t.tensor_width, t.valid[0], t.valid[2]);
  const Axis ay(mask.height, t.tensor_height, t.valid[1], t.valid[3]);
  Mat3 m;
  std::memcpy(m.m, t.from_upright, sizeof m.m);
  if (m.m[6] == 0 && m.m[7] == 0)  // an inverse: its last element is 1 but for rounding
    for (double& v : m.m) v /= t.from_upright[8];
  if (m.affine() && m.m[1] == 0 && m.m[3] == 0 && !nearest)
    straight(mask, ax, ay, m, t, out);
  else
    walk(mask, ax, ay, m, nearest, t, out);
}

}  // namespace foveal::imgproc
