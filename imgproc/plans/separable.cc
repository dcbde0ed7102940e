// Filters along both axes of the frame. A line is what one entry of the table across source rows
// makes of a stretch of source columns: sum down the rows, split into components, sum along.
#include <algorithm>
#include <cstring>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

constexpr int kLine = 2048;  // most source pixels of a line at once
constexpr int kLineElements =
    4096;  // most elements of source rows summed at once; a pixel is at most 64

// One stretch of source pixels [from, from + n) as planar float rows, and zeros up to `padded`,
// which is kLine + kTapPad at most.
void sum_down(const Plan& p, const Group& g, const Filter& down, int d, int from, int n, int padded,
              float (&line)[3][kLine + kTapPad]) {
  const Run& r = p.run;
  const Channel& ch = r.source.channel[g.lowest];
  const int64_t base = down.first[static_cast<size_t>(d)] * ch.row + from * ch.pixel;
  const auto& sum_rows = r.filter->sum_rows[static_cast<int>(r.source.element)];
  const float* w = down.weights.data() + static_cast<int64_t>(d) * down.taps;
  const int count = down.count[static_cast<size_t>(d)], pixel = static_cast<int>(ch.pixel);
  for (int at = 0; at < n; at += kLineElements / pixel) {
    alignas(64) float sums[kLineElements];
    const int m = std::min(kLineElements / pixel, n - at);
    float* const lane[3] = {line[0] + at, line[1] + at, line[2] + at};
    const uint8_t* rows = ch.data + (base + static_cast<int64_t>(at) * pixel) * r.source.size;
    if (pixel == 1) {
      sum_rows(rows, ch.row, w, count, m, lane[0]);
      continue;
    }
    sum_rows(rows, ch.row, w, count, (m - 1) * pixel + g.span, sums);
    r.filter->split(sums, pixel, g.span, m, lane);
  }
  for (int b = 0; b < g.span; ++b)
    std::fill(line[b] + n, line[b] + padded, 0.0f);  // under taps of weight 0
}

// Outputs [from, from + n) of `along` for entry d of `down`; out[b] belongs to element b of a
// pixel.
void make_line(const Plan& p, const Group& g, const Filter& down, int d, const Filter& along,
               int from, int n, float* const out[3]) {
  alignas(64) float line[3][kLine + kTapPad];
  const auto last = [&](int i) {
    return along.first[static_cast<size_t>(i)] + along.count[static_cast<size_t>(i)];
  };
  for (int i = from; i < from + n;) {
    // As many outputs as their source pixels fit the line.
    int lo = along.first[static_cast<size_t>(i)], hi = last(i), read = lo + along.taps, m = 1;
    for (; i + m < from + n; ++m) {
      const int a = std::min(lo, along.first[static_cast<size_t>(i + m)]);
      const int b = std::max(hi, last(i + m));
      const int c = std::max(read, along.first[static_cast<size_t>(i + m)] + along.taps);
      if (c - a > kLine) break;
      read = c;
      lo = a;
      hi = b;
    }
    const LineTaps<float> taps{&along.first[static_cast<size_t>(i)], lo,
                               along.weights.data() + static_cast<int64_t>(i) * along.taps,
                               along.taps};
    if (read - lo <= kLine) {
      sum_down(p, g, down, d, lo, hi - lo, read - lo, line);
      for (int b = 0; b < g.span; ++b)
        if (out[b]) p.run.filter->sum_line(line[b], taps, m, out[b] + (i - from));
    } else {  // one output with more source pixels than the line holds
      for (int b = 0; b < g.span; ++b)
        if (out[b]) out[b][i - from] = 0;
      for (int at = lo; at < hi; at += kLine) {
        const int count = std::min(kLine, hi - at);
        const int padded = (count + kTapPad - 1) / kTapPad * kTapPad;
        sum_down(p, g, down, d, at, count, padded, line);
        const int32_t first = at;
        const LineTaps<float> part{&first, at, taps.weights + (at - lo), padded};
        for (int b = 0; b < g.span; ++b) {
          float sum;
          if (!out[b]) continue;
          p.run.filter->sum_line(line[b], part, 1, &sum);
          out[b][i - from] += sum;
        }
      }
    }
    i += m;
  }
}

}  // namespace

void sample_separable(const Plan& p, int x, int n, int y0, int y1, BandBlock& block) {
  const Run& r = p.run;
  for (int i = 0; i < r.source.groups; ++i) {
    const Group& g = r.source.group[i];
    const Channel& ch = r.source.channel[g.lowest];
    const Filter &fx = p.fx.plane[i > 0], &fy = p.fy.plane[i > 0];
    int component[3] = {-1, -1, -1};  // of each element within the group's pixel
    for (int c = g.first; c < g.first + g.count; ++c)
      component[(r.source.channel[c].data - ch.data) / r.source.size] = c;
    if (!r.transposed) {
      for (int y = y0; y < y1; ++y) {
        float* out[3] = {};
        for (int b = 0; b < g.span; ++b)
          if (component[b] >= 0) out[b] = block.c[y - y0][component[b]];
        make_line(p, g, fy, y, fx, x, n, out);
      }
      continue;
    }
    // Tensor columns are lines of the source.
    float column[3][kBandRows];
    float* out[3] = {};
    for (int b = 0; b < g.span; ++b)
      if (component[b] >= 0) out[b] = column[b];
    for (int j = 0; j < n; ++j) {
      make_line(p, g, fx, x + j, fy, y0, y1 - y0, out);
      for (int b = 0; b < g.span; ++b)
        for (int y = y0; y < y1 && out[b]; ++y)
          block.c[y - y0][component[b]][j] = column[b][y - y0];
    }
  }
}

}  // namespace foveal::imgproc
