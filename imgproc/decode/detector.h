// What decoders of detections share: common keys, candidates, suppression, mapping into the frame.
#ifndef FOVEAL_IMGPROC_DECODE_DETECTOR_H_
#define FOVEAL_IMGPROC_DECODE_DETECTOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "imgproc/decode/decoder.h"

namespace foveal::imgproc {

inline constexpr int kMaxPoints = 32;  // per detection
// Of more candidates than this, the best are kept: suppression is quadratic.
inline constexpr size_t kMaxCandidates = 8192;

// While decoding: tensor pixels.
struct Candidate {
  int label = 0;
  float score = 0;
  float box[4] = {};
  uint32_t order = 0;  // of arrival; ties keep it
  uint32_t row = 0;    // of its points
};

// Candidates and their points, at most 2 * kMaxCandidates at a time.
class Candidates {
 public:
  // values: floats of one candidate's points.
  explicit Candidates(int values) : values_(static_cast<size_t>(values)) {}

  // Anything that is not finite is dropped. points may be NULL when there are none.
  void add(int label, float score, const float box[4], const float* points);
  // Best first, ties in order of arrival, at most kMaxCandidates.
  void sort();

  std::vector<Candidate>& list() { return list_; }
  float* points(const Candidate& c) { return points_.data() + c.row * values_; }
  size_t values() const { return values_; }

 private:
  void shrink();

  size_t values_;
  uint32_t arrived_ = 0;
  std::vector<Candidate> list_;
  std::vector<float> points_;
};

enum class NmsKind { kHard, kWeighted, kNone };
struct Nms {
  NmsKind kind = NmsKind::kHard;
  double iou = 0.5;
  bool per_class = true;
};

// Sorts, then removes (or, `weighted`, blends) what overlaps a better candidate.
void suppress(const Nms& nms, Candidates& candidates);

class Detector : public Decoder {
 public:
  fv_decoder_result gives() const override { return FV_DETECTIONS; }
  int most() const override { return max_detections; }
  Status run(const Outputs& outputs, const fv_transform& transform, Report& out) const override;

  // Candidates above min_score in tensor pixels, points as point_values() says; any order.
  virtual Status decode(const Outputs& outputs, int width, int height, Candidates& out) const = 0;

  // Reads the common keys; refuses what is neither one of them nor in `own`.
  Status read_common(const json::Object& o, std::initializer_list<std::string_view> own);
  std::string common_json() const;  // ",\"min_score\":..." to the end of the text

  double min_score = 0.5;
  int max_detections = 100;
  bool clip = true;
  // The points are the outline: the box is their hull in the frame, and clip cuts them too.
  bool outlined = false;
  Nms nms;
};

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_DECODE_DETECTOR_H_
