// YOLOv8-shaped heads: decoded boxes and class scores per cell, for pose models points as well.
#include <cmath>

#include "imgproc/decode/detector.h"
#include "imgproc/decode/scan.h"

namespace foveal::imgproc {
namespace {

constexpr std::string_view kLayouts[] = {"channels_first", "channels_last"};
constexpr std::string_view kScores[] = {"none", "sigmoid"};
constexpr int kMaxClasses = 100000;

class Yolov8 : public Detector {
 public:
  std::string output;
  int classes = 0, point_count = 0, layout = 0, scores = 0;  // classes 0: as the tensor has

  int points() const override { return point_count; }

  Status decode(const Outputs& outputs, int, int, Candidates& out) const override {
    const float* data;
    std::vector<int64_t> dims;
    const int64_t want = classes ? 4 + classes + 3 * point_count : -1;
    const bool first = layout == 0;
    FV_TRY(outputs.get(output, first ? Dims{want, -1} : Dims{-1, want}, data, dims));
    const int64_t channels = dims[first ? 0 : 1], n = dims[first ? 1 : 0];
    const int64_t count = channels - 4 - 3 * point_count;
    if (count < 1 || count > kMaxClasses)
      return Status(FV_SHAPE_ERROR,
                    "decoder: output '" + output +
                        format("': expected 4 box values, 1..%d classes and %d x 3 point values, "
                               "got %lld channels",
                               kMaxClasses, point_count, static_cast<long long>(channels)),
                    "the spec's \"layout\" says which axis has the channels");
    const int64_t channel_step = first ? n : 1, cell_step = first ? 1 : channels;
    std::vector<float> best(static_cast<size_t>(n));
    std::vector<int32_t> label(best.size());
    if (first) best_of_rows(data + 4 * n, count, n, best.data(), label.data());
    for (int64_t i = 0; i < n; ++i) {
      const float* cell = data + i * cell_step;
      const size_t at = static_cast<size_t>(i);
      if (!first) {
        const Best b = best_of(cell + 4, count);
        best[at] = b.value;
        label[at] = b.index;
      }
      const float score = scores ? 1 / (1 + std::exp(-best[at])) : best[at];
      if (!(score >= static_cast<float>(min_score))) continue;
      const auto value = [&](int64_t channel) { return cell[channel * channel_step]; };
      const float x = value(0), y = value(1), w = value(2) / 2, h = value(3) / 2;
      const float box[4] = {x - w, y - h, x + w, y + h};
      float marks[2 * kMaxPoints];
      for (int p = 0; p < point_count; ++p) {
        marks[2 * p] = value(4 + count + 3 * p);
        marks[2 * p + 1] = value(5 + count + 3 * p);
      }
      out.add(label[at], score, box, marks);
    }
    return ok();
  }

  std::string json() const override {
    return "\"output\":" + json::quote(output) + ",\"classes\":" + std::to_string(classes) +
           ",\"points\":" + std::to_string(point_count) +
           ",\"layout\":" + json::quote(kLayouts[layout]) +
           ",\"scores\":" + json::quote(kScores[scores]) + common_json();
  }
};

}  // namespace

MadeDecoder make_yolov8(const json::Object& o) {
  auto d = std::make_unique<Yolov8>();
  FV_TRY(d->read_common(o, {"output", "classes", "points", "layout", "scores"}));
  FV_TRY(read_output(o, "output", d->output));
  FV_TRY(o.read_int("classes", 0, kMaxClasses, d->classes));
  FV_TRY(o.read_int("points", 0, kMaxPoints, d->point_count));
  FV_TRY(o.read_enum("layout", kLayouts, d->layout));
  FV_TRY(o.read_enum("scores", kScores, d->scores));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
