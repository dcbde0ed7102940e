// What the parts of the binding share.
#ifndef FOVEAL_PYTHON_BIND_H_
#define FOVEAL_PYTHON_BIND_H_

#include <pybind11/pybind11.h>

#if defined(__GLIBCXX__)
#include <chrono>
#include <thread>
#endif

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

// Other Python threads run while it lives.
//
// A daemon thread may come back when the interpreter has begun to end. Python ends such a thread by
// unwinding its stack, which terminates the whole program where it meets C++; here it is kept for
// what remains of the process.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
#if defined(__GLIBCXX__)
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // the unwinding, which is no exception of C++ and has no object
      for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
#else
    PyEval_RestoreThread(state_);
#endif
  }

 private:
  PyThreadState* state_;
};

void bind_graph(py::module_& m);
void bind_session(py::module_& m);
void bind_imgproc(py::module_& m);
void bind_decode(py::module_& m);

}  // namespace foveal::python
#endif  // FOVEAL_PYTHON_BIND_H_
