// YOLOX-shaped heads, as they leave the network: offsets to the cells of one grid per stride.
#include <cmath>

#include "imgproc/decode/detector.h"
#include "imgproc/decode/scan.h"

namespace foveal::imgproc {
namespace {

constexpr std::string_view kScores[] = {"none", "sigmoid"};
constexpr int kMaxStride = 16384;
constexpr size_t kMaxStrides = 32;
constexpr int kMaxClasses = 100000;

class Yolox : public Detector {
 public:
  std::string output;
  std::vector<double> strides{8, 16, 32}, size;  // size empty: whatever the tensor has
  int scores = 0;

  Status decode(const Outputs& outputs, int width, int height, Candidates& out) const override {
    if (!size.empty() && (size[0] != width || size[1] != height))
      return Status(FV_SHAPE_ERROR, format("decoder: yolox: expected a tensor of %gx%g pixels, "
                                           "got %dx%d",
                                           size[0], size[1], width, height));
    int64_t cells = 0;
    for (const double s : strides) {
      const int stride = static_cast<int>(s);
      if (width % stride || height % stride)
        return Status(FV_SHAPE_ERROR,
                      format("decoder: yolox: expected a tensor of a multiple of %d pixels, "
                             "got %dx%d",
                             stride, width, height));
      cells += int64_t{width / stride} * (height / stride);
    }
    const float* data;
    std::vector<int64_t> dims;
    FV_TRY(outputs.get(output, {cells, -1}, data, dims));
    const int64_t channels = dims[1], classes = channels - 5;
    if (classes < 1 || classes > kMaxClasses)
      return Status(FV_SHAPE_ERROR,
                    "decoder: output '" + output +
                        format("': expected 4 box values, the objectness and 1..%d classes, "
                               "got %lld channels",
                               kMaxClasses, static_cast<long long>(channels)));
    const auto activate = [this](float v) { return scores ? 1 / (1 + std::exp(-v)) : v; };
    const float least = static_cast<float>(min_score);
    for (const double s : strides) {
      const float stride = static_cast<float>(s);
      const int w = width / static_cast<int>(s), h = height / static_cast<int>(s);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x, data += channels) {
          const float object = activate(data[4]);
          // No class score is above 1, so that most cells end here.
          if (!(object >= least)) continue;
          const Best best = best_of(data + 5, classes);
          const float score = object * activate(best.value);
          if (!(score >= least)) continue;
          const float cx = (data[0] + static_cast<float>(x)) * stride;
          const float cy = (data[1] + static_cast<float>(y)) * stride;
          const float bw = std::exp(data[2]) * stride / 2, bh = std::exp(data[3]) * stride / 2;
          const float box[4] = {cx - bw, cy - bh, cx + bw, cy + bh};
          out.add(best.index, score, box, nullptr);
        }
    }
    return ok();
  }

  std::string json() const override {
    return "\"output\":" + json::quote(output) + ",\"strides\":" + json::numbers(strides) +
           (size.empty() ? "" : ",\"size\":" + json::numbers(size)) +
           ",\"scores\":" + json::quote(kScores[scores]) + common_json();
  }
};

bool whole(const std::vector<double>& list) {
  for (const double v : list)
    if (!(v >= 1 && v <= kMaxStride) || v != std::floor(v)) return false;
  return true;
}

}  // namespace

MadeDecoder make_yolox(const json::Object& o) {
  auto d = std::make_unique<Yolox>();
  FV_TRY(d->read_common(o, {"output", "strides", "size", "scores"}));
  FV_TRY(read_output(o, "output", d->output));
  FV_TRY(o.read("strides", 0, false, d->strides));
  if (!whole(d->strides) || d->strides.size() > kMaxStrides)
    return o.error("strides", format("at most %zu whole numbers in 1..%d", kMaxStrides, kMaxStride),
                   o.find("strides"));
  FV_TRY(o.read("size", 2, false, d->size));
  if (!whole(d->size))
    return o.error("size", format("two whole numbers in 1..%d", kMaxStride), o.find("size"));
  FV_TRY(o.read_enum("scores", kScores, d->scores));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
