// The rows of the cv2 profiles give the same bytes on every instruction set.
#include <cstring>
#include <vector>

#include "core/check.h"
#include "imgproc/rows/cv2.h"

namespace foveal::imgproc {
namespace baseline {
extern const Cv2Kernels kCv2Table;
}
namespace avx2 {
extern const Cv2Kernels kCv2Table;
}
}  // namespace foveal::imgproc

using namespace foveal::imgproc;

namespace {

uint32_t state = 1;
uint32_t next() { return state = state * 1664525u + 1013904223u; }
int below(int n) { return static_cast<int>((next() >> 8) % static_cast<uint32_t>(n)); }

template <class T>
bool same(const T& a, const T& b, size_t bytes = sizeof(T)) {
  return std::memcmp(&a, &b, bytes) == 0;
}

struct Chunk {
  uint32_t words[4][kChunk] = {};
  float out[kChunk] = {};
};

void check_words(const Cv2Kernels& a, const Cv2Kernels& b, int n) {
  std::vector<uint8_t> plane(4096);
  for (uint8_t& v : plane) v = static_cast<uint8_t>(next() >> 24);
  int32_t offset[kChunk];
  for (int32_t& v : offset) v = below(4096 - 3);  // the last ones have three bytes
  Chunk ca, cb;
  for (int t = 0; t < 4; ++t) {
    a.fetch(plane.data(), 4096, 3, offset, n, ca.words[t]);
    b.fetch(plane.data(), 4096, 3, offset, n, cb.words[t]);
    for (int i = 0; i < n; ++i) {  // the fourth byte may hold anything
      ca.words[t][i] &= 0xFFFFFF;
      cb.words[t][i] &= 0xFFFFFF;
    }
    for (int32_t& v : offset) v = below(4096 - 3);
  }
  CHECK(same(ca.words, cb.words));
  const uint32_t* const ta[4] = {ca.words[0], ca.words[1], ca.words[2], ca.words[3]};
  const uint32_t* const tb[4] = {cb.words[0], cb.words[1], cb.words[2], cb.words[3]};
  int16_t w0[kChunk], w1[kChunk];
  float u[kChunk], v[kChunk];
  for (int i = 0; i < kChunk; ++i) {
    w1[i] = static_cast<int16_t>(i % 7 ? below(2049) : i % 2 * 2048);
    w0[i] = static_cast<int16_t>(2048 - w1[i]);
    u[i] = static_cast<float>(next() >> 8) * 0x1p-24f;
    v[i] = static_cast<float>(below(33)) / 32;
  }
  for (int shift = 0; shift < 24; shift += 8) {
    for (const int row : {0, 1, 777, 1024, 2047, 2048}) {
      a.resize(ta, w0, w1, 2048 - row, row, shift, n, ca.out);
      b.resize(tb, w0, w1, 2048 - row, row, shift, n, cb.out);
      CHECK(same(ca.out, cb.out));
      for (int i = 0; i < n; ++i) {  // the definition
        const auto p = [&](int t) { return static_cast<int>(ca.words[t][i] >> shift & 255); };
        const int top = (p(0) * w0[i] + p(1) * w1[i]) >> 4,
                  low = (p(2) * w0[i] + p(3) * w1[i]) >> 4;
        const int sum = (((2048 - row) * top) >> 16) + ((row * low) >> 16);
        CHECK_EQ(ca.out[i], static_cast<float>((sum + 2) >> 2));
      }
    }
    for (const bool half_up : {false, true}) {
      a.blend(ta, u, v, half_up, shift, n, ca.out);
      b.blend(tb, u, v, half_up, shift, n, cb.out);
      CHECK(same(ca.out, cb.out));
    }
  }
  a.yuv_to_rgb(ca.words[0], n);
  b.yuv_to_rgb(cb.words[0], n);
  const int bgr[3] = {16, 8, 0};
  a.rgb_to_gray(ca.words[1], bgr, n);
  b.rgb_to_gray(cb.words[1], bgr, n);
  CHECK(same(ca.words, cb.words));
}

void check_positions(const Cv2Kernels& a, const Cv2Kernels& b, int n) {
  const auto real = [](double most) { return (next() * 0x1p-32 * 2 - 1) * most; };
  for (int i = 0; i < 300; ++i) {
    Cv2Map m = {};
    m.projective = i % 3 == 0;
    m.x[0] = real(3), m.x[1] = real(3), m.x[2] = real(900);
    m.y[0] = real(3), m.y[1] = real(3), m.y[2] = real(900);
    m.w[0] = m.projective ? real(1e-3) : 0, m.w[2] = 1;
    m.nearest = i % 2 == 0;
    m.position = i % 5 == 0     ? Cv2Position::kReal
                 : m.projective ? Cv2Position::kProjective32
                                : Cv2Position::kAffine32;
    const bool reflect = i % 7 == 0;
    const int width = 1 + below(700), height = 1 + below(3);
    static AxisTaps xa, ya, xb, yb;
    const int x = below(300), y = below(300);
    a.positions(m, x, y, n, width, height, reflect, &xa, &ya);
    b.positions(m, x, y, n, width, height, reflect, &xb, &yb);
    CHECK(same(xa, xb) && same(ya, yb));
  }
}

}  // namespace

int main() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
  for (const int n : {1, 7, 8, 9, 31, 256}) {
    check_words(baseline::kCv2Table, avx2::kCv2Table, n);
    check_positions(baseline::kCv2Table, avx2::kCv2Table, n);
  }
  return CHECK_RESULT();
}
