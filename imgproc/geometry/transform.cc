#include "imgproc/geometry/transform.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace foveal::imgproc {
namespace {

constexpr double kPi = 3.14159265358979323846;
Status bad_roi(const std::string& message) { return Status(FV_FRAME_ERROR, "roi: " + message); }

// A ROI's own coordinates (0..w, 0..h) and their map to upright pixels.
struct Region {
  double w = 0, h = 0;
  Mat3 upright;
  bool quad = false;
};

// Unit square -> quad with corners p[0..3] (top-left, top-right, bottom-right, bottom-left).
bool square_to_quad(const double* p, Mat3& out) {
  const double dx1 = p[2] - p[4], dy1 = p[3] - p[5];
  const double dx2 = p[6] - p[4], dy2 = p[7] - p[5];
  const double sx = p[0] - p[2] + p[4] - p[6], sy = p[1] - p[3] + p[5] - p[7];
  const double det = dx1 * dy2 - dx2 * dy1;
  if (std::fabs(det) < 1e-9) return false;
  const double g = (sx * dy2 - dx2 * sy) / det, h = (dx1 * sy - sx * dy1) / det;
  out = Mat3{{p[2] - p[0] + g * p[2], p[6] - p[0] + h * p[6], p[0], p[3] - p[1] + g * p[3],
              p[7] - p[1] + h * p[7], p[1], g, h, 1}};
  return true;
}

Result<Region> read_region(const fv_roi* roi, int width, int height) {
  Region r;
  if (!roi) {
    r.w = width;
    r.h = height;
    return r;
  }
  const double* v = roi->v;
  const int count = roi->kind == FV_ROI_RECT ? 4 : roi->kind == FV_ROI_ROTATED ? 5 : 8;
  if (roi->kind < FV_ROI_RECT || roi->kind > FV_ROI_QUAD)
    return bad_roi(format("unknown kind %d", roi->kind));
  for (int i = 0; i < count; ++i)
    if (!std::isfinite(v[i]) || std::fabs(v[i]) > kMaxCoordinate)
      return bad_roi(format("value %d: expected a finite number within +-1e6, got %g", i, v[i]));
  if (roi->kind == FV_ROI_RECT) {
    r.w = v[2] - v[0];
    r.h = v[3] - v[1];
    r.upright = Mat3{{1, 0, v[0], 0, 1, v[1], 0, 0, 1}};
  } else if (roi->kind == FV_ROI_ROTATED) {
    r.w = v[2];
    r.h = v[3];
    const double quarter = v[4] / 90;
    double c = std::cos(v[4] * kPi / 180), s = std::sin(v[4] * kPi / 180);
    if (quarter == std::floor(quarter)) {  // exact, so that it stays axis-aligned
      const int q = static_cast<int>(std::fmod(std::fmod(quarter, 4) + 4, 4));
      c = q == 0 ? 1 : q == 2 ? -1 : 0;
      s = q == 1 ? 1 : q == 3 ? -1 : 0;
    }
    r.upright = Mat3{{c, -s, v[0] - c * v[2] / 2 + s * v[3] / 2, s, c,
                      v[1] - s * v[2] / 2 - c * v[3] / 2, 0, 0, 1}};
  } else {
    r.w = std::max(std::hypot(v[2] - v[0], v[3] - v[1]), std::hypot(v[4] - v[6], v[5] - v[7]));
    r.h = std::max(std::hypot(v[6] - v[0], v[7] - v[1]), std::hypot(v[4] - v[2], v[5] - v[3]));
    Mat3 q;
    if (!(r.w > 0) || !(r.h > 0) || !square_to_quad(v, q))
      return bad_roi("the quad's corners lie on a line");
    r.upright = q * Mat3{{1 / r.w, 0, 0, 0, 1 / r.h, 0, 0, 0, 1}};
    r.quad = true;
  }
  if (!(r.w >= kMinRegionSide) || !(r.h >= kMinRegionSide))
    return bad_roi(format("expected a positive width and height, got %g x %g", r.w, r.h));
  return r;
}

// One axis of fit: `source` units, beginning at `from`, shown by `n` tensor pixels from `at`.
// Index space p_s = scale * p_d + shift of each grid, as a continuous map.
Status axis(Grid grid, double from, double source, double at, double n, double& scale,
            double& shift) {
  switch (grid) {
    case Grid::kHalfPixel:
      scale = source / n;
      shift = from - at * scale;
      return ok();
    case Grid::kAsymmetric:
      scale = source / n;
      break;
    case Grid::kAlignCorners:
      if (n < 2 || source <= 1)
        return Status(
            FV_SPEC_ERROR,
            format("sample: grid \"align_corners\" needs at least 2 pixels on both sides, "
                   "got %g -> %g",
                   source, n));
      scale = (source - 1) / (n - 1);
  }
  shift = from + 0.5 - (at + 0.5) * scale;
  return ok();
}

// Clockwise degrees that make a frame upright under this spec.
int rotation_of(const Spec& spec, int frame_rotation) {
  return spec.orient == Orient::kFrame      ? frame_rotation
         : spec.orient == Orient::kExplicit ? spec.orient_degrees
                                            : 0;
}

// What a letterbox makes of one side of the region.
double letterbox_side(Policy policy, bool whole_frame, double side) {
  // The sides of a ROI are real numbers: one that fills the tensor must not end at 47.9999999.
  // A frame's are whole, and YOLOX truncates what its own arithmetic gives.
  constexpr double kNoise = 1e-6;
  if (policy == Policy::kUltralytics) return std::nearbyint(side);
  if (policy == Policy::kPaddleocr) return std::ceil(side - kNoise);
  return std::floor(whole_frame ? side : side + kNoise);
}

// The picture that a crop is cut from: its sides, what they show of the region (in its units), and
// where the tensor begins in it.
struct Cut {
  double size[2], source[2], at[2];
  double gain = 0;  // kOpencv
};

Cut cut(const Spec& spec, bool whole_frame, double w, double h) {
  const double side[2] = {w, h}, tensor[2] = {double(spec.width), double(spec.height)};
  // A frame's sides are whole numbers; those of a ROI are real: 255.9999999 is 256.
  const double noise = whole_frame ? 0 : 1e-6;
  Cut c;
  for (int i = 0; i < 2; ++i) {
    c.source[i] = side[i];
    if (spec.crop == CropPolicy::kOpencv) {
      double gain = std::max(tensor[0] / w, tensor[1] / h);
      if (is_cv2(spec)) gain = static_cast<float>(gain);  // as blobFromImage has it
      c.gain = gain;
      c.size[i] = std::max(std::nearbyint(side[i] * gain), tensor[i]);
      c.source[i] = c.size[i] / gain;  // resized by the factor, not to the rounded size
    } else if (spec.resize.size() == 2) {
      c.size[i] = spec.resize[static_cast<size_t>(i)];
    } else {
      const double least = std::min(w, h);
      c.size[i] = std::floor(spec.resize[0] * side[i] / least + noise);
      if (side[i] == least) c.size[i] = spec.resize[0];
    }
    const double spare = (c.size[i] - tensor[i]) / 2;
    c.at[i] = spec.crop == CropPolicy::kTorchvision ? std::nearbyint(spare) : std::floor(spare);
  }
  return c;
}

}  // namespace

