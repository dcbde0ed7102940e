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

void fill(const Plan& p, int x0, int x1, int y) {
  const Run& r = p.run;
  if (x0 >= x1) return;
  float v[3][kChunk];
  for (int c = 0; c < r.store.channels; ++c) {
    float value = r.pad[c];
    if (!r.table) r.k->color.finish(&value, r.round, r.scale[c], r.bias[c], 1, &value);
    std::fill_n(v[c], std::min(kChunk, x1 - x0), value);
  }
  const float* const level[3] = {v[0], v[1], v[2]};
  for (int x = x0; x < x1; x += kChunk) store(p, x, y, std::min(kChunk, x1 - x), level);
}

// Colour, normalisation and store of sampled pixels [x, x + n) of row y: source components `in`.
void emit(const Plan& p, int x, int y, int n, const float* const in[3], const float* inside) {
  const Run& r = p.run;
  const Store& s = r.store;
  alignas(64) float out[3][kChunk];
  const bool planar = s.dtype == FV_FLOAT32 && s.pixel == 1;
  const bool finishes = !r.plain && !r.table;  // otherwise the store clamps and rounds by itself
  const float* done[3] = {};
  for (int c = 0; c < s.channels; ++c) {
    // Planar float tensors are finished right where they belong.
    float* to = planar ? reinterpret_cast<float*>(r.dst) + s.component[c] + y * s.row + x : out[c];
    done[c] = finishes ? finish_color(r, c, n, in, inside, r.scale[c], r.bias[c], to)
                       : mix_color(r, c, n, in, inside, to);
  }
  if (!planar) store(p, x, y, n, done);
}

// The image area of rows [y0, y1), as many as a block holds.
void run_blocks(const Plan& p, int y0, int y1, BandBlock& block) {
  const Run& r = p.run;
  alignas(64) float inside[BandBlock::kColumns];
  Columns made = r.columns(y0);
  for (int y = y0 + 1; y < y1 && r.partial; ++y) {
    made.from = std::min(made.from, r.columns(y).from);
    made.to = std::max(made.to, r.columns(y).to);
  }
  for (int x = made.from; x < made.to; x += block.columns) {
    const int n = std::min(block.columns, made.to - x);
    sample_block(p, x, n, y0, y1, block);
    for (int y = y0; y < y1; ++y) {
      float* const c[3] = {block.row(y - y0, 0), block.row(y - y0, 1), block.row(y - y0, 2)};
      if (r.constant) inside_of_block(p, x, n, y, inside);
      emit(p, x, y, n, c, r.constant ? inside : nullptr);
    }
  }
}

// Rows of a filter in whole numbers.
void run_filter_rows(const Plan& p, int y0, int y1) {
  const Run& r = p.run;
  Rows rows[2];
  for (int y = y0, count; y < y1; y += count) {
    count = rows_at_once(p, y, y1);
    for (int x = r.geometry.x0; x < r.geometry.x1; x += r.step) {
      const int n = std::min(r.step, r.geometry.x1 - x);
      sample_separable(p, x, y, count, n, rows);
      for (int i = 0; i < count; ++i) {
        const float* const in[3] = {rows[i].c[0], rows[i].c[1], rows[i].c[2]};
        emit(p, x, y + i, n, in, r.constant ? rows[i].inside : nullptr);
      }
    }
  }
}

void run_pillow(const Plan& p, int y0, int y1) {
  const Run& r = p.run;
  PillowScratch scratch;
  Rows rows;
  for (int x = r.geometry.x0; x < r.geometry.x1; x += r.step) {
    const int n = std::min(r.step, r.geometry.x1 - x);
    for (int from = y0, to; from < y1; from = to) {
      to = std::min(from + kPillowWords / r.step, y1);
      sample_pillow(p, x, n, from, to, scratch);
      for (int y = from; y < to; ++y) {
        read_pillow(p, scratch, y - from, n, rows);
        const float* const in[3] = {rows.c[0], rows.c[1], rows.c[2]};
        emit(p, x, y, n, in, nullptr);
      }
    }
  }
}

}  // namespace

