// Profile "torch" with whole numbers in between: what torch.nn.functional.interpolate makes of
// uint8 tensors, to the bit. The horizontal pass first, then the vertical one, each rounded to
// bytes: the passes of the pillow profiles, with torch's weights of 16 bits.
#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// As many as keep the greatest weight below 2^15.
int fraction_bits(double greatest) {
  int bits = 0;
  while (bits < kPillowBits && static_cast<int>(0.5 + greatest * (2 << bits)) < 1 << 15) ++bits;
  return bits;
}

// Away from zero at halves; scaled up exactly to the bits of the pillow rows.
int32_t fixed(double w, int bits) {
  const double scaled = w * (1 << bits);
  return static_cast<int32_t>(w < 0 ? scaled - 0.5 : scaled + 0.5) * (1 << (kPillowBits - bits));
}

// `end`: behind the last pixel of the resized picture, of which tensor pixels may show a part only:
// the greatest weight is that of all of it. `packs`: as of build_pillow.
void build_axis(const Spec& s, const AxisMap& m, int end, const PillowKernels* packs,
                PillowAxis& a) {
  std::vector<double>& w = a.window;
  double greatest = 0, inside;
  size_t most = 0;
  for (int d = std::min(m.origin, m.from); d < std::max(end, m.to); ++d) {
    weigh(s, m, d, w, inside);
    for (const double v : w) greatest = std::max(greatest, v);
    most = std::max(most, w.size());
  }
  const int bits = fraction_bits(greatest);
  const size_t n = static_cast<size_t>(m.to - m.from);
  a.taps = static_cast<int>(most);
  a.first.resize(n);
  a.count.resize(n);
  a.weights.assign(n * most, 0);
  for (size_t i = 0; i < n; ++i) {
    a.first[i] = weigh(s, m, m.from + static_cast<int>(i), w, inside);
    a.count[i] = static_cast<int>(w.size());
    for (size_t k = 0; k < w.size(); ++k) a.weights[i * most + k] = fixed(w[k], bits);
  }
  pack_weights(packs, a);
}

}  // namespace

Status lower_torch_bytes(Plan& p, const AxisMap& x, const AxisMap& y) {
  const Geometry& g = p.run.geometry;
  const bool turned = p.run.transposed;
  choose_lines(p, false);
  p.pillow.vertical_first = false;
  for (const bool columns : {false, true}) {
    const AxisMap& m = columns ? y : x;
    FilterAxis& built = columns ? p.separable.y : p.separable.x;
    if (built.built && built.map == m) continue;
    FV_TRY(check_taps(p.spec, m));
    const bool along = columns == turned;
    const int end = g.rect ? m.origin + static_cast<int>(g.size[columns]) : m.to;
    build_axis(p.spec, m, end, along ? p.pillow.k : nullptr,
               along ? p.pillow.along : p.pillow.across);
    built.map = m;
    built.built = true;
  }
  start_passes(p, kTorchBytes);
  return ok();
}

}  // namespace foveal::imgproc
