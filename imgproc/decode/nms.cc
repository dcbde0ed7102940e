// Non-maximum suppression, hard and weighted.
#include <algorithm>

#include "imgproc/decode/detector.h"

namespace foveal::imgproc {
namespace {

float area(const float* b) { return std::max(0.0f, b[2] - b[0]) * std::max(0.0f, b[3] - b[1]); }

float iou(const float* a, const float* b) {
  const float w = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float h = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (!(w > 0) || !(h > 0)) return 0;
  const float common = w * h, all = area(a) + area(b) - common;
  return all > 0 ? common / all : 0;
}

// The score-weighted mean of `group`, with the label and score of its best member (the first),
// whose box and points it replaces.
void blend(const std::vector<const Candidate*>& group, Candidates& all, Candidate& into) {
  double total = 0, box[4] = {};
  std::vector<double> points(all.values());
  for (const Candidate* c : group) {
    total += c->score;
    for (int i = 0; i < 4; ++i) box[i] += double{c->score} * c->box[i];
    const float* own = all.points(*c);
    for (size_t i = 0; i < points.size(); ++i) points[i] += double{c->score} * own[i];
  }
  if (!(total > 0)) return;
  for (int i = 0; i < 4; ++i) into.box[i] = static_cast<float>(box[i] / total);
  float* own = all.points(into);
  for (size_t i = 0; i < points.size(); ++i) own[i] = static_cast<float>(points[i] / total);
}

}  // namespace

void suppress(const Nms& nms, Candidates& candidates) {
  candidates.sort();
  if (nms.kind == NmsKind::kNone) return;
  std::vector<Candidate>& c = candidates.list();
  std::vector<Candidate> kept;
  std::vector<bool> gone(c.size());
  std::vector<const Candidate*> group;
  for (size_t i = 0; i < c.size(); ++i) {
    if (gone[i]) continue;
    group.assign(1, &c[i]);
    for (size_t j = i + 1; j < c.size(); ++j) {
      if (gone[j] || (nms.per_class && c[j].label != c[i].label)) continue;
      if (iou(c[i].box, c[j].box) <= static_cast<float>(nms.iou)) continue;
      gone[j] = true;
      group.push_back(&c[j]);
    }
    kept.push_back(c[i]);
    if (nms.kind == NmsKind::kWeighted) blend(group, candidates, kept.back());
  }
  c = std::move(kept);
}

}  // namespace foveal::imgproc
