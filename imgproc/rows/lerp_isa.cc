// Compiled once per instruction set: see lerp.h.
#include <algorithm>

#include "imgproc/rows/lerp.h"
#include "imgproc/rows/pairs.h"

namespace foveal::imgproc::FOVEAL_ISA {
namespace {

constexpr int kAhead = 64;  // bytes of a cache line

template <class Word>
inline void pick_words(const uint8_t* __restrict row, LerpTaps t, int n, uint8_t* __restrict out) {
  for (int i = 0; i < n; ++i) {
    const Word taps[2] = {load_as<Word>(row + t.o0[i]), load_as<Word>(row + t.o1[i])};
    std::memcpy(out + i * sizeof taps, taps, sizeof taps);
  }
}

void pick(const uint8_t* row, int64_t readable, int span, LerpTaps t, int n, uint8_t* out) {
  if (span == 1) return pick_words<uint8_t>(row, t, n, out);
  if (span == 2) return pick_words<uint16_t>(row, t, n, out);
  int32_t last = 0;
  for (int i = 0; i < n; ++i) last = std::max(last, std::max(t.o0[i], t.o1[i]));
  if (last + 4 <= readable) return pick_words<uint32_t>(row, t, n, out);
  for (int i = 0; i < n; ++i) {
    std::memcpy(out + i * 8, row + t.o0[i], 3);
    std::memcpy(out + i * 8 + 4, row + t.o1[i], 3);
  }
}

inline void blend_run(const uint8_t* a, const uint8_t* b, int16_t weight, int n, int16_t* out) {
  const I16Wide weights = I16Wide{} + weight;
  int i = 0;
  for (; i + kWideLanes <= n; i += kWideLanes) {
    const I16Wide x = widen(a + i), y = widen(b + i);
    const I16Wide v = (x << 7) + rounded_products((y - x) << 7, weights);
    std::memcpy(out + i, &v, sizeof v);
  }
  for (; i < n; ++i)
    out[i] = static_cast<int16_t>(a[i] * 128 + (((b[i] - a[i]) * weight + 128) >> 8));
}

void blend(const uint8_t* a, const uint8_t* b, int weight, int n, const uint8_t* next_a,
           const uint8_t* next_b, int16_t* out) {
  const int16_t w = static_cast<int16_t>(weight);
  int i = 0;
  for (; i + kAhead <= n; i += kAhead) {
    if (next_a) __builtin_prefetch(next_a + i);
    if (next_b) __builtin_prefetch(next_b + i);
    blend_run(a + i, b + i, w, kAhead, out + i);
  }
  if (i < n && next_a) __builtin_prefetch(next_a + i);
  if (i < n && next_b) __builtin_prefetch(next_b + i);
  blend_run(a + i, b + i, w, n - i, out + i);
  std::memset(out + n, 0, kBlendSlack * sizeof *out);
}

inline void store_scaled(I32x4 sums, float gain, float* out) {
  const F32x4 v = __builtin_convertvector(sums, F32x4) * gain;
  std::memcpy(out, &v, sizeof v);
}

// One component of pixel i, for what is left of a chunk.
inline float tap_sum(const int16_t* first_tap, const int16_t* second_tap, int32_t weights,
                     float gain) {
  const int sum = *first_tap * static_cast<int16_t>(weights) + *second_tap * (weights >> 16);
  return static_cast<float>(sum) * gain;
}

void taps1(const int16_t* row, int32_t first, LerpTaps t, float gain, int n, float* const lane[3]) {
  row -= first;
  const auto pair = [&](int i) { return load_as<int32_t>(row + t.o0[i]); };
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const I32x4 pairs = {pair(i), pair(i + 1), pair(i + 2), pair(i + 3)};
    store_scaled(pair_sums((I16x8)pairs, load_as<I16x8>(t.w + i)), gain, lane[0] + i);
  }
  for (; i < n; ++i) {
    const int16_t* at = row + t.o0[i];
    lane[0][i] = tap_sum(at, at + 1, t.w[i], gain);
  }
}

void taps2(const int16_t* row, int32_t first, LerpTaps t, float gain, int n, float* const lane[3]) {
  row -= first;
  // Sums of pixels i and i + 1, both components of each.
  const auto sums = [&](int i, I32x4 w) {
    const I16x8 taps =
        (I16x8)(I64x2){load_as<int64_t>(row + t.o0[i]), load_as<int64_t>(row + t.o0[i + 1])};
    return pair_sums(__builtin_shufflevector(taps, taps, 0, 2, 1, 3, 4, 6, 5, 7), (I16x8)w);
  };
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const I32x4 w = load_as<I32x4>(t.w + i);
    const I32x4 a = sums(i, __builtin_shufflevector(w, w, 0, 0, 1, 1));
    const I32x4 b = sums(i + 2, __builtin_shufflevector(w, w, 2, 2, 3, 3));
    store_scaled(__builtin_shufflevector(a, b, 0, 2, 4, 6), gain, lane[0] + i);
    store_scaled(__builtin_shufflevector(a, b, 1, 3, 5, 7), gain, lane[1] + i);
  }
  for (; i < n; ++i) {
    const int16_t* at = row + t.o0[i];
    for (int b = 0; b < 2; ++b) lane[b][i] = tap_sum(at + b, at + 2 + b, t.w[i], gain);
  }
}

