// Element types and arrays between numpy and the C API.
#ifndef FOVEAL_PYTHON_ARRAYS_H_
#define FOVEAL_PYTHON_ARRAYS_H_

#include <pybind11/numpy.h>

#include <string>

#include "foveal/foveal.h"

namespace foveal::python {

namespace py = pybind11;

struct DTypeName {
  fv_dtype id;
  const char* name;
  const char* numpy;  // bfloat16 has no numpy type: its bits
};
inline constexpr DTypeName kDTypeNames[] = {
    {FV_FLOAT32, "float32", "float32"},  {FV_FLOAT16, "float16", "float16"},
    {FV_BFLOAT16, "bfloat16", "uint16"}, {FV_FLOAT64, "float64", "float64"},
    {FV_INT8, "int8", "int8"},           {FV_UINT8, "uint8", "uint8"},
    {FV_INT16, "int16", "int16"},        {FV_UINT16, "uint16", "uint16"},
    {FV_INT32, "int32", "int32"},        {FV_UINT32, "uint32", "uint32"},
    {FV_INT64, "int64", "int64"},        {FV_UINT64, "uint64", "uint64"},
    {FV_BOOL, "bool", "bool"},
};

inline const DTypeName& dtype_row(fv_dtype id) {
  for (const DTypeName& row : kDTypeNames)
    if (row.id == id) return row;
  throw py::value_error("unknown element type " + std::to_string(id));
}
// "" is 0: not declared.
inline fv_dtype dtype_id(const std::string& name) {
  if (name.empty()) return 0;
  for (const DTypeName& row : kDTypeNames)
    if (name == row.name) return row.id;
  throw py::value_error("unknown dtype '" + name + "'");
}
// "" when numpy's type has no counterpart.
inline std::string dtype_of(const py::array& array) {
  const std::string name = py::str(array.dtype().attr("name"));
  for (const DTypeName& row : kDTypeNames)
    if (name == row.numpy && row.id != FV_BFLOAT16) return row.name;
  return "";
}

}  // namespace foveal::python
#endif  // FOVEAL_PYTHON_ARRAYS_H_
