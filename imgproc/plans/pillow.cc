// Profiles "pillow" and "pillow_12": what Pillow's Image.resize computes on the upright 8-bit
// picture, to the bit. One pass per axis, each rounded to bytes.
//
// Words hold a pixel each, a component per byte. A pass along memory rows turns a line of pixels
// into words; a pass across them adds up bytes, whatever they are. Which of the two is the
// horizontal one depends on the orientation, which of them comes first on Pillow.
#include "imgproc/plans/pillow.h"

#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"
#include "imgproc/rows/cv2.h"

namespace foveal::imgproc {

void PillowRing::open(int first, int count, int row_bytes) {
  if (first == from && count == n) return;
  from = first;
  n = count;
  bytes = row_bytes;
  rows = std::min(kRows, kBytes / row_bytes);
  std::fill_n(held, rows, -1);
}

namespace {

constexpr double kMaxResult = 1 << 24;  // pixels of a side

// The box of ImageOps.fit: the largest one of the tensor's aspect amid a region of w x h.
void fit_box(const Spec& s, double w, double h, double box[4]) {
  const double seen = w / h, wanted = double(s.width) / s.height;
  double side[2] = {w, h};
  if (seen > wanted) side[0] = wanted * h;
  if (seen < wanted) side[1] = w / wanted;
  for (int i = 0; i < 2; ++i) {
    box[i] += ((i ? h : w) - side[i]) * 0.5;
    box[2 + i] = box[i] + side[i];
  }
}

Status make_boxes(const Spec& s, const Geometry& g, const fv_roi* roi, PillowBox out[2]) {
  double box[4] = {0, 0, double(g.upright_width), double(g.upright_height)};
  const int size[2] = {g.upright_width, g.upright_height};
  if (roi && roi->kind != FV_ROI_RECT)
    return Status(FV_FRAME_ERROR,
                  "roi: the pillow profiles define no turned or quadrilateral regions",
                  "give a rect, or use profile \"exact\"");
  for (int i = 0; roi && i < 2; ++i) {
    if (roi->v[i] < 0 || roi->v[i + 2] > size[i])
      return Status(FV_FRAME_ERROR,
                    format("roi: the pillow profiles resize a box of the picture: expected it "
                           "within 0..%d, got %g..%g",
                           size[i], roi->v[i], roi->v[i + 2]),
                    "clip it, or use profile \"exact\"");
    box[i] = roi->v[i];
    box[i + 2] = roi->v[i + 2];
  }
  if (s.fit == FitKind::kCover) fit_box(s, box[2] - box[0], box[3] - box[1], box);
  for (int i = 0; i < 2; ++i) {
    if (g.size[i] > kMaxResult)
      return Status(FV_FRAME_ERROR,
                    format("image plan: fit: the resized picture: expected at most 2^24 pixels "
                           "on a side, got %g",
                           g.size[i]));
    const int at = static_cast<int>(g.at[i]);
    out[i] = {static_cast<float>(box[i]), static_cast<float>(box[2 + i]), g.size[i],
              (i ? g.y0 : g.x0) - at,     (i ? g.y1 : g.x1) - at,         size[i]};
  }
  return ok();
}

// Whether Image.resize copies pixels of this box.
bool copies(const PillowBox& b) {
  return b.begin == std::floor(b.begin) && static_cast<double>(b.end - b.begin) == b.result;
}

// The components of lines are the tensor's own.
void take_converted(Run& r) {
  r.color = ColorMap{};
  r.color.copy = true;
  for (int j = 0; j < 3; ++j) r.color.from[j] = r.luma ? 0 : j;
}

// Pixels [at, at + n) of memory row `row` as packed bytes of the tensor's colour.
void convert_line(const Plan& p, int row, int at, int n, uint8_t* out) {
  const Run& r = p.run;
  const Source& s = r.source;
  const Kernels& k = *r.k;
  const auto address = [&](int c, int x) {
    const Channel& ch = s.channel[c];
    return ch.data + (ch.line(row) * ch.row + ch.column(x) * ch.pixel) * s.size;
  };
  const int channels = p.spec.channels();
  if (channels == 3 && converts_rows(s))
    return k.convert.yuv(yuv_row(s, at, row), r.line_color.m, n, out, nullptr);
  alignas(64) float level[3][kChunk];
  int32_t offset[kChunk];
  for (int i = 0; i < n; i += kChunk) {
    const int m = std::min(kChunk, n - i);
    for (int c = 0; c < s.channels; ++c) {
      const Channel& ch = s.channel[c];
      for (int j = 0; j < m; ++j)
        offset[j] = static_cast<int32_t>((ch.column(at + i + j) - ch.column(at + i)) * ch.pixel);
      k.element[static_cast<int>(s.element)].copy1(address(c, at + i), offset, m, level[c]);
      if (s.unit != 1) k.scale(level[c], s.unit, m);
    }
    const float* done[3] = {};
    alignas(64) float color[3][kChunk];
    for (int c = 0; c < channels; ++c) {
      const float* weights = r.line_color.m[c];
      done[c] = color[c];
      if (r.luma)
        p.pillow.k->luma(level[0], level[1], level[2], m, color[c]);
      else if (r.line_color.copy)
        done[c] = level[r.line_color.from[c]];
      else if (s.channels == 1 || (weights[1] == 0 && weights[2] == 0))
        k.color.mix1(level[0], nullptr, weights, 0, m, color[c]);
      else
        k.color.mix3(level[0], level[1], level[2], nullptr, weights, 0, m, color[c]);
    }
    if (channels == 3)
      k.pack3_u8(done[0], done[1], done[2], m, 3, out + 3 * i);
    else
      k.spread_u8(done[0], m, 1, out + i);
  }
}

// s.sums of `bytes` bytes per row, over entry v of the axis across memory rows; `make` puts rows
// [row, row + n) one after the other where it is told.
template <class Make>
void add_made_rows(const Pillow& c, int v, int bytes, Make make, PillowScratch& s) {
  const PillowAxis& a = c.across;
  PillowRing& ring = s.ring;
  const int first = a.first[static_cast<size_t>(v)];
  const int end = first + a.count[static_cast<size_t>(v)];
  const int32_t* w = a.weights.data() + int64_t{v} * a.taps;
  for (int row = first; row < end;) {
    // Up to the ring's end, beyond which it begins anew.
    const int n = std::min(end - row, ring.rows - row % ring.rows);
    for (int i = row; i < row + n;) {
      int missing = 0;
      while (i + missing < row + n && ring.held[(i + missing) % ring.rows] != i + missing) {
        ring.held[(i + missing) % ring.rows] = i + missing;
        ++missing;
      }
      if (missing) make(i, missing, ring.slot(i));
      i += std::max(missing, 1);
    }
    c.k->add_rows(ring.slot(row), ring.bytes, w + (row - first), n, bytes, row > first, s.sums);
    row += n;
  }
}

PillowTaps taps_of(const Pillow& c, int i, int origin) {
  const PillowAxis& a = c.along;
  return {&a.first[static_cast<size_t>(i)], &a.count[static_cast<size_t>(i)], origin,
          a.packed.data()->bytes + int64_t{i} * a.blocks * c.k->block_bytes, a.blocks};
}

// Entries [from, from + n) of `count` lines that `get(l, at, n, out)` makes piece by piece, of at
// most `room` bytes.
template <class Get>
void go_along(const Pillow& c, int from, int n, int count, int room, Get get, PillowScratch& s,
              uint32_t* words) {
  const PillowAxis& a = c.along;
  const auto [size, span] = c.pixels;
  const int most = room / size;
  const auto begin = [&](int i) { return a.first[static_cast<size_t>(i)]; };
  const auto end = [&](int i) { return begin(i) + a.count[static_cast<size_t>(i)]; };
  for (int i = from, m; i < from + n; i += m) {
    // Entries rise or fall: the outermost ones bound them all.
    int lo, hi;
    for (m = from + n - i;; m = (m + 1) / 2) {
      lo = std::min(begin(i), begin(i + m - 1));
      hi = std::max(end(i), end(i + m - 1));
      if (hi - lo <= most || m == 1) break;
    }
    uint32_t* out = words + (i - from);
    const int bytes = (hi - lo) * size;
    if (hi - lo <= most) {
      const int together = m == n ? std::clamp(kPillowLines / bytes, 1, 2) : 1;
      for (int l = 0, done; l < count; l += done) {
        done = std::min(together, count - l);
        for (int k = 0; k < done; ++k) get(l + k, lo, hi - lo, s.lines + k * bytes);
        c.k->along({s.lines, bytes, done, sizeof s.lines, c.pixels}, taps_of(c, i, lo), m,
                   out + int64_t{l} * n);
      }
      continue;
    }
    // One entry of more pixels than there is room for.
    const int32_t* w = a.weights.data() + int64_t{i} * a.taps;
    for (int l = 0; l < count; ++l) {
      int32_t sum[3] = {kPillowHalf, kPillowHalf, kPillowHalf};
      for (int at = lo; at < hi; at += most) {
        const int pixels = std::min(most, hi - at);
        get(l, at, pixels, s.lines);
        for (int k = 0; k < pixels; ++k)
          for (int b = 0; b < span; ++b) sum[b] += w[at - lo + k] * s.lines[k * size + b];
      }
      uint32_t word = 0;
      for (int b = 0; b < span; ++b)
        word |= static_cast<uint32_t>(std::clamp(sum[b] >> kPillowBits, 0, 255)) << (8 * b);
      out[int64_t{l} * n] = word;
    }
  }
}

// The rows of the next entry across memory rows that are not those of this one.
void ask_for_rows(const Channel& ch, const PillowAxis& a, size_t entry, int at, int bytes) {
  const int end = a.first[entry] + a.count[entry];
  for (int row = a.first[entry + 1]; row < a.first[entry + 1] + a.count[entry + 1]; ++row) {
    if (row >= a.first[entry] && row < end) continue;
    const uint8_t* line = ch.data + row * ch.row + at * ch.pixel;
    for (int i = 0; i < bytes + 64; i += 64) __builtin_prefetch(line + std::min(i, bytes));
  }
}

// Entries [from, from + n) along memory rows of entry v across them.
void make_words(const Plan& p, int v, int from, int n, PillowScratch& s, uint32_t* words) {
  const Pillow& c = p.pillow;
  const Group& g = p.run.source.group[0];
  const Channel& ch = p.run.source.channel[g.lowest];
  if (c.rows_first) {
    const auto add = [&](int, int at, int m, uint8_t* line) {
      const int bytes = (m - 1) * c.pixels.size + c.pixels.span;
      if (c.direct) {
        const PillowAxis& a = c.across;
        const size_t entry = static_cast<size_t>(v);
        if (entry + 1 < a.first.size()) ask_for_rows(ch, a, entry, at, bytes);
        c.k->add_rows(ch.data + a.first[entry] * ch.row + at * ch.pixel, ch.row,
                      a.weights.data() + int64_t{v} * a.taps, a.count[entry], bytes, false, s.sums);
      } else {
        s.ring.open(at, m, m * c.pixels.size);
        const auto converted = [&](int row, int rows, uint8_t* out) {
          for (int i = 0; i < rows; ++i)
            convert_line(p, row + i, at, m, out + i * m * c.pixels.size);
        };
        add_made_rows(c, v, bytes, converted, s);
      }
      c.k->round(s.sums, bytes, line);
    };
    return go_along(c, from, n, 1, kPillowSums, add, s, words);
  }
  const auto filtered = [&](int row, int rows, uint8_t* out) {
    uint32_t* made = reinterpret_cast<uint32_t*>(out);
    if (c.direct) {
      const int64_t at = row * ch.row;
      return c.k->along({ch.data + at, ch.row, rows, g.readable - at, c.pixels},
                        taps_of(c, from, 0), n, made);
    }
    const auto converted = [&](int l, int at, int m, uint8_t* line) {
      convert_line(p, row + l, at, m, line);
    };
    go_along(c, from, n, rows, kPillowLines, converted, s, made);
  };
  s.ring.open(from, n, 4 * n);
  add_made_rows(c, v, 4 * n, filtered, s);
  c.k->round(s.sums, 4 * n, reinterpret_cast<uint8_t*>(words));
}

// Into the scratch's block.
void make_block(const Plan& p, int x, int n, int y0, int y1, PillowScratch& s) {
  const Geometry& g = p.run.geometry;
  if (!p.run.transposed) {
    for (int y = y0; y < y1; ++y)
      make_words(p, y - g.y0, x - g.x0, n, s, s.block + (y - y0) * p.run.step);
    return;
  }
  uint32_t column[kPillowTurnedRows];
  for (int j = 0; j < n; ++j) {
    make_words(p, x - g.x0 + j, y0 - g.y0, y1 - y0, s, column);
    for (int y = y0; y < y1; ++y) s.block[(y - y0) * p.run.step + j] = column[y - y0];
  }
}

void sample(const Plan& p, int x, int n, int y0, int y1, RowSink& sink) {
  const Pillow& c = p.pillow;
  const int channels = c.direct ? p.run.source.channels : p.spec.channels();
  PillowScratch s;
  Rows rows;
  for (int from = y0, to; from < y1; from = to) {
    to = std::min(from + kPillowWords / p.run.step, y1);
    make_block(p, x, n, from, to, s);
    for (int y = from; y < to; ++y) {
      for (int i = 0; i < channels; ++i)
        cv2_kernels().component(s.block + (y - from) * p.run.step, c.shift[i], n, rows.c[i]);
      rows.give(p.run, x, y, n, sink);
    }
  }
}

// A band: the first pass of a row serves all that need it.
int together(const Plan&, int y, int y1) { return y1 - y; }

const char* detail(const Plan& p) {
  return p.pillow.vertical_first ? "resize, vertical pass first" : "resize, horizontal pass first";
}

constexpr PlanKind kind(const char* name) {
  return {.name = name,
          .detail = detail,
          .rows_of_band = kPillowRows,
          .rows_of_turned_band = kPillowTurnedRows,
          .together = together,
          .sample = sample};
}

}  // namespace

const PlanKind kPillow = kind("pillow");
const PlanKind kTorchBytes = kind("torch");

void choose_lines(Plan& p, bool luma) {
  Run& r = p.run;
  Pillow& c = p.pillow;
  const Source& s = r.source;
  const Group& g = s.group[0];
  const Channel& ch = s.channel[g.lowest];
  r.luma = luma;
  c.direct = s.family != Family::kYuv && s.element == Element::kU8 && ch.pixel <= 4 && !r.luma;
  for (int j = 0; j < 3; ++j) c.shift[j] = 8 * j;
  if (c.direct) {
    c.pixels = {static_cast<int>(ch.pixel), g.span};
    for (int j = 0; j < s.channels; ++j)
      c.shift[j] = 8 * static_cast<int>(s.channel[j].data - ch.data);
    return;
  }
  c.pixels = {p.spec.channels(), p.spec.channels()};
}

void start_passes(Plan& p, const PlanKind& kind) {
  Run& r = p.run;
  Pillow& c = p.pillow;
  r.line_color = r.color;
  if (r.luma || !c.direct) take_converted(r);
  r.kind = &kind;
  r.jumps = r.skips = r.constant = false;
  c.rows_first = c.vertical_first != r.transposed;
  // As wide as all rows behind one fit the ring; no wider than weights fit the first cache, unless
  // lines are made for it or summed.
  const int most = c.direct && !c.rows_first ? kChunk / 2 : kChunk;
  const int words = PillowRing::kBytes / 4;
  r.step = r.transposed ? kPillowWords / kPillowTurnedRows
                        : std::clamp(words / std::max(c.across.taps, 1) & ~7, 32, most);
}

Status lower_pillow(Plan& p, const fv_roi* roi) {
  Run& r = p.run;
  Pillow& c = p.pillow;
  const Spec& s = p.spec;
  const Geometry& g = r.geometry;
  FV_TRY(make_boxes(s, g, roi, c.box));
  const Mat3 turn = sensor_from_upright(g.rotation, g.mirror, r.source.width, r.source.height);
  r.transposed = turn.m[0] == 0;
  c.box[0].flip = turn.m[r.transposed ? 3 : 0] < 0;
  c.box[1].flip = turn.m[r.transposed ? 1 : 4] < 0;
  choose_lines(p, s.color == Color::kGray && r.source.family == Family::kRgb);
  r.nearest = s.sample == SampleKind::kNearest || (copies(c.box[0]) && copies(c.box[1]));
  if (r.nearest) {
    if (r.luma) take_converted(r);
    return ok();
  }
  // Pillow 13 begins with the height when it shrinks by more than twice what the width does.
  const double lost[2] = {g.upright_width - g.size[0], g.upright_height - g.size[1]};
  c.vertical_first = s.profile == Profile::kPillow && lost[1] > 0 && lost[1] > 2 * lost[0];
  build_pillow(s.sample, c.box[r.transposed], c.k, c.along);
  build_pillow(s.sample, c.box[!r.transposed], nullptr, c.across);
  start_passes(p, kPillow);
  return ok();
}

}  // namespace foveal::imgproc
