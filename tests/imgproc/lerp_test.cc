// Rows of bilinear sampling in whole numbers: their definition, and the same results, colour and
// normalisation included, on every instruction set.
#include "imgproc/rows/lerp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "imgproc/lcg.h"
#include "imgproc/rows/isa.h"

namespace foveal::imgproc {
namespace baseline {
extern const LerpKernels kLerpTable;
extern const ColorKernels kColorTable;
}  // namespace baseline
namespace avx2 {
extern const LerpKernels kLerpTable;
extern const ColorKernels kColorTable;
}  // namespace avx2
namespace avx512 {
extern const LerpWindows kLerpWindows;
extern const ColorKernels kColorTable;
}  // namespace avx512
}  // namespace foveal::imgproc

using namespace foveal::imgproc;

namespace {

// Noise, or with `extreme` only 0 and 255. Exactly n bytes: sanitizers see what is read beyond.
std::vector<uint8_t> bytes(int n, bool extreme) {
  std::vector<uint8_t> v(static_cast<size_t>(n));
  for (uint8_t& b : v) b = static_cast<uint8_t>(extreme ? 255 * below(2) : below(256));
  return v;
}

void check_blend(const LerpKernels& k, int n) {
  for (const bool extreme : {false, true}) {
    const std::vector<uint8_t> a = bytes(n, extreme), b = bytes(n, extreme);
    for (const int weight : {0, 1, 127, 128, 129, 10923, 16384, 32766, kBlendOne - 1}) {
      std::vector<int16_t> got(static_cast<size_t>(n + kBlendSlack), 77);
      const uint8_t* ahead = weight % 2 ? a.data() : nullptr;
      k.blend(a.data(), b.data(), weight, n, ahead, ahead, got.data());
      for (int i = 0; i < n; ++i) {
        const size_t at = static_cast<size_t>(i);
        CHECK_EQ(got[at], 128 * a[at] + (((b[at] - a[at]) * weight + 128) >> 8));
      }
      for (int i = n; i < n + kBlendSlack; ++i) CHECK_EQ(got[static_cast<size_t>(i)], 0);
    }
  }
}

// Taps of a chunk of `pixels` pixels that are `pixel` elements apart: any order, the last pixel
// and pairs of one and the same included.
struct Chunk {
  std::vector<int32_t> o0, o1, w;
  Chunk(int n, int pixels, int pixel, int first) {
    for (int i = 0; i < n; ++i) {
      const int at = i % 5 == 0 ? pixels - 1 : below(pixels);
      const bool together = at == pixels - 1 || i % 7 == 0;
      const int second = together ? 0 : below(5) ? below(kTapOne + 1) : kTapOne * (i % 2);
      const int sum = i % 11 == 0 ? below(kTapOne) + 1 : kTapOne;  // beside a border: less than 1
      o0.push_back(first + at * pixel);
      o1.push_back(first + (at + !together) * pixel);
      w.push_back(pack_weights(std::max(sum - second, 0), second));
    }
  }
  LerpTaps taps() const { return {o0.data(), o1.data(), w.data()}; }
};

void check_taps(const LerpKernels& k, int n) {
  const float gain = kLerpUnit * 0.625f;
  for (int pixel = 1; pixel <= 5; ++pixel) {
    for (int span = 1; span <= std::min(pixel, 3); ++span) {
      const int pixels = 1 + below(300), elements = (pixels - 1) * pixel + span;
      const int first = below(1000);
      std::vector<int16_t> row(static_cast<size_t>(elements + kBlendSlack), 0);
      for (int i = 0; i < elements; ++i)
        row[static_cast<size_t>(i)] = static_cast<int16_t>(below(4) ? below(32641) : 32640);
      const Chunk c(n, pixels, pixel, first);
      std::vector<float> out[3];
      for (auto& v : out) v.assign(static_cast<size_t>(n), -1);
      float* const lane[3] = {out[0].data(), out[1].data(), out[2].data()};
      const auto check = [&] {
        for (int b = 0; b < span; ++b) {
          for (int i = 0; i < n; ++i) {
            const size_t at = static_cast<size_t>(i);
            const int w0 = c.w[at] & 0xFFFF, w1 = c.w[at] >> 16;
            const int sum = row[static_cast<size_t>(c.o0[at] - first + b)] * w0 +
                            row[static_cast<size_t>(c.o1[at] - first + b)] * w1;
            CHECK_EQ(out[b][at], static_cast<float>(sum) * gain);
            CHECK(!std::signbit(out[b][at]));
          }
        }
        for (auto& v : out) v.assign(static_cast<size_t>(n), -1);
      };
      k.taps(row.data(), first, span, c.taps(), gain, n, lane);
      check();
      if (pixel == 1) {
        k.taps1(row.data(), first, c.taps(), gain, n, lane);
        check();
      }
      if (pixel == 2 && span == 2) {
        k.taps2(row.data(), first, c.taps(), gain, n, lane);
        check();
      }
    }
  }
}

void check_pick(const LerpKernels& k, int n) {
  for (int span = 1; span <= 3; ++span) {
    const int room = span == 3 ? 4 : span, pixels = 1 + below(90), pixel = span + below(3);
    const std::vector<uint8_t> row = bytes((pixels - 1) * pixel + span, false);
    std::vector<int32_t> o0, o1;
    for (int i = 0; i < n; ++i) {
      o0.push_back(below(pixels) * pixel);
      o1.push_back((i % 3 ? below(pixels) : pixels - 1) * pixel);
    }
    std::vector<uint8_t> out(static_cast<size_t>(2 * room * n));
    const int64_t readable = static_cast<int64_t>(row.size());
    k.pick(row.data(), readable, span, {o0.data(), o1.data(), nullptr}, n, out.data());
    for (int i = 0; i < n; ++i) {
      for (int b = 0; b < span; ++b) {
        const size_t at = static_cast<size_t>(i), to = static_cast<size_t>(2 * room * i + b);
        CHECK_EQ(out[to], row[static_cast<size_t>(o0[at] + b)]);
        CHECK_EQ(out[to + static_cast<size_t>(room)], row[static_cast<size_t>(o1[at] + b)]);
      }
    }
  }
}

// Both rows end with their last pixel; where there is no second one, taps fall together.
void check_windows(LerpWindows windows, int n, bool flip) {
  for (int pixel = 1; pixel <= 5; ++pixel) {
    for (int span = 1; span <= std::min(pixel, 3); ++span) {
      // The farthest apart that sixteen pixels may lie, and closer together.
      const int most = (kLerpWindow - span - pixel) / (kLerpTogether - 1);
      for (const int step : {most, most / 2, 1, 0}) {
        std::vector<int32_t> o0, o1, w;
        for (int i = 0; i < n; ++i) {
          const int at = i * step / pixel * pixel;
          const bool together = i % 5 == 0;
          const int second = together ? 0 : below(kTapOne + 1);
          o0.push_back(at);
          o1.push_back(together ? at : at + pixel);
          w.push_back(pack_weights((i % 11 ? kTapOne : below(kTapOne) + 1) - second, second));
          if (i % 11 == 0 && second) w.back() = pack_weights(0, second);  // beside a border
        }
        const int bytes_of_row = *std::max_element(o1.begin(), o1.end()) + span;
        if (flip) {
          for (auto* v : {&o0, &o1, &w}) std::reverse(v->begin(), v->end());
        }
        const std::vector<uint8_t> a = bytes(bytes_of_row, below(3) == 0);
        const std::vector<uint8_t> b = bytes(bytes_of_row, below(3) == 0);
        for (const int weight : {0, 1, 10923, 16384, kBlendOne - 1}) {
          const float gain = kLerpUnit * (weight ? 1 : 0.625f);
          const bool one = below(4) == 0;
          const LerpRows rows{a.data(), one ? a.data() : b.data(),     bytes_of_row, bytes_of_row,
                              weight,   below(2) ? a.data() : nullptr, b.data()};
          std::vector<float> out[3];
          for (auto& v : out) v.assign(static_cast<size_t>(n + 1), -1);
          const bool skips = span == 3 && below(2);  // the middle one
          float* const lane[3] = {out[0].data(), skips ? nullptr : out[1].data(), out[2].data()};
          windows(rows, span, {o0.data(), o1.data(), w.data()}, gain, n, lane);
          for (int c = 0; c < 3; ++c) {
            for (int i = 0; i < n; ++i) {
              const size_t at = static_cast<size_t>(i);
              const auto row = [&](int offset) {
                const int above = a[static_cast<size_t>(offset + c)];
                const int under = (one ? a : b)[static_cast<size_t>(offset + c)];
                return 128 * above + (((under - above) * weight + 128) >> 8);
              };
              if (c >= span || (skips && c == 1)) {
                CHECK_EQ(out[c][at], -1.0f);
                continue;
              }
              const int sum = row(o0[at]) * (w[at] & 0xFFFF) + row(o1[at]) * (w[at] >> 16);
              CHECK_EQ(out[c][at], static_cast<float>(sum) * gain);
            }
            CHECK_EQ(out[c][static_cast<size_t>(n)], -1.0f);
          }
        }
      }
    }
  }
}

void check_turn(const LerpKernels& k, int columns, int n) {
  std::vector<float> in(static_cast<size_t>(columns * 64)), out(static_cast<size_t>(n * columns));
  for (float& v : in) v = static_cast<float>(below(1000));
  k.turn(in.data(), 64, columns, n, out.data(), columns);
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < columns; ++c)
      CHECK_EQ(out[static_cast<size_t>(i * columns + c)], in[static_cast<size_t>(c * 64 + i)]);
}

