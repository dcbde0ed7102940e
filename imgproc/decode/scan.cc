#include "imgproc/decode/scan.h"

#include <algorithm>
#include <cmath>

namespace foveal::imgproc {

Best best_of(const float* values, int64_t n) {
  constexpr int kLanes = 8;  // independent maxima, so that the loop needs no order
  float best[kLanes];
  int32_t where[kLanes];
  std::fill_n(best, kLanes, -INFINITY);
  std::fill_n(where, kLanes, 0);
  const int64_t whole = n / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes)
    for (int k = 0; k < kLanes; ++k) {
      const bool larger = values[i + k] > best[k];
      best[k] = larger ? values[i + k] : best[k];
      where[k] = larger ? static_cast<int32_t>(i) + k : where[k];
    }
  Best r{-INFINITY, 0};
  for (int k = 0; k < kLanes; ++k)
    if (best[k] > r.value || (best[k] == r.value && where[k] < r.index)) r = {best[k], where[k]};
  for (int64_t i = whole; i < n; ++i)
    if (values[i] > r.value) r = {values[i], static_cast<int32_t>(i)};
  return r;
}

void best_of_rows(const float* data, int64_t rows, int64_t n, float* values, int32_t* rows_of) {
  constexpr int64_t kBlock = 1024;  // columns whose maxima stay in the first-level cache
  for (int64_t from = 0; from < n; from += kBlock) {
    const int64_t count = std::min(kBlock, n - from);
    float* best = values + from;
    int32_t* where = rows_of + from;
    std::fill_n(best, count, -INFINITY);
    std::fill_n(where, count, 0);
    for (int64_t row = 0; row < rows; ++row) {
      const float* v = data + row * n + from;
      for (int64_t i = 0; i < count; ++i) {
        const bool larger = v[i] > best[i];
        best[i] = larger ? v[i] : best[i];
        where[i] = larger ? static_cast<int32_t>(row) : where[i];
      }
    }
  }
}

void above(const float* values, int64_t n, float threshold, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = values[i] > threshold;
}

void unite(const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] | b[i];
}

}  // namespace foveal::imgproc
