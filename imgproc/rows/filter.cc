#include "imgproc/rows/filter.h"

#include "imgproc/rows/isa.h"

namespace foveal::imgproc {

namespace baseline {
extern const FilterKernels kFilterTable;
}
#if defined(FOVEAL_IMGPROC_AVX2)
namespace avx2 {
extern const FilterKernels kFilterTable;
}
#endif

const FilterKernels& filter_kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx2) return avx2::kFilterTable;
#endif
  return baseline::kFilterTable;
}

}  // namespace foveal::imgproc
