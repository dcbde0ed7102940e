// Straight, mirrored and quarter-turned maps: source positions are separable.
#include <algorithm>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// Elements of one plane behind taps o0/o1 of a chunk: offsets rise or fall, so the ends bound them.
struct Extent {
  int32_t lo, elements;
};
Extent extent(const int32_t* o0, const int32_t* o1, int n, int span) {
  const int32_t lo = std::min(std::min(o0[0], o0[n - 1]), std::min(o1[0], o1[n - 1]));
  const int32_t hi = std::max(std::max(o0[0], o0[n - 1]), std::max(o1[0], o1[n - 1]));
  return {lo, hi - lo + span};
}

void sample_row(const Plan& p, int x, int y, int n, bool rows_first, Rows& rows) {
  const Run& r = p.run;
  const Source& s = r.source;
  const ElementKernels& k = r.k->element[static_cast<int>(s.element)];
  for (int i = 0; i < s.groups; ++i) {
    const Group& g = s.group[i];
    const Channel& ch = s.channel[g.lowest];
    const bool own = r.linear && i > 0;  // linear chroma: positions are those of its samples
    const Axis &ax = own ? p.chroma_x : p.x, &ay = own ? p.chroma_y : p.y;
    const float v0 = ay.w0[y], v1 = ay.w1[y];
    const int64_t stride = r.transposed ? ch.pixel : ch.row;
    const auto line = [&](int at) -> int64_t {
      return (own ? at : r.transposed ? ch.column(at) : ch.line(at)) * stride;
    };
    const auto at = [&](int64_t element) { return ch.data + element * s.size; };
    const int64_t l0 = line(ay.i0[y]), l1 = line(ay.i1[y]);
    const uint8_t *r0 = at(l0), *r1 = at(l1);
    const int32_t *o0 = &p.xo[i][0][x], *o1 = &p.xo[i][1][x];
    const XTaps taps{o0, o1, &ax.w0[x], &ax.w1[x]};
    float* lane[3] = {};  // row of each element within the group's pixel
    for (int c = g.first; c < g.first + g.count; ++c)
      lane[(s.channel[c].data - ch.data) / s.size] = rows.c[c];
    const int64_t readable0 = g.readable - l0, readable1 = g.readable - l1;
    const bool one_tap = ax.single && ay.single;
    if (one_tap && ax.unit && !r.transposed && g.span == g.count) {
      const uint8_t* from = at(l0 + o0[0]);
      const int64_t readable = readable0 - o0[0];
      const int pixel = static_cast<int>(ch.pixel);
      if (!ch.shift_x || own) {
        k.unpack(from, readable, pixel, g.span, n, lane);
      } else {
        alignas(64) float half[3][kChunk];
        float* const halves[3] = {half[0], half[1], half[2]};
        const int odd = (ax.i0[x] + ch.odd_x) & 1;
        k.unpack(from, readable, pixel, g.span, (n + odd + 1) / 2, halves);
        for (int b = 0; b < g.span; ++b) r.k->twice(half[b], odd, n, lane[b]);
      }
    } else if (one_tap) {
      for (int b = 0; b < g.span; ++b) k.copy1(r0 + b * s.size, o0, n, lane[b]);
    } else if (rows_first) {
      alignas(64) float row[kSpan];
      const Extent e = extent(o0, o1, n, g.span);
      k.lerp_rows(at(l0 + e.lo), at(l1 + e.lo), v0, v1, e.elements, row);
      for (int b = 0; b < g.span; ++b) r.k->taps(row + b, e.lo, taps, n, lane[b]);
    } else if (g.span > 1) {
      k.sample_lanes(r0, readable0, r1, readable1, g.span, taps, v0, v1, n, lane);
    } else {
      k.sample1(r0, r1, taps, v0, v1, n, lane[0]);
    }
    finish_group(r, g, own, 0, n, rows);
  }
}

template <bool rows_first>
void sample(const Plan& p, int x, int n, int y, int, RowSink& sink) {
  const Run& r = p.run;
  Rows rows;
  if (r.constant) weigh_inside(p, x, y, n, rows.inside);
  sample_row(p, x, y, n, rows_first, rows);
  if (r.luma) p.pillow.k->luma(rows.c[0], rows.c[1], rows.c[2], n, rows.c[0]);
  rows.give(r, x, y, n, sink);
}

const char* detail(const Plan& p) {
  if (p.x.single && p.y.single) return "one tap: exact copy";
  return p.run.transposed ? "quarter turn" : "straight";
}

}  // namespace

const PlanKind kTaps = {.name = "taps (axis-aligned)", .detail = detail, .sample = sample<false>};
const PlanKind kRowsFirst = {
    .name = "rows first (axis-aligned)", .detail = detail, .sample = sample<true>};

}  // namespace foveal::imgproc
