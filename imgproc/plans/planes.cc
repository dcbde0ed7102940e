// One band of a YUV picture: all components at full size, block by block; a chroma sample is the
// mean of its pixels.
#include <algorithm>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

constexpr int kWide = 2048;  // pixels that are converted at once

uint8_t* address(const Run& r, int c, int x, int y) {
  const Channel& ch = r.picture.channel[c];
  return const_cast<uint8_t*>(ch.data) + ch.line(y) * ch.row + ch.column(x) * ch.pixel;
}

// `n` bytes of component c from pixel (x, y) on.
void store(const Run& r, int c, int x, int y, const uint8_t* v, int n) {
  const int64_t step = r.picture.channel[c].pixel;
  uint8_t* to = address(r, c, x, y);
  if (step == 1)
    std::copy_n(v, n, to);
  else
    for (int i = 0; i < n; ++i) to[i * step] = v[i];
}

// The same of U and V.
void store_chroma(const Run& r, int x, int y, const uint8_t* u, const uint8_t* v, int n) {
  uint8_t *u_to = address(r, 1, x, y), *v_to = address(r, 2, x, y);
  const bool paired = r.picture.channel[1].pixel == 2 && r.picture.channel[2].pixel == 2;
  if (paired && v_to - u_to == 1) return r.k->zip(u, v, n, u_to);
  if (paired && u_to - v_to == 1) return r.k->zip(v, u, n, v_to);
  store(r, 1, x, y, u, n);
  store(r, 2, x, y, v, n);
}

// Sums of chroma over the rows that share samples.
struct ChromaSums {
  alignas(64) float sum[2][kWide];
  int rows = 0;
};

void finish_chroma(const Run& r, int x, int y, int n, ChromaSums& chroma) {
  const bool pairs = r.picture.channel[1].shift_x != 0;
  const float k = (pairs ? 0.5f : 1) / static_cast<float>(chroma.rows);
  const int samples = pairs ? (n + 1) / 2 : n;
  uint8_t bytes[2][kWide];
  for (int c = 0; c < 2; ++c) {
    alignas(64) float mean[kWide];
    float* sum = chroma.sum[c];
    if (pairs) {
      r.k->pair_sums(sum, k, n / 2, mean);
      if (n % 2) mean[n / 2] = sum[n - 1] * 2 * k;
    } else {
      std::copy_n(sum, n, mean);
      r.k->scale(mean, k, n);
    }
    r.k->to_u8(mean, samples, bytes[c]);
  }
  store_chroma(r, x, y, bytes[0], bytes[1], samples);
  chroma.rows = 0;
}

// Whether a picture's rows y, y + 1, ... of chroma end with row y.
bool ends_samples(const Plan& p, int y) {
  return p.run.picture.channel[1].shift_y == 0 || y % 2 == 1 || y + 1 == p.spec.height;
}

// Whether the picture shows all of a frame of bytes, pixel by pixel.
bool shows_frame(const Plan& p) {
  const Run& r = p.run;
  const Geometry& g = r.geometry;
  return r.kind == &kTaps && !r.transposed && !r.constant && p.x.unit && p.y.unit &&
         r.source.element == Element::kU8 && g.x0 == 0 && g.y0 == 0 && g.x1 == p.spec.width &&
         g.y1 == p.spec.height;
}
bool can_convert(const Plan& p) {
  return shows_frame(p) && !p.run.round && p.run.source.family == Family::kRgb;
}
// Chroma samples are of the same pixels here and there.
bool can_copy(const Plan& p) {
  const Channel &from = p.run.source.channel[1], &to = p.run.picture.channel[1];
  return shows_frame(p) && p.run.color.copy && from.shift_x == to.shift_x &&
         from.shift_y == to.shift_y && !((p.x.i0[0] + from.odd_x) & from.shift_x) &&
         !((p.y.i0[0] + from.odd_y) & from.shift_y);
}

