// Straight maps and quarter turns: the taps of every tensor column and row, and by which kind of
// plan they are taken.
#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"
#include "imgproc/plans/chroma.h"

namespace foveal::imgproc {
namespace {

// Source elements read per tensor pixel up to which reading whole rows beats picking taps, in
// floats (of bytes: plans/lerp.cc).
constexpr double kRowsFirstLimit = 12;

// The point between pixels 0 and size - 1 that shows what p, mirrored about their centres, shows.
double mirrored(double p, int size) {
  if (size == 1) return 0;
  const double last = size - 1;
  p = std::fmod(std::fabs(p), 2 * last);
  return p > last ? 2 * last - p : p;
}

void put_taps(double p, int d, int size, Outside outside, bool flipped, Axis& a) {
  const double upright = flipped ? size - 1 - p : p;
  const bool cut = outside == Outside::kCut && !(upright >= -0.5 && upright < size - 0.5);
  if (outside == Outside::kMirror) p = mirrored(p, size);
  p = std::clamp(p, -4.0, size + 4.0);
  int i = static_cast<int>(p);
  i -= p < i;  // rounded down; a call of floor would take as long as all of this
  float w1 = static_cast<float>(p - i), w0 = 1 - w1;
  if (cut) {
    w0 = w1 = 0;
  } else if (outside == Outside::kNothing) {
    if (i < 0 || i >= size) w0 = 0;
    if (i + 1 < 0 || i + 1 >= size) w1 = 0;
  } else if (i < 0 || i + 1 >= size) {  // both taps fall on one pixel
    w0 = 1;
    w1 = 0;
  }
  a.i0[d] = std::clamp(i, 0, size - 1);
  a.i1[d] = w1 == 0 ? a.i0[d] : std::clamp(i + 1, 0, size - 1);
  a.w0[d] = w0;
  a.w1[d] = w1;
}

void classify(int from, int to, Axis& a) {
  bool single = true, rises = true, falls = true;
  for (int d = from; d < to; ++d) {
    single = single && a.w0[d] == 1 && a.w1[d] == 0;
    rises = rises && (d == from || a.i0[d] == a.i0[d - 1] + 1);
    falls = falls && (d == from || a.i0[d] == a.i0[d - 1] - 1);
  }
  a.single = single;
  a.unit = single && rises;
  a.falls = single && falls;
}

// The pixel index of tensor pixel d.
struct Ramp {
  double scale, shift;
  bool nearest, flipped;
  double at(int d) const {
    const double p = scale * (d + 0.5) + shift;
    return nearest ? std::floor(flipped ? p - kTie : p + kTie) : p - 0.5;
  }
};

// Taps of tensor pixels [from, to) in indices of `size` pixels.
void build_axis(const Ramp& ramp, int from, int to, int size, Outside outside, Axis& a) {
  const Axis::Rule rule{ramp.scale, ramp.shift, ramp.nearest, ramp.flipped,
                        from,       to,         size,         outside};
  if (a.built == rule) return;
  a.built = rule;
  for (int d = from; d < to; ++d) put_taps(ramp.at(d), d, size, outside, ramp.flipped, a);
  classify(from, to, a);
}

// The pixels of a box that Pillow shows; the box's first is tensor pixel `at`.
void build_nearest(const PillowBox& box, int at, Axis& a) {
  a.built = {};
  place_nearest(box, a.i0.data() + at);
  const int n = box.to - box.from;
  for (int d = at; d < at + n; ++d) {
    if (box.flip) a.i0[d] = box.size - 1 - a.i0[d];
    a.i1[d] = a.i0[d];
    a.w0[d] = 1;
    a.w1[d] = 0;
  }
  classify(at, at + n, a);
}

// The same as build_axis of linear chroma: always clamped to the samples that belong to the
// picture.
void build_chroma_axis(const Ramp& ramp, int from, int to, int size, const Source& s, Siting siting,
                       bool vertical, Axis& a) {
  if (!subsampled(s, vertical)) return build_axis(ramp, from, to, size, Outside::kClamp, a);
  a.built = {};
  const ChromaAxis c = chroma_axis(s, siting, vertical);
  const int samples = ((size - 1 + c.odd) >> 1) + 1;
  for (int d = from; d < to; ++d) {
    double p = ramp.at(d);
    if (ramp.nearest) p = std::clamp(p, 0.0, size - 1.0);
    put_taps((p + c.odd) / 2 - c.site, d, samples, Outside::kClamp, false, a);
  }
  classify(from, to, a);
}

void build_offsets(Plan& p, int from, int to) {
  const Run& r = p.run;
  for (int g = 0; g < r.source.groups; ++g) {
    const Channel& c = r.source.channel[r.source.group[g].lowest];
    const int32_t stride = static_cast<int32_t>(r.transposed ? c.row : c.pixel);
    const bool own = r.linear && g > 0;
    const int shift = own ? 0 : r.transposed ? c.shift_y : c.shift_x;
    const int odd = own ? 0 : r.transposed ? c.odd_y : c.odd_x;
    const Axis& a = own ? p.chroma_x : p.x;
    for (int d = from; d < to; ++d) {
      p.xo[g][0][d] = ((a.i0[d] + odd) >> shift) * stride;
      p.xo[g][1][d] = ((a.i1[d] + odd) >> shift) * stride;
    }
  }
}

}  // namespace

void lower_axis_aligned(Plan& p, const Mat3& map) {
  Run& r = p.run;
  const Spec& s = p.spec;
  const Geometry& g = r.geometry;
  const double* m = map.m;
  const bool crossed = r.transposed, straight = !crossed;
  const int side[2] = {r.source.width, r.source.height};
  const Ramp along_x{m[straight ? 0 : 1], m[2], r.nearest, r.flipped[0]};
  const Ramp along_y{m[straight ? 4 : 3], m[5], r.nearest, r.flipped[1]};
  const Ramp &x = straight ? along_x : along_y, &y = straight ? along_y : along_x;
  if (is_pillow(s)) {
    build_nearest(p.pillow.box[0], g.x0, p.x);
    build_nearest(p.pillow.box[1], g.y0, p.y);
  } else {
    build_axis(x, g.x0, g.x1, side[crossed], r.outside, p.x);
    build_axis(y, g.y0, g.y1, side[straight], r.outside, p.y);
  }
  bool one_tap = p.x.single && p.y.single;
  if (r.linear) {
    build_chroma_axis(x, g.x0, g.x1, side[crossed], r.source, r.siting, r.transposed, p.chroma_x);
    build_chroma_axis(y, g.y0, g.y1, side[straight], r.source, r.siting, !r.transposed, p.chroma_y);
    one_tap = one_tap && p.chroma_x.single && p.chroma_y.single;
  }
  if (!one_tap && r.source.element == Element::kU8) return lower_lerp(p);
  build_offsets(p, g.x0, g.x1);
  r.kind = &kTaps;
  // Source elements per tensor pixel, of the densest plane.
  double elements = 0;
  for (int i = 0; i < r.source.groups; ++i) {
    const Channel& c = r.source.channel[r.source.group[i].lowest];
    elements =
        std::max(elements, std::fabs(m[0]) * static_cast<double>(c.pixel) / (1 << c.shift_x));
  }
  // Mirrored taps go back and forth.
  const bool ordered = r.outside != Outside::kMirror;
  if (straight && ordered && !one_tap && elements <= kRowsFirstLimit) {
    r.kind = &kRowsFirst;
    // The chunk's elements, its last tap (2 pixels of at most 64) included, fit a kernel row.
    r.step = std::min(static_cast<int>((kSpan - 256) / std::max(elements, 1.0)) & ~7, kChunk);
  }
  if (!can_run_direct(p)) return;
  r.kind = &kBytesToBytes;
  r.fast = can_run_fast(p);
  if (r.fast) r.fixed = make_fixed(r.color);
}

}  // namespace foveal::imgproc
