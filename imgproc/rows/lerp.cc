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
namespace avx512 {
extern const LerpWindows kLerpWindows;
}
#endif

const LerpKernels& lerp_kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx2) return avx2::kLerpTable;
#endif
  return baseline::kLerpTable;
}

LerpWindows lerp_windows() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx512) return avx512::kLerpWindows;
#endif
  return nullptr;
}

}  // namespace foveal::imgproc
