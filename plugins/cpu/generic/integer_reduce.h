#ifndef FOVEAL_CPU_GENERIC_INTEGER_REDUCE_H_
#define FOVEAL_CPU_GENERIC_INTEGER_REDUCE_H_

#include "common/cpu.h"

namespace foveal::cpu {

// Reductions of integers and double over plain tensors: sum, mean, max, min, prod, l1, sum_square.
bool integer_reduce_supported(const Node& node);
MadeKernel make_integer_reduce(const Context& c, const Node& node);

}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_GENERIC_INTEGER_REDUCE_H_
