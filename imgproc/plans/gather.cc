// Any other map: four taps per tensor pixel, positions in f64.
#include "imgproc/plan.h"

namespace foveal::imgproc {

void sample_gather(const Plan& p, int x, int y, int n, Rows& rows) {
  const Run& r = p.run;
  const Kernels& k = *r.k;
  const Source& s = r.source;
  Positions at;
  Weights4 w;
  Taps4 t;
  k.positions(r.map, x + 0.5, y + 0.5, n, s.width, s.height, r.nearest, r.constant, &at, &w);
  for (int i = 0; i < s.groups; ++i) {
    const Group& g = s.group[i];
    const Channel& ch = s.channel[g.lowest];
    k.offsets(at, ch.shift, static_cast<int32_t>(ch.row), static_cast<int32_t>(ch.pixel), n, &t);
    float* lane[3] = {};  // row of each byte within the group's pixel
    for (int c = g.first; c < g.first + g.count; ++c) lane[s.channel[c].data - ch.data] = rows.c[c];
    if (g.bytes > 1)
      k.gather_lanes(ch.data, g.readable, g.bytes, t, w, n, lane);
    else
      k.gather1(ch.data, t, w, n, lane[0]);
  }
  if (r.constant)
    for (int i = 0; i < n; ++i) rows.inside[i] = w.w00[i] + w.w01[i] + w.w10[i] + w.w11[i];
}

}  // namespace foveal::imgproc
