// Decoder specs, output lookup, mapping into the frame; the C surface of decoders.
#include "imgproc/decode/decoder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "base/guard.h"
#include "base/tensor_type.h"

namespace foveal::imgproc {

#define DECODER(kind) MadeDecoder make_##kind(const json::Object& o);
#include "imgproc/decoder_kinds.inc"
#undef DECODER

}  // namespace foveal::imgproc

using namespace foveal;
using namespace foveal::imgproc;

struct fv_decoder {
  std::unique_ptr<Decoder> kind;
  std::string json;
};

namespace foveal::imgproc {

Status Outputs::find(const std::string& name, const fv_tensor*& t, std::string& where) const {
  t = nullptr;
  std::string names;
  for (size_t i = 0; i < count_; ++i) {
    const char* n = tensors_[i].name ? tensors_[i].name : "";
    if (name == n) t = &tensors_[i];
    names += (names.empty() ? "" : ", ") + std::string(n);
  }
  if (!t)
    return Status(FV_NOT_FOUND, "decoder: output '" + name + "' is missing, got: " + names,
                  "the decoder spec names the model's outputs");
  where = "decoder: output '" + name + "': ";
  if (t->dtype != FV_FLOAT32)
    return Status(FV_SHAPE_ERROR, where + "expected float32, got " + dtype_name(t->dtype));
  if (t->layout.id != FV_LAYOUT_PLAIN && t->layout.id != FV_LAYOUT_ANY)
    return Status(FV_SHAPE_ERROR, where + "expected plain layout, got " + to_string(t->layout));
  if (t->rank < 0 || t->rank > FV_MAX_RANK)
    return Status(FV_SHAPE_ERROR, where + format("rank %d", t->rank));
  return ok();
}

namespace {

// That the caller's memory holds what the dims say.
Status read_data(const fv_tensor& t, const std::string& where, int64_t count, const float*& data) {
  const int64_t bytes = checked_mul(count, 4);
  if (!t.data || bytes < 0 || t.bytes < static_cast<uint64_t>(bytes))
    return Status(
        FV_SHAPE_ERROR,
        where + format("expected %lld bytes of data, got %llu", static_cast<long long>(bytes),
                       static_cast<unsigned long long>(t.data ? t.bytes : 0)));
  data = static_cast<const float*>(t.data);
  return ok();
}

}  // namespace

Status Outputs::get(const std::string& name, const std::vector<int64_t>& want, const float*& data,
                    std::vector<int64_t>& dims) const {
  const fv_tensor* t;
  std::string where;
  FV_TRY(find(name, t, where));
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
  FV_TRY(read_data(*t, where, element_count(got), data));
  dims = std::move(got);
  return ok();
}

Status Outputs::flat(const std::string& name, const float*& data, int64_t& count) const {
  const fv_tensor* t;
  std::string where;
  FV_TRY(find(name, t, where));
  const Dims dims(t->dims, t->dims + t->rank);
  for (const int64_t d : dims)
    if (d < 1)
      return Status(FV_SHAPE_ERROR, where + "expected at least one value, got " + to_string(dims));
  count = element_count(dims);
  return read_data(*t, where, count, data);
}

Status Decoder::refuse(const char* function) const {
  static constexpr const char* kRuns[] = {"?",
                                          "fv_decoder_run",
                                          "fv_decoder_run",
                                          "fv_decoder_run",
                                          "fv_decoder_run_mask",
                                          "fv_decoder_run_text"};
  static constexpr const char* kGives[] = {"?",         "detections", "classes",
                                           "landmarks", "a mask",     "text"};
  return Status(FV_INVALID_ARGUMENT, format("%s: this decoder gives %s", function, kGives[gives()]),
                format("call %s", kRuns[gives()]));
}
Status Decoder::run(const Outputs&, const fv_transform&, Report&) const {
  return refuse("fv_decoder_run");
}
Status Decoder::run_mask(const Outputs&, const fv_transform&, const MaskReport&) const {
  return refuse("fv_decoder_run_mask");
}
Status Decoder::run_text(const Outputs&, TextReport&) const {
  return refuse("fv_decoder_run_text");
}

Status read_min_score(const json::Object& o, double& out) {
  FV_TRY(o.read("min_score", out));
  if (!(out >= 0 && out <= 1)) return o.error("min_score", "a number in 0..1", o.find("min_score"));
  return ok();
}

Status read_output(const json::Object& o, std::string_view key, std::string& out) {
  FV_TRY(o.require(key));
  FV_TRY(o.read(key, out));
  return out.empty() ? o.error(key, "the name of an output", o.find(key)) : ok();
}

Mat3 to_upright(const fv_transform& t) {
  Mat3 m;
  std::memcpy(m.m, t.to_upright, sizeof m.m);
  return m;
}

bool map_box(const Mat3& m, const float box[4], float out[4]) {
  double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
  for (int i = 0; i < 4; ++i) {
    double v[2] = {box[i & 1 ? 2 : 0], box[i & 2 ? 3 : 1]};
    if (!m.map(v[0], v[1])) return false;
    for (int a = 0; a < 2; ++a) {
      lo[a] = std::min(lo[a], v[a]);
      hi[a] = std::max(hi[a], v[a]);
    }
  }
  bool finite = true;
  for (int a = 0; a < 2; ++a) {
    out[a] = static_cast<float>(lo[a]);
    out[2 + a] = static_cast<float>(hi[a]);
    finite = finite && std::isfinite(out[a]) && std::isfinite(out[2 + a]);
  }
  return finite;
}

bool clip_box(const fv_transform& t, float box[4]) {
  const float size[2] = {static_cast<float>(t.frame_width), static_cast<float>(t.frame_height)};
  for (int i = 0; i < 4; ++i) box[i] = std::clamp(box[i], 0.0f, size[i % 2]);
  return box[2] > box[0] && box[3] > box[1];
}

}  // namespace foveal::imgproc