Status check_roi(const Spec& spec, const fv_roi* roi) {
  if (spec.roi_per_call && !roi)
    return Status(FV_INVALID_ARGUMENT, "image plan: roi: the spec says \"per_call\", got none");
  if (!spec.roi_per_call && roi)
    return Status(FV_INVALID_ARGUMENT, "image plan: roi: the spec says \"full\", got one",
                  "set \"roi\":\"per_call\" in the spec");
  return ok();
}

Status tensor_size(const Spec& spec, int width, int height, int rotation, const fv_roi* roi,
                   int32_t size[2]) {
  const SizeRule& rule = spec.size;
  if (rotation_of(spec, rotation) % 180) std::swap(width, height);
  FV_ASSIGN(const Region r, read_region(roi, width, height));
  const double multiple = rule.multiple;
  if (rule.kind == SizeKind::kFixed) {
    size[0] = spec.width;
    size[1] = spec.height;
  } else if (rule.kind == SizeKind::kSides) {
    const double least = std::min(r.w, r.h), most = std::max(r.w, r.h);
    const double scale = std::min(std::max(rule.min / least, 1.0), rule.max / most);
    const double blocks = std::floor(rule.max / multiple);
    for (int i = 0; i < 2; ++i)
      size[i] = static_cast<int32_t>(
          std::clamp(std::nearbyint((i ? r.h : r.w) * scale / multiple), 1.0, blocks) * multiple);
  } else {
    constexpr double kNoise = 1e-6;  // 320.0000001 is 320
    const double wanted = std::ceil(rule.height * (r.w / r.h) - kNoise);
    size[0] = static_cast<int32_t>(
        std::clamp<double>(std::ceil(wanted / multiple) * multiple, rule.min, rule.max));
    size[1] = rule.height;
  }
  return ok();
}