int band_rows(const Plan& p) {
  const bool pillow = p.run.kind == PlanKind::kPillow;
  if (pillow && !p.run.transposed) return kPillowRows;
  if (!p.run.transposed || (!pillow && !p.run.direct && !in_blocks(p.run))) return kBandRows;
  // High ones, but four of them at least: threads share them.
  return std::clamp(p.spec.height / 4 / kBandRows * kBandRows, kBandRows,
                    pillow ? kPillowTurnedRows : BandBlock::kTurnedRows);
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

bool in_blocks(const Run& r) {
  if (r.kind == PlanKind::kSeparable) return !r.whole || r.transposed;
  return r.lerp && r.transposed;
}

void sample_pixels(const Plan& p, int x, int y, int n, Rows& rows) {
  const Run& r = p.run;
  if (r.kind == PlanKind::kSeparable)
    sample_separable(p, x, y, 1, n, &rows);
  else if (r.kind == PlanKind::kCv2)
    sample_cv2(p, x, y, n, rows);
  else if (r.kind == PlanKind::kGather)
    sample_gather(p, x, y, n, rows);
  else if (r.lerp)
    sample_lerp(p, x, y, n, rows);
  else
    sample_axis_aligned(p, x, y, n, rows);
  if (r.luma) p.pillow.k->luma(rows.c[0], rows.c[1], rows.c[2], n, rows.c[0]);
}

void sample_block(const Plan& p, int x, int n, int y0, int y1, BandBlock& block) {
  const Run& r = p.run;
  if (r.lerp) return sample_lerp(p, x, n, y0, y1, block);
  sample_separable(p, x, n, y0, y1, block);
  if (r.source.unit == 1) return;
  for (int y = 0; y < y1 - y0; ++y)
    for (int c = 0; c < r.source.channels; ++c) r.k->scale(block.row(y, c), r.source.unit, n);
}

void inside_of_block(const Plan& p, int x, int n, int y, float* inside) {
  if (p.run.lerp) return weigh_inside(p, x, y, n, inside);
  const float down = p.fy.inside[static_cast<size_t>(y)];
  for (int i = 0; i < n; ++i) inside[i] = p.fx.inside[static_cast<size_t>(x + i)] * down;
}

void run_band(const Plan& p, int y0, int y1) {
  const Run& r = p.run;
  const Geometry& g = r.geometry;
  Rows rows;
  if (r.jumps) prefetch_band(r, y0, y1);
  if (r.planes) return run_planes(p, y0, y1);
  const bool pillow = r.kind == PlanKind::kPillow, filter = r.kind == PlanKind::kSeparable;
  const bool blocks = in_blocks(r);
  if (pillow && y0 < g.y1 && y1 > g.y0) {
    run_pillow(p, std::max(y0, g.y0), std::min(y1, g.y1));
  } else if (filter && !blocks) {
    run_filter_rows(p, std::max(y0, g.y0), std::min(y1, g.y1));
  } else if (blocks) {
    BandBlock block(r.transposed);
    for (int y = std::max(y0, g.y0); y < std::min(y1, g.y1); y += block.rows)
      run_blocks(p, y, std::min({y + block.rows, y1, g.y1}), block);
  } else if (r.direct) {
    run_direct(p, std::max(y0, g.y0), std::min(y1, g.y1));
  }
  const bool made_all = blocks || pillow || filter || r.direct;
  for (int y = y0; y < y1; ++y) {
    if (y < g.y0 || y >= g.y1) {
      fill(p, 0, p.spec.width, y);
      continue;
    }
    fill(p, 0, g.x0, y);
    if (r.skips && y + 1 < y1) prefetch_row(p, y + 1);
    const Columns made = r.columns(y);
    for (int x = made.from; x < made.to && !made_all; x += r.step) {
      const int n = std::min(r.step, made.to - x);
      sample_pixels(p, x, y, n, rows);
      const float* const in[3] = {rows.c[0], rows.c[1], rows.c[2]};
      emit(p, x, y, n, in, r.constant ? rows.inside : nullptr);
    }
    fill(p, g.x1, p.spec.width, y);
  }
}

}  // namespace foveal::imgproc
