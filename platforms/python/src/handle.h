// What the bindings of the image library share.
#ifndef FOVEAL_PYTHON_HANDLE_H_
#define FOVEAL_PYTHON_HANDLE_H_

#include <memory>
#include <string>

#include "bind.h"
#include "status.h"

namespace foveal::python {

[[noreturn]] inline void fail(const std::string& message, fv_code code = FV_INVALID_ARGUMENT) {
  throw_if(fv_status_new(code, 0, nullptr, message.c_str(), nullptr));
  throw py::error_already_set();
}

// Owns a handle of the C API.
template <class T, void (*kFree)(T*)>
struct Handle {
  struct Delete {
    void operator()(T* p) const { kFree(p); }
  };
  std::unique_ptr<T, Delete> p;
};

}  // namespace foveal::python
#endif  // FOVEAL_PYTHON_HANDLE_H_
