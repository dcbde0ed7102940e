#ifndef FOVEAL_OPS_SOFTMAX_H_
#define FOVEAL_OPS_SOFTMAX_H_

#include "ops/window.h"

namespace foveal::ops {

struct Softmax {
  static constexpr OpInfo kInfo{"softmax", 1, "x", "y",
                                "exp(x - max) divided by its sum along one axis."};
  int64_t axis = -1;

  template <class V>
  void fields(V& v) {
    v("axis", axis, "axis to normalise");
  }
  Status infer(InferContext& c) const {
    FV_TRY(expect_float(c, 0));
    FV_TRY(expect_axis(axis, c.in(0).rank()));
    c.out(0, c.in(0));
    return ok();
  }
  Status decompose(Decomposer& d) const {
    const Ints axes{axis};
    const auto top = d.op("reduce_max", {d.in(0)}, {{"axes", axes}});
    const auto e = d.op("exp", {d.op("sub", {d.in(0), top})});
    d.out(0, d.op("div", {e, d.op("reduce_sum", {e}, {{"axes", axes}})}));
    return ok();
  }
};

struct LogSoftmax : Softmax {
  static constexpr OpInfo kInfo{"log_softmax", 1, "x", "y", "Logarithm of softmax, stable."};
  Status decompose(Decomposer& d) const {
    const Ints axes{axis};
    const auto shifted = d.op("sub", {d.in(0), d.op("reduce_max", {d.in(0)}, {{"axes", axes}})});
    const auto sum = d.op("reduce_sum", {d.op("exp", {shifted})}, {{"axes", axes}});
    d.out(0, d.op("sub", {shifted, d.op("log", {sum})}));
    return ok();
  }
};

inline void define_softmax(OpTable& t) {
  t.add<Softmax>();
  t.add<LogSoftmax>();
}

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_SOFTMAX_H_