namespace {

struct Kind {
  std::string_view name;
  MadeDecoder (*make)(const json::Object& o);
};
constexpr Kind kKinds[] = {
#define DECODER(kind) {#kind, make_##kind},
#include "imgproc/decoder_kinds.inc"
#undef DECODER
};

Status read_decoder(std::string_view text, fv_decoder& d) {
  FV_ASSIGN(const json::Value doc, json::parse(text, "decoder spec"));
  FV_ASSIGN(const json::Object o, json::Object::of(doc, "decoder spec"));
  int version = 1, kind = 0;
  FV_TRY(o.read_int("decoder", 1, 1, version));
  FV_TRY(o.require("kind"));
  std::vector<std::string_view> names;
  for (const Kind& k : kKinds) names.push_back(k.name);
  FV_TRY(o.read_enum("kind", names, kind));
  FV_ASSIGN(d.kind, kKinds[kind].make(o));
  d.json = "{\"decoder\":1,\"kind\":" + json::quote(kKinds[kind].name) + "," + d.kind->json() + "}";
  return ok();
}

Status check(const fv_transform& t) {
  bool good =
      t.tensor_width >= 1 && t.tensor_height >= 1 && t.frame_width >= 1 && t.frame_height >= 1;
  for (const double v : t.to_upright) good = good && std::isfinite(v);
  for (const double v : t.from_upright) good = good && std::isfinite(v);
  for (const double v : t.valid) good = good && std::isfinite(v);
  return good ? ok() : Status(FV_INVALID_ARGUMENT, "decoder: transform: not one that a plan made");
}

Status null_argument(const char* function) {
  return Status(FV_INVALID_ARGUMENT, format("%s: an argument is NULL or negative", function));
}

Status run_decoder(const fv_decoder* d, const fv_tensor* tensors, size_t count,
                   const fv_transform* transform, Report& out) {
  if (!d || (!tensors && count) || !transform || out.capacity < 0 ||
      (!out.detections && out.capacity))
    return null_argument("fv_decoder_run");
  FV_TRY(check(*transform));
  return d->kind->run(Outputs(tensors, count), *transform, out);
}

Status run_mask(const fv_decoder* d, const fv_tensor* tensors, size_t count,
                const fv_transform* transform, const MaskReport& out) {
  if (!d || (!tensors && count) || !transform || !out.values)
    return null_argument("fv_decoder_run_mask");
  FV_TRY(check(*transform));
  if (out.width != transform->frame_width || out.height != transform->frame_height)
    return Status(FV_INVALID_ARGUMENT,
                  format("fv_decoder_run_mask: expected the upright frame's size %dx%d, got %dx%d",
                         transform->frame_width, transform->frame_height, out.width, out.height));
  return d->kind->run_mask(Outputs(tensors, count), *transform, out);
}

Status run_text(const fv_decoder* d, const fv_tensor* tensors, size_t count, TextReport& out) {
  if (!d || (!tensors && count) || out.capacity < 0 ||
      ((!out.symbols || !out.scores) && out.capacity))
    return null_argument("fv_decoder_run_text");
  return d->kind->run_text(Outputs(tensors, count), out);
}

}  // namespace

