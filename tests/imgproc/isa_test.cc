// The rows of the cv2 profiles and of filters of bytes give the same numbers on every instruction
// set: those of their definitions.
#include "imgproc/rows/isa.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "imgproc/lcg.h"
#include "imgproc/rows/cv2.h"
#include "imgproc/rows/filter.h"

namespace foveal::imgproc {
namespace baseline {
extern const Cv2Kernels kCv2Table;
extern const FixedFilterKernels kFixedFilterTable;
}  // namespace baseline
namespace avx2 {
extern const Cv2Kernels kCv2Table;
extern const FixedFilterKernels kFixedFilterTable;
}  // namespace avx2
namespace avx512 {
extern const FixedFilterKernels kFixedFilterTable;
}
}  // namespace foveal::imgproc

using namespace foveal::imgproc;

namespace {

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

int16_t weight(int most) { return static_cast<int16_t>(below(2 * most) - most); }

// What kernels make of rows of bytes that end with their vectors: nothing behind them may be read.
struct FilterRows {
  int stride, n;
  std::vector<uint8_t> plane;

  FilterRows(int rows, int columns) : stride(columns + below(5)), n(columns) {
    plane.resize(static_cast<size_t>(stride * (rows - 1) + n));
    for (uint8_t& v : plane) v = below(3) ? static_cast<uint8_t>(below(256)) : 255;
  }
  ReadAhead ahead(int rows) const { return {plane.data(), plane.data() + n, stride - n, n, rows}; }
  RowTaps<int16_t> taps(int from, const std::vector<int16_t>& w) const {
    return {plane.data() + from * stride, stride, w.data(), static_cast<int>(w.size()) - 1};
  }
  void check(const RowTaps<int16_t>& t, int shift, const std::vector<int16_t>& out) const {
    for (int i = 0; i < n; ++i) {
      int64_t sum = 0;
      for (int r = 0; r < t.count; ++r) sum -= int64_t{t.weights[r]} * t.base[r * t.stride + i];
      const int64_t rounded = (sum + (int64_t{1} << (shift - 1))) >> shift;
      CHECK_EQ(out[static_cast<size_t>(i)], static_cast<int16_t>(rounded));
    }
  }
};

std::vector<int16_t> row_weights(int count) {
  std::vector<int16_t> w(static_cast<size_t>(count + 1));
  for (int i = 0; i < count; ++i) w[static_cast<size_t>(i)] = weight(32767 / count);
  if (count == 1) w[0] = -32768;
  return w;
}

void check_filter_rows(const FixedFilterKernels& k, int count, int n) {
  const FilterRows rows(count, n);
  const std::vector<int16_t> w = row_weights(count);
  const int shift = 8 + below(6);
  std::vector<int16_t> out(static_cast<size_t>(n));
  k.sum_rows(rows.taps(0, w), rows.ahead(count), shift, n, out.data());
  rows.check(rows.taps(0, w), shift, out);
}

void check_two_rows(const FixedFilterKernels& k, int first, int later, int second, int n) {
  const FilterRows rows(std::max(first, later + second), n);
  const std::vector<int16_t> w0 = row_weights(first), w1 = row_weights(second);
  const RowTaps<int16_t> t[2] = {rows.taps(0, w0), rows.taps(later, w1)};
  const int shift = 8 + below(6);
  std::vector<int16_t> a(static_cast<size_t>(n)), b(static_cast<size_t>(n));
  int16_t* const out[2] = {a.data(), b.data()};
  k.sum_two(t, rows.ahead(first), shift, n, out);
  rows.check(t[0], shift, a);
  rows.check(t[1], shift, b);
}

void check_split(const FixedFilterKernels& k, int pixel, int n) {
  const int span = pixel < 3 ? pixel : 3;
  std::vector<int16_t> in(static_cast<size_t>((n - 1) * pixel + span));
  for (int16_t& v : in) v = static_cast<int16_t>(next() >> 16);
  std::vector<int16_t> rows[3];
  int16_t* lane[3] = {};
  for (int b = 0; b < span; ++b) {
    rows[b].assign(static_cast<size_t>(n), 0);
    lane[b] = rows[b].data();
  }
  if (pixel > 3) lane[1] = nullptr;
  k.split(in.data(), pixel, span, n, lane);
  for (int b = 0; b < span; ++b)
    for (int i = 0; i < n && lane[b]; ++i)
      CHECK_EQ(lane[b][i], in[static_cast<size_t>(i * pixel + b)]);
}

void check_filter_line(const FixedFilterKernels& k, int taps, int n) {
  std::vector<int16_t> line(static_cast<size_t>(3 * n + taps)), w(static_cast<size_t>(n * taps));
  for (int16_t& v : line) v = below(3) ? static_cast<int16_t>(next() >> 16) : 32767;
  std::vector<int32_t> first(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) first[static_cast<size_t>(i)] = 1000 + below(3 * n + 1);
  // Two of a row of weights are great, so that sums use all of their bits; one may be -1.
  for (int i = 0; i < n; ++i)
    for (int t = 0; t < taps; ++t)
      w[static_cast<size_t>(i * taps + t)] = t % 5 == 2 && t < 8 ? weight(16000) : weight(60);
  if (n > 2) {
    std::fill_n(&w[static_cast<size_t>(taps)], taps, int16_t{0});
    w[static_cast<size_t>(taps + 3)] = -32768;
  }
  std::vector<float> out(static_cast<size_t>(n));
  k.sum_line(line.data(), {first.data(), 1000, w.data(), taps}, 0x1p-23f, n, out.data());
  for (int i = 0; i < n; ++i) {
    int64_t sum = 0;
    for (int t = 0; t < taps; ++t)
      sum -= int64_t{w[static_cast<size_t>(i * taps + t)]} *
             line[static_cast<size_t>(first[static_cast<size_t>(i)] - 1000 + t)];
    CHECK_EQ(out[static_cast<size_t>(i)], static_cast<float>(sum) * 0x1p-23f);
  }
}

void check_filter(const FixedFilterKernels& k) {
  for (const int n : {1, 7, 31, 32, 33, 63, 64, 65, 127, 128, 130, 300})
    for (const int count : {1, 2, 3, 4, 12, 13, 40}) check_filter_rows(k, count, n);
  for (const int n : {1, 63, 64, 65, 200})
    for (const int first : {1, 2, 13, 64, 70})
      for (const int second : {1, 4, 12, 64})
        for (const int later : {0, 1, 6, 7, 13, 80}) check_two_rows(k, first, later, second, n);
  for (const int pixel : {2, 3, 4, 5, 64})
    for (const int n : {1, 7, 8, 9, 40, 101}) check_split(k, pixel, n);
  for (const int taps : {8, 16, 32, 48})
    for (const int n : {1, 2, 7, 8, 9, 15, 16, 17, 33, 256}) check_filter_line(k, taps, n);
}

}  // namespace

int main() {
  check_filter(baseline::kFixedFilterTable);
  const Cv2Kernels* other = &baseline::kCv2Table;
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx2) {
    other = &avx2::kCv2Table;
    check_filter(avx2::kFixedFilterTable);
  }
  if (isa() >= Isa::kAvx512) check_filter(avx512::kFixedFilterTable);
#endif
  for (const int n : {1, 7, 8, 9, 31, 256}) {
    check_words(baseline::kCv2Table, *other, n);
    check_positions(baseline::kCv2Table, *other, n);
  }
  return CHECK_RESULT();
}
