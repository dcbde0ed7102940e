#include "imgproc/rows/kernels.h"

#include "imgproc/rows/cv2.h"
#include "imgproc/rows/isa.h"

namespace foveal::imgproc {

namespace baseline {
extern const Kernels kTable;
extern const ColorKernels kColorTable;
extern const Conversions kConversions;
extern const Cv2Kernels kCv2Table;
}  // namespace baseline
#if defined(FOVEAL_IMGPROC_AVX2)
namespace avx2 {
extern const Kernels kTable;
extern const ColorKernels kColorTable;
extern const Conversions kConversions;
extern const Cv2Kernels kCv2Table;
}  // namespace avx2
namespace avx512 {
extern const ColorKernels kColorTable;
extern const Conversions kConversions;
}  // namespace avx512
#endif

namespace {

Kernels choose() {
  Kernels k = baseline::kTable;
  k.color = baseline::kColorTable;
  k.convert = baseline::kConversions;
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx2) {
    k = avx2::kTable;
    k.color = avx2::kColorTable;
    k.convert = avx2::kConversions;
  }
  if (isa() >= Isa::kAvx512) {
    k.color = avx512::kColorTable;
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
  if (isa() >= Isa::kAvx2) return avx2::kCv2Table;
#endif
  return baseline::kCv2Table;
}

}  // namespace foveal::imgproc
