#include "imgproc/rows/isa.h"

#include <cstdlib>
#include <cstring>

namespace foveal::imgproc {
namespace {

constexpr const char* kNames[] = {"baseline", "avx2", "avx512"};

Isa best() {
#if defined(FOVEAL_IMGPROC_AVX2)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::kBaseline;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
  return wide ? Isa::kAvx512 : Isa::kAvx2;
#else
  return Isa::kBaseline;
#endif
}

Isa choose() {
  const Isa most = best();
  const char* asked = std::getenv("FOVEAL_IMGPROC_ISA");
  if (!asked) return most;
  for (int i = 0; i < static_cast<int>(most); ++i)
    if (std::strcmp(asked, kNames[i]) == 0) return static_cast<Isa>(i);
  return most;
}

}  // namespace

Isa isa() {
  static const Isa chosen = choose();
  return chosen;
}

const char* isa_name() { return kNames[static_cast<int>(isa())]; }

}  // namespace foveal::imgproc
