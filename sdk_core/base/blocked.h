// Conversions between the plain layout and NCxHWx: the reference every backend must agree with,
// and the fallback for backends without a relayout kernel of their own.
#ifndef FOVEAL_BASE_BLOCKED_H_
#define FOVEAL_BASE_BLOCKED_H_

#include "base/tensor_type.h"

namespace foveal {

// src and dst do not overlap; both are as large as storage_bytes says. Lanes past C are zeroed.
// from/to are plain or NCxHWx (any block); false if either is another layout.
bool convert_layout(const TensorType& type, const void* src, fv_layout from, void* dst,
                    fv_layout to);

}  // namespace foveal
#endif  // FOVEAL_BASE_BLOCKED_H_
