#ifndef FOVEAL_CPU_GENERIC_ELEMENTWISE_H_
#define FOVEAL_CPU_GENERIC_ELEMENTWISE_H_

#include "common/cpu.h"

namespace foveal::cpu {

// Arithmetic rows of ops/binary.h over integers and double, plain layout.
bool arithmetic_type(fv_dtype t);
MadeKernel make_arithmetic(const Context& c, const Node& node);

// Rows of ops/unary.h that integers have: relu, abs, neg, sign; plain layout.
bool has_integer_unary(const Node& node);
MadeKernel make_integer_unary(const Context& c, const Node& node);

}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_GENERIC_ELEMENTWISE_H_
