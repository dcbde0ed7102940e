// Colour maps, from their definitions.
#include <cmath>

#include "imgproc/plan.h"

namespace foveal::imgproc {
namespace {

// BT.601 luma of R'G'B', what every library means by "gray".
constexpr double kGray[3] = {0.299, 0.587, 0.114};

Result<ColorMap> yuv_map(const Spec& spec, const fv_frame& frame, bool deep) {
  const int matrix =
      spec.yuv_matrix == Matrix::kFrame ? frame.matrix : static_cast<int>(spec.yuv_matrix);
  const int range =
      spec.yuv_range == Range::kFrame ? frame.range : static_cast<int>(spec.yuv_range);
  if (matrix == FV_MATRIX_UNKNOWN)
    return Status(FV_FRAME_ERROR,
                  "frame: color matrix: expected bt601, bt709 or bt2020, got unknown",
                  "say which one the camera uses, in the frame or in the spec's yuv.matrix");
  if (range == FV_RANGE_UNKNOWN)
    return Status(FV_FRAME_ERROR, "frame: color range: expected limited or full, got unknown",
                  "say which one the camera uses, in the frame or in the spec's yuv.range");
  const double kr = matrix == FV_BT601 ? 0.299 : matrix == FV_BT709 ? 0.2126 : 0.2627;
  const double kb = matrix == FV_BT601 ? 0.114 : matrix == FV_BT709 ? 0.0722 : 0.0593;
  const double kg = 1 - kr - kb;
  const bool limited = range == FV_LIMITED;
  // Ten bits: the codes of black, white and no colour are four times those of 8 bits in limited
  // range; in full range white is 1023 (H.273), not 1020.
  const double most = deep ? 1020.0 / 1023 : 1;
  const double ys = limited ? 255.0 / 219 : most, cs = limited ? 255.0 / 224 : most;
  const double y0 = limited ? 16 : 0;
  const double rgb[3][3] = {{ys, 0, cs * 2 * (1 - kr)},
                            {ys, -cs * 2 * kb * (1 - kb) / kg, -cs * 2 * kr * (1 - kr) / kg},
                            {ys, cs * 2 * (1 - kb), 0}};
  ColorMap map;
  if (spec.color == Color::kGray) {  // luma, stretched to 0..255
    map.m[0][0] = static_cast<float>(ys);
    map.m[0][3] = static_cast<float>(-ys * y0);
    return map;
  }
  for (int j = 0; j < 3; ++j) {
    const double* r = rgb[spec.color == Color::kBgr ? 2 - j : j];
    for (int i = 0; i < 3; ++i) map.m[j][i] = static_cast<float>(r[i]);
    map.m[j][3] = static_cast<float>(-(r[0] * y0 + (r[1] + r[2]) * 128));
  }
  return map;
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
  if (source.family == Family::kYuv) return yuv_map(spec, frame, source.deep);
  ColorMap map;
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