Status check_tensor_size(const Spec& spec, int64_t width, int64_t height) {
  const SizeRule& rule = spec.size;
  std::string expected;
  if (rule.kind == SizeKind::kSides) {
    for (const int64_t side : {width, height})
      if (side < 1 || side > rule.max || side % rule.multiple)
        expected = format("sides that are multiples of %d up to %d", rule.multiple, rule.max);
  } else if (rule.kind == SizeKind::kStrip) {
    if (height != rule.height || width < rule.min || width > rule.max || width % rule.multiple)
      expected = format("a height of %d and a width in %d..%d that is a multiple of %d",
                        rule.height, rule.min, rule.max, rule.multiple);
  } else if (width != spec.width || height != spec.height) {
    expected = format("%dx%d", spec.width, spec.height);
  }
  if (expected.empty()) return ok();
  return Status(
      FV_SHAPE_ERROR,
      "image plan: tensor: the spec's size asks for " + expected +
          format(", got %lldx%lld", static_cast<long long>(width), static_cast<long long>(height)),
      "width x height; fv_image_spec_size gives the size for a frame");
}

Mat3 sensor_from_upright(int rotation, bool mirror, int width, int height) {
  Mat3 r;
  switch (rotation) {
    case 90:
      r = Mat3{{0, 1, 0, -1, 0, double(height), 0, 0, 1}};
      break;
    case 180:
      r = Mat3{{-1, 0, double(width), 0, -1, double(height), 0, 0, 1}};
      break;
    case 270:
      r = Mat3{{0, -1, double(width), 1, 0, 0, 0, 0, 1}};
      break;
    default:
      break;
  }
  if (!mirror) return r;
  const double upright_width = rotation % 180 ? height : width;
  return r * Mat3{{-1, 0, upright_width, 0, 1, 0, 0, 0, 1}};
}

