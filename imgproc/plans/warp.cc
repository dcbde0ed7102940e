// Turned and projected regions of bytes, where all four taps lie well inside the picture: whole
// numbers, no borders to think of.
#include "imgproc/rows/warp.h"

#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// Positions up to which samples may be taken, in pixels (or samples) of one axis.
double limit(int32_t most) { return most + 1 - 1.0 / kWarpOne; }

bool lies_inside(const LinearMap& m, const int32_t most[2], double x, double y) {
  const double w = m.w[0] * x + m.w[1] * y + m.w[2];
  const double px = (m.x[0] * x + m.x[1] * y + m.x[2]) / w - 0.5;
  const double py = (m.y[0] * x + m.y[1] * y + m.y[2]) / w - 0.5;
  return px >= 0 && px <= limit(most[0]) && py >= 0 && py <= limit(most[1]);
}

// Keeps those of columns [from, to) of one row whose positions lie inside. Each bound is a straight
// line over the columns: a + b i >= 0.
void narrow(const LinearMap& m, const int32_t most[2], double x, double y, double& from,
            double& to) {
  const double w = m.w[1] * y + m.w[2] + m.w[0] * x;
  for (int axis = 0; axis < 2; ++axis) {
    const double* v = axis ? m.y : m.x;
    const double at = v[1] * y + v[2] + v[0] * x;
    for (const double bound : {0.5, limit(most[axis]) + 0.5}) {
      const double sign = bound == 0.5 ? 1 : -1;
      const double a = sign * (at - bound * w), b = sign * (v[0] - bound * m.w[0]);
      if (b > 0)
        from = std::max(from, std::ceil(-a / b));
      else if (b < 0)
        to = std::min(to, std::floor(-a / b) + 1);
      else if (a < 0)
        to = from;
    }
  }
}

}  // namespace

void lower_warp(Run& r) {
  const Source& s = r.source;
  const Geometry& g = r.geometry;
  Warp& warp = r.gather.warp;
  warp.on = s.element == Element::kU8 && !r.nearest;
  warp.most[0][0] = s.width - 1;
  warp.most[0][1] = s.height - 1;
  for (int i = 0; i < s.groups; ++i) {
    const Channel& ch = s.channel[s.group[i].lowest];
    const int reach = warp_reach(s.group[i].span, ch.pixel);
    int32_t* most = warp.most[r.linear && i > 0];
    warp.on = warp.on && can_warp(s.group[i].span, ch.pixel);
    if (r.linear && i > 0) {
      most[0] = ch.column(s.width - 1) - (reach - 1);
      most[1] = ch.line(s.height - 1) - 1;
    } else {
      most[0] = std::min(most[0], s.width - 1 - ((reach - 1) << ch.shift_x));
      most[1] = std::min(most[1], s.height - 1 - (1 << ch.shift_y));
    }
  }
  for (int i = 0; i <= r.linear; ++i)
    warp.on = warp.on && warp.most[i][0] >= 0 && warp.most[i][1] >= 0;
  warp.all = warp.on;
  for (int i = 0; warp.all && i < 4; ++i) {
    const double x = i & 1 ? g.x1 - 0.5 : g.x0 + 0.5, y = i & 2 ? g.y1 - 0.5 : g.y0 + 0.5;
    warp.all = lies_inside(r.gather.map, warp.most[0], x, y) &&
               (!r.linear || lies_inside(r.gather.chroma_map, warp.most[1], x, y));
  }
}

Columns warp_columns(const Run& r, int x, int y, int n) {
  if (!r.gather.warp.on) return {0, 0};
  if (r.gather.warp.all) return {0, n};
  double from = 0, to = n;
  narrow(r.gather.map, r.gather.warp.most[0], x + 0.5, y + 0.5, from, to);
  if (r.linear) narrow(r.gather.chroma_map, r.gather.warp.most[1], x + 0.5, y + 0.5, from, to);
  if (!(from < to)) return {0, 0};
  return {static_cast<int>(from), static_cast<int>(to)};
}

void sample_warp(const Plan& p, int x, int y, int n, int at, Rows& rows) {
  const Run& r = p.run;
  const Source& s = r.source;
  alignas(64) int32_t px[kChunk], py[kChunk], half_x[kChunk], half_y[kChunk];
  const auto positions = [&](const LinearMap& map, const int32_t most[2]) {
    const auto last = [](int32_t tap) { return ((tap + 1) << kWarpBits) - 1; };
    warp_kernels().positions(map, x + 0.5, y + 0.5, n, last(most[0]), last(most[1]), px, py);
  };
  positions(r.gather.map, r.gather.warp.most[0]);
  if (r.constant) std::fill_n(rows.inside + at, n, 1.0f);
  bool halved = false;
  for (int i = 0; i < s.groups; ++i) {
    const Group& g = s.group[i];
    const Channel& ch = s.channel[g.lowest];
    const bool own = r.linear && i > 0;
    if (own && i == 1) positions(r.gather.chroma_map, r.gather.warp.most[1]);
    if (!own && !halved && (ch.shift_x || ch.shift_y)) {
      if (ch.shift_x) warp_kernels().halve(px, ch.odd_x, n, half_x);
      if (ch.shift_y) warp_kernels().halve(py, ch.odd_y, n, half_y);
      halved = true;
    }
    float* lane[3] = {};
    for (int c = g.first; c < g.first + g.count; ++c)
      lane[(s.channel[c].data - ch.data) / s.size] = rows.c[c] + at;
    const WarpPlane plane{ch.data, static_cast<int32_t>(ch.row), static_cast<int32_t>(ch.pixel),
                          g.span};
    warp_kernels().sample(plane, !own && ch.shift_x ? half_x : px, !own && ch.shift_y ? half_y : py,
                          n, lane);
  }
}

}  // namespace foveal::imgproc
