// Segmentation networks: one channel of a picture of classes, brought back to the upright frame.
#include <algorithm>
#include <cmath>
#include <vector>

#include "imgproc/decode/decoder.h"
#include "imgproc/geometry/mask_walk.h"

namespace foveal::imgproc {
namespace {

constexpr std::string_view kActivations[] = {"none", "sigmoid", "softmax"};
constexpr std::string_view kLayouts[] = {"nhwc", "nchw"};
enum Activation { kNone, kSigmoid, kSoftmax };

// 0 for what is not a number.
float unit(float v) { return v >= 0 ? std::min(v, 1.0f) : 0; }

class Mask : public Decoder {
 public:
  std::string output;
  int channel = 0, activation = kNone, layout = 0;

  fv_decoder_result gives() const override { return FV_MASK; }
  int most() const override { return 0; }

  Status run_mask(const Outputs& outputs, const fv_transform& t,
                  const MaskReport& out) const override {
    MaskPlane plane;
    FV_TRY(read(outputs, plane));
    mask_to_frame(plane, t, false, out.values);
    return ok();
  }

  std::string json() const override {
    using json::quote;
    return "\"output\":" + quote(output) + ",\"channel\":" + std::to_string(channel) +
           ",\"activation\":" + quote(kActivations[static_cast<size_t>(activation)]) +
           ",\"layout\":" + quote(kLayouts[static_cast<size_t>(layout)]);
  }

 private:
  Status read(const Outputs& outputs, MaskPlane& p) const {
    const float* data;
    std::vector<int64_t> dims;
    FV_TRY(outputs.get(output, {-1, -1, -1}, data, dims));
    const bool last = layout == 0;
    const int64_t channels = dims[last ? 2 : 0];
    const int64_t height = dims[last ? 0 : 1], width = dims[last ? 1 : 2];
    if (channel >= channels || (activation == kSoftmax && channels < 2))
      return Status(FV_SHAPE_ERROR,
                    format("decoder: output '%s': expected more than %d channels (%s), got %lld",
                           output.c_str(), channel >= channels ? channel : 1,
                           last ? "its last dimension" : "its first but one dimension",
                           static_cast<long long>(channels)));
    if (std::max(width, height) > kMaxMaskSide)
      return Status(FV_SHAPE_ERROR,
                    format("decoder: output '%s': expected at most %lld pixels a side",
                           output.c_str(), static_cast<long long>(kMaxMaskSide)));
    const int64_t pixel = last ? channels : 1, step = last ? 1 : width * height;
    p = MaskPlane(width, height);
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x)
        p.row(y)[x] = value(data + (y * width + x) * pixel, channels, step);
    return ok();
  }

  // Of one pixel of the output, whose channels lie `step` apart.
  float value(const float* v, int64_t channels, int64_t step) const {
    const float own = v[channel * step];
    if (activation == kNone) return unit(own);
    if (activation == kSigmoid) return unit(1 / (1 + std::exp(-own)));
    float most = own, sum = 0;
    for (int64_t c = 0; c < channels; ++c) most = std::max(most, v[c * step]);
    for (int64_t c = 0; c < channels; ++c) sum += std::exp(v[c * step] - most);
    return unit(std::exp(own - most) / sum);
  }
};

}  // namespace

MadeDecoder make_mask(const json::Object& o) {
  FV_TRY(o.only({"decoder", "kind", "output", "channel", "activation", "layout"}));
  auto d = std::make_unique<Mask>();
  FV_TRY(read_output(o, "output", d->output));
  FV_TRY(o.read_int("channel", 0, 65535, d->channel));
  FV_TRY(o.read_enum("activation", kActivations, d->activation));
  FV_TRY(o.read_enum("layout", kLayouts, d->layout));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
