// Decoders: a model's outputs to results in upright frame pixels. A kind is one file here that
// defines make_<its stem>; the build makes the table of kinds from those names.
#ifndef FOVEAL_IMGPROC_DECODE_DECODER_H_
#define FOVEAL_IMGPROC_DECODE_DECODER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/tensor_type.h"
#include "foveal/imgproc.h"
#include "imgproc/geometry/mat3.h"
#include "imgproc/json.h"

namespace foveal::imgproc {

// A model's outputs by name, with the checks every decoder needs.
class Outputs {
 public:
  Outputs(const fv_tensor* tensors, size_t count) : tensors_(tensors), count_(count) {}
  // Plain float32 whose dims, leading 1s dropped from both, equal `want` (-1: any). `dims`
  // receives them in want's rank. Errors name the tensor, what was expected and what came.
  Status get(const std::string& name, const std::vector<int64_t>& want, const float*& data,
             std::vector<int64_t>& dims) const;
  // Plain float32 of any shape, as one row of `count` values (at least one).
  Status flat(const std::string& name, const float*& data, int64_t& count) const;

 private:
  // The output, checked but for its dims; `where` begins errors about it.
  Status find(const std::string& name, const fv_tensor*& t, std::string& where) const;
  const fv_tensor* tensors_;
  size_t count_;
};

// Where fv_decoder_run writes: the caller's memory.
struct Report {
  fv_detection* detections;  // capacity
  float* points;             // capacity * points() * point_values(), or NULL
  int32_t capacity;
  int32_t count = 0;
};

// Where fv_decoder_run_mask writes: width * height values of the upright frame, all of them.
struct MaskReport {
  float* values;
  int32_t width, height;
};

// Where fv_decoder_run_text writes. `count` goes on counting past the capacity.
struct TextReport {
  int32_t* symbols;
  float* scores;
  int32_t capacity;
  int32_t count = 0;

  void add(int32_t symbol, float score) {
    if (count < capacity) symbols[count] = symbol, scores[count] = score;
    ++count;
  }
};

// One decoder, immutable once made. A kind overrides the run of what it gives; the others refuse.
// Transforms are checked before they come here: sizes of at least 1, finite maps. Whatever the
// tensors hold, nothing that is not finite may be reported.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual fv_decoder_result gives() const = 0;
  virtual int points() const { return 0; }        // per detection
  virtual int point_values() const { return 2; }  // per point
  virtual int most() const { return 1; }          // detections of a run
  // Members of the canonical text after "kind", in their order, without braces.
  virtual std::string json() const = 0;

  virtual Status run(const Outputs& outputs, const fv_transform& transform, Report& out) const;
  virtual Status run_mask(const Outputs& outputs, const fv_transform& transform,
                          const MaskReport& out) const;
  virtual Status run_text(const Outputs& outputs, TextReport& out) const;

 private:
  Status refuse(const char* function) const;
};

// What every make_<kind> returns. It reads its own keys, the common ones that apply to it, and
// refuses all others (except "decoder" and "kind", which are read already).
using MadeDecoder = Result<std::unique_ptr<Decoder>>;

// "min_score", 0..1.
Status read_min_score(const json::Object& o, double& out);
// The name of an output: required and not empty.
Status read_output(const json::Object& o, std::string_view key, std::string& out);

Mat3 to_upright(const fv_transform& t);
// Upright hull of a box of tensor pixels; false when it maps nowhere.
bool map_box(const Mat3& m, const float box[4], float out[4]);
// Cuts a box at the edges of the frame; false when nothing of it is inside.
bool clip_box(const fv_transform& t, float box[4]);

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_DECODE_DECODER_H_
