#ifndef FOVEAL_CPU_COMMON_DEPTHWISE_H_
#define FOVEAL_CPU_COMMON_DEPTHWISE_H_

#include "common/posts.h"
#include "ops/conv2d.h"

namespace foveal::cpu {
inline namespace FV_ISA {

// One filter per channel: group = input channels = output channels.
MadeKernel make_depthwise(const Context& c, const Node& node, const ops::Conv2d& op);

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_DEPTHWISE_H_
