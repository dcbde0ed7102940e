// Classification: the best classes of one score per class.
#include <algorithm>
#include <cmath>

#include "imgproc/decode/decoder.h"

namespace foveal::imgproc {
namespace {

constexpr std::string_view kActivations[] = {"softmax", "sigmoid", "none"};
constexpr int kMaxTop = 1000;
constexpr int64_t kMaxClasses = int64_t{1} << 24;

struct Scored {
  int32_t label;
  float score;
};

class Classes : public Decoder {
 public:
  std::string output;
  int activation = 0, top = 5;
  double min_score = 0;

  fv_decoder_result gives() const override { return FV_CLASSES; }
  int most() const override { return top; }

  Status run(const Outputs& outputs, const fv_transform& t, Report& out) const override {
    const float* data;
    std::vector<int64_t> dims;
    FV_TRY(outputs.get(output, {-1}, data, dims));
    if (dims[0] > kMaxClasses)
      return Status(FV_SHAPE_ERROR, "decoder: output '" + output +
                                        format("': expected at most %lld classes, got %lld",
                                               static_cast<long long>(kMaxClasses),
                                               static_cast<long long>(dims[0])));
    // What the region's hull is in the frame; all classes speak of it.
    float box[4];
    const float valid[4] = {static_cast<float>(t.valid[0]), static_cast<float>(t.valid[1]),
                            static_cast<float>(t.valid[2]), static_cast<float>(t.valid[3])};
    if (!map_box(to_upright(t), valid, box))
      return Status(FV_INVALID_ARGUMENT, "decoder: transform: its region is nowhere in the frame");
    clip_box(t, box);
    std::vector<Scored> found = score(data, dims[0]);
    const size_t n =
        std::min({found.size(), static_cast<size_t>(top), static_cast<size_t>(out.capacity)});
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(n), found.end(),
                      [](const Scored& a, const Scored& b) {
                        return a.score != b.score ? a.score > b.score : a.label < b.label;
                      });
    for (size_t i = 0; i < n; ++i)
      out.detections[out.count++] = {
          found[i].label, found[i].score, {box[0], box[1], box[2], box[3]}};
    return ok();
  }

  std::string json() const override {
    return "\"output\":" + json::quote(output) +
           ",\"activation\":" + json::quote(kActivations[activation]) +
           ",\"top\":" + std::to_string(top) + ",\"min_score\":" + json::number(min_score);
  }

 private:
  // Finite scores of at least min_score. A softmax with a NaN or +Inf in it has none.
  std::vector<Scored> score(const float* v, int64_t n) const {
    float most = -INFINITY;
    double total = 0;
    if (activation == 0) {
      for (int64_t i = 0; i < n; ++i) most = std::max(most, v[i]);
      if (!std::isfinite(most)) return {};
      for (int64_t i = 0; i < n; ++i) total += std::exp(v[i] - most);
    }
    std::vector<Scored> found;
    for (int64_t i = 0; i < n; ++i) {
      const float s = activation == 0   ? static_cast<float>(std::exp(v[i] - most) / total)
                      : activation == 1 ? 1 / (1 + std::exp(-v[i]))
                                        : v[i];
      if (std::isfinite(s) && s >= static_cast<float>(min_score))
        found.push_back({static_cast<int32_t>(i), s});
    }
    return found;
  }
};

}  // namespace

MadeDecoder make_classes(const json::Object& o) {
  auto d = std::make_unique<Classes>();
  FV_TRY(o.only({"decoder", "kind", "output", "activation", "top", "min_score"}));
  FV_TRY(read_output(o, "output", d->output));
  FV_TRY(o.read_enum("activation", kActivations, d->activation));
  FV_TRY(o.read_int("top", 1, kMaxTop, d->top));
  FV_TRY(read_min_score(o, d->min_score));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
