// CenterFace: a heat map of face centres at 1/stride, with size, offset and landmarks per cell.
#include <algorithm>
#include <cmath>

#include "imgproc/decode/detector.h"

namespace foveal::imgproc {
namespace {

constexpr int kLandmarks = 5;

class CenterFace : public Detector {
 public:
  std::string heatmap, scale, offset, landmarks;
  int stride = 4;

  int points() const override { return landmarks.empty() ? 0 : kLandmarks; }

  Status decode(const Outputs& outputs, int width, int height, Candidates& out) const override {
    const int64_t w = width / stride, h = height / stride;
    if (width % stride || height % stride)
      return Status(FV_SHAPE_ERROR,
                    format("decoder: centerface: expected a tensor of a multiple of %d "
                           "pixels, got %dx%d",
                           stride, width, height));
    const float *heat, *size, *shift, *marks = nullptr;
    std::vector<int64_t> dims;
    FV_TRY(outputs.get(heatmap, {1, h, w}, heat, dims));
    FV_TRY(outputs.get(scale, {2, h, w}, size, dims));
    FV_TRY(outputs.get(offset, {2, h, w}, shift, dims));
    if (!landmarks.empty()) FV_TRY(outputs.get(landmarks, {2 * kLandmarks, h, w}, marks, dims));
    const float s = static_cast<float>(stride), fw = static_cast<float>(width),
                fh = static_cast<float>(height);
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x) {
        const int64_t at = y * w + x, plane = h * w;
        if (!(heat[at] > static_cast<float>(min_score))) continue;
        const float bh = std::exp(size[at]) * s, bw = std::exp(size[plane + at]) * s;
        const float cy = (static_cast<float>(y) + shift[at] + 0.5f) * s;
        const float cx = (static_cast<float>(x) + shift[plane + at] + 0.5f) * s;
        // As the network was trained: landmarks are relative to the clipped box.
        const float x0 = std::clamp(cx - bw / 2, 0.0f, fw), y0 = std::clamp(cy - bh / 2, 0.0f, fh);
        const float box[4] = {x0, y0, std::min(x0 + bw, fw), std::min(y0 + bh, fh)};
        float points[2 * kLandmarks];
        for (int i = 0; marks && i < kLandmarks; ++i) {
          points[2 * i] = marks[(2 * i + 1) * plane + at] * bw + x0;
          points[2 * i + 1] = marks[2 * i * plane + at] * bh + y0;
        }
        out.add(0, heat[at], box, points);
      }
    return ok();
  }

  std::string json() const override {
    using json::quote;
    return "\"heatmap\":" + quote(heatmap) + ",\"scale\":" + quote(scale) +
           ",\"offset\":" + quote(offset) + ",\"landmarks\":" + quote(landmarks) +
           ",\"stride\":" + std::to_string(stride) + common_json();
  }
};

}  // namespace

MadeDecoder make_centerface(const json::Object& o) {
  auto d = std::make_unique<CenterFace>();
  FV_TRY(d->read_common(o, {"heatmap", "scale", "offset", "landmarks", "stride"}));
  FV_TRY(read_output(o, "heatmap", d->heatmap));
  FV_TRY(read_output(o, "scale", d->scale));
  FV_TRY(read_output(o, "offset", d->offset));
  FV_TRY(o.read("landmarks", d->landmarks));
  FV_TRY(o.read_int("stride", 1, 256, d->stride));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
