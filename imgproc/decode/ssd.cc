// Single-shot detectors: boxes relative to a fixed grid of anchors.
#include <algorithm>
#include <cmath>

#include "imgproc/decode/detector.h"

namespace foveal::imgproc {
namespace {

constexpr std::string_view kCodings[] = {"mediapipe", "tf"};
constexpr std::string_view kActivations[] = {"sigmoid", "none"};
constexpr size_t kMaxAnchors = 1000000;

struct Anchor {
  float x, y, w, h;  // centre and size, 0..1 of the tensor
};

struct AnchorSpec {
  std::vector<double> size, strides, aspect_ratios{1.0}, offset{0.5, 0.5};
  double min_scale = 0.2, max_scale = 0.95, interpolated = 1.0;
  bool fixed = false, reduce = false;

  double scale(size_t layer) const {
    const size_t n = strides.size();
    if (n == 1) return (min_scale + max_scale) / 2;
    return min_scale +
           (max_scale - min_scale) * static_cast<double>(layer) / static_cast<double>(n - 1);
  }
};

// Layers of equal stride share one grid: their anchors stand together at each cell. A layer has
// one anchor per aspect ratio and, if `interpolated` > 0, one of that ratio whose scale lies
// (geometrically) between its own and the next layer's.
Result<std::vector<Anchor>> make_anchors(const AnchorSpec& s) {
  std::vector<Anchor> out;
  for (size_t layer = 0; layer < s.strides.size();) {
    std::vector<std::pair<double, double>> shapes;  // w, h
    const auto shape = [&](double scale, double ratio) {
      const double r = std::sqrt(ratio);
      shapes.emplace_back(s.fixed ? 1 : scale * r, s.fixed ? 1 : scale / r);
    };
    const double stride = s.strides[layer];
    for (; layer < s.strides.size() && s.strides[layer] == stride; ++layer) {
      const double scale = s.scale(layer);
      if (layer == 0 && s.reduce) {  // few, small anchors on the finest grid
        shape(0.1, 1.0);
        shape(scale, 2.0);
        shape(scale, 0.5);
        continue;
      }
      for (const double ratio : s.aspect_ratios) shape(scale, ratio);
      if (s.interpolated > 0) {
        const double next = layer + 1 == s.strides.size() ? 1.0 : s.scale(layer + 1);
        shape(std::sqrt(scale * next), s.interpolated);
      }
    }
    const int w = static_cast<int>(std::ceil(s.size[0] / stride));
    const int h = static_cast<int>(std::ceil(s.size[1] / stride));
    if (out.size() + static_cast<double>(w) * h * static_cast<double>(shapes.size()) > kMaxAnchors)
      return Status(FV_SPEC_ERROR, format("decoder spec: anchors: more than %zu", kMaxAnchors));
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        for (const auto& [aw, ah] : shapes)
          out.push_back({static_cast<float>((x + s.offset[0]) / w),
                         static_cast<float>((y + s.offset[1]) / h), static_cast<float>(aw),
                         static_cast<float>(ah)});
  }
  return out;
}

Result<AnchorSpec> read_anchors(const json::Object& root) {
  AnchorSpec s;
  json::Object o;
  bool present;
  FV_TRY(root.require("anchors"));
  FV_TRY(root.object("anchors", o, present));
  FV_TRY(o.only({"size", "strides", "min_scale", "max_scale", "aspect_ratios",
                 "interpolated_scale_aspect_ratio", "offset", "fixed_anchor_size",
                 "reduce_boxes_in_lowest_layer"}));
  FV_TRY(o.require("size"));
  FV_TRY(o.require("strides"));
  FV_TRY(o.read("size", 2, false, s.size));
  FV_TRY(o.read("strides", 0, false, s.strides));
  FV_TRY(o.read("min_scale", s.min_scale));
  FV_TRY(o.read("max_scale", s.max_scale));
  FV_TRY(o.read("aspect_ratios", 0, false, s.aspect_ratios));
  FV_TRY(o.read("interpolated_scale_aspect_ratio", s.interpolated));
  FV_TRY(o.read("offset", 2, false, s.offset));
  FV_TRY(o.read("fixed_anchor_size", s.fixed));
  FV_TRY(o.read("reduce_boxes_in_lowest_layer", s.reduce));
  for (const double v : s.size)
    if (v < 1 || v > 16384) return o.error("size", "values in 1..16384", o.find("size"));
  for (const double v : s.strides)
    if (v < 1 || v > 16384) return o.error("strides", "values in 1..16384", o.find("strides"));
  if (s.strides.size() > 32) return o.error("strides", "at most 32 layers", o.find("strides"));
  for (const double v : s.aspect_ratios)
    if (!(v > 0)) return o.error("aspect_ratios", "values above 0", o.find("aspect_ratios"));
  if (s.aspect_ratios.size() > 32)
    return o.error("aspect_ratios", "at most 32", o.find("aspect_ratios"));
  if (!(s.min_scale > 0) || !(s.max_scale >= s.min_scale) || s.max_scale > 16)
    return o.error("max_scale", "0 < min_scale <= max_scale <= 16", o.find("max_scale"));
  return s;
}

class Ssd : public Detector {
 public:
  std::string boxes, scores;
  AnchorSpec spec;
  std::vector<Anchor> anchors;
  int coding = 0, activation = 0, point_count = 0, background = -1;
  double clip_logit = 100;
  std::vector<double> scale;

