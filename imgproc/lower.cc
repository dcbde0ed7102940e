// Classification: the simplest plan whose arithmetic the map allows.
#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"
#include "imgproc/plans/chroma.h"

namespace foveal::imgproc {
namespace {

Outside outside_of(BorderKind border) {
  switch (border) {
    case BorderKind::kReplicate:
      return Outside::kClamp;
    case BorderKind::kConstant:
      return Outside::kNothing;
    case BorderKind::kConstantHard:
      return Outside::kCut;
    case BorderKind::kReflect101:
      return Outside::kMirror;
  }
  return Outside::kClamp;
}

Status choose_chroma(const Spec& spec, Run& r) {
  const Source& s = r.source;
  r.linear = spec.chroma == Chroma::kLinear && s.family == Family::kYuv &&
             spec.color != Color::kGray && (subsampled(s, false) || subsampled(s, true));
  if (!r.linear) return ok();
  r.siting = spec.siting;
  if (r.siting != Siting::kFrame) return ok();
  if (s.siting == FV_SITING_UNKNOWN)
    return Status(FV_FRAME_ERROR, "frame: siting: expected center, left or top_left, got unknown",
                  "linear chroma needs it: say it in the frame or in the spec's yuv.siting");
  r.siting = static_cast<Siting>(s.siting);
  return ok();
}

// The axis along tensor x (a = 0) or y (1), which walks a source axis of `size` pixels: centres at
// scale * (d + 0.5) + shift in memory.
AxisMap axis_map(const Run& r, int a, double scale, double shift, bool vertical) {
  const Geometry& g = r.geometry;
  AxisMap m;
  m.from = a ? g.y0 : g.x0;
  m.to = a ? g.y1 : g.x1;
  m.size = vertical ? r.source.height : r.source.width;
  m.flip = scale < 0;
  m.inside = g.inside;
  m.constant = r.constant;
  m.down = vertical;
  if (g.rect && g.at[a] == std::floor(g.at[a])) {
    m.origin = static_cast<int>(g.at[a]);
    m.scale = g.step[a];
    m.start = g.start[a];
  } else {
    m.origin = m.from;
    m.scale = std::fabs(scale);
    m.start = (m.flip ? m.size - shift : shift) + m.scale * m.from;
  }
  m.planes = r.source.groups > 1 ? 2 : 1;
  for (int i = 0; i < m.planes; ++i) {
    const Channel& c = r.source.channel[r.source.group[i].lowest];
    m.shift[i] = vertical ? c.shift_y : c.shift_x;
    m.odd[i] = vertical ? c.odd_y : c.odd_x;
  }
  return m;
}

// A filter along axes of the frame.
Status lower_filter(Plan& p, const Mat3& map) {
  const Run& r = p.run;
  const double* m = map.m;
  const bool straight = !r.transposed;
  const AxisMap x = straight ? axis_map(r, 0, m[0], m[2], false) : axis_map(r, 0, m[3], m[5], true);
  const AxisMap y = straight ? axis_map(r, 1, m[4], m[5], true) : axis_map(r, 1, m[1], m[2], false);
  if (is_torch_bytes(p.spec) && !r.constant) return lower_torch_bytes(p, x, y);
  FV_TRY(build_filter(p.spec, x, p.separable.x));
  FV_TRY(build_filter(p.spec, y, p.separable.y));
  lower_separable(p);
  return ok();
}

// Antialias changes nothing where neither side shrinks: the triangle of one pixel is bilinear.
bool is_plain_bilinear(const Spec& s, const Mat3& map) {
  constexpr double kMost = 1 + 1e-9;  // source pixels per tensor pixel
  const double* m = map.m;
  const bool keeps_axes = map.affine() && ((m[1] == 0 && m[3] == 0) || (m[0] == 0 && m[4] == 0));
  const double most =
      std::max({std::fabs(m[0]), std::fabs(m[1]), std::fabs(m[3]), std::fabs(m[4])});
  return s.sample == SampleKind::kBilinear && s.profile != Profile::kTorch && keeps_axes &&
         most <= kMost;
}

}  // namespace

Status lower(Plan& p, const fv_frame& frame, const fv_roi* roi) {
  Run& r = p.run;
  const Spec& s = p.spec;
  FV_TRY(check_roi(s, roi));
  FV_ASSIGN(r.source, open_frame(frame));
  FV_TRY(choose_chroma(s, r));
  FV_ASSIGN(r.color, make_color(s, frame, r.source));
  FV_ASSIGN(r.geometry, plan_geometry(s, r.source.width, r.source.height, frame.rotation,
                                      frame.mirror != 0, roi));
  r.k = &kernels();
  r.fast = r.luma = r.reduced = false;
  r.step = kChunk;
  r.jumps = false;
  const double* turn = r.geometry.sensor_from_tensor.m;
  r.skips = r.geometry.sensor_from_tensor.affine() && turn[1] == 0 && turn[3] == 0 &&
            std::fabs(turn[4]) >= 2;
  if (is_cv2(s)) return lower_cv2(p, frame, roi);
  const Geometry& g = r.geometry;
  r.nearest = s.sample == SampleKind::kNearest;
  const Mat3 stored = sensor_from_upright(g.rotation, g.mirror, r.source.width, r.source.height);
  r.flipped[0] = stored.m[0] + stored.m[1] < 0;
  r.flipped[1] = stored.m[3] + stored.m[4] < 0;
  if (is_pillow(s)) {
    FV_TRY(lower_pillow(p, roi));
    if (!r.nearest) return ok();
  }
  if (s.color == Color::kGray && r.source.family == Family::kYuv)
    r.source.groups = r.source.channels = 1;  // nobody looks at chroma
  r.outside = g.inside ? Outside::kClamp : outside_of(s.border);
  r.constant = r.outside == Outside::kNothing || r.outside == Outside::kCut;

  Mat3 map = g.sensor_from_tensor;
  const double* m = map.m;
  const bool affine = g.sensor_from_tensor.affine();
  const bool straight = affine && m[1] == 0 && m[3] == 0;
  const bool crossed = affine && !straight && m[0] == 0 && m[4] == 0;
  r.transposed = r.jumps = crossed;
  const bool filter = is_filter(s) && !is_pillow(s) && !is_plain_bilinear(s, map);
  if (filter && (straight || crossed)) return lower_filter(p, map);
  if (filter) FV_TRY(lower_reduced(p, map));
  if (straight || crossed)
    lower_axis_aligned(p, map);
  else
    lower_gather(p, map);
  return ok();
}

}  // namespace foveal::imgproc
