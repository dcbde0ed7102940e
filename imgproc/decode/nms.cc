// Non-maximum suppression, hard and weighted.
#include <algorithm>

#include "imgproc/decode/decoder.h"

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

// The score-weighted mean of `group`, with the label and score of its best member (the first).
Candidate blend(const std::vector<const Candidate*>& group, int points) {
  Candidate r = *group.front();
  double total = 0, box[4] = {}, xy[2 * kMaxPoints] = {};
  for (const Candidate* c : group) {
    total += c->score;
    for (int i = 0; i < 4; ++i) box[i] += double{c->score} * c->box[i];
    for (int i = 0; i < 2 * points; ++i) xy[i] += double{c->score} * c->points[i];
  }
  if (!(total > 0)) return r;
  for (int i = 0; i < 4; ++i) r.box[i] = static_cast<float>(box[i] / total);
  for (int i = 0; i < 2 * points; ++i) r.points[i] = static_cast<float>(xy[i] / total);
  return r;
}

}  // namespace

void suppress(const Nms& nms, int points, std::vector<Candidate>& c) {
  std::stable_sort(c.begin(), c.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  if (nms.kind == NmsKind::kNone) return;
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
    kept.push_back(nms.kind == NmsKind::kWeighted ? blend(group, points) : c[i]);
  }
  c = std::move(kept);
}

}  // namespace foveal::imgproc
