// Classification: the simplest plan whose arithmetic the map allows.
#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// Source elements read per tensor pixel up to which reading whole rows beats picking taps, in
// floats (of bytes: plans/lerp.cc).
constexpr double kRowsFirstLimit = 12;

// Where the samples of linear chroma lie along one axis: sample c at pixel index 2 c + 2 site -
// odd.
struct ChromaAxis {
  int odd;
  double site;
};
ChromaAxis chroma_axis(const Source& s, Siting siting, bool vertical) {
  const Channel& c = s.channel[1];
  const bool first = vertical ? siting == Siting::kTopLeft : siting != Siting::kCenter;
  return {vertical ? c.odd_y : c.odd_x, first ? 0 : 0.25};
}
bool subsampled(const Source& s, bool vertical) {
  return (vertical ? s.channel[1].shift_y : s.channel[1].shift_x) != 0;
}

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

// The point between pixels 0 and size - 1 that shows what p, mirrored about their centres, shows.
double mirrored(double p, int size) {
  if (size == 1) return 0;
  const double last = size - 1;
  p = std::fmod(std::fabs(p), 2 * last);
  return p > last ? 2 * last - p : p;
}

void put_taps(double p, int d, int size, Outside outside, bool flipped, Axis& a) {
  const double upright = flipped ? size - 1 - p : p;
  const bool cut = outside == Outside::kCut && !(upright >= -0.5 && upright < size - 0.5);
  if (outside == Outside::kMirror) p = mirrored(p, size);
  p = std::clamp(p, -4.0, size + 4.0);
  int i = static_cast<int>(p);
  i -= p < i;  // rounded down; a call of floor would take as long as all of this
  float w1 = static_cast<float>(p - i), w0 = 1 - w1;
  if (cut) {
    w0 = w1 = 0;
  } else if (outside == Outside::kNothing) {
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
}

void classify(int from, int to, Axis& a) {
  bool single = true, rises = true, falls = true;
  for (int d = from; d < to; ++d) {
    single = single && a.w0[d] == 1 && a.w1[d] == 0;
    rises = rises && (d == from || a.i0[d] == a.i0[d - 1] + 1);
    falls = falls && (d == from || a.i0[d] == a.i0[d - 1] - 1);
  }
  a.single = single;
  a.unit = single && rises;
  a.falls = single && falls;
}

// The pixel index of tensor pixel d.
struct Ramp {
  double scale, shift;
  bool nearest, flipped;
  double at(int d) const {
    const double p = scale * (d + 0.5) + shift;
    return nearest ? std::floor(flipped ? p - kTie : p + kTie) : p - 0.5;
  }
};

// Taps of tensor pixels [from, to) in indices of `size` pixels.
void build_axis(const Ramp& ramp, int from, int to, int size, Outside outside, Axis& a) {
  const Axis::Rule rule{ramp.scale, ramp.shift, ramp.nearest, ramp.flipped,
                        from,       to,         size,         outside};
  if (a.built == rule) return;
  a.built = rule;
  for (int d = from; d < to; ++d) put_taps(ramp.at(d), d, size, outside, ramp.flipped, a);
  classify(from, to, a);
}

// The pixels of a box that Pillow shows; the box's first is tensor pixel `at`.
void build_nearest(const PillowBox& box, int at, Axis& a) {
  a.built = {};
  place_nearest(box, a.i0.data() + at);
  const int n = box.to - box.from;
  for (int d = at; d < at + n; ++d) {
    if (box.flip) a.i0[d] = box.size - 1 - a.i0[d];
    a.i1[d] = a.i0[d];
    a.w0[d] = 1;
    a.w1[d] = 0;
  }
  classify(at, at + n, a);
}

// The same of linear chroma: always clamped to the samples that belong to the picture.
void build_chroma_axis(const Ramp& ramp, int from, int to, int size, const Source& s, Siting siting,
                       bool vertical, Axis& a) {
  if (!subsampled(s, vertical)) return build_axis(ramp, from, to, size, Outside::kClamp, a);
  a.built = {};
  const ChromaAxis c = chroma_axis(s, siting, vertical);
  const int samples = ((size - 1 + c.odd) >> 1) + 1;
  for (int d = from; d < to; ++d) {
    double p = ramp.at(d);
    if (ramp.nearest) p = std::clamp(p, 0.0, size - 1.0);
    put_taps((p + c.odd) / 2 - c.site, d, samples, Outside::kClamp, false, a);
  }
  classify(from, to, a);
}

void build_offsets(Plan& p, int from, int to) {
  const Run& r = p.run;
  for (int g = 0; g < r.source.groups; ++g) {
    const Channel& c = r.source.channel[r.source.group[g].lowest];
    const int32_t stride = static_cast<int32_t>(r.transposed ? c.row : c.pixel);
    const bool own = r.linear && g > 0;
    const int shift = own ? 0 : r.transposed ? c.shift_y : c.shift_x;
    const int odd = own ? 0 : r.transposed ? c.odd_y : c.odd_x;
    const Axis& a = own ? p.chroma_x : p.x;
    for (int d = from; d < to; ++d) {
      p.xo[g][0][d] = ((a.i0[d] + odd) >> shift) * stride;
      p.xo[g][1][d] = ((a.i1[d] + odd) >> shift) * stride;
    }
  }
}

// Tensor pixels to pixel (or, for linear chroma, sample) positions, continuous.
LinearMap gather_map(const double m[9], bool projective) {
  LinearMap map;
  for (int i = 0; i < 3; ++i) {
    map.x[i] = m[i];
    map.y[i] = m[3 + i];
    map.w[i] = m[6 + i];
  }
  map.projective = projective;
  return map;
}
LinearMap chroma_map(const Source& s, Siting siting, LinearMap map) {
  for (const bool vertical : {false, true}) {
    if (!subsampled(s, vertical)) continue;
    const ChromaAxis c = chroma_axis(s, siting, vertical);
    double* v = vertical ? map.y : map.x;
    for (int i = 0; i < 3; ++i) v[i] = v[i] / 2 + (c.odd * 0.5 + 0.25 - c.site) * map.w[i];
  }
  return map;
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
  if (filter && !straight && !crossed) {
    if (!can_reduce(s))
      return Status(FV_SPEC_ERROR,
                    "image plan: sample: this filter needs a region whose sides are parallel to "
                    "the frame's, got one that is turned or in perspective",
                    "use \"bilinear\", profile \"exact\" or \"fast\"");
    FV_TRY(lower_reduced(p, map));
  } else if (filter) {
    const AxisMap x =
        straight ? axis_map(r, 0, m[0], m[2], false) : axis_map(r, 0, m[3], m[5], true);
    const AxisMap y =
        straight ? axis_map(r, 1, m[4], m[5], true) : axis_map(r, 1, m[1], m[2], false);
    if (is_torch_bytes(s) && !r.constant) return lower_torch_bytes(p, x, y);
    FV_TRY(build_filter(s, x, p.separable.x));
    FV_TRY(build_filter(s, y, p.separable.y));
    lower_separable(p);
    return ok();
  }
  if (straight || crossed) {
    const int side[2] = {r.source.width, r.source.height};
    const Ramp along_x{m[straight ? 0 : 1], m[2], r.nearest, r.flipped[0]};
    const Ramp along_y{m[straight ? 4 : 3], m[5], r.nearest, r.flipped[1]};
    const Ramp &x = straight ? along_x : along_y, &y = straight ? along_y : along_x;
    if (is_pillow(s)) {
      build_nearest(p.pillow.box[0], g.x0, p.x);
      build_nearest(p.pillow.box[1], g.y0, p.y);
    } else {
      build_axis(x, g.x0, g.x1, side[crossed], r.outside, p.x);
      build_axis(y, g.y0, g.y1, side[straight], r.outside, p.y);
    }
    bool one_tap = p.x.single && p.y.single;
    if (r.linear) {
      build_chroma_axis(x, g.x0, g.x1, side[crossed], r.source, r.siting, r.transposed, p.chroma_x);
      build_chroma_axis(y, g.y0, g.y1, side[straight], r.source, r.siting, !r.transposed,
                        p.chroma_y);
      one_tap = one_tap && p.chroma_x.single && p.chroma_y.single;
    }
    if (!one_tap && r.source.element == Element::kU8) {
      lower_lerp(p);
      return ok();
    }
    build_offsets(p, g.x0, g.x1);
    r.kind = &kTaps;
    // Source elements per tensor pixel, of the densest plane.
    double elements = 0;
    for (int i = 0; i < r.source.groups; ++i) {
      const Channel& c = r.source.channel[r.source.group[i].lowest];
      elements =
          std::max(elements, std::fabs(m[0]) * static_cast<double>(c.pixel) / (1 << c.shift_x));
    }
    // Mirrored taps go back and forth.
    const bool ordered = r.outside != Outside::kMirror;
    if (straight && ordered && !one_tap && elements <= kRowsFirstLimit) {
      r.kind = &kRowsFirst;
      // The chunk's elements, its last tap (2 pixels of at most 64) included, fit a kernel row.
      r.step = std::min(static_cast<int>((kSpan - 256) / std::max(elements, 1.0)) & ~7, kChunk);
    }
    if (!can_run_direct(p)) return ok();
    r.kind = &kBytesToBytes;
    r.fast = can_run_fast(p);
    if (r.fast) r.fixed = make_fixed(r.color);
  } else {
    r.kind = &kGather;
    r.jumps = !r.reduced;
    r.gather.map = gather_map(m, !affine);
    if (r.linear) r.gather.chroma_map = chroma_map(r.source, r.siting, r.gather.map);
    lower_warp(r);
  }
  return ok();
}

}  // namespace foveal::imgproc