Result<Geometry> plan_geometry(const Spec& spec, int width, int height, int rotation, bool mirror,
                               const fv_roi* roi) {
  Geometry g;
  g.rotation = rotation_of(spec, rotation);
  g.mirror = spec.orient == Orient::kFrame && mirror;
  g.upright_width = g.rotation % 180 ? height : width;
  g.upright_height = g.rotation % 180 ? width : height;
  const int dw = spec.width, dh = spec.height;
  g.x1 = dw;
  g.y1 = dh;
  g.valid[2] = dw;
  g.valid[3] = dh;

  if (spec.fit == FitKind::kMatrix) {
    std::memcpy(g.upright_from_tensor.m, spec.matrix.data(), sizeof g.upright_from_tensor.m);
    double* m = g.upright_from_tensor.m;
    if (m[8] == 0) return Status(FV_SPEC_ERROR, "fit: matrix: the last element is 0");
    for (double k = m[8], *p = m; p < m + 9; ++p) *p /= k;
  } else {
    FV_ASSIGN(const Region r, read_region(roi, g.upright_width, g.upright_height));
    double from_x = 0, from_y = 0, source_w = r.w, source_h = r.h;
    if (spec.fit == FitKind::kLetterbox && spec.policy != Policy::kMediapipe) {
      const double gain = std::min(dw / r.w, dh / r.h);
      const bool centred = spec.policy == Policy::kUltralytics;
      const auto side = [&](double v, int most) {
        return std::clamp(static_cast<int>(letterbox_side(spec.policy, !roi, v * gain)), 1, most);
      };
      const int w = side(r.w, dw), h = side(r.h, dh);
      g.x0 = centred ? static_cast<int>(std::nearbyint((dw - w) / 2.0 - 0.1)) : 0;
      g.y0 = centred ? static_cast<int>(std::nearbyint((dh - h) / 2.0 - 0.1)) : 0;
      g.x1 = g.x0 + w;
      g.y1 = g.y0 + h;
    } else if (spec.fit == FitKind::kLetterbox || spec.fit == FitKind::kCover) {
      const double per_pixel =
          spec.fit == FitKind::kCover ? std::min(r.w / dw, r.h / dh) : std::max(r.w / dw, r.h / dh);
      source_w = per_pixel * dw;
      source_h = per_pixel * dh;
      from_x = (r.w - source_w) / 2;
      from_y = (r.h - source_h) / 2;
    }
    g.at[0] = g.x0;
    g.at[1] = g.y0;
    g.size[0] = g.x1 - g.x0;
    g.size[1] = g.y1 - g.y0;
    if (spec.fit == FitKind::kCrop) {
      const Cut c = cut(spec, !roi, r.w, r.h);
      source_w = c.source[0];
      source_h = c.source[1];
      for (int i = 0; i < 2; ++i) {
        g.at[i] = -c.at[i];
        g.size[i] = c.size[i];
      }
      g.gain = c.gain;
    }
    double sx, sy, tx, ty;
    FV_TRY(axis(spec.grid, from_x, source_w, g.at[0], g.size[0], sx, tx));
    FV_TRY(axis(spec.grid, from_y, source_h, g.at[1], g.size[1], sy, ty));
    g.rect = (!roi || roi->kind == FV_ROI_RECT) && spec.grid == Grid::kHalfPixel;
    g.start[0] = from_x + (roi ? roi->v[0] : 0);
    g.start[1] = from_y + (roi ? roi->v[1] : 0);
    g.step[0] = sx;
    g.step[1] = sy;
    if (spec.fit == FitKind::kCrop) {  // what is shown of the region; the rest is cut off
      from_x = std::max(0.0, -g.at[0] * sx);
      from_y = std::max(0.0, -g.at[1] * sy);
      source_w = std::min(dw * sx, r.w - from_x);
      source_h = std::min(dh * sy, r.h - from_y);
    }
    g.upright_from_tensor = r.upright * Mat3{{sx, 0, tx, 0, sy, ty, 0, 0, 1}};
    g.valid[0] = std::max<double>(g.x0, -tx / sx);
    g.valid[1] = std::max<double>(g.y0, -ty / sy);
    g.valid[2] = std::min<double>(g.x1, (r.w - tx) / sx);
    g.valid[3] = std::min<double>(g.y1, (r.h - ty) / sy);

    // Corners of what is shown, in the region's coordinates, whatever the grid.
    g.inside = true;
    for (int i = 0; i < 4; ++i) {
      double x = i & 1 ? from_x + source_w : from_x, y = i & 2 ? from_y + source_h : from_y;
      g.inside = g.inside && r.upright.map(x, y) && x > -1e-6 && y > -1e-6 &&
                 x < g.upright_width + 1e-6 && y < g.upright_height + 1e-6;
    }
  }
  for (int i = 0; i < 4; ++i) {
    double x = i & 1 ? g.x1 : g.x0, y = i & 2 ? g.y1 : g.y0;
    if (!g.upright_from_tensor.map(x, y))
      return bad_roi("the map sends part of the tensor beyond the horizon");
    if (!(std::fabs(x) < 1e8) || !(std::fabs(y) < 1e8))
      return bad_roi("the map sends part of the tensor too far away (1e8 pixels)");
  }
  for (const double v : g.upright_from_tensor.m)
    if (!(std::fabs(v) <= 1e12)) return bad_roi("the map has elements beyond 1e12");
  if (!invert(g.upright_from_tensor, g.tensor_from_upright))
    return bad_roi("the map from tensor to frame has no inverse");
  g.sensor_from_tensor =
      sensor_from_upright(g.rotation, g.mirror, width, height) * g.upright_from_tensor;
  return g;
}

fv_transform make_transform(const Geometry& g, const Spec& spec) {
  fv_transform t{};
  t.abi = FV_ABI_INIT(fv_transform);
  std::memcpy(t.to_upright, g.upright_from_tensor.m, sizeof t.to_upright);
  std::memcpy(t.from_upright, g.tensor_from_upright.m, sizeof t.from_upright);
  t.tensor_width = spec.width;
  t.tensor_height = spec.height;
  t.frame_width = g.upright_width;
  t.frame_height = g.upright_height;
  t.rotation = g.rotation;
  t.mirror = g.mirror;
  std::memcpy(t.valid, g.valid, sizeof t.valid);
  return t;
}

}  // namespace foveal::imgproc
