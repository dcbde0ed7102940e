// Status -> Python exception, in one place.
#ifndef FOVEAL_PYTHON_STATUS_H_
#define FOVEAL_PYTHON_STATUS_H_

#include <pybind11/pybind11.h>

#include "foveal/foveal.h"

namespace foveal::python {

// Takes ownership of `status`; raises foveal.errors.from_code(...) unless it is NULL.
inline void throw_if(fv_status* status) {
  if (!status) return;
  namespace py = pybind11;
  const py::object error = py::module_::import("foveal.errors")
                               .attr("from_code")(fv_status_code(status), fv_status_message(status),
                                                  fv_status_op(status), fv_status_hint(status),
                                                  fv_status_native(status));
  fv_status_free(status);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace foveal::python
#endif  // FOVEAL_PYTHON_STATUS_H_
