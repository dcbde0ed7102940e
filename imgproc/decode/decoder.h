// Decoders: a model's outputs to detections, in tensor pixels. One file per kind.
#ifndef FOVEAL_IMGPROC_DECODE_DECODER_H_
#define FOVEAL_IMGPROC_DECODE_DECODER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "foveal/imgproc.h"
#include "imgproc/json.h"

namespace foveal::imgproc {

inline constexpr int kMaxPoints = 32;  // per detection

// While decoding: tensor pixels.
struct Candidate {
  int label = 0;
  float score = 0;
  float box[4] = {};
  float points[2 * kMaxPoints] = {};
};

// A model's outputs by name, with the checks every decoder needs.
class Outputs {
 public:
  Outputs(const fv_tensor* tensors, size_t count) : tensors_(tensors), count_(count) {}
  // Plain float32 whose dims, leading 1s dropped from both, equal `want` (-1: any). `dims`
  // receives them in want's rank. Errors name the tensor, what was expected and what came.
  Status get(const std::string& name, const std::vector<int64_t>& want, const float*& data,
             std::vector<int64_t>& dims) const;

 private:
  const fv_tensor* tensors_;
  size_t count_;
};

enum class NmsKind { kHard, kWeighted, kNone };
struct Nms {
  NmsKind kind = NmsKind::kHard;
  double iou = 0.5;
  bool per_class = true;
};

struct DecoderCommon {
  double min_score = 0.5;
  int max_detections = 100;
  bool clip = true;
  Nms nms;
  int points = 0;
};

// Immutable once made.
class DecoderKind {
 public:
  virtual ~DecoderKind() = default;
  // Candidates above min_score; the order does not matter.
  virtual Status decode(const Outputs& outputs, const DecoderCommon& common, int width, int height,
                        std::vector<Candidate>& out) const = 0;
  virtual std::string json() const = 0;  // own members, canonical, without braces
};

// Each refuses unknown keys itself; `common_keys` are read by the caller.
Result<std::unique_ptr<DecoderKind>> make_ssd(const json::Object& o, DecoderCommon& common);
Result<std::unique_ptr<DecoderKind>> make_centerface(const json::Object& o, DecoderCommon& common);

// Sorted best first; ties keep their order. `weighted` blends what it suppresses.
void suppress(const Nms& nms, int points, std::vector<Candidate>& c);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_DECODE_DECODER_H_
