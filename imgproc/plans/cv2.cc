// Profiles "cv2" and "cv2_4": what OpenCV computes on 8-bit pictures, to the bit. The upright
// picture is the array that cv2 would be given; its taps are converted, then weighted.
//
// Fits that show a rectangle of whole pixels are cv2.resize of that slice; maps (matrix, cover,
// mediapipe, turned and quadrilateral ROIs) are cv2.warpAffine or warpPerspective.
#include "imgproc/plans/cv2.h"

#include <algorithm>
#include <cmath>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

constexpr int kOne = 2048;  // 11-bit weights

// Axis `axis` of the region's `size` pixels from `start`: taps of the tensor's pixels [from, to).
void build_resize(const Geometry& g, int axis, int start, int size, bool nearest, Cv2Axis& a) {
  const bool columns = axis == 0;
  const int from = columns ? g.x0 : g.y0, to = columns ? g.x1 : g.y1;
  const int at0 = static_cast<int>(g.at[axis]);
  const double scale = 1 / (g.gain > 0 ? g.gain : g.size[axis] / size);
  const int last = size - 1;
  for (int x = from; x < to; ++x) {
    const int d = x - at0;  // in the resized picture
    int i;
    float u = 0;
    if (nearest) {
      i = std::min(static_cast<int>(std::floor(d * scale)), last);
    } else {
      const float at = static_cast<float>((d + 0.5) * scale - 0.5);
      const float base = std::floor(at);
      i = static_cast<int>(base);
      u = at - base;
      if (columns && (i < 0 || i >= last)) u = 0;  // rows keep two weights on one pixel
    }
    const size_t pixel = static_cast<size_t>(x);
    a.i0[pixel] = start + std::clamp(i, 0, last);
    a.i1[pixel] = u == 0 && columns ? a.i0[pixel] : start + std::clamp(i + 1, 0, last);
    a.w0[pixel] = static_cast<int16_t>(std::nearbyint((1 - u) * kOne));
    a.w1[pixel] = static_cast<int16_t>(std::nearbyint(u * kOne));
  }
}

// Whether the second taps of the tensor's pixels [from, to) count nothing.
bool takes_pixels(const Cv2Axis& a, int from, int to) {
  return std::all_of(a.w1.begin() + from, a.w1.begin() + to, [](int16_t w) { return w == 0; });
}

// One kind of address: whole pixels of the source, or one of its channels.
struct Reader {
  const Channel* channel;
  Cv2Walk x, y;  // along the upright axes
};
Reader reader(const Run& r, const Cv2& c, int i) {
  const Source& s = r.source;
  const Channel& ch = s.channel[c.channels ? i : s.group[0].lowest];
  const Cv2Walk along_row{c.transposed ? c.flip_y : c.flip_x, s.width - 1, ch.odd_x, ch.shift_x,
                          static_cast<int32_t>(ch.pixel)};
  const Cv2Walk along_column{c.transposed ? c.flip_x : c.flip_y, s.height - 1, ch.odd_y, ch.shift_y,
                             static_cast<int32_t>(ch.row)};
  return {&ch, c.transposed ? along_column : along_row, c.transposed ? along_row : along_column};
}

// cv2's arithmetic is that of bytes, and cvtColor knows YUV with chroma of half the width.
Status check_format(const Plan& p, const fv_frame& frame) {
  const Source& s = p.run.source;
  const char* name = format_info(frame.format)->name;
  if (s.element != Element::kU8)
    return Status(FV_FRAME_ERROR,
                  format("frame: format: the cv2 profiles are defined for 8 bits, got %s", name),
                  "use profile \"exact\"");
  if (s.family == Family::kYuv && p.spec.color != Color::kGray && !s.channel[1].shift_x)
    return Status(FV_FRAME_ERROR,
                  format("frame: format: cv2.cvtColor defines no conversion of %s", name),
                  "use profile \"exact\"");
  return ok();
}

