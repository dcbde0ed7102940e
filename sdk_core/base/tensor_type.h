// Shapes and tensor types, checked size arithmetic, physical layouts.
#ifndef FOVEAL_BASE_TENSOR_TYPE_H_
#define FOVEAL_BASE_TENSOR_TYPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace foveal {

inline constexpr int64_t kUnknown = -1;  // a dimension decided at run time

using Dims = std::vector<int64_t>;

struct TensorType {
  fv_dtype dtype = FV_FLOAT32;
  Dims dims;
  int rank() const { return static_cast<int>(dims.size()); }
  bool operator==(const TensorType&) const = default;
};

inline std::string to_string(const Dims& dims) {
  std::string s = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) s += ", ";
    s += dims[i] < 0 ? "?" : std::to_string(dims[i]);
  }
  return s + "]";
}
inline std::string to_string(const TensorType& t) {
  return std::string(dtype_name(t.dtype)) + to_string(t.dims);
}

inline bool is_concrete(const Dims& dims) {
  for (int64_t d : dims)
    if (d < 0) return false;
  return true;
}

// a*b, or -1 on overflow or a negative operand.
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r)) return -1;
  return r;
}
// Product of all dimensions; -1 if one is unknown or the product overflows.
inline int64_t element_count(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims)
    if ((n = checked_mul(n, d)) < 0) return -1;
  return n;
}

// Bytes in memory in the given layout, padding lanes included; -1 if unknown or overflowing.
inline int64_t storage_bytes(const TensorType& t, fv_layout layout) {
  Dims dims = t.dims;
  if (layout.id == FV_LAYOUT_NCXHWX) {
    if (dims.size() < 2 || layout.block < 1 || dims[1] < 0) return -1;
    dims[1] = (dims[1] + layout.block - 1) / layout.block;
    dims.push_back(layout.block);
  }
  return checked_mul(element_count(dims), static_cast<int64_t>(dtype_size(t.dtype)));
}

inline constexpr fv_layout kPlain{FV_LAYOUT_PLAIN, 0};
inline constexpr fv_layout kAny{FV_LAYOUT_ANY, 0};
inline constexpr fv_layout blocked(int32_t x) { return {FV_LAYOUT_NCXHWX, x}; }
inline bool same_layout(fv_layout a, fv_layout b) { return a.id == b.id && a.block == b.block; }
inline std::string to_string(fv_layout l) {
  switch (l.id) {
    case FV_LAYOUT_ANY:
      return "any";
    case FV_LAYOUT_PLAIN:
      return "plain";
    case FV_LAYOUT_NCXHWX:
      return "NC" + std::to_string(l.block) + "HW" + std::to_string(l.block);
    default:
      return "custom:" + std::to_string(l.id);
  }
}

}  // namespace foveal
#endif  // FOVEAL_BASE_TENSOR_TYPE_H_
