#include "imgproc/rows/filter.h"

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
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return avx2::kFilterTable;
#endif
  return baseline::kFilterTable;
}

}  // namespace foveal::imgproc
