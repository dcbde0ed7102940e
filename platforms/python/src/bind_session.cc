// Model and Session.
#include <pybind11/stl.h>

#include <mutex>

#include "arrays.h"
#include "base/dlpack.h"
#include "bind.h"
#include "status.h"

namespace foveal::python {
namespace {

struct TensorInfo {
  std::string name, dtype;
  py::tuple shape;          // int, or str for a named dimension, or -1
  py::object quantization;  // (scale, zero point) or None
  std::string repr() const {
    return "TensorInfo(name='" + name + "', shape=" + std::string(py::str(shape)) + ", dtype='" +
           dtype + "')";
  }
};

TensorInfo info_of(const fv_model* model, bool output, size_t i) {
  fv_tensor t{};
  t.abi.struct_size = sizeof(t);
  throw_if(output ? fv_model_output(model, i, &t) : fv_model_input(model, i, &t));
  py::tuple shape(t.rank);
  for (int32_t d = 0; d < t.rank; ++d) {
    const std::string name = fv_model_dim_name(model, output, i, d);
    if (t.dims[d] >= 0)
      shape[static_cast<size_t>(d)] = t.dims[d];
    else if (!name.empty())
      shape[static_cast<size_t>(d)] = name;
    else
      shape[static_cast<size_t>(d)] = -1;
  }
  double scale;
  int32_t zero_point;
  throw_if(fv_model_quantization(model, output, i, &scale, &zero_point));
  py::object quantization = py::none();
  if (scale != 1 || zero_point != 0) quantization = py::make_tuple(scale, zero_point);
  return {t.name, dtype_row(t.dtype).name, shape, quantization};
}

std::vector<TensorInfo> infos(const fv_model* model, bool output) {
  std::vector<TensorInfo> list;
  const size_t n = output ? fv_model_outputs(model) : fv_model_inputs(model);
  for (size_t i = 0; i < n; ++i) list.push_back(info_of(model, output, i));
  return list;
}

py::object attr_value(const fv_attr& a) {
  switch (a.type) {
    case FV_ATTR_INT:
      return py::int_(a.ints[0]);
    case FV_ATTR_FLOAT:
      return py::float_(a.floats[0]);
    case FV_ATTR_STRING:
      return py::str(a.string, a.count);
    case FV_ATTR_INTS:
      return py::cast(std::vector<int64_t>(a.ints, a.ints + a.count));
    default:
      return py::cast(std::vector<double>(a.floats, a.floats + a.count));
  }
}

struct GraphHandle {
  fv_graph* graph = nullptr;
  ~GraphHandle() { fv_graph_free(graph); }
};

// A description of the whole graph; constants are read-only arrays over the model's own weights.
py::dict describe(const py::object& self) {
  const fv_model* model = py::cast<const PyModel&>(self).model;
  GraphHandle handle;
  throw_if(fv_graph_from_model(model, &handle.graph));
  const fv_graph* g = handle.graph;
  py::list values, nodes;
  for (int32_t v = 0; v < fv_graph_values(g); ++v) {
    fv_tensor t{};
    t.abi.struct_size = sizeof(t);
    throw_if(fv_graph_value(g, v, &t));
    py::dict d;
    d["name"] = t.name;
    d["dtype"] = dtype_row(t.dtype).name;
    const std::vector<int64_t> dims(t.dims, t.dims + t.rank);
    d["dims"] = dims;
    if (const void* data = fv_graph_constant(g, v)) {
      py::array array(py::dtype(dtype_row(t.dtype).numpy), dims, {}, data, self);
      array.attr("setflags")(py::arg("write") = false);
      d["data"] = array;
    }
    values.append(d);
  }
  py::list inputs, outputs;
  py::dict by_name;
  for (int32_t v = 0; v < fv_graph_values(g); ++v)
    by_name[py::cast<py::dict>(values[static_cast<size_t>(v)])["name"]] = v;
  for (const bool output : {false, true}) {
    const size_t n = output ? fv_model_outputs(model) : fv_model_inputs(model);
    for (size_t i = 0; i < n; ++i) {
      const TensorInfo info = info_of(model, output, i);
      const py::object index = by_name[py::str(info.name)];
      (output ? outputs : inputs).append(index);
      py::list names;
      for (const auto& dim : info.shape)
        names.append(py::isinstance<py::str>(dim) ? py::object(py::str(dim)) : py::str(""));
      py::cast<py::dict>(values[py::cast<size_t>(index)])["dim_names"] = names;
      py::cast<py::dict>(values[py::cast<size_t>(index)])["quantization"] = info.quantization;
    }
  }
  for (int32_t i = 0; i < fv_graph_nodes(g); ++i) {
    py::dict d;
    d["op"] = fv_graph_node_op(g, i);
    d["name"] = fv_graph_node_name(g, i);
    py::list in, out;
    for (size_t k = 0; k < fv_graph_node_inputs(g, i); ++k) in.append(fv_graph_node_input(g, i, k));
    for (size_t k = 0; k < fv_graph_node_outputs(g, i); ++k)
      out.append(fv_graph_node_output(g, i, k));
    d["inputs"] = in;
    d["outputs"] = out;
    py::dict attrs;
    for (size_t k = 0; k < fv_graph_node_attrs(g, i); ++k) {
      fv_named_attr a{};
      a.attr.abi = FV_ABI_INIT(fv_attr);
      throw_if(fv_graph_node_attr(g, i, k, &a));
      attrs[a.name] = attr_value(a.attr);
    }
    d["attrs"] = attrs;
    d["macs"] = fv_graph_node_macs(g, i);
    nodes.append(d);
  }
  py::dict result;
  result["values"] = values;
  result["nodes"] = nodes;
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  return result;
}

class PySession {
 public:
  PySession(py::object model, const std::string& devices, int threads, bool fuse, bool profile)
      : model_(std::move(model)) {
    fv_session_options o{FV_ABI_INIT(fv_session_options), devices.c_str(), threads,
                         (fuse ? 0 : FV_SESSION_NO_FUSION) | (profile ? FV_SESSION_PROFILE : 0)};
    fv_model* m = py::cast<PyModel&>(model_).model;
    fv_status* status;
    {
      WithoutGil release;
      status = fv_session_new(m, &o, &session_);
    }
    throw_if(status);
  }
  ~PySession() { fv_session_free(session_); }
  PySession(const PySession&) = delete;
  PySession& operator=(const PySession&) = delete;

