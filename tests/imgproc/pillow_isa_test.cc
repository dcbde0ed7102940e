// The rows of the pillow profiles equal their definition on every instruction set that this machine
// has, and read nothing beyond what they may: lines end at a page that nobody may touch.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "imgproc/lcg.h"
#include "imgproc/rows/pillow.h"

namespace foveal::imgproc {
namespace baseline {
extern const PillowKernels kPillowTable;
}
#if defined(FOVEAL_TEST_AVX)
namespace avx2 {
extern const PillowKernels kPillowTable;
}
namespace avx512 {
extern const PillowKernels kPillowTable;
}
#endif
}  // namespace foveal::imgproc

using namespace foveal::imgproc;

namespace {

// `bytes` of noise that end at a forbidden page.
class Fenced {
 public:
  explicit Fenced(size_t bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    whole_ = (bytes + page - 1) / page * page + page;
    base_ = static_cast<uint8_t*>(
        mmap(nullptr, whole_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (!CHECK(base_ != MAP_FAILED)) std::abort();
    mprotect(base_ + whole_ - page, page, PROT_NONE);
    data = base_ + whole_ - page - bytes;
    for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(next() >> 24);
  }
  ~Fenced() { munmap(base_, whole_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  uint8_t* data;

 private:
  uint8_t* base_;
  size_t whole_;
};

int level(int64_t sum) { return static_cast<int>(std::clamp<int64_t>(sum >> kPillowBits, 0, 255)); }

// Weights that add up to one, some of them negative, some zero.
std::vector<int32_t> weights(int count) {
  std::vector<int32_t> w(static_cast<size_t>(count));
  int32_t left = 1 << kPillowBits;
  for (int32_t& v : w) {
    v = below(5) ? below(1 << 21) - (1 << 18) : 0;
    v /= count;
    left -= v;
  }
  w[static_cast<size_t>(below(count))] += left;
  return w;
}

void check_along(const PillowKernels& k, int n, int most, PillowPixels px, int lines, bool falls) {
  const int width = most + n + 3, spare = below(9), padding = below(7);
  const int row = width * px.size + padding;
  // The last pixel of the last line ends with its components.
  const auto bytes = static_cast<size_t>((lines - 1) * row + (width - 1) * px.size + px.span);
  const Fenced memory(bytes);
  std::vector<int32_t> first, count;
  std::vector<std::vector<int32_t>> w;
  const int blocks = (most + k.taps - 1) / k.taps;
  const size_t packed = static_cast<size_t>(blocks * k.block_bytes);
  auto* table = static_cast<uint8_t*>(
      std::aligned_alloc(64, (packed * static_cast<size_t>(n) + 63) / 64 * 64));
  for (int i = 0; i < n; ++i) {
    count.push_back(i % 3 ? most : 1 + below(most));
    const int at = std::min(i * (width - most + 1) / std::max(n - 1, 1), width - count.back());
    first.push_back((falls ? 0 : at) + spare);
    w.push_back(weights(count.back()));
  }
  for (int i = 0; i < n && falls; ++i) {
    const int at = (n - 1 - i) * (width - most) / std::max(n - 1, 1);
    first[static_cast<size_t>(i)] = at + spare;
  }
  for (int i = 0; i < n; ++i)
    k.pack(w[static_cast<size_t>(i)].data(), count[static_cast<size_t>(i)], blocks,
           table + static_cast<size_t>(i) * packed);
  std::vector<uint32_t> words(static_cast<size_t>(n * lines) + 1, 0xABCDEFAB);
  k.along({memory.data, row, lines, static_cast<int64_t>(bytes), px},
          {first.data(), count.data(), spare, table, blocks}, n, words.data());
  CHECK_EQ(words.back(), 0xABCDEFABu);
  int wrong = 0;
  for (int l = 0; l < lines; ++l)
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < px.span; ++c) {
        const auto entry = static_cast<size_t>(i);
        int64_t sum = kPillowHalf;
        for (int t = 0; t < count[entry]; ++t)
          sum += int64_t{w[entry][static_cast<size_t>(t)]} *
                 memory.data[l * row + (first[entry] - spare + t) * px.size + c];
        const uint32_t got = words[static_cast<size_t>(l * n + i)] >> (8 * c) & 0xFF;
        wrong += got != static_cast<uint32_t>(level(sum));
      }
  CHECK_EQ(wrong, 0);
  std::free(table);
}

void check_rows(const PillowKernels& k, int n, int count) {
  const int stride = n + below(5);
  const auto bytes = static_cast<size_t>((count - 1) * stride + n);
  const Fenced memory(bytes);
  const std::vector<int32_t> w = weights(count);
  std::vector<int32_t> sums(static_cast<size_t>(n) + 1, 77), before = sums;
  for (const bool more : {false, true}) {
    before = sums;
    k.add_rows(memory.data, stride, w.data(), count, n, more, sums.data());
    CHECK_EQ(sums.back(), 77);
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      uint32_t sum = static_cast<uint32_t>(more ? before[at] : kPillowHalf);
      for (int t = 0; t < count; ++t)
        sum += static_cast<uint32_t>(w[static_cast<size_t>(t)]) * memory.data[t * stride + i];
      wrong += sums[at] != static_cast<int32_t>(sum);
    }
    CHECK_EQ(wrong, 0);
    std::vector<uint8_t> out(static_cast<size_t>(n) + 1, 99);
    k.round(sums.data(), n, out.data());
    for (int i = 0; i < n; ++i)
      CHECK_EQ(int{out[static_cast<size_t>(i)]}, level(sums[static_cast<size_t>(i)]));
    CHECK_EQ(int{out.back()}, 99);
  }
}

void check_luma(const PillowKernels& k) {
  float r[kChunk], g[kChunk], b[kChunk];
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j < kChunk; ++j) {
      r[j] = static_cast<float>(j);
      g[j] = static_cast<float>(below(256));
      b[j] = static_cast<float>(below(256));
    }
    float out[kChunk];
    k.luma(r, g, b, kChunk, out);
    for (int j = 0; j < kChunk; ++j) {
      const int want = (static_cast<int>(r[j]) * 19595 + static_cast<int>(g[j]) * 38470 +
                        static_cast<int>(b[j]) * 7471 + 32768) >>
                       16;
      CHECK_EQ(out[j], static_cast<float>(want));
    }
  }
}

void check(const PillowKernels& k) {
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 33, 128, 256})
    for (const int most : {1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 100})
      for (const PillowPixels px : {PillowPixels{1, 1}, {2, 1}, {3, 1}, {4, 1}, {3, 3}, {4, 3}})
        for (const int lines : {1, 2, 3}) check_along(k, n, most, px, lines, below(2) == 0);
  for (const int n : {1, 3, 31, 32, 33, 63, 64, 65, 100, 512})
    for (const int count : {1, 2, 3, 4, 5, 13, 63, 64, 65, 200}) check_rows(k, n, count);
  check_luma(k);
}

}  // namespace

int main() {
  check(baseline::kPillowTable);
#if defined(FOVEAL_TEST_AVX)
  if (__builtin_cpu_supports("avx2")) check(avx2::kPillowTable);
  if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni") &&
      __builtin_cpu_supports("avx512bw"))
    check(avx512::kPillowTable);
#endif
  return CHECK_RESULT();
}
