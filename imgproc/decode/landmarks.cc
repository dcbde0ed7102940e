// Landmark networks: points in the tensor's pixels (or parts of it), with depth, visibility and
// presence where the network gives them, and one number that says whether the thing is there.
#include <algorithm>
#include <cmath>
#include <vector>

#include "imgproc/decode/decoder.h"

namespace foveal::imgproc {
namespace {

constexpr std::string_view kActivations[] = {"sigmoid", "none"};
constexpr int kValues = 5;  // reported per point: x, y, z, visibility, presence

double sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

class Landmarks : public Decoder {
 public:
  std::vector<std::string> names;  // of the outputs that hold the points, in order
  int count = 0;                   // of points, over all of them
  int values = 3;                  // per point in the outputs: the first of kValues
  std::string presence, label;     // "": none
  int presence_activation = 0, visibility_activation = 0;
  std::vector<double> scale = {1, 1};
  double min_score = 0.5;

  fv_decoder_result gives() const override { return FV_LANDMARKS; }
  int points() const override { return count; }
  int point_values() const override { return kValues; }

  Status run(const Outputs& outputs, const fv_transform& t, Report& out) const override {
    std::vector<const float*> parts(names.size());
    std::vector<int64_t> sizes(names.size());
    int64_t total = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      FV_TRY(outputs.flat(names[i], parts[i], sizes[i]));
      if (sizes[i] % values)
        return Status(FV_SHAPE_ERROR,
                      format("decoder: output '%s': expected %d values per point, got %lld in all",
                             names[i].c_str(), values, static_cast<long long>(sizes[i])));
      total += sizes[i] / values;
    }
    if (total != count)
      return Status(FV_SHAPE_ERROR,
                    format("decoder: landmarks: expected %d points of %d values, got %lld", count,
                           values, static_cast<long long>(total)));
    double score = 1, side = 0;
    FV_TRY(read_number(outputs, presence, score));
    if (!presence.empty() && presence_activation == 0) score = sigmoid(score);
    FV_TRY(read_number(outputs, label, side));
    if (!(score >= min_score) || !std::isfinite(score) || !std::isfinite(side)) return ok();

    const Mat3 upright = to_upright(t);
    double depth;
    if (!depth_scale(upright, t, depth)) return ok();
    std::vector<float> mapped(static_cast<size_t>(count) * kValues);
    float* p = mapped.data();
    float hull[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < parts.size(); ++i)
      for (const float* from = parts[i]; from < parts[i] + sizes[i]; from += values, p += kValues) {
        if (!map_point(upright, depth, from, p)) return ok();
        for (int a = 0; a < 2; ++a) {
          hull[a] = std::min(hull[a], p[a]);
          hull[2 + a] = std::max(hull[2 + a], p[a]);
        }
      }
    if (out.capacity < 1) return ok();
    fv_detection& d = out.detections[0];
    d.label = side > 0.5 ? 1 : 0;
    d.score = static_cast<float>(std::min(score, 1.0));
    std::copy(hull, hull + 4, d.box);
    if (out.points) std::copy(mapped.begin(), mapped.end(), out.points);
    out.count = 1;
    return ok();
  }

  std::string json() const override {
    using json::quote;
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ",") + quote(name);
    return "\"landmarks\":[" + list + "],\"points\":" + std::to_string(count) +
           ",\"values\":" + std::to_string(values) + ",\"scale\":" + json::numbers(scale) +
           ",\"visibility_activation\":" +
           quote(kActivations[static_cast<size_t>(visibility_activation)]) +
           ",\"presence\":" + quote(presence) + ",\"presence_activation\":" +
           quote(kActivations[static_cast<size_t>(presence_activation)]) +
           ",\"label\":" + quote(label) + ",\"min_score\":" + json::number(min_score);
  }

 private:
  // The one number of an output; `out` stays when there is no such output.
  static Status read_number(const Outputs& outputs, const std::string& name, double& out) {
    if (name.empty()) return ok();
    const float* data;
    std::vector<int64_t> dims;
    FV_TRY(outputs.get(name, {1}, data, dims));
    out = data[0];
    return ok();
  }

  // Upright pixels per tensor pixel along the tensor's x: depth grows with the width.
  static bool depth_scale(const Mat3& upright, const fv_transform& t, double& out) {
    const double w = t.tensor_width;
    double x[2] = {0, w}, y[2] = {t.tensor_height / 2.0, t.tensor_height / 2.0};
    for (int i = 0; i < 2; ++i)
      if (!upright.map(x[i], y[i])) return false;
    out = std::hypot(x[1] - x[0], y[1] - y[0]) / w;
    return std::isfinite(out);
  }

  // False for what is not finite or lies nowhere.
  bool map_point(const Mat3& upright, double depth, const float* from, float* to) const {
    double x = from[0] * scale[0], y = from[1] * scale[1];
    if (!upright.map(x, y)) return false;
    to[0] = static_cast<float>(x);
    to[1] = static_cast<float>(y);
    to[2] = values > 2 ? static_cast<float>(from[2] * scale[0] * depth) : 0;
    for (int i = 3; i < kValues; ++i) {
      const double v = i < values ? from[i] : 1;
      const bool logit = i < values && visibility_activation == 0;
      to[i] = static_cast<float>(logit ? sigmoid(v) : std::clamp(v, 0.0, 1.0));
    }
    return std::all_of(to, to + kValues, [](float v) { return std::isfinite(v); });
  }
};

// A name, or a list of names.
Status read_names(const json::Object& o, std::vector<std::string>& out) {
  constexpr size_t kMost = 16;
  constexpr char kExpected[] = "the name of an output, or a list of at most 16";
  FV_TRY(o.require("landmarks"));
  const json::Value* v = o.find("landmarks");
  std::vector<const json::Value*> items;
  if (v->type == json::Type::kArray)
    for (const json::Value& item : v->items) items.push_back(&item);
  else
    items.push_back(v);
  if (items.empty() || items.size() > kMost) return o.error("landmarks", kExpected, v);
  for (const json::Value* item : items) {
    if (item->type != json::Type::kString || item->string.empty())
      return o.error("landmarks", kExpected, item);
    out.push_back(item->string);
  }
  return ok();
}

}  // namespace

MadeDecoder make_landmarks(const json::Object& o) {
  FV_TRY(
      o.only({"decoder", "kind", "landmarks", "points", "values", "scale", "visibility_activation",
              "presence", "presence_activation", "label", "min_score"}));
  auto d = std::make_unique<Landmarks>();
  FV_TRY(read_names(o, d->names));
  FV_TRY(o.require("points"));
  FV_TRY(o.read_int("points", 1, 65536, d->count));
  FV_TRY(o.read_int("values", 2, kValues, d->values));
  FV_TRY(o.read("scale", 2, true, d->scale));
  for (const double v : d->scale)
    if (!(v > 0 && v <= 1e6))
      return o.error("scale", "tensor pixels per unit, above 0 and at most 1e6", o.find("scale"));
  FV_TRY(o.read_enum("visibility_activation", kActivations, d->visibility_activation));
  FV_TRY(o.read("presence", d->presence));
  FV_TRY(o.read_enum("presence_activation", kActivations, d->presence_activation));
  FV_TRY(o.read("label", d->label));
  FV_TRY(read_min_score(o, d->min_score));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