Status read_color(const Plan& p, const fv_frame& frame, Cv2& c) {
  FV_TRY(check_format(p, frame));
  const Run& r = p.run;
  const Source& s = r.source;
  const bool gray = p.spec.color == Color::kGray;
  const bool bgr = p.spec.color == Color::kBgr;
  c.color = Cv2Color::kNone;
  c.channels = 1;
  for (int j = 0; j < 3; ++j) {
    c.shift[j] = 8 * j;
    c.tensor[j] = gray ? 0 : 8 * (bgr ? 2 - j : j);
  }
  if (s.family == Family::kGray) {
    if (!gray) c.color = Cv2Color::kGrayToRgb;
  } else if (s.family == Family::kRgb) {
    c.channels = 0;
    for (int j = 0; j < 3; ++j)
      c.shift[j] = 8 * static_cast<int>(s.channel[j].data - s.channel[s.group[0].lowest].data);
    if (gray)
      c.color = Cv2Color::kRgbToGray;
    else
      for (int j = 0; j < 3; ++j) c.tensor[j] = c.shift[bgr ? 2 - j : j];
  } else if (!gray) {  // gray is Y as it is
    c.channels = 3;
    c.color = Cv2Color::kYuvToRgb;
    const int matrix = p.spec.yuv_matrix == Matrix::kFrame ? static_cast<int>(frame.matrix)
                                                           : static_cast<int>(p.spec.yuv_matrix);
    const int range = p.spec.yuv_range == Range::kFrame ? static_cast<int>(frame.range)
                                                        : static_cast<int>(p.spec.yuv_range);
    if (matrix != FV_BT601 || range != FV_LIMITED)
      return Status(FV_FRAME_ERROR,
                    "frame: color: the cv2 profiles convert bt601-limited only, as cv2.cvtColor "
                    "does",
                    "use profile \"exact\" for other matrices and ranges");
  }
  return ok();
}

// The index-space map of cv2 from one of continuous coordinates.
Cv2Map index_map(const Mat3& tensor_to_upright) {
  const double* m = tensor_to_upright.m;
  const auto half = [](const double* row, double* out) {
    out[0] = row[0];
    out[1] = row[1];
    out[2] = row[0] * 0.5 + row[1] * 0.5 + row[2];
  };
  Cv2Map map = {};
  half(m, map.x);
  half(m + 3, map.y);
  half(m + 6, map.w);
  for (int i = 0; i < 3; ++i) {
    map.x[i] -= 0.5 * map.w[i];
    map.y[i] -= 0.5 * map.w[i];
  }
  map.projective = !tensor_to_upright.affine();
  return map;
}

Status lower_resize(Plan& p, const fv_roi* roi) {
  Run& r = p.run;
  Cv2& c = p.cv2;
  const Geometry& g = r.geometry;
  int from[2] = {0, 0}, size[2] = {g.upright_width, g.upright_height};
  if (roi) {
    const double* v = roi->v;
    for (int i = 0; i < 2; ++i) {
      if (v[i] != std::floor(v[i]) || v[i + 2] != std::floor(v[i + 2]) || v[i] < 0 ||
          v[i + 2] > size[i])
        return Status(FV_FRAME_ERROR,
                      format("roi: the cv2 profiles resize slices: expected whole numbers within "
                             "0..%d, got %g..%g",
                             size[i], v[i], v[i + 2]),
                      "round and clip it, or use profile \"exact\"");
    }
    for (int i = 0; i < 2; ++i) {
      from[i] = static_cast<int>(v[i]);
      size[i] = static_cast<int>(v[i + 2]) - from[i];
    }
  }
  build_resize(g, 0, from[0], size[0], c.nearest, c.x);
  build_resize(g, 1, from[1], size[1], c.nearest, c.y);
  c.one_tap = c.nearest || (takes_pixels(c.x, g.x0, g.x1) && takes_pixels(c.y, g.y0, g.y1));
  for (int i = 0; i < std::max(c.channels, 1); ++i) {
    const Reader at = reader(r, c, i);
    for (int tap = 0; tap < 2; ++tap) {
      const size_t x0 = static_cast<size_t>(g.x0);
      c.k->offsets((tap ? c.x.i1 : c.x.i0).data() + x0, at.x, g.x1 - g.x0,
                   c.offset[i][tap].data() + x0);
    }
  }
  return ok();
}

