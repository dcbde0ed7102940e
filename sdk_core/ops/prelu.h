#ifndef FOVEAL_OPS_PRELU_H_
#define FOVEAL_OPS_PRELU_H_

#include "ops/window.h"

namespace foveal::ops {

struct Prelu {
  static constexpr OpInfo kInfo{
      "prelu",   1, "x, slope", "y", "x if x >= 0, else slope * x; slope broadcasts to x.",
      kPointwise};
  template <class V>
  void fields(V&) {}
  Status infer(InferContext& c) const {
    FV_TRY(expect_same_dtype(c, 0, 1));
    FV_ASSIGN(const Dims dims, broadcast(c.in(0).dims, c.in(1).dims));
    if (is_concrete(dims) && is_concrete(c.in(0).dims) && dims != c.in(0).dims)
      return shape_error("slope " + to_string(c.in(1).dims) + " does not broadcast to input " +
                             to_string(c.in(0).dims),
                         "one slope per channel of NCHW has shape [C, 1, 1]");
    c.out(0, c.in(0));
    return ok();
  }
};

inline void define_prelu(OpTable& t) { t.add<Prelu>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_PRELU_H_
