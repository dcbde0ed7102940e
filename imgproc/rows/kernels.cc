#include "imgproc/rows/kernels.h"

#include "imgproc/rows/cv2.h"

namespace foveal::imgproc {

namespace baseline {
extern const Kernels kTable;
extern const Cv2Kernels kCv2Table;
}  // namespace baseline
#if defined(FOVEAL_IMGPROC_AVX2)
namespace avx2 {
extern const Kernels kTable;
extern const Cv2Kernels kCv2Table;
}  // namespace avx2
#endif

namespace {
#if defined(FOVEAL_IMGPROC_AVX2)
bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#endif
}  // namespace

const Kernels& kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (has_avx2()) return avx2::kTable;
#endif
  return baseline::kTable;
}

const Cv2Kernels& cv2_kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (has_avx2()) return avx2::kCv2Table;
#endif
  return baseline::kCv2Table;
}

}  // namespace foveal::imgproc
