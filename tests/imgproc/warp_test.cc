// Rows of turned regions: the definition, and the same results on every instruction set.
#include "imgproc/rows/warp.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "imgproc/lcg.h"

namespace foveal::imgproc {
namespace baseline {
extern const WarpKernels kWarpTable;
}
#if defined(FOVEAL_TEST_AVX)
namespace avx2 {
extern const WarpKernels kWarpTable;
}
#endif
}  // namespace foveal::imgproc

using namespace foveal::imgproc;

namespace {

double real(double most) { return (next() * 0x1p-32 * 2 - 1) * most; }

struct Row {
  int32_t x[kChunk] = {}, y[kChunk] = {};
  float lane[3][kChunk] = {};
};

// Of a plane that ends with the last byte that may be read, and every position that may be asked.
void check_sample(const WarpKernels& k, int span, int pixel, int n) {
  const int width = 23, height = 9, row = width * pixel + below(3);
  std::vector<uint8_t> bytes(static_cast<size_t>((height - 1) * row + (width - 1) * pixel + span));
  for (uint8_t& v : bytes) v = static_cast<uint8_t>(next() >> 24);
  const int reach = warp_reach(span, pixel);
  Row r;
  for (int i = 0; i < n; ++i) {
    const int corner = i % 5;
    r.x[i] =
        corner == 0 ? ((width - reach + 1) << kWarpBits) - 1 : below((width - reach) << kWarpBits);
    r.y[i] = corner == 1 ? ((height - 1) << kWarpBits) - 1 : below((height - 2) << kWarpBits);
    if (corner == 2) r.x[i] = r.y[i] = 0;
    if (corner == 3) r.x[i] &= ~(kWarpOne - 1);  // weights of 1 and 0
  }
  float* const lane[3] = {r.lane[0], r.lane[1], r.lane[2]};
  k.sample({bytes.data(), row, pixel, span}, r.x, r.y, n, lane);
  for (int b = 0; b < 3; ++b)
    for (int i = 0; i < kChunk; ++i) {
      if (b >= span || i >= n) {
        CHECK_EQ(r.lane[b][i], 0.0f);
        continue;
      }
      const int u = r.x[i] & (kWarpOne - 1), v = r.y[i] & (kWarpOne - 1);
      const uint8_t* at =
          bytes.data() + (r.y[i] >> kWarpBits) * row + (r.x[i] >> kWarpBits) * pixel + b;
      const int top = (at[0] * (kWarpOne - u) + at[pixel] * u) >> 7;
      const int low = (at[row] * (kWarpOne - u) + at[row + pixel] * u) >> 7;
      CHECK_EQ(r.lane[b][i], static_cast<float>(top * (kWarpOne - v) + low * v) / (1 << 21));
    }
}

// A flat plane stays what it is, to the bit.
void check_flat(const WarpKernels& k, uint8_t value) {
  const std::vector<uint8_t> bytes(64 * 8, value);
  Row r;
  for (int i = 0; i < kChunk; ++i) {
    r.x[i] = below(8 << kWarpBits);
    r.y[i] = below(6 << kWarpBits);
  }
  float* const lane[3] = {r.lane[0], r.lane[1], r.lane[2]};
  k.sample({bytes.data(), 64, 3, 3}, r.x, r.y, kChunk, lane);
  for (const auto& row : r.lane)
    for (const float v : row) CHECK_EQ(v, static_cast<float>(value));
}

LinearMap map_of(bool projective) {
  LinearMap m = {};
  m.projective = projective;
  m.x[0] = real(3), m.x[1] = real(3), m.x[2] = 300 + real(300);
  m.y[0] = real(3), m.y[1] = real(3), m.y[2] = 300 + real(300);
  m.w[0] = projective ? real(1e-3) : 0, m.w[1] = projective ? real(1e-3) : 0, m.w[2] = 1;
  return m;
}

// Within half a step of the real position where that is within bounds, and in bounds everywhere.
void check_positions(const WarpKernels& k, int n) {
  const int32_t most_x = (431 << kWarpBits) - 1, most_y = (267 << kWarpBits) - 1;
  for (int t = 0; t < 100; ++t) {
    const LinearMap m = map_of(t % 2 == 0);
    const double x = below(300) + 0.5, y = below(300) + 0.5;
    Row r;
    k.positions(m, x, y, n, most_x, most_y, r.x, r.y);
    for (int i = 0; i < n; ++i) {
      const double w = m.w[0] * (x + i) + m.w[1] * y + m.w[2];
      const double px = ((m.x[0] * (x + i) + m.x[1] * y + m.x[2]) / w - 0.5) * kWarpOne;
      const double py = ((m.y[0] * (x + i) + m.y[1] * y + m.y[2]) / w - 0.5) * kWarpOne;
      CHECK(r.x[i] >= 0 && r.x[i] <= most_x && r.y[i] >= 0 && r.y[i] <= most_y);
      if (px > 0 && px < most_x) CHECK(std::fabs(r.x[i] - px) <= 0.501);
      if (py > 0 && py < most_y) CHECK(std::fabs(r.y[i] - py) <= 0.501);
    }
  }
  LinearMap nowhere = {};
  nowhere.projective = true;  // 0 / 0
  Row r;
  k.positions(nowhere, 0.5, 0.5, n, most_x, most_y, r.x, r.y);
  for (int i = 0; i < n; ++i) CHECK(r.x[i] == 0 && r.y[i] == 0);
}

// Blending samples at halved positions = blending pixels that each have their sample's value.
void check_halve(const WarpKernels& k) {
  Row r;
  for (int32_t& v : r.x) v = below(40 << kWarpBits);
  for (const int odd : {0, 1}) {
    k.halve(r.x, odd, kChunk, r.y);
    for (int i = 0; i < kChunk; ++i) {
      const int left = ((r.x[i] >> kWarpBits) + odd) >> 1;
      const int right = ((r.x[i] >> kWarpBits) + 1 + odd) >> 1;
      const int between = r.x[i] & (kWarpOne - 1);
      CHECK_EQ(r.y[i] >> kWarpBits, left);
      CHECK_EQ(r.y[i] & (kWarpOne - 1), left == right ? 0 : between);
    }
  }
}

#if defined(FOVEAL_TEST_AVX)
void check_same(const WarpKernels& a, const WarpKernels& b, int n) {
  for (int t = 0; t < 300; ++t) {
    const LinearMap m = map_of(t % 2 == 0);
    const double x = below(300) + 0.5, y = below(300) + 0.5;
    Row ra, rb;
    a.positions(m, x, y, n, 700 << kWarpBits, 500 << kWarpBits, ra.x, ra.y);
    b.positions(m, x, y, n, 700 << kWarpBits, 500 << kWarpBits, rb.x, rb.y);
    CHECK(std::memcmp(&ra, &rb, sizeof ra) == 0);
  }
}
#endif

void check_all(const WarpKernels& k) {
  constexpr int kKinds[][2] = {{1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 7}, {2, 2}, {3, 3}, {3, 4}};
  for (const auto& [span, pixel] : kKinds) {
    CHECK(can_warp(span, pixel));
    for (const int n : {1, 7, 8, 9, 31, 256}) check_sample(k, span, pixel, n);
  }
  for (const int value : {0, 1, 127, 254, 255}) check_flat(k, static_cast<uint8_t>(value));
  for (const int n : {1, 7, 256}) check_positions(k, n);
  check_halve(k);
}

}  // namespace

int main() {
  check_all(baseline::kWarpTable);
#if defined(FOVEAL_TEST_AVX)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    check_all(avx2::kWarpTable);
    for (const int n : {1, 7, 9, 256}) check_same(baseline::kWarpTable, avx2::kWarpTable, n);
  }
#endif
  return CHECK_RESULT();
}
