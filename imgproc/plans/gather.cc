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
    int byte[3] = {};
    for (int c = 0; c < g.count; ++c)
      byte[c] = static_cast<int>(s.channel[g.first + c].data - ch.data);
    if (g.count == 3) {
      k.gather3(ch.data, byte, t, w, n, rows.c[0], rows.c[1], rows.c[2]);
    } else {
      for (int c = 0; c < g.count; ++c) k.gather1(ch.data + byte[c], t, w, n, rows.c[g.first + c]);
    }
  }
  if (r.constant)
    for (int i = 0; i < n; ++i) rows.inside[i] = w.w00[i] + w.w01[i] + w.w10[i] + w.w11[i];
}

}  // namespace foveal::imgproc
