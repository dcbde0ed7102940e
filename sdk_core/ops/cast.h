#ifndef FOVEAL_OPS_CAST_H_
#define FOVEAL_OPS_CAST_H_

#include "ops/window.h"

namespace foveal::ops {

struct Cast {
  static constexpr OpInfo kInfo{
      "cast",
      1,
      "x",
      "y",
      "Changes the element type; floats are cut towards zero when they become integers.",
      kPointwise};
  std::string dtype = "float32";
  template <class V>
  void fields(V& v) {
    v("dtype", dtype, "type of the result, for example float32 or int64");
  }
  Status infer(InferContext& c) const {
    const fv_dtype to = dtype_from_name(dtype);
    if (!to) return shape_error("dtype is '" + dtype.substr(0, 40) + "', which is no element type");
    c.out(0, {to, c.in(0).dims});
    return ok();
  }
};

inline void define_cast(OpTable& t) { t.add<Cast>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_CAST_H_
