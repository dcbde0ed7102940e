// What the parts of the binding share.
#ifndef FOVEAL_PYTHON_BIND_H_
#define FOVEAL_PYTHON_BIND_H_

#include <pybind11/pybind11.h>

#include "foveal/foveal.h"

namespace foveal::python {

namespace py = pybind11;

// Owns one reference of the model.
struct PyModel {
  explicit PyModel(fv_model* m) : model(m) {}
  ~PyModel() { fv_model_release(model); }
  PyModel(const PyModel&) = delete;
  PyModel& operator=(const PyModel&) = delete;
  fv_model* model;
};

void bind_graph(py::module_& m);
void bind_session(py::module_& m);
void bind_imgproc(py::module_& m);
void bind_decode(py::module_& m);

}  // namespace foveal::python
#endif  // FOVEAL_PYTHON_BIND_H_
