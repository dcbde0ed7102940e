// Connectionist temporal classification, best path: the best symbol of every step, then repeats
// and blanks removed (Graves et al., 2006).
#include <cmath>
#include <cstdint>

#include "imgproc/decode/decoder.h"
#include "imgproc/decode/scan.h"

namespace foveal::imgproc {
namespace {

constexpr std::string_view kActivations[] = {"none", "softmax"};
constexpr int kMaxClasses = 1 << 24;
constexpr int kMaxSteps = 1 << 24;

class Ctc : public Decoder {
 public:
  std::string output;
  int blank = 0, axis = -1, activation = 0;

  fv_decoder_result gives() const override { return FV_TEXT; }
  int most() const override { return 0; }

  Status run_text(const Outputs& outputs, TextReport& out) const override {
    const float* data;
    std::vector<int64_t> dims;
    FV_TRY(outputs.get(output, {-1, -1}, data, dims));
    const bool last = axis == -1;
    const int64_t steps = dims[last ? 0 : 1], classes = dims[last ? 1 : 0];
    if (steps > kMaxSteps || classes > kMaxClasses || blank >= classes)
      return Status(FV_SHAPE_ERROR,
                    "decoder: output '" + output +
                        format("': expected at most %d steps of more than %d (the blank) and at "
                               "most %d classes, got %lld steps of %lld classes",
                               kMaxSteps, blank, kMaxClasses, static_cast<long long>(steps),
                               static_cast<long long>(classes)),
                    "the spec's \"axis\" says which axis has the classes");
    std::vector<float> value(static_cast<size_t>(steps));
    std::vector<int32_t> index(value.size());
    if (last)
      for (int64_t t = 0; t < steps; ++t) {
        const Best b = best_of(data + t * classes, classes);
        value[static_cast<size_t>(t)] = b.value;
        index[static_cast<size_t>(t)] = b.index;
      }
    else
      best_of_rows(data, classes, steps, value.data(), index.data());
    int32_t before = blank;
    for (int64_t t = 0; t < steps; ++t) {
      const size_t at = static_cast<size_t>(t);
      const int32_t symbol = std::isfinite(value[at]) ? index[at] : blank;
      if (symbol != blank && symbol != before) {
        const float* step = last ? data + t * classes : data + t;
        const float s = score(value[at], step, classes, last ? 1 : steps);
        if (std::isfinite(s)) out.add(symbol, s);
      }
      before = symbol;
    }
    return ok();
  }

  std::string json() const override {
    return "\"output\":" + json::quote(output) + ",\"blank\":" + std::to_string(blank) +
           ",\"axis\":" + std::to_string(axis) +
           ",\"activation\":" + json::quote(kActivations[activation]);
  }

 private:
  float score(float best, const float* step, int64_t classes, int64_t stride) const {
    if (activation == 0) return best;
    double total = 0;
    for (int64_t c = 0; c < classes; ++c) total += std::exp(step[c * stride] - best);
    return static_cast<float>(1 / total);
  }
};

}  // namespace

MadeDecoder make_ctc(const json::Object& o) {
  auto d = std::make_unique<Ctc>();
  FV_TRY(o.only({"decoder", "kind", "output", "blank", "axis", "activation"}));
  FV_TRY(read_output(o, "output", d->output));
  FV_TRY(o.read_int("blank", 0, kMaxClasses - 1, d->blank));
  FV_TRY(o.read_int("axis", -2, -1, d->axis));
  FV_TRY(o.read_enum("activation", kActivations, d->activation));
  return std::unique_ptr<Decoder>(std::move(d));
}

}  // namespace foveal::imgproc