  int points() const override { return point_count; }

  Status decode(const Outputs& outputs, int width, int height, Candidates& out) const override {
    const int64_t n = static_cast<int64_t>(anchors.size()), values = 4 + 2 * point_count;
    const float *box, *score;
    std::vector<int64_t> dims;
    FV_TRY(outputs.get(boxes, {n, values}, box, dims));
    FV_TRY(outputs.get(scores, {n, -1}, score, dims));
    const int64_t classes = dims[1];
    for (int64_t i = 0; i < n; ++i)
      for (int64_t c = 0; c < classes; ++c) {
        if (c == background) continue;
        const float s = activate(score[i * classes + c]);
        if (!(s >= static_cast<float>(min_score))) continue;
        float at[4], marks[2 * kMaxPoints];
        locate(anchors[static_cast<size_t>(i)], box + i * values, width, height, at, marks);
        out.add(static_cast<int>(c), s, at, marks);
      }
    return ok();
  }

  std::string json() const override {
    using json::number;
    using json::numbers;
    using json::quote;
    return "\"boxes\":" + quote(boxes) + ",\"scores\":" + quote(scores) +
           ",\"anchors\":{\"size\":" + numbers(spec.size) +
           ",\"strides\":" + numbers(spec.strides) + ",\"min_scale\":" + number(spec.min_scale) +
           ",\"max_scale\":" + number(spec.max_scale) +
           ",\"aspect_ratios\":" + numbers(spec.aspect_ratios) +
           ",\"interpolated_scale_aspect_ratio\":" + number(spec.interpolated) +
           ",\"offset\":" + numbers(spec.offset) +
           ",\"fixed_anchor_size\":" + (spec.fixed ? "true" : "false") +
           ",\"reduce_boxes_in_lowest_layer\":" + (spec.reduce ? "true" : "false") +
           "},\"coding\":" + quote(kCodings[coding]) + ",\"scale\":" + numbers(scale) +
           ",\"points\":" + std::to_string(point_count) +
           ",\"activation\":" + quote(kActivations[activation]) +
           ",\"clip_logit\":" + number(clip_logit) +
           ",\"background\":" + std::to_string(background) + common_json();
  }

 private:
  float activate(float v) const {
    if (activation == 1) return v;
    const float most = static_cast<float>(clip_logit);
    if (most > 0) v = v < -most ? -most : v > most ? most : v;
    return 1 / (1 + std::exp(-v));
  }

  void locate(const Anchor& a, const float* v, int width, int height, float* at,
              float* marks) const {
    const auto s = [this](int i) { return static_cast<float>(scale[static_cast<size_t>(i)]); };
    float x, y, w, h;
    if (coding == 0) {
      x = v[0] / s(0) * a.w + a.x;
      y = v[1] / s(1) * a.h + a.y;
      w = v[2] / s(2) * a.w;
      h = v[3] / s(3) * a.h;
    } else {
      y = v[0] / s(0) * a.h + a.y;
      x = v[1] / s(1) * a.w + a.x;
      h = std::exp(v[2] / s(2)) * a.h;
      w = std::exp(v[3] / s(3)) * a.w;
    }
    const float fw = static_cast<float>(width), fh = static_cast<float>(height);
    at[0] = (x - w / 2) * fw;
    at[1] = (y - h / 2) * fh;
    at[2] = (x + w / 2) * fw;
    at[3] = (y + h / 2) * fh;
    for (int i = 0; i < point_count; ++i) {
      marks[2 * i] = (v[4 + 2 * i] / s(0) * a.w + a.x) * fw;
      marks[2 * i + 1] = (v[5 + 2 * i] / s(1) * a.h + a.y) * fh;
    }
  }
};

}  // namespace

MadeDecoder make_ssd(const json::Object& o) {
  auto d = std::make_unique<Ssd>();
  FV_TRY(d->read_common(o, {"boxes", "scores", "anchors", "coding", "scale", "points", "activation",
                            "clip_logit", "background"}));
  FV_TRY(read_output(o, "boxes", d->boxes));
  FV_TRY(read_output(o, "scores", d->scores));
  FV_ASSIGN(d->spec, read_anchors(o));
  FV_ASSIGN(d->anchors, make_anchors(d->spec));
  FV_TRY(o.require("coding"));
  FV_TRY(o.read_enum("coding", kCodings, d->coding));
  d->scale = d->coding == 1 ? std::vector<double>{10, 10, 5, 5} : d->spec.size;
  if (d->coding == 0) d->scale.insert(d->scale.end(), d->spec.size.begin(), d->spec.size.end());
  FV_TRY(o.read("scale", 4, false, d->scale));
  for (const double v : d->scale)
    if (!(v > 0)) return o.error("scale", "values above 0", o.find("scale"));
  FV_TRY(o.read_int("points", 0, kMaxPoints, d->point_count));
  if (d->coding == 1 && d->point_count)
    return o.error("points", "0 with coding \"tf\"", o.find("points"));
  FV_TRY(o.read_enum("activation", kActivations, d->activation));
  FV_TRY(o.read("clip_logit", d->clip_logit));
  FV_TRY(o.read_int("background", -1, 1 << 20, d->background));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
