// From a detection or landmarks to the region that the next model looks at: hull, rotation, shift,
// square, scale, in the order of MediaPipe's calculators, then mirror.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/guard.h"
#include "foveal/imgproc.h"
#include "imgproc/geometry/transform.h"
#include "imgproc/json.h"

using namespace foveal;
using namespace foveal::imgproc;

namespace {

constexpr double kDegrees = 180 / 3.14159265358979323846;

enum class Hull { kBox, kPoints, kBounds, kCircle };
enum class Square { kNone, kLong, kShort };
constexpr std::string_view kHulls[] = {"box", "points", "bounds", "circle"};
constexpr std::string_view kSquares[] = {"none", "long", "short"};

}  // namespace

struct fv_roi_rule {
  Hull hull = Hull::kBox;
  bool all = true;  // points of the hull
  std::vector<double> points;
  bool rotates = false;
  std::vector<double> from, to;
  double degrees = 0;  // of from -> to in the region, counter-clockwise from +x
  Square square = Square::kNone;
  std::vector<double> scale = {1, 1}, shift = {0, 0};
  bool mirror = false;
  std::string json;
};

namespace {

using Rule = fv_roi_rule;

Status read_indices(const json::Object& o, std::string_view key, std::vector<double>& out) {
  constexpr double kMaxIndex = 65535;
  FV_TRY(o.read(key, 0, false, out));
  for (const double v : out)
    if (v != std::floor(v) || v < 0 || v > kMaxIndex)
      return o.error(key, "indices of points, whole numbers in 0..65535", o.find(key));
  return ok();
}

Status read_rotation(const json::Object& root, Rule& r) {
  json::Object o;
  FV_TRY(root.object("rotation", o, r.rotates));
  if (!r.rotates) return ok();
  FV_TRY(o.only({"from", "to", "degrees"}));
  for (const char* key : {"from", "to", "degrees"}) FV_TRY(o.require(key));
  FV_TRY(read_indices(o, "from", r.from));
  FV_TRY(read_indices(o, "to", r.to));
  FV_TRY(o.read("degrees", r.degrees));
  if (!(std::fabs(r.degrees) <= 360))
    return o.error("degrees", "a number in -360..360", o.find("degrees"));
  return ok();
}

std::string canonical(const Rule& r) {
  std::string t = "{\"roi\":1,\"hull\":" + json::quote(kHulls[static_cast<int>(r.hull)]);
  if (r.hull == Hull::kPoints || r.hull == Hull::kBounds)
    t += ",\"points\":" + (r.all ? "\"all\"" : json::numbers(r.points));
  if (r.rotates)
    t += ",\"rotation\":{\"from\":" + json::numbers(r.from) + ",\"to\":" + json::numbers(r.to) +
         ",\"degrees\":" + json::number(r.degrees) + "}";
  return t + ",\"square\":" + json::quote(kSquares[static_cast<int>(r.square)]) +
         ",\"scale\":" + json::numbers(r.scale) + ",\"shift\":" + json::numbers(r.shift) +
         ",\"mirror\":" + (r.mirror ? "true" : "false") + "}";
}

Status read_rule(std::string_view text, Rule& r) {
  FV_ASSIGN(const json::Value doc, json::parse(text, "roi rule"));
  FV_ASSIGN(const json::Object o, json::Object::of(doc, "roi rule"));
  FV_TRY(o.only({"roi", "hull", "points", "rotation", "square", "scale", "shift", "mirror"}));
  int version = 1, hull = 0, square = 0;
  FV_TRY(o.read_int("roi", 1, 1, version));
  FV_TRY(o.require("hull"));
  FV_TRY(o.read_enum("hull", kHulls, hull));
  r.hull = static_cast<Hull>(hull);
  const json::Value* points = o.find("points");
  if (points && r.hull != Hull::kPoints && r.hull != Hull::kBounds)
    return o.error("points", "nothing beside this hull, which is not made of them", points);
  r.all = !points || (points->type == json::Type::kString && points->string == "all");
  if (!r.all) FV_TRY(read_indices(o, "points", r.points));
  FV_TRY(read_rotation(o, r));
  if (r.hull == Hull::kCircle && !r.rotates)
    return o.error("rotation", "the points from (centre) and to (on the circle)", nullptr);
  FV_TRY(o.read_enum("square", kSquares, square));
  r.square = static_cast<Square>(square);
  FV_TRY(o.read("scale", 2, true, r.scale));
  for (const double v : r.scale)
    if (!(v > 0 && v <= 1000))
      return o.error("scale", "factors above 0, at most 1000", o.find("scale"));
  FV_TRY(o.read("shift", 2, false, r.shift));
  for (const double v : r.shift)
    if (!(std::fabs(v) <= 1000)) return o.error("shift", "numbers in +-1000", o.find("shift"));
  FV_TRY(o.read("mirror", r.mirror));
  r.json = canonical(r);
  return ok();
}

Status bad(const std::string& message) {
  return Status(FV_INVALID_ARGUMENT, "roi rule: " + message);
}

struct Point {
  double x = 0, y = 0;
};

// The caller's points, checked one by one as they are used.
struct Points {
  const float* data;
  int32_t count, values;

  Status get(double index, Point& out) const {
    const auto i = static_cast<int64_t>(index);
    if (i >= count)
      return bad(format("point %lld: there are %d points", static_cast<long long>(i), count));
    out = {data[i * values], data[i * values + 1]};
    if (!(std::fabs(out.x) <= kMaxCoordinate) || !(std::fabs(out.y) <= kMaxCoordinate))
      return bad(format("point %lld: expected finite numbers within +-1e6, got (%g, %g)",
                        static_cast<long long>(i), out.x, out.y));
    return ok();
  }

