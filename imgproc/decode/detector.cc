#include "imgproc/decode/detector.h"

#include <algorithm>
#include <cmath>

namespace foveal::imgproc {
namespace {

constexpr std::string_view kNms[] = {"hard", "weighted", "none"};
constexpr std::string_view kCommon[] = {"decoder",        "kind", "min_score",
                                        "max_detections", "clip", "nms"};

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

bool finite(const float* v, size_t n) {
  bool all = true;
  for (size_t i = 0; i < n; ++i) all = all && std::isfinite(v[i]);
  return all;
}

// False when a point maps nowhere.
bool map_points(const Mat3& m, size_t per, std::vector<float>& points) {
  for (size_t i = 0; i < points.size(); i += per) {
    double x = points[i], y = points[i + 1];
    if (!m.map(x, y)) return false;
    points[i] = static_cast<float>(x);
    points[i + 1] = static_cast<float>(y);
  }
  return finite(points.data(), points.size());
}

void hull(const std::vector<float>& points, size_t per, float box[4]) {
  box[0] = box[1] = INFINITY;
  box[2] = box[3] = -INFINITY;
  for (size_t i = 0; i < points.size(); i += per)
    for (size_t a = 0; a < 2; ++a) {
      box[a] = std::min(box[a], points[i + a]);
      box[2 + a] = std::max(box[2 + a], points[i + a]);
    }
}

void clip_points(const fv_transform& t, size_t per, std::vector<float>& points) {
  for (size_t i = 0; i < points.size(); i += per) {
    points[i] = std::clamp(points[i], 0.0f, static_cast<float>(t.frame_width));
    points[i + 1] = std::clamp(points[i + 1], 0.0f, static_cast<float>(t.frame_height));
  }
}

bool better(const Candidate& a, const Candidate& b) {
  return a.score != b.score ? a.score > b.score : a.order < b.order;
}

}  // namespace

void Candidates::add(int label, float score, const float box[4], const float* points) {
  if (!std::isfinite(score) || !finite(box, 4) || (values_ && !finite(points, values_))) return;
  if (list_.size() == 2 * kMaxCandidates) shrink();
  Candidate c{label, score, {box[0], box[1], box[2], box[3]}, arrived_++, 0};
  c.row = static_cast<uint32_t>(list_.size());
  list_.push_back(c);
  points_.insert(points_.end(), points, points + values_);
}

// Keeps the best kMaxCandidates, and their points in rows of their own.
void Candidates::shrink() {
  if (list_.size() <= kMaxCandidates) return;
  std::nth_element(list_.begin(), list_.begin() + kMaxCandidates - 1, list_.end(), better);
  list_.resize(kMaxCandidates);
  std::vector<float> kept(kMaxCandidates * values_);
  for (uint32_t i = 0; i < kMaxCandidates; ++i) {
    std::copy_n(points(list_[i]), values_, kept.data() + i * values_);
    list_[i].row = i;
  }
  points_ = std::move(kept);
}

void Candidates::sort() {
  shrink();
  std::sort(list_.begin(), list_.end(), better);
}

Status Detector::read_common(const json::Object& o, std::initializer_list<std::string_view> own) {
  FV_TRY(o.only(own, kCommon));
  FV_TRY(read_min_score(o, min_score));
  FV_TRY(o.read_int("max_detections", 1, 100000, max_detections));
  FV_TRY(o.read("clip", clip));
  return read_nms(o, nms);
}

std::string Detector::common_json() const {
  std::string s = ",\"min_score\":" + json::number(min_score) +
                  ",\"max_detections\":" + std::to_string(max_detections) +
                  ",\"clip\":" + (clip ? "true" : "false") +
                  ",\"nms\":{\"k\":" + json::quote(kNms[static_cast<int>(nms.kind)]);
  if (nms.kind != NmsKind::kNone)
    s += ",\"iou\":" + json::number(nms.iou) +
         ",\"per_class\":" + (nms.per_class ? "true" : "false");
  return s + "}";
}

Status Detector::run(const Outputs& outputs, const fv_transform& t, Report& out) const {
  const size_t per = static_cast<size_t>(point_values());
  Candidates found(points() * point_values());
  FV_TRY(decode(outputs, t.tensor_width, t.tensor_height, found));
  suppress(nms, found);
  const Mat3 m = to_upright(t);
  const int most = std::min(out.capacity, max_detections);
  std::vector<float> mapped(found.values());
  for (const Candidate& c : found.list()) {
    if (out.count == most) break;
    fv_detection r{c.label, c.score, {}};
    std::copy_n(found.points(c), found.values(), mapped.begin());
    if (!map_points(m, per, mapped) || !map_box(m, c.box, r.box)) continue;
    if (outlined) hull(mapped, per, r.box);
    if (clip && !clip_box(t, r.box)) continue;
    if (clip && outlined) clip_points(t, per, mapped);
    if (out.points)
      std::copy(mapped.begin(), mapped.end(),
                out.points + static_cast<size_t>(out.count) * mapped.size());
    out.detections[out.count++] = r;
  }
  return ok();
}

}  // namespace foveal::imgproc