// Both do what goes by rows of floats otherwise, bit for bit.
void convert_planes(const Plan& p, int y0, int y1) {
  const Run& r = p.run;
  const Source& s = r.source;
  const Channel& base = s.channel[s.group[0].lowest];
  int offset[3];
  for (int c = 0; c < 3; ++c) offset[c] = static_cast<int>(s.channel[c].data - base.data);
  ChromaSums chroma;
  uint8_t luma[kWide];
  for (int x = 0; x < p.spec.width; x += kWide) {
    const int n = std::min(kWide, p.spec.width - x);
    for (int y = y0; y < y1; ++y) {
      const uint8_t* from = base.data + p.y.i0[y] * base.row + p.x.i0[x] * base.pixel;
      const int64_t ahead = y + 1 < y1 ? (p.y.i0[y + 1] - p.y.i0[y]) * base.row : 0;
      r.k->convert.planes(from, ahead, static_cast<int>(base.pixel), offset, r.color.m,
                          chroma.rows > 0, n, luma, chroma.sum[0], chroma.sum[1]);
      store(r, 0, x, y, luma, n);
      ++chroma.rows;
      if (ends_samples(p, y)) finish_chroma(r, x, y, n, chroma);
    }
  }
}
void copy_planes(const Plan& p, int y0, int y1) {
  const Run& r = p.run;
  uint8_t bytes[3][kWide];
  const auto read = [&](int c, int x, int y, int n) {
    const Channel& ch = r.source.channel[c];
    const uint8_t* from = ch.data + ch.line(p.y.i0[y]) * ch.row + ch.column(p.x.i0[x]) * ch.pixel;
    r.k->convert.level(from, static_cast<int>(ch.pixel), 1, 0, n, bytes[c]);
  };
  for (int x = 0; x < p.spec.width; x += kWide) {
    const int n = std::min(kWide, p.spec.width - x);
    const int samples = r.picture.channel[1].shift_x ? (n + 1) / 2 : n;
    for (int y = y0; y < y1; ++y) {
      read(0, x, y, n);
      store(r, 0, x, y, bytes[0], n);
      if (!ends_samples(p, y)) continue;
      read(1, x, y, samples);
      read(2, x, y, samples);
      store_chroma(r, x, y, bytes[1], bytes[2], samples);
    }
  }
}

constexpr int kColumns = 128;  // that are made at once of a picture that is sampled

// Columns [x, x + n) of a band, row by row from its top: bars, and the image area [from, to).
class PictureSink final : public RowSink {
 public:
  PictureSink(const Plan& plan, int left, int count)
      : p(plan),
        x(left),
        n(count),
        from(std::clamp(p.run.geometry.x0, x, x + n)),
        to(std::clamp(p.run.geometry.x1, x, x + n)) {}

  void take(int, int y, int count, const float* const in[3], const float* inside) override {
    const Run& r = p.run;
    for (int c = 0; c < 3; ++c) {
      std::fill(levels[c], levels[c] + (from - x), r.pad[c]);
      finish_color(r, c, count, in, inside, 1, 0, levels[c] + (from - x));
      std::fill(levels[c] + (to - x), levels[c] + n, r.pad[c]);
    }
    put(y);
  }
  void take_bars(int y) {
    for (int c = 0; c < 3; ++c) std::fill_n(levels[c], n, p.run.pad[c]);
    put(y);
  }

  const Plan& p;
  const int x, n, from, to;

 private:
  void put(int y) {
    const Run& r = p.run;
    uint8_t luma[kColumns];
    r.k->to_u8(levels[0], n, luma);
    store(r, 0, x, y, luma, n);
    for (int c = 0; c < 2; ++c) {
      if (chroma.rows)
        r.k->add(chroma.sum[c], levels[1 + c], n);
      else
        std::copy_n(levels[1 + c], n, chroma.sum[c]);
    }
    ++chroma.rows;
    if (ends_samples(p, y)) finish_chroma(r, x, y, n, chroma);
  }

  alignas(64) float levels[3][kColumns];  // 0..255
  ChromaSums chroma;
};

}  // namespace

const char* planes_name(const Plan& p) {
  return can_convert(p) ? "rows of bytes" : can_copy(p) ? "copied planes" : "rows of floats";
}

void run_planes(const Plan& p, int y0, int y1) {
  if (can_convert(p)) return convert_planes(p, y0, y1);
  if (can_copy(p)) return copy_planes(p, y0, y1);
  const Run& r = p.run;
  const int from = std::clamp(r.geometry.y0, y0, y1), to = std::clamp(r.geometry.y1, y0, y1);
  const int step = std::min(r.step, kColumns) & ~1;  // chroma samples are of pairs
  for (int x = 0; x < p.spec.width; x += step) {
    PictureSink sink(p, x, std::min(step, p.spec.width - x));
    const bool image = sink.from < sink.to;
    for (int y = y0; y < (image ? from : y1); ++y) sink.take_bars(y);
    for (int y = from, next; image && y < to; y = next) {
      next = y + r.kind->together(p, y, to);
      r.kind->sample(p, sink.from, sink.to - sink.from, y, next, sink);
    }
    for (int y = to; image && y < y1; ++y) sink.take_bars(y);
  }
}

}  // namespace foveal::imgproc
