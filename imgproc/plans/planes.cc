// One band of a YUV picture: all components at full size, block by block; a chroma sample is the
// mean of its pixels.
#include <algorithm>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// Components of tensor pixels [x, x + n) of one row, bars included, 0..255.
struct Levels {
  alignas(64) float c[3][BandBlock::kColumns];
};

// What lies in the columns [from, to) of the image area, sampled.
void read_image(const Plan& p, int from, int to, int y, BandBlock* block, int block_y, int at,
                Levels& out) {
  const Run& r = p.run;
  const int n = to - from;
  Rows rows;
  const float* in[3] = {rows.c[0], rows.c[1], rows.c[2]};
  if (!block) {
    sample_pixels(p, from, y, n, rows);
  } else {
    for (int c = 0; c < 3; ++c) in[c] = block->row(y - block_y, c);
    if (r.constant) inside_of_block(p, from, n, y, rows.inside);
  }
  for (int c = 0; c < 3; ++c)
    finish_color(r, c, n, in, r.constant ? rows.inside : nullptr, 1, 0, out.c[c] + at);
}

void write(const Run& r, int c, int x, int y, const float* v, int n) {
  const Channel& ch = r.picture.channel[c];
  uint8_t* to = const_cast<uint8_t*>(ch.data) + ch.line(y) * ch.row + ch.column(x) * ch.pixel;
  r.k->spread_u8(v, n, ch.pixel, to);
}

// Sums of chroma over the rows that share samples.
struct ChromaSums {
  alignas(64) float sum[2][BandBlock::kColumns];
  int rows = 0;
};

void write_chroma(const Run& r, int x, int y, int n, ChromaSums& chroma) {
  const bool pairs = r.picture.channel[1].shift_x != 0;
  const float k = (pairs ? 0.5f : 1) / static_cast<float>(chroma.rows);
  const int whole = pairs ? n / 2 : n;
  alignas(64) float mean[BandBlock::kColumns];
  for (int c = 0; c < 2; ++c) {
    float* sum = chroma.sum[c];
    if (pairs)
      r.k->pair_sums(sum, k, whole, mean);
    else
      std::copy_n(sum, n, mean), r.k->scale(mean, k, n);
    if (pairs && n % 2) mean[whole] = sum[n - 1] * 2 * k;
    write(r, 1 + c, x, y, mean, whole + (pairs ? n % 2 : 0));
  }
  chroma.rows = 0;
}

}  // namespace

void run_planes(const Plan& p, int y0, int y1) {
  const Run& r = p.run;
  const Geometry& g = r.geometry;
  const int from_y = std::max(y0, g.y0), to_y = std::min(y1, g.y1);
  const bool blocks = in_blocks(r) && from_y < to_y;
  const int shift_y = r.picture.channel[1].shift_y;
  BandBlock block(r.transposed);
  const int step = blocks ? block.columns : BandBlock::kColumns;
  Levels levels;
  ChromaSums chroma;
  for (int x = 0; x < p.spec.width; x += step) {
    const int n = std::min(step, p.spec.width - x);
    const int from = std::clamp(g.x0, x, x + n), to = std::clamp(g.x1, x, x + n);
    if (blocks && from < to) sample_block(p, from, to - from, from_y, to_y, block);
    for (int y = y0; y < y1; ++y) {
      const bool image = from < to && y >= from_y && y < to_y;
      for (int c = 0; c < 3; ++c) {
        std::fill_n(levels.c[c], image ? from - x : n, r.pad[c]);
        if (image) std::fill_n(levels.c[c] + (to - x), x + n - to, r.pad[c]);
      }
      if (image) read_image(p, from, to, y, blocks ? &block : nullptr, from_y, from - x, levels);
      write(r, 0, x, y, levels.c[0], n);
      for (int c = 0; c < 2; ++c) {
        float* sum = chroma.sum[c];
        const float* v = levels.c[1 + c];
        for (int i = 0; i < n; ++i) sum[i] = chroma.rows ? sum[i] + v[i] : v[i];
      }
      ++chroma.rows;
      if (shift_y == 0 || y % 2 == 1 || y + 1 == p.spec.height) write_chroma(r, x, y, n, chroma);
    }
  }
}

}  // namespace foveal::imgproc
