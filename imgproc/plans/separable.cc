// Filters along both axes of the frame. A line is what one entry of the table across source rows
// makes of a stretch of source columns: sum down the rows, split into components, sum along. Lines
// are floats, or of bytes 16-bit whole numbers where those are exact enough.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "imgproc/plan.h"
#include "imgproc/plans/block.h"
#include "imgproc/rows/filter.h"

namespace foveal::imgproc {
namespace {

constexpr int kLine = 2048;  // most source pixels of a line at once
constexpr int kLineElements =
    4096;  // most elements of source rows summed at once; a pixel is at most 64
// Of whole numbers, of 255. What is left of a promise is for the conversion of colours.
constexpr double kMostError = 0.09, kMostErrorFast = 0.9;

// The source pixels behind adjacent outputs, whose taps rise or fall from one to the next.
struct Stretch {
  int from, count;
  int padded;  // the zeros behind taps included
};

// The two tables of a group, for lines of Weight: float or int16_t.
template <class Weight>
struct Lines {
  const Run& r;
  const Group& g;
  const FixedPlane& fixed;
  const Filter &down, &along;
  int to;            // entries of `down`
  Stretch all = {};  // of one entry of `down`, whatever is made of it at once

  typedef Weight Line[3][kLine + kTapPad];

  static const Weight* weights(const Filter& f, int d) {
    const int64_t at = static_cast<int64_t>(d) * f.taps;
    if constexpr (std::is_same_v<Weight, float>)
      return f.weights.data() + at;
    else
      return f.fixed.data() + at;
  }
  int first(const Filter& f, int d) const { return f.first[static_cast<size_t>(d)]; }
  int last(const Filter& f, int d) const { return first(f, d) + f.count[static_cast<size_t>(d)]; }

  // Of outputs [i, i + m).
  Stretch stretch(int i, int m) const {
    const int j = i + m - 1, from = std::min(first(along, i), first(along, j));
    return {from, std::max(last(along, i), last(along, j)) - from,
            std::max(first(along, i), first(along, j)) + along.taps - from};
  }

  // What the sums of entries [d, d + entries) over `at` of the `all.count` source pixels may read
  // for those behind them.
  ReadAhead ahead(int d, int entries, int at) const {
    const Channel& ch = r.source.channel[g.lowest];
    const int now = d + entries - 1, then = std::min(now + entries, to - 1);
    if (then <= now) return {};
    int from = first(down, then), end = last(down, then);
    if (from >= first(down, now))
      from = std::max(first(down, now + 1), last(down, now));
    else
      end = std::min(last(down, now + 1), first(down, now));
    if (from >= end) return {};
    const int64_t bytes = int64_t{all.count} * ch.pixel, place = int64_t{at} * ch.pixel;
    const uint8_t* row =
        ch.data + all.from * ch.pixel + (from + place * (end - from) / bytes) * ch.row;
    return {row + place * (end - from) % bytes, row + bytes, ch.row - bytes, bytes, end - from};
  }

  RowTaps<Weight> rows_of(int d, int from) const {
    const Channel& ch = r.source.channel[g.lowest];
    const int64_t at = first(down, d) * ch.row + from * ch.pixel;
    return {ch.data + at * r.source.size, ch.row, weights(down, d), last(down, d) - first(down, d)};
  }
  // `n` elements from pixel `from` on, of one entry or of two.
  void sum_rows(int d, int entries, int from, int n, Weight* const out[2]) const {
    if constexpr (std::is_same_v<Weight, float>) {
      filter_kernels().sum_rows[static_cast<int>(r.source.element)](rows_of(d, from), n, out[0]);
    } else {
      const FixedFilterKernels& k = fixed_filter_kernels();
      const ReadAhead next = ahead(d, entries, from - all.from);
      const int shift = fixed.shift;
      if (entries == 1) return k.sum_rows(rows_of(d, from), next, shift, n, out[0]);
      const bool rises = first(down, d) <= first(down, d + 1);
      const RowTaps<Weight> t[2] = {rows_of(d + !rises, from), rows_of(d + rises, from)};
      Weight* const sums[2] = {out[!rises], out[rises]};
      k.sum_two(t, next, shift, n, sums);
    }
  }
  void sum_line(const Weight* line, const LineTaps<Weight>& t, int n, float* out) const {
    if constexpr (std::is_same_v<Weight, float>)
      filter_kernels().sum_line(line, t, n, out);
    else
      fixed_filter_kernels().sum_line(line, t, fixed.unit, n, out);
  }
  void split(const Weight* in, int pixel, int n, Weight* const lane[3]) const {
    if constexpr (std::is_same_v<Weight, float>)
      filter_kernels().split(in, pixel, g.span, n, lane);
    else
      fixed_filter_kernels().split(in, pixel, g.span, n, lane);
  }