// Four tap rows, from one pair of columns and one of rows each: words[2 * row + column].
struct TapRows {
  alignas(64) uint32_t words[4][kChunk];
};

void convert(const Cv2& c, int n, uint32_t* words) {
  switch (c.color) {
    case Cv2Color::kNone:
      return;
    case Cv2Color::kYuvToRgb:
      return c.k->yuv_to_rgb(words, n);
    case Cv2Color::kRgbToGray:
      return c.k->rgb_to_gray(words, c.shift, n);
    case Cv2Color::kGrayToRgb:
      return c.k->gray_to_rgb(words, n);
  }
}

// Reads channel (or whole pixels) `i` at `origin` + offset.
void fetch(const Run& r, const Cv2& c, int i, int64_t origin, const int32_t* offset, int n,
           uint32_t* words) {
  const Source& s = r.source;
  if (c.channels) return c.k->fetch_byte(s.channel[i].data + origin, offset, 8 * i, n, words);
  const Group& g = s.group[0];
  c.k->fetch(s.channel[g.lowest].data + origin, g.readable - origin, g.span, offset, n, words);
}

void sample_resize(const Plan& p, int x, int y, int n, TapRows& t) {
  const Run& r = p.run;
  const Cv2& c = p.cv2;
  const size_t row = static_cast<size_t>(y);
  for (int tap = 0; tap < (c.one_tap ? 1 : 4); ++tap) {
    const int32_t line = tap < 2 ? c.y.i0[row] : c.y.i1[row];
    for (int i = 0; i < std::max(c.channels, 1); ++i) {
      const Reader at = reader(r, c, i);
      int32_t origin;
      c.k->offsets(&line, at.y, 1, &origin);
      fetch(r, c, i, origin, c.offset[i][tap & 1].data() + x, n, t.words[tap]);
    }
    convert(c, n, t.words[tap]);
  }
}

void sample_warp(const Plan& p, int x, int y, int n, TapRows& t, AxisTaps& along_x,
                 AxisTaps& along_y) {
  const Run& r = p.run;
  const Cv2& c = p.cv2;
  const Geometry& g = r.geometry;
  c.k->positions(c.map, x, y, n, g.upright_width, g.upright_height, c.reflect, &along_x, &along_y);
  alignas(64) int32_t ox[2][kChunk], oy[2][kChunk], offset[kChunk];
  const int taps = c.one_tap ? 1 : 4;
  for (int i = 0; i < std::max(c.channels, 1); ++i) {
    const Reader at = reader(r, c, i);
    c.k->offsets(along_x.i0, at.x, n, ox[0]);
    c.k->offsets(along_y.i0, at.y, n, oy[0]);
    if (taps > 1) {
      c.k->offsets(along_x.i1, at.x, n, ox[1]);
      c.k->offsets(along_y.i1, at.y, n, oy[1]);
    }
    for (int tap = 0; tap < taps; ++tap) {
      c.k->add(ox[tap & 1], oy[tap >> 1], n, offset);
      fetch(r, c, i, 0, offset, n, t.words[tap]);
    }
  }
  for (int tap = 0; tap < taps; ++tap) {
    convert(c, n, t.words[tap]);
    if (c.constant)
      c.k->border(tap & 1 ? along_x.in1 : along_x.in0, tap >> 1 ? along_y.in1 : along_y.in0,
                  c.border, n, t.words[tap]);
  }
}

