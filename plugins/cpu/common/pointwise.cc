#include "common/pointwise.h"

#include "base/simd_math.h"
#include "ops/binary.h"
#include "ops/unary.h"

namespace foveal::cpu {
inline namespace FV_ISA {
namespace {

// One copy of the expression serves the full vectors and the tail.
template <class F>
FV_INLINE void unary_loop(float* y, const float* x, int64_t n, F f) {
  for (; n >= kLanes; n -= kLanes, x += kLanes, y += kLanes) store(y, f(load(x)));
  if (n > 0) {
    float tail[kLanes] = {};
    std::memcpy(tail, x, static_cast<size_t>(n) * 4);
    store(tail, f(load(tail)));
    std::memcpy(y, tail, static_cast<size_t>(n) * 4);
  }
}

#define FV_ROW(name, doc, expression)                                                    \
  void unary_##name(float* y, const float* x, int64_t n, const float*) {                 \
    unary_loop(y, x, n, [](vf a) __attribute__((always_inline)) { return expression; }); \
  }
FV_UNARY_OPS(FV_ROW)
#undef FV_ROW
#define FV_ROW(name, doc, p_, d_, pdoc_, expression)                                      \
  void unary_##name(float* y, const float* x, int64_t n, const float* params) {           \
    const float p_ = params[0];                                                           \
    unary_loop(y, x, n, [=](vf a) __attribute__((always_inline)) { return expression; }); \
  }
FV_UNARY1_OPS(FV_ROW)
#undef FV_ROW
#define FV_ROW(name, doc, p_, d_, pdoc_, q_, e_, qdoc_, expression)                       \
  void unary_##name(float* y, const float* x, int64_t n, const float* params) {           \
    const float p_ = params[0], q_ = params[1];                                           \
    unary_loop(y, x, n, [=](vf a) __attribute__((always_inline)) { return expression; }); \
  }
FV_UNARY2_OPS(FV_ROW)
#undef FV_ROW

template <bool a_pattern, bool b_pattern, class F>
FV_INLINE void binary_loop(float* y, const float* a, const float* b, int64_t n, F f) {
  const vf ap = a_pattern ? load(a) : vf{}, bp = b_pattern ? load(b) : vf{};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    store(y + i, f(a_pattern ? ap : load(a + i), b_pattern ? bp : load(b + i)));
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    store_n(y + i, f(a_pattern ? ap : load_n(a + i, rest), b_pattern ? bp : load_n(b + i, rest)),
            rest);
  }
}

template <class F>
BinaryFn pick(bool a_pattern, bool b_pattern, F) {
  // F carries no state, so each loop is a plain function.
  if (a_pattern && b_pattern) return nullptr;
  if (a_pattern)
    return [](float* y, const float* a, const float* b, int64_t n) {
      binary_loop<true, false>(y, a, b, n, F{});
    };
  if (b_pattern)
    return [](float* y, const float* a, const float* b, int64_t n) {
      binary_loop<false, true>(y, a, b, n, F{});
    };
  return [](float* y, const float* a, const float* b, int64_t n) {
    binary_loop<false, false>(y, a, b, n, F{});
  };
}

#define FV_ROW(name, doc, expression)                                \
  struct Binary_##name {                                             \
    FV_INLINE vf operator()(vf a, vf b) const { return expression; } \
  };
FV_BINARY_OPS(FV_ROW)
FV_ROW(prelu, "", v_select(a < 0.0f, a* b, a))
#undef FV_ROW

}  // namespace

Unary find_unary(const Node& node) {
  Unary u;
  const std::string op = node.op();
#define FV_ROW(name, doc, expression) \
  if (FV_HAS_OPERATOR(#name) && op == #name) u.fn = unary_##name;
  FV_UNARY_OPS(FV_ROW)
#undef FV_ROW
#define FV_ROW(name, doc, p_, ...)                           \
  if (FV_HAS_OPERATOR(#name) && op == #name) {               \
    u.fn = unary_##name;                                     \
    u.p[0] = static_cast<float>(node.attrs<ops::name>().p_); \
  }
  FV_UNARY1_OPS(FV_ROW)
#undef FV_ROW
#define FV_ROW(name, doc, p_, d_, pdoc_, q_, ...)            \
  if (FV_HAS_OPERATOR(#name) && op == #name) {               \
    u.fn = unary_##name;                                     \
    u.p[0] = static_cast<float>(node.attrs<ops::name>().p_); \
    u.p[1] = static_cast<float>(node.attrs<ops::name>().q_); \
  }
  FV_UNARY2_OPS(FV_ROW)
#undef FV_ROW
  return u;
}

bool find_clamp(const Node& node, float& low, float& high) {
  if (!std::strcmp(node.op(), "relu")) {
    low = 0;
    high = std::numeric_limits<float>::infinity();
    return true;
  }
  if (std::strcmp(node.op(), "clip")) return false;
  const auto clip = node.attrs<ops::clip>();
  low = static_cast<float>(clip.min);
  high = static_cast<float>(clip.max);
  return true;
}

BinaryFn find_binary(const char* name, bool a_pattern, bool b_pattern) {
  const std::string op = name;
#define FV_ROW(name, doc, expression) \
  if (FV_HAS_OPERATOR(#name) && op == #name) return pick(a_pattern, b_pattern, Binary_##name{});
  FV_BINARY_OPS(FV_ROW)
  FV_ROW(prelu, "", 0)
#undef FV_ROW
  return nullptr;
}

const std::vector<const char*>& unary_names() {
  static const std::vector<const char*> names{
#define FV_ROW(name, ...) #name,
      FV_UNARY_OPS(FV_ROW) FV_UNARY1_OPS(FV_ROW) FV_UNARY2_OPS(FV_ROW)
#undef FV_ROW
  };
  return names;
}
const std::vector<const char*>& binary_names() {
  static const std::vector<const char*> names{
#define FV_ROW(name, ...) #name,
      FV_BINARY_OPS(FV_ROW) FV_ROW(prelu)
#undef FV_ROW
  };
  return names;
}

}  // namespace FV_ISA
}  // namespace foveal::cpu
