// Weights of filters as whole numbers of 16 bits, and how far they are from the real ones.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "imgproc/filter.h"

namespace foveal::imgproc {
namespace {

float round_even(float v) {  // |v| < 2^22
  constexpr float kMagic = 0x1.8p23f;
  return (v + kMagic) - kMagic;
}

// `left` whole steps are missing from the sum: the taps that rounding moved farthest take them.
void make_up(const float* w, float one, int count, int left, int16_t* fixed) {
  const int step = left > 0 ? -1 : 1;  // `fixed` is negated
  for (; left != 0; left += step) {
    int best = 0;
    float most = -2;
    for (int k = 0; k < count; ++k) {
      const float off = (w[k] * one + static_cast<float>(fixed[k])) * static_cast<float>(-step);
      const bool fits = fixed[k] + step >= -32768 && fixed[k] + step <= 32767;
      if (w[k] != 0 && fits && off > most) {
        most = off;
        best = k;
      }
    }
    fixed[best] = static_cast<int16_t>(fixed[best] + step);
  }
}

}  // namespace

void quantize(int from, int to, bool down, Filter& f) {
  const auto weights = [&](int d) { return f.weights.data() + int64_t{d} * f.taps; };
  const auto count = [&](int d) { return f.count[static_cast<size_t>(d)]; };
  float lowest = 0, highest = 0;
  for (int d = from; d < to; ++d)
    for (int k = 0; k < count(d); ++k) {
      lowest = std::min(lowest, weights(d)[k]);
      highest = std::max(highest, weights(d)[k]);
    }
  f.bits = down ? kMostBitsDown : kMostBitsAlong;
  float one = std::ldexp(1.0f, f.bits);
  for (; highest * one > 32768 || -lowest * one > 32766; one /= 2) --f.bits;
  f.fixed.assign(f.weights.size(), 0);
  f.error = f.above = f.below = 0;
  for (int d = from; d < to; ++d) {
    const float* w = weights(d);
    int16_t* fixed = f.fixed.data() + int64_t{d} * f.taps;
    float over = 0;
    for (int k = 0; k < count(d); ++k) {
      const float whole = round_even(w[k] * one);
      fixed[k] = static_cast<int16_t>(-static_cast<int32_t>(whole));
      over += w[k] * one - whole;
    }
    make_up(w, one, count(d), static_cast<int>(round_even(over)), fixed);
    float off = 0, moved = 0;
    int sum = 0, size = 0;
    for (int k = 0; k < count(d); ++k) {
      const float by = w[k] * one + static_cast<float>(fixed[k]);
      off += by;
      moved += std::fabs(by);
      sum -= fixed[k];
      size += std::abs(int{fixed[k]});
    }
    // Of what was moved, the greater of the parts above and below zero; of the sum, both.
    f.error = std::max(f.error, double{moved + std::fabs(off)} / 2 / one);
    f.above = std::max(f.above, (double(size) + sum) / 2 / one);
    f.below = std::max(f.below, (double(size) - sum) / 2 / one);
  }
}

}  // namespace foveal::imgproc
