// Rows of bytes to rows of packed bytes: what one instruction set writes, all write, whatever this
// machine would choose; and nothing behind the row.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "core/check.h"
#include "imgproc/rows/kernels.h"

namespace foveal::imgproc {
namespace baseline {
extern const Conversions kConversions;
}
#if defined(FOVEAL_TEST_AVX)
namespace avx2 {
extern const Conversions kConversions;
}
namespace avx512 {
extern const Conversions kConversions;
}
#endif
}  // namespace foveal::imgproc

using namespace foveal::imgproc;

namespace {

struct Isa {
  const char* name;
  const Conversions* table;
};

std::vector<Isa> isas() {
  std::vector<Isa> all;
#if defined(FOVEAL_TEST_AVX)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back({"avx2", &avx2::kConversions});
  if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    all.push_back({"avx512", &avx512::kConversions});
#endif
  return all;
}

// BT.601 limited, for RGB and for BGR; and a matrix that uses everything.
constexpr float kMaps[3][3][4] = {
    {{1.1643835f, 0, 1.5960268f, -222.92157f},
     {1.1643835f, -0.3917623f, -0.8129676f, 135.57529f},
     {1.1643835f, 2.0172321f, 0, -276.83585f}},
    {{1.1643835f, 2.0172321f, 0, -276.83585f},
     {1.1643835f, -0.3917623f, -0.8129676f, 135.57529f},
     {1.1643835f, 0, 1.5960268f, -222.92157f}},
    {{1, 0.5f, 1.5f, -200}, {1, -0.25f, -0.75f, 99}, {1, 2.125f, 0.125f, -250}}};
constexpr FixedColor kFixed[3] = {
    {19077, {0, -3209, 16525}, {13075, -6660, 0}, {-1160, -1160, -1160}},
    {19077, {16525, -3209, 0}, {0, -6660, 13075}, {-1160, -1160, -1160}},
    {16384, {4096, -2048, 17546}, {12288, -6144, 1024}, {32, 32, 32}}};
constexpr size_t kEnd = 64;  // bytes behind a row that stay

// What `convert` of every table writes is the same, and nothing changes behind it.
template <class Convert>
void check_tables(const char* what, int n, int channels, const Convert& convert) {
  const auto size = static_cast<size_t>(n * channels);
  std::vector<uint8_t> want(size + kEnd, 0xA5), got(size + kEnd);
  convert(baseline::kConversions, want.data());
  CHECK(std::all_of(want.end() - kEnd, want.end(), [](uint8_t b) { return b == 0xA5; }));
  for (const Isa& isa : isas()) {
    std::fill(got.begin(), got.end(), uint8_t{0xA5});
    convert(*isa.table, got.data());
    if (!CHECK(got == want)) std::fprintf(stderr, "%s, %s, %d\n", what, isa.name, n);
  }
}

// Two rows at once are what each of them is by itself, on every table.
template <class Row, class Convert>
void check_below(const Row& row, decltype(Row::y) below, int n, const Convert& convert) {
  const auto size = static_cast<size_t>(3 * n);
  std::vector<Isa> all = isas();
  all.push_back({"baseline", &baseline::kConversions});
  for (const Isa& isa : all) {
    std::vector<uint8_t> want[2], got[2];
    for (int i = 0; i < 2; ++i) {
      want[i].assign(size + kEnd, 0xA5);
      got[i].assign(size + kEnd, 0xA5);
    }
    Row one = row;
    convert(*isa.table, one, want[0].data(), nullptr);
    one.y = below;
    convert(*isa.table, one, want[1].data(), nullptr);
    Row two = row;
    two.y_below = below;
    convert(*isa.table, two, got[0].data(), got[1].data());
    for (int i = 0; i < 2; ++i)
      if (!CHECK(got[i] == want[i])) std::fprintf(stderr, "two rows, %s, %d\n", isa.name, n);
  }
}

// Luma apart, chroma of every pixel, 16 bits: as the plain planes that hold the same.
template <class Noise>
void check_rows_apart(int n, const Noise& noise) {
  const auto size = static_cast<size_t>(n);
  const std::vector<uint8_t> bytes = noise(4 * size + 8);
  for (int odd = 0; odd < 2; ++odd) {
    const uint8_t* at = bytes.data() + 2 * odd;  // a row of YUYV, from its second pixel on if odd
    const YuvRow pairs{at, bytes.data() + 1, bytes.data() + 3, 4, odd, 2};
    std::vector<uint8_t> y, u, v;
    for (int i = 0; i <= n; ++i) {
      y.push_back(at[2 * i]);
      u.push_back(bytes[static_cast<size_t>(4 * (i / 2) + 1)]);
      v.push_back(bytes[static_cast<size_t>(4 * (i / 2) + 3)]);
    }
    std::vector<uint8_t> u2, v2;
    for (size_t i = 0; i < u.size(); i += 2) u2.push_back(u[i]), v2.push_back(v[i]);
    u2.push_back(bytes[4 * ((size + 1) / 2) + 1]), v2.push_back(bytes[4 * ((size + 1) / 2) + 3]);
    const YuvRow planes{y.data(), u2.data(), v2.data(), 1, odd};
    for (int map = 0; map < 3; ++map) {
      check_tables("pairs", n, 3, [&](const Conversions& c, uint8_t* out) {
        c.yuv(pairs, kMaps[map], n, out, nullptr);
      });
      std::vector<Isa> all = isas();
      all.push_back({"baseline", &baseline::kConversions});
      for (const Isa& isa : all) {
        std::vector<uint8_t> want(3 * size + 1), got(3 * size + 1);
        isa.table->yuv(planes, kMaps[map], n, want.data(), nullptr);
        isa.table->yuv(pairs, kMaps[map], n, got.data(), nullptr);
        CHECK(got == want);
        isa.table->fast_yuv(planes, kFixed[map], n, want.data());
        isa.table->fast_yuv(pairs, kFixed[map], n, got.data());
        CHECK(got == want);
      }
    }
  }
  const YuvRow full{bytes.data(), bytes.data() + size, bytes.data() + 2 * size, 1, 0, 1, 0};
  const std::vector<uint8_t> more = noise(8 * size + 16);
  std::vector<uint16_t> words(4 * size + 8);
  std::memcpy(words.data(), more.data(), more.size());
  float small[3][3][4];
  for (int map = 0; map < 3; ++map) {
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 4; ++i) small[map][j][i] = kMaps[map][j][i] / (i < 3 ? 256 : 1);
    check_tables("full", n, 3, [&](const Conversions& c, uint8_t* out) {
      c.yuv(full, kMaps[map], n, out, nullptr);
    });
    for (int odd = 0; odd < 2; ++odd) {
      const uint16_t* chroma = words.data() + size;
      for (const DeepYuvRow& row : {DeepYuvRow{words.data(), chroma, chroma + 1, 2, odd},
                                    DeepYuvRow{words.data(), chroma, chroma + size, 1, odd},
                                    DeepYuvRow{words.data(), chroma + 1, chroma, 2, odd}}) {
        check_tables("deep", n, 3, [&](const Conversions& c, uint8_t* out) {
          c.deep_yuv(row, small[map], n, out, nullptr);
        });
        check_below(row, words.data() + 2 * size, n,
                    [&](const Conversions& c, const DeepYuvRow& r, uint8_t* out, uint8_t* below) {
                      c.deep_yuv(r, small[map], n, out, below);
                    });
      }
    }
  }
}