void taps(const int16_t* row, int32_t first, int span, LerpTaps t, float gain, int n,
          float* const lane[3]) {
  row -= first;
  const auto four = [&](int32_t offset) {
    return (I16x8)(I64x2){load_as<int64_t>(row + offset), 0};
  };
  // Sums of four components.
  const auto sums = [&](int i) {
    const I16x8 taps =
        __builtin_shufflevector(four(t.o0[i]), four(t.o1[i]), 0, 8, 1, 9, 2, 10, 3, 11);
    return pair_sums(taps, (I16x8)(I32x4){t.w[i], t.w[i], t.w[i], t.w[i]});
  };
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    const I32x4 p = sums(i), q = sums(i + 1), r = sums(i + 2), s = sums(i + 3);
    const I32x4 pq = __builtin_shufflevector(p, q, 0, 4, 1, 5);
    const I32x4 rs = __builtin_shufflevector(r, s, 0, 4, 1, 5);
    store_scaled(__builtin_shufflevector(pq, rs, 0, 1, 4, 5), gain, lane[0] + i);
    if (span > 1) store_scaled(__builtin_shufflevector(pq, rs, 2, 3, 6, 7), gain, lane[1] + i);
    if (span > 2) {
      const I32x4 hi = __builtin_shufflevector(p, q, 2, 6, 2, 6);
      const I32x4 lo = __builtin_shufflevector(r, s, 2, 6, 2, 6);
      store_scaled(__builtin_shufflevector(hi, lo, 0, 1, 4, 5), gain, lane[2] + i);
    }
  }
  for (; i < n; ++i)
    for (int b = 0; b < span; ++b)
      lane[b][i] = tap_sum(row + t.o0[i] + b, row + t.o1[i] + b, t.w[i], gain);
}

void turn(const float* in, int in_step, int columns, int n, float* out, int out_step) {
  int c = 0;
  for (; c + 4 <= columns; c += 4) {
    const float* from = in + c * in_step;
    float* to = out + c;
    const auto row = [&](int k, int i) { return load_as<F32x4>(from + k * in_step + i); };
    const auto store = [&](int i, F32x4 v) { std::memcpy(to + i * out_step, &v, sizeof v); };
    int i = 0;
    for (; i + 4 <= n; i += 4) {
      const F32x4 p = row(0, i), q = row(1, i), r = row(2, i), s = row(3, i);
      const F32x4 pq = __builtin_shufflevector(p, q, 0, 4, 1, 5);
      const F32x4 rs = __builtin_shufflevector(r, s, 0, 4, 1, 5);
      store(i, __builtin_shufflevector(pq, rs, 0, 1, 4, 5));
      store(i + 1, __builtin_shufflevector(pq, rs, 2, 3, 6, 7));
      const F32x4 hi = __builtin_shufflevector(p, q, 2, 6, 3, 7);
      const F32x4 lo = __builtin_shufflevector(r, s, 2, 6, 3, 7);
      store(i + 2, __builtin_shufflevector(hi, lo, 0, 1, 4, 5));
      store(i + 3, __builtin_shufflevector(hi, lo, 2, 3, 6, 7));
    }
    for (; i < n; ++i)
      for (int k = 0; k < 4; ++k) to[i * out_step + k] = from[k * in_step + i];
  }
  for (; c < columns; ++c)
    for (int i = 0; i < n; ++i) out[i * out_step + c] = in[c * in_step + i];
}

}  // namespace

extern const LerpKernels kLerpTable;
const LerpKernels kLerpTable = {pick, blend, taps1, taps2, taps, turn};

}  // namespace foveal::imgproc::FOVEAL_ISA
