// Straight, mirrored and quarter-turned maps: source positions are separable.
#include <algorithm>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// Bytes of one plane behind taps o0/o1 of a chunk: offsets rise or fall, so the ends bound them.
struct Extent {
  int32_t lo, bytes;
};
Extent extent(const int32_t* o0, const int32_t* o1, int n, int component_bytes) {
  const int32_t lo = std::min(std::min(o0[0], o0[n - 1]), std::min(o1[0], o1[n - 1]));
  const int32_t hi = std::max(std::max(o0[0], o0[n - 1]), std::max(o1[0], o1[n - 1]));
  return {lo, hi - lo + component_bytes};
}

}  // namespace

void sample_axis_aligned(const Plan& p, int x, int y, int n, Rows& rows) {
  const Run& r = p.run;
  const Kernels& k = *r.k;
  const Source& s = r.source;
  const float v0 = p.y.w0[y], v1 = p.y.w1[y];
  const bool one_tap = p.x.single && p.y.single;
  for (int i = 0; i < s.groups; ++i) {
    const Group& g = s.group[i];
    const Channel& ch = s.channel[g.lowest];
    const int64_t stride = r.transposed ? ch.pixel : ch.row;
    const uint8_t* r0 = ch.data + (p.y.i0[y] >> ch.shift) * stride;
    const uint8_t* r1 = ch.data + (p.y.i1[y] >> ch.shift) * stride;
    const int32_t *o0 = &p.xo[i][0][x], *o1 = &p.xo[i][1][x];
    const XTaps taps{o0, o1, &p.x.w0[x], &p.x.w1[x]};
    int at[3] = {};  // byte of each channel within the group
    for (int c = 0; c < g.count; ++c)
      at[c] = static_cast<int>(s.channel[g.first + c].data - ch.data);
    if (one_tap) {
      for (int c = 0; c < g.count; ++c) k.copy1(r0 + at[c], o0, n, rows.c[g.first + c]);
    } else if (r.kind == PlanKind::kRowsFirst) {
      alignas(64) float row[kSpan];
      const Extent e = extent(o0, o1, n, g.bytes);
      k.lerp_rows(r0 + e.lo, r1 + e.lo, v0, v1, e.bytes, row);
      for (int c = 0; c < g.count; ++c) k.taps(row + at[c], e.lo, taps, n, rows.c[g.first + c]);
    } else if (g.count == 3) {
      k.sample3(r0, r1, at, taps, v0, v1, n, rows.c[0], rows.c[1], rows.c[2]);
    } else {
      for (int c = 0; c < g.count; ++c)
        k.sample1(r0 + at[c], r1 + at[c], taps, v0, v1, n, rows.c[g.first + c]);
    }
  }
  if (r.constant)
    for (int i = 0; i < n; ++i) rows.inside[i] = (p.x.w0[x + i] + p.x.w1[x + i]) * (v0 + v1);
}

}  // namespace foveal::imgproc
