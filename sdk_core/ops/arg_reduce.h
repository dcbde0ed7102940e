#ifndef FOVEAL_OPS_ARG_REDUCE_H_
#define FOVEAL_OPS_ARG_REDUCE_H_

#include "ops/window.h"

namespace foveal::ops {

// argmax and argmin.
struct ArgReduce {
  int64_t axis = 0;
  bool keepdims = true;
  bool select_last = false;

  template <class V>
  void fields(V& v) {
    v("axis", axis, "axis to search");
    v("keepdims", keepdims, "keep the axis with size 1");
    v("select_last", select_last, "of equal elements take the last instead of the first");
  }

  Status infer(InferContext& c) const {
    Dims out = c.in(0).dims;
    FV_ASSIGN(const int a, resolve_axis(axis, c.in(0).rank()));
    if (out[a] == 0)
      return shape_error("axis " + std::to_string(a) + " of " + to_string(out) + " is empty");
    if (keepdims)
      out[a] = 1;
    else
      out.erase(out.begin() + a);
    c.out(0, {FV_INT64, std::move(out)});
    return ok();
  }
};

inline void define_arg_reduce(OpTable& t) {
  t.add({"argmax", 1, "x", "y", "Index of the largest element along one axis."}, ArgReduce{});
  t.add({"argmin", 1, "x", "y", "Index of the smallest element along one axis."}, ArgReduce{});
}

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_ARG_REDUCE_H_
