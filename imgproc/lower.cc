// Classification: the simplest plan whose arithmetic the map allows.
#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// Source bytes read per tensor pixel up to which reading whole rows beats picking taps.
constexpr double kRowsFirstLimit = 24;

// Taps of tensor pixels [from, to) at p = scale * (d + 0.5) + shift - 0.5, in indices of `size`.
void build_axis(double scale, double shift, int from, int to, int size, bool nearest, bool constant,
                Axis& a) {
  a.single = a.unit = true;
  for (int d = from; d < to; ++d) {
    double p = scale * (d + 0.5) + shift - 0.5;
    if (nearest) p = std::floor(p + 0.5 + 0x1p-20);
    p = std::clamp(p, -4.0, size + 4.0);
    const double base = std::floor(p);
    const int i = static_cast<int>(base);
    float w1 = static_cast<float>(p - base), w0 = 1 - w1;
    if (constant) {
      if (i < 0 || i >= size) w0 = 0;
      if (i + 1 < 0 || i + 1 >= size) w1 = 0;
    } else if (i < 0 || i + 1 >= size) {  // both taps fall on one pixel
      w0 = 1;
      w1 = 0;
    }
    a.i0[d] = std::clamp(i, 0, size - 1);
    a.i1[d] = w1 == 0 ? a.i0[d] : std::clamp(i + 1, 0, size - 1);
    a.w0[d] = w0;
    a.w1[d] = w1;
    a.single = a.single && w0 == 1 && w1 == 0;
    a.unit = a.unit && (d == from || a.i0[d] == a.i0[d - 1] + 1);
  }
  a.unit = a.unit && a.single;
}

void build_offsets(Plan& p, int from, int to) {
  const Run& r = p.run;
  for (int g = 0; g < r.source.groups; ++g) {
    const Channel& c = r.source.channel[r.source.group[g].lowest];
    const int32_t stride = static_cast<int32_t>(r.transposed ? c.row : c.pixel);
    for (int d = from; d < to; ++d) {
      p.xo[g][0][d] = (p.x.i0[d] >> c.shift) * stride;
      p.xo[g][1][d] = (p.x.i1[d] >> c.shift) * stride;
    }
  }
}

}  // namespace

Status lower(Plan& p, const fv_frame& frame, const fv_roi* roi) {
  Run& r = p.run;
  const Spec& s = p.spec;
  FV_TRY(check_roi(s, roi));
  FV_ASSIGN(r.source, open_frame(frame));
  FV_ASSIGN(r.color, make_color(s, frame, r.source));
  FV_ASSIGN(r.geometry, plan_geometry(s, r.source.width, r.source.height, frame.rotation,
                                      frame.mirror != 0, roi));
  const Geometry& g = r.geometry;
  r.nearest = s.sample == SampleKind::kNearest;
  r.constant = s.border == BorderKind::kConstant && !g.inside;

  const double* m = g.sensor_from_tensor.m;
  const bool affine = g.sensor_from_tensor.affine();
  const bool straight = affine && m[1] == 0 && m[3] == 0;
  const bool crossed = affine && m[0] == 0 && m[4] == 0;
  r.transposed = crossed && !straight;
  r.step = kChunk;
  r.direct = false;
  if (straight || crossed) {
    const int w = r.source.width, h = r.source.height;
    if (straight) {
      build_axis(m[0], m[2], g.x0, g.x1, w, r.nearest, r.constant, p.x);
      build_axis(m[4], m[5], g.y0, g.y1, h, r.nearest, r.constant, p.y);
    } else {
      build_axis(m[3], m[5], g.x0, g.x1, h, r.nearest, r.constant, p.x);
      build_axis(m[1], m[2], g.y0, g.y1, w, r.nearest, r.constant, p.y);
    }
    build_offsets(p, g.x0, g.x1);
    r.kind = PlanKind::kAxisAligned;
    // Source bytes per tensor pixel, of the densest plane.
    double bytes = 0;
    for (int i = 0; i < r.source.groups; ++i) {
      const Channel& c = r.source.channel[r.source.group[i].lowest];
      bytes = std::max(bytes, std::fabs(m[0]) * static_cast<double>(c.pixel) / (1 << c.shift));
    }
    if (straight && !(p.x.single && p.y.single) && bytes <= kRowsFirstLimit) {
      r.kind = PlanKind::kRowsFirst;
      // The chunk's bytes, its last tap (2 pixels of at most 64 bytes) included, fit a kernel row.
      r.step = std::min(static_cast<int>((kSpan - 256) / std::max(bytes, 1.0)) & ~7, kChunk);
    }
    r.direct = can_run_direct(p);
  } else {
    r.kind = PlanKind::kGather;
    for (int i = 0; i < 3; ++i) {
      r.map.x[i] = m[i];
      r.map.y[i] = m[3 + i];
      r.map.w[i] = m[6 + i];
    }
    r.map.projective = !affine;
  }
  return ok();
}

}  // namespace foveal::imgproc