  void resize(size_t input, const std::vector<int64_t>& dims) {
    call([&] {
      return fv_session_resize(session_, input, static_cast<int32_t>(dims.size()), dims.data());
    });
  }
  // The session's own memory as an array that keeps it alive.
  py::array memory(bool output, size_t i) {
    void* managed = nullptr;
    fv_tensor view{};
    view.abi.struct_size = sizeof(view);
    call([&] {
      if (fv_status* s = output ? fv_session_output_dlpack(session_, i, &managed)
                                : fv_session_input_dlpack(session_, i, &managed))
        return s;
      return output ? fv_session_output(session_, i, &view) : fv_session_input(session_, i, &view);
    });
    auto* m = static_cast<DLManagedTensor*>(managed);
    const py::capsule base(m, [](void* p) {
      auto* t = static_cast<DLManagedTensor*>(p);
      t->deleter(t);
    });
    return py::array(py::dtype(dtype_row(view.dtype).numpy),
                     std::vector<int64_t>(view.dims, view.dims + view.rank), {}, view.data, base);
  }
  void run() {
    call([&] { return fv_session_run(session_); });
  }
  bool start() {
    int32_t pending = 0;
    call([&] { return fv_session_start(session_, &pending); });
    return pending != 0;
  }
  bool poll(bool wait) {
    int32_t pending = 0;
    call([&] { return fv_session_poll(session_, wait, &pending); });
    return pending != 0;
  }
  std::string explain() {
    char* text = nullptr;
    call([&] { return fv_session_explain(session_, &text); });
    std::string s(text);
    fv_string_free(text);
    return s;
  }
  void profile(const py::object& path) {
    const std::string name = file_name("profile", path);
    call([&] { return fv_session_profile(session_, name.c_str()); });
  }
  // For code of this module that runs beside the session, e.g. imgproc plans.
  uintptr_t pool() { return reinterpret_cast<uintptr_t>(fv_session_pool(session_)); }

