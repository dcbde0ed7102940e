// Antialias for regions that are turned or in perspective: the part of the frame that holds the
// region is made smaller along the frame's axes, by a filter, and sampled where the map says.
#include <algorithm>
#include <cmath>
#include <utility>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 27;  // of the smaller picture
constexpr float kUnits = 256;                        // of its elements in 1 of 255
constexpr double kNoise = 1e-6;                      // pixels: 7.0000001 is 7

// One axis of the frame: which pixels hold the region, and how many smaller ones they become.
struct Part {
  int from = 0, to = 0, size = 0;
  double scale() const { return double(to - from) / size; }
};

// x and y (and w) of a continuous tensor position, and how they change along x and y of the tensor.
struct Local {
  double at[2], step[2];

  Local(const Mat3& map, double x, double y) {
    const double* m = map.m;
    const double w = m[6] * x + m[7] * y + m[8];
    for (int a = 0; a < 2; ++a, m += 3) {
      at[a] = (m[0] * x + m[1] * y + m[2]) / w;
      step[a] = std::hypot(m[0] - at[a] * map.m[6], m[1] - at[a] * map.m[7]) / w;
    }
  }
};

// Source pixels per tensor pixel over the root of two: filtering by that much and blending between
// the results spreads a pixel as much as the filter of a region that is not turned.
void find_parts(const Run& r, Part part[2]) {
  const Geometry& g = r.geometry;
  double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
  double step[2] = {INFINITY, INFINITY};
  for (int i = 0; i < 4; ++i) {
    const Local corner(g.sensor_from_tensor, i & 1 ? g.x1 : g.x0, i & 2 ? g.y1 : g.y0);
    for (int a = 0; a < 2; ++a) {
      lo[a] = std::min(lo[a], corner.at[a]);
      hi[a] = std::max(hi[a], corner.at[a]);
      step[a] = std::min(step[a], corner.step[a]);
    }
  }
  for (int a = 0; a < 2; ++a) {
    const int side = a ? r.source.height : r.source.width;
    const double factor = std::max(step[a] / std::sqrt(2), 1.0);
    Part& p = part[a];
    p.from = static_cast<int>(std::clamp(std::floor(lo[a] - factor + kNoise), 0.0, side - 1.0));
    p.to =
        static_cast<int>(std::clamp<double>(std::ceil(hi[a] + factor - kNoise), p.from + 1, side));
    p.size = std::max(static_cast<int>(std::ceil((p.to - p.from) / factor - kNoise)), 1);
  }
}

AxisMap axis_of(const Source& s, const Part& part, bool vertical) {
  AxisMap m;
  m.start = part.from;
  m.scale = part.scale();
  m.to = part.size;
  m.size = vertical ? s.height : s.width;
  m.down = vertical;
  m.planes = s.groups > 1 ? 2 : 1;
  for (int i = 0; i < m.planes; ++i) {
    const Channel& c = s.channel[s.group[i].lowest];
    m.shift[i] = vertical ? c.shift_y : c.shift_x;
    m.odd[i] = vertical ? c.odd_y : c.odd_x;
  }
  return m;
}

// What the region covers of the smaller picture, with its taps.
Sides region_of(const Geometry& g, const Part part[2]) {
  constexpr double kMargin = 2;
  double corner[4][2] = {{double(g.x0), double(g.y0)},
                         {double(g.x1), double(g.y0)},
                         {double(g.x1), double(g.y1)},
                         {double(g.x0), double(g.y1)}};
  for (auto& p : corner) {
    g.sensor_from_tensor.map(p[0], p[1]);
    for (int a = 0; a < 2; ++a) p[a] = (p[a] - part[a].from) / part[a].scale();
  }
  return sides_of(corner, kMargin);
}

// A plan of its own: components as they are, packed, 16 bits each.
Status build_plan(const Run& r, const Part part[2], Plan& q) {
  const int width = part[0].size, height = part[1].size;
  const int64_t elements = int64_t{width} * height * r.source.channels;
  if (elements > kMostElements)
    return Status(FV_INVALID_ARGUMENT,
                  format("image plan: sample: antialias of this region needs %dx%d pixels in "
                         "between, more than there may be",
                         width, height),
                  "choose a smaller region");
  Run& run = q.run;
  run = {};
  run.k = r.k;
  run.source = r.source;
  run.color = r.color;  // says how exact the filter has to be
  run.geometry.x1 = q.spec.width = width;
  run.geometry.y1 = q.spec.height = height;
  run.plain = true;  // neither scale nor bias
  FV_TRY(build_filter(q.spec, axis_of(r.source, part[0], false), q.separable.x));
  FV_TRY(build_filter(q.spec, axis_of(r.source, part[1], true), q.separable.y));
  lower_separable(q);
  if (q.separable.whole)
    for (FixedPlane& plane : q.separable.plane) plane.unit *= kUnits;
  else
    run.source.unit *= kUnits;
  run.color = {};
  run.color.copy = true;
  for (int c = 0; c < 3; ++c) run.color.from[c] = c;
  Store& s = run.store;
  s.dtype = FV_INT16;
  s.channels = r.source.channels;
  s.pixel = s.channels;
  s.row = int64_t{width} * s.channels;
  for (int c = 0; c < 3; ++c) s.component[c] = c;
  s.whole = true;
  s.high = 65535;
  if (q.pixels.size() < static_cast<size_t>(elements))
    q.pixels.resize(static_cast<size_t>(elements));
  run.dst = reinterpret_cast<uint8_t*>(q.pixels.data());
  run.partial = true;
  run.sides = region_of(r.geometry, part);
  return ok();
}

// The result as a frame's components.
Source source_of(const Plan& q) {
  const Source& frame = q.run.source;
  Source s;
  s.family = frame.family;
  s.element = Element::kU16;
  s.size = 2;
  s.unit = 1 / kUnits;
  s.width = q.spec.width;
  s.height = q.spec.height;
  s.channels = frame.channels;
  for (int c = 0; c < s.channels; ++c) {
    s.channel[c].data = q.run.dst + c * s.size;
    s.channel[c].row = q.run.store.row;
    s.channel[c].pixel = s.channels;
  }
  s.groups = 1;
  s.group[0] = {0, s.channels, 0, s.channels, q.run.store.row * s.height};
  return s;
}

}  // namespace

Status lower_reduced(Plan& p, Mat3& map) {
  Run& r = p.run;
  if (!can_reduce(p.spec))
    return Status(FV_SPEC_ERROR,
                  "image plan: sample: this filter needs a region whose sides are parallel to the "
                  "frame's, got one that is turned or in perspective",
                  "use \"bilinear\", profile \"exact\" or \"fast\"");
  Part part[2];
  find_parts(r, part);
  if (part[0].scale() == 1 && part[1].scale() == 1) return ok();
  if (p.smaller.empty()) {
    Plan q;
    q.spec = p.spec;
    p.smaller.push_back(std::move(q));
  }
  Plan& q = p.smaller[0];
  FV_TRY(build_plan(r, part, q));
  for (int a = 0; a < 2; ++a)
    for (int i = 0; i < 3; ++i) {
      double& v = map.m[3 * a + i];
      v = (v - part[a].from * map.m[6 + i]) / part[a].scale();
    }
  r.source = source_of(q);
  r.reduced = true;
  return ok();
}

}  // namespace foveal::imgproc
