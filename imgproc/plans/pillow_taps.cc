// Which pixels Pillow weighs, and how much: in f64 as Pillow computes it, without contraction.
#include <algorithm>
#include <cmath>

#include "imgproc/filter_shape.h"
#include "imgproc/plans/pillow.h"

namespace foveal::imgproc {
namespace {

double weight(SampleKind kind, double x) {
  if (kind == SampleKind::kArea) return x > -0.5 && x <= 0.5 ? 1 : 0;
  return filter_shape(kind, x, -0.5);
}

int32_t fixed(double w) {
  const double scaled = w * (1 << kPillowBits);
  return static_cast<int32_t>(w < 0 ? scaled - 0.5 : scaled + 0.5);
}

}  // namespace

void place_nearest(const PillowBox& b, int32_t* index) {
  const double step = b.scale();
  double at = b.begin + step * 0.5;
  for (int d = 0; d < b.to; ++d, at += step)  // added up, rounding included
    if (d >= b.from) index[d - b.from] = std::clamp(static_cast<int>(at), 0, b.size - 1);
}

void pack_weights(const PillowKernels* packs, PillowAxis& a) {
  a.packed.clear();
  if (!packs) return;
  const int most = *std::max_element(a.count.begin(), a.count.end());
  a.blocks = (most + packs->taps - 1) / packs->taps;
  const size_t n = a.count.size(), bytes = static_cast<size_t>(a.blocks * packs->block_bytes);
  a.packed.resize((n * bytes + sizeof(PackedTaps) - 1) / sizeof(PackedTaps));
  uint8_t* out = a.packed.data()->bytes;
  for (size_t i = 0; i < n; ++i)
    packs->pack(a.weights.data() + i * static_cast<size_t>(a.taps), a.count[i], a.blocks,
                out + i * bytes);
}

void build_pillow(SampleKind sample, const PillowBox& b, const PillowKernels* packs,
                  PillowAxis& a) {
  if (a.built && a.box == b && a.packed.empty() == !packs) return;
  const double scale = b.scale(), stretch = std::max(scale, 1.0);
  const double support = filter_radius(sample) * stretch;
  const int n = b.to - b.from;
  a.taps = static_cast<int>(std::min<double>(2 * support + 2, b.size));
  a.first.resize(static_cast<size_t>(n));
  a.count.resize(static_cast<size_t>(n));
  a.weights.assign(static_cast<size_t>(n) * static_cast<size_t>(a.taps), 0);
  std::vector<double>& w = a.window;
  for (int i = 0; i < n; ++i) {
    const double centre = b.begin + (b.from + i + 0.5) * scale;
    const int lo = std::max(static_cast<int>(centre - support + 0.5), 0);
    const int hi = std::min(static_cast<int>(centre + support + 0.5), b.size);
    w.clear();
    double sum = 0;
    for (int x = lo; x < hi; ++x) {
      w.push_back(weight(sample, (x - centre + 0.5) * (1 / stretch)));
      sum += w.back();
    }
    const int count = hi - lo;
    int32_t* out = a.weights.data() + int64_t{i} * a.taps;
    for (int k = 0; k < count; ++k)
      out[b.flip ? count - 1 - k : k] = fixed(sum != 0 ? w[static_cast<size_t>(k)] / sum : 0);
    a.first[static_cast<size_t>(i)] = b.flip ? b.size - hi : lo;
    a.count[static_cast<size_t>(i)] = count;
  }
  pack_weights(packs, a);
  a.box = b;
  a.built = true;
}

}  // namespace foveal::imgproc
