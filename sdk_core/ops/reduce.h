// Reductions over axes: one row each. A row gives the value of an empty reduction, the step that
// takes element `a` into accumulator `acc`, and the last step over the finished accumulator with
// `n` elements. Same vocabulary as unary.h. log_sum_exp is evaluated as max + log(sum(exp(x -
// max))), so its step sees `a` after the maximum was subtracted and backends add it at the end.
#ifndef FOVEAL_OPS_REDUCE_H_
#define FOVEAL_OPS_REDUCE_H_

#include <limits>

#include "ops/window.h"

// clang-format off: it takes products for pointer declarations.
// X(name, doc, initial value, step in acc and a, result in acc and n)
#define FV_REDUCE_OPS(X)                                                                          \
  X(reduce_mean, "Arithmetic mean.", 0.0f, acc + a, acc / n)                                      \
  X(reduce_sum, "Sum.", 0.0f, acc + a, acc)                                                       \
  X(reduce_max, "Largest element.", (-std::numeric_limits<float>::infinity()), v_max_nan(acc, a), \
    acc)                                                                                          \
  X(reduce_min, "Smallest element.", (std::numeric_limits<float>::infinity()), v_min_nan(acc, a), \
    acc)                                                                                          \
  X(reduce_prod, "Product.", 1.0f, acc * a, acc)                                                  \
  X(reduce_l1, "Sum of absolute values.", 0.0f, acc + v_abs(a), acc)                              \
  X(reduce_l2, "Square root of the sum of squares.", 0.0f, acc + a * a, v_sqrt(acc))              \
  X(reduce_sum_square, "Sum of squares.", 0.0f, acc + a * a, acc)                                 \
  X(reduce_log_sum_exp, "log(sum(exp(x))), stable.", 0.0f, acc + v_exp(a), v_log(acc))
// clang-format on

namespace foveal::ops {

struct Reduce {
  Ints axes;
  bool keepdims = true;

  template <class V>
  void fields(V& v) {
    v("axes", axes, "axes to reduce; empty: all");
    v("keepdims", keepdims, "keep the reduced axes with size 1");
  }

  Status infer(InferContext& c) const {
    const Dims& x = c.in(0).dims;
    FV_ASSIGN(const std::vector<bool> reduced, mask(c.in(0).rank()));
    Dims out;
    for (size_t i = 0; i < x.size(); ++i) {
      if (!reduced[i])
        out.push_back(x[i]);
      else if (keepdims)
        out.push_back(1);
    }
    c.out(0, {c.in(0).dtype, std::move(out)});
    return ok();
  }

  // Per axis of a rank-`rank` input: is it reduced?
  Result<std::vector<bool>> mask(int rank) const {
    std::vector<bool> reduced(static_cast<size_t>(rank), axes.empty());
    FV_ASSIGN(const Ints resolved, resolve_axes(axes, rank));
    for (int64_t a : resolved) reduced[static_cast<size_t>(a)] = true;
    return reduced;
  }
};

inline void define_reduce(OpTable& t) {
#define FV_ROW(name, doc, ...) t.add({#name, 1, "x", "y", doc}, Reduce{});
  FV_REDUCE_OPS(FV_ROW)
#undef FV_ROW
}

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_REDUCE_H_
