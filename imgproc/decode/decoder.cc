// Decoder specs, output lookup, mapping into the frame; the C surface of decoders.
#include "imgproc/decode/decoder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "base/tensor_type.h"
#include "imgproc/geometry/mat3.h"

using namespace foveal;
using namespace foveal::imgproc;

struct fv_decoder {
  DecoderCommon common;
  std::unique_ptr<DecoderKind> kind;
  std::string json;
};

namespace foveal::imgproc {

Status Outputs::get(const std::string& name, const std::vector<int64_t>& want, const float*& data,
                    std::vector<int64_t>& dims) const {
  const fv_tensor* t = nullptr;
  std::string names;
  for (size_t i = 0; i < count_; ++i) {
    const char* n = tensors_[i].name ? tensors_[i].name : "";
    if (name == n) t = &tensors_[i];
    names += (names.empty() ? "" : ", ") + std::string(n);
  }
  if (!t)
    return Status(FV_NOT_FOUND, "decoder: output '" + name + "' is missing, got: " + names,
                  "the decoder spec names the model's outputs");
  const std::string where = "decoder: output '" + name + "': ";
  if (t->dtype != FV_FLOAT32)
    return Status(FV_SHAPE_ERROR, where + "expected float32, got " + dtype_name(t->dtype));
  if (t->layout.id != FV_LAYOUT_PLAIN && t->layout.id != FV_LAYOUT_ANY)
    return Status(FV_SHAPE_ERROR, where + "expected plain layout, got " + to_string(t->layout));
  if (t->rank < 0 || t->rank > FV_MAX_RANK)
    return Status(FV_SHAPE_ERROR, where + format("rank %d", t->rank));
  Dims got(t->dims, t->dims + t->rank);
  while (got.size() > want.size() && got.front() == 1) got.erase(got.begin());
  while (got.size() < want.size() && want[want.size() - got.size() - 1] == 1)
    got.insert(got.begin(), 1);
  bool same = got.size() == want.size();
  for (size_t i = 0; same && i < want.size(); ++i)
    same = got[i] == want[i] || (want[i] == kUnknown && got[i] > 0);
  if (!same)
    return Status(FV_SHAPE_ERROR, where + "expected shape " + to_string(want) + ", got " +
                                      to_string(Dims(t->dims, t->dims + t->rank)));
  const int64_t bytes = checked_mul(element_count(got), 4);
  if (!t->data || bytes < 0 || t->bytes < static_cast<uint64_t>(bytes))
    return Status(
        FV_SHAPE_ERROR,
        where + format("expected %lld bytes of data, got %llu", static_cast<long long>(bytes),
                       static_cast<unsigned long long>(t->data ? t->bytes : 0)));
  data = static_cast<const float*>(t->data);
  dims = std::move(got);
  return ok();
}

}  // namespace foveal::imgproc

