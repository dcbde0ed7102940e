// Unary pointwise operators: one row each. A row is the whole operator: name, documentation, and
// its value as an expression over `a`, which is a float or a vector of floats, in the vocabulary
// of base/simd.h and base/simd_math.h: arithmetic with float literals, comparisons that give a
// mask, v_select(mask, then, else) over values of a's type, v_max(a, 0.0f), v_exp(a) ...
// Attributes appear in the expression under their names, as floats. Backends expand the same
// rows into kernels.
#ifndef FOVEAL_OPS_UNARY_H_
#define FOVEAL_OPS_UNARY_H_

#include <limits>

#include "ops/window.h"

// clang-format off: it takes products for pointer declarations.
// X(name, doc, expression in a)
#define FV_UNARY_OPS(X)                                                                           \
  X(relu, "Rectified linear: max(x, 0).", v_max(a, 0.0f))                                         \
  X(sigmoid, "Logistic: 1 / (1 + exp(-x)).", v_sigmoid(a))                                        \
  X(tanh, "Hyperbolic tangent.", v_tanh(a))                                                       \
  X(exp, "e to the power of x.", v_exp(a))                                                        \
  X(log, "Natural logarithm.", v_log(a))                                                          \
  X(sqrt, "Square root.", v_sqrt(a))                                                              \
  X(rsqrt, "1 / sqrt(x).", 1.0f / v_sqrt(a))                                                      \
  X(abs, "Absolute value.", v_abs(a))                                                             \
  X(neg, "-x.", -a)                                                                               \
  X(floor, "Largest integer <= x.", v_floor(a))                                                   \
  X(ceil, "Smallest integer >= x.", v_ceil(a))                                                    \
  X(round, "Nearest integer, halves to even.", v_round(a))                                        \
  X(erf, "Gauss error function.", v_erf(a))                                                       \
  X(sin, "Sine of radians.", v_sin(a))                                                            \
  X(cos, "Cosine of radians.", v_cos(a))                                                          \
  X(reciprocal, "1 / x.", 1.0f / a)                                                               \
  X(softplus, "log(1 + exp(x)).", v_softplus(a))                                                  \
  X(softsign, "x / (1 + |x|).", a / (v_abs(a) + 1.0f))                                            \
  X(silu, "x * sigmoid(x), also called swish.", a * v_sigmoid(a))                                 \
  X(gelu, "x * (1 + erf(x / sqrt 2)) / 2.", a * 0.5f * (v_erf(a * 0.70710678f) + 1.0f))           \
  X(gelu_tanh, "GELU by tanh: x * (1 + tanh(0.79788456 (x + 0.044715 x^3))) / 2.",                \
    a * 0.5f * (v_tanh((a + 0.044715f * a * a * a) * 0.79788456f) + 1.0f))                        \
  X(hardswish, "x * clamp(x / 6 + 0.5, 0, 1).", a * v_clamp(a * (1.0f / 6.0f) + 0.5f, 0.0f, 1.0f)) \
  X(mish, "x * tanh(softplus(x)).", a * v_tanh(v_softplus(a)))                                    \
  X(square, "x * x.", a * a)                                                                      \
  X(sign, "-1, 0 or 1.", v_sign(a))

// X(name, doc, attribute, its default, its doc, expression in a and the attribute)
#define FV_UNARY1_OPS(X)                                                                          \
  X(leaky_relu, "x if x >= 0, else alpha * x.", alpha, 0.01, "slope below zero",                  \
    v_select(a < 0.0f, a * alpha, a))                                                             \
  X(elu, "x if x >= 0, else alpha * (exp(x) - 1).", alpha, 1.0, "limit towards -inf, negated",    \
    v_select(a < 0.0f, v_expm1(a) * alpha, a))

// X(name, doc, attribute, default, doc, second attribute, default, doc, expression)
#define FV_UNARY2_OPS(X)                                                                          \
  X(hardsigmoid, "clamp(alpha * x + beta, 0, 1).", alpha, 0.2, "slope", beta, 0.5, "value at 0",  \
    v_clamp(a * alpha + beta, 0.0f, 1.0f))                                                        \
  X(clip, "Limits x to [min, max].", min, (-std::numeric_limits<double>::infinity()),             \
    "lower limit", max, (std::numeric_limits<double>::infinity()), "upper limit",                 \
    v_clamp(a, min, max))
// clang-format on

namespace foveal::ops {

struct Unary {
  template <class V>
  void fields(V&) {}
  Status infer(InferContext& c) const {
    if (c.in(0).dtype == FV_BOOL) return shape_error("input is bool, expected a number type");
    c.out(0, c.in(0));
    return ok();
  }
};

// Attribute structs of the rows that have attributes carry the row's name.
#define FV_ROW(name, doc, p, p_default, p_doc, expression) \
  struct name : Unary {                                    \
    double p = p_default;                                  \
    template <class V>                                     \
    void fields(V& v) {                                    \
      v(#p, p, p_doc);                                     \
    }                                                      \
  };
FV_UNARY1_OPS(FV_ROW)
#undef FV_ROW
#define FV_ROW(name, doc, p, p_default, p_doc, q, q_default, q_doc, expression) \
  struct name : Unary {                                                         \
    double p = p_default;                                                       \
    double q = q_default;                                                       \
    template <class V>                                                          \
    void fields(V& v) {                                                         \
      v(#p, p, p_doc);                                                          \
      v(#q, q, q_doc);                                                          \
    }                                                                           \
  };
FV_UNARY2_OPS(FV_ROW)
#undef FV_ROW

struct LogicalNot : Unary {
  static constexpr OpInfo kInfo{"not", 1, "x", "y", "Logical negation of bool.", kPointwise};
  Status infer(InferContext& c) const {
    FV_TRY(expect_dtype(c, 0, FV_BOOL));
    c.out(0, c.in(0));
    return ok();
  }
};

inline void define_unary(OpTable& t) {
#define FV_ROW(name, doc, expression) t.add({#name, 1, "x", "y", doc, kPointwise}, Unary{});
  FV_UNARY_OPS(FV_ROW)
#undef FV_ROW
#define FV_ROW(name, doc, ...) t.add({#name, 1, "x", "y", doc, kPointwise}, ops::name{});
  FV_UNARY1_OPS(FV_ROW)
  FV_UNARY2_OPS(FV_ROW)
#undef FV_ROW
  t.add<LogicalNot>();
}

}  // namespace foveal::ops
#endif  // FOVEAL_OPS_UNARY_H_
