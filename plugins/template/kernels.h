// What the files of this plugin share.
#ifndef FOVEAL_TEMPLATE_KERNELS_H_
#define FOVEAL_TEMPLATE_KERNELS_H_

#include "foveal/plugin.hpp"

namespace foveal::sample {

using plugin::Context, plugin::Kernel, plugin::KernelDef, plugin::MadeKernel, plugin::Node;
using plugin::Run, plugin::Support, plugin::Value;

std::span<const KernelDef> pointwise_kernels();  // pointwise.cc
std::span<const KernelDef> conv2d_kernels();     // conv2d.cc

// Where an input's elements are. Weights are known at compile and stay where the model file has
// them; activations get an address at every run. An operator may be given either for any input.
class Input {
 public:
  explicit Input(const Value& v) : constant_(v.constant<float>()), slot_(v.slot()) {}
  const float* at(const Run& r) const {  // nullptr: an optional input that was left out
    return constant_ || slot_ < 0 ? constant_ : r.ptr<const float>(slot_);
  }

 private:
  const float* constant_;
  int slot_;
};

// Asked while a session is planned; the node has its real types and shapes. yes() without
// arguments asks for plain tensors: the core converts whatever a neighbour on another backend
// left in a blocked layout. A reason reaches the user when no device takes the node.
inline void float32_only(const Node& node, Support& answer) {
  answer.yes();
  for (int i = 0; i < node.inputs(); ++i)
    if (const Value v = node.input(i); v && v.dtype() != FV_FLOAT32)
      return answer.no(format("input %d is %s, expected float32", i, dtype_name(v.dtype())));
}

}  // namespace foveal::sample
#endif  // FOVEAL_TEMPLATE_KERNELS_H_