namespace {

constexpr std::string_view kKinds[] = {"ssd", "centerface"};
constexpr std::string_view kNms[] = {"hard", "weighted", "none"};

Status read_nms(const json::Object& root, Nms& nms) {
  json::Object o;
  bool present;
  FV_TRY(root.object("nms", o, present));
  if (!present) return ok();
  int kind = 0;
  FV_TRY(o.require("k"));
  FV_TRY(o.read_enum("k", kNms, kind));
  nms.kind = static_cast<NmsKind>(kind);
  if (nms.kind == NmsKind::kNone) return o.only({"k"});
  FV_TRY(o.only({"k", "iou", "per_class"}));
  FV_TRY(o.read("iou", nms.iou));
  if (!(nms.iou >= 0 && nms.iou <= 1)) return o.error("iou", "a number in 0..1", o.find("iou"));
  return o.read("per_class", nms.per_class);
}

Status read_decoder(std::string_view text, fv_decoder& d) {
  FV_ASSIGN(const json::Value doc, json::parse(text, "decoder spec"));
  FV_ASSIGN(const json::Object o, json::Object::of(doc, "decoder spec"));
  int version = 1, kind = 0;
  FV_TRY(o.read_int("decoder", 1, 1, version));
  FV_TRY(o.require("kind"));
  FV_TRY(o.read_enum("kind", kKinds, kind));
  DecoderCommon& c = d.common;
  FV_TRY(o.read("min_score", c.min_score));
  if (!(c.min_score >= 0 && c.min_score <= 1))
    return o.error("min_score", "a number in 0..1", o.find("min_score"));
  FV_TRY(o.read_int("max_detections", 1, 100000, c.max_detections));
  FV_TRY(o.read("clip", c.clip));
  FV_TRY(read_nms(o, c.nms));
  FV_ASSIGN(d.kind, kind == 0 ? make_ssd(o, c) : make_centerface(o, c));
  d.json = "{\"decoder\":1,\"kind\":" + json::quote(kKinds[kind]) + "," + d.kind->json() +
           ",\"min_score\":" + json::number(c.min_score) +
           ",\"max_detections\":" + std::to_string(c.max_detections) +
           ",\"clip\":" + (c.clip ? "true" : "false") +
           ",\"nms\":{\"k\":" + json::quote(kNms[static_cast<int>(c.nms.kind)]);
  if (c.nms.kind != NmsKind::kNone)
    d.json += ",\"iou\":" + json::number(c.nms.iou) +
              ",\"per_class\":" + (c.nms.per_class ? "true" : "false");
  d.json += "}}";
  return ok();
}

// Upright hull of the box; false when it maps nowhere.
bool map_box(const Mat3& m, const float* box, float* out) {
  double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
  for (int i = 0; i < 4; ++i) {
    double v[2] = {box[i & 1 ? 2 : 0], box[i & 2 ? 3 : 1]};
    if (!m.map(v[0], v[1])) return false;
    for (int a = 0; a < 2; ++a) {
      lo[a] = std::min(lo[a], v[a]);
      hi[a] = std::max(hi[a], v[a]);
    }
  }
  for (int a = 0; a < 2; ++a) {
    out[a] = static_cast<float>(lo[a]);
    out[2 + a] = static_cast<float>(hi[a]);
  }
  return true;
}

Status run_decoder(const fv_decoder& d, const Outputs& outputs, const fv_transform& t,
                   fv_detection* detections, float* points, int32_t capacity, int32_t* count) {
  if (t.tensor_width < 1 || t.tensor_height < 1 || t.frame_width < 1 || t.frame_height < 1)
    return Status(FV_INVALID_ARGUMENT, "decoder: transform: not one that a plan made");
  std::vector<Candidate> found;
  FV_TRY(d.kind->decode(outputs, d.common, t.tensor_width, t.tensor_height, found));
  suppress(d.common.nms, d.common.points, found);
  Mat3 m;
  std::memcpy(m.m, t.to_upright, sizeof m.m);
  const float w = static_cast<float>(t.frame_width), h = static_cast<float>(t.frame_height);
  const int most = std::min(capacity, d.common.max_detections);
  int n = 0;
  for (const Candidate& c : found) {
    if (n == most) break;
    fv_detection& r = detections[n];
    r.label = c.label;
    r.score = c.score;
    if (!map_box(m, c.box, r.box)) continue;
    if (d.common.clip) {
      for (int i = 0; i < 4; ++i) r.box[i] = std::clamp(r.box[i], 0.0f, i % 2 ? h : w);
      if (r.box[2] <= r.box[0] || r.box[3] <= r.box[1]) continue;  // nothing left in the frame
    }
    if (points)
      for (int i = 0; i < d.common.points; ++i) {
        double x = c.points[2 * i], y = c.points[2 * i + 1];
        m.map(x, y);
        float* out = points + (static_cast<int64_t>(n) * d.common.points + i) * 2;
        out[0] = static_cast<float>(x);
        out[1] = static_cast<float>(y);
      }
    ++n;
  }
  *count = n;
  return ok();
}

}  // namespace

extern "C" {

fv_status* fv_decoder_from_json(const char* json, size_t bytes, fv_decoder** out) {
  if (!json || !out)
    return Status(FV_INVALID_ARGUMENT, "fv_decoder_from_json: an argument is NULL").release();
  *out = nullptr;
  auto d = std::make_unique<fv_decoder>();
  if (Status s = read_decoder({json, bytes}, *d); !s.ok()) return s.release();
  *out = d.release();
  return nullptr;
}
void fv_decoder_free(fv_decoder* decoder) { delete decoder; }
const char* fv_decoder_json(const fv_decoder* decoder) { return decoder->json.c_str(); }
int32_t fv_decoder_points(const fv_decoder* decoder) { return decoder->common.points; }
int32_t fv_decoder_max(const fv_decoder* decoder) { return decoder->common.max_detections; }

fv_status* fv_decoder_run(const fv_decoder* decoder, const fv_tensor* tensors, size_t tensor_count,
                          const fv_transform* transform, fv_detection* detections, float* points,
                          int32_t capacity, int32_t* count) {
  if (!decoder || (!tensors && tensor_count) || !transform || !count || capacity < 0 ||
      (!detections && capacity))
    return Status(FV_INVALID_ARGUMENT, "fv_decoder_run: an argument is NULL or negative").release();
  *count = 0;
  return run_decoder(*decoder, Outputs(tensors, tensor_count), *transform, detections, points,
                     capacity, count)
      .release();
}

}  // extern "C"
