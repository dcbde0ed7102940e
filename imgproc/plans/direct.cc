// Same size, same orientation, 8-bit packed tensor: conversion of rows of bytes, and of 10 bits.
#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// Component c of memory pixel (x, y).
const uint8_t* address(const Source& s, int c, int x, int y) {
  const Channel& ch = s.channel[c];
  return ch.data + (ch.line(y) * ch.row + ch.column(x) * ch.pixel) * s.size;
}

template <class T>
YuvRowOf<T> yuv_row_of(const Source& s, int x, int y) {
  const auto at = [&](int c) { return reinterpret_cast<const T*>(address(s, c, x, y)); };
  const Channel &luma = s.channel[0], &chroma = s.channel[1];
  return {at(0),
          at(1),
          at(2),
          static_cast<int>(chroma.pixel),
          (x + chroma.odd_x) & chroma.shift_x,
          static_cast<int>(luma.pixel),
          chroma.shift_x};
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

void run_yuv(const Plan& p, int x, int y, int n, uint8_t* out) {
  const Run& r = p.run;
  const Source& s = r.source;
  if (r.fast) return r.k->convert.fast_yuv(yuv_row(s, x, y), r.fixed, n, out);
  if (converts_rows(s)) return r.k->convert.yuv(yuv_row(s, x, y), r.color.m, n, out);
  float m[3][4];  // of stored numbers; the unit is a power of two, so that nothing is rounded
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i) m[j][i] = r.color.m[j][i] * (i < 3 ? s.unit : 1);
  r.k->convert.deep_yuv(yuv_row_of<uint16_t>(s, x, y), m, n, out);
}

}  // namespace

bool can_run_direct(const Plan& p) {
  const Run& r = p.run;
  const Source& s = r.source;
  const Store& t = r.store;
  const bool gray = t.channels == 1;
  const bool packed = t.dtype == FV_UINT8 && t.pixel == t.channels &&
                      (gray || (t.component[0] == 0 && t.component[1] == 1 && t.component[2] == 2));
  if (!packed || !r.plain || r.constant || r.kind != PlanKind::kAxisAligned || r.transposed ||
      !p.x.unit || !p.y.single)
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

YuvRow yuv_row(const Source& s, int x, int y) { return yuv_row_of<uint8_t>(s, x, y); }

bool can_run_fast(const Plan& p) {
  const Source& s = p.run.source;
  return p.run.direct && p.spec.profile == Profile::kFast && p.run.store.channels == 3 &&
         converts_rows(s) && s.channel[1].shift_x == 1;
}

void run_direct(const Plan& p, int row) {
  const Run& r = p.run;
  const Source& s = r.source;
  const int x0 = r.geometry.x0, n = r.geometry.x1 - x0;
  if (n < 1) return;
  uint8_t* out = r.dst + row * r.store.row + x0 * r.store.pixel;
  const int x = p.x.i0[x0], y = p.y.i0[row];
  if (r.store.channels == 1) return run_gray(p, x, y, n, out);
  if (s.family == Family::kYuv) return run_yuv(p, x, y, n, out);
  const uint8_t* base = address(s, s.group[0].lowest, x, y);
  int offset[3];
  for (int k = 0; k < 3; ++k)
    offset[k] = static_cast<int>(address(s, r.color.from[k], x, y) - base);
  r.k->convert.pick(base, static_cast<int>(s.channel[0].pixel), offset, n, out);
}

}  // namespace foveal::imgproc
