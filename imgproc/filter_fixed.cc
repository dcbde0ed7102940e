// Weights of filters as whole numbers of 16 bits, and how far they are from the real ones.
#include <algorithm>
#include <cmath>

#include "imgproc/filter.h"

namespace foveal::imgproc {
namespace {

double round_even(double v) {  // |v| < 2^51
  constexpr double kMagic = 0x1.8p52;
  return (v + kMagic) - kMagic;
}

}  // namespace

void quantize(int from, int to, bool down, Filter& f) {
  const auto row = [&](int d) { return static_cast<size_t>(d) * static_cast<size_t>(f.taps); };
  const auto count = [&](int d) { return static_cast<size_t>(f.count[static_cast<size_t>(d)]); };
  float lowest = 0, highest = 0;
  for (int d = from; d < to; ++d)
    for (size_t k = 0; k < count(d); ++k) {
      lowest = std::min(lowest, f.weights[row(d) + k]);
      highest = std::max(highest, f.weights[row(d) + k]);
    }
  f.bits = down ? kMostBitsDown : kMostBitsAlong;
  double one = std::ldexp(1, f.bits);
  for (; highest * one > 32768 || -lowest * one > 32766; one /= 2) --f.bits;
  f.fixed.assign(f.weights.size(), 0);
  f.error = f.above = f.below = 0;
  for (int d = from; d < to; ++d) {
    const float* w = f.weights.data() + row(d);
    int16_t* fixed = f.fixed.data() + row(d);
    double sum = 0, left = 0;
    for (size_t k = 0; k < count(d); ++k) {
      const double whole = round_even(w[k] * one);
      fixed[k] = static_cast<int16_t>(-whole);
      sum += w[k] * one;
      left -= whole;
    }
    left += round_even(sum);
    // The taps that rounding moved farthest make up for what it left over.
    for (; left != 0; left += left > 0 ? -1 : 1) {
      size_t best = 0;
      double most = -2;
      for (size_t k = 0; k < count(d); ++k) {
        const double off = (w[k] * one + fixed[k]) * (left > 0 ? 1 : -1);
        const bool fits = left > 0 ? fixed[k] > -32768 : fixed[k] < 32767;
        if (w[k] != 0 && fits && off > most) {
          most = off;
          best = k;
        }
      }
      fixed[best] = static_cast<int16_t>(fixed[best] + (left > 0 ? -1 : 1));
    }
    double over = 0, under = 0, above = 0, below = 0;
    for (size_t k = 0; k < count(d); ++k) {
      const double off = w[k] * one + fixed[k];
      (off < 0 ? over : under) += std::fabs(off);
      (fixed[k] < 0 ? above : below) += std::abs(fixed[k]);
    }
    f.error = std::max({f.error, over / one, under / one});
    f.above = std::max(f.above, above / one);
    f.below = std::max(f.below, below / one);
  }
}

}  // namespace foveal::imgproc
