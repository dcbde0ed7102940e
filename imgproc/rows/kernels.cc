#include "imgproc/rows/kernels.h"

#include "imgproc/rows/cv2.h"

namespace foveal::imgproc {

namespace baseline {
extern const Kernels kTable;
extern const Conversions kConversions;
extern const Cv2Kernels kCv2Table;
}  // namespace baseline
#if defined(FOVEAL_IMGPROC_AVX2)
namespace avx2 {
extern const Kernels kTable;
extern const Conversions kConversions;
extern const Cv2Kernels kCv2Table;
}  // namespace avx2
namespace avx512 {
extern const Conversions kConversions;
}
#endif

namespace {

#if defined(FOVEAL_IMGPROC_AVX2)
bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#endif

Kernels choose() {
  Kernels k = baseline::kTable;
  k.convert = baseline::kConversions;
#if defined(FOVEAL_IMGPROC_AVX2)
  if (has_avx2()) {
    k = avx2::kTable;
    k.convert = avx2::kConversions;
    // Only conversions gain enough by wider vectors to be worth their size.
    if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
      k.convert = avx512::kConversions;
  }
#endif
  return k;
}

}  // namespace

const Kernels& kernels() {
  static const Kernels chosen = choose();
  return chosen;
}

const Cv2Kernels& cv2_kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (has_avx2()) return avx2::kCv2Table;
#endif
  return baseline::kCv2Table;
}

}  // namespace foveal::imgproc
