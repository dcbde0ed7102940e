// Binary pointwise operators with numpy broadcasting: one row each, see unary.h for what a row
// is. Operands are `a` and `b`.
#ifndef FOVEAL_OPS_BINARY_H_
#define FOVEAL_OPS_BINARY_H_

#include "ops/window.h"

// clang-format off: it takes products for pointer declarations.
// X(name, doc, expression in a and b)
#define FV_BINARY_OPS(X)                                                                          \
  X(add, "a + b.", a + b)                                                                         \
  X(sub, "a - b.", a - b)                                                                         \
  X(mul, "a * b.", a * b)                                                                         \
  X(div, "a / b; integers are divided towards zero.", a / b)                                      \
  X(max, "The larger of a and b.", v_max_nan(a, b))                                               \
  X(min, "The smaller of a and b.", v_min_nan(a, b))                                              \
  X(pow, "a to the power of b.", v_pow(a, b))                                                     \
  X(mod, "Remainder with the sign of b: a - b * floor(a / b); a or b itself if b is infinite.",   \
    v_select((v_abs(b) > 3.4028235e38f) & (v_abs(a) <= 3.4028235e38f),                            \
             v_select(a * b < 0.0f, b, a), a - b * v_floor(a / b)))                               \
  X(squared_difference, "(a - b)^2.", (a - b) * (a - b))

// Their expression is a mask; the result is bool.
#define FV_COMPARE_OPS(X)                                                                         \
  X(equal, "a == b.", a == b)                                                                     \
  X(not_equal, "a != b.", a != b)                                                                 \
  X(less, "a < b.", a < b)                                                                        \
  X(less_equal, "a <= b.", a <= b)                                                                \
  X(greater, "a > b.", a > b)                                                                     \
  X(greater_equal, "a >= b.", a >= b)

// X(C++ identifier, name, doc, expression): the names are keywords. Operands are bytes, 0 or 1.
#define FV_LOGICAL_OPS(X)                                                                         \
  X(logical_and, "and", "Logical and.", a & b)                                                    \
  X(logical_or, "or", "Logical or.", a | b)                                                       \
  X(logical_xor, "xor", "Exclusive or.", a ^ b)
// clang-format on

namespace foveal::ops {

enum class BinaryKind { kArithmetic, kCompare, kLogical };

template <BinaryKind kind>
struct Binary {
  template <class V>
  void fields(V&) {}
  Status infer(InferContext& c) const {
    FV_TRY(expect_same_dtype(c, 0, 1));
    if (kind == BinaryKind::kLogical) FV_TRY(expect_dtype(c, 0, FV_BOOL));
    if (kind == BinaryKind::kArithmetic && c.in(0).dtype == FV_BOOL)
      return shape_error("inputs are bool, expected a number type");
    FV_ASSIGN(Dims dims, broadcast(c.in(0).dims, c.in(1).dims));
    c.out(0, {kind == BinaryKind::kArithmetic ? c.in(0).dtype : FV_BOOL, std::move(dims)});
    return ok();
  }
};

inline void define_binary(OpTable& t) {
#define FV_ROW(name, doc, expression) \
  t.add({#name, 1, "a, b", "y", doc, kPointwise}, Binary<BinaryKind::kArithmetic>{});
  FV_BINARY_OPS(FV_ROW)
#undef FV_ROW
#define FV_ROW(name, doc, expression) \
  t.add({#name, 1, "a, b", "y", doc, kPointwise}, Binary<BinaryKind::kCompare>{});
  FV_COMPARE_OPS(FV_ROW)
#undef FV_ROW
#define FV_ROW(id, name, doc, expression) \
  t.add({name, 1, "a, b", "y", doc, kPointwise}, Binary<BinaryKind::kLogical>{});
  FV_LOGICAL_OPS(FV_ROW)
#undef FV_ROW
}

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_BINARY_H_
