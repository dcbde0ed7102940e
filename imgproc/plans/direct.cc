// Same size, whatever the orientation, 8-bit packed tensor: conversion of rows of bytes, and of 10
// bits. What does not lie as the tensor wants it is converted into a tile and moved from there.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "imgproc/plan.h"
#include "imgproc/plans/block.h"

namespace foveal::imgproc {
namespace {

// Component c of memory pixel (x, y).
const uint8_t* address(const Source& s, int c, int x, int y) {
  const Channel& ch = s.channel[c];
  return ch.data + (ch.line(y) * ch.row + ch.column(x) * ch.pixel) * s.size;
}

// below: -1, or a memory row with the same chroma.
template <class T>
YuvRowOf<T> yuv_row_of(const Source& s, int x, int y, int below) {
  const auto at = [&](int c) { return reinterpret_cast<const T*>(address(s, c, x, y)); };
  const Channel &luma = s.channel[0], &chroma = s.channel[1];
  return {at(0),
          at(1),
          at(2),
          static_cast<int>(chroma.pixel),
          (x + chroma.odd_x) & chroma.shift_x,
          static_cast<int>(luma.pixel),
          chroma.shift_x,
          below < 0 ? nullptr : reinterpret_cast<const T*>(address(s, 0, x, below))};
}

void run_gray(const Plan& p, int x, int y, int n, uint8_t* out) {
  const Run& r = p.run;
  const Source& s = r.source;
  const float* m = r.color.m[0];
  const int pixel = static_cast<int>(s.channel[0].pixel);
  if (s.family != Family::kRgb) {
    const bool copy = r.color.copy;
    return r.k->convert.level(address(s, 0, x, y), pixel, copy ? 1 : m[0], copy ? 0 : m[3], n, out);
  }
  const uint8_t* base = address(s, s.group[0].lowest, x, y);
  int offset[3];
  for (int c = 0; c < 3; ++c) offset[c] = static_cast<int>(address(s, c, x, y) - base);
  r.k->convert.luma(base, pixel, offset, m, n, out);
}

// out_below: of row `below`, see yuv_row_of.
void run_yuv(const Plan& p, int x, int y, int below, int n, uint8_t* out, uint8_t* out_below) {
  const Run& r = p.run;
  const Source& s = r.source;
  if (r.fast) return r.k->convert.fast_yuv(yuv_row(s, x, y), r.fixed, n, out);
  if (converts_rows(s))
    return r.k->convert.yuv(yuv_row_of<uint8_t>(s, x, y, below), r.color.m, n, out, out_below);
  float m[3][4];  // of stored numbers; the unit is a power of two, so that nothing is rounded
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i) m[j][i] = r.color.m[j][i] * (i < 3 ? s.unit : 1);
  r.k->convert.deep_yuv(yuv_row_of<uint16_t>(s, x, y, below), m, n, out, out_below);
}

// Whether memory rows a and b are made at once: both see the same rows of chroma.
bool shares_chroma(const Run& r, int a, int b) {
  const Channel &luma = r.source.channel[0], &chroma = r.source.channel[1];
  return r.source.family == Family::kYuv && r.store.channels == 3 && !r.fast && luma.pixel == 1 &&
         chroma.line(a) == chroma.line(b);
}

// Pixels [x, x + n) of memory row y, as adjacent pixels of the tensor's colour.
void convert_row(const Plan& p, int x, int y, int n, uint8_t* out) {
  const Run& r = p.run;
  const Source& s = r.source;
  if (r.store.channels == 1) return run_gray(p, x, y, n, out);
  if (s.family == Family::kYuv) return run_yuv(p, x, y, -1, n, out, nullptr);
  const uint8_t* base = address(s, s.group[0].lowest, x, y);
  int offset[3];
  for (int k = 0; k < 3; ++k)
    offset[k] = static_cast<int>(address(s, r.color.from[k], x, y) - base);
  r.k->convert.pick(base, static_cast<int>(s.channel[0].pixel), offset, n, out);
}

constexpr int kTile = 64;  // pixels; the side of a turned one

struct Tile {
  uint8_t pixels[kTile * kTile * 3 + 1];  // four bytes of the last one can be read, too
};

// `n` pixels, `step` bytes apart in a tile, become neighbours in the tensor.
void move_pixels(const uint8_t* in, ptrdiff_t step, int n, const Store& t, uint8_t* out) {
  static constexpr uint8_t kColors[4] = {255, 255, 255, 0};
  uint32_t colors, pixel;
  std::memcpy(&colors, kColors, 4);
  if (t.channels == 1) {
    for (int i = 0; i < n; ++i) out[i] = in[i * step];
  } else if (t.pixel == 4) {
    for (int i = 0; i < n; ++i) {
      std::memcpy(&pixel, in + i * step, 4);
      pixel &= colors;
      std::memcpy(out + i * 4, &pixel, 4);
    }
  } else {
    for (int i = 0; i + 1 < n; ++i) std::memcpy(out + i * 3, in + i * step, 4);
    std::memcpy(out + (n - 1) * 3, in + (n - 1) * step, 3);
  }
}

// Rows that are mirrored, or whose pixels are further apart.
void run_moved(const Plan& p, int y, Tile& tile) {
  const Run& r = p.run;
  const Store& t = r.store;
  for (int x = r.geometry.x0, n; x < r.geometry.x1; x += n) {
    n = std::min(kTile * kTile, r.geometry.x1 - x);
    const int first = std::min(p.x.i0[x], p.x.i0[x + n - 1]);
    convert_row(p, first, p.y.i0[y], n, tile.pixels);
    move_pixels(tile.pixels + (p.x.i0[x] - first) * t.channels, p.x.unit ? t.channels : -t.channels,
                n, t, r.dst + y * t.row + x * t.pixel);
  }
}

// Quarter turns: tensor rows are columns of memory.
void run_turned(const Plan& p, int y0, int y1, Tile& tile) {
  const Run& r = p.run;
  const Store& t = r.store;
  const int n = y1 - y0, row = n * t.channels;
  const int first = std::min(p.y.i0[y0], p.y.i0[y1 - 1]);
  for (int x = r.geometry.x0, lines; x < r.geometry.x1; x += lines) {
    lines = std::min(kTile, r.geometry.x1 - x);
    for (int i = 0; i < lines; ++i) convert_row(p, first, p.x.i0[x + i], n, tile.pixels + i * row);
    for (int y = y0; y < y1; ++y)
      move_pixels(tile.pixels + (p.y.i0[y] - first) * t.channels, row, lines, t,
                  r.dst + y * t.row + x * t.pixel);
  }
}

void write(const Plan& p, int y0, int y1) {
  const Run& r = p.run;
  const Store& t = r.store;
  const int x0 = r.geometry.x0, n = r.geometry.x1 - x0;
  if (n < 1) return;
  Tile tile;
  if (r.transposed) {
    for (int y = y0; y < y1; y += kTile) run_turned(p, y, std::min(y + kTile, y1), tile);
  } else if (p.x.unit && t.pixel == t.channels) {
    for (int y = y0; y < y1; ++y) {
      const int x = p.x.i0[x0], row = p.y.i0[y];
      uint8_t* out = r.dst + y * t.row + x0 * t.pixel;
      if (y + 1 < y1 && shares_chroma(r, row, p.y.i0[y + 1]))
        run_yuv(p, x, row, p.y.i0[++y], n, out, out + t.row);
      else
        convert_row(p, x, row, n, out);
    }
  } else {
    for (int y = y0; y < y1; ++y) run_moved(p, y, tile);
  }
}

const char* detail(const Plan& p) {
  if (p.run.fast) return "one tap: bytes to bytes, fixed point";
  return p.run.transposed ? "one tap: bytes to bytes, quarter turn" : "one tap: bytes to bytes";
}

}  // namespace

