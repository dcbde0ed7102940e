// Colour maps, from their definitions.
#include <cmath>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// BT.601 luma of R'G'B', what every library means by "gray".
constexpr double kGray[3] = {0.299, 0.587, 0.114};

// What numbers of Y, U and V in 0..255 mean: luma is (Y - y0) * ys, colour differences are
// (U - 128) * cs, all in 0..255 and +-127.5.
struct Coding {
  double kr = 0, kb = 0;
  double y0 = 0, ys = 1, cs = 1;

  double kg() const { return 1 - kr - kb; }
};

// Ten bits: the codes of black, white and no colour are four times those of 8 bits in limited
// range; in full range white is 1023 (H.273), not 1020.
Coding coding_of(int matrix, int range, bool deep) {
  Coding c;
  c.kr = matrix == FV_BT601 ? 0.299 : matrix == FV_BT709 ? 0.2126 : 0.2627;
  c.kb = matrix == FV_BT601 ? 0.114 : matrix == FV_BT709 ? 0.0722 : 0.0593;
  const bool limited = range == FV_LIMITED;
  const double most = deep ? 1020.0 / 1023 : 1;
  c.ys = limited ? 255.0 / 219 : most;
  c.cs = limited ? 255.0 / 224 : most;
  c.y0 = limited ? 16 : 0;
  return c;
}

// out = m in + last column, rows of three components.
struct Map {
  double m[3][4] = {};
};

Map rgb_of(const Coding& c) {
  const double ru = 0, rv = 2 * (1 - c.kr), bu = 2 * (1 - c.kb);
  const double gu = -bu * c.kb / c.kg(), gv = -rv * c.kr / c.kg();
  const double chroma[3][2] = {{ru, rv}, {gu, gv}, {bu, 0}};
  Map map;
  for (int j = 0; j < 3; ++j) {
    map.m[j][0] = c.ys;
    for (int i = 0; i < 2; ++i) map.m[j][1 + i] = c.cs * chroma[j][i];
    map.m[j][3] = -(c.ys * c.y0 + (map.m[j][1] + map.m[j][2]) * 128);
  }
  return map;
}

Map yuv_of(const Coding& c) {
  const double luma[3] = {c.kr, c.kg(), c.kb};
  Map map;
  for (int i = 0; i < 3; ++i) {
    map.m[0][i] = luma[i] / c.ys;
    map.m[1][i] = ((i == 2) - luma[i]) / (2 * (1 - c.kb) * c.cs);
    map.m[2][i] = ((i == 0) - luma[i]) / (2 * (1 - c.kr) * c.cs);
  }
  map.m[0][3] = c.y0;
  map.m[1][3] = map.m[2][3] = 128;
  return map;
}

// From one range to the other, of one matrix: no component depends on another.
Map rescaled(const Coding& from, const Coding& to) {
  Map map;
  map.m[0][0] = from.ys / to.ys;
  map.m[0][3] = to.y0 - from.y0 * map.m[0][0];
  for (int j = 1; j < 3; ++j) {
    map.m[j][j] = from.cs / to.cs;
    map.m[j][3] = 128 - 128 * map.m[j][j];
  }
  return map;
}

Map after(const Map& second, const Map& first) {
  Map map;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i) {
      map.m[j][i] = i == 3 ? second.m[j][3] : 0;
      for (int k = 0; k < 3; ++k) map.m[j][i] += second.m[j][k] * first.m[k][i];
    }
  return map;
}

ColorMap floats(const Map& map, bool reversed) {
  ColorMap out;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i) out.m[j][i] = static_cast<float>(map.m[reversed ? 2 - j : j][i]);
  return out;
}

int range_of(const Spec& spec, const fv_frame& frame) {
  return spec.yuv_range == Range::kFrame ? frame.range : static_cast<int>(spec.yuv_range);
}

Status unknown_range() {
  return Status(FV_FRAME_ERROR, "frame: color range: expected limited or full, got unknown",
                "say which one the camera uses, in the frame or in the spec's yuv.range");
}

