#include "imgproc/rows/pillow.h"

#include "imgproc/rows/isa.h"

namespace foveal::imgproc {

namespace baseline {
extern const PillowKernels kPillowTable;
}
#if defined(FOVEAL_IMGPROC_AVX2)
namespace avx2 {
extern const PillowKernels kPillowTable;
}
namespace avx512 {
extern const PillowKernels kPillowTable;
}
#endif

const PillowKernels& pillow_kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx512) return avx512::kPillowTable;
  if (isa() >= Isa::kAvx2) return avx2::kPillowTable;
#endif
  return baseline::kPillowTable;
}

}  // namespace foveal::imgproc