template <class Noise>
void check_gray(int n, const Noise& noise) {
  constexpr float kLuma[4] = {0.299f, 0.587f, 0.114f, 0};
  constexpr float kYuv[3][4] = {{0.299f, 0.587f, 0.114f, 0},
                                {-0.168736f, -0.331264f, 0.5f, 128},
                                {0.5f, -0.418688f, -0.081312f, 128}};
  for (const int pixel : {1, 2, 3, 4, 9}) {
    const std::vector<uint8_t> bytes = noise(static_cast<size_t>(n * pixel));
    check_tables("level", n, 1, [&](const Conversions& c, uint8_t* out) {
      c.level(bytes.data(), pixel, 1.1643835f, -18.630136f, n, out);
    });
    for (const auto& offset : {std::array{0, 1, 2}, {2, 1, 0}})
      if (pixel >= 3)
        check_tables("luma", n, 1, [&](const Conversions& c, uint8_t* out) {
          c.luma(bytes.data(), pixel, offset.data(), kLuma, n, out);
        });
    for (const auto& offset : {std::array{0, 1, 2}, {2, 1, 0}})
      for (int more = 0; pixel >= 3 && more < 2; ++more)
        check_tables("planes", n, 3, [&](const Conversions& c, uint8_t* out) {
          std::vector<float> u(static_cast<size_t>(n) + 1, 40.0f), v = u;
          c.planes(bytes.data(), 0, pixel, offset.data(), kYuv, more, n, out, u.data(), v.data());
          CHECK(u.back() == 40 && v.back() == 40);  // nothing behind
          for (int i = 0; i < n; ++i) {
            const float at[2] = {u[static_cast<size_t>(i)], v[static_cast<size_t>(i)]};
            for (int k = 0; k < 2; ++k) {
              const float low = more ? 40 : 0;
              CHECK(at[k] >= low && at[k] <= low + 255);
              out[n + 2 * i + k] = static_cast<uint8_t>((at[k] - low) / 2);
            }
          }
        });
  }
}

}  // namespace

