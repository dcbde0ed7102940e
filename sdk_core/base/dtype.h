// Element types: names and sizes.
#ifndef FOVEAL_BASE_DTYPE_H_
#define FOVEAL_BASE_DTYPE_H_

#include <cstddef>
#include <string_view>

#include "foveal/types.h"

namespace foveal {

struct DTypeRow {
  fv_dtype id;
  const char* name;
  size_t size;  // bytes
};

inline constexpr DTypeRow kDTypes[] = {
    {FV_FLOAT32, "float32", 4}, {FV_FLOAT16, "float16", 2}, {FV_BFLOAT16, "bfloat16", 2},
    {FV_FLOAT64, "float64", 8}, {FV_INT8, "int8", 1},       {FV_UINT8, "uint8", 1},
    {FV_INT16, "int16", 2},     {FV_UINT16, "uint16", 2},   {FV_INT32, "int32", 4},
    {FV_UINT32, "uint32", 4},   {FV_INT64, "int64", 8},     {FV_UINT64, "uint64", 8},
    {FV_BOOL, "bool", 1},
};

// 0 for an unknown id: callers that read files must refuse it.
inline size_t dtype_size(fv_dtype t) {
  for (const DTypeRow& row : kDTypes)
    if (row.id == t) return row.size;
  return 0;
}
inline const char* dtype_name(fv_dtype t) {
  for (const DTypeRow& row : kDTypes)
    if (row.id == t) return row.name;
  return "unknown";
}
// 0 when there is no such name.
inline fv_dtype dtype_from_name(std::string_view name) {
  for (const DTypeRow& row : kDTypes)
    if (name == row.name) return row.id;
  return 0;
}
inline bool dtype_is_float(fv_dtype t) { return t >= FV_FLOAT32 && t <= FV_FLOAT64; }

}  // namespace foveal
#endif  // FOVEAL_BASE_DTYPE_H_
