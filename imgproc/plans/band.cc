// One band of tensor rows: sample, colour, normalise, store; and the bars around the image.
#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// Elements that are neither f32 nor plain bytes: first their bits, then where they belong.
void store_bits(const Plan& p, int64_t at, int n, const float* const v[3], bool together) {
  const Run& r = p.run;
  const Store& s = r.store;
  uint16_t bits[3][kChunk];
  for (int c = 0; c < s.channels; ++c) {
    if (r.table)
      r.k->look_up(v[c], p.table[c], n, bits[c]);
    else if (s.whole)
      r.k->to_whole(v[c], s.low, s.high, s.zero, n, bits[c]);
    else
      (s.dtype == FV_FLOAT16 ? r.k->to_f16 : r.k->to_bf16)(v[c], n, bits[c]);
  }
  const int pixel = static_cast<int>(s.pixel);
  if (dtype_size(s.dtype) == 1) {
    uint8_t* dst = r.dst + at;
    if (together) return r.k->pack3_b8(bits[0], bits[1], bits[2], n, pixel, dst);
    for (int c = 0; c < s.channels; ++c) r.k->spread_b8(bits[c], n, s.pixel, dst + s.component[c]);
  } else {
    uint16_t* dst = reinterpret_cast<uint16_t*>(r.dst) + at;
    if (together) return r.k->pack3_b16(bits[0], bits[1], bits[2], n, pixel, dst);
    for (int c = 0; c < s.channels; ++c) r.k->spread_b16(bits[c], n, s.pixel, dst + s.component[c]);
  }
}

void store(const Plan& p, int x, int y, int n, const float* const v[3]) {
  const Run& r = p.run;
  const Store& s = r.store;
  const int64_t at = y * s.row + x * s.pixel;
  if (s.lanes && s.lanes != s.channels) {  // padding lanes of blocked layouts hold zero
    const size_t size = dtype_size(s.dtype);
    if (s.lanes > 0)
      std::memset(r.dst + at * size, 0, static_cast<size_t>(n * s.pixel) * size);
    else
      std::memset(r.dst + (s.component[2] + at) * size, 0, static_cast<size_t>(n * s.pixel) * size);
  }
  const bool together =
      s.channels == 3 && s.component[0] == 0 && s.component[1] == 1 && s.component[2] == 2;
  if (s.whole || r.table || dtype_size(s.dtype) == 2) return store_bits(p, at, n, v, together);
  if (s.dtype == FV_FLOAT32) {
    float* dst = reinterpret_cast<float*>(r.dst) + at;
    if (together) return r.k->pack3_f32(v[0], v[1], v[2], n, static_cast<int>(s.pixel), dst);
    for (int c = 0; c < s.channels; ++c) r.k->spread_f32(v[c], n, s.pixel, dst + s.component[c]);
  } else {
    uint8_t* dst = r.dst + at;
    if (together) return r.k->pack3_u8(v[0], v[1], v[2], n, static_cast<int>(s.pixel), dst);
    for (int c = 0; c < s.channels; ++c) r.k->spread_u8(v[c], n, s.pixel, dst + s.component[c]);
  }
}

// Tensor pixels [x0, x1) of rows [y0, y1) with the colour of bars.
void fill(const Plan& p, int x0, int x1, int y0, int y1) {
  const Run& r = p.run;
  if (x0 >= x1 || y0 >= y1) return;
  float v[3][kChunk];
  for (int c = 0; c < r.store.channels; ++c) {
    float value = r.pad[c];
    if (!r.table) r.k->color.finish(&value, r.round, r.scale[c], r.bias[c], 1, &value);
    std::fill_n(v[c], std::min(kChunk, x1 - x0), value);
  }
  const float* const level[3] = {v[0], v[1], v[2]};
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; x += kChunk) store(p, x, y, std::min(kChunk, x1 - x), level);
}

// Colour, normalisation and store.
class TensorSink final : public RowSink {
 public:
  explicit TensorSink(const Plan& plan) : p(plan) {}

  void take(int x, int y, int n, const float* const in[3], const float* inside) override {
    const Run& r = p.run;
    const Store& s = r.store;
    alignas(64) float out[3][kChunk];
    const bool planar = s.dtype == FV_FLOAT32 && s.pixel == 1;
    const bool finishes = !r.plain && !r.table;  // otherwise the store clamps and rounds by itself
    const float* done[3] = {};
    for (int c = 0; c < s.channels; ++c) {
      // Planar float tensors are finished right where they belong.
      float* to =
          planar ? reinterpret_cast<float*>(r.dst) + s.component[c] + y * s.row + x : out[c];
      done[c] = finishes ? finish_color(r, c, n, in, inside, r.scale[c], r.bias[c], to)
                         : mix_color(r, c, n, in, inside, to);
    }
    if (!planar) store(p, x, y, n, done);
  }

 private:
  const Plan& p;
};

// The image area of rows [y0, y1).
void run_image(const Plan& p, int y0, int y1) {
  const Run& r = p.run;
  if (r.kind->write) return r.kind->write(p, y0, y1);
  TensorSink sink(p);
  for (int y = y0, next; y < y1; y = next) {
    next = y + r.kind->together(p, y, y1);
    if (r.skips && next < y1) prefetch_row(p, next);
    const Columns made = r.columns(y, next);
    for (int x = made.from; x < made.to; x += r.step)
      r.kind->sample(p, x, std::min(r.step, made.to - x), y, next, sink);
  }
}

}  // namespace

int band_rows(const Plan& p) {
  const PlanKind& kind = *p.run.kind;
  if (!p.run.transposed) return kind.rows_of_band;
  // Four bands at least: threads share them.
  return std::clamp(p.spec.height / 4 / kBandRows * kBandRows, kBandRows, kind.rows_of_turned_band);
}

const float* mix_color(const Run& r, int c, int n, const float* const in[3], const float* inside,
                       float* out) {
  static constexpr float kIdentity[4] = {1, 0, 0, 0};
  const float* m = r.color.copy ? kIdentity : r.color.m[c];
  const float* from = in[r.color.from[c]];
  if (m[1] != 0 || m[2] != 0)
    r.k->color.mix3(in[0], in[1], in[2], inside, m, r.border[c], n, out);
  else if (inside || !r.color.copy)
    r.k->color.mix1(from, inside, m, r.border[c], n, out);
  else
    return from;
  return out;
}

const float* finish_color(const Run& r, int c, int n, const float* const in[3], const float* inside,
                          float scale, float bias, float* out) {
  const float* m = r.color.m[c];
  if (!r.color.copy && !inside && (m[1] != 0 || m[2] != 0)) {
    r.k->color.mix3_finish(in[0], in[1], in[2], m, r.round, scale, bias, n, out);
  } else {
    alignas(64) float mixed[kChunk];
    r.k->color.finish(mix_color(r, c, n, in, inside, mixed), r.round, scale, bias, n, out);
  }
  return out;
}

void run_band(const Plan& p, int y0, int y1) {
  const Run& r = p.run;
  const Geometry& g = r.geometry;
  if (r.jumps) prefetch_band(r, y0, y1);
  if (r.planes) return run_planes(p, y0, y1);
  const int from = std::clamp(g.y0, y0, y1), to = std::clamp(g.y1, from, y1);
  fill(p, 0, p.spec.width, y0, from);
  fill(p, 0, g.x0, from, to);
  if (from < to) run_image(p, from, to);
  fill(p, g.x1, p.spec.width, from, to);
  fill(p, 0, p.spec.width, to, y1);
}

}  // namespace foveal::imgproc
