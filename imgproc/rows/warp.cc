#include "imgproc/rows/warp.h"

#include "imgproc/rows/isa.h"

namespace foveal::imgproc {

namespace baseline {
extern const WarpKernels kWarpTable;
}
#if defined(FOVEAL_IMGPROC_AVX2)
namespace avx2 {
extern const WarpKernels kWarpTable;
}
#endif

const WarpKernels& warp_kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx2) return avx2::kWarpTable;
#endif
  return baseline::kWarpTable;
}

}  // namespace foveal::imgproc