  // One stretch of source pixels [from, from + n) as planar rows, a line per entry, and zeros up to
  // `padded`, which is kLine + kTapPad at most.
  void sum_down(int d, int entries, int from, int n, int padded, Line* lines) const {
    const int pixel = static_cast<int>(r.source.channel[g.lowest].pixel);
    alignas(64) Weight sums[2][kLineElements];
    for (int at = 0; at < n; at += kLineElements / pixel) {
      const int m = std::min(kLineElements / pixel, n - at);
      Weight* out[2] = {sums[0], sums[1]};
      if (pixel == 1)
        for (int e = 0; e < entries; ++e) out[e] = lines[e][0] + at;
      sum_rows(d, entries, from + at, (m - 1) * pixel + g.span, out);
      for (int e = 0; e < entries && pixel > 1; ++e) {
        Weight* const lane[3] = {lines[e][0] + at, lines[e][1] + at, lines[e][2] + at};
        split(sums[e], pixel, m, lane);
      }
    }
    for (int e = 0; e < entries; ++e)
      for (int b = 0; b < g.span; ++b)
        std::fill(lines[e][b] + n, lines[e][b] + padded, Weight{});  // under taps of weight 0
  }

  // Outputs [from, from + n) of `along` for one entry d of `down` or two; out[e][b] belongs to
  // element b of a pixel of entry d + e.
  void make(int d, int entries, int from, int n, float* const (*out)[3]) const {
    alignas(64) Line lines[2];
    for (int i = from; i < from + n;) {
      // As many outputs as their source pixels fit the line.
      int m = from + n - i;
      while (m > 1 && stretch(i, m).padded > kLine) m = (m + 1) / 2;
      const auto [lo, count, padded] = stretch(i, m);
      const LineTaps<Weight> taps{&along.first[static_cast<size_t>(i)], lo, weights(along, i),
                                  along.taps};
      if (padded <= kLine) {
        sum_down(d, entries, lo, count, padded, lines);
        for (int e = 0; e < entries; ++e)
          for (int b = 0; b < g.span; ++b)
            if (out[e][b]) sum_line(lines[e][b], taps, m, out[e][b] + (i - from));
      } else {  // floats, which are made entry by entry
        make_long(d, lo, lo + count, taps.weights, i - from, *out, *lines);
      }
      i += m;
    }
  }

  // One output, out[b][i], with more source pixels than the line holds: [lo, hi).
  void make_long(int d, int lo, int hi, const Weight* w, int i, float* const out[3],
                 Line& line) const {
    for (int b = 0; b < g.span; ++b)
      if (out[b]) out[b][i] = 0;
    for (int at = lo; at < hi; at += kLine) {
      const int count = std::min(kLine, hi - at), padded = padded_taps(count);
      sum_down(d, 1, at, count, padded, &line);
      const int32_t first = at;
      const LineTaps<Weight> part{&first, at, w + (at - lo), padded};
      for (int b = 0; b < g.span; ++b) {
        float sum;
        if (!out[b]) continue;
        sum_line(line[b], part, 1, &sum);
        out[b][i] += sum;
      }
    }
  }
};

// The source component of each element within a pixel of a group, -1: none.
struct Elements {
  int component[3] = {-1, -1, -1};

