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

const Kernels& unfused_kernels() {
  static const Kernels unfused = [] {
    Kernels k = kernels();
    const LerpKernels& lerp = lerp_kernels();
    k.mix3 = lerp.mix3;
    k.mix1 = lerp.mix1;
    k.finish = lerp.finish;
    k.mix3_finish = lerp.mix3_finish;
    return k;
  }();
  return unfused;
}

}  // namespace foveal::imgproc
