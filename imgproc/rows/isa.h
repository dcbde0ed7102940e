// Which instruction set the rows of this process use.
#ifndef FOVEAL_IMGPROC_ROWS_ISA_H_
#define FOVEAL_IMGPROC_ROWS_ISA_H_

namespace foveal::imgproc {

// Each holds those before it. kAvx512 stands for what Ice Lake and Zen 4 have in common: F, BW, DQ,
// VL, VBMI, VNNI.
enum class Isa { kBaseline, kAvx2, kAvx512 };

// The best one that the machine has, or what the environment variable FOVEAL_IMGPROC_ISA names
// ("baseline", "avx2", "avx512") if the machine has it: for tests and reports of faults. Fixed by
// the first call.
Isa isa();
const char* isa_name();

}  // namespace foveal::imgproc
#endif  // FOVEAL_IMGPROC_ROWS_ISA_H_