struct Colours {
  std::vector<float> out[6];
};

Colours colours(const ColorKernels& k, int n) {
  state = 99;
  const size_t size = static_cast<size_t>(n);
  std::vector<float> in[3], inside(size);
  for (auto& v : in) {
    v.resize(size);
    for (float& x : v) x = static_cast<float>(next() >> 5) * (256 * 0x1p-27f);
  }
  for (float& x : inside) x = static_cast<float>(below(1001)) / 1000;
  const float m[4] = {1.16438356f, -0.391762f, -0.812968f, 135.5753f};
  const float *a = in[0].data(), *b = in[1].data(), *c = in[2].data();
  Colours r;
  for (auto& v : r.out) v.resize(size);
  k.mix3(a, b, c, nullptr, m, 3.7f, n, r.out[0].data());
  k.mix3(a, b, c, inside.data(), m, 3.7f, n, r.out[1].data());
  k.mix1(a, inside.data(), m, 3.7f, n, r.out[2].data());
  k.finish(r.out[0].data(), true, 0.0171f, -2.1179f, n, r.out[3].data());
  k.finish(r.out[0].data(), false, 0.0171f, -2.1179f, n, r.out[4].data());
  k.mix3_finish(a, b, c, m, false, 0.0171f, -2.1179f, n, r.out[5].data());
  for (size_t i = 0; i < size; ++i) {
    const float sum = m[2] * c[i] + m[3], two = m[1] * b[i] + sum;
    CHECK_EQ(r.out[0][i], m[0] * a[i] + two);
    CHECK_EQ(r.out[5][i], r.out[4][i]);
  }
  k.mix3_finish(a, b, c, m, true, 0.0171f, -2.1179f, n, r.out[5].data());
  for (size_t i = 0; i < size; ++i) CHECK_EQ(r.out[5][i], r.out[3][i]);
  return r;
}

constexpr int kCounts[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 256};

void check_colours(const ColorKernels& color) {
  for (const int n : kCounts) {
    const Colours want = colours(baseline::kColorTable, n), got = colours(color, n);
    for (int i = 0; i < 6; ++i)
      CHECK(std::memcmp(want.out[i].data(), got.out[i].data(), want.out[i].size() * 4) == 0);
  }
}

void check_all(const LerpKernels& k, const ColorKernels& color) {
  for (const int n : kCounts) {
    check_blend(k, n);
    check_taps(k, n);
    check_pick(k, n);
    if (n <= 64)
      for (int columns = 1; columns <= 8; ++columns) check_turn(k, columns, n);
  }
  check_blend(k, 8000);
  check_colours(color);
}

}  // namespace

int main() {
  check_all(baseline::kLerpTable, baseline::kColorTable);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    check_all(avx2::kLerpTable, avx2::kColorTable);
  if (isa() >= Isa::kAvx512) {
    for (const int n : kCounts)
      for (const bool flip : {false, true}) check_windows(avx512::kLerpWindows, n, flip);
    check_colours(avx512::kColorTable);
  }
  return CHECK_RESULT();
}
