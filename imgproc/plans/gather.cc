// Any other map: four taps per tensor pixel, positions in f64.
#include <algorithm>

#include "imgproc/plan.h"
#include "imgproc/plans/chroma.h"

namespace foveal::imgproc {
namespace {

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

// Nearest sampling sees whole pixels: linear chroma is that at the pixel's own centre.
void chroma_at_pixels(const Run& r, const Positions& pixel, int n, Positions* at, Weights4* w) {
  const Channel& ch = r.source.channel[1];
  const auto tap = [](int p, int shift, int odd, bool first, int most, int32_t& i0, int32_t& i1) {
    const int quarters = shift ? 2 * (p + odd) - (first ? 0 : 1) : 4 * p;  // of a sample
    const int base = quarters >> 2;
    i0 = std::clamp(base, 0, most);
    i1 = std::clamp(base + 1, 0, most);
    return static_cast<float>(quarters - 4 * base) / 4;
  };
  const int right = ch.column(r.source.width - 1), bottom = ch.line(r.source.height - 1);
  for (int i = 0; i < n; ++i) {
    const float u = tap(pixel.x0[i], ch.shift_x, ch.odd_x, r.siting != Siting::kCenter, right,
                        at->x0[i], at->x1[i]);
    const float v = tap(pixel.y0[i], ch.shift_y, ch.odd_y, r.siting == Siting::kTopLeft, bottom,
                        at->y0[i], at->y1[i]);
    w->w00[i] = (1 - v) * (1 - u);
    w->w01[i] = (1 - v) * u;
    w->w10[i] = v * (1 - u);
    w->w11[i] = v * u;
  }
}

// Any pixels; writes to rows from `at` on.
void sample_anywhere(const Plan& p, int x, int y, int n, int at, Rows& rows) {
  const Run& r = p.run;
  const Source& s = r.source;
  const ElementKernels& k = r.k->element[static_cast<int>(s.element)];
  Positions pixel, sample;
  Weights4 pixel_w, sample_w;
  Taps4 t;
  r.k->positions(r.gather.map, x + 0.5, y + 0.5, n, s.width, s.height, r.nearest, r.outside,
                 r.flipped, &pixel, &pixel_w);
  if (r.constant) {
    const Weights4& w = pixel_w;
    for (int i = 0; i < n; ++i) rows.inside[at + i] = w.w00[i] + w.w01[i] + w.w10[i] + w.w11[i];
  }
  if (r.linear) {
    const Channel& ch = s.channel[1];
    if (r.nearest)
      chroma_at_pixels(r, pixel, n, &sample, &sample_w);
    else
      r.k->positions(r.gather.chroma_map, x + 0.5, y + 0.5, n, ch.column(s.width - 1) + 1,
                     ch.line(s.height - 1) + 1, false, Outside::kClamp, r.flipped, &sample,
                     &sample_w);
  }
  for (int i = 0; i < s.groups; ++i) {
    const Group& g = s.group[i];
    const Channel& ch = s.channel[g.lowest];
    const bool own = r.linear && i > 0;
    Block block{ch.shift_x,
                ch.shift_y,
                ch.odd_x,
                ch.odd_y,
                static_cast<int32_t>(ch.row),
                static_cast<int32_t>(ch.pixel)};
    if (own) block.shift_x = block.shift_y = block.odd_x = block.odd_y = 0;
    r.k->offsets(own ? sample : pixel, block, n, &t);
    const Weights4& w = own ? sample_w : pixel_w;
    float* lane[3] = {};  // row of each element within the group's pixel
    for (int c = g.first; c < g.first + g.count; ++c)
      lane[(s.channel[c].data - ch.data) / s.size] = rows.c[c] + at;
    if (g.span > 1)
      k.gather_lanes(ch.data, g.readable, g.span, t, w, n, lane);
    else
      k.gather1(ch.data, t, w, n, lane[0]);
    finish_group(r, g, own, at, n, rows);
  }
}

void sample(const Plan& p, int x, int n, int y, int, RowSink& sink) {
  Rows rows;
  const Columns c = warp_columns(p.run, x, y, n);
  if (c.from > 0) sample_anywhere(p, x, y, c.from, 0, rows);
  if (c.from < c.to) sample_warp(p, x + c.from, y, c.to - c.from, c.from, rows);
  if (c.to < n) sample_anywhere(p, x + c.to, y, n - c.to, c.to, rows);
  rows.give(p.run, x, y, n, sink);
}

const char* detail(const Plan& p) {
  const Gather& g = p.run.gather;
  if (g.map.projective) return g.warp.on ? "projective, in whole numbers" : "projective";
  return g.warp.on ? "affine, in whole numbers" : "affine";
}

}  // namespace

const PlanKind kGather = {
    .name = "gather (affine or projective)", .detail = detail, .sample = sample};

void lower_gather(Plan& p, const Mat3& map) {
  Run& r = p.run;
  r.kind = &kGather;
  r.jumps = !r.reduced;
  r.gather.map = gather_map(map.m, !map.affine());
  if (r.linear) r.gather.chroma_map = chroma_map(r.source, r.siting, r.gather.map);
  lower_warp(r);
}

}  // namespace foveal::imgproc