void sample(const Plan& p, int x, int n, int y, int, RowSink& sink) {
  Rows rows;
  const Cv2& c = p.cv2;
  TapRows t;
  AxisTaps along_x, along_y;
  if (c.warp)
    sample_warp(p, x, y, n, t, along_x, along_y);
  else
    sample_resize(p, x, y, n, t);
  const uint32_t* const taps[4] = {t.words[0], t.words[1], t.words[2], t.words[3]};
  for (int j = 0; j < p.spec.channels(); ++j) {
    if (c.one_tap)
      c.k->component(taps[0], c.tensor[j], n, rows.c[j]);
    else if (c.warp)
      c.k->blend(taps, along_x.u, along_y.u, c.half_up, c.tensor[j], n, rows.c[j]);
    else
      c.k->resize(taps, c.x.w0.data() + x, c.x.w1.data() + x, c.y.w0[static_cast<size_t>(y)],
                  c.y.w1[static_cast<size_t>(y)], c.tensor[j], n, rows.c[j]);
  }
  rows.give(p.run, x, y, n, sink);
}

const char* detail(const Plan& p) {
  const Cv2& c = p.cv2;
  if (!c.warp) return c.nearest ? "resize, nearest" : "resize, linear";
  if (c.map.projective) return c.nearest ? "warpPerspective, nearest" : "warpPerspective, linear";
  return c.nearest ? "warpAffine, nearest" : "warpAffine, linear";
}

}  // namespace

const PlanKind kCv2 = {.name = "cv2", .detail = detail, .sample = sample};

void size_cv2(Plan& p) {
  Cv2& c = p.cv2;
  c.k = &cv2_kernels();
  for (Cv2Axis* a : {&c.x, &c.y}) {
    const size_t n = static_cast<size_t>(a == &c.x ? p.spec.width : p.spec.height);
    a->i0.resize(n);
    a->i1.resize(n);
    a->w0.resize(n);
    a->w1.resize(n);
  }
  for (auto& channel : c.offset)
    for (auto& tap : channel) tap.resize(static_cast<size_t>(p.spec.width));
}

Status lower_cv2(Plan& p, const fv_frame& frame, const fv_roi* roi) {
  Run& r = p.run;
  Cv2& c = p.cv2;
  const Spec& s = p.spec;
  const Geometry& g = r.geometry;
  FV_TRY(read_color(p, frame, c));
  r.kind = &kCv2;
  r.constant = false;  // of the rows that come out
  r.color = ColorMap{};
  r.color.copy = true;
  for (int j = 0; j < 3; ++j) r.color.from[j] = j;
  const Mat3 turn = sensor_from_upright(g.rotation, g.mirror, r.source.width, r.source.height);
  c.transposed = turn.m[0] == 0;
  c.flip_x = turn.m[c.transposed ? 3 : 0] < 0;
  c.flip_y = turn.m[c.transposed ? 1 : 4] < 0;
  c.nearest = c.one_tap = s.sample == SampleKind::kNearest;
  c.half_up = s.profile == Profile::kCv2_4;
  c.warp = cv2_warps(s) || (roi && roi->kind != FV_ROI_RECT);
  r.jumps = c.warp || c.transposed;
  r.skips = r.skips && !r.jumps;
  if (!c.warp) return lower_resize(p, roi);
  if (s.grid != Grid::kHalfPixel)
    return Status(FV_FRAME_ERROR,
                  "roi: the cv2 profiles warp turned and quadrilateral regions, which have no grid "
                  "but \"half_pixel\"",
                  "set the spec's sample.grid, or give a rect");
  c.map = index_map(g.upright_from_tensor);
  c.map.nearest = c.nearest;
  c.map.position = s.profile == Profile::kCv2 ? Cv2Position::kReal
                   : c.map.projective         ? Cv2Position::kProjective32
                                              : Cv2Position::kAffine32;
  c.reflect = s.border == BorderKind::kReflect101;
  c.constant = s.border == BorderKind::kConstant;
  c.border = 0;
  for (int j = 0; j < s.channels(); ++j)
    c.border |= static_cast<uint32_t>(r.border[j]) << c.tensor[j];
  return ok();
}

}  // namespace foveal::imgproc
