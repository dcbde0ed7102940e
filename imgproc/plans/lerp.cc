// Straight maps of bytes, rows first, in whole numbers: two source rows blended into one, then two
// taps along it.
#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

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

}  // namespace

void build_lerp(Plan& p) {
  const Run& r = p.run;
  for (int g = 0; g < r.source.groups; ++g) {
    const Axis& axis = r.linear && g > 0 ? p.chroma_x : p.x;
    const auto &o0 = p.xo[g][0], &o1 = p.xo[g][1];
    for (int d = r.geometry.x0; d < r.geometry.x1; ++d)
      p.xw[g][d] = tap_weights(o0[d] == o1[d], axis.w0[d], axis.w1[d]);
  }
  for (int own = 0; own <= r.linear; ++own) {
    const Axis& axis = own ? p.chroma_y : p.y;
    for (int d = r.geometry.y0; d < r.geometry.y1; ++d)
      p.rows[own][d] = row_pair(axis.i0[d], axis.i1[d], axis.w0[d], axis.w1[d]);
  }
}

void sample_lerp(const Plan& p, int x, int y, int n, Rows& rows) {
  const Run& r = p.run;
  const Source& s = r.source;
  const LerpKernels& k = *r.lerp;
  if (r.constant) {
    const float down = p.y.w0[y] + p.y.w1[y];
    for (int i = 0; i < n; ++i) rows.inside[i] = (p.x.w0[x + i] + p.x.w1[x + i]) * down;
  }
  for (int i = 0; i < s.groups; ++i) {
    const Group& g = s.group[i];
    const Channel& ch = s.channel[g.lowest];
    const bool own = r.linear && i > 0;  // linear chroma: positions are those of its samples
    float* lane[3] = {};                 // row of each element within the group's pixel
    for (int c = g.first; c < g.first + g.count; ++c) lane[s.channel[c].data - ch.data] = rows.c[c];

    const LerpTaps taps{&p.xo[i][0][x], &p.xo[i][1][x], &p.xw[i][x]};
    // Offsets rise or fall along the chunk.
    const int32_t first = std::min(taps.o0[0], taps.o0[n - 1]);
    const int32_t last = std::max(taps.o1[0], taps.o1[n - 1]);
    const auto line = [&](int32_t index) {
      return ch.data + (own ? index : ch.line(index)) * ch.row + first;
    };
    const RowPair pair = p.rows[own][y];
    const uint8_t *next_a = nullptr, *next_b = nullptr;
    if (y + 1 < r.geometry.y1) {
      next_a = line(p.rows[own][y + 1].a);
      next_b = line(p.rows[own][y + 1].b);
    }
    alignas(64) int16_t row[kSpan + kBlendSlack];
    k.blend(line(pair.a), line(pair.b), pair.weight, last - first + g.span, next_a, next_b, row);

    const float gain = pair.gain * kLerpUnit;
    if (g.span == 1 && ch.pixel == 1)
      k.taps1(row, first, taps, gain, n, lane);
    else if (g.span == 2 && ch.pixel == 2)
      k.taps2(row, first, taps, gain, n, lane);
    else
      k.taps(row, first, g.span, taps, gain, n, lane);
    finish_group(r, g, own, 0, n, rows);
  }
}

}  // namespace foveal::imgproc