extern "C" {

fv_status* fv_decoder_from_json(const char* json, size_t bytes, fv_decoder** out) {
  return guard(__func__, [&]() -> Status {
    if (!json || !out)
      return Status(FV_INVALID_ARGUMENT, "fv_decoder_from_json: an argument is NULL");
    *out = nullptr;
    auto d = std::make_unique<fv_decoder>();
    FV_TRY(read_decoder({json, bytes}, *d));
    *out = d.release();
    return ok();
  });
}
void fv_decoder_free(fv_decoder* decoder) { delete decoder; }
const char* fv_decoder_json(const fv_decoder* decoder) {
  return decoder ? decoder->json.c_str() : "";
}
fv_decoder_result fv_decoder_gives(const fv_decoder* decoder) {
  return decoder ? decoder->kind->gives() : 0;
}
int32_t fv_decoder_points(const fv_decoder* decoder) {
  return decoder ? decoder->kind->points() : 0;
}
int32_t fv_decoder_point_values(const fv_decoder* decoder) {
  return decoder ? decoder->kind->point_values() : 0;
}
int32_t fv_decoder_max(const fv_decoder* decoder) { return decoder ? decoder->kind->most() : 0; }

fv_status* fv_decoder_run(const fv_decoder* decoder, const fv_tensor* tensors, size_t tensor_count,
                          const fv_transform* transform, fv_detection* detections, float* points,
                          int32_t capacity, int32_t* count) {
  return guard(__func__, [&]() -> Status {
    if (!count) return null_argument("fv_decoder_run");
    *count = 0;
    Report report{detections, points, capacity};
    FV_TRY(run_decoder(decoder, tensors, tensor_count, transform, report));
    *count = report.count;
    return ok();
  });
}

fv_status* fv_decoder_run_mask(const fv_decoder* decoder, const fv_tensor* tensors,
                               size_t tensor_count, const fv_transform* transform, float* mask,
                               int32_t width, int32_t height) {
  return guard(__func__, [&]() -> Status {
    return run_mask(decoder, tensors, tensor_count, transform, {mask, width, height});
  });
}

fv_status* fv_decoder_run_text(const fv_decoder* decoder, const fv_tensor* tensors,
                               size_t tensor_count, int32_t* symbols, float* scores,
                               int32_t capacity, int32_t* count) {
  return guard(__func__, [&]() -> Status {
    if (!count) return null_argument("fv_decoder_run_text");
    *count = 0;
    TextReport report{symbols, scores, capacity};
    FV_TRY(run_text(decoder, tensors, tensor_count, report));
    *count = report.count;
    return ok();
  });
}

}  // extern "C"
