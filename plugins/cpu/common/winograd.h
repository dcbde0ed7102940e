#ifndef FOVEAL_CPU_COMMON_WINOGRAD_H_
#define FOVEAL_CPU_COMMON_WINOGRAD_H_

#include "common/posts.h"
#include "ops/conv2d.h"

namespace foveal::cpu {
inline namespace FV_ISA {

// Whether 3x3 layers of this size are faster through Winograd's F(4x4, 3x3) than tap by tap.
bool winograd_pays(const Node& node, const ops::Conv2d& op);
// Input and output NCxHWx, constant weights; only where winograd_pays.
MadeKernel make_winograd(const Context& c, const Node& node, const ops::Conv2d& op);

}  // namespace FV_ISA
}  // namespace foveal::cpu
#endif  // FOVEAL_CPU_COMMON_WINOGRAD_H_
