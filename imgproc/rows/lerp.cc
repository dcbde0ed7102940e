#include "imgproc/rows/lerp.h"

#include "imgproc/rows/isa.h"

namespace foveal::imgproc {

namespace baseline {
extern const LerpKernels kLerpTable;
}
#if defined(FOVEAL_IMGPROC_AVX2)
namespace avx2 {
extern const LerpKernels kLerpTable;
}
#endif

const LerpKernels& lerp_kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx2) return avx2::kLerpTable;
#endif
  return baseline::kLerpTable;
}

}  // namespace foveal::imgproc
