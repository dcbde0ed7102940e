#include "bind.h"

#include <string>

#include "status.h"

namespace foveal::python {

static std::string take(char* text) {
  std::string s(text);
  fv_string_free(text);
  return s;
}

PYBIND11_MODULE(_core, m) {
  m.doc() = "The core of Foveal. Use the package `foveal`; this module is its implementation.";
  m.attr("__version__") = fv_version();
  m.attr("abi") = std::to_string(FV_ABI_MAJOR) + "." + std::to_string(FV_ABI_MINOR);
  bind_graph(m);
  bind_session(m);
  bind_imgproc(m);
  bind_decode(m);
  m.def(
      "plugin_add",
      [](const py::object& path) {
        throw_if(fv_plugin_add(file_name("plugin_add", path).c_str()));
      },
      py::arg("path"));
  m.def(
      "plugin_remove", [](const std::string& name) { throw_if(fv_plugin_remove(name.c_str())); },
      py::arg("name"));
  m.def("plugins_json", [] {
    char* text = nullptr;
    throw_if(fv_plugins_json(&text));
    return take(text);
  });
  m.def(
      "cache_dir",
      [](const py::object& path) { throw_if(fv_cache_dir(file_name("cache_dir", path).c_str())); },
      py::arg("path"));
}

}  // namespace foveal::python