 private:
  // Without the GIL, and one thread at a time: Python programs share sessions between threads
  // without being told not to, and must not crash for it.
  template <class F>
  void call(F&& f) {
    fv_status* status;
    {
      WithoutGil release;
      const std::lock_guard lock(mutex_);
      status = f();
    }
    throw_if(status);
  }
  py::object model_;
  fv_session* session_ = nullptr;
  std::mutex mutex_;
};

}  // namespace

void bind_session(py::module_& m) {
  py::class_<TensorInfo>(m, "TensorInfo", "Name, shape and dtype of an input or output.")
      .def_readonly("name", &TensorInfo::name)
      .def_readonly("shape", &TensorInfo::shape)
      .def_readonly("dtype", &TensorInfo::dtype)
      .def_readonly("quantization", &TensorInfo::quantization,
                    "(scale, zero point) of whole numbers that stand for (number - zero point) * "
                    "scale; None where they stand for themselves.")
      .def("__repr__", &TensorInfo::repr);
  py::class_<PyModel>(m, "Model", "A loaded model: verified graph and weights; immutable.")
      .def_static(
          "open",
          [](const py::object& path) {
            const std::string name = file_name("open", path);
            fv_model* model = nullptr;
            fv_status* status;
            {
              WithoutGil release;
              status = fv_model_open(name.c_str(), &model);
            }
            throw_if(status);
            return std::make_unique<PyModel>(model);
          },
          py::arg("path"))
      .def_static(
          "from_bytes",
          [](const py::object& data) {
            if (!py::isinstance<py::bytes>(data))
              throw_if(fv_status_new(FV_INVALID_ARGUMENT, 0, nullptr,
                                     "from_bytes: expected the bytes of a .fvm file",
                                     "bytes(data) makes them of other buffers"));
            char* bytes = nullptr;
            Py_ssize_t size = 0;
            PyBytes_AsStringAndSize(data.ptr(), &bytes, &size);
            fv_model* model = nullptr;
            throw_if(fv_model_open_memory(bytes, static_cast<size_t>(size), &model));
            return std::make_unique<PyModel>(model);
          },
          py::arg("data"))
      .def_property_readonly("inputs", [](const PyModel& self) { return infos(self.model, false); })
      .def_property_readonly("outputs", [](const PyModel& self) { return infos(self.model, true); })
      .def_property_readonly("meta",
                             [](const PyModel& self) {
                               py::dict meta;
                               for (size_t i = 0; i < fv_model_meta_count(self.model); ++i) {
                                 const char* key = fv_model_meta_key(self.model, i);
                                 meta[key] = fv_model_meta(self.model, key);
                               }
                               return meta;
                             })
      .def("graph", &describe);
  py::class_<PySession>(m, "Session")
      .def(py::init<py::object, const std::string&, int, bool, bool>(), py::arg("model"),
           py::arg("devices"), py::arg("threads"), py::arg("fuse"), py::arg("profile"))
      .def("resize", &PySession::resize)
      .def("input", [](PySession& self, size_t i) { return self.memory(false, i); })
      .def("output", [](PySession& self, size_t i) { return self.memory(true, i); })
      .def("run", &PySession::run)
      .def("start", &PySession::start)
      .def("poll", &PySession::poll, py::arg("wait") = false)
      .def("explain", &PySession::explain)
      .def("profile", &PySession::profile)
      .def_property_readonly("pool", &PySession::pool);
}

}  // namespace foveal::python
