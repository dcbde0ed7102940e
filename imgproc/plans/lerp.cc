// Axis-aligned maps of bytes in whole numbers: two source rows blended into one, then two taps
// along it. A quarter turn makes columns of the tensor so.
#include "imgproc/plans/lerp.h"

#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"
#include "imgproc/plans/block.h"

namespace foveal::imgproc {
namespace {

// Source elements per tensor pixel up to which blending all of a row beats picking taps.
constexpr double kBlendLimit = 24;
constexpr int kColumns = 8;  // of a quarter turn, made before they are turned

RowPair row_pair(int32_t i0, int32_t i1, float w0, float w1) {
  if (w1 == 0) return {i0, i0, 0, w0};
  if (w0 == 0) return {i1, i1, 0, w1};
  const int weight = static_cast<int>(std::lrint(w1 * kBlendOne));
  if (weight == kBlendOne) return {i1, i1, 0, 1};
  return {i0, i1, weight, 1};
}

// Weights of taps that both count add up to 1.
int32_t tap_weights(bool together, float w0, float w1) {
  int second = static_cast<int>(std::lrint(w1 * kTapOne));
  int first = w0 == 0 ? 0 : w1 == 0 ? static_cast<int>(std::lrint(w0 * kTapOne)) : kTapOne - second;
  return together ? pack_weights(first + second, 0) : pack_weights(first, second);
}

// The axis that walks along source rows, or from one to the next.
const Axis& axis_of(const Plan& p, bool along, bool chroma) {
  const bool x = along != p.run.transposed;
  return chroma ? (x ? p.chroma_x : p.chroma_y) : (x ? p.x : p.y);
}

// Entries [from, from + n) along source rows, for entry `at` across them.
struct Line {
  int at, from, n;
};

void sample_line(const Plan& p, int group, const Line& l, float* const component[3]) {
  const Run& r = p.run;
  const Lerp& tables = p.lerp;
  const LerpKernels& k = lerp_kernels();
  const Group& g = r.source.group[group];
  const Channel& ch = r.source.channel[g.lowest];
  const bool own = r.linear && group > 0;  // linear chroma: positions are those of its samples
  float* lane[3] = {};                     // row of each element within the group's pixel
  for (int c = g.first; c < g.first + g.count; ++c)
    lane[r.source.channel[c].data - ch.data] = component[c];

  const auto row_at = [&](int32_t index) -> int64_t {
    return (own ? index : ch.line(index)) * ch.row;
  };
  const RowPair pair = tables.rows[own][l.at];
  const int64_t a = row_at(pair.a), b = row_at(pair.b);
  const float gain = pair.gain * kLerpUnit;
  LerpTaps taps{&tables.o0[group][l.from], &tables.o1[group][l.from], &tables.w[group][l.from]};
  const uint8_t *next_a = nullptr, *next_b = nullptr;
  if (l.at + 1 < (r.transposed ? r.geometry.x1 : r.geometry.y1)) {
    next_a = ch.data + row_at(tables.rows[own][l.at + 1].a);
    next_b = ch.data + row_at(tables.rows[own][l.at + 1].b);
  }
  if (tables.windows) {
    const LerpRows rows{ch.data + a, ch.data + b, g.readable - a, g.readable - b,
                        pair.weight, next_a,      next_b};
    return tables.windows(rows, g.span, taps, gain, l.n, lane);
  }
  alignas(64) int16_t row[kSpan + kBlendSlack];
  int32_t first = 0;
  if (tables.picks) {
    alignas(64) uint8_t picked[2][kChunk * 8];
    k.pick(ch.data + a, g.readable - a, g.span, taps, l.n, picked[0]);
    if (a != b) k.pick(ch.data + b, g.readable - b, g.span, taps, l.n, picked[1]);
    const int elements = l.n * (g.span == 1 ? 2 : g.span == 2 ? 4 : 8);
    k.blend(picked[0], picked[a != b], pair.weight, elements, nullptr, nullptr, row);
    taps.o0 = tables.picked[g.span - 1].data();
    taps.o1 = tables.picked[3].data();
  } else {
    // Offsets rise or fall along the line.
    first = std::min(taps.o0[0], taps.o0[l.n - 1]);
    const int32_t last = std::max(taps.o1[0], taps.o1[l.n - 1]);
    k.blend(ch.data + a + first, ch.data + b + first, pair.weight, last - first + g.span,
            next_a ? next_a + first : nullptr, next_b ? next_b + first : nullptr, row);
  }
  const bool adjacent = tables.picks || ch.pixel == g.span;
  if (g.span == 1 && adjacent)
    k.taps1(row, first, taps, gain, l.n, lane);
  else if (g.span == 2 && adjacent)
    k.taps2(row, first, taps, gain, l.n, lane);
  else
    k.taps(row, first, g.span, taps, gain, l.n, lane);
}

// Whether all bytes behind adjacent pixels [x0, x1) of a group lie within windows.
bool fits_windows(const Lerp& tables, int group, int span, int x0, int x1) {
  const auto &o0 = tables.o0[group], &o1 = tables.o1[group];
  for (int d = x0; d < x1; ++d) {
    const int last = std::min(d + kLerpTogether, x1) - 1;
    const auto [low, high] = std::minmax({o0[d], o1[d], o0[last], o1[last]});
    if (high + span - low > kLerpWindow) return false;
  }
  return true;
}

void sample_straight(const Plan& p, int x, int n, int y, RowSink& sink) {
  const Run& r = p.run;
  Rows rows;
  if (r.constant) weigh_inside(p, x, y, n, rows.inside);
  float* const component[3] = {rows.c[0], rows.c[1], rows.c[2]};
  for (int i = 0; i < r.source.groups; ++i) {
    sample_line(p, i, {y, x, n}, component);
    finish_group(r, r.source.group[i], r.linear && i > 0, 0, n, rows);
  }
  rows.give(r, x, y, n, sink);
}

void sample_turned(const Plan& p, int x, int n, int y0, int y1, RowSink& sink) {
  const Run& r = p.run;
  BandBlock block(true);
  alignas(64) float columns[3][kColumns][BandBlock::kTurnedRows];
  for (int j = 0; j < n; j += kColumns) {
    const int m = std::min(kColumns, n - j);
    for (int c = 0; c < m; ++c) {
      float* const component[3] = {columns[0][c], columns[1][c], columns[2][c]};
      for (int i = 0; i < r.source.groups; ++i)
        sample_line(p, i, {x + j + c, y0, y1 - y0}, component);
    }
    for (int c = 0; c < r.source.channels; ++c)
      lerp_kernels().turn(columns[c][0], BandBlock::kTurnedRows, m, y1 - y0, block.row(0, c) + j,
                          static_cast<int>(block.row(1, c) - block.row(0, c)));
  }
  float inside[BandBlock::kTurnedColumns];
  for (int y = y0; y < y1 && r.linear && r.constant; ++y) {  // chroma counts as far as luma does
    weigh_inside(p, x, y, n, inside);
    for (const int c : {1, 2}) r.k->multiply(block.row(y - y0, c), inside, n);
  }
  give_block(p, block, x, n, y0, y1, r.constant ? weigh_inside : nullptr, sink);
}

void sample(const Plan& p, int x, int n, int y0, int y1, RowSink& sink) {
  if (p.run.transposed)
    sample_turned(p, x, n, y0, y1, sink);
  else
    sample_straight(p, x, n, y0, sink);
}

int together(const Plan& p, int y, int y1) {
  return p.run.transposed ? block_rows(true, y, y1) : 1;
}

const char* detail(const Plan& p) {
  return p.run.transposed ? "quarter turn, in whole numbers" : "straight, in whole numbers";
}

constexpr PlanKind kind(const char* name) {
  return {.name = name,
          .detail = detail,
          .rows_of_turned_band = BandBlock::kTurnedRows,
          .together = together,
          .sample = sample};
}

}  // namespace

const PlanKind kPickedBytes = kind("taps (axis-aligned)");
const PlanKind kBlendedBytes = kind("rows first (axis-aligned)");

void size_lerp(Plan& p) {
  const size_t side = static_cast<size_t>(std::max(p.spec.width, p.spec.height));
  for (int g = 0; g < 3; ++g) {
    p.lerp.o0[g].resize(side);
    p.lerp.o1[g].resize(side);
    p.lerp.w[g].resize(side);
  }
  for (auto& pairs : p.lerp.rows) pairs.resize(side);
  for (int i = 0; i < 4; ++i) {
    p.lerp.picked[i].resize(kChunk);
    for (int j = 0; j < kChunk; ++j)
      p.lerp.picked[i][j] = i < 2 ? 2 * (i + 1) * j : 8 * j + (i - 2) * 4;
  }
}

void lower_lerp(Plan& p) {
  Run& r = p.run;
  const Geometry& g = r.geometry;
  const double* m = g.sensor_from_tensor.m;
  const int x0 = r.transposed ? g.y0 : g.x0, x1 = r.transposed ? g.y1 : g.x1;
  const int y0 = r.transposed ? g.x0 : g.y0, y1 = r.transposed ? g.x1 : g.y1;
  double elements = 0;  // per tensor pixel, of the densest plane
  for (int i = 0; i < r.source.groups; ++i) {
    const Channel& c = r.source.channel[r.source.group[i].lowest];
    elements = std::max(elements, std::fabs(m[r.transposed ? 1 : 0]) *
                                      static_cast<double>(c.pixel) / (1 << c.shift_x));
    const bool own = r.linear && i > 0;
    const Axis& axis = axis_of(p, true, own);
    for (int d = x0; d < x1; ++d) {
      const int64_t o0 = (own ? axis.i0[d] : c.column(axis.i0[d])) * c.pixel;
      const int64_t o1 = (own ? axis.i1[d] : c.column(axis.i1[d])) * c.pixel;
      p.lerp.o0[i][d] = static_cast<int32_t>(o0);
      p.lerp.o1[i][d] = static_cast<int32_t>(o1);
      p.lerp.w[i][d] = tap_weights(o0 == o1, axis.w0[d], axis.w1[d]);
    }
  }
  for (const bool own : {false, true}) {
    const Axis& axis = axis_of(p, false, own);
    for (int d = y0; d < y1 && (r.linear || !own); ++d)
      p.lerp.rows[own][d] = row_pair(axis.i0[d], axis.i1[d], axis.w0[d], axis.w1[d]);
  }
  // Mirrored taps go back and forth.
  p.lerp.picks = elements > kBlendLimit || r.outside == Outside::kMirror;
  r.kind = p.lerp.picks ? &kPickedBytes : &kBlendedBytes;
  p.lerp.windows = p.lerp.picks ? nullptr : lerp_windows();
  for (int i = 0; i < r.source.groups && p.lerp.windows; ++i)
    if (!fits_windows(p.lerp, i, r.source.group[i].span, x0, x1)) p.lerp.windows = nullptr;
  if (!p.lerp.picks) {
    r.skips = r.jumps = false;  // blending asks for the next row
    // The chunk's elements, its last tap (2 pixels of at most 64) included, fit a kernel row.
    r.step = std::min(static_cast<int>((kSpan - 256) / std::max(elements, 1.0)) & ~7, kChunk);
  }
  if (r.transposed) r.step = BandBlock::kTurnedColumns;
}

}  // namespace foveal::imgproc
