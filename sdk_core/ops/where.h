#ifndef FOVEAL_OPS_WHERE_H_
#define FOVEAL_OPS_WHERE_H_

#include "ops/window.h"

namespace foveal::ops {

struct Where {
  static constexpr OpInfo kInfo{
      "where", 1, "condition, a, b", "y", "a where the condition holds, else b.", kPointwise};
  template <class V>
  void fields(V&) {}
  Status infer(InferContext& c) const {
    FV_TRY(expect_dtype(c, 0, FV_BOOL));
    FV_TRY(expect_same_dtype(c, 1, 2));
    FV_ASSIGN(Dims dims, broadcast(c.in(1).dims, c.in(2).dims));
    FV_ASSIGN(dims, broadcast(c.in(0).dims, dims));
    c.out(0, {c.in(1).dtype, std::move(dims)});
    return ok();
  }
};

inline void define_where(OpTable& t) { t.add<Where>(); }

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_WHERE_H_