  Status mean(const std::vector<double>& indices, Point& out) const {
    out = {};
    for (const double i : indices) {
      Point p;
      FV_TRY(get(i, p));
      out.x += p.x / static_cast<double>(indices.size());
      out.y += p.y / static_cast<double>(indices.size());
    }
    return ok();
  }
};

Status apply(const Rule& r, const float* box, const Points& points, fv_roi& out) {
  Point from, to;
  double degrees = 0;  // clockwise
  if (r.rotates) {
    FV_TRY(points.mean(r.from, from));
    FV_TRY(points.mean(r.to, to));
    // y points down: counter-clockwise is negative. Points that coincide have no direction.
    if (from.x != to.x || from.y != to.y)
      degrees = r.degrees + std::atan2(to.y - from.y, to.x - from.x) * kDegrees;
  }
  const double turn = degrees / kDegrees;
  double c = std::cos(turn), s = std::sin(turn);
  Point centre = from;
  double w = 0, h = 0;
  if (r.hull == Hull::kCircle) {
    w = h = 2 * std::hypot(to.x - from.x, to.y - from.y);
  } else if (r.hull == Hull::kBox) {
    if (!box) return bad("box: the rule's hull is the box, got none");
    for (int i = 0; i < 4; ++i)
      if (!(std::fabs(box[i]) <= kMaxCoordinate))
        return bad(format("box: expected finite numbers within +-1e6, got %g", double{box[i]}));
    w = double{box[2]} - box[0];
    h = double{box[3]} - box[1];
    centre = {box[0] + w / 2, box[1] + h / 2};
  } else {
    if (r.hull == Hull::kBounds) c = 1, s = 0;
    const size_t n = r.all ? static_cast<size_t>(points.count) : r.points.size();
    double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (size_t i = 0; i < n; ++i) {
      Point p;
      FV_TRY(points.get(r.all ? static_cast<double>(i) : r.points[i], p));
      const double own[2] = {c * p.x + s * p.y, c * p.y - s * p.x};  // along the region's axes
      for (int a = 0; a < 2; ++a) {
        lo[a] = std::min(lo[a], own[a]);
        hi[a] = std::max(hi[a], own[a]);
      }
    }
    if (n == 0) return bad("points: the rule's hull is made of points, got none");
    w = hi[0] - lo[0];
    h = hi[1] - lo[1];
    const double x = lo[0] + w / 2, y = lo[1] + h / 2;
    centre = {c * x - s * y, s * x + c * y};
    c = std::cos(turn), s = std::sin(turn);
  }
  // The shift is in parts of the sides as they are before squaring.
  centre.x += c * w * r.shift[0] - s * h * r.shift[1];
  centre.y += s * w * r.shift[0] + c * h * r.shift[1];
  if (r.square != Square::kNone)
    w = h = r.square == Square::kLong ? std::max(w, h) : std::min(w, h);
  w *= r.scale[0];
  h *= r.scale[1];
  if (!(w >= kMinRegionSide) || !(h >= kMinRegionSide))
    return bad(format("the region has no area: %g x %g", w, h));
  if (r.mirror) {
    out = {FV_ROI_QUAD, 0, {}};
    const double right[2] = {c * w / 2, s * w / 2}, down[2] = {-s * h / 2, c * h / 2};
    for (int corner = 0; corner < 4; ++corner) {  // of the tensor, clockwise from the top left
      const double x = corner == 0 || corner == 3 ? 1 : -1, y = corner < 2 ? -1 : 1;
      out.v[2 * corner] = centre.x + x * right[0] + y * down[0];
      out.v[2 * corner + 1] = centre.y + x * right[1] + y * down[1];
    }
  } else {
    out = {FV_ROI_ROTATED, 0, {centre.x, centre.y, w, h, degrees}};
    out.v[4] -= 360 * std::floor((out.v[4] + 180) / 360);  // -180..180
  }
  for (const double v : out.v)
    if (!(std::fabs(v) <= kMaxCoordinate)) return bad("the region reaches beyond +-1e6 pixels");
  return ok();
}

}  // namespace

extern "C" {

fv_status* fv_roi_rule_from_json(const char* json, size_t bytes, fv_roi_rule** out) {
  return guard(__func__, [&]() -> Status {
    if (!json || !out)
      return Status(FV_INVALID_ARGUMENT, "fv_roi_rule_from_json: an argument is NULL");
    *out = nullptr;
    auto rule = std::make_unique<fv_roi_rule>();
    FV_TRY(read_rule({json, bytes}, *rule));
    *out = rule.release();
    return ok();
  });
}
void fv_roi_rule_free(fv_roi_rule* rule) { delete rule; }
const char* fv_roi_rule_json(const fv_roi_rule* rule) { return rule ? rule->json.c_str() : ""; }

fv_status* fv_roi_rule_apply(const fv_roi_rule* rule, const float* box, const float* points,
                             int32_t count, int32_t values, fv_roi* out) {
  return guard(__func__, [&]() -> Status {
    if (!rule || !out || (!points && count))
      return Status(FV_INVALID_ARGUMENT, "fv_roi_rule_apply: an argument is NULL");
    if (count < 0 || (count && values < 2))
      return bad(format("points: expected [n, 2 or more], got [%d, %d]", count, values));
    return apply(*rule, box, {points, count, values}, *out);
  });
}

}  // extern "C"