const PlanKind kBytesToBytes = {.name = "taps (axis-aligned)",
                                .detail = detail,
                                .rows_of_turned_band = BandBlock::kTurnedRows,
                                .write = write};

bool can_run_direct(const Plan& p) {
  const Run& r = p.run;
  const Source& s = r.source;
  const Store& t = r.store;
  const bool gray = t.channels == 1;
  const bool together = gray || (t.component[0] == 0 && t.component[1] == 1 && t.component[2] == 2);
  const bool packed = t.dtype == FV_UINT8 && together &&
                      (t.pixel == t.channels || (!gray && t.pixel == 4 && t.lanes == 4));
  const Axis &along = r.transposed ? p.y : p.x, &across = r.transposed ? p.x : p.y;
  if (!packed || !r.plain || r.constant || !(along.unit || along.falls) || !across.single)
    return false;
  if (r.linear || r.luma || p.spec.color == Color::kYuv) return false;
  if (gray) return s.element == Element::kU8;
  if (s.family == Family::kYuv) return s.channel[1].pixel == s.channel[2].pixel;
  return s.element == Element::kU8 && r.color.copy;
}

bool converts_rows(const Source& s) {
  return s.family == Family::kYuv && s.element == Element::kU8 &&
         s.channel[1].pixel == s.channel[2].pixel;
}

YuvRow yuv_row(const Source& s, int x, int y) { return yuv_row_of<uint8_t>(s, x, y, -1); }

bool can_run_fast(const Plan& p) {
  const Source& s = p.run.source;
  return p.spec.profile == Profile::kFast && p.run.store.channels == 3 && converts_rows(s) &&
         s.channel[1].shift_x == 1;
}

}  // namespace foveal::imgproc
