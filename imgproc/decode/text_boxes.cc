// Text regions of a differentiable binarisation map (Liao et al., 2020): connected regions, the
// least rectangle around each, grown by what training shrank it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "imgproc/decode/detector.h"
#include "imgproc/decode/quad.h"
#include "imgproc/decode/regions.h"

namespace foveal::imgproc {
namespace {

constexpr int64_t kMaxSide = 16384;
constexpr size_t kMaxRegions = 4096;  // of more, the largest are looked at

// The outermost pixels of every row of a region, sorted by y, then x.
std::vector<Point> outline(const PixelRun* begin, const PixelRun* end) {
  std::vector<Point> points;
  for (const PixelRun* r = begin; r != end;) {
    const PixelRun& left = *r;
    while (r + 1 != end && r[1].y == left.y) ++r;
    points.push_back({double(left.x0), double(left.y)});
    if (r->x1 != left.x0) points.push_back({double(r->x1), double(left.y)});
    ++r;
  }
  return points;
}

// Mean of the pixels whose centres (here: whole numbers) lie in the rectangle, rim included.
double mean_inside(const float* map, int64_t width, int64_t height, const TurnedRect& r) {
  constexpr double kRim = 1e-6;
  double top = r.corner[0].y, bottom = top;
  for (const Point c : r.corner) {
    top = std::min(top, c.y);
    bottom = std::max(bottom, c.y);
  }
  double total = 0;
  int64_t count = 0;
  const int64_t y0 = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(top - kRim)));
  const int64_t y1 = std::min(height - 1, static_cast<int64_t>(std::floor(bottom + kRim)));
  for (int64_t y = y0; y <= y1; ++y) {
    double left = INFINITY, right = -INFINITY;
    const double at = std::clamp(static_cast<double>(y), top, bottom);
    for (int i = 0; i < 4; ++i) {
      const Point a = r.corner[i], b = r.corner[(i + 1) % 4];
      if (at < std::min(a.y, b.y) || at > std::max(a.y, b.y)) continue;
      const double part = a.y == b.y ? 0 : (at - a.y) / (b.y - a.y);
      const double x = a.x + part * (b.x - a.x);
      left = std::min({left, x, a.y == b.y ? b.x : x});
      right = std::max({right, x, a.y == b.y ? b.x : x});
    }
    const int64_t x0 = std::max<int64_t>(0, static_cast<int64_t>(std::ceil(left - kRim)));
    const int64_t x1 = std::min(width - 1, static_cast<int64_t>(std::floor(right + kRim)));
    for (int64_t x = x0; x <= x1; ++x) total += map[y * width + x];
    count += std::max<int64_t>(0, x1 - x0 + 1);
  }
  return count ? total / static_cast<double>(count) : 0;
}

class TextBoxes : public Detector {
 public:
  std::string output;
  double threshold = 0.3, unclip = 1.6, min_side = 3;
  bool dilate = true;

  TextBoxes() {
    max_detections = 1000;
    nms.kind = NmsKind::kNone;
    outlined = true;
  }
  int points() const override { return 4; }

  Status decode(const Outputs& outputs, int width, int height, Candidates& out) const override {
    const float* map;
    std::vector<int64_t> dims;
    FV_TRY(outputs.get(output, {-1, -1}, map, dims));
    const int64_t h = dims[0], w = dims[1];
    if (w > kMaxSide || h > kMaxSide)
      return Status(FV_SHAPE_ERROR,
                    "decoder: output '" + output +
                        format("': expected a map of at most %lldx%lld, got %lldx%lld",
                               static_cast<long long>(kMaxSide), static_cast<long long>(kMaxSide),
                               static_cast<long long>(w), static_cast<long long>(h)));
    const Regions regions = find_regions(map, w, h, static_cast<float>(threshold), dilate);
    // A pixel's centre is half a pixel from its corner; the dilation has moved it there.
    const double shift = dilate ? 0 : 0.5;
    const double sx = static_cast<double>(width) / static_cast<double>(w),
                 sy = static_cast<double>(height) / static_cast<double>(h);
    for (const size_t i : largest(regions)) {
      const PixelRun* runs = regions.runs.data();
      const TurnedRect core =
          min_area_rect(convex_hull(outline(runs + regions.first[i], runs + regions.first[i + 1])));
      if (std::min(core.width, core.height) < min_side) continue;
      const float score = static_cast<float>(mean_inside(map, w, h, core));
      if (!(score >= static_cast<float>(min_score))) continue;
      const double distance = unclip * core.width * core.height / (2 * (core.width + core.height));
      const TurnedRect full = grow(core, distance);
      if (std::min(full.width, full.height) < min_side + 2) continue;
      float marks[8], box[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
      for (int k = 0; k < 4; ++k) {
        const float x = static_cast<float>((full.corner[k].x + shift) * sx);
        const float y = static_cast<float>((full.corner[k].y + shift) * sy);
        marks[2 * k] = x;
        marks[2 * k + 1] = y;
        box[0] = std::min(box[0], x);
        box[1] = std::min(box[1], y);
        box[2] = std::max(box[2], x);
        box[3] = std::max(box[3], y);
      }
      out.add(0, score, box, marks);
    }
    return ok();
  }

  std::string json() const override {
    return "\"output\":" + json::quote(output) + ",\"threshold\":" + json::number(threshold) +
           ",\"unclip\":" + json::number(unclip) + ",\"min_side\":" + json::number(min_side) +
           ",\"dilate\":" + (dilate ? "true" : "false") + common_json();
  }

 private:
  // All regions in their order, or the kMaxRegions that have the most pixels.
  static std::vector<size_t> largest(const Regions& regions) {
    std::vector<size_t> list(regions.count());
    std::iota(list.begin(), list.end(), size_t{0});
    if (list.size() <= kMaxRegions) return list;
    std::nth_element(
        list.begin(), list.begin() + kMaxRegions, list.end(), [&regions](size_t a, size_t b) {
          return regions.pixels[a] != regions.pixels[b] ? regions.pixels[a] > regions.pixels[b]
                                                        : a < b;
        });
    list.resize(kMaxRegions);
    std::sort(list.begin(), list.end());
    return list;
  }
};

Status read_between(const json::Object& o, std::string_view key, double least, double most,
                    double& out) {
  FV_TRY(o.read(key, out));
  if (!(out >= least && out <= most))
    return o.error(key, format("a number in %g..%g", least, most), o.find(key));
  return ok();
}

}  // namespace

MadeDecoder make_text_boxes(const json::Object& o) {
  auto d = std::make_unique<TextBoxes>();
  FV_TRY(d->read_common(o, {"output", "threshold", "unclip", "min_side", "dilate"}));
  FV_TRY(read_output(o, "output", d->output));
  FV_TRY(read_between(o, "threshold", 0, 1, d->threshold));
  FV_TRY(read_between(o, "unclip", 0, 100, d->unclip));
  FV_TRY(read_between(o, "min_side", 1, 10000, d->min_side));
  FV_TRY(o.read("dilate", d->dilate));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