int main() {
  std::mt19937 random(7);
  const auto noise = [&](size_t n) {
    std::vector<uint8_t> v(n);
    for (uint8_t& b : v) {
      const unsigned r = random();
      b = r & 0x300 ? static_cast<uint8_t>(r) : (r & 1 ? 255 : 0);  // extremes are frequent
    }
    return v;
  };
  for (int n = 0; n <= 200; ++n) {
    const auto size = static_cast<size_t>(n);
    const std::vector<uint8_t> y = noise(size + 1), below = noise(size), u = noise(3 * size + 9),
                               v = noise(3 * size + 9);
    std::vector<uint8_t> want(3 * size + kEnd), got(3 * size + kEnd);
    for (int odd = 0; odd < 2; ++odd)
      for (int kind = 0; kind < 5; ++kind) {  // planes, UV, VU, apart by 2, apart by 3
        YuvRow row{y.data(), u.data(), v.data(), kind == 0 ? 1 : kind == 4 ? 3 : 2, odd};
        if (kind == 1) row.v = row.u + 1;
        if (kind == 2) row.u = row.v + 1;
        for (int map = 0; map < 3; ++map) {
          check_tables("fast", n, 3, [&](const Conversions& c, uint8_t* out) {
            c.fast_yuv(row, kFixed[map], n, out);
          });
          check_tables("yuv", n, 3, [&](const Conversions& c, uint8_t* out) {
            c.yuv(row, kMaps[map], n, out, nullptr);
          });
          check_below(row, below.data(), n,
                      [&](const Conversions& c, const YuvRow& r, uint8_t* out, uint8_t* second) {
                        c.yuv(r, kMaps[map], n, out, second);
                      });
        }
      }
    check_rows_apart(n, noise);
    check_gray(n, noise);
    const std::vector<uint8_t> packed = noise(9 * size + 9);
    for (const int pixel : {3, 4, 9})
      for (const auto& offset : {std::array{0, 1, 2}, {2, 1, 0}, {0, 0, 0}}) {
        std::fill(want.begin(), want.end(), uint8_t{0xA5});
        baseline::kConversions.pick(packed.data(), pixel, offset.data(), n, want.data());
        for (const Isa& isa : isas()) {
          std::fill(got.begin(), got.end(), uint8_t{0xA5});
          isa.table->pick(packed.data(), pixel, offset.data(), n, got.data());
          CHECK(got == want);
        }
      }
  }
  return CHECK_RESULT();
}
