// C surface of specs, plans, frames and transforms.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "base/dtype.h"
#include "base/guard.h"
#include "foveal/imgproc.h"
#include "imgproc/geometry/mask_walk.h"
#include "imgproc/plan.h"
#include "imgproc/rows/isa.h"

using namespace foveal;
using namespace foveal::imgproc;

struct fv_image_spec {
  Spec spec;
};
struct fv_image_plan {
  Plan plan;
  std::vector<Plan> more;  // tables of the other regions of a batch

  Plan& region(int64_t i) { return i ? more[static_cast<size_t>(i - 1)] : plan; }
};

namespace {

constexpr int kMaxRegions = 4096;  // of a batch

Status missing(const char* function, const char* argument) {
  return Status(FV_INVALID_ARGUMENT, format("%s: %s is NULL", function, argument));
}

// Tensor -> upright and back; sensor pixels need the orientation on top.
bool space_map(const fv_transform& t, fv_space from, fv_space to, Mat3& out) {
  const bool turned = t.rotation % 180 != 0;
  const int sensor_w = turned ? t.frame_height : t.frame_width;
  const int sensor_h = turned ? t.frame_width : t.frame_height;
  const Mat3 sensor = sensor_from_upright(t.rotation, t.mirror != 0, sensor_w, sensor_h);
  Mat3 first, second;  // from -> upright, upright -> to
  if (from == FV_SPACE_TENSOR) std::memcpy(first.m, t.to_upright, sizeof first.m);
  if (from == FV_SPACE_SENSOR && !invert(sensor, first)) return false;
  if (to == FV_SPACE_TENSOR) std::memcpy(second.m, t.from_upright, sizeof second.m);
  if (to == FV_SPACE_SENSOR) second = sensor;
  out = second * first;
  return true;
}

Status open_transform(const fv_transform* t, fv_space from, fv_space to, Mat3& map) {
  if (!t) return Status(FV_INVALID_ARGUMENT, "transform: is NULL");
  if (from < FV_SPACE_TENSOR || from > FV_SPACE_SENSOR || to < FV_SPACE_TENSOR ||
      to > FV_SPACE_SENSOR)
    return Status(FV_INVALID_ARGUMENT, format("transform: unknown space %d or %d", from, to));
  if (t->rotation % 90 || !space_map(*t, from, to, map))
    return Status(FV_INVALID_ARGUMENT, "transform: not one that a plan made");
  return ok();
}

std::string explain(const Plan& p) {
  std::string t =
      format("image plan: %dx%d %s, tensor %llu bytes, kernels %s\n", p.spec.width, p.spec.height,
             dtype_name(p.store.dtype), static_cast<unsigned long long>(p.store.bytes), isa_name());
  if (p.store.whole)
    t += format("numbers: round(y / %.9g) + %d\n", p.quantization.scale, p.quantization.zero_point);
  t += "spec " + p.spec.digest.substr(0, 16) + ": " + p.spec.json + "\n";
  if (!p.ran) return t + "not run yet: the plan is chosen by the frame's size and orientation\n";
  const Run& r = p.run;
  const Geometry& g = r.geometry;
  const Source& frame = r.reduced ? p.smaller[0].run.source : r.source;
  t += format("last frame: %s %dx%d, rotation %d%s -> upright %dx%d\n",
              format_info(p.ran_format)->name, frame.width, frame.height, g.rotation,
              g.mirror ? ", mirrored" : "", g.upright_width, g.upright_height);
  t += format("plan: %s, %s, chunks of %d pixels, image area [%d, %d, %d, %d]\n", r.kind->name,
              r.kind->detail(p), r.step, g.x0, g.y0, g.x1, g.y1);
  if (r.planes)
    t += format("picture: %s, %s\n", format_info(p.picture_format)->name, planes_name(p));
  if (r.reduced) {
    const Plan& q = p.smaller[0];
    const AxisMap &x = q.separable.x.map, &y = q.separable.y.map;
    t +=
        format("antialias: first, pixels [%g, %g, %g, %g] of the frame become %dx%d of 16 bits%s\n",
               x.start, y.start, x.start + x.scale * x.to, y.start + y.scale * y.to, x.to, y.to,
               q.separable.whole ? ", in whole numbers" : "");
  }
  static constexpr const char* kSitings[] = {"", "center", "left", "top_left"};
  if (r.linear) t += format("chroma: linear, sited %s\n", kSitings[static_cast<int>(r.siting)]);
  t += "tensor -> upright:";
  for (const double v : g.upright_from_tensor.m) t += format(" %.9g", v);
  return t + "\n";
}

struct Bands {  // of all regions, one region after the other
  fv_image_plan* plan;
  bool smaller;        // of what the regions are sampled from
  int64_t per_region;  // the most that any has
  int rows;            // of a band
};

void band_task(void* ctx, int64_t task, int32_t) {
  const Bands& bands = *static_cast<const Bands*>(ctx);
  const Plan& region = bands.plan->region(task / bands.per_region);
  if (bands.smaller && !region.run.reduced) return;
  const Plan& p = bands.smaller ? region.smaller[0] : region;
  const int y0 = static_cast<int>(task % bands.per_region) * bands.rows;
  if (y0 < p.spec.height) run_band(p, y0, std::min(y0 + bands.rows, p.spec.height));
}

void run_bands(fv_image_plan& plan, int32_t count, bool smaller, const fv_workers* workers) {
  const Plan& first = plan.plan;
  int height = smaller ? 0 : first.spec.height;
  for (int32_t i = 0; i < count && smaller; ++i)
    if (const Plan& p = plan.region(i); p.run.reduced)
      height = std::max(height, p.smaller[0].spec.height);
  const int rows = smaller ? kBandRows : band_rows(first);
  Bands bands{&plan, smaller, (height + rows - 1) / rows, rows};
  const int64_t tasks = bands.per_region * count;
  if (tasks && workers && workers->parallel_for && workers->pool)
    workers->parallel_for(workers->pool, tasks, band_task, &bands);
  else
    for (int64_t i = 0; i < tasks; ++i) band_task(&bands, i, 0);
}

// Where a run writes: tensors, or the planes of one picture.
struct Target {
  void* dst = nullptr;
  uint64_t bytes = 0;
  const Source* picture = nullptr;
  fv_pixel_format format = 0;  // of picture
};

Status check_tensors(const Plan& plan, int32_t count, const Target& target) {
  const uint64_t need = plan.store.bytes * static_cast<uint64_t>(count);
  if (target.bytes < need)
    return Status(FV_INVALID_ARGUMENT,
                  format("image plan: dst: expected at least %llu bytes, got %llu",
                         static_cast<unsigned long long>(need),
                         static_cast<unsigned long long>(target.bytes)));
  const size_t element = dtype_size(plan.store.dtype);
  if (reinterpret_cast<uintptr_t>(target.dst) % element)
    return Status(FV_INVALID_ARGUMENT,
                  format("image plan: dst: expected an address aligned to %zu bytes", element));
  return ok();
}

Status check_picture(const Plan& plan, const fv_frame& to, const Source& picture) {
  if (plan.spec.color != Color::kYuv || !plan.run.plain)
    return Status(FV_INVALID_ARGUMENT,
                  "image plan: to: expected a plan of color \"YUV\" and dtype uint8, without norm");
  if (picture.family != Family::kYuv || picture.element != Element::kU8)
    return Status(FV_INVALID_ARGUMENT,
                  format("image plan: to: expected a YUV format of 8 bits, got %s",
                         format_info(to.format)->name));
  if (picture.width != plan.spec.width || picture.height != plan.spec.height ||
      to.width != picture.width || to.height != picture.height)
    return Status(FV_SHAPE_ERROR,
                  format("image plan: to: expected %dx%d, all of it visible, got %dx%d",
                         plan.spec.width, plan.spec.height, to.width, to.height));
  if (to.rotation || to.mirror)
    return Status(FV_INVALID_ARGUMENT,
                  "image plan: to: expected no rotation and no mirror: results are upright");
  return ok();
}

// rois NULL: one region, as the spec says. Every region is lowered before anything is written.
Status run_regions(fv_image_plan& plan, const fv_frame& frame, const fv_roi* rois, int32_t count,
                   const Target& target, const fv_workers* workers, fv_transform* out) {
  Plan& first = plan.plan;
  if (!target.picture) FV_TRY(check_tensors(first, count, target));
  if (plan.more.size() + 1 < static_cast<size_t>(count))
    plan.more.resize(static_cast<size_t>(count) - 1, first);
  first.ran = false;
  for (int32_t i = 0; i < count; ++i) {
    Plan& p = plan.region(i);
    FV_TRY(lower(p, frame, rois ? rois + i : nullptr));
    p.run.planes = target.picture != nullptr;
    if (p.run.planes)
      p.run.picture = *target.picture;
    else
      p.run.dst = static_cast<uint8_t*>(target.dst) + first.store.bytes * static_cast<uint64_t>(i);
  }
  first.ran = true;
  first.ran_format = frame.format;
  first.picture_format = target.format;
  run_bands(plan, count, true, workers);
  run_bands(plan, count, false, workers);
  for (int32_t i = 0; out && i < count; ++i)
    out[i] = make_transform(plan.region(i).run.geometry, first.spec);
  return ok();
}

Status create_plan(const Spec& given, const fv_tensor& input, fv_axis_order order,
                   const Quantization& quantization, Plan& p) {
  FV_TRY(check_supported(given));
  p.spec = given;
  p.quantization = quantization;
  FV_TRY(read_tensor_size(input, order, p.spec));
  const Spec& spec = p.spec;
  FV_ASSIGN(p.store, make_store(spec, input, order, quantization));
  for (Axis* a : {&p.x, &p.y, &p.chroma_x, &p.chroma_y}) {
    const size_t n = static_cast<size_t>(a == &p.x || a == &p.chroma_x ? spec.width : spec.height);
    a->i0.resize(n);
    a->i1.resize(n);
    a->w0.resize(n);
    a->w1.resize(n);
  }
  for (auto& group : p.xo)
    for (auto& tap : group) tap.resize(static_cast<size_t>(spec.width));
  if (is_cv2(spec)) size_cv2(p);
  size_lerp(p);
  if (FV_HAS_PROFILE("pillow") || FV_HAS_PROFILE("torch")) p.pillow.k = &pillow_kernels();
  return make_finish(quantization, p);
}

}  // namespace