Result<Coding> coding_of(const Spec& spec, const fv_frame& frame, bool deep) {
  const int matrix =
      spec.yuv_matrix == Matrix::kFrame ? frame.matrix : static_cast<int>(spec.yuv_matrix);
  if (matrix == FV_MATRIX_UNKNOWN)
    return Status(FV_FRAME_ERROR,
                  "frame: color matrix: expected bt601, bt709 or bt2020, got unknown",
                  "say which one the camera uses, in the frame or in the spec's yuv.matrix");
  if (range_of(spec, frame) == FV_RANGE_UNKNOWN) return unknown_range();
  return coding_of(matrix, range_of(spec, frame), deep);
}

// Colour "YUV": the frame's own numbers, or those of the matrix and range that yuv.to names.
Result<ColorMap> to_yuv(const Spec& spec, const fv_frame& frame, const Source& source) {
  ColorMap same;
  same.copy = true;
  for (int j = 0; j < 3; ++j) same.from[j] = j;
  const bool yuv = source.family == Family::kYuv;
  if (spec.yuv_to == YuvTo::kFrame) {
    if (!yuv)
      return Status(FV_FRAME_ERROR, "frame: expected a YUV format: the spec's yuv.to is \"frame\"",
                    "say in yuv.to which matrix and range the tensor is to have");
    if (!source.deep) return same;
    const int range = range_of(spec, frame);
    if (range == FV_RANGE_UNKNOWN) return unknown_range();
    // Of 8-bit codes; the matrix plays no role.
    return floats(rescaled(coding_of(FV_BT601, range, true), coding_of(FV_BT601, range, false)),
                  false);
  }
  const int target = static_cast<int>(spec.yuv_to) - 1;
  const Coding to = coding_of(FV_BT601 + target / 2, FV_LIMITED + target % 2, false);
  if (source.family == Family::kGray) {
    ColorMap map;
    map.m[0][0] = static_cast<float>(1 / to.ys);
    map.m[0][3] = static_cast<float>(to.y0);
    map.m[1][3] = map.m[2][3] = 128;
    return map;
  }
  if (!yuv) return floats(yuv_of(to), false);
  FV_ASSIGN(const Coding from, coding_of(spec, frame, source.deep));
  if (from.kr != to.kr) return floats(after(yuv_of(to), rgb_of(from)), false);
  if (from.ys == to.ys) return same;
  return floats(rescaled(from, to), false);
}

}  // namespace

FixedColor make_fixed(const ColorMap& map) {
  const auto round = [](double v) { return static_cast<int16_t>(std::lrint(v)); };
  FixedColor f{};
  f.y = round(map.m[0][0] * 0x1p14);  // the same of all three
  for (int c = 0; c < 3; ++c) {
    const float* m = map.m[c];
    f.u[c] = round(m[1] * 0x1p13);
    f.v[c] = round(m[2] * 0x1p13);
    f.bias[c] = round((m[3] + 128.0 * m[1] + 128.0 * m[2]) * 64 + 32);
  }
  return f;
}

Result<ColorMap> make_color(const Spec& spec, const fv_frame& frame, const Source& source) {
  if (spec.color == Color::kYuv) return to_yuv(spec, frame, source);
  ColorMap map;
  if (source.family == Family::kYuv) {
    FV_ASSIGN(const Coding c, coding_of(spec, frame, source.deep));
    if (spec.color != Color::kGray) return floats(rgb_of(c), spec.color == Color::kBgr);
    map.m[0][0] = static_cast<float>(c.ys);  // luma, stretched to 0..255
    map.m[0][3] = static_cast<float>(-c.ys * c.y0);
    return map;
  }
  map.copy = true;
  if (source.family == Family::kGray) return map;  // from = 0, 0, 0
  if (spec.color == Color::kGray) {
    map.copy = false;
    for (int i = 0; i < 3; ++i) map.m[0][i] = static_cast<float>(kGray[i]);
    return map;
  }
  for (int j = 0; j < 3; ++j) map.from[j] = spec.color == Color::kBgr ? 2 - j : j;
  return map;
}

}  // namespace foveal::imgproc
