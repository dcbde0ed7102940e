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
    float* lane[3] = {};  // row of each byte within the group's pixel
    for (int c = g.first; c < g.first + g.count; ++c) lane[s.channel[c].data - ch.data] = rows.c[c];
    const int64_t readable0 = g.readable - (r0 - ch.data), readable1 = g.readable - (r1 - ch.data);
    if (one_tap && p.x.unit && !r.transposed && g.bytes == g.count) {
      const uint8_t* from = r0 + o0[0];
      const int64_t readable = readable0 - o0[0];
      const int pixel = static_cast<int>(ch.pixel);
      if (!ch.shift) {
        k.unpack(from, readable, pixel, g.bytes, n, lane);
      } else {
        alignas(64) float half[3][kChunk];
        float* const halves[3] = {half[0], half[1], half[2]};
        const int odd = p.x.i0[x] & 1;
        k.unpack(from, readable, pixel, g.bytes, (n + odd + 1) / 2, halves);
        for (int b = 0; b < g.bytes; ++b) k.twice(half[b], odd, n, lane[b]);
      }
    } else if (one_tap) {
      for (int b = 0; b < g.bytes; ++b)
        if (lane[b]) k.copy1(r0 + b, o0, n, lane[b]);
    } else if (r.kind == PlanKind::kRowsFirst) {
      alignas(64) float row[kSpan];
      const Extent e = extent(o0, o1, n, g.bytes);
      k.lerp_rows(r0 + e.lo, r1 + e.lo, v0, v1, e.bytes, row);
      for (int b = 0; b < g.bytes; ++b)
        if (lane[b]) k.taps(row + b, e.lo, taps, n, lane[b]);
    } else if (g.bytes > 1) {
      k.sample_lanes(r0, readable0, r1, readable1, g.bytes, taps, v0, v1, n, lane);
    } else {
      k.sample1(r0, r1, taps, v0, v1, n, lane[0]);
    }
  }
  if (r.constant)
    for (int i = 0; i < n; ++i) rows.inside[i] = (p.x.w0[x + i] + p.x.w1[x + i]) * (v0 + v1);
}

}  // namespace foveal::imgproc
