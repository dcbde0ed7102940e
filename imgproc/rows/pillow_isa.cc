// Compiled once per instruction set.
#include "imgproc/rows/pillow.h"
#include "imgproc/rows/round.h"

#define FV_R __restrict

#if defined(__AVX512VNNI__)
#include "imgproc/rows/pillow_avx512.h"
#elif defined(__AVX2__)
#include "imgproc/rows/pillow_avx2.h"
#elif defined(__aarch64__) || defined(__wasm_simd128__)
#include "imgproc/rows/pillow_simd128.h"
#else

#include <cstring>

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

constexpr int kTaps = 1;
constexpr int kBlockBytes = 4;

void pack(const int32_t* w, int count, int blocks, uint8_t* out) {
  std::memset(out, 0, static_cast<size_t>(blocks) * kBlockBytes);
  std::memcpy(out, w, static_cast<size_t>(count) * kBlockBytes);
}

inline uint32_t byte_of_sum(int32_t sum) {
  sum >>= kPillowBits;
  return static_cast<uint32_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

// Reads the taps that count, and nothing else.
template <int kSpan>
void along_of(const uint8_t* line, int size, const PillowTaps& t, int n, uint32_t* words) {
  for (int i = 0; i < n; ++i) {
    const uint8_t* p = line + int64_t{t.first[i] - t.origin} * size;
    int32_t sum[3] = {kPillowHalf, kPillowHalf, kPillowHalf};
    for (int k = 0; k < t.count[i]; ++k, p += size) {
      int32_t w;
      std::memcpy(&w, t.packed + (int64_t{i} * t.blocks + k) * kBlockBytes, sizeof w);
      for (int c = 0; c < kSpan; ++c) sum[c] += w * p[c];
    }
    words[i] = byte_of_sum(sum[0]);
    if (kSpan == 3) words[i] |= byte_of_sum(sum[1]) << 8 | byte_of_sum(sum[2]) << 16;
  }
}

void along(const PillowLines& lines, const PillowTaps& t, int n, uint32_t* words) {
  const auto one = lines.pixels.span == 1 ? along_of<1> : along_of<3>;
  for (int l = 0; l < lines.count; ++l)
    one(lines.first + l * lines.stride, lines.pixels.size, t, n, words + int64_t{l} * n);
}

int add_vectors(const uint8_t*, int64_t, const int32_t*, int, int, bool, int32_t*) { return 0; }

}  // namespace
}  // namespace foveal::imgproc::FOVEAL_ISA
#endif

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

void add_rows(const uint8_t* base, int64_t stride, const int32_t* w, int count, int n, bool more,
              int32_t* FV_R sums) {
  const int done = add_vectors(base, stride, w, count, n, more, sums);
  for (int i = done; i < n && !more; ++i) sums[i] = kPillowHalf;
  for (int k = 0; k < count && done < n; ++k) {
    const uint8_t* FV_R row = base + k * stride;
    const int32_t by = w[k];
    for (int i = done; i < n; ++i) sums[i] += by * row[i];
  }
}

void round(const int32_t* FV_R sums, int n, uint8_t* FV_R out) {
  for (int i = 0; i < n; ++i) {
    int32_t v = sums[i] >> kPillowBits;
    v = v < 0 ? 0 : v;
    out[i] = static_cast<uint8_t>(v > 255 ? 255 : v);
  }
}

void luma(const float* r, const float* g, const float* b, int n, float* out) {
  for (int i = 0; i < n; ++i) {
    const int32_t sum = byte_of(r[i]) * 19595 + byte_of(g[i]) * 38470 + byte_of(b[i]) * 7471;
    out[i] = static_cast<float>((sum + (1 << 15)) >> 16);
  }
}

}  // namespace

extern const PillowKernels kPillowTable;
const PillowKernels kPillowTable = {kTaps, kBlockBytes, pack, along, add_rows, round, luma};

}  // namespace foveal::imgproc::FOVEAL_ISA