extern "C" {

fv_status* fv_frame_check(const fv_frame* frame) {
  return guard(__func__, [&]() -> Status {
    if (!frame) return missing("fv_frame_check", "frame");
    return std::move(open_frame(*frame).status());
  });
}

fv_status* fv_image_spec_from_json(const char* json, size_t bytes, fv_image_spec** out) {
  return guard(__func__, [&]() -> Status {
    if (!json || !out) return missing("fv_image_spec_from_json", json ? "out" : "json");
    *out = nullptr;
    Result<Spec> spec = parse_spec({json, bytes});
    if (!spec.ok()) return std::move(spec.status());
    *out = new fv_image_spec{spec.take()};
    return ok();
  });
}
void fv_image_spec_free(fv_image_spec* spec) { delete spec; }
const char* fv_image_spec_json(const fv_image_spec* spec) {
  return spec ? spec->spec.json.c_str() : "";
}
const char* fv_image_spec_digest(const fv_image_spec* spec) {
  return spec ? spec->spec.digest.c_str() : "";
}

fv_status* fv_image_spec_size(const fv_image_spec* spec, const fv_frame* frame, const fv_roi* roi,
                              int32_t size[2]) {
  return guard(__func__, [&]() -> Status {
    if (!spec || !frame || !size)
      return missing("fv_image_spec_size", !spec ? "spec" : !frame ? "frame" : "size");
    FV_TRY(check_roi(spec->spec, roi));
    FV_ASSIGN(const Source source, open_frame(*frame));
    return tensor_size(spec->spec, source.width, source.height, frame->rotation, roi, size);
  });
}

fv_status* fv_image_plan_create(const fv_image_spec* spec, const fv_tensor* input,
                                fv_axis_order order, fv_image_plan** out) {
  return fv_image_plan_create_quantized(spec, input, order, 1, 0, out);
}
fv_status* fv_image_plan_create_quantized(const fv_image_spec* spec, const fv_tensor* input,
                                          fv_axis_order order, double scale, int32_t zero_point,
                                          fv_image_plan** out) {
  return guard(__func__, [&]() -> Status {
    if (!spec || !input || !out)
      return missing("fv_image_plan_create", !spec ? "spec" : !input ? "input" : "out");
    *out = nullptr;
    auto plan = std::make_unique<fv_image_plan>();
    FV_TRY(create_plan(spec->spec, *input, order, {scale, zero_point}, plan->plan));
    *out = plan.release();
    return ok();
  });
}
void fv_image_plan_free(fv_image_plan* plan) { delete plan; }
uint64_t fv_image_plan_bytes(const fv_image_plan* plan) {
  return plan ? plan->plan.store.bytes : 0;
}
const char* fv_image_plan_explain(fv_image_plan* plan) {
  if (!plan) return "";
  return guard_or("", [&] {
    plan->plan.text = explain(plan->plan);
    return plan->plan.text.c_str();
  });
}

fv_status* fv_image_plan_run(fv_image_plan* plan, const fv_frame* frame, const fv_roi* roi,
                             void* dst, uint64_t dst_bytes, const fv_workers* workers,
                             fv_transform* out) {
  return guard(__func__, [&]() -> Status {
    if (!plan || !frame || !dst)
      return missing("fv_image_plan_run", !plan ? "plan" : !frame ? "frame" : "dst");
    return run_regions(*plan, *frame, roi, 1, {dst, dst_bytes}, workers, out);
  });
}

fv_status* fv_image_plan_run_picture(fv_image_plan* plan, const fv_frame* frame, const fv_roi* roi,
                                     const fv_frame* to, const fv_workers* workers,
                                     fv_transform* out) {
  return guard(__func__, [&]() -> Status {
    if (!plan || !frame || !to)
      return missing("fv_image_plan_run_picture", !plan ? "plan" : !frame ? "frame" : "to");
    FV_ASSIGN(const Source picture, open_frame(*to));
    FV_TRY(check_picture(plan->plan, *to, picture));
    return run_regions(*plan, *frame, roi, 1, {nullptr, 0, &picture, to->format}, workers, out);
  });
}

fv_status* fv_image_plan_run_batch(fv_image_plan* plan, const fv_frame* frame, const fv_roi* rois,
                                   int32_t count, void* dst, uint64_t dst_bytes,
                                   const fv_workers* workers, fv_transform* out) {
  return guard(__func__, [&]() -> Status {
    if (!plan || !frame || !rois || !dst)
      return missing("fv_image_plan_run_batch", !plan    ? "plan"
                                                : !frame ? "frame"
                                                : !rois  ? "rois"
                                                         : "dst");
    if (count < 1 || count > kMaxRegions)
      return Status(
          FV_INVALID_ARGUMENT,
          format("image plan: count: expected 1 to %d regions, got %d", kMaxRegions, count));
    return run_regions(*plan, *frame, rois, count, {dst, dst_bytes}, workers, out);
  });
}

fv_status* fv_transform_points(const fv_transform* t, fv_space from, fv_space to, double* xy,
                               int64_t count) {
  return guard(__func__, [&]() -> Status {
    Mat3 map;
    FV_TRY(open_transform(t, from, to, map));
    for (int64_t i = 0; i < count; ++i)
      if (!map.map(xy[2 * i], xy[2 * i + 1])) xy[2 * i] = xy[2 * i + 1] = NAN;
    return ok();
  });
}

fv_status* fv_transform_boxes(const fv_transform* t, fv_space from, fv_space to, double* boxes,
                              int64_t count) {
  return guard(__func__, [&]() -> Status {
    Mat3 map;
    FV_TRY(open_transform(t, from, to, map));
    for (int64_t i = 0; i < count; ++i) {
      double* b = boxes + 4 * i;
      double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
      for (int corner = 0; corner < 4; ++corner) {
        double v[2] = {b[corner & 1 ? 2 : 0], b[corner & 2 ? 3 : 1]};
        if (!map.map(v[0], v[1])) v[0] = v[1] = NAN;
        for (int a = 0; a < 2; ++a) {
          lo[a] = v[a] < lo[a] ? v[a] : lo[a];
          hi[a] = v[a] > hi[a] ? v[a] : hi[a];
        }
      }
      b[0] = lo[0], b[1] = lo[1], b[2] = hi[0], b[3] = hi[1];
    }
    return ok();
  });
}

fv_status* fv_transform_mask(const fv_transform* t, const float* mask, int32_t mask_width,
                             int32_t mask_height, fv_mask_mode mode, float* out, int32_t width,
                             int32_t height) {
  return guard(__func__, [&]() -> Status {
    if (!t || !mask || !out)
      return Status(FV_INVALID_ARGUMENT, "fv_transform_mask: an argument is NULL");
    bool good = t->tensor_width >= 1 && t->tensor_height >= 1;
    for (const double v : t->from_upright) good = good && std::isfinite(v);
    for (const double v : t->valid) good = good && std::isfinite(v);
    if (!good) return Status(FV_INVALID_ARGUMENT, "transform: not one that a plan made");
    if (mask_width < 1 || mask_height < 1 || std::max(mask_width, mask_height) > kMaxMaskSide)
      return Status(FV_INVALID_ARGUMENT,
                    format("transform: mask: expected sides of 1..%d, got %dx%d",
                           static_cast<int>(kMaxMaskSide), mask_width, mask_height));
    if (width < 1 || height < 1 || width != t->frame_width || height != t->frame_height)
      return Status(FV_INVALID_ARGUMENT,
                    format("transform: mask: expected the upright frame's size %dx%d, got %dx%d",
                           t->frame_width, t->frame_height, width, height));
    if (mode != FV_MASK_BILINEAR && mode != FV_MASK_NEAREST)
      return Status(FV_INVALID_ARGUMENT, format("transform: mask: unknown mode %d", mode));
    MaskPlane plane(mask_width, mask_height);
    for (int y = 0; y < mask_height; ++y)
      for (int x = 0; x < mask_width; ++x) {
        const float v = mask[int64_t{y} * mask_width + x];
        plane.row(y)[x] = std::isfinite(v) ? v : 0;
      }
    mask_to_frame(plane, *t, mode == FV_MASK_NEAREST, out);
    return ok();
  });
}

}  // extern "C"
