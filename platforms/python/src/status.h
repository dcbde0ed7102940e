// Status -> Python exception, in one place.
#ifndef FOVEAL_PYTHON_STATUS_H_
#define FOVEAL_PYTHON_STATUS_H_

#include <pybind11/pybind11.h>

#include <cstring>
#include <string>

#include "foveal/foveal.h"

namespace foveal::python {

// A text of the core. Paths in it need not be UTF-8: their bytes become surrogates, as in Python's
// own file names.
inline pybind11::object decoded(const char* text) {
  return pybind11::reinterpret_steal<pybind11::object>(
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "surrogateescape"));
}

// Takes ownership of `status`; raises foveal.errors.from_code(...) unless it is NULL.
inline void throw_if(fv_status* status) {
  if (!status) return;
  namespace py = pybind11;
  const py::object error =
      py::module_::import("foveal.errors")
          .attr("from_code")(fv_status_code(status), decoded(fv_status_message(status)),
                             decoded(fv_status_op(status)), decoded(fv_status_hint(status)),
                             fv_status_native(status));
  fv_status_free(status);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

// The bytes of a file's name, which need not be text: from str, bytes or os.PathLike.
inline std::string file_name(const char* where, const pybind11::object& given) {
  namespace py = pybind11;
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(given.ptr(), &bytes))  // refuses zeros within the name
    return py::reinterpret_steal<py::bytes>(bytes);
  PyErr_Clear();
  const std::string got = py::str(py::reinterpret_steal<py::object>(PyObject_ASCII(given.ptr())));
  throw_if(fv_status_new(FV_INVALID_ARGUMENT, 0, nullptr,
                         (std::string(where) + ": expected the name of a file, got " + got).c_str(),
                         nullptr));
  throw py::error_already_set();
}

}  // namespace foveal::python
#endif  // FOVEAL_PYTHON_STATUS_H_
