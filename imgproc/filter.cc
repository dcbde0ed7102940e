#include "imgproc/filter.h"

#include <algorithm>
#include <cmath>

#include "imgproc/filter_shape.h"
#include "imgproc/rows/filter.h"

namespace foveal::imgproc {
namespace {

constexpr double kMaxTaps = 1 << 24;  // of a whole axis

// Appends the taps of one pixel to a table of pixels in memory order: `values` from pixel `at` on.
void put(const std::vector<double>& values, int at, int shift, int d, Filter& f) {
  const int first = at >> shift;
  const int last = (at + static_cast<int>(values.size()) - 1) >> shift;
  f.first[d] = first;
  f.count[d] = last - first + 1;
  float* w = f.weights.data() + static_cast<int64_t>(d) * f.taps;
  std::fill_n(w, f.taps, 0.0f);
  double sum = 0;
  for (size_t k = 0; k < values.size(); ++k) {  // pixels that share a sample add up
    const int tap = ((at + static_cast<int>(k)) >> shift) - first;
    sum += values[k];
    if (k + 1 == values.size() || ((at + static_cast<int>(k) + 1) >> shift) - first != tap) {
      w[tap] = static_cast<float>(sum);
      sum = 0;
    }
  }
}

// torch places its pixels in float32 (not those of bytes), and large frames show it: up to 0.03 of
// 255.
bool places_in_floats(const Spec& s) {
  return s.profile == Profile::kTorch && s.intermediate == Intermediate::kF32;
}
double centre_of(const Spec& s, const AxisMap& m, int d) {
  const double at = d - m.origin + 0.5;
  if (!places_in_floats(s) || s.grid == Grid::kAsymmetric) return m.start + at * m.scale;
  const float scale = static_cast<float>(m.scale);
  if (s.grid == Grid::kAlignCorners)
    return m.start + 0.5 * m.scale + scale * static_cast<float>(d - m.origin);
  if (s.antialias) return m.start + scale * static_cast<float>(at);
  return m.start + static_cast<float>(static_cast<double>(scale) * at - 0.5) + 0.5;
}

// How far a filter is stretched, and how far it reaches from its centre, in source pixels.
struct Reach {
  double stretch, support;
};
Reach reach_of(const Spec& s, const AxisMap& m) {
  // Area averages what a tensor pixel covers, when that is less than a pixel, too.
  const double stretch = s.sample == SampleKind::kArea ? m.scale
                         : s.antialias                 ? std::max(m.scale, 1.0)
                                                       : 1.0;
  return {stretch, filter_radius(s.sample) * stretch};
}

// The source pixels [begin, end) that a tensor pixel's filter sees; at least one.
struct Window {
  double centre, begin, end;
};
Window window_of(const Spec& s, const AxisMap& m, int d, double support) {
  const bool area = s.sample == SampleKind::kArea;
  const double centre = centre_of(s, m, d);
  double lo = centre - support, hi = centre + support;
  if (places_in_floats(s)) {
    lo = static_cast<float>(lo);
    hi = static_cast<float>(hi);
  }
  double begin = std::floor(lo + (area ? 0 : 0.5));
  double end = area ? std::ceil(hi) : std::floor(hi + 0.5);
  if (m.inside && (s.antialias || area)) {  // the filter ends at the frame's edge
    begin = std::clamp<double>(begin, 0, m.size - 1);
    end = std::clamp<double>(end, begin + 1, m.size);
  } else {
    end = std::max(end, begin + 1);
  }
  return {centre, begin, end};
}

// The nearest pixel of the frame.
double inner(const AxisMap& m, double pixel) { return std::clamp<double>(pixel, 0, m.size - 1); }

}  // namespace

bool is_filter(const Spec& s) {
  return s.antialias || s.profile == Profile::kTorch || s.sample == SampleKind::kBicubic ||
         s.sample == SampleKind::kArea || s.sample == SampleKind::kLanczos3;
}

bool can_reduce(const Spec& s) {
  return s.sample == SampleKind::kBilinear && s.antialias &&
         (s.profile == Profile::kExact || s.profile == Profile::kFast);
}

Status check_taps(const Spec& s, const AxisMap& m) {
  const double wanted = (2 * reach_of(s, m).support + 2) * (m.to - m.from);
  if (wanted <= kMaxTaps) return ok();
  return Status(FV_INVALID_ARGUMENT,
                format("image plan: sample: %d pixels of %.3g source pixels each are too much to "
                       "filter",
                       m.to - m.from, m.scale),
                "choose a smaller region");
}

int weigh(const Spec& s, const AxisMap& m, int d, std::vector<double>& w, double& inside) {
  inside = 1;
  const auto [stretch, support] = reach_of(s, m);
  const auto [centre, begin, end] = window_of(s, m, d, support);
  // Weights of the window, normalised; then what of it lies in the frame.
  w.clear();
  double sum = 0;
  for (double i = begin; i < end; ++i) {
    const double v =
        s.sample == SampleKind::kArea
            ? std::max(std::min(i + 1, centre + support) - std::max(i, centre - support), 0.0)
            : filter_shape(s.sample, (i - centre + 0.5) * (1 / stretch), s.bicubic_a);
    w.push_back(v);
    sum += v;
  }
  if (sum != 0)
    for (double& v : w) v /= sum;
  else
    w.assign(1, 1.0);
  const double first = inner(m, begin);
  const double last = inner(m, begin + static_cast<double>(w.size()) - 1);
  const size_t kept = static_cast<size_t>(last - first) + 1;
  if (kept != w.size() || begin != first) {
    double before = 0, after = 0;
    const auto from = static_cast<int64_t>(first - begin);  // may lie outside of w
    const auto count = static_cast<int64_t>(w.size());
    for (int64_t k = 0; k < count; ++k) {
      if (begin + static_cast<double>(k) < 0) before += w[static_cast<size_t>(k)];
      if (begin + static_cast<double>(k) > m.size - 1) after += w[static_cast<size_t>(k)];
    }
    if (from >= 0 && from < count) {
      w.erase(w.begin(), w.begin() + from);
      w.resize(kept);
    } else {
      w.assign(kept, 0.0);
    }
    if (m.constant) {
      inside = 1 - before - after;
    } else {
      w.front() += before;
      w.back() += after;
    }
  }
  int at = static_cast<int>(first);
  if (m.flip) {
    std::reverse(w.begin(), w.end());
    at = m.size - at - static_cast<int>(w.size());
  }
  return at;
}

Status build_filter(const Spec& s, const AxisMap& m, FilterAxis& axis) {
  if (axis.built && axis.map == m) return ok();
  axis.built = false;
  FV_TRY(check_taps(s, m));
  const size_t n = static_cast<size_t>(m.to);
  axis.inside.resize(n);
  double widest = 1;
  for (int d = m.from; d < m.to; ++d) {
    const Window v = window_of(s, m, d, reach_of(s, m).support);
    widest = std::max(widest, inner(m, v.end - 1) - inner(m, v.begin) + 1);
  }
  for (int i = 0; i < m.planes; ++i) {
    Filter& f = axis.plane[i];
    // Samples that k pixels share, wherever the first one lies.
    const int shared = (1 << m.shift[i]) - 1;
    f.taps = padded_taps(((static_cast<int>(widest) - 1 + shared) >> m.shift[i]) + 1);
    f.first.resize(n);
    f.count.resize(n);
    f.weights.resize(n * static_cast<size_t>(f.taps));
  }
  std::vector<double>& w = axis.window;
  for (int d = m.from; d < m.to; ++d) {
    double inside;
    const int at = weigh(s, m, d, w, inside);
    axis.inside[static_cast<size_t>(d)] = static_cast<float>(inside);
    for (int i = 0; i < m.planes; ++i) put(w, at + m.odd[i], m.shift[i], d, axis.plane[i]);
  }
  for (int i = 0; i < m.planes; ++i) quantize(m.from, m.to, m.down, axis.plane[i]);
  axis.map = m;
  axis.built = true;
  return ok();
}

}  // namespace foveal::imgproc
