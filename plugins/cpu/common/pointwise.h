// Pointwise operators as loops over contiguous floats: the rows of ops/unary.h and ops/binary.h.
#ifndef FOVEAL_CPU_COMMON_POINTWISE_H_
#define FOVEAL_CPU_COMMON_POINTWISE_H_

#include "base/simd.h"
#include "common/cpu.h"

namespace foveal::cpu {
inline namespace FV_ISA {

using namespace simd;

// y[i] = f(x[i]); y may be x. p: the operator's attributes.
using UnaryFn = void (*)(float* y, const float* x, int64_t n, const float* p);
struct Unary {
  UnaryFn fn = nullptr;
  float p[2] = {0, 0};
  void operator()(float* y, const float* x, int64_t n) const { fn(y, x, n, p); }
};
// fn is NULL when `op` is no unary operator.
Unary find_unary(const Node& node);
// A clip or relu: what it limits to.
bool find_clamp(const Node& node, float& low, float& high);

// y[i] = f(a[i], b[i]); y may be a or b. An operand that is a `pattern` points to kLanes floats
// that repeat (a scalar, or one block of channels); y then starts at a multiple of the pattern.
using BinaryFn = void (*)(float* y, const float* a, const float* b, int64_t n);
// NULL when `op` is no binary operator (prelu counts as one).
BinaryFn find_binary(const char* op, bool a_pattern, bool b_pattern);

const std::vector<const char*>& unary_names();
const std::vector<const char*>& binary_names();

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_POINTWISE_H_
