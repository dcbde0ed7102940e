// Frames, pipelines, transforms and drawing. foveal/image.py and foveal/frame.py give
// them their public face.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "arrays.h"
#include "bind.h"
#include "foveal/imgproc.h"
#include "handle.h"
#include "status.h"

namespace foveal::python {
namespace {

using Spec = Handle<fv_image_spec, fv_image_spec_free>;
using RoiRule = Handle<fv_roi_rule, fv_roi_rule_free>;

// A frame over Python buffers; holds them.
struct Frame {
  fv_frame frame{};
  std::vector<py::buffer_info> planes;
};

using Plane = std::tuple<py::buffer, int64_t, int64_t>;  // buffer, row stride, pixel stride

std::shared_ptr<Frame> make_frame(int format, int width, int height,
                                  const std::vector<Plane>& planes, int rotation, bool mirror,
                                  int matrix, int range, int siting,
                                  const std::array<int32_t, 4>& visible) {
  auto f = std::make_shared<Frame>();
  f->frame.abi = FV_ABI_INIT(fv_frame);
  f->frame.format = format;
  f->frame.width = width;
  f->frame.height = height;
  f->frame.rotation = rotation;
  f->frame.mirror = mirror;
  f->frame.matrix = matrix;
  f->frame.range = range;
  f->frame.siting = siting;
  std::copy(visible.begin(), visible.end(), f->frame.visible);
  f->frame.plane_count = static_cast<int32_t>(planes.size());
  for (size_t i = 0; i < planes.size(); ++i) {
    const auto& [buffer, row, pixel] = planes[i];
    f->planes.push_back(buffer.request());
    // Bytes that may be read: up to the last element, whatever the strides between.
    const py::buffer_info& b = f->planes.back();
    int64_t bytes = b.itemsize;
    for (size_t d = 0; d < b.shape.size(); ++d) {
      if (b.shape[d] == 0) bytes = 0;
      if (b.strides[d] < 0)
        fail(
            "frame: planes: expected strides that are not negative; pass "
            "numpy.ascontiguousarray(plane)",
            FV_FRAME_ERROR);
      if (bytes) bytes += (b.shape[d] - 1) * b.strides[d];
    }
    if (i < 4) f->frame.planes[i] = {b.ptr, static_cast<uint64_t>(bytes), row, pixel};
  }
  throw_if(fv_frame_check(&f->frame));
  return f;
}

py::array_t<double> matrix(const double (&m)[9]) {
  py::array_t<double> a({3, 3});
  std::copy(m, m + 9, a.mutable_data());
  return a;
}

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

// A copy of xy mapped between spaces; the last dimension is 2 (points) or 4 (boxes).
py::array_t<double> map_coordinates(const fv_transform& t, int from, int to, const Doubles& in,
                                    int width) {
  if (in.ndim() < 1 || in.shape(in.ndim() - 1) != width)
    fail("expected an array whose last dimension is " + std::to_string(width));
  py::array_t<double> out(std::vector<py::ssize_t>(in.shape(), in.shape() + in.ndim()));
  std::copy(in.data(), in.data() + in.size(), out.mutable_data());
  throw_if((width == 2 ? fv_transform_points : fv_transform_boxes)(&t, from, to, out.mutable_data(),
                                                                   in.size() / width));
  return out;
}

// A compiled pipeline and the threads it may use. Python programs share plans between threads
// without being told not to: a mutex lets one run or explanation happen at a time. It is only taken
// without the GIL, and nothing under it needs the GIL.
struct Plan {
  std::unique_ptr<fv_image_plan, decltype(&fv_image_plan_free)> plan{nullptr, fv_image_plan_free};
  std::unique_ptr<fv_pool, decltype(&fv_pool_free)> pool{nullptr, fv_pool_free};
  fv_dtype dtype = FV_FLOAT32;
  std::mutex turn;
};

std::shared_ptr<Plan> compile(const Spec& spec, const std::string& dtype, int order, int block,
                              const std::vector<int64_t>& dims, int threads, double scale,
                              int zero_point) {
  fv_tensor t{};
  t.abi = FV_ABI_INIT(fv_tensor);
  t.name = "";
  t.dtype = dtype_id(dtype);
  t.rank = static_cast<int32_t>(dims.size());
  if (dims.size() > FV_MAX_RANK) fail("a shape of more than 8 dimensions");
  std::copy(dims.begin(), dims.end(), t.dims);
  t.layout = block ? fv_layout{FV_LAYOUT_NCXHWX, block} : fv_layout{FV_LAYOUT_PLAIN, 0};
  fv_image_plan* made = nullptr;
  throw_if(fv_image_plan_create_quantized(spec.p.get(), &t, order, scale, zero_point, &made));
  auto plan = std::make_shared<Plan>();
  plan->plan.reset(made);
  plan->dtype = t.dtype;
  if (threads > 1) {
    fv_pool* pool = nullptr;
    throw_if(fv_pool_new(threads, &pool));
    plan->pool.reset(pool);
  }
  return plan;
}

// roi: None, or a kind and its numbers. Gives NULL or `out`, filled.
const fv_roi* read_roi(const py::object& roi, fv_roi& out) {
  if (roi.is_none()) return nullptr;
  const auto [kind, values] = roi.cast<std::pair<int, std::vector<double>>>();
  const size_t want = kind == FV_ROI_RECT ? 4 : kind == FV_ROI_ROTATED ? 5 : 8;
  if (values.size() != want)
    fail("roi: expected " + std::to_string(want) + " numbers, got " +
         std::to_string(values.size()));
  out.kind = kind;
  std::copy(values.begin(), values.end(), out.v);
  return &out;
}

std::pair<int, int> size_for(const Spec& spec, const Frame& frame, const py::object& roi) {
  fv_roi r{};
  int32_t size[2];
  throw_if(fv_image_spec_size(spec.p.get(), &frame.frame, read_roi(roi, r), size));
  return {size[0], size[1]};
}

using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;

// The numbers of a rotated rect or a quad. box: [4] or None; points: [n, values].
std::vector<double> apply_rule(const RoiRule& rule, const std::optional<Floats>& box,
                               const Floats& points) {
  if ((box && box->size() != 4) || points.ndim() != 2) fail("roi rule: expected [4] and [n, 2]");
  if (points.shape(0) > INT32_MAX || points.shape(1) > INT32_MAX)
    fail("roi rule: points: too many");
  fv_roi roi{};
  throw_if(fv_roi_rule_apply(rule.p.get(), box ? box->data() : nullptr, points.data(),
                             static_cast<int32_t>(points.shape(0)),
                             static_cast<int32_t>(points.shape(1)), &roi));
  return {roi.v, roi.v + (roi.kind == FV_ROI_QUAD ? 8 : 5)};
}

// Bytes of `out`, which must be a writable array of the plan's elements.
void* writable(const Plan& plan, const py::array& out) {
  const DTypeName& element = dtype_row(plan.dtype);
  if (dtype_of(out) != element.numpy || out.dtype().byteorder() == '>' ||
      out.dtype().byteorder() == '<')  // native order reads '=' or '|'
    fail(std::string("out: expected dtype ") + element.numpy + ", got " +
         std::string(py::str(out.dtype())));
  if (!(out.flags() & py::array::c_style) || !out.writeable())
    fail("out: expected a writable C-contiguous array");
  return const_cast<void*>(out.data());
}

std::vector<fv_transform> run_batch(Plan& plan, const Frame& frame, const py::list& rois,
                                    const py::array& out) {
  std::vector<fv_roi> regions(rois.size());
  for (size_t i = 0; i < regions.size(); ++i)
    if (!read_roi(rois[i], regions[i])) fail("rois: expected regions, got None");
  std::vector<fv_transform> made(regions.size());
  void* data = writable(plan, out);
  fv_status* status;
  {
    const fv_workers workers{plan.pool.get(), fv_parallel_for};
    const uint64_t bytes = static_cast<uint64_t>(out.nbytes());
    WithoutGil release;
    const std::lock_guard turn(plan.turn);
    status = fv_image_plan_run_batch(plan.plan.get(), &frame.frame, regions.data(),
                                     static_cast<int32_t>(regions.size()), data, bytes, &workers,
                                     made.data());
  }
  throw_if(status);
  return made;
}

fv_transform run(Plan& plan, const Frame& frame, const py::object& roi, const py::array& out) {
  fv_roi r{};
  const fv_roi* region = read_roi(roi, r);
  void* data = writable(plan, out);
  fv_transform t{};
  fv_status* status;
  {
    const fv_workers workers{plan.pool.get(), fv_parallel_for};
    const uint64_t bytes = static_cast<uint64_t>(out.nbytes());
    WithoutGil release;
    const std::lock_guard turn(plan.turn);
    status = fv_image_plan_run(plan.plan.get(), &frame.frame, region, data, bytes, &workers, &t);
  }
  throw_if(status);
  return t;
}

fv_transform run_picture(Plan& plan, const Frame& frame, const py::object& roi, const Frame& to) {
  fv_roi r{};
  const fv_roi* region = read_roi(roi, r);
  for (const py::buffer_info& plane : to.planes)
    if (plane.readonly) fail("out: expected a frame of writable planes");
  fv_transform t{};
  fv_status* status;
  {
    const fv_workers workers{plan.pool.get(), fv_parallel_for};
    WithoutGil release;
    const std::lock_guard turn(plan.turn);
    status =
        fv_image_plan_run_picture(plan.plan.get(), &frame.frame, region, &to.frame, &workers, &t);
  }
  throw_if(status);
  return t;
}

std::string explain(Plan& plan) {
  WithoutGil release;
  const std::lock_guard turn(plan.turn);
  return fv_image_plan_explain(plan.plan.get());
}

// A frame's own planes, drawn on in place.
fv_canvas frame_canvas(const Frame& f) {
  const fv_frame& frame = f.frame;
  for (const py::buffer_info& plane : f.planes)
    if (plane.readonly) fail("frame: expected writable planes");
  const int natural = frame.format == FV_RGB || frame.format == FV_BGR     ? 3
                      : frame.format == FV_RGBA || frame.format == FV_BGRA ? 4
                                                                           : 1;
  for (int i = 0; i < 4; ++i)
    if (frame.visible[i]) fail("frame: a visible part cannot be drawn on; draw on a frame of it");
  const int64_t step = frame.planes[0].pixel_stride, chroma_step = frame.planes[1].pixel_stride;
  if ((step && step != natural) || (chroma_step && chroma_step != 2))
    fail("frame: expected adjacent pixels");
  fv_canvas c{};
  c.format = frame.format;
  c.width = frame.width;
  c.height = frame.height;
  c.data = const_cast<void*>(frame.planes[0].data);
  c.bytes = frame.planes[0].bytes;
  c.row_stride = frame.planes[0].row_stride;
  c.chroma = const_cast<void*>(frame.planes[1].data);
  c.chroma_bytes = frame.planes[1].bytes;
  c.chroma_row_stride = frame.planes[1].row_stride;
  c.matrix = frame.matrix;
  c.range = frame.range;
  return c;
}

fv_canvas canvas(const py::object& target, int format) {
  if (py::isinstance<Frame>(target)) return frame_canvas(target.cast<const Frame&>());
  const auto image = target.cast<py::array>();
  if (!image.writeable()) fail("image: expected a writable array");
  if (dtype_of(image) != "uint8" || image.ndim() < 2 || image.ndim() > 3)
    fail("image: expected a uint8 array [height, width(, channels)]");
  const py::ssize_t channels = image.ndim() == 3 ? image.shape(2) : 1;
  if ((image.ndim() == 3 && image.strides(2) != 1) || image.strides(1) != channels ||
      image.strides(0) < image.shape(1) * channels)
    fail("image: expected rows of adjacent pixels (C-contiguous rows)");
  const int want = format == FV_GRAY ? 1 : format == FV_RGB || format == FV_BGR ? 3 : 4;
  if (channels != want)
    fail("image: expected " + std::to_string(want) + " channels, got " + std::to_string(channels));
  fv_canvas c{};
  c.format = format;
  c.width = static_cast<int32_t>(std::min<py::ssize_t>(image.shape(1), INT32_MAX));
  c.height = static_cast<int32_t>(std::min<py::ssize_t>(image.shape(0), INT32_MAX));
  c.data = const_cast<void*>(image.data());
  c.row_stride = image.strides(0);
  c.bytes = image.shape(0) ? static_cast<uint64_t>((image.shape(0) - 1) * image.strides(0) +
                                                   image.shape(1) * channels)
                           : 0;
  return c;
}

int32_t point_count(const Doubles& xy) {
  if (xy.ndim() != 2 || xy.shape(1) != 2 || xy.shape(0) > INT32_MAX)
    fail("draw: points: expected [n, 2]");
  return static_cast<int32_t>(xy.shape(0));
}

std::array<double, 4> box_of(const std::vector<double>& v) {
  if (v.size() != 4) fail("expected 4 numbers");
  return {v[0], v[1], v[2], v[3]};
}

}  // namespace

void bind_imgproc(py::module_& m) {
  py::class_<Frame, std::shared_ptr<Frame>>(m, "FrameHandle");
  m.def("frame_new", make_frame);

  py::class_<Spec>(m, "ImageSpec")
      .def(py::init([](const std::string& json) {
        fv_image_spec* spec = nullptr;
        throw_if(fv_image_spec_from_json(json.data(), json.size(), &spec));
        Spec s;
        s.p.reset(spec);
        return s;
      }))
      .def_property_readonly("json", [](const Spec& s) { return fv_image_spec_json(s.p.get()); })
      .def_property_readonly("digest",
                             [](const Spec& s) { return fv_image_spec_digest(s.p.get()); })
      .def("size_for", size_for)
      .def("compile", compile);

  py::class_<RoiRule>(m, "RoiRuleHandle")
      .def(py::init([](const std::string& json) {
        fv_roi_rule* rule = nullptr;
        throw_if(fv_roi_rule_from_json(json.data(), json.size(), &rule));
        RoiRule r;
        r.p.reset(rule);
        return r;
      }))
      .def_property_readonly("json", [](const RoiRule& r) { return fv_roi_rule_json(r.p.get()); })
      .def("apply", apply_rule);

  py::class_<fv_transform>(m, "TransformHandle")
      .def(py::init([](const Doubles& to_upright, const Doubles& from_upright, int tensor_width,
                       int tensor_height, int frame_width, int frame_height, int rotation,
                       int mirror, const std::vector<double>& valid) {
        if (to_upright.size() != 9 || from_upright.size() != 9 || valid.size() != 4)
          fail("expected 9, 9 and 4 numbers");
        fv_transform t{};
        t.abi = FV_ABI_INIT(fv_transform);
        std::copy_n(to_upright.data(), 9, t.to_upright);
        std::copy_n(from_upright.data(), 9, t.from_upright);
        std::copy_n(valid.begin(), 4, t.valid);
        t.tensor_width = tensor_width;
        t.tensor_height = tensor_height;
        t.frame_width = frame_width;
        t.frame_height = frame_height;
        t.rotation = rotation;
        t.mirror = mirror;
        return t;
      }))
      .def_property_readonly("to_upright",
                             [](const fv_transform& t) { return matrix(t.to_upright); })
      .def_property_readonly("from_upright",
                             [](const fv_transform& t) { return matrix(t.from_upright); })
      .def_property_readonly(
          "tensor_size",
          [](const fv_transform& t) { return std::make_pair(t.tensor_width, t.tensor_height); })
      .def_property_readonly(
          "frame_size",
          [](const fv_transform& t) { return std::make_pair(t.frame_width, t.frame_height); })
      .def_readonly("rotation", &fv_transform::rotation)
      .def_property_readonly("mirror", [](const fv_transform& t) { return t.mirror != 0; })
      .def_property_readonly(
          "valid", [](const fv_transform& t) { return std::vector<double>(t.valid, t.valid + 4); })
      .def("points", [](const fv_transform& t, int from, int to,
                        const Doubles& xy) { return map_coordinates(t, from, to, xy, 2); })
      .def("boxes", [](const fv_transform& t, int from, int to,
                       const Doubles& xyxy) { return map_coordinates(t, from, to, xyxy, 4); })
      .def("mask", [](const fv_transform& t, const Floats& mask, int mode) {
        if (mask.ndim() != 2 || std::max(mask.shape(0), mask.shape(1)) > INT32_MAX)
          fail("transform: mask: expected [height, width]");
        if (t.frame_width < 1 || t.frame_height < 1 ||
            int64_t{t.frame_width} * t.frame_height > INT32_MAX)
          fail("transform: not one that a plan made");
        py::array_t<float> out({t.frame_height, t.frame_width});
        float* to = out.mutable_data();
        fv_status* status;
        {
          WithoutGil release;
          status = fv_transform_mask(&t, mask.data(), static_cast<int32_t>(mask.shape(1)),
                                     static_cast<int32_t>(mask.shape(0)), mode, to, t.frame_width,
                                     t.frame_height);
        }
        throw_if(status);
        return out;
      });

  py::class_<Plan, std::shared_ptr<Plan>>(m, "ImagePlan")
      .def("run", run)
      .def("run_picture", run_picture)
      .def("run_batch", run_batch)
      .def_property_readonly("bytes",
                             [](const Plan& p) { return fv_image_plan_bytes(p.plan.get()); })
      .def("explain", explain);

  m.def("draw_box", [](const py::object& image, int format, const std::vector<double>& box,
                       int thickness, fv_rgb color) {
    const fv_canvas c = canvas(image, format);
    throw_if(fv_draw_box(&c, box_of(box).data(), thickness, color));
  });
  m.def("fill_box",
        [](const py::object& image, int format, const std::vector<double>& box, fv_rgb color) {
          const fv_canvas c = canvas(image, format);
          throw_if(fv_fill_box(&c, box_of(box).data(), color));
        });
  m.def("draw_line", [](const py::object& image, int format, const std::vector<double>& from_to,
                        int thickness, fv_rgb color) {
    const fv_canvas c = canvas(image, format);
    throw_if(fv_draw_line(&c, box_of(from_to).data(), thickness, color));
  });
  m.def("draw_point",
        [](const py::object& image, int format, double x, double y, double radius, fv_rgb color) {
          const fv_canvas c = canvas(image, format);
          throw_if(fv_draw_point(&c, x, y, radius, color));
        });
  m.def("draw_circle", [](const py::object& image, int format, double x, double y, double radius,
                          int thickness, fv_rgb color) {
    const fv_canvas c = canvas(image, format);
    throw_if(fv_draw_circle(&c, x, y, radius, thickness, color));
  });
  m.def("draw_polyline", [](const py::object& image, int format, const Doubles& xy, bool closed,
                            int thickness, fv_rgb color) {
    const fv_canvas c = canvas(image, format);
    throw_if(fv_draw_polyline(&c, xy.data(), point_count(xy), closed, thickness, color));
  });
  m.def("fill_polygon", [](const py::object& image, int format, const Doubles& xy, fv_rgb color) {
    const fv_canvas c = canvas(image, format);
    throw_if(fv_fill_polygon(&c, xy.data(), point_count(xy), color));
  });
  m.def("draw_mask",
        [](const py::object& image, int format, const Floats& mask, double strength, fv_rgb color) {
          const fv_canvas c = canvas(image, format);
          if (mask.ndim() != 2 || mask.shape(0) != c.height || mask.shape(1) != c.width)
            fail("draw: mask: expected [height, width] of the image");
          throw_if(fv_draw_mask(&c, mask.data(), c.width, c.height, strength, color));
        });
  m.def("draw_text", [](const py::object& image, int format, int x, int y, const std::string& text,
                        int scale, fv_rgb color) {
    const fv_canvas c = canvas(image, format);
    throw_if(fv_draw_text(&c, x, y, text.data(), text.size(), scale, color));
  });
}

}  // namespace foveal::python