  Elements(const Source& s, const Group& g) {
    for (int c = g.first; c < g.first + g.count; ++c)
      component[(s.channel[c].data - s.channel[g.lowest].data) / s.size] = c;
  }
};

// For outputs along [from, from + n), and others of the same lines.
template <class Weight>
Lines<Weight> lines_of(const Plan& p, int group, int from, int n) {
  const Run& r = p.run;
  const int plane = group > 0;
  const Filter &fx = p.separable.x.plane[plane], &fy = p.separable.y.plane[plane];
  const Group& g = r.source.group[group];
  const bool turned = r.transposed;
  Lines<Weight> lines{r,
                      g,
                      p.separable.plane[plane],
                      turned ? fx : fy,
                      turned ? fy : fx,
                      turned ? r.geometry.x1 : r.geometry.y1};
  lines.all = lines.stretch(from, n);
  return lines;
}

template <class Weight>
void sample_columns(const Plan& p, int group, int x, int n, int y0, int y1, BandBlock& block) {
  const Lines<Weight> lines = lines_of<Weight>(p, group, y0, y1 - y0);
  const Elements elements(p.run.source, lines.g);
  float column[3][BandBlock::kTurnedRows];
  float* out[3] = {};
  for (int b = 0; b < lines.g.span; ++b)
    if (elements.component[b] >= 0) out[b] = column[b];
  for (int j = 0; j < n; ++j) {
    lines.make(x + j, 1, y0, y1 - y0, &out);
    for (int b = 0; b < lines.g.span; ++b)
      for (int y = y0; y < y1 && out[b]; ++y)
        block.row(y - y0, elements.component[b])[j] = column[b][y - y0];
  }
}

// Rows [y, y + count), two at most.
template <class Weight>
void sample_rows(const Plan& p, int group, int x, int y, int count, int n,
                 float* const (*rows)[3]) {
  const Geometry& image = p.run.geometry;
  const Lines<Weight> lines = lines_of<Weight>(p, group, image.x0, image.x1 - image.x0);
  const Elements elements(p.run.source, lines.g);
  float* out[2][3] = {};
  for (int e = 0; e < count; ++e)
    for (int b = 0; b < lines.g.span; ++b)
      if (elements.component[b] >= 0) out[e][b] = rows[e][elements.component[b]];
  lines.make(y, count, x, n, out);
}

// Whether whole numbers are exact enough; says how they are scaled.
bool can_be_whole(Plan& p) {
  const Run& r = p.run;
  if (r.source.element != Element::kU8 || p.spec.profile == Profile::kTorch) return false;
  const FilterAxis &across = r.transposed ? p.separable.x : p.separable.y,
                   &rows = r.transposed ? p.separable.y : p.separable.x;
  double error[2] = {};
  for (int i = 0; i < across.map.planes; ++i) {
    const Filter &down = across.plane[i], &along = rows.plane[i];
    const double most = 255 * std::max(down.above, down.below);
    int bits = kLineBits;
    while (bits > 0 && most * (1 << bits) > 32767) --bits;
    const double positive = down.above * along.above + down.below * along.below;
    const double negative = down.above * along.below + down.below * along.above;
    const double sum = 255 * std::max(positive, negative) * std::ldexp(1, bits + along.bits);
    if (along.taps > kLine || down.bits <= bits || most * std::ldexp(1, down.bits) > 0x7FFFFF00 ||
        sum > 0x7FFFFF00)
      return false;
    p.separable.plane[i] = {down.bits - bits, std::ldexp(1.0f, -bits - along.bits)};
    error[i] = (255 * down.error + std::ldexp(0.5, -bits)) * (along.above + along.below) +
               255 * (down.above + down.below) * along.error;
  }
  double worst = std::max(error[0], error[1]);
  for (int j = 0; j < 3 && !r.color.copy; ++j) {
    const float* m = r.color.m[j];
    const double of_others = error[across.map.planes - 1];
    worst = std::max(worst,
                     std::fabs(m[0]) * error[0] + (std::fabs(m[1]) + std::fabs(m[2])) * of_others);
  }
  return worst <= (p.spec.profile == Profile::kFast ? kMostErrorFast : kMostError);
}

// Whether rows are made one or two at a time, not in blocks.
bool goes_by_rows(const Plan& p) { return p.separable.whole && !p.run.transposed; }

// Two rows if they share source rows.
int rows_at_once(const Plan& p, int y, int y1) {
  if (y + 1 >= y1) return 1;
  const Filter& f = p.separable.y.plane[0];
  const auto first = [&](int d) { return f.first[static_cast<size_t>(d)]; };
  const auto last = [&](int d) { return first(d) + f.count[static_cast<size_t>(d)]; };
  return first(y + 1) < last(y) && first(y) < last(y + 1) ? 2 : 1;
}

void weigh(const Plan& p, int x, int y, int n, float* inside) {
  const float down = p.separable.y.inside[static_cast<size_t>(y)];
  for (int i = 0; i < n; ++i) inside[i] = p.separable.x.inside[static_cast<size_t>(x + i)] * down;
}

void sample_two_rows(const Plan& p, int x, int n, int y, int count, RowSink& sink) {
  const Run& r = p.run;
  Rows rows[2];
  float* const c[2][3] = {{rows[0].c[0], rows[0].c[1], rows[0].c[2]},
                          {rows[1].c[0], rows[1].c[1], rows[1].c[2]}};
  for (int i = 0; i < r.source.groups; ++i) sample_rows<int16_t>(p, i, x, y, count, n, c);
  for (int e = 0; e < count; ++e) {
    if (r.constant) weigh(p, x, y + e, n, rows[e].inside);
    rows[e].give(r, x, y + e, n, sink);
  }
}

void sample_block(const Plan& p, int x, int n, int y0, int y1, RowSink& sink) {
  const Run& r = p.run;
  const bool whole = p.separable.whole;
  BandBlock block(r.transposed);
  for (int i = 0; i < r.source.groups; ++i) {
    if (r.transposed && whole) sample_columns<int16_t>(p, i, x, n, y0, y1, block);
    if (r.transposed && !whole) sample_columns<float>(p, i, x, n, y0, y1, block);
    for (int y = y0; y < y1 && !r.transposed; ++y) {
      float* const rows[3] = {block.row(y - y0, 0), block.row(y - y0, 1), block.row(y - y0, 2)};
      sample_rows<float>(p, i, x, y, 1, n, &rows);
    }
  }
  for (int y = 0; y < y1 - y0 && r.source.unit != 1; ++y)
    for (int c = 0; c < r.source.channels; ++c) r.k->scale(block.row(y, c), r.source.unit, n);
  give_block(p, block, x, n, y0, y1, r.constant ? weigh : nullptr, sink);
}

void sample(const Plan& p, int x, int n, int y0, int y1, RowSink& sink) {
  if (goes_by_rows(p))
    sample_two_rows(p, x, n, y0, y1 - y0, sink);
  else
    sample_block(p, x, n, y0, y1, sink);
}

int together(const Plan& p, int y, int y1) {
  return goes_by_rows(p) ? rows_at_once(p, y, y1) : block_rows(p.run.transposed, y, y1);
}

const char* detail(const Plan& p) {
  const bool whole = p.separable.whole;
  if (p.run.transposed) return whole ? "quarter turn, whole numbers" : "quarter turn, floats";
  return whole ? "straight, whole numbers" : "straight, floats";
}

}  // namespace

const PlanKind kSeparable = {.name = "separable filter",
                             .detail = detail,
                             .rows_of_turned_band = BandBlock::kTurnedRows,
                             .together = together,
                             .sample = sample};

void lower_separable(Plan& p) {
  Run& r = p.run;
  r.kind = &kSeparable;
  p.separable.whole = can_be_whole(p);
  r.jumps = r.skips = false;
  if (!goes_by_rows(p)) r.step = BandBlock::columns_of(r.transposed);
}

}  // namespace foveal::imgproc
