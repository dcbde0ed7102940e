// Same size, same orientation, 8-bit packed tensor: conversion of rows of bytes.
#include "imgproc/plan.h"

namespace foveal::imgproc {

bool can_run_direct(const Plan& p) {
  const Run& r = p.run;
  const Source& s = r.source;
  const Store& t = r.store;
  const bool packed = t.dtype == FV_UINT8 && t.channels == 3 && t.pixel == 3 &&
                      t.component[0] == 0 && t.component[1] == 1 && t.component[2] == 2;
  if (!packed || !r.plain || r.constant || r.kind != PlanKind::kAxisAligned || r.transposed ||
      !p.x.unit || !p.y.single)
    return false;
  if (s.element != Element::kU8 || r.linear) return false;
  if (p.spec.color == Color::kYuv) return false;
  return s.family == Family::kYuv ? converts_rows(s) : r.color.copy;
}

bool converts_rows(const Source& s) {
  return s.family == Family::kYuv && s.element == Element::kU8 && s.channel[0].pixel == 1 &&
         s.channel[1].pixel == s.channel[2].pixel && s.channel[1].shift_x == 1;
}

void run_direct(const Plan& p, int y) {
  const Run& r = p.run;
  const Source& s = r.source;
  const int x0 = r.geometry.x0, n = r.geometry.x1 - x0;
  if (n < 1) return;
  uint8_t* out = r.dst + y * r.store.row + x0 * r.store.pixel;
  const int from = p.x.i0[x0];
  const auto at = [&](int c) {
    const Channel& ch = s.channel[c];
    return ch.data + ch.line(p.y.i0[y]) * ch.row + ch.column(from) * ch.pixel;
  };
  if (s.family == Family::kYuv) {
    const YuvRow row{at(0), at(1), at(2), static_cast<int>(s.channel[1].pixel),
                     (from + s.channel[1].odd_x) & 1};
    if (r.fast) return r.k->convert.fast_yuv(row, r.fixed, n, out);
    return r.k->convert.yuv(row, r.color.m, n, out);
  }
  const uint8_t* base = at(s.group[0].lowest);
  int offset[3];
  for (int k = 0; k < 3; ++k) offset[k] = static_cast<int>(at(r.color.from[k]) - base);
  r.k->convert.pick(base, static_cast<int>(s.channel[0].pixel), offset, n, out);
}

}  // namespace foveal::imgproc
