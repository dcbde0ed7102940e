#include "imgproc/rows/filter.h"

#include "imgproc/rows/isa.h"

namespace foveal::imgproc {

namespace baseline {
extern const FilterKernels kFilterTable;
extern const FixedFilterKernels kFixedFilterTable;
}  // namespace baseline
#if defined(FOVEAL_IMGPROC_AVX2)
namespace avx2 {
extern const FilterKernels kFilterTable;
extern const FixedFilterKernels kFixedFilterTable;
}  // namespace avx2
namespace avx512 {
extern const FixedFilterKernels kFixedFilterTable;
}
#endif

const FilterKernels& filter_kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx2) return avx2::kFilterTable;
#endif
  return baseline::kFilterTable;
}

const FixedFilterKernels& fixed_filter_kernels() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (isa() >= Isa::kAvx512) return avx512::kFixedFilterTable;
  if (isa() >= Isa::kAvx2) return avx2::kFixedFilterTable;
#endif
  return baseline::kFixedFilterTable;
}

}  // namespace foveal::imgproc
