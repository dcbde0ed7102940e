// Decoders. foveal/_decoder.py gives them their public face.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arrays.h"
#include "bind.h"
#include "foveal/imgproc.h"
#include "handle.h"
#include "status.h"

namespace foveal::python {
namespace {

using Decoder = Handle<fv_decoder, fv_decoder_free>;

// A model's outputs as the C API takes them; holds the arrays.
struct Tensors {
  std::vector<fv_tensor> list;
  std::vector<std::string> names;
  std::vector<py::array> held;

  explicit Tensors(const py::dict& outputs) {
    names.reserve(outputs.size());
    for (const auto& [name, value] : outputs) {
      py::array a = py::array::ensure(value, py::array::c_style);
      if (!a) fail("outputs: expected arrays");
      held.push_back(a);
      names.push_back(py::str(name));
      fv_tensor x{};
      x.abi = FV_ABI_INIT(fv_tensor);
      x.name = names.back().c_str();
      x.data = const_cast<void*>(a.data());
      x.bytes = static_cast<uint64_t>(a.nbytes());
      const std::string dtype = dtype_of(a);
      x.dtype = dtype.empty() ? 0 : dtype_id(dtype);
      x.rank = static_cast<int32_t>(a.ndim());
      if (x.rank > FV_MAX_RANK) fail("outputs: more than 8 dimensions");
      for (int d = 0; d < x.rank; ++d) x.dims[d] = a.shape(d);
      x.layout = {FV_LAYOUT_PLAIN, 0};
      list.push_back(x);
    }
  }
};

// labels int32 [n], scores float32 [n], boxes float32 [n, 4], points float32 [n, p, values].
py::tuple decode(const Decoder& decoder, const py::dict& outputs, const fv_transform& t) {
  const Tensors tensors(outputs);
  const fv_decoder* d = decoder.p.get();
  const int32_t most = fv_decoder_max(d), per = fv_decoder_points(d),
                values = fv_decoder_point_values(d);
  const size_t row = static_cast<size_t>(per) * static_cast<size_t>(values);
  std::vector<fv_detection> found(static_cast<size_t>(most));
  std::vector<float> points(static_cast<size_t>(most) * row);
  int32_t n = 0;
  fv_status* status;
  {
    WithoutGil release;
    status = fv_decoder_run(d, tensors.list.data(), tensors.list.size(), &t, found.data(),
                            points.data(), most, &n);
  }
  throw_if(status);
  py::array_t<int32_t> labels(n);
  py::array_t<float> scores(n), boxes(std::vector<py::ssize_t>{n, 4}),
      xy(std::vector<py::ssize_t>{n, per, values});
  for (int32_t i = 0; i < n; ++i) {
    const fv_detection& r = found[static_cast<size_t>(i)];
    labels.mutable_at(i) = r.label;
    scores.mutable_at(i) = r.score;
    for (int k = 0; k < 4; ++k) boxes.mutable_at(i, k) = r.box[k];
  }
  std::copy_n(points.begin(), static_cast<size_t>(n) * row, xy.mutable_data());
  return py::make_tuple(labels, scores, boxes, xy);
}

// float32 [height, width] of the upright frame.
py::array_t<float> decode_mask(const Decoder& decoder, const py::dict& outputs,
                               const fv_transform& t) {
  const Tensors tensors(outputs);
  if (t.frame_width < 1 || t.frame_height < 1) fail("transform: expected a frame with pixels");
  py::array_t<float> mask(std::vector<py::ssize_t>{t.frame_height, t.frame_width});
  float* data = mask.mutable_data();
  fv_status* status;
  {
    WithoutGil release;
    status = fv_decoder_run_mask(decoder.p.get(), tensors.list.data(), tensors.list.size(), &t,
                                 data, t.frame_width, t.frame_height);
  }
  throw_if(status);
  return mask;
}

// symbols int32 [n], scores float32 [n].
py::tuple decode_text(const Decoder& decoder, const py::dict& outputs) {
  const Tensors tensors(outputs);
  std::vector<int32_t> symbols(256);
  std::vector<float> scores(symbols.size());
  int32_t n = 0;
  for (;;) {
    fv_status* status;
    {
      WithoutGil release;
      status = fv_decoder_run_text(decoder.p.get(), tensors.list.data(), tensors.list.size(),
                                   symbols.data(), scores.data(),
                                   static_cast<int32_t>(symbols.size()), &n);
    }
    throw_if(status);
    const size_t count = static_cast<size_t>(n);
    if (count <= symbols.size()) break;
    symbols.resize(count);
    scores.resize(count);
  }
  return py::make_tuple(py::array_t<int32_t>(n, symbols.data()),
                        py::array_t<float>(n, scores.data()));
}

}  // namespace

void bind_decode(py::module_& m) {
  py::class_<Decoder>(m, "DecoderHandle")
      .def(py::init([](const std::string& json) {
        fv_decoder* decoder = nullptr;
        throw_if(fv_decoder_from_json(json.data(), json.size(), &decoder));
        Decoder d;
        d.p.reset(decoder);
        return d;
      }))
      .def_property_readonly("json", [](const Decoder& d) { return fv_decoder_json(d.p.get()); })
      .def_property_readonly("gives", [](const Decoder& d) { return fv_decoder_gives(d.p.get()); })
      .def_property_readonly("points",
                             [](const Decoder& d) { return fv_decoder_points(d.p.get()); })
      .def_property_readonly("point_values",
                             [](const Decoder& d) { return fv_decoder_point_values(d.p.get()); })
      .def("run", decode)
      .def("run_mask", decode_mask)
      .def("run_text", decode_text);
}

}  // namespace foveal::python
