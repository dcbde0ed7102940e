#include "imgproc/rows/kernels.h"

namespace foveal::imgproc {

namespace baseline {
extern const Kernels kTable;
}
#if defined(FOVEAL_IMGPROC_AVX2)
namespace avx2 {
extern const Kernels kTable;
}
#endif

const Kernels& kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return avx2::kTable;
#endif
  return baseline::kTable;
}

}  // namespace foveal::imgproc
